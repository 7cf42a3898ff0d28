/* What the parts of shadow memory share. */
#ifndef RUNTIME_SHADOW_INTERNAL_H
#define RUNTIME_SHADOW_INTERNAL_H

#include "runtime/shadow/gpu_shadow.h"

typedef int ShadowGpuShadowResult;

enum { NON_BLOCKING = 1 };

#define DRIVER_CALLS(CALL)                                                                      \
    CALL(ShadowGpuShadowResult, cuMemAlloc_v2, (uint64_t *, size_t))                            \
    CALL(ShadowGpuShadowResult, cuMemFree_v2, (uint64_t))                                       \
    CALL(ShadowGpuShadowResult, cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))     \
    CALL(ShadowGpuShadowResult, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *)) \
    CALL(ShadowGpuShadowResult, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))       \
    CALL(ShadowGpuShadowResult, cuStreamCreate, (void **, unsigned))                            \
    CALL(ShadowGpuShadowResult, cuStreamDestroy_v2, (void *))                                   \
    CALL(ShadowGpuShadowResult, cuStreamSynchronize, (void *))                                  \
    CALL(ShadowGpuShadowResult, cuCtxSynchronize, (void))                                       \
    CALL(ShadowGpuShadowResult, cuEventCreate, (void **, unsigned))                             \
    CALL(ShadowGpuShadowResult, cuEventRecord, (void *, void *))                                \
    CALL(ShadowGpuShadowResult, cuEventQuery, (void *))                                         \
    CALL(ShadowGpuShadowResult, cuEventSynchronize, (void *))                                   \
    CALL(ShadowGpuShadowResult, cuEventDestroy_v2, (void *))                                    \
    CALL(ShadowGpuShadowResult, cuDeviceTotalMem_v2, (size_t *, int))

typedef struct Driver {
#define CALL(result, name, parameters) result(*name) parameters;
    DRIVER_CALLS(CALL)
#undef CALL
} Driver;

/* A mapped part of the range, or a hole in it. */
typedef struct GpuShadowPiece {
    uint64_t address, bytes, asked; /* asked 0: a hole */
    bool lent;                      /* the program maps memory there */
    unsigned long long handles[2];  /* of the memory, of its cells */
    struct GpuShadowPiece *next;    /* by address */
    int file;                       /* by which others can have it, + 1; 0: there is none yet */
    uint32_t opened;                /* how often, if it is another process's */
    GpuShadowHandle handle;         /* if either is not 0 */
} GpuShadowPiece;

/* Memory that the program has mapped in the range: that of its cells. */
typedef struct GpuShadowLent {
    struct GpuShadowLent *next;
    uint64_t address, bytes;
    GpuMapped cells;
} GpuShadowLent;

/* Memory of the device that grows when a launch needs more. */
typedef struct GpuShadowStore {
    uint64_t address, bytes;
} GpuShadowStore;

/* What a launch needs, until it is over. */
typedef struct GpuShadowSeat {
    GpuShadowStore state, actors, vectors, rows, flags, ctas, taken, reports, pairs, begun, clusters, waits, signals;
    uint64_t used_rows; /* bytes of rows that launches may have written */
    ShadowState header;
    uint32_t tag, was; /* tag: 0: no launch has it; was: the last one that had */
    bool made;
    uint64_t number;
    void *event;
} GpuShadowSeat;

enum { SEATS = 16, MOST_OLD = 64, NO_TIMING = 2, NOT_READY = 600 };

struct GpuShadow {
    Driver driver;
    void *stream; /* of our own: the default stream would wait for others, and others may be captured */
    GpuMap map;
    bool seed;
    uint64_t range, row_bytes, page;
    uint64_t reserved;              /* addresses of all of it */
    uint64_t real, cells;           /* where both parts begin */
    uint64_t cell_factor;           /* bytes of cells for a byte of memory */
    uint64_t lines;                 /* compact: where the cells of lines begin, behind all others */
    unsigned long long *line_pages; /* their memory, page by page; 0: nothing needed it yet */
    uint64_t line_page_count;
    GpuShadowPiece *pieces;
    GpuShadowLent *lent;
    uint32_t tag;
    GpuShadowSeat seats[SEATS], *last; /* last: that of the launch that was prepared last */
    uint64_t launches;
    GpuShadowStore old[MOST_OLD]; /* that were too small, to be given back when nothing runs */
    uint32_t old_count;
    GpuMapped beside_page;
    uint64_t beside_bytes, beside_at;
    ShadowBeside beside; /* as the device has it; */
    bool beside_there;   /* ... if it has it at all */
    void *about[SHADOW_TAGS + 1];
    void (*over)(void *about, int status, const GpuShadowResult *result);
};

enum { NO_MEMORY = 2, BAD_VALUE = 1 }; /* CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE */

/* ---- gpu_shadow.c ---- */
uint64_t shadow_cells_at(const GpuShadow *shadow, uint64_t address);
/* A piece of whole pages, which is not mapped; NULL: there is no room. */
GpuShadowPiece *shadow_take(GpuShadow *shadow, uint64_t bytes);
void shadow_give_back(GpuShadow *shadow, GpuShadowPiece *piece);
/* Cells of these bytes, all zero, and those of their lines. */
ShadowGpuShadowResult shadow_map_cells(GpuShadow *shadow, uint64_t address, uint64_t bytes, GpuMapped *cells);
ShadowGpuShadowResult shadow_copy_back(const GpuShadow *shadow, void *to, uint64_t from, size_t bytes);

/* Its memory and its cells are mapped; it is no hole any more. */
ShadowGpuShadowResult shadow_fill(GpuShadow *shadow, GpuShadowPiece *piece, uint64_t bytes, int file);
GpuShadowPiece *shadow_piece(const GpuShadow *shadow, uint64_t address);

/* ---- gpu_lent.c ---- */
bool lent_clear(GpuShadow *shadow);
void lent_close(GpuShadow *shadow);

#endif
