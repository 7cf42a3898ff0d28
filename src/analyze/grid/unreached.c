/* Accesses to global memory that no run of a whole grid has made, though a cluster run by itself may have: behind a
 * branch or in a loop that goes by data which nobody knows, or in a program that the chosen grid does not have. What
 * such an access meets was not looked at.
 *
 * As with accesses whose bytes are not known (unknown.c), not each of them matters: only one that writes, or that
 * shares memory with one that writes, and not both are atomic. */
#include "analyze/grid/internal.h"

#include "ir/op.h"

static uint8_t use_kind(const Effect *effect) {
    if (effect->order != ORDER_WEAK && effect->scope >= SCOPE_GPU)
        return USE_ATOMIC;
    return effect->verb == EFFECT_READ ? USE_READ : USE_WRITE;
}

static bool is_global(const Effect *effect) {
    return effect->space == SPACE_GLOBAL && effect_is_access(effect);
}

static bool may_share(Roots a, Roots b) {
    return a.elsewhere || b.elsewhere || a.parameters & b.parameters;
}

/* Whether the access can race with the same one of another CTA, or with any other access of the kernel. */
static bool may_race(const Program *program, const Effect *effect) {
    Roots roots = address_roots(program, effect->on);
    uint8_t own = use_kind(effect);
    if (own == USE_WRITE)
        return true;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *other = &program->effects[i].effect;
        if (is_global(other) && uses_can_race(own | use_kind(other)) &&
            may_share(roots, address_roots(program, other->on)))
            return true;
    }
    return false;
}

const Op *unreached_access(const Program *program, const bool *reached) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && !reached[pc] && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            if (is_global(effect) && may_race(program, effect))
                return program->ops[pc];
        }
    }
    return NULL;
}

void unreached_tell(const Program *program, const bool *reached, Verdict *verdict) {
    const Op *op = unreached_access(program, reached);
    if (!op)
        return;
    Str name = op->name;
    verdict_incomplete(
        verdict, verdict_text(verdict, "%.*s", STR_ARG(name)), op_line(program->module, op),
        "races in global memory were not looked for: no run of a whole grid has come here; a launch file "
        "can give the data, the numbers and the grid that lead here");
}
