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
#ifndef MACHINE_TILE_SCHEDULE_CAUSES_H
#define MACHINE_TILE_SCHEDULE_CAUSES_H

#include "machine/tile/schedule/schedule.h"

typedef enum RiskKind {
    RISK_LAPPED,      /* a wait could come after the next phase has completed, too */
    RISK_EARLY,       /* an arrival could come into the phase before */
    RISK_OLDER,       /* a wait could pass on a phase two or more before the one it passed on */
    RISK_BEFORE_INIT, /* a barrier could be used before it is initialized */
    RISK_AFTER_END,   /* a barrier could be used after it is invalidated */
} RiskKind;

typedef struct Risk {
    RiskKind kind;
    uint32_t agent, pc; /* to hold back; pc: at which instruction */
    bool flight;        /* hold back what it issues there instead */
    bool flights;       /* hold back everything in flight instead */
    uint32_t tick;      /* of the agent: how many visible effects come before */
    uint32_t barrier;
} Risk;

enum { MOST_RISKS = 64 };

typedef struct Causes Causes;

Causes *causes_create(Arena *arena, Machine *machine);
/* Before a run: forgets the one before. */
void causes_start(Causes *causes);
void causes_observe(void *causes, const Event *event);
/* In the order in which they were seen; of more than are kept, the first ones and the last. */
const Risk *causes_risks(const Causes *causes, uint32_t *count);
/* A barrier that is waited for, and of which a phase completed while nothing had seen the one before; false if there is
 * none. */
bool causes_overrun(const Causes *causes, uint32_t *barrier);
/* True if more risks were seen than are kept. */
bool causes_overflowed(const Causes *causes);

#endif
