/* What is known of operands: numbers, and addresses. */
#include "check/lint/ptx/internal.h"

/* ---- Numbers -------------------------------------------------------------------------------------- */

bool number_of(const PtxLint *lint, uint32_t operand, int64_t *value) {
    return operand != PTX_NONE && known_number(lint->known, operand, value);
}

bool bytes_of(const PtxLint *lint, const Act *act, int64_t *bytes) {
    *bytes = act->effect->effect.count;
    if (act->effect->count.size)
        return number_of(lint, act->count, bytes) && *bytes >= 0;
    return *bytes > 0;
}

/* ---- Values behind moves -------------------------------------------------------------------------- */

unsigned digits_in(Str type) {
    unsigned number = 0;
    size_t i = 0;
    while (i < type.size && (type.data[i] < '0' || type.data[i] > '9'))
        i++;
    for (; i < type.size && type.data[i] >= '0' && type.data[i] <= '9'; i++)
        number = number * 10 + (unsigned)(type.data[i] - '0');
    return number;
}

static unsigned register_bits(const PtxModule *module, uint32_t variable) {
    return digits_in(ptx_name(module, module->variables[variable].type));
}

/* The operand that an instruction gives on as it is; PTX_NONE: it makes something else of it. `offset`: what it adds.
 */
static uint32_t passed_on(const PtxLint *lint, uint32_t instruction, int64_t *offset) {
    const PtxModule *module = lint->module;
    uint32_t statement = lint->flow.instructions[instruction];
    const PtxStatement *at = &module->statements[statement];
    uint32_t to = operand_at(module, at, 0), a = operand_at(module, at, 1), b = operand_at(module, at, 2);
    if (to == PTX_NONE || a == PTX_NONE || module->operands[to].kind != PTX_REGISTER)
        return PTX_NONE;
    int64_t number;
    switch (module->forms[at->what].evaluator) {
    case PTX_EVALUATE_CVT:
        if (module->operands[a].kind != PTX_REGISTER ||
            register_bits(module, module->operands[a].a) > register_bits(module, module->operands[to].a))
            return PTX_NONE;
        return a;
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
        return a;
    case PTX_EVALUATE_ADD:
        if (number_of(lint, b, &number)) {
            *offset += number;
            return a;
        }
        if (number_of(lint, a, &number)) {
            *offset += number;
            return b;
        }
        return PTX_NONE;
    default:
        return PTX_NONE;
    }
}

enum { MOST_STEPS = 64 };

/* ---- Points --------------------------------------------------------------------------------------- */

Point point_of(const PtxLint *lint, uint32_t operand) {
    Point point = {0};
    for (unsigned steps = 0; operand != PTX_NONE && steps < MOST_STEPS; steps++) {
        const PtxOperand *at = &lint->module->operands[operand];
        if (at->kind == PTX_ADDRESS) {
            point.offset += at->value;
            operand++;
            continue;
        }
        if (at->kind == PTX_VARIABLE)
            return (Point){POINT_VARIABLE, at->a, point.offset + at->value};
        uint32_t value = flow_value(&lint->flow, operand), instruction = value_instruction(lint, value);
        if (value == PTX_NONE || at->part)
            return (Point){0};
        point = (Point){POINT_VALUE, value, point.offset};
        if (instruction == PTX_NONE || lint->flow.values[value].before != PTX_NONE)
            return point;
        operand = passed_on(lint, instruction, &point.offset);
    }
    return point;
}

bool points_overlap(Point a, int64_t a_bytes, Point b, int64_t b_bytes) {
    return points_alike(a, b) && a.offset < b.offset + b_bytes && b.offset < a.offset + a_bytes;
}

/* ---- Variables ------------------------------------------------------------------------------------ */

static uint32_t element_bytes(const PtxModule *module, const PtxVariable *variable) {
    Str vector = ptx_name(module, variable->vector);
    return digits_in(ptx_name(module, variable->type)) / 8 * (vector.size ? digits_in(vector) : 1);
}

uint32_t variable_alignment(const PtxModule *module, uint32_t index) {
    const PtxVariable *variable = &module->variables[index];
    uint32_t natural = element_bytes(module, variable);
    return variable->align ? variable->align : natural ? natural : 1;
}

uint64_t variable_bytes(const PtxModule *module, uint32_t index) {
    const PtxVariable *variable = &module->variables[index];
    uint64_t bytes = element_bytes(module, variable);
    for (uint32_t i = 0; i < variable->dimension_count; i++) {
        const PtxOperand *size = &module->operands[variable->dimensions + i];
        bytes *= size->kind == PTX_INTEGER && size->value > 0 ? (uint64_t)size->value : 0;
    }
    return bytes;
}
