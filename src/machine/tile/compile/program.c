/* Compiles a kernel's slice into instructions. Runs after the reader's checks: ops have the operands that their rows
 * say; regions and terminators are looked at here. What is not understood makes the verdict incomplete, at its place.
 */
#include "machine/tile/compile/program_internal.h"

#include "model/effect/inline_ptx.h"
#include "model/flow/symbol.h"
#include "model/memory/stage.h"
#include "model/memory/views.h"
#include "model/target/target.h"

#include <stdio.h>

/* ---- Units ---------------------------------------------------------------------------------------- */

static void strand_start(Compiler *compiler, const char *name, uint32_t index, uint32_t warps, const Op *op) {
    Program *program = compiler->program;
    *ARENA_PUSH(&compiler->module->arena, program->strands, program->strand_count, program->strand_capacity) =
        (Strand){.name = name, .entry = emit_here(compiler), .index = index, .warps = warps, .op = op};
    compiler->frame = frame_new(compiler);
    compiler->next_register = 0;
    compiler->constant_count = 0;
    compiler->strand = index;
    compiler->loop_depth = 0;
}

static void strand_end(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    emit_code(compiler, CODE_END, op);
    Strand *strand = &program->strands[program->strand_count - 1];
    strand->register_count = compiler->next_register;
    strand->constants = program->list_count;
    strand->constant_count = compiler->constant_count / 2;
    for (uint32_t i = 0; i < compiler->constant_count; i++)
        emit_list_item(compiler, compiler->constants[i]);
    if (strand->register_count > program->most_registers)
        program->most_registers = strand->register_count;
}

static const char *partition_name(Compiler *compiler, const char *prefix, uint32_t index) {
    char name[32];
    int size = snprintf(name, sizeof name, "%s%u", prefix, index);
    return arena_copy(&compiler->module->arena, name, (size_t)size);
}

/* The arguments of a block come in the first registers. */
static void take_arguments(Compiler *compiler, const Block *entry) {
    if (entry->arg_count > compiler->next_register)
        compiler->next_register = entry->arg_count;
    for (uint32_t i = 0; i < entry->arg_count; i++)
        if (is_wanted(compiler, &entry->args[i]))
            pointers_set(compiler->frame, &entry->args[i], i);
}

/* Of groups of warps, the first is not one of them: it goes on where the op stands. */
static void compile_partitions(Compiler *compiler, const Pending *pending) {
    enum { USUAL_WARPS = 4 };
    const Op *holder = pending->op;
    uint32_t first = op_is_control(holder, CONTROL_GROUPS);
    Fork fork = compiler->program->forks[pending->fork];
    compiler->program->forks[pending->fork].first_strand = compiler->program->strand_count;
    for (uint32_t k = first; k < holder->region_count; k++) {
        const Block *entry = holder->regions[k].first;
        unsigned warps = entry && entry->first ? partition_warps(entry->first) : USUAL_WARPS;
        strand_start(compiler, partition_name(compiler, "partition", k), k - first + 1, warps, fork.op);
        compiler->next_register = fork.capture_count;
        for (uint32_t i = 0; i < pending->captured_count; i++)
            pointers_set(compiler->frame, pending->captured[i], i);
        if (entry) {
            take_arguments(compiler, entry);
            compile_region(compiler, &holder->regions[k]);
        }
        strand_end(compiler, holder);
    }
}

/* IR whose ops say which task runs them, with barriers but without regions: each task runs the whole function, and of
 * the ops with effects its own. */
static void compile_tasks(Compiler *compiler) {
    Program *program = compiler->program;
    const Op *function = program->function;
    const Block *entry = function->regions[0].first;
    uint32_t captures = program->list_count;
    for (uint32_t i = 0; i < entry->arg_count; i++)
        emit_list_item(compiler, program->parameters[i].reg);
    Fork *fork = ARENA_PUSH(&compiler->module->arena, program->forks, program->fork_count, program->fork_capacity);
    uint32_t first = program->strand_count, count = 0;
    for (uint32_t task = 1; task < 16; task++) {
        if (!(compiler->tasks >> task & 1))
            continue;
        compiler->task = (int)task;
        strand_start(compiler, partition_name(compiler, "task", task), ++count, program->warps, function);
        take_arguments(compiler, entry);
        compile_region(compiler, &function->regions[0]);
        strand_end(compiler, function);
    }
    *fork = (Fork){.op = function,
                   .first_strand = first,
                   .strand_count = count,
                   .captures = captures,
                   .capture_count = entry->arg_count};
}

