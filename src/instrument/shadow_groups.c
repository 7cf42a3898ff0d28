/* Accesses that can be checked together, at the first of them: the memory's answers are then waited for once. */
#include "instrument/shadow.h"

#include "ptx/effects.h"
#include "record/shadow.h"

enum { MOST_WRITTEN = 128 };

/* Registers that were written since the first of a group. */
typedef struct Written {
    struct {
        uint32_t variable;
        int64_t number;
    } items[MOST_WRITTEN];
    uint32_t count;
    bool full;
} Written;

static void add_registers(Written *written, const PtxOperand *operand) {
    for (uint32_t i = 0; i < ptx_extent(operand); i++) {
        if (operand[i].kind != PTX_REGISTER)
            continue;
        if (written->count == MOST_WRITTEN) {
            written->full = true;
            return;
        }
        written->items[written->count].variable = operand[i].a;
        written->items[written->count++].number = operand[i].value;
    }
}

static void add_written(Written *written, const PtxModule *module, const PtxStatement *statement) {
    uint32_t count, place = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    const PtxForm *form = &module->forms[statement->what];
    for (uint32_t i = 0; i < count; i += ptx_extent(operands + i), place++)
        if (place >= 32 || form->writes >> place & 1)
            add_registers(written, operands + i);
}

static bool has_written(const Written *written, const PtxOperand *operand) {
    for (uint32_t k = 0; k < ptx_extent(operand); k++)
        for (uint32_t i = 0; operand[k].kind == PTX_REGISTER && i < written->count; i++)
            if (written->items[i].variable == operand[k].a && written->items[i].number == operand[k].value)
                return true;
    return written->full;
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

/* Whether what the check of a site needs is known where the group begins. */
static bool is_known(const PtxModule *module, const ShadowSite *site, const Written *written) {
    const PtxStatement *statement = &module->statements[site->statement];
    if ((statement->flags & PTX_GUARDED) && has_written(written, &module->operands[statement->first]))
        return false;
    return !has_written(written, &module->operands[site->address]) &&
           (site->limit == PTX_NONE || !has_written(written, &module->operands[site->limit]));
}

uint32_t shadow_group(const ShadowSites *sites, const PtxModule *module, uint32_t first) {
    const ShadowSite *begin = &sites->items[first];
    Written written = {.count = 0};
    uint32_t count = 1, at = begin->statement;
    if (!is_member(begin))
        return 1;
    for (; count < SHADOW_GROUP && first + count < sites->count; count++) {
        const ShadowSite *next = &sites->items[first + count];
        if (!is_member(next) || next->function != begin->function || next->access != begin->access ||
            next->bytes != begin->bytes || next->statement <= begin->statement)
            return count;
        for (; at < next->statement; at++) {
            if (!is_plain(module, &module->statements[at]))
                return count;
            if (module->statements[at].kind == PTX_INSTRUCTION)
                add_written(&written, module, &module->statements[at]);
        }
        if (!is_known(module, next, &written))
            return count;
    }
    return count;
}
