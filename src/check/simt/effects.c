/* What an instruction is for, by the effects of its row. */
#include "check/simt/internal.h"

#include "ptx/effects.h"

static bool synchronizes(const PtxEffect *effect) {
    return verb_is(effect->effect.verb, VERB_SYNCS);
}

/* Memory of the thread's own is not shared with anyone. */
static bool accesses(const PtxEffect *effect) {
    return effect_is_access(&effect->effect) && (effect->memory || effect->effect.space != SPACE_NONE);
}

/* A return at the end of a function need not be written. */
static unsigned effects_at(const ThreadsCheck *check, const PtxCode *code, PtxEffect *effects) {
    const PtxStatement *statement = &check->module->statements[code->statement];
    return statement->kind == PTX_INSTRUCTION ? ptx_effects_of(check->module, statement, effects) : 0;
}

CodeRole code_role(const ThreadsCheck *check, const PtxCode *code) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = effects_at(check, code, effects);
    CodeRole role = ROLE_OTHER;
    for (unsigned i = 0; i < count; i++)
        if (synchronizes(&effects[i]))
            role = ROLE_SYNCHRONIZES;
        else if (accesses(&effects[i]) && role == ROLE_OTHER && code->visible)
            role = ROLE_ACCESSES;
    if (role == ROLE_OTHER && code->guard != PTX_NONE && code->meets != PTX_NONE)
        role = ROLE_BRANCHES;
    return role;
}

bool code_effect(const ThreadsCheck *check, const PtxCode *code, EffectVerb verb, PtxEffect *found) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = effects_at(check, code, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.verb == verb) {
            *found = effects[i];
            return true;
        }
    return false;
}