/* ---- The slice's roots ---------------------------------------------------------------------------- */

static void add_control(Slice *slice, const Op *op) {
    if (!op->row)
        return;
    const ControlColumn *control = &op->row->control;
    const SlotRef steering[] = {control->from, control->to, control->step, control->condition, control->number};
    for (unsigned i = 0; i < sizeof steering / sizeof *steering; i++)
        slice_add(slice, op_operand_of(op, steering[i]));
}

/* Which barrier, which of its phases, and whether at all: what an op does to it hangs on these as on a branch. */
static void add_choices(Compiler *compiler, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(compiler->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->space == SPACE_GLOBAL)
            continue;
        slice_add(&compiler->slice, effect->predicate);
        slice_add(&compiler->slice, effect->second_predicate);
        if (effect->verb == EFFECT_WAIT)
            slice_add(&compiler->slice, effect->amount);
        if (effect->verb == EFFECT_VIEW)
            slice_add(&compiler->slice, view_step_of_result(compiler->module, op, effect->on->index).index);
    }
}

static void add_effects(Compiler *compiler, const Op *op) {
    effects_add(compiler, op);
    if (op_is(op, CLASS_ASSUMPTION) && op->operand_count)
        slice_add(&compiler->slice, op->operands[0]);
}

/* With values read from shared memory in the slice, the integers that are stored there are in it, too. */
static void add_cells(Compiler *compiler) {
    const Op *root = compiler->program->function;
    for (const Op *op = root; op; op = op_next_in_walk(op, root))
        if (op_is(op, CLASS_LOCAL_STORE) && op->operand_count) {
            const Type *type = type_resolve(compiler->module, op->operands[0]->type);
            if (type && type->element && type->element->kind == TYPE_INTEGER)
                slice_add(&compiler->slice, op->operands[0]);
        }
}

static const Slice *slice_kept(const Compiler *compiler) {
    Slice *kept = ARENA_NEW(&compiler->module->arena, Slice);
    *kept = slice_copy(&compiler->slice);
    return kept;
}

static void make_slice(Compiler *compiler) {
    Program *program = compiler->program;
    slice_init(&compiler->slice, compiler->module);
    const Block *entry = program->function->regions[0].first;
    for (int pass = 0; pass < 3; pass++) {
        for (const Op *op = module_first_op(compiler->module); op; op = op_next_in_walk(op, NULL))
            if (pass == 0)
                add_control(&compiler->slice, op);
            else if (pass == 1)
                add_choices(compiler, op);
            else
                add_effects(compiler, op);
        slice_close(&compiler->slice);
        for (uint32_t i = 0; pass == 1 && i < entry->arg_count; i++)
            program->parameters[i].steers = is_wanted(compiler, &entry->args[i]);
        if (pass == 1)
            program->steering = slice_kept(compiler);
    }
    mmas_find(compiler);
    slice_close(&compiler->slice);
    if (compiler->slice.reads_cells) {
        add_cells(compiler);
        slice_close(&compiler->slice);
    }
    program->slice = slice_kept(compiler);
}

/* ---- Parameters and the rest ---------------------------------------------------------------------- */

/* As the source has it, or else as the IR does. */
static const char *argument_name(Module *module, const Block *entry, uint32_t index, bool of_source) {
    const Attr *location = entry->arg_locations ? entry->arg_locations[index] : NULL;
    location = location && of_source ? attr_resolve(module, location) : NULL;
    Str name = {"", 0};
    if (location && location->kind == ATTR_LOCATION && location->location == LOC_NAME)
        name = location->name;
    else if (entry->args[index].name)
        name = entry->args[index].name->text;
    if (name.size && name.data[0] == '"')
        name = (Str){name.data + 1, name.size > 1 ? name.size - 2 : 0};
    return arena_copy(&module->arena, name.data, name.size);
}

/* What follows the text, if the name begins with it; else NULL. */
static const char *name_after(const char *name, const char *text) {
    size_t size = strlen(text);
    return strncmp(name, text, size) ? NULL : name + size;
}

