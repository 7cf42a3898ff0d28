/* What the files of the prepass share (prepass.c). */
#ifndef CHECK_REPLAY_PREPASS_H
#define CHECK_REPLAY_PREPASS_H

#include "check/replay/internal.h"

enum { PREPASS_RACES = 2048 };
/* What was counted while a cluster was played. */
typedef struct Counts {
    uint64_t events, instructions, records;
    uint32_t race_count;
    uint64_t races[PREPASS_RACES]; /* how often each came up */
} Counts;

/* A hash of what a thread does. */
typedef struct PrepassSum {
    uint64_t one, two;
} PrepassSum;

/* Of a cluster. */
typedef struct Duplicate {
    PrepassSum sum;
    uint32_t first;      /* the first cluster that does the same */
    PrepassSum stored;   /* of what it stores: which of that is the same */
    bool stores, opaque; /* something is recorded of it; and which lanes store the same is not told by the sum */
    bool played;         /* of the first: one was, alone and to its end */
    bool steady;         /* ... and the last two were counted alike */
    uint32_t last;       /* ... which was this, and was counted so: */
    Counts *counts;
    uint32_t fetches, fetched; /* cp.async that it makes, and those that were played (prepass_fetches.c) */
    uint32_t strong;           /* the thread that makes strong accesses, + 1; UINT32_MAX: several do; 0: none does */
    bool looked, clean;        /* of the first, when all were told: whether nothing was found until then */
} Duplicate;

/* Numbers for values: of the cluster that is read. */
typedef struct PrepassNames {
    struct PrepassName {
        uint32_t value, stamp, number;
    } * items; /* hashed; a power of two, at most half of them used */
    uint32_t capacity, count, stamp;
} PrepassNames;

enum { PREPASS_TENSORS = 16 };

typedef struct Prepass {
    Player *player;
    Footprint *footprint;
    bool compares;          /* clusters with each other: nothing orders them */
    uint32_t strong;        /* the warp, behind all others, that makes all strong accesses; 0: each makes its own */
    bool only_writes;       /* what is read is not asked for */
    bool fetches;           /* copies are told once of clusters that do the same, but for accesses to global memory */
    StrongReading *reading; /* strong accesses; NULL: they need no order */
    const bool *idle;       /* of each site: its records say nothing here; NULL: some of all do */
    const struct PrepassRun *runs; /* of each site: what is known of the run that it begins */
    Duplicate *duplicates;         /* of each cluster */
    uint8_t *seen;                 /* chunks that were read */
    PrepassNames names;
    Counts before, now; /* the cluster that is played began, and is over */
    bool alone;         /* ... which is to be counted, and no other is beside */
    bool any_passed;
    struct PrepassTensor {
        uint64_t first, end;
    } tensors[PREPASS_TENSORS]; /* that copies read, and are in the footprint; the last ones */
    uint32_t tensor_count;
} Prepass;

/* Where a warp comes from. */
typedef struct PrepassFrom {
    uint32_t cta, index; /* of the machine; of the CTA */
    uint32_t number;     /* of the grid */
} PrepassFrom;

/* What the cluster does is read. False: it is not known what is accessed, or does not pay to know it. */
bool prepass_read(Prepass *prepass, uint32_t cluster, RecordCursor *room);
void prepass_mix(PrepassSum *sum, uint64_t value);
void prepass_mix_part(PrepassSum *sum, const SitePart *about, const RecordPart *part, uint32_t lanes);
/* Whether what a thread accesses so is ordered with what else it does. */
static inline bool prepass_is_alone(const ThreadsAccess *reported) {
    return reported->proxy == PROXY_GENERIC && !reported->read_only;
}
/* Whether an instruction that may access global memory does: where its address may be anywhere, it says so. */
bool prepass_is_global(const Player *player, const PlaySite *site, const Record *record, uint32_t warp_in_cta);
/* Whether that is in global memory. */
bool prepass_has(const Player *player, uint64_t first, uint64_t end);

/* ---- prepass_fetches.c ---- */
/* Whether nothing but cp.async accesses shared memory. */
bool fetches_can(const Player *player);
/* A record of the cluster; site NULL: lanes end. */
void fetches_read(const PlaySite *site, const Record *record, const PrepassFrom *from, Duplicate *duplicate);

/* ---- prepass_runs.c ---- */
const struct PrepassRun *prepass_runs(const Prepass *prepass);
/* The next records, if they are a run that need not be looked at one by one: into the sum. */
bool prepass_read_run(const Prepass *prepass, RecordStream *stream, PrepassSum *sum);

/* ---- prepass_tiles.c ---- */
/* A TMA copy; *left_out: the parts that say where in global memory it is, a mask. False: that is not known, or it is
 * none. */
bool prepass_tile(Prepass *prepass, const PlaySite *site, const Record *record, const PrepassFrom *from,
                  PrepassSum *sum, uint32_t *left_out);

#endif
