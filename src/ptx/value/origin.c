/* Where addresses come from: the variable or parameter that they are so many bytes into, and its state space. */
#include "ptx/value/internal.h"

PtxOrigin unknown_origin(void) {
    return (PtxOrigin){PTX_SPACE_UNKNOWN, PTX_NONE, false};
}

static bool is_known(PtxOrigin origin) {
    return origin.space != PTX_SPACE_UNKNOWN || origin.variable != PTX_NONE;
}

PtxOrigin join_origins(PtxOrigin a, PtxOrigin b) {
    bool same = a.space == b.space && a.generic == b.generic;
    return (PtxOrigin){.space = same ? a.space : PTX_SPACE_UNKNOWN,
                       .variable = a.variable == b.variable ? a.variable : PTX_NONE,
                       .generic = same && a.generic};
}

bool is_kernel_parameter(const PtxFlow *flow, uint32_t variable) {
    const PtxFunction *function = &flow->module->functions[flow->function];
    return function->entry && variable != PTX_NONE && variable >= function->parameters &&
           variable < function->parameters + function->parameter_count;
}

PtxOrigin operand_origin(const PtxValues *values, const PtxOperand *operand) {
    const PtxModule *module = values->flow->module;
    if (operand->kind == PTX_REGISTER) {
        uint32_t value = flow_value(values->flow, (uint32_t)(operand - module->operands));
        return value == PTX_NONE || operand->part != PTX_WHOLE ? unknown_origin() : values->origins[value];
    }
    if (operand->kind == PTX_VARIABLE) {
        Str space = ptx_name(module, module->variables[operand->a].space);
        if (space.size)
            space = (Str){space.data + 1, space.size - 1}; /* without its dot */
        return (PtxOrigin){space_named(space), operand->a, false};
    }
    return unknown_origin();
}

PtxOrigin address_origin(const PtxValues *values, PtxSpace space, const PtxOperand *address) {
    PtxOrigin origin =
        address->kind == PTX_ADDRESS && address->a ? operand_origin(values, address + 1) : unknown_origin();
    /* A tensor map, which stands before its coordinates, is named by a generic address. */
    bool map = address->kind == PTX_ADDRESS && address->a > ptx_extent(address + 1);
    if (!map && space != PTX_SPACE_UNKNOWN) {
        if (!(space == PTX_SPACE_SHARED && origin.space == PTX_SPACE_CLUSTER))
            origin.space = space;
    } else if (!origin.generic && origin.space != PTX_SPACE_GLOBAL) {
        origin.space = PTX_SPACE_UNKNOWN; /* where that is as a generic address nobody knows */
    }
    return origin;
}

/* Of a sum, the part that is an address. */
static PtxOrigin origin_of_sum(PtxOrigin a, PtxOrigin b) {
    if (is_known(a) && is_known(b))
        return join_origins(a, b);
    return is_known(a) ? a : b;
}

/* What a kernel's parameter says of the pointer that it is. */
static PtxOrigin loaded_origin(const PtxValues *values, const PtxOperand *address) {
    const PtxModule *module = values->flow->module;
    if (address->kind != PTX_ADDRESS || !address->a || address[1].kind != PTX_VARIABLE ||
        !is_kernel_parameter(values->flow, address[1].a))
        return unknown_origin();
    const PtxVariable *parameter = &module->variables[address[1].a];
    Str space = parameter->pointer ? ptx_name(module, parameter->pointer_space) : (Str){"", 0};
    if (space.size)
        space = (Str){space.data + 1, space.size - 1};
    return (PtxOrigin){space_named(space), address[1].a, true};
}

PtxOrigin result_origin(const PtxValues *values, const Meaning *meaning, const PtxStatement *statement) {
    uint32_t count, index = 0;
    const PtxOperand *operands = ptx_operands(values->flow->module, statement, &count), *read[4] = {NULL};
    PtxOrigin of[4];
    for (uint32_t i = 0; i < count && index < 5; i += ptx_extent(operands + i), index++)
        if (index)
            read[index - 1] = operands + i;
    for (unsigned i = 0; i < 4; i++)
        of[i] = read[i] ? operand_origin(values, read[i]) : unknown_origin();
    switch (meaning->operation.evaluator) {
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVT:
    case PTX_EVALUATE_SUB:
    case PTX_EVALUATE_AND:
        return of[0];
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_OR:
        return origin_of_sum(of[0], of[1]);
    case PTX_EVALUATE_MAD:
        return of[2];
    case PTX_EVALUATE_SELP:
        return join_origins(of[0], of[1]);
    case PTX_EVALUATE_CVTA:
        return (PtxOrigin){meaning->space, of[0].variable, true};
    case PTX_EVALUATE_CVTA_TO:
        return (PtxOrigin){meaning->space, of[0].variable, false};
    case PTX_EVALUATE_MAPA:
        return (PtxOrigin){PTX_SPACE_CLUSTER, of[0].variable, of[0].generic};
    case PTX_EVALUATE_LOAD:
        return read[0] ? loaded_origin(values, read[0]) : unknown_origin();
    default:
        return unknown_origin();
    }
}
