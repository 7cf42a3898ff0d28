/* ConSan: whether accesses to shared and tensor memory are ordered, by visibility between logical actors.
 *
 * It stands alone: it knows no IR and no emulator, takes what happens as calls, allocates through what it is given, and
 * uses nothing but fixed-width integers, so that it compiles for a device, too.
 *
 * Actors. Agents are numbered from 0, as many as the engine was made for, in sets of 16. A set has 64 logical actors,
 * so that its actors are one 64-bit mask: in the first set 16 base actors (0-15), and for base actor t its TMA helper
 * 16 + t, its tensor-core helper 32 + t, and its cluster-launch-control helper 48 + t; in the next set the same, 64
 * higher. A kernel of up to 16 agents has one set; a cluster has as many as its CTAs' agents need. What a base actor
 * does is seen by the helpers that it uses afterwards; what a helper does is seen by no agent until a barrier says so.
 * An actor's peers are itself and, if it is a base actor, its helpers.
 *
 * Spans. A buffer is a set of spans: pieces of memory that are always accessed together. Two buffers that overlap share
 * spans. When an access cuts a span in two, `consan_split` gives the new piece the old one's past. A span has a home,
 * the CTA that its memory is in.
 *
 * Tables (B spans, K barriers, F = 2 parities of a phase, S sets of actors, A agents):
 *
 *   writeVisibility    [B]            u64 x S   bit i: actor i sees the latest write
 *   readVisibility     [64 S][B]      u64 x S   of actor i: the actors whose latest reads it knows to be over or
 *                                               ordered before what it does next
 *   writeTracking      [K][F][B]      u1        what a wait for that phase publishes: the latest write
 *   readTracking       [K][F][B]      u64 x S   and the reads of these actors
 *   outstandingCommits [kinds][A][B]  i8        of an agent: -1 staged, n > 0 committed n groups ago, 0 none; of the
 *                                               kind of reported copies: those that a barrier publishes and a group
 *                                               still counts
 *
 * A read is legal if its actor sees the latest write; a write if it sees the latest write and all reads. An update is
 * atomic: to other updates of the same elements it is no more than a read is to reads; a read has to see it as it sees
 * the latest write, and a write as it sees reads. So it has a row of its own beside the reads of its actor.
 *
 * The tables of bits lie transposed: a word holds one bit of each of 64 spans, so that a rule is a few operations on
 * words for 64 spans at once. The spans of a word have one home, and a word knows the few actors and phases that have
 * anything in it, as these know their words: what one CTA of a cluster does in its own memory costs as much as if the
 * others were not there. And a helper's rows hold only what it sees beyond its base actor: all that a base actor comes
 * to see, its helpers see, too. The functions under "Looking in" answer as the tables above. */
#ifndef ENGINE_CONSAN_CONSAN_H
#define ENGINE_CONSAN_CONSAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CONSAN_BASE = 0, /* of the first set of actors; kinds lie CONSAN_SET apart */
    CONSAN_TMA = 16,
    CONSAN_TENSOR = 32,
    CONSAN_CLC = 48,
    CONSAN_SET = 16,        /* agents of a set */
    CONSAN_SET_ACTORS = 64, /* and actors */
    CONSAN_PHASES = 2,
    CONSAN_LANES = 64, /* spans of a word */
    CONSAN_MOST_AGENTS = 1024,
    CONSAN_MOST_WORDS = 1 << 15,
};

/* The base actor of an agent. Its helpers are CONSAN_TMA, CONSAN_TENSOR and CONSAN_CLC higher. */
static inline uint32_t consan_base(uint32_t agent) {
    return agent / CONSAN_SET * CONSAN_SET_ACTORS + agent % CONSAN_SET;
}

/* Whose actor it is. */
static inline uint32_t consan_agent(uint32_t actor) {
    return actor / CONSAN_SET_ACTORS * CONSAN_SET + actor % CONSAN_SET;
}

/* CONSAN_BASE, CONSAN_TMA, CONSAN_TENSOR or CONSAN_CLC. */
static inline uint32_t consan_kind(uint32_t actor) {
    return actor % CONSAN_SET_ACTORS / CONSAN_SET * CONSAN_SET;
}

