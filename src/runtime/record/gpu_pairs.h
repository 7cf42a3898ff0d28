/* Launches that may run at the same time, two by two: whether both were recorded, so that races between them are looked
 * for. Of equal launches a few are recorded; the others are as good as looked at with a launch beside them if launches
 * with the same arguments as both were recorded while both could run. The mutex of gpu_order.c guards all of it. */
#ifndef RUNTIME_RECORD_GPU_PAIRS_H
#define RUNTIME_RECORD_GPU_PAIRS_H

#include "runtime/record/gpu_order.h"

/* Whether a launch with that key is to be recorded for one of a stream that has not ended when it begins: launches
 * before `begun` have. The partner's next launch is then recorded, too. */
bool pairs_wanted(uint32_t stream, uint64_t begun, uint32_t of, uint64_t key);
/* Whether a launch of others wants that. */
bool pairs_wanted_by_others(uint32_t stream, uint64_t key);
/* It is recorded for that. */
void pairs_extra(uint32_t stream, uint64_t key);
/* The launch can run at the same time as those of a stream from `begun` on. */
void pairs_meet(uint32_t stream, uint64_t begun, const OrderKernel *kernel);
/* It is going to be in that stream, and recorded, if that can be; and it is. */
void pairs_choose(uint32_t stream, const OrderKernel *kernel);
void pairs_add(uint32_t stream, const OrderKernel *kernel);
/* Pairs that were never recorded together. */
void pairs_each_missed(void (*report)(const char *kernel, const char *other, uint64_t launches));

#endif
