/* What a kernel that checks itself (`weir instrument --mode shadow`) is launched with, and what it leaves behind. One
 * header for the device's code (device/), for who writes it into kernels (instrument/), for who launches them (exec/),
 * and for who reads what they found (check/replay/shadow/).
 *
 * Who. An actor is a CTA; CTAs of one cluster are one actor. It has a number, in the kinds of kernel that there are:
 * - flat: nothing in the kernel could order two CTAs (no acquire, no release, no fence of the scope of a device). The
 *   number is that of the CTA (or cluster) in the grid, and two different ones are never ordered.
 * - clocked: the number is a slot, of which there are as many as CTAs can run at the same time, as seed 001 has one for
 *   each SM. A slot has one CTA after the other; its epochs go on. Where there are as many slots as CTAs, each has its
 *   own.
 * Epochs are of one launch: every launch has a tag. What has another one was before it, unless the two launches may run
 * at the same time (ShadowBeside): then it is held against what the launch does, and stays there for reads.
 *
 * Cells, compact: 16 bytes for each 16 bytes of memory, changed by one 128-bit atomic.
 *   word 0   write: stamp 26, scope 3, 0                   tag, bits 0 and 1
 *   word 1   bytes that were written 16, that were read 16
 *   word 2   reader: stamp 26, scope 3                     tag, bits 2 to 4
 *   word 3   a second reader, of the same bytes, likewise  tag, bits 5 to 7
 * A strong write to a cell of strong accesses changes words 0 and 1 alone.
 * A stamp is { actor, epoch, site }, of as many bits each as the launch says (shadow_split); 0 is none. Scopes are 0
 * for a weak access, else as Scope; 5 to 7 are 2 to 4 of a write that another actor has observed.
 *
 * Lines, compact: 16 bytes more for each 128 bytes of memory, behind all cells: the same, of all their bytes, with bit
 * 29 of word 0: split, which says that granules have what came later (device/lines.h).
 *
 * Cells, of the seed: 24 bytes for each 4 bytes of memory, GsanCell of engine/shadow/gsan_cell.h with four readers:
 * epoch 16, thread 12, scope 3, release 1; a lock of 16 bits, and 16 bits that count readers. They have no tag: the
 * host clears them before each launch. */
#ifndef TRACE_SHADOW_H
#define TRACE_SHADOW_H

#include "base/consistency.h"

#include <stdint.h>

enum {
    SHADOW_ABI = 6,
    SHADOW_GRANULE = 16, /* compact: bytes that a cell is for, and bytes of a cell */
    SHADOW_LINE = 128,   /* compact: bytes that a line's cell is for */
    SHADOW_WORD = 4,     /* seed */
    SHADOW_SEED_CELL = 24,
    SHADOW_STAMP = 26, /* bits */
    SHADOW_TAGS = 255, /* compact: launches until all cells have to be cleared */
    SHADOW_BUCKETS = 1 << 14,
    SHADOW_WAYS = 8,        /* flags of a bucket */
    SHADOW_ROWS = 1 << 16,  /* flags of a launch, at most */
    SHADOW_ROWS_LEAST = 64, /* and at least */
    SHADOW_REPORTS = 4096,
    SHADOW_PAIRS = 1 << 12,
    SHADOW_MAPS = 16,
    SHADOW_SIGNALS = 1 << 15, /* of a launch that processes may signal */
    SHADOW_DIMS = 5,
    SHADOW_VECTORS = 3, /* of an actor: what it knows, what its last fence closed, what an acquire fence would bring */
    SHADOW_MOST_SLOTS = 4094,
};

/* Of memory that has cells: lines have numbers of 32 bits. */
#define SHADOW_MOST_BYTES ((uint64_t)SHADOW_LINE << 32)

/* The last parameter of an instrumented kernel, by value: `.param .align 16 .b8 weir_launch[128]`. The offsets are part
 * of what is written into code. */
