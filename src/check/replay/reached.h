/* The pages of global memory that a launch reads and writes, from its records alone: cheap, and never less than it
 * does. */
#ifndef CHECK_REPLAY_REACHED_H
#define CHECK_REPLAY_REACHED_H

#include "check/replay/internal.h"

enum { REACH_READS = 1, REACH_WRITES = 2 };
typedef struct ReachedPage {
    uint64_t page; /* + 1; 0: free */
    uint8_t how;   /* REACH_... */
} ReachedPage;
typedef TABLE_OF(ReachedPage) ReachedPages;
typedef struct Reached {
    ReachedPages pages;
    Arena *arena;
    uint8_t anywhere;  /* REACH_...: of memory that addresses alone do not identify, such as that of tensor maps */
    uint8_t named;     /* REACH_...: of variables of the module, by their names: where they lie was not recorded */
    uint8_t outside;   /* REACH_...: of memory that nothing allocated, where variables of modules are */
    bool reports_host; /* it makes a strong write that the host may see */
} Reached;

/* The player has its reader, whose records are as they were afterwards. What is reached is the arena's. */
void reached_by(Reached *reached, Player *player, Arena *arena);
/* Finds what of it is `outside`, which takes a look at every page. */
void reached_outside(Reached *reached, const Recording *recording);
/* Whether one of the two may write what the other accesses. */
bool reached_overlap(const Reached *one, const Reached *other);
/* Whether that may be a variable that one of them names, and that the other has the address of. */
bool reached_variables(const Reached *one, const Reached *other);

#endif
