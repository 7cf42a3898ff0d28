/* What must come before what, in every schedule: found in one run, by clocks.
 *
 * One run decides for all schedules when nothing in it depended on luck: each wait was followed by the next phase of
 * its barrier only because it had been passed (so no waiter can be lapped), and each arrival came into its phase only
 * because the phase before was known to be over. Where that does not follow from the order of causes, a risk is noted:
 * an agent, or something in flight, to hold back, so that a directed schedule can show what happens then: another set
 * of arrivals completes the phase, or a wait comes too late. Weir reports a risk only when such a run goes wrong.
 *
 * A clock has a component for each agent (its visible effects) and one for each mbarrier (its phases known to be
 * complete). Causes are an observer of one run, in which others may be held back already. */
#ifndef MACHINE_TILE_SCHEDULE_HAPPENS_BEFORE_H
#define MACHINE_TILE_SCHEDULE_HAPPENS_BEFORE_H

#include "base/visit.h"
#include "machine/tile/schedule/schedule.h"

typedef enum SensitivePointKind {
    SENSITIVE_POINT_LAPPED,      /* a wait could come after the next phase has completed, too */
    SENSITIVE_POINT_EARLY,       /* an arrival could come into the phase before */
    SENSITIVE_POINT_OLDER,       /* a wait could pass on a phase two or more before the one it passed on */
    SENSITIVE_POINT_BEFORE_INIT, /* a barrier could be used before it is initialized */
    SENSITIVE_POINT_AFTER_END,   /* a barrier could be used after it is invalidated */
} SensitivePointKind;

typedef struct SensitivePoint {
    SensitivePointKind kind;
    uint32_t agent, pc;   /* to hold back; pc: at which instruction */
    bool outstanding;     /* hold back what it issues there instead */
    bool outstanding_ops; /* hold back everything in flight instead */
    uint32_t tick;        /* of the agent: how many visible effects come before */
    uint32_t barrier;
} SensitivePoint;

enum { MOST_SENSITIVE_POINTS = 64 };

typedef struct HappensBefore HappensBefore;

HappensBefore *happens_before_create(Arena *arena, Machine *machine);
/* Before a run: forgets the one before. */
void happens_before_start(HappensBefore *happens_before);
void happens_before_observe(void *happens_before, const Event *event);
/* In the order in which they were seen; of more than are kept, the first ones and the last. */
const SensitivePoint *happens_before_sensitive(const HappensBefore *happens_before, uint32_t *count);
/* A barrier that is waited for, and of which a phase completed while nothing had seen the one before; false if there is
 * none. */
bool happens_before_overrun(const HappensBefore *happens_before, uint32_t *barrier);
/* True if more risks were seen than are kept. */
bool happens_before_overflowed(const HappensBefore *happens_before);
/* All that decides what it makes of the events to come, where nothing is in flight; not what it has noted. Components
 * are agents, and then barriers. */
void happens_before_visit(const HappensBefore *happens_before, const StateVisit *visit);

#endif