typedef struct ShadowLaunch {
    uint64_t real, bytes; /*  0,  8: an address is checked if address - real < bytes */
    uint64_t cells;   /* 16: the cell of the first of them; compact: `bytes` behind it, the cell of the first line */
    uint64_t state;   /* 24: of a ShadowState, in global memory */
    uint32_t form;    /* 32: compact: tag, and from bit 8 on the bits of a site, from bit 16 on those of an epoch */
    uint32_t cluster; /* 36: CTAs of a cluster */
    /* Of clocked ones, as in the state: what is loaded from there after an acquire is waited for again. */
    uint64_t actors, vectors, rows, flags; /* 40 */
    uint32_t stride, slot_shift;           /* 72 */
    uint32_t reserved[12];
} ShadowLaunch;
_Static_assert(sizeof(ShadowLaunch) == 128, "it is written into code");

/* (And from bit 24 on how many bits of a reader's rank have to be 0 where two others are kept: shadow_split.) */
static inline uint32_t shadow_form(uint32_t tag, uint32_t site_bits, uint32_t epoch_bits) {
    return tag | site_bits << 8 | epoch_bits << 16;
}

/* A slot. All zero: nothing has had it in this launch. What is needed together is loaded together, 16 bytes each. */
typedef struct ShadowActor {
    uint32_t epoch;                       /* less 1, of what it does now */
    uint32_t begun;                       /* the first one, less 1, of the CTA that has it now */
    uint32_t groups;                      /* groups of bulk copies that were committed */
    uint32_t old_groups;                  /* of earlier CTAs of the slot */
    uint32_t changes;                     /* times that it learned something */
    uint32_t complete;                    /* groups that were waited for */
    uint64_t published;                   /* the row that has all that it knew after so many changes, from bit 32 on */
    uint32_t fence_epoch, fence_complete; /* that the last fence closed; 0: there was none */
    uint32_t fenced;                      /* `changes` when the last fence was made */
    uint32_t observed;                    /* times that a relaxed read brought something for a fence */
    uint32_t taken_in;                    /* and how many of these a fence has taken in */
    uint32_t cta;                         /* number in the grid of who has it; of a cluster, that of the cluster */
    uint32_t ended;                       /* threads of the CTA that have ended */
    uint32_t signal;                      /* the last of its signals, + 1 */
} ShadowActor;
_Static_assert(sizeof(ShadowActor) == 64, "it is written into code");

