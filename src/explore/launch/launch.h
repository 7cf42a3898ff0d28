/* How a kernel is launched: its grid and its arguments, from a launch file, from the command line, or chosen.
 *
 * A launch file is JSON: {"kernel", "grid": [x, y, z], "args": {NAME: number | true | {"tensor": {"shape", "strides",
 * "dtype", "data", "storage", "buffer", "offset", "device", "output", "zero", "peers"}} | {"descriptor": {the same, and
 * "block"}} |
 * {"pointers": BUFFER} | {"rank": true} | {"devices": true}}, "stream", "device", "dependent", "after": [KERNEL],
 * "triton": RELEASE, "checked", "requires": [REQUIREMENT], "at": "FILE:LINE"}; "data" is a flat list of numbers, what
 * the memory holds in the order of the addresses. Of the rest a shape alone must be there. Any other key is an error,
 * but for "from" and those that begin with "x-".
 *
 * Of PTX there are "block", "cluster" and "shared", too; arguments may be a list, or have numbers for names; one may be
 * {"bytes": HEX, "pointers": {OFFSET: argument}}; a descriptor says how its tensor map is made. docs/launch.md says all
 * of it at length. */
#ifndef EXPLORE_LAUNCH_LAUNCH_H
#define EXPLORE_LAUNCH_LAUNCH_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/requirement.h"

typedef enum ArgumentKind {
    ARGUMENT_INTEGER,
    ARGUMENT_FLOAT,
    ARGUMENT_TENSOR,
    ARGUMENT_DESCRIPTOR,
    ARGUMENT_POINTERS, /* memory that holds the addresses of `buffer` on device 0, 1, ... */
    ARGUMENT_RAW,      /* of PTX: its bytes, with pointers among them */
} ArgumentKind;
/* What an element is; ORDER with the names in launch_types.c. */
typedef enum NumberKind {
    ELEMENT_BITS, /* not said, or a float whose values cannot be given */
    ELEMENT_SIGNED,
    ELEMENT_UNSIGNED,
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_F32,
    ELEMENT_TF32,
    ELEMENT_F64,
    ELEMENT_E4M3,
    ELEMENT_E5M2,
    ELEMENT_KINDS
} NumberKind;
/* What an integer is beside a number: that of the device, or of all devices. A file has the value for one device
 * alone. */
typedef enum ArgumentMeaning { MEANS_NUMBER, MEANS_RANK, MEANS_DEVICES } ArgumentMeaning;
/* Whose memory a pointer goes to; those relative to the launch's own device wrap around. */
typedef enum ArgumentPlace { DEVICE_OWN, DEVICE_NUMBER, DEVICE_NEXT, DEVICE_PREVIOUS } ArgumentPlace;

enum { ARGUMENT_MOST_DIMS = 8, MOST_DEVICES = 64 };

/* A pointer, or a tensor map, that lies in other bytes. */
typedef struct ArgumentPart {
    int64_t at; /* byte */
    struct Argument *value;
} ArgumentPart;

/* How a tensor map is made; zeros: as it is without saying. */
typedef struct ArgumentMap {
    uint8_t swizzle, interleave; /* as in CUtensorMapSwizzle and CUtensorMapInterleave */
    bool nans;                   /* what is out of range is NaN, else zero */
    uint8_t corners;             /* of im2col: numbers in each of */
    int64_t lower[ARGUMENT_MOST_DIMS], upper[ARGUMENT_MOST_DIMS];
    int64_t steps[ARGUMENT_MOST_DIMS]; /* from one element to the next that is copied */
} ArgumentMap;

