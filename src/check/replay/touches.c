/* What a recorded launch touches of global memory: it is played once more, with an observer. */
#include "check/replay/internal.h"

#include "ptx/effects.h"

#include <stdlib.h>

typedef struct TouchesSeen {
    RecordingSeen seen; /* first, so that it can be taken for this */
    bool dependent, ended;
    Touched *touched;
    RecordingTouches *to;
} TouchesSeen;

static void begin(RecordingSeen *seen, ThreadsCheck *check) {
    TouchesSeen *own = (TouchesSeen *)seen;
    own->touched = touched_new(check->machine, own->dependent);
    seen->see = own->touched ? touched_observe : NULL;
    seen->observer = own->touched;
}

/* Whether the kernel can let the next launch begin before it ends. */
static bool may_trigger(const ThreadsCheck *check) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (uint32_t i = 0; i < check->program->code_count; i++) {
        const PtxStatement *statement = &check->module->statements[check->program->code[i].statement];
        unsigned count = ptx_effects_of(check->module, statement, effects);
        for (unsigned k = 0; k < count; k++)
            if (effects[k].effect.verb == EFFECT_TRIGGER_LAUNCHES)
                return true;
    }
    return false;
}

static void end(RecordingSeen *seen, ThreadsCheck *check) {
    TouchesSeen *own = (TouchesSeen *)seen;
    if (!own->touched)
        return;
    own->to->items = touched_bytes(own->touched, &own->to->count);
    own->to->waits = touched_waits(own->touched, check->machine->cta_count);
    /* Older recordings do not have when it was let begin. */
    bool told = !own->dependent || touched_triggers(own->touched) || !may_trigger(check);
    own->ended = own->to->items && !check->machine->havoc_count && told;
}

static bool is_signal(const PtxEffect *effect, bool followed) {
    const Effect *what = &effect->effect;
    switch (what->verb) {
    case EFFECT_ANYTHING:
        return true;
    case EFFECT_FENCE_ORDER:
        return !followed && what->scope >= SCOPE_GPU;
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        return !followed && what->order > ORDER_RELAXED && what->scope >= SCOPE_GPU;
    default:
        return false;
    }
}

bool recording_may_signal(PtxModule *module, uint32_t entry, bool followed) {
    const PtxFunction *function = &module->functions[entry];
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(module, statement, effects) : 0;
        for (unsigned k = 0; k < count; k++)
            if (is_signal(&effects[k], followed))
                return true;
    }
    return false;
}

bool recording_touches(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                       Arena *arena, RecordingTouches *touches) {
    const RecordingLaunch *launch = &recording->launch;
    TouchesSeen own = {.seen = {.all = true, .begin = begin, .end = end},
                       .dependent = launch->flags & RECORDING_DEPENDENT,
                       .to = touches};
    ThreadsOptions alone = *options;
    Verdict ignored = {.arena = arena, .kernel = ""};
    *touches = (RecordingTouches){.dependent = own.dependent};
    if (!recording->ptx.size || !(launch->spaces & RECORDING_GLOBAL) || is_sampled(launch) || launch->dropped ||
        launch->flags & (RECORDING_CUT | RECORDING_HUNG))
        return false;
    alone.together = TOGETHER_PLAYED; /* races with others are looked for elsewhere, which may have written between */
    alone.trail = NULL;
    recording_check_seen(module, entry, recording, &alone, &ignored, &own.seen);
    touched_free(own.touched);
    if (own.ended && !ignored.incomplete_count)
        return true;
    free(touches->items);
    *touches = (RecordingTouches){0};
    return false;
}

/* Whether an instruction does nothing but compute, and goes on to the next. */
static bool only_computes(const PtxModule *module, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (uint32_t i = 0; i < statement->count; i++)
        if (module->operands[statement->first + i].kind == PTX_TARGET)
            return false;
    return ptx_effects_of(module, statement, effects) == 0;
}

bool recording_waits_first(const PtxModule *module, uint32_t entry) {
    const PtxFunction *function = &module->functions[entry];
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_UNREAD)
            return false;
        if (statement->kind != PTX_INSTRUCTION || only_computes(module, statement))
            continue;
        return !(statement->flags & PTX_GUARDED) && ptx_effects_of(module, statement, effects) == 1 &&
               effects[0].effect.verb == EFFECT_AWAIT_LAUNCHES;
    }
    return false;
}

bool recording_touches_early(PtxModule *module, uint32_t entry, const Recording *recording,
                             const ThreadsOptions *options, Arena *arena) {
    RecordingTouches touches;
    if (recording_waits_first(module, entry))
        return false;
    bool early = !recording_touches(module, entry, recording, options, arena, &touches);
    for (uint32_t i = 0; i < touches.count && !early; i++)
        early = touches.items[i].early;
    free(touches.items);
    return early;
}
