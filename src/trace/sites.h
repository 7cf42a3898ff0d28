/* Sites: the instructions of a module that records are of, and what of them is recorded.
 *
 * The code that instruments a module makes them; a recording has them as a table, so that what its records say does not
 * depend on the build of Weir that reads it. Functions, statements, operands and variables are those of the PTX, by
 * number. */
#ifndef TRACE_SITES_H
#define TRACE_SITES_H

#include "trace/stream.h"

/* Parameters of the kernel and a number. */
typedef struct SiteTerm {
    uint32_t variable, offset; /* bytes of a parameter, as many as the value has */
    bool subtracted;
} SiteTerm;
enum { SITE_TERMS = 8, SITE_PARTS = RECORD_PARTS, SITE_NONE = UINT32_MAX };
typedef struct SiteSum {
    uint8_t width; /* 32 or 64 */
    uint8_t term_count;
    SiteTerm terms[SITE_TERMS];
    uint64_t constant;
} SiteSum;

/* What is added to a value by where its warp is: the reader of the records knows that. */
typedef struct SitePlaced {
    uint32_t address;  /* a variable of shared memory, or a parameter by its generic address: where it is; SITE_NONE */
    uint32_t ctaid[3]; /* times %ctaid.x, .y and .z */
    uint32_t warps;
    const uint64_t *of_warp; /* of each warp of a CTA; NULL: nothing */
} SitePlaced;

/* A value that is recorded: a register of the instruction. */
typedef struct SitePart {
    uint32_t operand; /* of the module: the register, where it stands in the statement */
    uint8_t bits;     /* 32 or 64; narrower ones are extended by zeros */
    bool generic;     /* an address that may be generic: it is mapped by the windows of the launch */
    bool data;        /* no register, but what the statement stores, from that operand on: itself, or a hash of it */
    uint8_t shape;    /* SiteShape: how lanes differ in a RECORD_WARP */
    bool proven;      /* it is always a RECORD_WARP or RECORD_UNIFORM: lanes cannot differ otherwise */
    int64_t stride;   /* PART_STRIDE: bytes a lane; PART_BIT: the bit */
    uint32_t least;   /* PART_BIT: the value without it */
    /* PART_TABLE: for each thread of the CTA, so many of them; those of a warp are relative to each other */
    const uint64_t *offsets;
    uint32_t threads;
    /* In a run. */
    uint8_t from;             /* RecordSource: where its value comes from, that of lane 0 and the corners */
    bool reported;            /* it is recorded here; else it comes from what was recorded before */
    uint16_t place;           /* RECORD_FROM_WORDS, RECORD_FROM_BITS: which word of the run; RECORD_FROM_CORNERS,
                               * RECORD_FROM_EVERY: which of those;           RECORD_FROM_SLOT: which slot */
    uint16_t also;            /* RECORD_FROM_SLOT: another slot that is added, + 1; 0: none */
    const SiteSum *apart;     /* what is added to that: parameters and a number; NULL: nothing */
    const SitePlaced *placed; /* RECORD_FROM_SLOT, RECORD_FROM_LAUNCH: and this; NULL: nothing */
} SitePart;

/* A value that is recorded before a loop, and kept in a slot of the warp (of its lane 0): what a register of the
 * function holds there. */
typedef struct SiteSlot {
    uint32_t slot;
    uint32_t variable, index; /* the register */
    uint8_t bits;
    bool corners;
} SiteSlot;

/* A slot that goes on from turn to turn of a loop: when the run of the site begins, but not the first time after the
 * slot was recorded, what is in another slot (SITE_NONE: nothing) and `apart` are added. `starts`: instead, it is as if
 * it were recorded then, with `apart` and `placed` as its value; a record of the site stands before each entry of the
 * loop. */
typedef struct SiteAdvance {
    uint32_t slot, by;
    const SiteSum *apart;
    const SitePlaced *placed;
    bool starts;
} SiteAdvance;
/* PART_CORNERS: how they differ is recorded, by a RECORD_CORNERS. PART_EVERY: in any way; all are recorded, by a
 * RECORD_EVERY.
 * PART_BIT: in one bit, all others being known; it is recorded for all lanes, by a RECORD_BITS. */
typedef enum SiteShape { PART_UNIFORM, PART_STRIDE, PART_TABLE, PART_CORNERS, PART_EVERY, PART_BIT } SiteShape;

/* When a strong access lets the loop end that it is in: what it found compares so with something, as numbers of so many
 * bits. bits 0: it is no such access, or that is not known. */
