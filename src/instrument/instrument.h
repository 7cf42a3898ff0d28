/* PTX with code in it that records what it does (trace/record.h), or checks it (mode shadow).
 *
 * The sites of a module are found from its text and the options alone, in the order of the text: a reader that has the
 * PTX knows what site 17 of a recording is. The result is text that ptxas takes for the same target; what is not a site
 * stays as it was, byte for byte. A kernel gets one more parameter, the last. */
#ifndef INSTRUMENT_INSTRUMENT_H
#define INSTRUMENT_INSTRUMENT_H

#include "base/text.h"
#include "ptx/ptx.h"
#include "ptx/value/sum.h"
#include "ptx/value/value.h"
#include "trace/record.h"

typedef enum InstrumentMode { INSTRUMENT_RECORD, INSTRUMENT_SHADOW } InstrumentMode;
enum {
    INSTRUMENT_GLOBAL = 1,
    INSTRUMENT_SHARED = 2,
    INSTRUMENT_TENSOR = 4,
    INSTRUMENT_EVERYWHERE = 7,
    INSTRUMENT_STOPS = 8, /* no memory: traps and failed assertions. The records have to outlive them */
};

typedef struct InstrumentOptions {
    InstrumentMode mode;
    uint32_t spaces;     /* INSTRUMENT_...: memory whose accesses are recorded; synchronization is always */
    bool keep_registers; /* setmaxnreg stays; else it is taken out, for kernels in which the code does not fit */
    bool seed_layout;    /* shadow: the cells of the seed, and not the compact ones */
    bool once;           /* a launch may be run several times: the first time is recorded */
} InstrumentOptions;

enum { SITE_PARTS = 16 };

/* What is added to a value by where its warp is: the reader of the records knows that. */
typedef struct SitePlaced {
    uint32_t address;  /* a variable of shared memory, or a parameter by its generic address: where it is; PTX_NONE */
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
    uint8_t from;             /* SiteFrom: where its value comes from, that of lane 0 and the corners */
    bool reported;            /* it is recorded here; else it comes from what was recorded before */
    uint16_t place;           /* FROM_WORDS, FROM_BITS: which word of the run; FROM_CORNERS, FROM_EVERY: which of those;
                               * FROM_SLOT: which slot */
    uint16_t also;            /* FROM_SLOT: another slot that is added, + 1; 0: none */
    const PtxSum *apart;      /* what is added to that: parameters and a number; NULL: nothing */
    const SitePlaced *placed; /* FROM_SLOT, FROM_LAUNCH: and this; NULL: nothing */
} SitePart;
typedef enum SiteFrom { FROM_WORDS, FROM_CORNERS, FROM_SLOT, FROM_LAUNCH, FROM_EVERY, FROM_BITS } SiteFrom;

/* A value that is told before a loop, and kept in a slot of the warp (of its lane 0): what a register of the function
 * holds there. */
typedef struct SiteSlot {
    uint32_t slot;
    uint32_t variable, index; /* the register */
    uint8_t bits;
    bool corners;
} SiteSlot;

/* A slot that goes on from turn to turn of a loop: when the run of the site begins, but not the first time after the
 * slot was told, what is in another slot (PTX_NONE: nothing) and `apart` are added. `starts`: instead, it is as if it
 * were told then, with `apart` and `placed` as its value; a record of the site stands before each entry of the loop. */
typedef struct SiteAdvance {
    uint32_t slot, by;
    const PtxSum *apart;
    const SitePlaced *placed;
    bool starts;
} SiteAdvance;
/* PART_CORNERS: how they differ is told, by a RECORD_CORNERS. PART_EVERY: anyhow; all are told, by a RECORD_EVERY.
 * PART_BIT: in one bit, all others being known; it is told of all lanes, by a RECORD_BITS. */
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
    uint8_t part_count;
    SitePart parts[SITE_PARTS];
} Site;

