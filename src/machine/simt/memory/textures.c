/* Textures and surfaces. No launch describes one: what a texture has is not known, nor which memory is behind it. What
 * is read from one is marked so, and that it was is noted, since others might write that memory. One that is written
 * could change anything that others read: a run comes no further, and says why. */
#include "machine/simt/sync/barriers.h"

static void forget(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t lanes) {
    static const Lanes nothing;
    if (argument->kind == ARGUMENT_PREDICATE)
        ptx_put_mask(machine, group, argument, 0, lanes, lanes);
    else if (argument->kind == ARGUMENT_ROW)
        ptx_put(machine, group, argument, 0, &nothing, lanes, lanes);
    for (uint32_t i = 0; argument->kind == ARGUMENT_MEMBERS && i < argument->count; ++i)
        forget(machine, group, argument_member(machine->program, argument, i), lanes);
}

static PtxStep run_read(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    if (machine->results)
        return ptx_stop(machine, code, "no launch says which memory is behind a texture");
    ptx_leave_out(machine, group, code);
    forget(machine, group, code_argument(machine->program, code, 0), lanes);
    return PTX_STEP_NEXT;
}

static PtxStep run_write(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    (void)group, (void)lanes;
    return ptx_stop(machine, code, "no launch says which memory is behind a surface");
}

bool texture_prepare(const PtxPrepare *about, PtxCode *code) {
    for (unsigned i = 0; i < about->effect_count; ++i) {
        const Effect *effect = &about->effects[i].effect;
        if (effect->proxy != PROXY_TEXTURE && effect->proxy != PROXY_SURFACE)
            continue;
        code->run = effect->verb == EFFECT_READ && code->count ? run_read : run_write;
        code->visible = true;
        return true;
    }
    return false;
}
