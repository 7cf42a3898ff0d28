/* What the files that make random kernels share: a kernel being made, and its loops.
 *
 *   generate.c        kernels, pipelines, control flow
 *   generate_loops.c  loops, of both forms
 *   generate_ops.c    slots and single ops */
#ifndef TESTS_MEMBAR_GENERATE_H
#define TESTS_MEMBAR_GENERATE_H

#include "sound.h"

typedef struct Random {
    uint64_t state;
} Random;

enum {
    MOST_RINGS = 4,
    MOST_COUNTERS = 12,
    MOST_VIEWS = 24,
    MOST_CARRIED = 4,
    MOST_NESTING = 2,
    BARRIER_OFFSET = 131072
};

typedef struct Word {
    char text[40];
} Word;

typedef struct Ring {
    Word name;
    unsigned slots; /* 0: one tile, without an index */
    unsigned offset;
} Ring;

/* A number that can pick a slot. */
typedef struct Counter {
    Word name;
    unsigned bound; /* it is less than that; 0: not known, but it is not negative */
} Counter;

typedef enum Copies { COPIES_CP_ASYNC, COPIES_TDM, COPIES_TMA } Copies;

typedef struct Maker {
    Random random;
    Text *to;
    unsigned names, indentation, nesting, left; /* left: statements still to be made */
    bool amd;
    bool blocks; /* control flow here is made of blocks */
    bool in_loop;
    SoundTraits traits;
    Ring rings[MOST_RINGS];
    unsigned ring_count, first_ring; /* those before first_ring are gone */
    Counter counters[MOST_COUNTERS];
    unsigned counter_count;
    Word views[MOST_VIEWS];
    unsigned view_count;
    bool used_copies[3], used_stores;
} Maker;

/* What is in scope, to come back to at the end of a region. */
typedef struct Scope {
    unsigned counter_count, view_count;
    bool blocks;
} Scope;

/* What a loop hands on from round to round; the first is its variable. */
typedef struct Carried {
    Word value, first, next;
    unsigned bound; /* as of a counter */
    bool view;
} Carried;

typedef struct Loop {
    Carried carried[MOST_CARRIED];
    unsigned carried_count;
    Word end, step;
    Word results;          /* scf */
    Word head, body, exit; /* cf */
    bool bottom_tested;    /* cf: runs at least once */
    bool blocks;
    Scope scope;
} Loop;

/* ---- generate_ops.c ---- */
unsigned below(Maker *maker, unsigned limit);
bool chance(Maker *maker, unsigned percent);
/* A line of the kernel. */
void __attribute__((format(printf, 2, 3))) line(Maker *maker, const char *format, ...);
/* A label stands further left than what it labels. */
void label(Maker *maker, Word name);
Word __attribute__((format(printf, 1, 2))) word(const char *format, ...);
/* A name that nothing has yet. */
Word fresh(Maker *maker, const char *stem);
Word constant(unsigned number);
/* What is known at the start of a region is what is known after it. */
Scope enter_scope(Maker *maker);
void leave_scope(Maker *maker, Scope scope);
void know_counter(Maker *maker, Word name, unsigned bound);
void know_view(Maker *maker, Word name);
/* counter + 1, or 0 when that reaches `bound`. */
Word wrapped(Maker *maker, Word counter, unsigned bound);
/* (counter + ahead) % slots */
Word ahead_of(Maker *maker, Word counter, unsigned ahead, unsigned slots);
Word slot_view(Maker *maker, const Ring *ring, Word index);
Word any_view(Maker *maker);
void make_load(Maker *maker, Word view);
void make_store(Maker *maker, Word view);
Copies any_copies(Maker *maker);
void make_copy(Maker *maker, Copies copies, Word view);
void make_wait(Maker *maker, Copies copies, unsigned left);
Word offset_attribute(const Maker *maker, unsigned offset);
void make_barrier(Maker *maker);
void make_simple(Maker *maker);

/* ---- generate_loops.c ---- */
void carry_counter(Maker *maker, Loop *loop, unsigned first, unsigned bound);
void carry_views(Maker *maker, Loop *loop);
Loop new_loop(Maker *maker);
void begin_loop(Maker *maker, Loop *loop);
void end_loop(Maker *maker, Loop *loop);

#endif