/* "desc_3" is a part of "desc", as are "desc.shape.0" and "desc.stride.0". Of descriptors the compiler passes shape and
 * strides as arguments of their own: all with the same name in the source, or from Triton 3.8 on with these. */
static bool is_part_of(const char *name, const char *whole) {
    const char *rest = name_after(name, whole);
    if (!rest || !*rest)
        return rest;
    if (*rest != '_' && *rest != '.')
        return false;
    const char *shape = name_after(rest, ".shape."), *stride = name_after(rest, ".stride.");
    rest = shape ? shape : stride ? stride : rest + 1;
    return *rest && strspn(rest, "0123456789") == strlen(rest);
}

/* Whether one of the first has that name: the elements of a tuple all have the tuple's, and so do the parts of a
 * descriptor on a target that has none. */
static bool is_named(const Parameter *parameters, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return true;
    return false;
}

Parameter *program_parameters(Module *module, const Op *kernel, uint32_t *count) {
    const Block *entry = kernel->regions[0].first;
    const Function *function = op_function(kernel);
    Parameter *parameters = ARENA_ARRAY(&module->arena, Parameter, entry->arg_count + 1);
    *count = entry->arg_count;
    int32_t whole = -1;
    uint32_t part = 0;
    for (uint32_t i = 0; i < entry->arg_count; i++) {
        Parameter *parameter = &parameters[i];
        const Type *type = type_resolve(module, entry->args[i].type);
        *parameter = (Parameter){
            .name = argument_name(module, entry, i, true), .type = type, .divisibility = 1, .descriptor = -1};
        const Attr *attrs = function && function->arg_attrs ? function->arg_attrs[i] : NULL;
        const Attr *divisibility = attrs ? dict_get(attrs, STR("tt.divisibility")) : NULL;
        if (divisibility && divisibility->kind == ATTR_INTEGER && divisibility->integer > 0 &&
            divisibility->integer <= MOST_DIVISIBILITY)
            parameter->divisibility = divisibility->integer;
        if (type && type_is_descriptor(type)) {
            whole = (int32_t)i;
            part = 0;
        } else if (whole >= 0 && type && type->kind == TYPE_INTEGER &&
                   is_part_of(parameter->name, parameters[whole].name)) {
            parameter->descriptor = whole;
            parameter->part = part++;
        } else {
            whole = -1;
            if (is_named(parameters, i, parameter->name))
                parameter->name = argument_name(module, entry, i, false);
        }
    }
    return parameters;
}

const Type *parameter_block(Module *module, const Parameter *parameter) {
    const Type *inner = parameter->type->element ? type_resolve(module, parameter->type->element) : NULL;
    return inner && inner->kind == TYPE_TENSOR ? inner : parameter->type; /* from Triton 3.9 on */
}

unsigned program_axes(Module *module, bool counts) {
    unsigned axes = 0;
    int64_t axis;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        Evaluator evaluator = op_evaluator(op);
        InlineRegister named = inline_ptx_register(module, op);
        if (named >= REGISTER_CTA && named < REGISTER_CTA + 3)
            axes |= 1u << (named - REGISTER_CTA);
        else if (counts && named >= REGISTER_CTAS && named < REGISTER_CTAS + 3)
            axes |= 1u << (named - REGISTER_CTAS);
        if ((evaluator == EVALUATE_PROGRAM_ID || (counts && evaluator == EVALUATE_PROGRAM_COUNT)) &&
            op_number(op, "axis", &axis) && axis >= 0 && axis < 3)
            axes |= 1u << axis;
        else if (evaluator == EVALUATE_CANCEL_PROGRAM || evaluator == EVALUATE_CANCEL_QUERY)
            axes |= 1;
    }
    return axes;
}

static bool has_used_result(const Module *module, const Op *which) {
    for (const Op *op = module_first_op(module); which->result_count && op; op = op_next_in_walk(op, NULL))
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (op->operands[i]->owner == which)
                return true;
    return false;
}

bool program_is_uniform(const Program *program) {
    Module *module = program->module;
    Effect effects[EFFECTS_MOST];
    if (program_axes(module, false))
        return false;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        unsigned count = effects_of(module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (effects[i].verb == EFFECT_ANYTHING ||
                (effects[i].space == SPACE_GLOBAL && effects[i].order != ORDER_WEAK && has_used_result(module, op)))
                return false;
        bool ranks = program->ranks_are_programs;
        if (inline_ptx_names_registers(module, op, !ranks) || (ranks && op_evaluator(op) == EVALUATE_CTA_RANK))
            return false;
    }
    return true;
}

