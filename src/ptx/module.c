/* What a PTX module holds, and where its instructions come from. */
#include "ptx/internal.h"

#include <stdlib.h>

size_t ptx_memory(const PtxModule *module) {
    return module->held + module->arena.held;
}

void ptx_free(PtxModule *module) {
#define ARRAY(T, name) free(module->name);
    PTX_ARRAYS(ARRAY)
#undef ARRAY
    arena_free(&module->arena);
    *module = (PtxModule){0};
}

/* ---- A kernel's header ------------------------------------------------------------------------------------ */

bool ptx_header_numbers(const PtxModule *module, uint32_t entry, const char *name, uint32_t numbers[3]) {
    const PtxFunction *function = &module->functions[entry];
    for (uint32_t i = function->begin; i < function->end && module->statements[i].kind != PTX_OPEN; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind != PTX_DIRECTIVE || !str_is(ptx_name(module, statement->what), name))
            continue;
        for (uint32_t k = 0; k < 3; k++)
            numbers[k] = k < statement->count ? (uint32_t)module->operands[statement->first + k].value : 1;
        return true;
    }
    return false;
}

/* Their product; 0: there is no such directive. */
static uint64_t header_product(const PtxModule *module, uint32_t entry, const char *name) {
    uint32_t numbers[3];
    return ptx_header_numbers(module, entry, name, numbers) ? (uint64_t)numbers[0] * numbers[1] * numbers[2] : 0;
}

uint32_t ptx_first_registers(const PtxModule *module, uint32_t entry) {
    enum { SM_REGISTERS = 65536, MOST = 256, STEP = 8 };
    uint64_t count = header_product(module, entry, ".maxnreg"), threads = header_product(module, entry, ".reqntid"),
             ctas = header_product(module, entry, ".minnctapersm");
    if (!threads)
        threads = header_product(module, entry, ".maxntid");
    if (!count && threads && ctas && threads <= SM_REGISTERS && ctas <= SM_REGISTERS)
        count = SM_REGISTERS / (threads * ctas) / STEP * STEP;
    count = (count + STEP - 1) / STEP * STEP; /* of 255 it gives 256 */
    return count > MOST ? MOST : (uint32_t)count;
}

/* ---- Functions ------------------------------------------------------------------------------------------- */

/* A declaration stands for the definition of that name; which may be the other of two. */
static uint32_t defined_function(const PtxModule *module, uint32_t function) {
    if (module->functions[function].body || module->functions[function].name == PTX_NONE)
        return function;
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].name == module->functions[function].name && module->functions[i].body)
            return i;
    return function;
}

uint32_t ptx_function_behind(const PtxModule *module, uint32_t function) {
    for (uint32_t i = 0; module->functions[function].alias && i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        const PtxOperand *operands = &module->operands[statement->first];
        if (statement->kind == PTX_DIRECTIVE && statement->what == WORD_alias && operands[0].a == function)
            return defined_function(module, operands[1].a);
    }
    return defined_function(module, function);
}

bool ptx_is_tiled(const PtxModule *module, uint32_t entry) {
    const PtxFunction *function = &module->functions[entry];
    uint32_t count = function->parameter_count;
    for (uint32_t i = 0; i < count; i++) {
        const PtxVariable *parameter = &module->variables[function->parameters + i];
        bool points = parameter->pointer && str_is(ptx_name(module, parameter->pointer_space), ".global");
        if (parameter->pointer ? !points : i + 2 >= count)
            return false;
    }
    return function->entry && count >= 2;
}

/* ---- Places ---------------------------------------------------------------------------------------------- */

/* The path of .file `number`, without its quotes. */
static Str file_of(const PtxModule *module, int64_t number) {
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        const PtxOperand *operands = module->operands + statement->first;
        if (statement->kind != PTX_DIRECTIVE || statement->what != WORD_file || operands[0].value != number)
            continue;
        Str path = ptx_name(module, operands[1].a);
        return (Str){path.data + 1, path.size - 2};
    }
    return (Str){"", 0};
}

