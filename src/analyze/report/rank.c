/* What of partitions, tasks, barriers and planned buffers a module has. */
#include "analyze/report/rank.h"

#include "emulate/program.h"
#include "model/flow/partition.h"

static bool synchronises(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].verb;
        if ((verb >= EFFECT_INIT && verb <= EFFECT_WAIT) || verb == EFFECT_NAMED_ARRIVE || verb == EFFECT_NAMED_SYNC)
            return true;
    }
    return false;
}

ModuleRank module_rank(Module *module) {
    bool regions = false, tasks = false, barriers = false, planned = false;
    if (!program_kernels(module, NULL, 0))
        return RANK_NOTHING;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        PartitionForm form = partitions_of(op).form;
        regions |= form == PARTITION_REGIONS || form == PARTITION_GROUPS;
        tasks |= form == PARTITION_TASKS || form == PARTITION_SCHEDULED;
        planned |= op_attr(op, "buffer.id") != NULL;
        barriers = barriers || synchronises(module, op);
    }
    if (barriers && (regions || tasks))
        return regions ? RANK_PARTITIONED : RANK_TASK_BARRIERS;
    if (tasks && planned)
        return RANK_PLANNED;
    return regions || tasks ? RANK_TASKS : barriers ? RANK_BARRIERS : RANK_KERNEL;
}

const char *module_rank_text(ModuleRank rank) {
    static const char *const texts[] = {
#define RANK(id, why) [RANK_##id] = why,
        MODULE_RANKS(RANK)
#undef RANK
    };
    return texts[rank];
}
