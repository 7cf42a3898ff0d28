/* Copies and memsets of a program, and allocations and frees in the order of its streams, as a file beside its
 * recordings: when each was made among its launches, and which memory it reads and writes.
 *
 *     "weircpy2", then for each: RecordingCopy, and RecordingKnown of each stream that it knows of
 *
 * It is written while the program runs, and may end anywhere. */
#ifndef TRACE_COPIES_H
#define TRACE_COPIES_H

#include "trace/file.h"

/* Memory of a copy: slices of rows of bytes. One piece of memory is one slice of one row. */
typedef struct RecordingArea {
    uint64_t base, bytes;  /* of the first row; bytes 0: none */
    uint64_t pitch, slice; /* from one row, or one slice, to the next */
    uint64_t rows, slices;
} RecordingArea;

/* Of one that is no copy: it allocates the memory that it writes, or frees it. Beside RECORDING_ORDER_... */
enum { RECORDING_COPY_ALLOCATES = 1 << 8, RECORDING_COPY_FREES = 1 << 9 };

typedef struct RecordingCopy {
    uint64_t number;   /* of the copies of the program, from 0 */
    uint64_t launches; /* that were made before it: RecordingLaunch.number of the next one */
    RecordingArea reads, writes;
    uint32_t device, stream, flags; /* RECORDING_ORDER_..., RECORDING_COPY_... */
    uint32_t known_count;
    char name[32]; /* the entry point of the driver; ends with a zero */
} RecordingCopy;

typedef struct RecordingCopies {
    RecordingCopy *items;
    const RecordingKnown **known; /* of each */
    uint32_t count, capacity, known_capacity;
    bool broken; /* behind these it cannot be read, and it does not just end */
} RecordingCopies;

RecordingArea recording_area(uint64_t base, uint64_t bytes);
/* Of a CUDA array, whose memory has no address: one byte at an address that no memory has. */
#define RECORDING_OF_ARRAYS (UINT64_C(1) << 63)
RecordingArea recording_array(uint64_t array);
/* Where it ends: behind the last row of the last slice. */
uint64_t recording_area_end(const RecordingArea *area);
/* The first bytes of [begin, end) that are of the area. False: there are none. */
bool recording_area_meets(const RecordingArea *area, uint64_t begin, uint64_t end, RecordingMemory *bytes);

/* The name of the file for a program (RecordingOrder.process), in a folder; 0 behind it. */
void recording_copies_name(char *name, size_t size, const char *folder, size_t folder_size, uint64_t process);
/* False: it could not be written. The first one begins the file. */
bool recording_copy_write(FILE *to, const RecordingCopy *copy, const RecordingKnown *known);
/* Those of a file, as far as it goes; all of it is the arena's. False: it is none. */
bool recording_copies_read(RecordingCopies *copies, FILE *from, Arena *arena);

#endif