/* The text at a label of .debug_str: bytes up to a zero one, kept in the module. */
static Str string_at(PtxModule *module, uint32_t label, int64_t offset) {
    uint32_t i = 0;
    Text text = {0};
    while (i < module->statements_count &&
           (module->statements[i].kind != PTX_LABEL || module->statements[i].what != label))
        i++;
    for (i++; i < module->statements_count && module->statements[i].kind != PTX_CLOSE; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind != PTX_DATA || statement->what != WORD_b8)
            continue;
        for (uint32_t k = 0; k < statement->count; k++, offset--) {
            char c = (char)module->operands[statement->first + k].value;
            if (offset <= 0 && !c)
                goto done;
            if (offset <= 0)
                text_char(&text, c);
        }
    }
done:
    return str_of(text_keep(&text, &module->arena));
}

/* What stands behind the three numbers of a .loc. */
typedef struct Inlined {
    uint32_t function;
    int64_t offset;
    const PtxOperand *at; /* file, line and column; NULL: it is not inlined */
} Inlined;

static Inlined inlined_of(const PtxOperand *operands, uint32_t count) {
    Inlined found = {.function = PTX_NONE};
    for (uint32_t i = 3; i + 1 < count; i++) {
        if (operands[i].kind == PTX_WORD && operands[i].a == WORD_function_name) {
            found.function = operands[i + 1].a;
            found.offset = operands[i + 1].value;
        } else if (operands[i].kind == PTX_WORD && operands[i].a == WORD_inlined_at && i + 3 < count) {
            found.at = &operands[i + 1];
        }
    }
    return found;
}

static bool is_loc_of(const PtxModule *module, uint32_t statement, const PtxOperand *at) {
    const PtxOperand *place = module->operands + module->statements[statement].first;
    return module->statements[statement].kind == PTX_LOC && place[0].value == at[0].value &&
           place[1].value == at[1].value && place[2].value == at[2].value;
}

/* The .loc of that place, which says where it was inlined in turn: as a rule it stands before `from`; where code was
 * moved, it may stand behind. */
static uint32_t loc_of(const PtxModule *module, uint32_t from, uint32_t begin, uint32_t end, const PtxOperand *at) {
    for (uint32_t i = from; i-- > begin;)
        if (is_loc_of(module, i, at))
            return i;
    for (uint32_t i = from; i < end; i++)
        if (is_loc_of(module, i, at))
            return i;
    return PTX_NONE;
}

uint32_t ptx_places(PtxModule *module, uint32_t statement, PtxPlace *places, uint32_t most) {
    uint32_t count = 0, begin = 0, end = module->statements_count, at = statement;
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].begin <= statement && statement < module->functions[i].end) {
            begin = module->functions[i].begin;
            end = module->functions[i].end;
        }
    while (at > begin && module->statements[at].kind != PTX_LOC)
        at--;
    if (!most || module->statements[at].kind != PTX_LOC)
        return 0;
    const PtxOperand *place = module->operands + module->statements[at].first;
    while (count < most) {
        Inlined inlined = {.function = PTX_NONE};
        if (at != PTX_NONE)
            inlined = inlined_of(module->operands + module->statements[at].first, module->statements[at].count);
        places[count++] =
            (PtxPlace){.file = file_of(module, place[0].value),
                       .function = inlined.function == PTX_NONE ? (Str){"", 0}
                                                                : string_at(module, inlined.function, inlined.offset),
                       .line = (uint32_t)place[1].value,
                       .column = (uint32_t)place[2].value};
        if (!inlined.at)
            break;
        place = inlined.at;
        at = loc_of(module, at, begin, end, place);
    }
    return count;
}

uint32_t ptx_own_place(const PtxPlace *places, uint32_t count) {
    uint32_t own = 0;
    while (own + 1 < count && !str_equal(places[own].file, places[count - 1].file))
        own++;
    return own;
}

uint32_t ptx_statement_on(const PtxModule *module, uint32_t line) {
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_INSTRUCTION && source_place(module->source, statement->begin).line == line)
            return i;
    }
    return PTX_NONE;
}
