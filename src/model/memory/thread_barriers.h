/* Where an op makes all threads of its partition wait for each other, as Triton lowers it: by itself, whatever barriers
 * the compiler inserts between ops. */
#ifndef MODEL_MEMORY_THREAD_BARRIERS_H
#define MODEL_MEMORY_THREAD_BARRIERS_H

#include "model/effect/effect.h"
#include "model/memory/scratch.h"
#include "model/target/release.h"

/* Before its accesses, between what it writes and reads of its scratch memory, after. */
enum { STAGE_BEFORE = 1, STAGE_BETWEEN = 2, STAGE_AFTER = 4 };

/* Of an atomic or a poll; `scratch`: it hands its result to all threads through shared memory. `releases`: of Triton
 * that lower it; 0: not named, then as 3.9 does. */
uint8_t atomic_stages(const Op *op, const Effect *effects, unsigned count, bool scratch, ReleaseSet releases);
/* Of any op with these effects and that scratch memory. */
uint8_t thread_stages(const Op *op, const Effect *effects, unsigned count, Scratch scratch, ReleaseSet releases);

#endif
