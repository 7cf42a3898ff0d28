/* By what a finding is known again in another version of its kernel: 16 hex digits.
 *
 * They are a hash of the rule, the space, the kernel's name, the last part of the name of its source file (of the IR,
 * if no other is known), the roles and ops of all places, and an anchor for the first place: what the line of the
 * source says, or, where that cannot be read, which of the function's ops of that name it is. Lines, columns, names of
 * values, agents, launches and sentences are not in it, so that it stays when lines move, values are numbered
 * otherwise, or Weir speaks otherwise. Of findings of one kernel with the same of all that, the second, third, ... have
 * their number in it. */
#ifndef FINDING_FINGERPRINT_H
#define FINDING_FINGERPRINT_H

#include "finding/finding.h"

enum { FINGERPRINT_DIGITS = 16 };

/* Sets those of all findings. `ir` is the name of the IR's file; `anchors` has one for each. */
void verdict_fingerprints(Verdict *verdict, const char *ir, const char *const *anchors);

#endif