/* What was released through an address: the row with its clock. Of another launch: free. */
typedef struct ShadowFlag {
    uint64_t address;
    uint32_t row;     /* 24 bits, from 1 on; then the tag */
    uint32_t version; /* changed by each release */
} ShadowFlag;
static inline uint32_t shadow_bucket(uint64_t address) {
    return (uint32_t)((address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 50);
}
_Static_assert(SHADOW_BUCKETS == 1 << (64 - 50), "that many bits are left");

/* Which launches may run at the same time, by their tags: one for each device, in front of the memory that has cells.
 */
typedef struct ShadowBeside {
    uint32_t any; /* some may; 0: a cell with another tag was before */
    uint32_t reserved[7];
    uint32_t talks[8];                   /* tags of those that may signal others that are not over */
    uint32_t begun[SHADOW_TAGS + 1][8];  /* of each, a bit for those made before it that are not over when it begins, */
    uint32_t waited[SHADOW_TAGS + 1][8]; /* ... and behind griddepcontrol.wait */
    uint32_t forms[SHADOW_TAGS + 1];  /* of stamps: bits of a site; from bit 8 on of an epoch; 16: the actors' shift */
    uint64_t states[SHADOW_TAGS + 1]; /* ShadowState of those that may signal others; 0: of none */
} ShadowBeside;
#define SHADOW_BESIDE_UNKNOWN UINT64_C(1) /* of states: another launch has it now */
_Static_assert(sizeof(ShadowBeside) % 16 == 0, "what has cells begins behind it");
enum { SHADOW_BESIDE_OWN = 24 /* bit of a form: each CTA has its own slot */ };

/* What could not be followed: bits of ShadowState.trouble. */
enum {
    SHADOW_EPOCHS_OVER = 1,  /* more releases of one actor than a stamp can tell apart */
    SHADOW_REPORTS_FULL = 2, /* some findings have no report */
    SHADOW_CELL_BUSY = 4,    /* a cell changed again and again: some accesses were not checked */
    SHADOW_MAP_UNKNOWN = 8,  /* a TMA copy whose tensor map is not known: not checked */
    SHADOW_FLAGS_LOST = 16,  /* more flags than there is room for: what they order was taken to be ordered */
};

/* A tensor map that is a parameter of the kernel, by the parameter's offset. Dimension 0 is the innermost. */
typedef struct ShadowMap {
    uint32_t parameter;     /* offset of the parameter in the kernel's parameters, + 1; 0: none */
    uint32_t rank, element; /* bytes */
    uint32_t reserved;
    uint64_t address;
    uint32_t size[SHADOW_DIMS], box[SHADOW_DIMS];
    uint64_t stride[SHADOW_DIMS]; /* bytes; that of dimension 0 is the element's */
} ShadowMap;

typedef struct ShadowReport {
    uint64_t address;      /* of the first byte of the cell */
    uint32_t mask;         /* bytes of it that both touch */
    uint32_t site, cta;    /* of the later one; its number in the grid */
    uint32_t earlier_site; /* 0: not known; else the number + 1 */
    uint32_t earlier;      /* CTA, + 1; 0: not known, another one has its slot now */
    uint8_t kind, scope;   /* of the later one: KIND_READ ...; 0: weak, else as Scope */
    uint8_t earlier_kind, earlier_scope;
    uint8_t in_flight; /* the earlier one is asynchronous, and was not waited for */
    uint8_t order;     /* of the later one, as Order */
    uint16_t written;  /* not 0 when the report is complete */
    uint32_t other;    /* the tag of the launch of the earlier one; 0: it is of the same launch */
    uint32_t met;      /* signals of the two launches may order them */
    uint32_t reserved[4];
} ShadowReport;
_Static_assert(sizeof(ShadowReport) == 64, "reports are written by devices");

/* What may order CTAs of several processes, in the order in which a slot did it (ShadowState.signals). Each but an
 * observation has closed an epoch: what the slot did in later ones comes behind it. Of several at the same address that
 * nothing the slot has released stands between, the first one stands for all, with the time of the last. */
typedef enum ShadowSignalKind {
    SHADOW_SIGNAL_NONE, /* it is not written yet */
    SHADOW_RELEASES,
    SHADOW_ACQUIRES,
    SHADOW_OBSERVES, /* by a relaxed read: an acquire with the next fence of the slot */
    SHADOW_FENCES,   /* a fence that acquires */
} ShadowSignalKind;
typedef struct ShadowSignal {
    uint64_t address;
    uint64_t time; /* %globaltimer: of a release before its write, of the others behind the read */
    uint32_t actor, epoch;
    uint32_t complete; /* of a release: groups of bulk copies that were waited for */
    uint32_t kind;
    uint32_t previous; /* of the slot, + 1 */
    uint32_t reserved[3];
} ShadowSignal;
_Static_assert(sizeof(ShadowSignal) == 48, "it is written by devices");

/* In global memory; everything behind `counts` is written by the kernel. */
typedef struct ShadowState {
    uint64_t actors;     /*  0: ShadowActor of each slot */
    uint64_t vectors;    /*  8: SHADOW_VECTORS of each slot, `stride` bytes each, zero: epochs of 32 bits, seed: 16 */
    uint64_t rows;       /* 16: `row_count` of them, `row_bytes` each, zero: epochs of 32 bits */
    uint64_t real;       /* 24: as in the launch */
    uint64_t flags;      /* 32: SHADOW_BUCKETS of SHADOW_WAYS of ShadowFlag, zero */
    uint64_t ctas;       /* 40: of each CTA of the grid its slot + 2; 1: about to be known. 0: each has its own slot */
    uint64_t taken;      /* 48: a bit for each slot */
    uint64_t reports;    /* 56: SHADOW_REPORTS of them */
    uint64_t pairs;      /* 64: SHADOW_PAIRS words: pairs of sites that were told */
    uint32_t slots;      /* 72 */
    uint32_t stride;     /* 76: of a vector; a multiple of 16 */
    uint32_t row_count;  /* 80 */
    uint32_t threads;    /* 84: of a CTA (of a cluster, of all its CTAs) */
    uint32_t slot_shift; /* 88: 1 if actors are two numbers each: for what is asynchronous, another one */
    uint32_t tag;        /* 92: as in the launch */
    uint64_t random;     /* 96 */
    uint32_t slot_words; /* 104: of `taken` */
    uint32_t row_bytes;  /* 108 */
    uint64_t begun;      /* 112: seed: first epoch of the CTA that a slot has now, 16 bits each */
    union {
        uint64_t clusters; /* 120: seed: a number of its own for each slot, 64 bits each */
        uint64_t signals;  /* 120: compact: SHADOW_SIGNALS of ShadowSignal; 0: they are not wanted */
    };
    /* by the kernel */
    uint32_t trouble, trouble_site; /* 128 */
    uint32_t report_count;          /* 136: asked for */
    uint32_t outside_site;          /* 140: the first access that was outside, + 1 */
    uint64_t outside;               /* 144: accesses to memory that has no cells: not checked */
    uint64_t outside_address;       /* 152 */
    uint64_t races;                 /* 160: all of them */
    uint32_t rows_used;             /* 168: asked for */
    uint32_t flags_lost;            /* 172: not 0: there was no room for a flag */
    uint64_t bytes, cells;          /* 176: as in the launch */
    ShadowMap maps[SHADOW_MAPS];    /* 192 */
    uint64_t waits;                 /* of a dependent launch: a bit for each CTA that has waited; 0: it is none */
    uint32_t waited;                /* how many have */
    uint32_t met[8];                /* tags of launches whose signals were read, and of what may be before these */
    uint32_t signal_count;          /* asked for */
} ShadowState;

/* ---- How a launch is laid out ---- */

static inline void shadow_clocks(ShadowLaunch *launch, const ShadowState *state) {
    launch->actors = state->actors;
    launch->vectors = state->vectors;
    launch->rows = state->rows;
    launch->flags = state->flags;
    launch->stride = state->stride;
    launch->slot_shift = state->slot_shift;
}

/* The tag of a compact cell. */
static inline uint32_t shadow_cell_tag(uint64_t low, uint64_t high) {
    return (uint32_t)low >> 30 | (uint32_t)high >> 29 << 2 | (uint32_t)(high >> 61) << 5;
}

static inline uint32_t shadow_bits(uint32_t number) {
    uint32_t bits = 0;
    for (; number; number >>= 1)
        bits++;
    return bits;
}

/* The form of a launch's stamps: sites have what they need, as long as epochs have 12 bits. `actors`: the largest
 * number of one; 0: there is no room for so many. Of all CTAs, however few slots they have, 8 to 16 may take the place
 * of a reader in a cell: so that cells which all of them read do not change all the time. */
static inline uint32_t shadow_split(uint32_t tag, uint32_t actors, uint32_t ctas, uint32_t sites, uint32_t is_clocked) {
    enum { EPOCHS = 12 };
    uint32_t actor = shadow_bits(actors), rank = shadow_bits(ctas), wanted = shadow_bits(sites + 1),
             epochs = is_clocked ? EPOCHS : 0;
    if (actor + epochs > SHADOW_STAMP)
        return 0;
    uint32_t room = SHADOW_STAMP - actor - epochs, site = wanted < room ? wanted : room;
    return shadow_form(tag, site, is_clocked ? SHADOW_STAMP - actor - site : 0) | (rank > 4 ? rank - 4 : 0) << 24;
}

#endif
