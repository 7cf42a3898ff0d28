/* What `weir check` says of a module: all that it does, with the launch that lies beside the file, or without one. */
#ifndef TESTS_MUTANTS_CHECKS_H
#define TESTS_MUTANTS_CHECKS_H

#include "finding/finding.h"
#include "ir/ir.h"
#include "model/target/release.h"

typedef struct CheckRequest {
    const char *launch;  /* a file; NULL: none is given */
    ReleaseSet releases; /* none: those of the launch, or of the IR */
    bool fences;         /* findings about proxy fences count */
} CheckRequest;

/* The verdict on every kernel of it together. `rules` gets those of findings that are no notes, each once, separated by
 * commas; without such, why it is incomplete. The module is not as it was afterward. */
VerdictKind check_wholly(Module *module, const CheckRequest *request, Text *rules);

#endif
