/* Proxies: whether what one path to memory does is seen by another.
 *
 * The threads reach shared memory by the generic proxy; the TMA unit, the tensor cores and cluster launch control
 * reach it by the async proxy; descriptors are read by the tensormap proxy. That one access comes after another, by
 * whatever barrier, does not make it see what the other did through another proxy: a fence must stand between them,
 * executed by the threads that made the ordinary access, after it, and before what tells the other side of it. The way
 * back needs none: who has waited for an asynchronous operation sees the bytes that it wrote.
 *
 * An observer of plain runs, in which what is asynchronous completes at once. What comes after what is said by clocks
 * (machine/tile/schedule/clocks.h); of each ordinary access it is kept which fences came after it, and when. */
#ifndef CHECK_FENCES_PROXIES_H
#define CHECK_FENCES_PROXIES_H

#include "check/explain/tile/spans.h"
#include "machine/tile/schedule/clocks.h"

enum { NO_PC = UINT32_MAX };

typedef enum BreachKind {
    BREACH_MISSING,   /* no fence by the threads that made the ordinary access, before the asynchronous one */
    BREACH_NARROW,    /* it reaches the own CTA only, and other CTAs have a part in it */
    BREACH_LATE,      /* others have executed one, after they had been told of the access */
    BREACH_GLOBAL,    /* global memory: written by threads, read by the TMA unit */
    BREACH_ELSEWHERE, /* the same, written by another cluster of the launch */
    BREACH_IN_FLIGHT, /* global memory: read while a copy may still write it */
    BREACH_FLAG,      /* others are told of something while a copy may still write */
    BREACH_TENSORMAP, /* a descriptor made in the kernel is used without the acquiring fence */
    BREACH_REWRITTEN, /* a descriptor is made again while a copy may still read the old one */
} BreachKind;

/* An access, and an earlier one that it may not see. */
typedef struct Breach {
    BreachKind kind;
    uint32_t pc, agent;
    uint32_t other_pc, other_agent;
    bool reads;  /* the earlier one does not write: whether that needs a fence at all is disputed */
    bool writes; /* the later one does */
    bool wide;   /* the fence has to reach the cluster */
    bool own;    /* both are of one partition (of any CTA), or one is outside of all: the compiler's passes see them */
    uint32_t span;
    uint32_t arrive_pc; /* what told the later one's agent of the earlier one; NO_PC: nothing that is known */
    uint32_t fence_pc;  /* one that does not do: narrow, late, early, not known to the later one; NO_PC: none */
    bool early;         /* that fence came before the earlier access was over */
    bool delayed;       /* the earlier access is over when it was waited for, and not before */
    uint64_t times;
    uint8_t missing; /* releases whose compiler does not put the fence in (ReleaseSet); set by who looks into that */
} Breach;

enum { MOST_BREACHES = 256 };

/* What became of a fence. */
typedef enum FenceUse {
    FENCE_NEVER,  /* it was not executed */
    FENCE_EMPTY,  /* no ordinary access was without a fence when it came */
    FENCE_UNUSED, /* some were, and no asynchronous access followed that needed it */
    FENCE_USED,
} FenceUse;

/* A fence that is not in the IR: before an op, or behind it. */
typedef struct FencePoint {
    const Op *op;
    bool after, wide;
} FencePoint;

typedef struct Proxies Proxies;

/* NULL, with a reason, if the kernel has more agents or barriers than clocks are kept for. */
Proxies *proxies_create(Arena *arena, Machine *machine, const char **problem);
/* As if those fences were there, and those ops were not. Forgets what was found. The lists are the caller's. */
void proxies_edit(Proxies *proxies, const FencePoint *points, size_t point_count, const Op *const *without,
                  size_t without_count);
/* Before each run, of which cluster of which launch. What was found in earlier ones is kept. */
void proxies_start(Proxies *proxies, uint64_t cluster, bool same_launch);
void proxies_observe(void *proxies, const Event *event);

const Breach *proxies_found(const Proxies *proxies, uint32_t *count);
/* Of the fences at that instruction; *before is the fence after which nothing was accessed (FENCE_EMPTY), or NO_PC. */
FenceUse proxies_fence_use(const Proxies *proxies, uint32_t pc, uint32_t *before);
/* The first access to shared memory that no run has made; NULL: all were. */
const Op *proxies_unseen(const Proxies *proxies);
/* Whether every access to shared memory that the program has was made in some run, and all that met were ordered: only
 * then can be said what is not needed. */
bool proxies_saw_all(const Proxies *proxies);
/* All that decides which fences the events to come will lack, in shared memory and of descriptors; not in global
 * memory. */
void proxies_visit(const Proxies *proxies, const StateVisit *visit);
/* "bytes 0-8191 of %a" */
void proxies_describe(const Proxies *proxies, uint32_t span, Text *to);
/* Why not everything was looked at, and the op of which something is not known (NULL: there was too much of
 * something); NULL: all was. */
const char *proxies_problem(const Proxies *proxies, const Op **op);

#endif
