/* Launches for a kernel that came without one, or beside the one that it came with.
 *
 * They are solved for, not searched (solve.h): every loop whose bounds are open runs 1, 2, D, D + 1 and 2D + 1 times, D
 * being the depth of the kernel's deepest ring, and, last, not at all; every branch and predicate goes both ways; every
 * op that synchronizes or touches memory is come to; sizes are multiples of the tile, and once they are not. What the
 * kernel says of its arguments (divisibility, assumptions) is kept. */
#ifndef MACHINE_TILE_LAUNCH_CHOOSE_H
#define MACHINE_TILE_LAUNCH_CHOOSE_H

#include "explore/launch/launch.h"
#include "machine/tile/compile/program.h"

enum { MOST_CHOSEN = 40 };

/* Launches that were chosen before, of one life: those that look at a kernel one after the other ask for the same. */
typedef struct ChosenLaunches {
    const Op *function; /* of the program that they were chosen for, */
    bool global, data;  /* and what it was compiled with */
    const Launch *like, *fixed;
    const Launch *launches;
    size_t count;
    struct ChosenLaunches *older;
} ChosenLaunches;

/* `like`: the launch that was given, whose other arguments they have; NULL: none was. `fixed`: arguments, and if its
 * grid is not zero the grid, that stay as they are; NULL: none. `before`: where they are kept, and looked for; NULL:
 * nowhere. Fills `launches` (at most MOST_CHOSEN), in the arena; returns how many: at least one. */
size_t choose_launches(const Program *program, Arena *arena, const Launch *like, const Launch *fixed,
                       ChosenLaunches **before, Launch *launches);
/* How many of some launches, those without a doubt first, callers make: if all are doubted, better such ones than none.
 */
size_t usual_launches(const Launch *launches, size_t count);

#endif