typedef struct Sites {
    Site *items;
    uint32_t count;
    uint32_t chunk; /* bytes of a chunk, a power of two: of all kernels of the module */
    uint32_t found; /* those that are instructions of interest; those that only tell are behind them */
    uint32_t slots; /* the most that a kernel has */
    bool led_apart; /* of some warps several lanes lead, each with chunks of its own */
    Arena arena;
} Sites;

/* False, with one sentence: there are too many, or a function cannot be analyzed in the memory that there is. */
bool instrument_sites(Sites *sites, PtxModule *module, const InstrumentOptions *options, const char **problem);
void instrument_sites_free(Sites *sites);
/* How much more than lane 0's value the value of a thread is, by its number in the CTA: of a RECORD_WARP. */
uint64_t site_offset(const Sites *sites, const SitePart *part, uint32_t thread);

/* Whether the records of a launch with such CTAs say what they are taken to say. A kernel that looks at no place of a
 * thread but %tid.x, and does not say how large its CTAs are, is taken to have one row of threads in them, or several
 * of a multiple of 32. In others it runs as it did, too. */
bool instrument_fits(const PtxModule *module, uint32_t function, const uint32_t block[3]);

/* The text of a module for launches of one kernel with CTAs of that shape, which the kernel requires then (.reqntid);
 * other kernels are taken out, unless debug information names them. Lines keep their numbers. */
void instrument_launched(const PtxModule *module, uint32_t kernel, const uint32_t block[3], Text *to);
/* The text. False, with one sentence, if something in the module cannot be instrumented; nothing is written then. */
bool instrument(PtxModule *module, const InstrumentOptions *options, Text *to, const char **problem);
/* One kernel of an instrumented module, `with`, for an image beside that of the module as it was, `plain`: with what it
 * needs, and with variables that are those of the plain image. INSTRUMENT_AT and a variable's name is that of a pointer
 * in constant memory, set at load to where that image has it; of what is a literal it points to a copy.
 * An empty name is all kernels. False, with one sentence, if that cannot be done. */
bool instrument_beside(const PtxModule *plain, const PtxModule *with, Str kernel, Text *to, const char **problem);
#define INSTRUMENT_AT "weir_at_"
/* Whether a variable is one that images have in common; and whether it is text, such as a format of printf: where the
 * plain image does not have it by its name, a copy does as well. */
bool instrument_in_common(const PtxModule *module, uint32_t variable);
bool instrument_literal(const PtxModule *module, uint32_t variable);
/* The name of what an instrumented module defines, so that its loader knows what it is: a variable in global
 * memory, { abi: u32, chunk: u32, spaces: u32, options: u32, hash of the text before: u64, fingerprint: u64 }. */
#define INSTRUMENT_MARK "weir_instrumented"
/* What a kernel and its launch agree on; what its records say. */
enum { INSTRUMENT_ABI = 6, INSTRUMENT_RECORDS = 4, INSTRUMENT_MARK_WORDS = 8 };
uint64_t instrument_hash(Str bytes);
/* Of all that decides how records are read: another build of Weir may make others of the same text. Not 0. */
uint64_t instrument_fingerprint(const Sites *sites);
/* The statement of a function that what it does first stands before: the first that is no declaration and no label that
 * nothing jumps to, as those of debug information are. */
uint32_t instrument_start(const PtxModule *module, uint32_t function);
/* Which variables a kernel tells the addresses of (RecordPlaces): those of shared memory, if it names more than one,
 * and those of global memory; of the module and of its own that are declared before its start. How many. */
uint32_t instrument_shared(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_VARIABLES]);
uint32_t instrument_globals(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_GLOBALS]);
/* The options as a number, of RecordingLaunch.options; and back. */
uint32_t instrument_options_number(const InstrumentOptions *options);
InstrumentOptions instrument_options_of(uint32_t spaces, uint32_t number);

#endif