typedef struct SitePoll {
    uint8_t bits;
    uint8_t compare; /* PollCompare: what was found, and then the other */
    bool is_signed;
    bool reported;    /* the other one is a register, and recorded where others have what they compare with */
    uint32_t operand; /* ... of the module */
    uint64_t with;    /* else: a number */
} SitePoll;
typedef enum PollCompare { POLL_EQUAL, POLL_DIFFERS, POLL_LESS, POLL_AT_MOST, POLL_GREATER, POLL_AT_LEAST } PollCompare;

typedef struct Site {
    bool foreign;       /* of another kernel of the module: a table has no more of it */
    uint32_t number;    /* in the module */
    uint32_t function;  /* of the module */
    uint32_t statement; /* the instruction; of a function that ends without one, the brace */
    bool ends;          /* a thread ends: its records are RECORD_EXIT */
    bool stops;         /* the grid is over: a trap, a failed assertion */
    bool each;          /* every lane writes a RECORD_LANE of its own */
    bool strong;        /* ... being a strong access: with its time, and what it found and wrote */
    bool shared;        /* all that it accesses is shared memory of its own CTA */
    bool large;         /* ... of more than 4 bytes */
    bool fetches;       /* an atomic that gives nothing, and is made to give what it found */
    bool waits;         /* recorded behind it, for the lanes whose wait succeeded */
    bool tests; /* the same wait, which nothing repeats, before it: a thread that looks at the mbarrier does so in time
                 */
    bool meets; /* lanes of a mask wait for each other */
    bool hands; /* ... and hand registers to each other, which orders no memory */
    uint32_t unnamed;   /* ... and the masks of these lanes are known to lack them, whatever the records say */
    bool aligned;       /* a barrier of threads before which the lanes of a warp wait for each other */
    bool map;           /* a RECORD_MAP stands before it, unless the map is a parameter */
    SitePoll poll;      /* strong */
    uint32_t run;       /* sites that a RECORD_RUN of this one tells of, itself included; 0: it has none */
    bool masked;        /* in a run its lanes are recorded; else they are those that were recorded last, if not: */
    bool all;           /* ... it is of all lanes of full warps */
    const uint32_t *of; /* ... of these, of each warp of the CTA: its guard depends on the thread's number alone */
    uint32_t of_count;
    bool bare;       /* a RECORD_RUN of it has no lanes in its head: warps are full */
    bool only_emits; /* it is no instruction of interest: slots are recorded before `statement`, which ends a block */
    uint32_t slot_count, advance_count;
    const SiteSlot *slots;
    const SiteAdvance *advances;
    /* For the reader of records, by the instruction alone (RecordShape). */
    bool polls, always;
    uint8_t syncs; /* RecordSyncs */
    RecordNumber syncs_at, syncs_count;
    uint32_t syncs_by;
    const char *why; /* mode shadow: it may touch global memory, and is not checked; else NULL */
    uint8_t part_count;
    SitePart parts[SITE_PARTS];
} Site;

typedef struct Sites {
    Site *items;
    uint32_t count;
    uint32_t chunk; /* bytes of a chunk, a power of two: of all kernels of the module */
    uint32_t found; /* those that are instructions of interest; those that only tell are behind them */
    uint32_t slots; /* the most that a kernel has */
    /* Of the kernel that a table is of: variables whose addresses it records (RecordPlaces), and whether records of its
     * launch say what they are taken to say. */
    uint32_t shared_count, globals_count, shared[RECORD_VARIABLES], globals[RECORD_GLOBALS];
    bool fits;
    bool led_apart; /* of some warps several lanes lead, each with chunks of its own */
    Arena arena;
} Sites;

/* What stands in the PTX, by its number in a module that was read, and by its place in the text, which no reader
 * decides: a function and a variable by how many stand before it, a statement by its first byte, an operand by that and
 * its number in the statement. */
typedef enum SiteReference { SITE_FUNCTION, SITE_STATEMENT, SITE_OPERAND, SITE_VARIABLE } SiteReference;
#define SITE_NOWHERE UINT64_MAX
typedef struct SiteText {
    uint64_t (*place)(const void *module, SiteReference what, uint32_t number);
    uint32_t (*at_place)(const void *module, SiteReference what, uint64_t place); /* SITE_NONE: nothing is there */
    const void *module;
} SiteText;

/* The table as bytes (RECORDING_SITES). `of` NULL: with numbers in place of places. */
enum { SITES_VERSION = 1 };
void sites_write(Sites *sites, const SiteText *of, Text *to);
/* Its sites are in the arena. False, with one sentence; else *problem is NULL. */
bool sites_read(Sites *sites, Str table, const SiteText *of, Arena *arena, const char **problem);

#endif
