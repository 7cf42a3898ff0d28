/* What Weir says of the proxy fences of a module, and what its runs show of them. */
#ifndef TESTS_MUTANTS_FENCES_H
#define TESTS_MUTANTS_FENCES_H

#include "explore/launch/launch.h"
#include "finding/finding.h"
#include "ir/ir.h"
#include "model/target/release.h"

typedef struct FenceVerdict {
    VerdictKind kind; /* of rules about fences alone */
    uint32_t
        lacking;   /* pairs of accesses, the first one a write, without a fence between them, the one that puts it in */
    bool insert;   /* of some the compiler puts it in */
    bool left_out; /* of some it leaves it out itself, of every kernel of the kind */
} FenceVerdict;

/* The rules told are added to `rules`. `launch` may be NULL; `releases` none: those of the
 * launch, or of the IR. Memory: the module's arena. */
FenceVerdict fences_judge(Module *module, const Launch *launch, ReleaseSet releases, Text *rules);

#endif
