/* Places of accesses that are made of numbers in memory that the launch does not describe: Weir makes such numbers up.
 */
#ifndef MACHINE_TILE_LAUNCH_HAVOCKED_H
#define MACHINE_TILE_LAUNCH_HAVOCKED_H

#include "explore/launch/launch.h"
#include "machine/tile/compile/program.h"

/* The first plain load of such a number that the place of the effect, of an access or of a barrier, is made of; NULL:
 * there is none. `by_count`: one that only says how far a loop counts is one, too. */
const Op *havocked_load(const Program *program, const Launch *launch, const Effect *effect, bool by_count);
/* The same of a value. */
const Op *havocked_value(const Program *program, const Launch *launch, const Value *value, bool by_count);
/* The first comparison of two floating-point numbers that the place of the effect hangs on; NULL: there is none. */
const Op *havocked_flag(const Program *program, const Effect *effect);

#endif
