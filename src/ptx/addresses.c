/* Addresses of PTX instructions: what may stand in the brackets. */
#include "ptx/internal.h"

/* ---- What a form says of its addresses ----------------------------------------------------------------- */

/* The space of variables that a modifier means; WORD_COUNT: it is none. */
static uint32_t space_of(Str modifier) {
    static const struct {
        const char *name;
        uint32_t word;
    } spaces[] = {{"global", WORD_global},
                  {"shared", WORD_shared},
                  {"local", WORD_local},
                  {"const", WORD_const},
                  {"param", WORD_param}};
    size_t size = 0;
    while (size < modifier.size && modifier.data[size] != ':')
        size++;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_is((Str){modifier.data, size}, spaces[i].name))
            return spaces[i].word;
    return WORD_COUNT;
}

/* Which address has coordinates in its brackets: that of a texture or a surface, or the tensor's, which is in global
 * memory; UINT8_MAX: none. */
static uint8_t with_coordinates(Str opcode, Str form, const AddressFacts *facts) {
    if (facts->handle)
        return word_place(opcode, "txq suq") >= 0 ? UINT8_MAX : 0;
    if (!ptx_form_has(form, STR("tensor")))
        return UINT8_MAX;
    return facts->count == 2 && facts->spaces[1] == WORD_global ? 1 : 0;
}

AddressFacts address_facts(Str form) {
    AddressFacts facts = {0};
    Str left = form, opcode = next_part(&left);
    facts.plain = word_place(opcode, "ld st atom red ldu prefetch prefetchu cp mbarrier") >= 0;
    facts.loads = str_is(opcode, "ld");
    facts.stores = str_is(opcode, "st");
    facts.converts = word_place(opcode, "cvta mapa") >= 0;
    facts.symbols = word_place(opcode, "mov cvta mapa getctarank call") >= 0 && !ptx_form_has(form, STR("to"));
    while (left.size) {
        uint32_t space = space_of(next_part(&left));
        if (space != WORD_COUNT && facts.count < 2)
            facts.spaces[facts.count++] = (uint8_t)space;
    }
    facts.handle = word_place(opcode, "tex tld4 txq") >= 0          ? ".texref"
                   : word_place(opcode, "suld sust sured suq") >= 0 ? ".surfref"
                                                                    : NULL;
    facts.coordinates = with_coordinates(opcode, form, &facts);
    return facts;
}

/* ---- Addresses ------------------------------------------------------------------------------------------- */

/* A variable, in the operand's place among the addresses of the instruction. */
static bool check_variable(Reader *r, const AddressFacts *facts, const PtxVariable *variable, unsigned place,
                           const char *at) {
    Str space = ptx_name(r->module, variable->space);
    if (type_of(r, variable)->opaque)
        return true;
    if (!facts->count)
        return !facts->plain || variable->space != WORD_param ||
               ptx_fail(r, at, "a parameter has no address without '.param'");
    uint32_t wanted = facts->count == 1 || place == 0 ? facts->spaces[0]
                      : place == 1                    ? facts->spaces[1]
                                                      : (uint32_t)WORD_shared;
    if (variable->space != wanted)
        return ptx_fail(r, at, "this is an address of %.*s, and the variable is one of %.*s",
                        STR_ARG(ptx_name(r->module, wanted)), STR_ARG(space));
    if (facts->stores && variable->formal == PTX_PARAMETER)
        return ptx_fail(r, at, "a parameter is not written to");
    if (facts->loads && variable->space == WORD_param && !variable->formal && !variable->returned)
        return ptx_fail(r, at, "no call above returns this variable");
    return !facts->loads || variable->formal != PTX_RESULT || ptx_fail(r, at, "a result is not read");
}

static bool check_register(Reader *r, const PtxVariable *variable, bool part, const char *at) {
    Str type = ptx_name(r->module, variable->type);
    bool fits = type.size > 1 && strchr("bus", type.data[1]) && !str_is(type, ".b128");
    if (!fits || variable->vector != PTX_NONE || part)
        return ptx_fail(r, at, "a register of type %.*s is no address", STR_ARG(type));
    return true;
}

