/* The public API: ops and values of a module, what they do, and modules as text. */
#include "api/internal.h"

#include "ir/optable.h"
#include "ir/print.h"
#include "machine/simt/decode/program.h"
#include "model/effect/effect.h"
#include "model/flow/partition.h"
#include "ptx/edit.h"
#include "ptx/effects.h"
#include "ptx/flow/flow.h"
#include "ptx/pick.h"
#include "ptx/print.h"
#include "ptx/value/value.h"

/* ---- Looking at ops -------------------------------------------------------------------------- */

static const Op *op_of(const weir_op *op) {
    return (const Op *)op;
}

const weir_op *weir_first_op(const weir_module *module) {
    return (const weir_op *)module_first_op(&module->module);
}

const weir_op *weir_next_op(const weir_op *op) {
    return (const weir_op *)op_next_in_walk(op_of(op), NULL);
}

const weir_op *weir_op_parent(const weir_op *op) {
    return (const weir_op *)op_parent(op_of(op));
}

weir_string weir_op_name(const weir_op *op) {
    const Op *o = op_of(op);
    return public(o->shorthand && o->row ? o->row->name : o->name);
}

uint32_t weir_op_line(weir_module *module, const weir_op *op) {
    return source_place(module->module.source, op_of(op)->offset).line;
}

int weir_op_known(const weir_op *op) {
    return op_of(op)->row != NULL;
}

int weir_op_implicit(const weir_op *op) {
    return op_of(op)->implicit;
}

size_t weir_op_operand_count(const weir_op *op) {
    return op_of(op)->operand_count;
}

const weir_value *weir_op_operand(const weir_op *op, size_t index) {
    return index < op_of(op)->operand_count ? (const weir_value *)op_of(op)->operands[index] : NULL;
}

size_t weir_op_result_count(const weir_op *op) {
    return op_of(op)->result_count;
}

const weir_value *weir_op_result(const weir_op *op, size_t index) {
    return index < op_of(op)->result_count ? (const weir_value *)&op_of(op)->results[index] : NULL;
}

size_t weir_op_region_count(const weir_op *op) {
    return op_of(op)->region_count;
}

weir_string weir_op_attribute(const weir_op *op, const char *name) {
    const Attr *attr = op_attr(op_of(op), name);
    return attr ? public(attr->text) : (weir_string){NULL, 0};
}

weir_string weir_value_name(const weir_value *value) {
    const Name *name = ((const Value *)value)->name;
    return name ? public(name->text) : (weir_string){"", 0};
}

weir_string weir_value_type(const weir_value *value) {
    const Type *type = ((const Value *)value)->type;
    return type ? public(type->text) : (weir_string){"", 0};
}

const weir_op *weir_value_definition(const weir_value *value) {
    const Value *v = (const Value *)value;
    return v->is_result ? v->owner : NULL;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_ptx(const weir_module *module, weir_form form, Text *out) {
    if (form == WEIR_GENERIC) {
        ptx_print_kept(module->ptx, module->kept, out);
    } else if (form == WEIR_EFFECTS) {
        ptx_print_effects(module->ptx, module->kept, out);
    } else if (module->kept) {
        ptx_print_text(module->ptx, module->kept, out);
    } else {
        PtxEdits none;
        ptx_edits_init(&none, module->ptx);
        ptx_edit_print(&none, out);
        ptx_edits_free(&none);
    }
}

/* A kernel, with what it may call, as the machine runs it. */
static bool print_program(const PtxModule *module, uint32_t function, Text *out, const char **problem) {
    size_t budget = ptx_flow_budget(module);
    Arena arena;
    arena_init(&arena, budget);
    const PtxProgram *program = ptx_program(&arena, module, function, budget, problem);
    if (program)
        ptx_program_print(program, out);
    arena_free(&arena);
    return program != NULL;
}

/* The flow of a function, or with its values; false, with what is wrong, if it takes too much memory. */
static bool print_function(const PtxModule *module, uint32_t function, weir_form form, Text *out,
                           const char **problem) {
    PtxFlow flow;
    PtxValues values;
    if (form == WEIR_PROGRAM)
        return !module->functions[function].entry || print_program(module, function, out, problem);
    bool good = ptx_flow(&flow, module, function, ptx_flow_budget(module), problem);
    if (good && form == WEIR_FLOW) {
        ptx_flow_print(&flow, out);
    } else if (good) {
        good = ptx_values(&values, &flow, NULL, ptx_values_budget(module), problem);
        if (good)
            ptx_values_print(&values, out);
        ptx_values_free(&values);
    }
    ptx_flow_free(&flow);
    return good;
}

/* Of each function that has a body; false if one of them takes too much memory, which stands in its place. */
static bool print_functions(const weir_module *of, weir_form form, Text *out) {
    const PtxModule *module = of->ptx;
    bool enough = true;
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const char *problem;
        bool left_out = of->kept && !of->kept[module->functions[i].begin];
        if (!module->functions[i].body || left_out || print_function(module, i, form, out, &problem))
            continue;
        text_plainf(out, "// %.*s: %s\n", STR_ARG(ptx_name(module, module->functions[i].name)), problem);
        enough = false;
    }
    return enough;
}

int weir_print(weir_module *module, weir_form form, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    bool enough = true;
    bool functions = form == WEIR_FLOW || form == WEIR_VALUES || form == WEIR_PROGRAM;
    if (module->ptx ? form > WEIR_EFFECTS && !functions : form == WEIR_VALUES)
        return -1;
    if (module->ptx && functions)
        enough = print_functions(module, form, &out);
    else if (module->ptx)
        print_ptx(module, form, &out);
    else if (form >= WEIR_EFFECTS)
        enough = stage_print(&module->module, (Stage)(form - WEIR_EFFECTS), &out); /* ORDER Stage */
    else
        print_module(&module->module, form == WEIR_GENERIC ? PRINT_GENERIC : PRINT_AS_WRITTEN, &out);
    return sink_finish(&out) == 0 && enough ? 0 : -1;
}

/* ---- What ops do ----------------------------------------------------------------------------- */

int weir_effects(weir_module *module, const weir_op *op, weir_write *write, void *to) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(&module->module, op_of(op), effects);
    if (!write)
        return (int)count;
    Text out = SINK_TEXT(write, to);
    for (unsigned i = 0; i < count; i++) {
        effect_print(&effects[i], &out);
        text_char(&out, '\n');
    }
    return sink_finish(&out) == 0 ? (int)count : -1;
}

int weir_partition(const weir_op *op, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    partition_print(partitions_of(op_of(op)), &out);
    return sink_finish(&out);
}
