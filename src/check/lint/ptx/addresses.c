/* Alignment: addresses that are wrong whatever the launch, since their last bits are known. */
#include "check/lint/ptx/internal.h"

#include <inttypes.h>

/* What an address has to be a multiple of, and the rule that says so. */
typedef struct Need {
    uint32_t step; /* 0: nothing is asked */
    RuleId rule;
    const char *what;
    const char *why, *fix; /* NULL: those of the rule */
} Need;

static Need need_of(const PtxLint *lint, const Act *act) {
    const Effect *effect = &act->effect->effect;
    int64_t bytes;
    if (effect->space == SPACE_TENSOR || act->effect->matrix)
        return (Need){0};
    if (effect->proxy == PROXY_TENSORMAP || (effect->on_descriptor && effect->helper == HELPER_TMA))
        return (Need){64, RULE_TMA_MAP_MEMORY, "the tensor map",
                      "A tensor map is 128 bytes at a multiple of 64 bytes; the assembler does not check it.",
                      "Align it to 64 bytes."};
    if (effect->on_descriptor)
        return (Need){0};
    if (effect->helper == HELPER_CLC)
        return (Need){16, RULE_CLC_RESPONSE, "the response", NULL, NULL};
    if (effect->helper == HELPER_TMA && act->effect->count.size)
        return (Need){16, RULE_TMA_BULK_ADDRESS, "the bulk copy", NULL, "Align both ends of the copy to 16 bytes."};
    if (effect->helper == HELPER_TMA)
        return (Need){128, RULE_TMA_BOX_ADDRESS, "the box of the copy", NULL,
                      "Align the shared memory of the box to 128 bytes."};
    if (!bytes_of(lint, act, &bytes) || bytes > 32 || (bytes & (bytes - 1)))
        return (Need){0};
    return (Need){(uint32_t)bytes, RULE_ACCESS_ALIGNMENT, "the access", NULL, NULL};
}

/* A variable whose alignment does not promise what the access needs. */
static void look_at_declared(PtxLint *lint, const Act *act, const Need *need) {
    const PtxModule *module = lint->module;
    Point point = point_of(lint, act->on);
    if (point.kind != POINT_VARIABLE || need->rule != RULE_ACCESS_ALIGNMENT)
        return;
    uint32_t declared = variable_alignment(module, point.id);
    Str name = ptx_name(module, module->variables[point.id].name);
    if (declared < need->step)
        ptx_find(lint, RULE_ACCESS_ALIGNMENT_DECLARED, act->statement,
                 "the access is %u bytes wide, and %.*s is aligned to %u", need->step, STR_ARG(name), declared);
}

static void look_at(PtxLint *lint, const Act *act, uint32_t operand, const Need *need) {
    if (!need->step || operand == PTX_NONE || lint->module->operands[operand].kind != PTX_ADDRESS)
        return;
    if (known_off(lint->known, act->statement, operand, need->step)) {
        Point point = point_of(lint, operand);
        Finding *finding;
        if (point.kind == POINT_VARIABLE)
            finding = ptx_find(lint, need->rule, act->statement,
                               "%s is at byte %" PRId64 " of %.*s, which is not at a multiple of %u", need->what,
                               point.offset, STR_ARG(ptx_name(lint->module, lint->module->variables[point.id].name)),
                               need->step);
        else
            finding = ptx_find(lint, need->rule, act->statement,
                               "%s is at an address that is not a multiple of %u in any lane", need->what, need->step);
        ptx_say(finding, need->why, need->fix);
        return;
    }
    if (operand == act->on && effect_is_access(&act->effect->effect))
        look_at_declared(lint, act, need);
}

/* A tensor map in a variable that does not hold all of it. */
static void look_at_room(PtxLint *lint, const Act *act, const Need *need) {
    if (need->rule != RULE_TMA_MAP_MEMORY)
        return;
    Point point = point_of(lint, act->on);
    uint64_t room = point.kind == POINT_VARIABLE ? variable_bytes(lint->module, point.id) : 0;
    if (room && point.offset >= 0 && (uint64_t)point.offset + 128 > room)
        ptx_say(ptx_find(lint, RULE_TMA_MAP_MEMORY, act->statement,
                         "the tensor map starts at byte %" PRId64 " of %.*s, which has %" PRIu64 " bytes", point.offset,
                         STR_ARG(ptx_name(lint->module, lint->module->variables[point.id].name)), room),
                need->why, "Give it 128 bytes.");
}

void ptx_addresses(PtxLint *lint) {
    static const Need barrier = {8, RULE_MBARRIER_ALIGNMENT, "the mbarrier", NULL, "Align it to 8 bytes."};
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        const Effect *effect = &act->effect->effect;
        if (effect_is_access(effect)) {
            Need need = need_of(lint, act);
            look_at(lint, act, act->on, &need);
            look_at_room(lint, act, &need);
        } else if (effect_is_barrier(effect)) {
            look_at(lint, act, act->on, &barrier);
        }
    }
}
