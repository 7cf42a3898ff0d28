/* A launch of a PTX kernel as the machine takes it: the bytes of the parameters, the memory that they point to, and the
 * shape of the grid. Made from a launch file (explore/launch/launch.h, which has "block", "cluster" and "shared" for
 * PTX, and arguments by name or by number), or chosen. */
#ifndef MACHINE_SIMT_CORE_LAUNCH_H
#define MACHINE_SIMT_CORE_LAUNCH_H

#include "base/diagnostics.h"
#include "explore/launch/launch.h"
#include "machine/simt/decode/program.h"

/* Memory of this process that launches work on in place: what they write is there at once. Pages are kept as they were
 * before, so that the next run begins with the same (host.c). */
typedef struct PtxHost {
    uint8_t *bytes, *states; /* states: BYTE_... of machine.h, made by malloc; NULL: all bytes are known */
    uint64_t size;
    bool shared;     /* other processes access it, too */
    uint8_t **saved; /* of each page that was written: its bytes, and behind them its states, as they were; NULL */
    uint32_t *written, written_count, written_capacity; /* these pages */
    uint64_t **claims; /* of each page: who accesses what while CTAs run at the same time (claims.c); NULL */
} PtxHost;

/* Memory that is there before the launch. */
typedef struct PtxBuffer {
    const char *name;   /* of the buffer, or "argument 2"; for people */
    uint32_t parameter; /* that points to it; PTX_NONE: several, or none by itself */
    uint64_t address, bytes;
    const uint8_t *data; /* its first `data_bytes`; NULL: none */
    uint64_t data_bytes;
    bool zero;     /* the rest is 0; else it is not known */
    bool output;   /* nothing has written the rest before */
    bool chosen;   /* its size is not given */
    PtxHost *host; /* it is worked on in place; NULL: a run has a copy */
    bool variable; /* of the module, in global or const memory; its initial value, NULL: zeros */
    bool constant; /* ... in const memory */
    bool heap;     /* a kernel got it by malloc; it has a `host` */
    const uint8_t *initial;
} PtxBuffer;

/* The heap of kernels as a launch finds it. What they got by malloc and have not freed is among the buffers. */
typedef struct PtxFreed {
    uint64_t address, bytes;
} PtxFreed;
typedef struct PtxHeap {
    uint64_t next;        /* address of what malloc gives next */
    uint64_t used, limit; /* bytes */
    PtxFreed *freed;      /* what was freed, the last of it */
    uint32_t freed_count;
} PtxHeap;
#define PTX_HEAP_FIRST (PTX_WINDOW_HEAP + 2048) /* the driver's workspace is below */
#define PTX_HEAP_BYTES ((uint64_t)8 << 20)      /* what a device has unless the program says otherwise */
#define PTX_HEAP_NAME  "memory of malloc"

/* Memory is as it was before the launch; or stays as it is now: what was kept is forgotten. */
void ptx_host_restore(PtxHost *host);
void ptx_host_keep(PtxHost *host);
/* All of its bytes, and what was known of them, before the launch. */
void ptx_host_before(const PtxHost *host, uint8_t *bytes, uint8_t *states);
/* CTAs do not run at the same time any more. */
void ptx_host_unclaim(PtxHost *host);
/* What it has beside the bytes, states among that, is freed. */
void ptx_host_free(PtxHost *host);

/* Buffers lie from here on, so far apart that an offset of 32 bits does not lead from one into the next. Variables of
 * the module are below. */
#define PTX_BUFFERS_FIRST UINT64_C(0x200000000)
#define PTX_BUFFERS_APART UINT64_C(0x100000000)

/* Where a parameter points to in memory that a recording has: a name for people. */
typedef struct PtxAnchor {
    uint64_t address;
    const char *name;
} PtxAnchor;

