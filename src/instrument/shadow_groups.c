/* Accesses that can be checked together, behind the last of them: the memory's answers are then waited for once. Until
 * then nothing orders anything: nobody can come after one of them who would not find it checked. */
#include "instrument/shadow.h"

#include "ptx/effects.h"
#include "record/shadow.h"

/* Whether an operand has a register that a statement writes. */
static bool has_written(const PtxModule *module, const PtxStatement *statement, const PtxOperand *operand) {
    uint32_t count, place = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    const PtxForm *form = &module->forms[statement->what];
    for (uint32_t i = 0; i < count; i += ptx_extent(operands + i), place++) {
        if (place < 32 && !(form->writes >> place & 1))
            continue;
        for (uint32_t k = 0; k < ptx_extent(operands + i); k++)
            for (uint32_t n = 0; operands[i + k].kind == PTX_REGISTER && n < ptx_extent(operand); n++)
                if (operand[n].kind == PTX_REGISTER && operand[n].a == operands[i + k].a &&
                    operand[n].value == operands[i + k].value)
                    return true;
    }
    return false;
}

static bool is_member(const ShadowSite *site) {
    return site->kind == SHADOW_SITE_ACCESS && !site->generic && site->bytes <= SHADOW_GRANULE;
}

/* Nothing that orders anything, and nowhere else to go: computing, and weak accesses. */
static bool is_plain(const PtxModule *module, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (statement->kind == PTX_LOC)
        return true;
    if (statement->kind != PTX_INSTRUCTION || !module->forms[statement->what].row ||
        module->forms[statement->what].row->control)
        return false;
    unsigned count = ptx_effects_of(module, statement, effects);
    for (unsigned i = 0; i < count; i++)
        if (!effect_is_access(&effects[i].effect) || effects[i].effect.order != ORDER_WEAK)
            return false;
    return true;
}

/* Whether what the check of a site needs is still there behind a statement: its address, its guard, how much it is. */
static bool is_kept(const PtxModule *module, const ShadowSite *site, const PtxStatement *behind) {
    const PtxStatement *statement = &module->statements[site->statement];
    if (behind->kind != PTX_INSTRUCTION)
        return true;
    if ((statement->flags & PTX_GUARDED) && has_written(module, behind, &module->operands[statement->first]))
        return false;
    return !has_written(module, behind, &module->operands[site->address]) &&
           (site->limit == PTX_NONE || !has_written(module, behind, &module->operands[site->limit]));
}

/* Whether they can be checked behind the last of them, if they could behind the last but one. */
static bool goes_on(const PtxModule *module, const ShadowSite *sites, uint32_t count) {
    const ShadowSite *last = &sites[count - 1];
    for (uint32_t at = sites->statement; at <= last->statement; at++) {
        const PtxStatement *statement = &module->statements[at];
        if (!is_plain(module, statement))
            return false;
        for (uint32_t i = 0; i < count && sites[i].statement <= at; i++)
            if (!is_kept(module, &sites[i], statement))
                return false;
    }
    return true;
}

uint32_t shadow_group(const ShadowSites *sites, const PtxModule *module, uint32_t first) {
    const ShadowSite *begin = &sites->items[first];
    if (!is_member(begin))
        return 1;
    uint32_t count = 1;
    for (; count < SHADOW_GROUP && first + count < sites->count; count++) {
        const ShadowSite *next = begin + count;
        if (!is_member(next) || next->function != begin->function || next->bytes != begin->bytes ||
            next->statement <= next[-1].statement || !goes_on(module, begin, count + 1))
            break;
    }
    return count;
}
