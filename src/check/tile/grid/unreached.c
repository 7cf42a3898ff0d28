/* Accesses to global memory that no run of a whole grid has made, though a cluster run by itself may have: behind a
 * branch or in a loop that goes by data that is not known, or in a program that the chosen grid does not have. What
 * such an access meets was not looked at.
 *
 * As with accesses whose bytes are not known (unknown.c), not each of them matters: only one that writes, or that
 * shares memory with one that writes, and not both are atomic. */
#include "check/tile/grid/internal.h"

#include "ir/op.h"
#include "machine/tile/launch/havocked.h"

static uint8_t effect_use(const Effect *effect) {
    if (effect->order != ORDER_WEAK && effect->scope >= SCOPE_GPU)
        return USE_ATOMIC;
    return effect->verb == EFFECT_READ ? USE_READ : USE_WRITE;
}

/* What a copy reads of its descriptor is none. */
static bool is_global(const Effect *effect) {
    return effect->space == SPACE_GLOBAL && effect_is_access(effect) &&
           (effect->proxy != PROXY_TENSORMAP || effect->on_descriptor);
}

static bool may_share(Roots a, Roots b) {
    return a.elsewhere || b.elsewhere || a.parameters & b.parameters;
}

bool op_may_repeat(const Program *program, const Op *op) {
    for (; op && op != program->function; op = op_parent(op))
        if (op_is_loop(op) || op_is_control(op, CONTROL_FUNCTION) || (op->block && op->block->region->block_count > 1))
            return true;
    return false;
}

/* Whether the access can race with one that it meets: the same one of another CTA, or any other of the kernel. */
static bool may_race(const Program *program, uint32_t pc, const Effect *effect, Meets meets) {
    Roots roots = address_roots(program, effect->on);
    uint8_t own = effect_use(effect);
    bool again = meets != MEETS_OTHERS || (effect->done == DONE_NOW && op_may_repeat(program, program->ops[pc]));
    if (own == USE_WRITE && meets == MEETS_ANY)
        return true;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *other = &program->effects[i].effect;
        uint8_t both = is_global(other) ? own | effect_use(other) : 0;
        if (uses_can_race(both) && !(meets == MEETS_SAME && both == USE_WRITE) && (other != effect || again) &&
            may_share(roots, address_roots(program, other->on)))
            return true;
    }
    return false;
}

const Op *unreached_access(const Program *program, const bool *reached, Meets meets) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && !reached[pc] && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            if (is_global(effect) && may_race(program, pc, effect, meets))
                return program->ops[pc];
        }
    }
    return NULL;
}

bool accesses_may_overlap(const Program *program) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            if (is_global(effect) && may_race(program, pc, effect, MEETS_OTHERS))
                return true;
        }
    }
    return false;
}

/* Numbers that are not known make the bytes of an access unknown (unknown.c); one that control depends on, too, was
 * chosen, and looks like any other. */
static bool is_havocked(const Program *program, const Launch *launch, const Effect *effect) {
    return havocked_load(program, launch, effect, true) != NULL;
}

bool access_is_havocked(const Program *program, const Launch *launch, uint32_t pc) {
    const Instruction *instruction = &program->code[pc];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
        const Effect *effect = &program->effects[instruction->aux + i].effect;
        if (is_global(effect) && is_havocked(program, launch, effect))
            return true;
    }
    return false;
}

static const Op *havocked_access(const Program *program, const Launch *launch, Meets meets) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Instruction *instruction = &program->code[pc];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            if (is_global(effect) && may_race(program, pc, effect, meets) && is_havocked(program, launch, effect))
                return program->ops[pc];
        }
    }
    return NULL;
}

static void report(const Program *program, const Op *op, const char *why, Verdict *verdict) {
    verdict_unreached(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)), op_line(program->module, op),
                      "races in global memory were not checked: %s", why);
}

void unreached_report(const Program *program, const bool *reached, Meets meets, const Launch *havocked,
                      Verdict *verdict) {
    const Op *op = unreached_access(program, reached, meets);
    if (op) {
        report(program, op,
               "no run of a whole grid reached this op; give data, arguments and a grid that lead here in a launch "
               "file",
               verdict);
    } else if (havocked && (op = havocked_access(program, havocked, meets))) {
        report(program, op, "its addresses depend on unknown data; give the data in a launch file", verdict);
    }
}
