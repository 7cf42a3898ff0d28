/* What becomes of a kernel on an AMD target: the engine of `weir lint --port`. */
#ifndef CHECK_PORT_PORT_H
#define CHECK_PORT_PORT_H

#include "finding/port.h"
#include "model/target/target.h"

/* In the arena; what is worked out on the way is in the module's. Both must be able to jump. */
PortReport port_report(Arena *arena, Module *module, const Op *function, const Target *target);

#endif
