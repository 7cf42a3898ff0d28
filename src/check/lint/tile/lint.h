/* What the hardware does not allow, whatever order things run in: the engine of `weir lint`.
 *
 * Each pass looks at one kernel and knows one family of rules (finding/lint.def). What a rule needs to know of values
 * comes from facts.h: constants, divisibility, the launch; what stays unknown is said as such, never taken for clean.
 */
#ifndef CHECK_LINT_TILE_LINT_H
#define CHECK_LINT_TILE_LINT_H

#include "check/tile/run/check.h"
#include "model/target/release.h"
#include "model/target/target.h"

typedef struct LintOptions {
    const Target *target; /* NULL: that of the module */
    const Launch *launch; /* NULL: none was given */
    ReleaseSet releases;  /* of Triton that may lower it; 0: those that the IR may be from */
    bool alone;           /* nothing else says how runs of the kernel end */
    /* What loads of its clusters gave when the whole grid ran; NULL: it did not. */
    const LoadLog *(*loads)(void *context, uint64_t cluster);
    void *loads_context;
    ChosenLaunches **chosen; /* those of other steps (machine/tile/launch/choose.h); may be NULL */
} LintOptions;

/* Adds what it finds to the verdict; verdict_close is the caller's. Memory: the module's arena, which must be able to
 * jump. */
void lint_check(Module *module, const Op *function, const LintOptions *options, Verdict *verdict);

#endif
