/* A launch file to be filled in: the parameters of a kernel by name, with what its IR says of them. */
#ifndef MACHINE_TILE_LAUNCH_LAUNCH_TEMPLATE_H
#define MACHINE_TILE_LAUNCH_LAUNCH_TEMPLATE_H

#include "ir/ir.h"

/* What is not known yet is null, which the reader of launch files names as such; what there is to know of it is under
 * "x-parameters", which it passes over. */
void launch_template(Module *module, const Op *kernel, Text *to);

#endif
