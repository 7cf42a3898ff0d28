/* Races in global memory, between CTAs of any number of devices: vector clocks and shadow memory.
 *
 * A thread is one CTA: what is inside of it counts as one program. The machine that runs the kernels reports what the
 * CTAs do, in an order in which it could have happened; the engine says which accesses nothing orders. It knows
 * addresses, threads, orders and scopes, and nothing of ops.
 *
 * What orders two accesses is PTX's causality order: program order, releases and acquires that meet, barriers,
 * launches; and a strong write that was observed, by a strong read or through updates, is before what comes after who
 * observed it.
 *
 * Two modes. GSAN_EXACT forgets no reader and no thread: an access is dropped only when every later one that would race
 * with it races with a newer one, too (and, of more than 256 that race at one place, those that were told).
 * GSAN_SAMPLED keeps what fits into a device's memory: a cell of fixed size for each granule (gsan_cell.h), in it the
 * last write and a fair sample of the reads; it misses races with what its cells have lost, and reports none that the
 * exact mode, with the same granule, does not have. docs/gsan.md explains both. */
#ifndef ENGINE_HB_GSAN_H
#define ENGINE_HB_GSAN_H

#include "base/consistency.h"

#include <stddef.h>
#include <stdint.h>

typedef enum GsanMode { GSAN_EXACT, GSAN_SAMPLED } GsanMode;

enum { GSAN_NO_TICKET = 0, GSAN_NO_THREAD = UINT32_MAX };

typedef struct GsanOptions {
    GsanMode mode;
    uint64_t seed;
    uint32_t granule; /* bytes of a cell: 1, 2, 4 or 16; 0: 1 if exact, else 4 */
    uint32_t devices; /* 0: 1 */
    /* sampled only */
    uint32_t slots;              /* readers of a cell; 0: 4 */
    uint32_t ring;               /* clocks a thread keeps for its releases; 0: 1024 */
    uint32_t threads_per_device; /* what an SM is: it runs one CTA after the other; 0: 132 */
    size_t memory;               /* the most that it may take; 0: 8 GiB */
} GsanOptions;

/* Who made an access. `site` is the caller's number for the place in the kernel. */
typedef struct GsanActor {
    uint32_t thread, launch, cta; /* cta: of its launch; launch, cta: UINT32_MAX: no longer known (sampled) */
    uint32_t site;                /* UINT32_MAX: not known (sampled) */
    AccessKind kind;
    Order order;
    Scope scope;
    bool in_flight; /* asynchronous, and nothing had waited for it */
} GsanActor;

typedef enum GsanReason {
    GSAN_UNORDERED,  /* nothing orders them */
    GSAN_NARROW,     /* both are atomic, or a release and an acquire met, but a scope does not reach the other one */
    GSAN_UNFINISHED, /* the earlier one is asynchronous, and was not waited for before what would order them */
} GsanReason;

/* What a pair of a write and a read that could have ordered them lacks. */
typedef enum GsanMissing {
    GSAN_NO_PAIR, /* there was none */
    GSAN_NO_RELEASE,
    GSAN_NO_ACQUIRE,
    GSAN_NO_RELEASE_NO_ACQUIRE,
    GSAN_TOO_NARROW, /* a scope of them */
} GsanMissing;

typedef struct GsanRace {
    uint64_t begin, end; /* the bytes that both touch, the first run of them */
    GsanActor earlier, later;
    GsanReason reason;
    Scope needed; /* the narrowest scope that has both CTAs */
    /* The edge that was nearly there (exact only): where the earlier one's thread, after its access, wrote a flag or
     * made a release, and where the later one's thread read what was written. UINT32_MAX: there was none. */
    uint32_t released_site, acquired_site;
    GsanMissing missing;
} GsanRace;

/* Something that the engine could not follow: the run's verdict is not clean then, and says why. */
typedef enum GsanTrouble {
    GSAN_FINE,
    GSAN_RING_OVERWRITTEN, /* a release was read after its clock had left the ring: --ring must be larger */
    GSAN_EPOCH_OVERFLOW,
    GSAN_TOKEN_OVERFLOW,
    GSAN_TOO_MANY_THREADS, /* more CTAs at once than threads */
    GSAN_MIXED_SCOPES,     /* release upon release with another scope, which nothing orders */
    GSAN_OUT_OF_MEMORY,
} GsanTrouble;

typedef void GsanFound(void *context, const GsanRace *race);

typedef struct Gsan Gsan;

/* What makes no sense about options, a sentence; NULL: nothing. */
const char *gsan_options_problem(const GsanOptions *options);
/* Options of the exact mode with which it has every race that these find. */
GsanOptions gsan_exact(const GsanOptions *options);
/* NULL if the options make no sense: *problem is a sentence. Memory: its own (gsan_free). */
Gsan *gsan_create(const GsanOptions *options, GsanFound *found, void *context, const char **problem);
void gsan_free(Gsan *gsan);
/* What it could not follow; about the first such thing: the thread and the site. */
GsanTrouble gsan_trouble(const Gsan *gsan, uint32_t *thread, uint32_t *site);
const char *gsan_trouble_text(GsanTrouble trouble);

