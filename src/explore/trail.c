/* Trails: the steps of a run. Both machines keep them, that of the IR and that of PTX. */
#include "explore/trail.h"

void trail_push(Trail *trail, uint32_t step) {
    *ARENA_PUSH(trail->arena, trail->steps, trail->count, trail->capacity) = step;
}