static bool check_coordinates(Reader *r, bool wanted, const PtxOperand *address, const char *at) {
    const PtxOperand *base = address + 1;
    if (wanted != (address->a > 1))
        return ptx_fail(r, at, wanted ? "coordinates are missing here" : "there are no coordinates here");
    if (!wanted)
        return true;
    if (base->kind == PTX_INTEGER || address->written || address->value)
        return ptx_fail(r, at, "an address with coordinates is a name alone");
    for (uint32_t i = 1; i <= address->a; i += ptx_extent(address + i))
        if (address[i].kind != PTX_REGISTER && address[i].kind != PTX_VARIABLE && address[i].kind != PTX_VECTOR &&
            address[i].kind != PTX_NAME && address[i].kind != PTX_SPECIAL)
            return ptx_fail(r, at, "coordinates are a vector");
    return true;
}

bool check_symbol(Reader *r, const AddressFacts *facts, const PtxOperand *symbol, const char *at) {
    if (!facts->symbols)
        return ptx_fail(r, at, "the address of a variable or function is no value here: mov takes it");
    if (symbol->kind != PTX_VARIABLE || !facts->converts || facts->count != 1)
        return true;
    uint32_t space = r->module->variables[symbol->a].space;
    return space == facts->spaces[0] ||
           ptx_fail(r, at, "this variable is one of %.*s", STR_ARG(ptx_name(r->module, space)));
}

static bool is_unified(const Reader *r, const PtxVariable *variable) {
    const PtxOperand *attributes = &r->module->operands[variable->attributes];
    for (uint32_t i = 0; i < variable->attribute_count; i++)
        if (attributes[i].kind == PTX_WORD && str_is(ptx_name(r->module, attributes[i].a), ".unified"))
            return true;
    return false;
}

bool check_unified(Reader *r, const AddressFacts *facts, uint32_t head, unsigned index, const char *at) {
    const PtxOperand *address = &r->module->operands[head], *base = address + 1;
    if (!address->unified)
        return true;
    if (index != 1 || facts->coordinates == 0) /* the coordinates are the second then */
        return ptx_fail(r, at, "only an address that is the second operand is '.unified'");
    if (facts->count && facts->spaces[0] != WORD_global)
        return ptx_fail(r, at, "only a generic address, or one of .global, is '.unified'");
    if (base->kind == PTX_SPECIAL)
        return ptx_fail(r, at, "an address in a special register is not '.unified'");
    if (base->kind != PTX_VARIABLE || is_unified(r, &r->module->variables[base->a]))
        return true;
    return ptx_fail(r, at, "the variable is not declared with .attribute(.unified(...))");
}

/* A texture or surface is a variable of that type, or a register with its handle. */
static bool check_handle(Reader *r, const AddressFacts *facts, const PtxOperand *address, const char *at) {
    const PtxOperand *base = address + 1;
    bool good = base->kind == PTX_NAME; /* which is told of later */
    if (base->kind == PTX_REGISTER || base->kind == PTX_VARIABLE) {
        const PtxVariable *variable = &r->module->variables[base->a];
        Str type = ptx_name(r->module, variable->type);
        good = variable->space == WORD_reg ? word_place(type, ".b64 .u64 .s64") >= 0 && !base->part
                                           : str_is(type, facts->handle);
    }
    return (good && !address->value) ||
           ptx_fail(r, at, "this has to be a variable of type %s, or a register with 64 bits", facts->handle);
}

bool check_base(Reader *r, const AddressFacts *facts, uint32_t head, unsigned place, const char *at) {
    const PtxOperand *address = &r->module->operands[head], *base = address + 1;
    const PtxVariable *variable =
        base->kind == PTX_REGISTER || base->kind == PTX_VARIABLE ? &r->module->variables[base->a] : NULL;
    if (!check_coordinates(r, place == facts->coordinates, address, at))
        return false;
    if (facts->handle)
        return check_handle(r, facts, address, at);
    if (variable && variable->space == WORD_reg && facts->stores && facts->count && facts->spaces[0] == WORD_param)
        return ptx_fail(r, at, "a parameter is stored to by its name");
    if (variable && variable->space == WORD_reg) /* of the register of a tensor, ptxas sees that it is no predicate */
        return (place == facts->coordinates && !base->part && !str_is(ptx_name(r->module, variable->type), ".pred")) ||
               check_register(r, variable, base->part, at);
    if (variable)
        return check_variable(r, facts, variable, place, at);
    switch (base->kind) {
    case PTX_SPECIAL:
        return !base->part || ptx_fail(r, at, "a part of a register is no address");
    case PTX_NAME:
        return true; /* not declared, or a label: which is said later */
    case PTX_INTEGER:
        return (facts->count == 1 && facts->spaces[0] == WORD_local) ||
               ptx_fail(r, at, "only addresses of .local memory are numbers");
    default:
        return ptx_fail(r, at, "this is no address");
    }
}