static uint32_t ring_of(const Value *value) {
    const Op *op = value_op(value);
    const Attr *buffers = op ? op_attr(op, "numBuffers") : NULL;
    if (buffers && buffers->kind == ATTR_INTEGER && buffers->integer > 0 && buffers->integer < 1 << 16)
        return (uint32_t)buffers->integer;
    return 1;
}

enum { DEEPEST_RING = 64 };

static void measure_rings(Compiler *compiler) {
    Program *program = compiler->program;
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Op *op = program->allocations.items[i].op;
        const Type *type =
            op->result_count && op->results[0].type ? type_resolve(compiler->module, op->results[0].type) : NULL;
        if (!type || !type_is(type, STR("ttg.memdesc"))) {
            int64_t ring = program->allocations.items[i].size / 16; /* a full and an empty barrier for each slot */
            program->barrier_slots += 2 * ring_of(&op->results[0]);
            if (ring > program->deepest_ring && ring <= DEEPEST_RING)
                program->deepest_ring = (uint32_t)ring;
            continue;
        }
        if (!type->element || type->element->kind != TYPE_INTEGER || type->element->width != 64)
            continue;
        int64_t slots = 1;
        for (uint32_t k = 0; k < type->dim_count && slots > 0 && slots < 4096; k++)
            slots *= type->dims[k] < 4096 ? type->dims[k] : 4096;
        program->barrier_slots += (uint32_t)(slots > 0 && slots < 4096 ? slots : 1);
        if (type->dim_count && type->dims[0] > program->deepest_ring && type->dims[0] <= DEEPEST_RING)
            program->deepest_ring = (uint32_t)type->dims[0];
    }
    program->barrier_slots += 16;
}

static uint64_t tasks_of(const Compiler *compiler) {
    const Op *root = compiler->program->function;
    uint64_t tasks = 0;
    bool synchronizes = false;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        if (op_is_control(op, CONTROL_FORK))
            return 0;
        Partitions partitions = partitions_of(op);
        if (!partition_is_task(partitions.form))
            continue;
        tasks |= partitions.mask;
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(compiler->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            synchronizes |= effects[i].verb == EFFECT_WAIT;
    }
    return synchronizes && tasks & (tasks - 1) ? tasks : 0;
}

const char *program_name(Module *module, const Op *function) {
    const Attr *symbol = op_attr(function, "sym_name");
    Str name = symbol ? symbol_name(symbol) : STR("kernel");
    return arena_copy(&module->arena, name.data, name.size);
}

static bool calls_others(const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_is_control(op, CONTROL_CALL))
            return true;
    return false;
}

static const Op *outermost(const Op *op) {
    while (op_parent(op))
        op = op_parent(op);
    return op;
}

/* IR of a stage at which tasks are planned and not separated yet: it is run as one agent, in the order of the text. */
static bool is_planned(const Op *function) {
    bool tasks = false;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (op_is_control(op, CONTROL_FORK) || op_is_control(op, CONTROL_GROUPS))
            return false;
        tasks |= partition_is_task(partitions_of(op).form);
    }
    return tasks;
}

static uint32_t at_most(uint32_t number, uint32_t most) {
    return number < most ? number : most;
}

