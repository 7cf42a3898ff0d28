/* Places in the text of what a module has numbers for, and back. */
#include "ptx/places.h"

enum { OPERAND_BITS = 16 };

/* The last statement that begins at or before a byte, or has operands from one on; PTX_NONE: none does. */
static uint32_t statement_before(const PtxModule *module, uint32_t key, bool operand) {
    uint32_t low = 0, high = module->statements_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const PtxStatement *statement = &module->statements[middle];
        if ((operand ? statement->first : statement->begin) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1; /* of none, PTX_NONE */
}

/* Statements without operands may have the same first one as the next. */
static uint32_t statement_of(const PtxModule *module, uint32_t operand) {
    uint32_t at = statement_before(module, operand, true);
    while (at != PTX_NONE && module->statements[at].kind == PTX_VARIABLES)
        at--;
    bool in = at != PTX_NONE && operand - module->statements[at].first < module->statements[at].count;
    return in ? at : PTX_NONE;
}

static uint64_t place_of(const void *of, SiteReference what, uint32_t number) {
    const PtxModule *module = of;
    uint32_t statement;
    switch (what) {
    case SITE_STATEMENT:
        return module->statements[number].begin;
    case SITE_OPERAND:
        statement = statement_of(module, number);
        return statement == PTX_NONE ? SITE_NOWHERE
                                     : (uint64_t)module->statements[statement].begin << OPERAND_BITS |
                                           (number - module->statements[statement].first);
    case SITE_FUNCTION:
    case SITE_VARIABLE:
        break;
    }
    return number;
}

static uint32_t at_place(const void *of, SiteReference what, uint64_t place) {
    const PtxModule *module = of;
    uint64_t begin = what == SITE_OPERAND ? place >> OPERAND_BITS : place, at = place & ((1U << OPERAND_BITS) - 1);
    uint32_t count = what == SITE_FUNCTION ? module->functions_count : module->variables_count;
    if (what == SITE_FUNCTION || what == SITE_VARIABLE)
        return place < count ? (uint32_t)place : PTX_NONE;
    uint32_t found = begin < UINT32_MAX ? statement_before(module, (uint32_t)begin, false) : PTX_NONE;
    if (found == PTX_NONE || module->statements[found].begin != begin)
        return PTX_NONE;
    const PtxStatement *statement = &module->statements[found];
    if (what == SITE_STATEMENT)
        return found;
    return statement->kind != PTX_VARIABLES && at < statement->count ? statement->first + (uint32_t)at : PTX_NONE;
}

SiteText ptx_site_text(const PtxModule *module) {
    return (SiteText){place_of, at_place, module};
}
