/* What of partitions, tasks, barriers and planned buffers a module has. */
#include "check/report/build/rank.h"

#include "machine/tile/compile/program.h"
#include "model/flow/partition.h"

static bool synchronizes(const Effect *effect) {
    return effect_is_barrier(effect) || effect_is_named(effect);
}

static unsigned rank_of(Module *module) {
    bool regions = false, tasks = false, barriers = false, planned = false;
    if (!program_kernels(module, NULL, 0))
        return 0;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        PartitionForm form = partitions_of(op).form;
        regions |= form == PARTITION_REGIONS || form == PARTITION_GROUPS;
        tasks |= form == PARTITION_TASKS || form == PARTITION_SCHEDULED;
        planned |= op_attr(op, "buffer.id") != NULL;
        barriers = barriers || op_any_effect(module, op, synchronizes);
    }
    if (barriers && (regions || tasks))
        return regions ? 6 : 5;
    if (tasks && planned)
        return 4;
    return regions || tasks ? 3 : barriers ? 2 : 1;
}

unsigned module_rank(Module *module, const char **why) {
    static const char *const reasons[MODULE_RANK_MOST + 1] = {
        "none has a kernel",
        "the last with a kernel",
        "the latest with barriers",
        "the latest with partitions or tasks",
        "the latest with tasks and planned buffers",
        "the latest with tasks and barriers",
        "the latest with partitions and barriers",
    };
    unsigned rank = rank_of(module);
    *why = reasons[rank];
    return rank;
}