/* ---- Launches and CTAs ---- */

typedef struct GsanLaunch {
    uint32_t device, ctas;
    uint32_t cluster; /* CTAs of a cluster; CTAs of one have consecutive numbers */
    /* Launches (by their numbers) whose end comes before the begin of this one; and those for which it has to wait by
     * itself (programmatic dependent launch). */
    const uint32_t *after, *awaited;
    uint32_t after_count, awaited_count;
    /* Exact, for many launches: all that it comes after, in one way or the other, are over when gsan_launch is called,
     * are chained, too, and nothing is awaited. Its CTAs then have the numbers in clocks that those of `behind` have,
     * of the launches that it comes after; GSAN_NO_LAUNCH: numbers of their own. So clocks do not grow with each
     * launch. */
    bool chained;
    uint32_t behind;
} GsanLaunch;
#define GSAN_NO_LAUNCH UINT32_MAX

/* Its number, from 0 on. */
uint32_t gsan_launch(Gsan *gsan, const GsanLaunch *launch);
/* A CTA begins: its thread. It must end before a launch that comes after it begins. */
uint32_t gsan_begin(Gsan *gsan, uint32_t launch, uint32_t cta);
/* Everything that it has in flight is complete, too. */
void gsan_end(Gsan *gsan, uint32_t thread);
/* The wait for the launches that it depends on (griddepcontrol.wait). */
void gsan_await_launches(Gsan *gsan, uint32_t thread);

/* ---- Accesses ---- */

/* To the bytes begin .. end - 1. An update that did not store (a compare that failed) is a read with its order. A
 * strong access of up to 16 bytes is one element, and goes together with strong ones of the same bytes only; a longer
 * one has elements of unknown size. An access with a ticket is asynchronous: it is judged by the clock of when the
 * ticket was taken, and stays in flight until gsan_complete. Returns how many races were told. The same two sites are
 * told once; GsanStats.races counts all. */
unsigned gsan_access(Gsan *gsan, uint32_t thread, uint32_t site, AccessKind kind, Order order, Scope scope,
                     uint32_t ticket, uint64_t begin, uint64_t end);
/* The same of several elements, side by side, of that many bytes each (0: not known): a strong one goes together with
 * strong ones of the same elements, however many of them another access has. */
unsigned gsan_elements(Gsan *gsan, uint32_t thread, uint32_t site, AccessKind kind, Order order, Scope scope,
                       uint32_t ticket, uint64_t begin, uint64_t end, uint32_t element);
/* Taken when an asynchronous operation is issued. */
uint32_t gsan_issue(Gsan *gsan, uint32_t thread);
/* `thread` went on from the wait that completes it: what it touched is over, as of now, for that thread. Others may
 * complete it, too, each for itself. */
void gsan_complete(Gsan *gsan, uint32_t ticket, uint32_t thread);
/* The memory was freed, or allocated again: nothing is known of it. */
void gsan_forget(Gsan *gsan, uint64_t begin, uint64_t end);

/* ---- Order ---- */

void gsan_fence(Gsan *gsan, uint32_t thread, uint32_t site, Order order, Scope scope);

/* Barriers inside a cluster. The caller names them: one object for each phase of a barrier.
 * GSAN_WHOLE: everything before it (a cluster barrier that is not relaxed). GSAN_CLOSED: what the thread's earlier
 * releases have published, and what it has acquired from others, but not what it did since (an mbarrier: its arrive and
 * its wait have the scope of a CTA). GSAN_FENCED: what its last release fence of the scope of a cluster, or of a wider
 * one, has covered (a cluster barrier whose arrive is relaxed; its wait always acquires). */
typedef enum GsanExtent { GSAN_WHOLE, GSAN_CLOSED, GSAN_FENCED } GsanExtent;
void gsan_publish(Gsan *gsan, uint32_t thread, uint64_t object, GsanExtent extent);
void gsan_acquire(Gsan *gsan, uint32_t thread, uint64_t object);
/* Nothing will acquire it any more. */
void gsan_retire(Gsan *gsan, uint64_t object);

/* ---- For measuring and tests ---- */

typedef struct GsanStats {
    uint64_t accesses, elements; /* calls; cells that were checked */
    uint64_t shadow_bytes;       /* taken by cells */
    uint64_t clock_bytes;        /* by clocks and rings */
    uint64_t real_bytes;         /* of memory that has cells */
    uint64_t races;              /* pairs of accesses, also those that were not told again */
} GsanStats;
GsanStats gsan_stats(const Gsan *gsan);

#endif
