/* Launches for a kernel that came without one: arguments that make its loops run 0, 1, 2, D, D + 1 and 2D + 1 times, D
 * being the depth of its deepest ring of barriers. */
#ifndef EMULATE_CHOOSE_H
#define EMULATE_CHOOSE_H

#include "emulate/machine.h"

enum { MOST_CHOSEN = 16 };

/* Finds them by trying. Fills `launches` (at most MOST_CHOSEN), in the arena of the machine; returns how many. */
size_t choose_launches(Machine *machine, Arena *arena, Launch *launches);

#endif
