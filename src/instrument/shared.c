/* Variables of shared memory: where they are is told by the kernel, because compilers do not agree on it. */
#include "instrument/instrument.h"

#include "record/record.h"

/* Whether the function names it in some instruction. */
static bool is_named(const PtxModule *module, const PtxFunction *function, uint32_t variable) {
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        for (uint32_t k = 0; statement->kind == PTX_INSTRUCTION && k < statement->count; k++)
            if (module->operands[statement->first + k].kind == PTX_VARIABLE &&
                module->operands[statement->first + k].a == variable)
                return true;
    }
    return false;
}

/* Those of a statement that declares some. */
static uint32_t add_declared(const PtxModule *module, const PtxFunction *function, const PtxStatement *statement,
                             uint32_t variables[RECORD_VARIABLES], uint32_t count) {
    for (uint32_t i = 0; statement->kind == PTX_VARIABLES && i < statement->count && count < RECORD_VARIABLES; i++) {
        uint32_t variable = statement->what + i;
        if (str_is(ptx_name(module, module->variables[variable].space), ".shared") &&
            is_named(module, function, variable))
            variables[count++] = variable;
    }
    return count;
}

static bool is_jumped_to(const PtxModule *module, const PtxFunction *function, uint32_t label) {
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        bool jumps = statement->kind == PTX_INSTRUCTION || statement->kind == PTX_DIRECTIVE; /* .branchtargets */
        for (uint32_t k = 0; jumps && k < statement->count; k++)
            if (module->operands[statement->first + k].kind == PTX_TARGET &&
                module->operands[statement->first + k].a == label)
                return true;
    }
    return false;
}

uint32_t instrument_start(const PtxModule *module, uint32_t number) {
    const PtxFunction *function = &module->functions[number];
    bool body = false;
    for (uint32_t i = function->begin; i < function->end; i++) {
        uint8_t kind = module->statements[i].kind;
        if (body && (kind == PTX_INSTRUCTION || kind == PTX_OPEN || kind == PTX_CLOSE ||
                     (kind == PTX_LABEL && is_jumped_to(module, function, i))))
            return i;
        body |= kind == PTX_OPEN;
    }
    return function->end - 1;
}

uint32_t instrument_shared(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_VARIABLES]) {
    const PtxFunction *kernel = &module->functions[function];
    uint32_t count = 0, next = 0, start = instrument_start(module, function);
    for (uint32_t i = 0; i < module->functions_count && module->functions[i].begin <= kernel->begin; i++) {
        for (; next < module->functions[i].begin; next++)
            count = add_declared(module, kernel, &module->statements[next], variables, count);
        next = module->functions[i].end > next ? module->functions[i].end : next;
    }
    for (uint32_t i = kernel->begin; i < start; i++)
        count = add_declared(module, kernel, &module->statements[i], variables, count);
    return count > 1 ? count : 0;
}
