/* The pages of global memory that a launch reads and writes, from its records alone: cheap, and never less than it
 * does. */
#ifndef ANALYZE_RECORDING_REACHED_H
#define ANALYZE_RECORDING_REACHED_H

#include "analyze/recording/internal.h"

enum { REACH_READS = 1, REACH_WRITES = 2 };
typedef struct Reached {
    uint64_t *pages; /* page + 1; hashed, a power of two */
    uint8_t *how;    /* REACH_... */
    uint32_t count, capacity;
    Arena *arena;
    uint8_t anywhere; /* REACH_...: of memory that is not told by addresses alone, such as that of tensor maps */
    bool tells_host;  /* it makes a strong write that the host may see */
} Reached;

/* The player has its reader, whose records are as they were afterwards. What is reached is the arena's. */
void reached_by(Reached *reached, Player *player, Arena *arena);
/* Whether one of the two may write what the other accesses. */
bool reached_overlap(const Reached *one, const Reached *other);

#endif
