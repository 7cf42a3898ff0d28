/* ConSan: whether accesses to shared and tensor memory are ordered, by visibility between logical actors.
 *
 * It stands alone: it knows no IR and no emulator, takes what happens as calls, allocates through what it is given, and
 * uses nothing but fixed-width integers, so that it compiles for a device, too.
 *
 * Actors. 64 logical actors, so that a set of them is one 64-bit mask: 16 base actors (0-15), and for base actor t
 * its TMA helper 16 + t, its tensor-core helper 32 + t, and its cluster-launch-control helper 48 + t. What a base
 * actor does is seen by the helpers that it uses afterwards; what a helper does is seen by nobody until a barrier says
 * so. An actor's peers are itself and, if it is a base actor, its helpers.
 *
 * Spans. A buffer is a set of spans: pieces of memory that are always accessed together. Two buffers that overlap share
 * spans. When an access cuts a span in two, `consan_split` gives the new piece the old one's past.
 *
 * Tables (B spans, K barriers, F = 2 parities of a phase):
 *
 *   writeVisibility    [B]            u64   bit i: actor i sees the latest write
 *   readVisibility     [64][B]        u64   of actor i: the actors whose latest reads it knows to be over or ordered
 *                                           before what it does next
 *   writeTracking      [K][F][B]      u1    what a wait for that phase publishes: the latest write
 *   readTracking       [K][F][B]      u64   and the reads of these actors
 *   outstandingCommits [kinds][16][B] i8    of base actor i: -1 staged, n > 0 committed n groups ago, 0 none
 *
 * A read is legal if its actor sees the latest write; a write if it sees the latest write and all reads.
 *
 * The tables of bits lie transposed: a word holds one bit of each of 64 spans, so that a rule is a few operations on
 * words for 64 spans at once. And a helper's rows hold only what it sees beyond its base actor: all that a base actor
 * comes to see, its helpers see, too. The functions under "Looking in" answer as the tables above. */
#ifndef ENGINE_CONSAN_H
#define ENGINE_CONSAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONSAN_BASE = 0,
    CONSAN_TMA = 16,
    CONSAN_TENSOR = 32,
    CONSAN_CLC = 48,
    CONSAN_ACTORS = 64,
    CONSAN_BASE_ACTORS = 16,
    CONSAN_PHASES = 2,
};

/* Groups that are waited for by count. A copy group writes, the others read. */
typedef enum ConsanGroup { CONSAN_COPY, CONSAN_WGMMA, CONSAN_STORE, CONSAN_GROUPS } ConsanGroup;

typedef enum ConsanKind {
    CONSAN_CLEAN,
    CONSAN_OUTSTANDING_WRITE, /* the actor does not see the latest write */
    CONSAN_OUTSTANDING_READ,  /* the actor does not see all reads */
    CONSAN_PENDING_GROUP,     /* a group that is not waited for touches it */
} ConsanKind;

/* The first reason why an access is not legal. */
typedef struct ConsanConflict {
    ConsanKind kind;
    uint32_t span;
    uint32_t actor; /* of the other access */
    uint32_t place; /* that it was made with */
    ConsanGroup group;
} ConsanConflict;

typedef void *ConsanAllocate(void *context, size_t size); /* zeroed; NULL if there is no memory */

/* W = words of 64 spans; P = K x F phases. */
typedef struct Consan {
    uint32_t spans, span_capacity, barriers;
    uint32_t words;                 /* W, for all the spans that there can be */
    uint64_t watchers;              /* actors with something in their rows of the visibility tables */
    uint64_t readers;               /* actors that have ever read */
    uint64_t *written;              /* [W]: spans that were written at all */
    uint64_t *write_visibility;     /* [W][64] */
    uint64_t *read;                 /* [W][64]: spans that an actor has read since they were last written */
    uint64_t *read_visibility;      /* [W][64 who read][64 who see it] */
    uint64_t *write_tracking;       /* [W][P] */
    uint64_t *read_tracking;        /* [W][64 who read][P] */
    uint64_t *open;                 /* [kinds][16][W]: spans whose entry in outstandingCommits is not 0 */
    int8_t *commits;                /* [kinds][16][B] */
    uint32_t staged[CONSAN_GROUPS]; /* base actors, as a mask, that have entries of the kind */
    uint32_t *active;               /* the phases that track anything */
    uint32_t *active_place;         /* [P]: where in that list, + 1; 0: not in it */
    uint32_t active_count;
    /* Beside the tables, for messages: who touched a span last, and where. */
    uint8_t *writer;       /* [B] */
    uint32_t *write_place; /* [B] */
    uint32_t *read_place;  /* [64][B] */
    uint32_t *stage_place; /* [kinds][16][B] */
    uint64_t *handed;      /* [W][K]: spans of which a wait for the barrier has shown somebody something new */
} Consan;