/* Groups that are waited for by count. A copy group writes, the others read. */
typedef enum ConsanGroup {
    CONSAN_COPY,
    CONSAN_WGMMA,
    CONSAN_STORE,
    CONSAN_GROUPS,
    CONSAN_REPORTED = CONSAN_GROUPS, /* entries of their own in the tables: copies that report to a barrier, too */
    CONSAN_KINDS,
} ConsanGroup;

typedef enum ConsanKind {
    CONSAN_CLEAN,
    CONSAN_OUTSTANDING_WRITE, /* the actor does not see the latest write, or an update */
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

/* How much there can be. */
typedef struct ConsanSize {
    uint32_t agents;   /* at most CONSAN_MOST_AGENTS */
    uint32_t homes;    /* 0 stands for 1 */
    uint32_t spans;    /* of each home; what one leaves, others take */
    uint32_t barriers; /* of all */
} ConsanSize;

/* Who has something in a word, out of all actors, all phases, or all agents. */
typedef struct ConsanHolders {
    uint16_t *list;
    uint16_t *place; /* by holder: where in that list, + 1; 0: not in it */
    uint16_t *back;  /* by holder: where in its own list the word is */
    uint32_t count;
} ConsanHolders;

/* The words in which each holder has something. */
typedef struct ConsanWords {
    uint16_t *lists; /* [holder][W] */
    uint16_t *counts;
} ConsanWords;

/* What an actor has read of the spans of a word, or updated. */
typedef struct ConsanReader {
    uint64_t spans; /* since they were last written */
    uint32_t actor;
    bool updates;
    uint8_t elements[CONSAN_LANES]; /* bytes of the elements that it has updated; 0: of several sizes */
    uint64_t *seen;                 /* by actor: what it sees of that, itself */
    uint64_t *tracked;              /* by phase */
    uint32_t places[CONSAN_LANES];
} ConsanReader;

/* What an agent has staged of the spans of a word, for one kind of group. */
typedef struct ConsanStaged {
    uint64_t open; /* entries that are not 0 */
    int8_t commits[CONSAN_LANES];
    uint32_t places[CONSAN_LANES];
} ConsanStaged;

/* 64 spans of one home. */
typedef struct ConsanWord {
    uint32_t index, home, used; /* which word it is; used: how many of them there are */
    uint64_t written;           /* at all */
    uint64_t *seen;             /* by actor: the latest writes that it sees, itself */
    uint64_t *tracked;          /* by phase: the latest writes that it publishes */
    ConsanReader **readers;
    uint32_t reader_count;
    ConsanReader **reader_of; /* by actor, and then by actor for updates; NULL: it has never read here */
    ConsanHolders watchers;   /* actors with something in `seen`, of the word or of a reader */
    ConsanHolders phases;     /* that track anything */
    ConsanHolders stagers[CONSAN_KINDS];
    ConsanStaged **staged[CONSAN_KINDS]; /* by agent */
    uint64_t *forwarded;                 /* by barrier: of what a wait for it has shown an agent something new */
    uint16_t writer[CONSAN_LANES];
    uint32_t write_place[CONSAN_LANES];
} ConsanWord;

typedef struct Consan {
    uint32_t spans, span_capacity; /* that there are, in all homes, and can be */
    uint32_t homes, agents, actors, barriers, phases;
    ConsanWord *words;
    uint32_t word_count, word_capacity;
    uint32_t *home_word;               /* by home: its last word, + 1; 0: none */
    ConsanWords watched;               /* by actor */
    ConsanWords tracking;              /* by phase */
    ConsanWords staging[CONSAN_KINDS]; /* by agent */
    bool exhausted; /* memory was refused: some access is missing, and nothing is sure from there on */
    ConsanAllocate *allocate;
    void *context;
} Consan;

/* False if there is no memory, or if it is to be larger than it can be. Tables are allocated as they are needed, later
 * as well: `allocate` and `context` must stay good. */
bool consan_create(Consan *consan, const ConsanSize *size, ConsanAllocate *allocate, void *context);
/* Nothing has happened yet. The spans stay. */
void consan_reset(Consan *consan);

/* A new span that nothing has touched, or, cut off `from`, with the past of that. UINT32_MAX when there are no more. */
uint32_t consan_span(Consan *consan, uint32_t home);
uint32_t consan_split(Consan *consan, uint32_t from);
/* The first span from that number on, of a home or, for UINT32_MAX, of any; UINT32_MAX: there is none. */
uint32_t consan_next_span(const Consan *consan, uint32_t home, uint32_t from);

/* verify: whether the actor may read or write the spans. */
ConsanConflict consan_verify_read(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count);
ConsanConflict consan_verify_write(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count);
/* `element`: the bytes that each of its updates has at once. */
ConsanConflict consan_verify_update(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count,
                                    uint32_t element);

/* set: the access is made. `place` comes back in conflicts with it. */
void consan_set_read(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place);
void consan_set_write(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place);
void consan_set_update(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t element,
                       uint32_t place);

/* track: an arrival of `actor` on a barrier, in the phase of that parity, will publish all that the actor sees (its
 * frontier), ... */
void consan_track_frontier(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity);
/* ... or the completion of a copy, which publishes the bytes that it wrote and nothing else. */
void consan_track_writes(Consan *consan, const uint32_t *spans, uint32_t count, uint32_t barrier, uint32_t parity);
/* ... and, of one from shared memory to shared memory, that the actor has read its source. */
void consan_track_reads(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t barrier,
                        uint32_t parity);
/* A phase begins: what the phase of the same parity before it published is forgotten. */
void consan_begin_phase(Consan *consan, uint32_t barrier, uint32_t parity);
/* What one phase would publish, another does instead: an arrival was announced to the first, and comes to the second.
 */
void consan_hand_on(Consan *consan, uint32_t barrier, uint32_t parity, uint32_t to_barrier, uint32_t to_parity);
/* transfer: a wait of `actor` for the phase of that parity has gone on. */
void consan_transfer(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity);

/* stage, commit, clear: accesses that are waited for by counting groups. `base`: a base actor. */
void consan_stage(Consan *consan, ConsanGroup group, uint32_t base, const uint32_t *spans, uint32_t count,
                  uint32_t place);
void consan_commit(Consan *consan, ConsanGroup group, uint32_t base);
/* All but the `pending` youngest groups are over: from now on they are accesses that the base actor has made. */
void consan_clear(Consan *consan, ConsanGroup group, uint32_t base, uint32_t pending);
/* The copies that the actor has issued, committed or not, report to a barrier: they are over when its phase is, and for
 * the actor itself also when their group is. */
void consan_track_copies(Consan *consan, uint32_t base, uint32_t barrier, uint32_t parity);

/* Base actors both. A partition starts with what its parent sees; at the join the parent gets what the partition's
 * base actor sees. What helpers have not finished stays unfinished across both. */
void consan_fork(Consan *consan, uint32_t parent, uint32_t child);
void consan_join(Consan *consan, uint32_t parent, uint32_t child);

/* Looking in: an entry of the tables. `set`: which 64 actors the mask is of. */
uint32_t consan_sets(const Consan *consan);
uint64_t consan_peers(uint32_t actor); /* of its own set */
uint64_t consan_write_visibility(const Consan *consan, uint32_t span, uint32_t set);
uint64_t consan_read_visibility(const Consan *consan, uint32_t actor, uint32_t span, uint32_t set);
bool consan_write_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span);
uint64_t consan_read_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span, uint32_t set);
int consan_outstanding_commits(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span);
/* The first span from that number on that has such an entry; UINT32_MAX: there is none. */
uint32_t consan_next_staged(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t from);
/* Whether the span was written at all. */
bool consan_written(const Consan *consan, uint32_t span);
/* Whether a wait for the barrier has shown an agent an access to the span that it had not seen. */
bool consan_forwarded(const Consan *consan, uint32_t barrier, uint32_t span);
/* Hands out, number by number, all that decides what is legal from now on. */
void consan_visit(const Consan *consan, void (*number)(void *context, uint64_t number), void *context);
/* The place of the access that such an entry is for. */
uint32_t consan_stage_place(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span);

#endif
