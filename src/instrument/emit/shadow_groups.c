/* Accesses that can be checked together: the memory's answers are then waited for once. Between them nothing orders
 * anything: whether they are checked before the first or behind the last of them, nothing can come after one of them
 * that would not find it checked. */
#include "instrument/emit/shadow.h"

#include "ptx/effects.h"
#include "trace/shadow.h"

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

/* Whether a statement leaves what the check of a site needs: its address, its guard, how much it is. */
static bool leaves(const PtxModule *module, const PtxStatement *statement, const ShadowSite *site) {
    const PtxStatement *own = &module->statements[site->statement];
    if (statement->kind != PTX_INSTRUCTION)
        return true;
    if ((own->flags & PTX_GUARDED) && has_written(module, statement, &module->operands[own->first]))
        return false;
    return !has_written(module, statement, &module->operands[site->address]) &&
           (site->limit == PTX_NONE || !has_written(module, statement, &module->operands[site->limit]));
}

/* Whether the last of them can be checked with the others: before the first, or behind itself. */
static bool goes_on(const PtxModule *module, const ShadowSite *sites, uint32_t count, bool before) {
    const ShadowSite *last = &sites[count - 1];
    for (uint32_t at = sites->statement; at <= last->statement; at++) {
        const PtxStatement *statement = &module->statements[at];
        if (!is_plain(module, statement))
            return false;
        if (before && at < last->statement && !leaves(module, statement, last))
            return false;
        for (uint32_t i = 0; !before && i < count && sites[i].statement <= at; i++)
            if (!leaves(module, statement, &sites[i]))
                return false;
    }
    return true;
}

static uint32_t count_group(const ShadowSites *sites, const PtxModule *module, uint32_t first, bool before) {
    const ShadowSite *begin = &sites->items[first];
    uint32_t count = 1;
    for (; is_member(begin) && count < SHADOW_GROUP && first + count < sites->count; count++) {
        const ShadowSite *next = begin + count;
        if (!is_member(next) || next->function != begin->function || next->bytes != begin->bytes ||
            next->statement <= next[-1].statement || (before && next->access != begin->access) ||
            !goes_on(module, begin, count + 1, before))
            break;
    }
    return count;
}

/* Loads, not copies. */
static bool are_loads(const PtxModule *module, const ShadowSite *sites, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (sites[i].access != KIND_READ || !module->forms[module->statements[sites[i].statement].what].writes)
            return false;
    return true;
}

ShadowGroup shadow_group(const ShadowSites *sites, const PtxModule *module, uint32_t first) {
    uint32_t behind = count_group(sites, module, first, false);
    if (!are_loads(module, &sites->items[first], behind))
        return (ShadowGroup){behind, false};
    return (ShadowGroup){count_group(sites, module, first, true), true};
}
