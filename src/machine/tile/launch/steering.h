/* Ops whose being run matters, and conditions that decide what they do. */
#ifndef MACHINE_TILE_LAUNCH_STEERING_H
#define MACHINE_TILE_LAUNCH_STEERING_H

#include "machine/tile/compile/program.h"

/* An op that synchronizes or touches memory. */
typedef struct RunSite {
    const Op *op;
    bool synchronizes;
    bool global; /* touches global memory, and no other */
} RunSite;

bool is_around(const Op *outer, const Op *inner);
/* Whether it matters that the op is run, and as what. */
bool run_site_of(Module *module, const Op *op, RunSite *site);
/* A select of what decides which way is gone, or which barriers and phases are meant: it is a branch, too. */
bool is_steering_choice(const Program *program, const Op *op);
/* The condition of a branch or a select, also of a while, whatever it decides; NULL: it has none. */
const Value *condition_of(const Op *op);
/* The condition of a branch around such ops, but for those that touch global memory alone, or of a branch or a select
 * that yields what steers them; NULL: the op is none. */
const Value *steering_condition(const Program *program, const Op *op);
/* A condition that is made a number which is in the slice; NULL: the op does not do that. */
const Value *extended_condition(Module *module, const struct Slice *slice, const Op *op);

#endif
