/* Copies and memsets of a program, as a file beside its recordings: when each was made among its launches, and which
 * memory it reads and writes.
 *
 *     "weircpy1", then for each: RecordingCopy, and RecordingKnown of each stream that it knows of
 *
 * It is written while the program runs, and may end anywhere. */
#ifndef RECORD_COPIES_H
#define RECORD_COPIES_H

#include "record/file.h"

typedef struct RecordingCopy {
    uint64_t number;   /* of the copies of the program, from 0 */
    uint64_t launches; /* that were made before it: RecordingLaunch.number of the next one */
    RecordingMemory reads, writes;
    uint32_t device, stream, flags; /* RECORDING_ORDER_... */
    uint32_t known_count;
    char name[32]; /* the entry point of the driver; ends with a zero */
} RecordingCopy;

typedef struct RecordingCopies {
    RecordingCopy *items;
    const RecordingKnown **known; /* of each */
    uint32_t count, capacity, known_capacity;
} RecordingCopies;

/* The name of the file for a program (RecordingOrder.process), in a folder; 0 behind it. */
void recording_copies_name(char *name, size_t size, const char *folder, size_t folder_size, uint64_t process);
/* False: it could not be written. The first one begins the file. */
bool recording_copy_write(FILE *to, const RecordingCopy *copy, const RecordingKnown *known);
/* Those of a file, as far as it goes; all of it is the arena's. False: it is none. */
bool recording_copies_read(RecordingCopies *copies, FILE *from, Arena *arena);

#endif
