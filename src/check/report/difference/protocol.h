/* What changed between two kernels in how they synchronize, in one line: partitions and barriers that came or went,
 * what is different about those that stayed, orders that were lost or won, and what that does to the verdict.
 *
 *     protocol: full, empty: slots and phases, stagger; order lost: kv; deadlocks none -> found; new: deadlock.lapped
 *     protocol: unchanged; ops, warps differ */
#ifndef CHECK_REPORT_DIFFERENCE_PROTOCOL_H
#define CHECK_REPORT_DIFFERENCE_PROTOCOL_H

#include "finding/difference.h"

/* In the verdict's arena; "" if nothing differs. The rows are there already. */
const char *protocol_line(Verdict *texts, const Difference *difference);

#endif
