/* Proxy fences that the compiler omitted: Triton up to 3.7.0 inserts none between the `cp.async` of a pipelined
 * `tl.load` and the MMA of `tl.dot`, and `tl` has no call for one.
 *
 * Gluon compiles to the same instructions, and there the author places the fences. The two are distinguished by the
 * commit of the copy: Triton makes one of each pipelined load, at the load's own line and column; in Gluon a commit
 * is a call of its own, and no two calls are at one place. Without line information nothing is known, and the fence
 * counts as the author's. */
#include "check/simt/internal.h"

static bool is_commit(const PtxCode *code) {
    for (unsigned i = 0; i < code->form->effect_count; i++)
        if (code->form->effects[i].effect.verb == EFFECT_COMMIT &&
            code->form->effects[i].effect.group == GROUP_CP_ASYNC)
            return true;
    return false;
}

/* Where an instruction itself is in the source, in whatever file. */
static bool is_placed(const ThreadsCheck *check, const PtxCode *code, PtxPlace *place) {
    return ptx_places(check->module, code->statement, place, 1) && place->line && place->column;
}

/* Whether the first commit behind a copy is at the copy's own line and column. */
static bool is_committed_in_place(const ThreadsCheck *check, const PtxCode *copy) {
    const PtxCode *code = copy + 1, *end = check->program->code + check->program->code_count;
    PtxPlace here, there;
    while (code < end && !is_commit(code))
        code++;
    return code < end && is_placed(check, copy, &here) && is_placed(check, code, &there) && here.line == there.line &&
           here.column == there.column && str_equal(here.file, there.file);
}

bool threads_is_omitted(const ThreadsCheck *check, const PtxRace *race) {
    PtxEffect write, read;
    return race->reason == REASON_PROXY && code_effect(check, race->first.code, EFFECT_WRITE, &write) &&
           write.effect.group == GROUP_CP_ASYNC && code_effect(check, race->second.code, EFFECT_READ, &read) &&
           (read.effect.group == GROUP_WGMMA || read.effect.done == DONE_COMMIT) &&
           ptx_is_tiled(check->module, check->program->entry) && is_committed_in_place(check, race->first.code);
}
