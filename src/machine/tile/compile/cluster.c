/* Where the CTAs of a cluster are in the grid, where each has a program of its own.
 *
 * Along the first axis alone a grid may end in the midst of a cluster: rows go on in the next. */
#include "machine/tile/compile/program.h"

static bool is_flat(const Program *program) {
    return program->cluster[1] == 1 && program->cluster[2] == 1;
}

/* Clusters along an axis. */
static int64_t along(const Program *program, const int64_t grid[3], unsigned axis) {
    return program->ranks_are_programs ? (grid[axis] - 1) / program->cluster[axis] + 1 : grid[axis];
}

uint64_t program_clusters(const Program *program, const int64_t grid[3]) {
    bool flat = program->ranks_are_programs && is_flat(program);
    uint64_t count = 1;
    for (unsigned axis = 0; axis < 3; axis++)
        if (__builtin_mul_overflow(count, (uint64_t)(flat ? grid[axis] : along(program, grid, axis)), &count))
            return 0;
    return flat ? (count + program->ctas - 1) / program->ctas : count;
}

void program_first_id(const Program *program, const int64_t grid[3], uint64_t cluster, int64_t id[3]) {
    bool flat = program->ranks_are_programs && is_flat(program);
    uint64_t left = flat ? cluster * program->ctas : cluster;
    for (unsigned axis = 0; axis < 3; axis++) {
        uint64_t size = (uint64_t)(flat ? grid[axis] : along(program, grid, axis));
        id[axis] = (int64_t)(axis == 2 ? left : left % size);
        id[axis] *= !flat && program->ranks_are_programs ? program->cluster[axis] : 1;
        left /= size;
    }
}

int64_t program_id_of_rank(const Program *program, uint32_t rank, unsigned axis) {
    if (!program->ranks_are_programs)
        return 0;
    if (is_flat(program))
        return axis ? 0 : rank;
    for (unsigned before = 0; before < axis; before++)
        rank /= program->cluster[before];
    return axis == 2 ? rank : rank % program->cluster[axis];
}