Program *program_compile(Module *module, const Op *function, unsigned flags, Verdict *verdict) {
    if (!function->region_count || !function->regions[0].first)
        return NULL;
    Program *program = ARENA_NEW(&module->arena, Program);
    Compiler compiler = {.module = module, .program = program, .verdict = verdict, .flags = flags, .task = -1};
    program->module = module;
    program->function = function;
    program->global = flags & COMPILE_GLOBAL;
    program->data = program->global && (flags & COMPILE_DATA);
    program->warps = at_most(module_warps(function), MOST_WARPS);
    program->warp_threads = at_most(module_warp_threads(function, 32), MOST_WARP_THREADS);
    program->ctas = module_ctas(function);
    if (program->ctas == 1) {
        program->ctas = module_cluster(function);
        program->ranks_are_programs = program->ctas > 1;
        module_cluster_dims(function, program->cluster);
    }
    if (program->ctas > 16) {
        compile_cannot(&compiler, function, "a cluster of more than 16 CTAs is not emulated");
        program->ctas = 1;
        program->ranks_are_programs = false;
    }
    program->name = program_name(module, function);
    program->allocations = allocations_of(module, calls_others(function) ? outermost(function) : function);
    program->parameters = program_parameters(module, function, &program->parameter_count);
    make_slice(&compiler);
    measure_rings(&compiler);
    compiler.unassigned = arefs_are_unassigned(module, function);
    compiler.waiting = stage_mmas(module, function) == PAST_NOT;
    compiler.tasks = tasks_of(&compiler);
    program->planned = !compiler.tasks && is_planned(function);
    if (compiler.tasks && compiler.unassigned) {
        compile_cannot(
            &compiler, function,
            "the stages and phases of its arefs are not assigned yet, and its ops are not split into partition "
            "regions: it cannot run before that");
        return NULL;
    }
    if (compiler.tasks)
        compiler.task = 0;

    strand_start(&compiler, compiler.tasks ? "task0" : "default", 0, program->warps, function);
    const Block *entry = function->regions[0].first;
    for (uint32_t i = 0; i < entry->arg_count; i++)
        program->parameters[i].reg = value_register(&compiler, &entry->args[i]);
    if (compiler.tasks) { /* fork 0, filled in by compile_tasks */
        (void)ARENA_PUSH(&module->arena, program->forks, program->fork_count, program->fork_capacity);
        program->fork_count = 0;
    }
    compile_region(&compiler, &function->regions[0]);
    strand_end(&compiler, function);
    if (compiler.tasks)
        compile_tasks(&compiler);
    for (uint32_t i = 0; i < compiler.pending_count; i++)
        compile_partitions(&compiler, &compiler.pending[i]);
    program->agents_per_cta = 1;
    for (uint32_t i = 0; i < program->fork_count; i++)
        if (program->forks[i].strand_count + 1 > program->agents_per_cta)
            program->agents_per_cta = program->forks[i].strand_count + 1;
    if (program->agents_per_cta > MOST_PARTITIONS + 1 || compiler.reported_size)
        return NULL;
    return program;
}

/* Marks what the function calls, and what that does. */
static void mark_called(Module *module, const Op *function, Pointers *called) {
    const Op **work = NULL;
    uint32_t count = 0, capacity = 0;
    *ARENA_PUSH(&module->arena, work, count, capacity) = function;
    while (count) {
        function = work[--count];
        for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
            const Op *callee = op_is_control(op, CONTROL_CALL) ? call_target(module, op) : NULL;
            if (!callee || pointers_get(called, callee) != NO_NUMBER)
                continue;
            pointers_set(called, callee, 0);
            *ARENA_PUSH(&module->arena, work, count, capacity) = callee;
        }
    }
}

static bool has_body(const Op *op) {
    return op_is_control(op, CONTROL_FUNCTION) && op->region_count && op->regions[0].first;
}

static bool is_private(const Op *function) {
    const Attr *generic = op_attr(function, "sym_visibility");
    const Function *written = op_function(function);
    return (written && str_equal(written->visibility, STR("private"))) ||
           (generic && str_equal(generic->text, STR("\"private\"")));
}

/* What nothing calls comes first; of functions that call each other in a circle, and that none of those calls, the
 * first that is not private is launched, too. */
size_t program_kernels(Module *module, const Op **functions, size_t most) {
    Pointers named = {.arena = &module->arena}, called = {.arena = &module->arena};
    size_t count = 0;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
        if (op_is_control(op, CONTROL_CALL) && call_target(module, op))
            pointers_set(&named, call_target(module, op), 0);
    for (int circles = 0; circles < 2 && named.count; circles++)
        for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
            if (has_body(op) && (circles ? pointers_get(&called, op) == NO_NUMBER && !is_private(op)
                                         : pointers_get(&named, op) == NO_NUMBER)) {
                pointers_set(&named, op, 1);
                mark_called(module, op, &called);
            }
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        if (!has_body(op) || (named.count && pointers_get(&named, op) != 1))
            continue;
        if (count < most)
            functions[count] = op;
        count++;
    }
    return count;
}
