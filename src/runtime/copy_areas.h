/* What a copy or memset of several rows reads and writes, from the arguments of its entry point. */
#ifndef RUNTIME_COPY_AREAS_H
#define RUNTIME_COPY_AREAS_H

#include "trace/copies.h"

/* Both sides of a copy. One that is an array has no addresses: no kernel loads or stores there. */
typedef struct CopySides {
    RecordingArea reads, writes;
    bool from_host, to_host; /* by what the program says; of CU_MEMORYTYPE_UNIFIED the driver finds out itself */
    bool from_unified, to_unified;
} CopySides;

/* Of CUDA_MEMCPY2D, and of CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER. */
CopySides copy_rows(const void *arguments);
CopySides copy_slices(const void *arguments);
/* Of cuMemsetD2D8, 16 and 32. */
RecordingArea set_rows(uint64_t base, uint64_t pitch, uint64_t element, uint64_t width, uint64_t height);

#endif
