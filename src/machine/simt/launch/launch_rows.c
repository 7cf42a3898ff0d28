/* Whether a kernel reads %tid.y and %tid.z for nothing but a thread's number in its CTA,
 *
 *     (%tid.z * %ntid.y + %tid.y) * %ntid.x + %tid.x
 *
 * as cooperative groups and libcu++ do in every kernel that asks for a rank. Such a kernel tells no rows apart: one
 * that indexes by %tid.x, too, is made for CTAs of one row, and would race with itself in others. */
#include "machine/simt/launch/launch_internal.h"

enum { NOTHING, WIDTH, HEIGHT, AREA, ROW, LAYER }; /* %ntid.x, %ntid.y, their product, %tid.y and the like, %tid.z */

typedef struct LaunchRowRows {
    const PtxFlow *flow;
    uint8_t *kinds; /* of each value */
} LaunchRowRows;

static unsigned kind_of(const LaunchRowRows *rows, const PtxOperand *operand) {
    uint32_t value = flow_value(rows->flow, (uint32_t)(operand - rows->flow->module->operands));
    return operand->kind == PTX_REGISTER && value != PTX_NONE ? rows->kinds[value] : NOTHING;
}

static unsigned special_kind(const PtxOperand *operand) {
    static const uint8_t threads[] = {NOTHING, ROW, LAYER}, sizes[] = {WIDTH, HEIGHT, NOTHING};
    if (operand->kind != PTX_SPECIAL || operand->part < PTX_X || operand->part > PTX_Z)
        return NOTHING;
    const char *name = ptx_special_at(operand->a)->name;
    return strcmp(name, "%tid") == 0    ? threads[operand->part - PTX_X]
           : strcmp(name, "%ntid") == 0 ? sizes[operand->part - PTX_X]
                                        : NOTHING;
}

static bool are(unsigned a, unsigned b, unsigned one, unsigned other) {
    return (a == one && b == other) || (a == other && b == one);
}

/* What a product is; *whole: the thread's number is complete up to %tid.x. */
static unsigned product(unsigned a, unsigned b, bool *whole) {
    *whole = are(a, b, ROW, WIDTH) || are(a, b, LAYER, AREA);
    return are(a, b, WIDTH, HEIGHT) ? AREA : are(a, b, LAYER, HEIGHT) ? ROW : NOTHING;
}

/* What the result of an instruction is; false: it does something else with a row's number. */
static bool result_kind(const LaunchRowRows *rows, const PtxForm *form, const PtxOperand *operands, uint32_t count,
                        unsigned *kind) {
    unsigned kinds[4] = {NOTHING};
    bool uses = false, whole = false;
    *kind = NOTHING;
    for (uint32_t i = form->writes & 1; i < count; i++) {
        unsigned of = kind_of(rows, &operands[i]);
        uses |= of == ROW || of == LAYER || special_kind(&operands[i]) >= ROW;
        if (i < 4)
            kinds[i] = of;
    }
    if (form->evaluator == PTX_EVALUATE_MOV && count == 2) {
        *kind = kinds[1] ? kinds[1] : special_kind(&operands[1]);
        return true;
    }
    bool low = ptx_form_has(form->text, STR("lo"));
    if (low && form->evaluator == PTX_EVALUATE_MUL && count == 3) {
        *kind = product(kinds[1], kinds[2], &whole);
    } else if (low && form->evaluator == PTX_EVALUATE_MAD && count == 4) {
        *kind = product(kinds[1], kinds[2], &whole) == ROW && kinds[3] == ROW ? ROW : NOTHING;
        whole &= kinds[3] < ROW;
    } else if (form->evaluator == PTX_EVALUATE_ADD && count == 3) {
        *kind = kinds[1] == ROW && kinds[2] == ROW ? ROW : NOTHING;
    }
    return !uses || whole || *kind == ROW;
}

static bool phis_are_other(const LaunchRowRows *rows) {
    const PtxFlow *flow = rows->flow;
    for (uint32_t i = 0; i < flow->value_count; i++) {
        const FlowValue *value = &flow->values[i];
        uint32_t inputs = value->kind == VALUE_PHI ? flow->blocks[value->block].predecessor_count : 0;
        for (uint32_t k = 0; k < inputs; k++)
            if (flow->inputs[value->inputs + k] != PTX_NONE && rows->kinds[flow->inputs[value->inputs + k]] >= ROW)
                return false;
    }
    return true;
}

bool ptx_launch_one_row(Arena *arena, const PtxFlow *flow) {
    const PtxModule *module = flow->module;
    LaunchRowRows rows = {flow, ARENA_ARRAY(arena, uint8_t, flow->value_count + 1)};
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = &module->statements[flow->instructions[i]];
        uint32_t count;
        const PtxOperand *operands = ptx_operands(module, statement, &count);
        unsigned kind;
        if (!result_kind(&rows, &module->forms[statement->what], operands, count, &kind))
            return false;
        uint32_t to = kind ? flow_value(flow, (uint32_t)(operands - module->operands)) : PTX_NONE;
        if (to != PTX_NONE)
            rows.kinds[to] = (uint8_t)kind;
    }
    return phis_are_other(&rows);
}