typedef struct Argument {
    Str name;
    Str shown; /* what people read instead; empty: the name */
    ArgumentKind kind;
    int64_t integer; /* booleans too */
    ArgumentMeaning meaning;
    double number;
    uint8_t rank;
    uint16_t element_bits; /* in memory, where a boolean has 8; 0: not said */
    NumberKind element;
    int64_t shape[ARGUMENT_MOST_DIMS], strides[ARGUMENT_MOST_DIMS];
    int64_t block[ARGUMENT_MOST_DIMS]; /* of a descriptor; zeros: not said */
    uint8_t block_rank;                /* that of im2col copies: 2, pixels and channels */
    ArgumentMap map;
    const int64_t *data; /* bits; NULL: not known */
    size_t data_count;   /* may be less than there is memory: the rest is not known */
    bool has_storage;    /* it is part of a larger allocation, of which it may touch the rest, too: */
    int64_t storage[2];  /* elements before its first one, and from its first one on */
    Str buffer;          /* shared by all launches that name it; "": its own */
    int64_t offset;      /* elements from the begin of the buffer to its first one */
    ArgumentPlace place;
    uint32_t device;      /* DEVICE_NUMBER */
    bool output;          /* nothing has written it before the run */
    bool zero;            /* what `data` does not tell is zero */
    bool peers;           /* other processes write it while the launch runs */
    int64_t address;      /* of its memory; 0: global_address(parameter) */
    const uint8_t *bytes; /* ARGUMENT_RAW; it is not known what is behind them */
    size_t byte_count;
    ArgumentPart *parts; /* of those, or of memory; by offset */
    uint32_t part_count;
} Argument;

/* What a chosen launch has that callers may never give. */
typedef enum LaunchDoubt {
    DOUBT_NONE,
    DOUBT_EMPTY,  /* a size of 0 */
    DOUBT_UNEVEN, /* a size that is no multiple of the tile; not so where the launch that was given has such a one */
    DOUBT_APART,  /* loops of two strands that go by different numbers make different numbers of turns */
    DOUBT_KINDS,
} LaunchDoubt;

typedef struct Launch {
    Str kernel; /* "" if not said */
    int64_t grid[3];
    int64_t block[3], cluster[3]; /* of PTX: threads of a CTA, CTAs of a cluster; zeros: not said */
    int64_t shared;               /* of PTX: bytes of dynamic shared memory, */
    bool has_shared;              /* if they are said */
    Argument *arguments;
    uint32_t count, capacity;
    bool chosen; /* by Weir */
    LaunchDoubt doubt;
    uint32_t stream, device;
    bool has_device; /* it runs on `device` alone, else on every one */
    Str checked; /* its PTX ran with its data, and was checked, and is clean: hash of the IR that it was; "": not so */
    bool dependent; /* it may overlap the launch before it on its stream, and waits for that by itself */
    Str *after;     /* kernels that have ended before it */
    size_t after_count;
    Str triton;            /* the release that compiles it; "" if not said */
    Requirement *requires; /* what the kernel says its callers promise */
    size_t require_count;
    Str at; /* where the program makes it, "train.py:40"; "" if not said */
} Launch;

/* Reads a launch file. On failure reports where (file, line, caret) and returns false. Everything goes to the arena. */
bool launch_read(Arena *arena, Source *source, Launch *launch, Diagnostics *diagnostics);
/* "NAME=VALUE" with an integer, a float, true or false; "NAME=[1,2,3]" gives memory that holds these. On a text that is
 * none, returns a sentence, else NULL. Replaces an argument of that name. */
const char *launch_set(Arena *arena, Launch *launch, const char *text);
/* "X", "X,Y" or "X,Y,Z" ("x" for "," too). */
const char *launch_set_grid(Launch *launch, const char *text);
const char *launch_set_block(Launch *launch, const char *text);
const char *launch_set_cluster(Launch *launch, const char *text);
const char *launch_set_shared(Launch *launch, const char *text);
/* Strides as memory is laid out when it is not given how: the last dimension's elements side by side. */
void argument_make_dense(Argument *argument);
/* How many elements lie from the first to the last, those between included; -1 if they are too many. */
int64_t argument_elements(const Argument *argument);
const Argument *launch_find(const Launch *launch, Str name);
/* "grid 32x1x1, N_CTX = 1024, desc_q = descriptor 8192x64": one line. */
void launch_describe(const Launch *launch, Text *to);
const char *launch_text(const Launch *launch, Arena *arena);
/* "f16", "i32"; NULL: there is no such type. The bits of a number as such an element; false: it does not fit, or there
 * is no way to write one. */
const char *element_name(NumberKind kind, unsigned bits, char room[8]);
bool element_of_real(NumberKind kind, double number, int64_t *bits);
/* "0.1": the shortest number that has these bits. False, and nothing is added, if it is no float. */
bool element_print(NumberKind kind, int64_t bits, Text *to);
/* As the JSON of a launch file, on one line. */
void launch_write(const Launch *launch, Text *to);

#endif
