/* Where addresses come from: the variable or parameter that they are so many bytes into, and its state space. */
#include "ptx/value/internal.h"

PtxOrigin unknown_origin(void) {
    return (PtxOrigin){.space = PTX_SPACE_UNKNOWN, .variable = PTX_NONE};
}

static PtxOrigin distance_origin(void) {
    return (PtxOrigin){.space = PTX_SPACE_UNKNOWN, .variable = PTX_NONE, .distance = true};
}

/* Whether it is an address for sure: what a kernel's parameter has may be a number. */
static bool is_address(PtxOrigin origin) {
    return origin.space != PTX_SPACE_UNKNOWN;
}

PtxOrigin join_origins(PtxOrigin a, PtxOrigin b) {
    if (a.distance || b.distance)
        return distance_origin();
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
        if (is_opaque(module, operand->a)) /* what a texture, a sampler or a surface is at, nothing reads */
            return unknown_origin();
        return (PtxOrigin){.space = ptx_space_named(space), .variable = operand->a};
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
        origin.space = PTX_SPACE_UNKNOWN; /* its generic address is not known */
    }
    return origin;
}

/* Whether a number cannot be an address, nor how far two are apart: constants, and what is multiplied, shifted or made
 * wider. */
static bool is_offset(const PtxValues *values, const PtxOperand *operand) {
    const PtxFlow *flow = values->flow;
    if (operand->kind != PTX_REGISTER)
        return operand->kind == PTX_INTEGER;
    uint32_t value = flow_value(flow, (uint32_t)(operand - flow->module->operands));
    if (value == PTX_NONE || flow->values[value].kind != VALUE_RESULT || values->origins[value].distance)
        return false;
    uint32_t statement = flow->instructions[flow->values[value].instruction];
    switch (flow->module->forms[flow->module->statements[statement].what].evaluator) {
    case PTX_EVALUATE_MUL:
    case PTX_EVALUATE_MUL24:
    case PTX_EVALUATE_SHL:
    case PTX_EVALUATE_SHR:
    case PTX_EVALUATE_CVT:
    case PTX_EVALUATE_BFE:
    case PTX_EVALUATE_REM:
    case PTX_EVALUATE_DIV:
        return true;
    default:
        return false;
    }
}

typedef struct OriginTerm {
    const PtxOperand *operand; /* NULL: there is none */
    PtxOrigin origin;
} OriginTerm;

/* A sum is where that part of it is which is an address. */
static PtxOrigin origin_of_sum(const PtxValues *values, OriginTerm a, OriginTerm b) {
    if (a.origin.distance || b.origin.distance)
        return distance_origin();
    if (is_address(a.origin) != is_address(b.origin))
        return is_address(a.origin) ? a.origin : b.origin;
    if (is_address(a.origin))
        return join_origins(a.origin, b.origin);
    if (a.origin.variable != PTX_NONE && is_offset(values, b.operand))
        return a.origin;
    return b.origin.variable != PTX_NONE && is_offset(values, a.operand) ? b.origin : unknown_origin();
}

static PtxOrigin origin_of_difference(const PtxValues *values, OriginTerm a, OriginTerm b) {
    if (a.origin.distance || b.origin.distance || is_address(b.origin))
        return distance_origin();
    if (is_address(a.origin) || is_offset(values, b.operand))
        return a.origin;
    return unknown_origin();
}

/* An address that is rounded down stays in its variable; its lowest bits are no address. */
static PtxOrigin origin_of_mask(OriginTerm a, OriginTerm b) {
    if (b.operand->kind == PTX_INTEGER && b.operand->value < 0)
        return a.origin;
    return is_address(a.origin) || is_address(b.origin) || a.origin.distance || b.origin.distance ? distance_origin()
                                                                                                  : unknown_origin();
}

/* What a kernel's parameter says of the pointer that it is. */
static PtxOrigin loaded_origin(const PtxValues *values, const PtxOperand *address) {
    const PtxModule *module = values->flow->module;
    if (address->kind != PTX_ADDRESS || !address->a || address[1].kind != PTX_VARIABLE ||
        !is_kernel_parameter(values->flow, address[1].a))
        return unknown_origin();
    const PtxVariable *parameter = &module->variables[address[1].a];
    Str space = parameter->pointer ? ptx_name(module, parameter->pointer_space) : (Str){"", 0};
    return (PtxOrigin){.space = ptx_space_named(space), .variable = address[1].a, .generic = true};
}

/* What is made of addresses in another way is none. */
static PtxOrigin origin_of_others(const OriginTerm *terms) {
    for (unsigned i = 0; i < MOST_ARGUMENTS; i++)
        if (terms[i].origin.distance || is_address(terms[i].origin))
            return distance_origin();
    return unknown_origin();
}

PtxOrigin result_origin(const PtxValues *values, const Meaning *meaning, const PtxStatement *statement) {
    uint32_t count, index = 0;
    const PtxOperand *operands = ptx_operands(values->flow->module, statement, &count);
    OriginTerm terms[MOST_ARGUMENTS] = {{.operand = NULL}};
    for (uint32_t i = 0; i < count && index <= MOST_ARGUMENTS; i += ptx_extent(operands + i), index++)
        if (index)
            terms[index - 1].operand = operands + i;
    for (unsigned i = 0; i < MOST_ARGUMENTS; i++)
        terms[i].origin = terms[i].operand ? operand_origin(values, terms[i].operand) : unknown_origin();
    PtxEvaluator evaluator = meaning->operation.evaluator;
    bool binary = terms[1].operand != NULL;
    switch (evaluator) {
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVT:
        return terms[0].origin;
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
        return binary ? origin_of_sum(values, terms[0], terms[1]) : unknown_origin();
    case PTX_EVALUATE_SUB:
        return binary ? origin_of_difference(values, terms[0], terms[1]) : unknown_origin();
    case PTX_EVALUATE_AND:
        return binary ? origin_of_mask(terms[0], terms[1]) : unknown_origin();
    case PTX_EVALUATE_MAD:
        return terms[0].origin.distance || terms[1].origin.distance ? distance_origin() : terms[2].origin;
    case PTX_EVALUATE_SELP:
        return join_origins(terms[0].origin, terms[1].origin);
    case PTX_EVALUATE_CVTA:
        return (PtxOrigin){.space = meaning->space, .variable = terms[0].origin.variable, .generic = true};
    case PTX_EVALUATE_CVTA_TO:
        return (PtxOrigin){.space = meaning->space, .variable = terms[0].origin.variable};
    case PTX_EVALUATE_MAPA:
        return (PtxOrigin){
            .space = PTX_SPACE_CLUSTER, .variable = terms[0].origin.variable, .generic = terms[0].origin.generic};
    case PTX_EVALUATE_LOAD:
        return terms[0].operand ? loaded_origin(values, terms[0].operand) : unknown_origin();
    default:
        return origin_of_others(terms);
    }
}