typedef struct PtxLaunch {
    uint32_t grid[3], block[3], cluster[3];
    uint64_t dynamic_bytes; /* of shared memory */
    uint8_t *parameters;    /* program->parameter_bytes */
    uint8_t *known;         /* of each byte of them: BYTE_KNOWN or BYTE_UNKNOWN of machine.h */
    PtxBuffer *buffers;
    uint32_t buffer_count;
    const PtxHeap *heap;  /* NULL: nothing is in it */
    bool keeps_variables; /* buffers are of the module's variables in global and const memory, too */
    bool chosen;
    bool dependent;                                /* it may begin before the launch before it has ended */
    bool chosen_grid, chosen_block, chosen_shared; /* they are not given */
    const char *text;                              /* in words: "grid 4x1x1, block 128x1x1, n = 1000" */
    const Launch *from;                            /* as a launch file has it, with all that was chosen; NULL: played */
    const PtxAnchor *anchors;                      /* of a recording, sorted */
    uint32_t anchor_count;
} PtxLaunch;

/* From a launch that was read; what it does not say is chosen. False: something of it does not fit the kernel, and
 * *problem says what in one sentence. */
bool ptx_launch_bind(Arena *arena, const PtxProgram *program, const Launch *given, PtxLaunch *launch,
                     const char **problem);
/* The launch file of a launch in memory of this process, as that was before it; NULL, with a sentence: there is none.
 * It has all memory, or at most so many bytes of each buffer: then what is left out is not known there, nor what
 * variables of the module hold. PTX_LAUNCH_BARE: it has the arguments alone. */
#define PTX_LAUNCH_BARE UINT64_MAX
const Launch *ptx_launch_from(Arena *arena, const PtxProgram *program, const PtxLaunch *launch, uint64_t most,
                              const char **problem);
/* Launches that are tried where none is given: numbers that make loops run 0, 1, 2 and more times, sizes that do not
 * fit the tile; memory whose contents is not known. `fixed`: what the command line says of all of them (a grid of zeros
 * is not said), or NULL. How many there are, at most `most`; 0 with a sentence if what is fixed does not fit. */
uint32_t ptx_launch_choose(Arena *arena, const PtxProgram *program, const Launch *fixed, PtxLaunch *launches,
                           uint32_t most, const char **problem);
/* A launch of that kind where numbers are not given: each parameter that was not given gets its number, whether it is
 * one or not; grid and block are as said, unless they are fixed or NULL. */
bool ptx_launch_with(Arena *arena, const PtxProgram *program, const Launch *fixed, const int64_t *numbers,
                     const uint32_t *grid, const uint32_t *block, PtxLaunch *launch, const char **problem);
/* Numbers that are not all the same. */
typedef enum PtxNumbers {
    PTX_NUMBERS_UP,    /* a later parameter has a larger one, as strides are larger than sizes */
    PTX_NUMBERS_DOWN,  /* the other way round */
    PTX_NUMBERS_LARGE, /* thousands, and many CTAs */
    PTX_NUMBERS_NONE,  /* 0, all of them */
} PtxNumbers;
/* False: such a launch is not another one than those that are there. `like` has the shape. */
bool ptx_launch_numbers(Arena *arena, const PtxProgram *program, const Launch *fixed, PtxNumbers kind,
                        const PtxLaunch *like, PtxLaunch *launch);
/* The integer that a launch has for that parameter; false: it has something else. */
bool ptx_launch_number(const PtxProgram *program, const PtxLaunch *launch, uint32_t parameter, int64_t *number);
/* The same launch with memory for that buffer that is `bytes` large. */
bool ptx_launch_grow(Arena *arena, const PtxProgram *program, PtxLaunch *launch, uint32_t buffer, uint64_t bytes);

/* What a launch has to say of a kernel: `weir launch --template K.ptx`. */
void ptx_launch_template(const PtxModule *module, uint32_t entry, const PtxSourceLaunch *known, Arena *arena, Text *to);

#endif
