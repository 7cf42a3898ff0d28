/* The forms of operands where they stand: of registers, numbers, special registers, variables and addresses. */
#include "base/bisect.h"
#include "ptx/value/internal.h"

static unsigned type_bits(Str type) {
    if (str_is(type, ".pred"))
        return 1;
    size_t digits = 0;
    unsigned bits = 0;
    while (digits < type.size && (type.data[digits] < '0' || type.data[digits] > '9'))
        digits++;
    for (; digits < type.size && type.data[digits] >= '0' && type.data[digits] <= '9'; digits++)
        bits = bits * 10 + (unsigned)(type.data[digits] - '0');
    if (digits + 2 == type.size && type.data[digits] == 'x') /* f16x2 */
        bits *= (unsigned)(type.data[digits + 1] - '0');
    return bits > 128 || !bits ? 128 : bits;
}

unsigned register_width(const PtxModule *module, uint32_t variable) {
    return type_bits(ptx_name(module, module->variables[variable].type));
}

bool loop_has(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    uint32_t inner = flow->blocks[block].loop;
    while (inner != PTX_NONE && inner > loop) /* outer loops come first */
        inner = flow->loops[inner].outer;
    return inner == loop;
}

Form value_form(const PtxValues *values, uint32_t value, uint32_t block) {
    const PtxFlow *flow = values->flow;
    const FlowValue *of = &flow->values[value];
    Form form = values->forms[value];
    uint32_t loop = flow->blocks[of->block].loop;
    for (; loop != PTX_NONE && !loop_has(flow, loop, block); loop = flow->loops[loop].outer)
        form = form_narrowed(values->tables, &form, (FormSpan)values->turns[loop]);
    return form;
}

bool is_opaque(const PtxModule *module, uint32_t variable) {
    return str_ends(ptx_name(module, module->variables[variable].type), STR("ref"));
}

/* The address of a variable: where it lies is not known, but it is aligned. Of a texture the text does not say how. */
static Form variable_form(const PtxValues *values, const PtxOperand *operand, unsigned width) {
    const PtxVariable *variable = &values->flow->module->variables[operand->a];
    unsigned bytes = register_width(values->flow->module, operand->a) / 8;
    bool opaque = is_opaque(values->flow->module, operand->a);
    uint64_t align = variable->align ? variable->align : bytes && !opaque ? bytes : 1;
    Form base = form_uniform(width, SPAN_GRID, (align - 1) & low_ones(width), 0);
    Form offset = form_number(width, operand->bits);
    return form_sum(values->tables, &base, &offset);
}

Form operand_form(const PtxValues *values, const PtxOperand *operand, unsigned width, uint32_t block) {
    const PtxFlow *flow = values->flow;
    uint32_t value;
    Form form;
    switch (operand->kind) {
    case PTX_REGISTER:
        value = flow_value(flow, (uint32_t)(operand - flow->module->operands));
        if (value == PTX_NONE || operand->part != PTX_WHOLE)
            return form_any(register_width(flow->module, operand->a));
        form = value_form(values, value, block);
        return operand->negated && form.kind != FORM_NEVER ? form_not(values->tables, &form) : form;
    case PTX_SPECIAL:
        return special_form(values, operand);
    case PTX_INTEGER:
        return form_number(width, operand->bits);
    case PTX_SINGLE:
    case PTX_DOUBLE: /* of another width it is rounded */
        if (width != (operand->kind == PTX_SINGLE ? 32 : 64))
            return form_uniform(width, SPAN_GRID, 0, 0);
        return form_number(width, operand->bits);
    case PTX_VARIABLE:
        return variable_form(values, operand, width);
    case PTX_CALLEE:
        return form_uniform(width, SPAN_GRID, 0, 0);
    default:
        return form_any(width);
    }
}

Form address_form(const PtxValues *values, const PtxOperand *address, uint32_t block) {
    Form base = form_number(64, 0);
    if (address->kind != PTX_ADDRESS)
        return form_any(64);
    if (address->a)
        base = operand_form(values, address + 1, 64, block);
    if (base.kind == FORM_NEVER || base.width > 64)
        return base;
    Form offset = form_number(base.width, address->bits);
    return form_sum(values->tables, &base, &offset);
}

/* The block of the instruction that has an operand: those of instructions are in their order. */
static uint32_t block_of_operand(const PtxFlow *flow, uint32_t operand) {
    uint32_t behind;
    BISECT(behind, 1, flow->instruction_count, flow->module->statements[flow->instructions[behind]].first <= operand);
    return flow->block_of[behind - 1];
}

Form ptx_operand_form(const PtxValues *values, uint32_t operand) {
    return operand_form(values, &values->flow->module->operands[operand], 64, block_of_operand(values->flow, operand));
}

Form ptx_address_form(const PtxValues *values, uint32_t statement, uint32_t operand, PtxOrigin *origin) {
    const PtxModule *module = values->flow->module;
    const PtxStatement *of = &module->statements[statement];
    unsigned index = 0;
    for (uint32_t i = of->first; i < operand; i++)
        index += module->operands[i].kind == PTX_ADDRESS;
    if (origin) {
        PtxSpace space = ptx_space_of_form(module->forms[of->what].text, index);
        *origin = address_origin(values, space, &module->operands[operand]);
    }
    return address_form(values, &module->operands[operand], block_of_operand(values->flow, operand));
}

uint64_t form_offset(const PtxValues *values, const Form *form, unsigned thread) {
    return form->kind == FORM_TABLE ? form_offsets(values->tables, form->table)[thread % form_threads(values->tables)]
                                    : 0;
}

bool form_stride(const PtxValues *values, const Form *form, uint64_t *stride) {
    if (form->kind != FORM_TABLE || form_shape(values->tables, form) > SHAPE_AFFINE)
        return false;
    const uint64_t *offsets = form_offsets(values->tables, form->table);
    *stride = offsets[1];
    for (unsigned i = 0; i < form_threads(values->tables); i += FORM_LANES)
        if (((offsets[i + 1] - offsets[i] - *stride) & low_ones(form->width)) != 0)
            return false;
    return true;
}
