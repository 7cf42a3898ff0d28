/* Rules of lint_group.def: what its passes share, and their order. */
#include "check/lint/tile/group.h"

void lint_explain(Finding *finding, const char *space, const char *why, const char *fix) {
    if (!finding)
        return;
    finding->space = space;
    finding->why = why;
    finding->fix = fix;
}

const Effect *tensor_access(Lint *lint, const Op *op) {
    Effects effects = lint_effects(lint, op);
    for (const Effect *effect = effects.items; effect < effects.end; effect++)
        if (effect_is_access(effect) && effect->helper == HELPER_TENSOR)
            return effect;
    return NULL;
}

int64_t partition_first_warp(const Op *op) {
    const Region *region = partition_region(op);
    const Op *fork = region ? op_parent(region->op) : NULL;
    const Attr *starts = fork ? op_attr(fork, "warpGroupStartIds") : NULL;
    ptrdiff_t index = region ? region - region->op->regions : 0;
    bool there = starts && starts->kind == ATTR_INTS && index < (ptrdiff_t)starts->count;
    return there && starts->ints[index] >= 0 ? starts->ints[index] : -1;
}

const char *partition_name(Lint *lint, const Op *op) {
    Text text = {0};
    Partitions partitions = partitions_of(op);
    if (partitions.mask)
        partition_print(partitions, &text);
    else
        text_str(&text, STR("the kernel"));
    return verdict_keep(lint->verdict, &text);
}

void lint_groups(Lint *lint) {
    if (!lint_is_amd(lint))
        lint_copies(lint);
    lint_mmas(lint);
    lint_tensor(lint);
    lint_atomics(lint);
}
