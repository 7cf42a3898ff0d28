/* Variables of shared and global memory: where they are is told by the kernel. Compilers do not agree on the former,
 * and the driver decides on the latter. */
#include "instrument/instrument.h"

#include "instrument/internal.h"
#include "trace/record.h"

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

typedef struct PlaceNamed {
    const char *space;
    uint32_t *variables;
    uint32_t count, most;
} PlaceNamed;

/* Textures, samplers and surfaces are no memory that a kernel can access by its address; where they are asked for
 * theirs, ptxas takes them for indirect ones. */
bool variable_opaque(const PtxModule *module, const PtxVariable *variable) {
    return variable->type != PTX_NONE && str_ends(ptx_name(module, variable->type), STR("ref"));
}

/* Those of a statement that declares some. */
static void add_declared(PlaceNamed *named, const PtxModule *module, const PtxFunction *function,
                         const PtxStatement *statement) {
    for (uint32_t i = 0; statement->kind == PTX_VARIABLES && i < statement->count && named->count < named->most; i++) {
        uint32_t number = statement->what + i;
        const PtxVariable *variable = &module->variables[number];
        if (str_is(ptx_name(module, variable->space), named->space) && !variable_opaque(module, variable) &&
            is_named(module, function, number))
            named->variables[named->count++] = number;
    }
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

static void find_named(PlaceNamed *named, const PtxModule *module, uint32_t function) {
    const PtxFunction *kernel = &module->functions[function];
    uint32_t next = 0, start = instrument_start(module, function);
    for (uint32_t i = 0; i < module->functions_count && module->functions[i].begin <= kernel->begin; i++) {
        for (; next < module->functions[i].begin; next++)
            add_declared(named, module, kernel, &module->statements[next]);
        next = module->functions[i].end > next ? module->functions[i].end : next;
    }
    for (uint32_t i = kernel->begin; i < start; i++)
        add_declared(named, module, kernel, &module->statements[i]);
}

uint32_t instrument_shared(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_VARIABLES]) {
    PlaceNamed named = {.space = ".shared", .variables = variables, .most = RECORD_VARIABLES};
    find_named(&named, module, function);
    return named.count > 1 ? named.count : 0;
}

uint32_t instrument_globals(const PtxModule *module, uint32_t function, uint32_t variables[RECORD_GLOBALS]) {
    PlaceNamed named = {.space = ".global", .variables = variables, .most = RECORD_GLOBALS};
    find_named(&named, module, function);
    return named.count;
}