/* False if there is no memory. `spans` is how many there can be at most. */
bool consan_create(Consan *consan, uint32_t spans, uint32_t barriers, ConsanAllocate *allocate, void *context);
/* Nothing has happened yet. The spans stay. */
void consan_reset(Consan *consan);

/* A new span that nobody has touched, or, cut off `from`, with the past of that. UINT32_MAX when there are no more. */
uint32_t consan_span(Consan *consan);
uint32_t consan_split(Consan *consan, uint32_t from);

/* verify: whether the actor may read or write the spans. */
ConsanConflict consan_verify_read(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count);
ConsanConflict consan_verify_write(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count);

/* set: the access is made. `place` comes back in conflicts with it. */
void consan_set_read(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place);
void consan_set_write(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place);

/* track: an arrival of `actor` on a barrier, in the phase of that parity, will publish all that the actor sees (its
 * frontier), ... */
void consan_track_frontier(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity);
/* ... or the completion of a copy, which publishes the bytes that it wrote and nothing else. */
void consan_track_writes(Consan *consan, const uint32_t *spans, uint32_t count, uint32_t barrier, uint32_t parity);
/* A phase begins: what the phase of the same parity before it published is forgotten. */
void consan_begin_phase(Consan *consan, uint32_t barrier, uint32_t parity);
/* What one phase would publish, another does instead: an arrival was announced to the first, and comes to the second.
 */
void consan_hand_on(Consan *consan, uint32_t barrier, uint32_t parity, uint32_t to_barrier, uint32_t to_parity);
/* transfer: a wait of `actor` for the phase of that parity has gone on. */
void consan_transfer(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity);

/* stage, commit, clear: accesses that are waited for by counting groups. */
void consan_stage(Consan *consan, ConsanGroup group, uint32_t base, const uint32_t *spans, uint32_t count,
                  uint32_t place);
void consan_commit(Consan *consan, ConsanGroup group, uint32_t base);
/* All but the `pending` youngest groups are over: from now on they are accesses that the base actor has made. */
void consan_clear(Consan *consan, ConsanGroup group, uint32_t base, uint32_t pending);
/* The copies that the actor has issued, committed or not, report to a barrier: they are over when its phase is. */
void consan_track_copies(Consan *consan, uint32_t base, uint32_t barrier, uint32_t parity);

/* Base actors both. A partition starts with what its parent sees; at the join the parent gets what the partition's
 * base actor sees. What helpers have not finished stays unfinished across both. */
void consan_fork(Consan *consan, uint32_t parent, uint32_t child);
void consan_join(Consan *consan, uint32_t parent, uint32_t child);

/* Looking in: an entry of the tables. */
uint64_t consan_peers(uint32_t actor);
uint64_t consan_write_visibility(const Consan *consan, uint32_t span);
uint64_t consan_read_visibility(const Consan *consan, uint32_t actor, uint32_t span);
bool consan_write_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span);
uint64_t consan_read_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span);
int consan_outstanding_commits(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span);
/* Whether the span was written at all. */
bool consan_written(const Consan *consan, uint32_t span);
/* Whether a wait for the barrier has shown somebody an access to the span that it had not seen. */
bool consan_handed(const Consan *consan, uint32_t barrier, uint32_t span);
/* The place of the access that such an entry is for. */
uint32_t consan_stage_place(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span);

#endif
