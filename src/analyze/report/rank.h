/* How much there is to report on in a module, for choosing one of a pass log. */
#ifndef ANALYZE_REPORT_RANK_H
#define ANALYZE_REPORT_RANK_H

#include "ir/ir.h"

/* Least first, and what a module of that kind is chosen for. */
#define MODULE_RANKS(M)                                     \
    M(NOTHING, "none has a kernel")                         \
    M(KERNEL, "the last with a kernel")                     \
    M(BARRIERS, "the latest with barriers")                 \
    M(TASKS, "the latest with partitions or tasks")         \
    M(PLANNED, "the latest with tasks and planned buffers") \
    M(TASK_BARRIERS, "the latest with tasks and barriers")  \
    M(PARTITIONED, "the latest with partitions and barriers")

typedef enum ModuleRank {
#define RANK(id, why) RANK_##id,
    MODULE_RANKS(RANK)
#undef RANK
} ModuleRank;

ModuleRank module_rank(Module *module);
const char *module_rank_text(ModuleRank rank);

#endif
