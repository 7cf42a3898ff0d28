/* Why a run got stuck, or a barrier was misused: from the state it ended in, and what led there, to a finding.
 *
 * The verdict follows the phase model, never counts: a blocked wait is explained by the phases of its barrier, and by
 * what would have come had the blocked agents gone on (a run in which they are let through shows it). */
#ifndef CHECK_EXPLAIN_TILE_BLOCKED_H
#define CHECK_EXPLAIN_TILE_BLOCKED_H

#include "machine/tile/schedule/history.h"
#include "machine/tile/schedule/schedule.h"

/* The machine is where the run ended: stuck. Adds a finding to the verdict and returns it. Uses up the machine's state.
 */
Finding *blocked_explain(Machine *machine, const History *history, Verdict *verdict);
/* The machine stopped with a fault. */
Finding *fault_explain(Machine *machine, const History *history, Verdict *verdict);
/* The machine ended, but of this barrier a phase completed while nothing had seen the one before; NULL if that was not
 * so. */
Finding *overrun_explain(Machine *machine, const History *history, uint32_t barrier, Verdict *verdict);
/* The machine ended with transaction bytes left on a barrier; NULL if there are none. */
Finding *leftover_explain(Machine *machine, const History *history, Verdict *verdict);

#endif
