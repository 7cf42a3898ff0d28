/* The ops of a kernel and what each becomes, by name; its waits; and what of the target it needs. */
#include "check/port/internal.h"

#include "base/pointers.h"
#include "check/explain/place.h"
#include "ir/op.h"
#include "model/effect/effect.h"

enum { MOST_UNKNOWN = 32 /* names of ops that are not in the table; others count with the last */ };

/* ---- Ops ------------------------------------------------------------------------------------------ */

typedef struct PortGroup {
    PortOp reported;
    uint32_t *lines, line_count, line_capacity;
} PortGroup;

typedef struct PortGroups {
    Port *port;
    PortGroup items[OP_MOST + MOST_UNKNOWN];
    uint32_t count;
    uint32_t of_row[OP_MOST]; /* number of its group from 1; 0: none yet */
    uint32_t unknown[MOST_UNKNOWN], unknown_count;
} PortGroups;

static uint32_t add_group(PortGroups *groups, const Op *op) {
    Arena *arena = groups->port->words.arena;
    AmdForm form = amd_form_of(op, groups->port->target);
    Str name = op->row ? op->row->name : op->name;
    bool known = form.class != AMD_NOTHING;
    groups->items[groups->count].reported = (PortOp){
        .op = arena_copy(arena, name.data, name.size),
        .class = known ? amd_class_name(form.class) : "not known",
        .form = arena_copy(arena, form.form.data ? form.form.data : "", form.form.size),
        .remark = known ? arena_copy(arena, form.remark.data ? form.remark.data : "", form.remark.size)
                        : "the op table does not say what it does",
    };
    return groups->count++;
}

static uint32_t unknown_group(PortGroups *groups, const Op *op) {
    for (uint32_t i = 0; i < groups->unknown_count; i++)
        if (str_is(op->name, groups->items[groups->unknown[i]].reported.op))
            return groups->unknown[i];
    if (groups->unknown_count == MOST_UNKNOWN)
        return groups->unknown[MOST_UNKNOWN - 1];
    return groups->unknown[groups->unknown_count++] = add_group(groups, op);
}

/* NO_NUMBER: the op needs no form of its own. */
static uint32_t group_of(PortGroups *groups, const Op *op) {
    if (!op->row)
        return unknown_group(groups, op);
    bool plain = !*op->row->amd && !op_has_effect(groups->port->module, op, EFFECT_ANYTHING, GROUP_NONE);
    if (plain || op->implicit)
        return NO_NUMBER;
    uint32_t *number = &groups->of_row[op->row->id];
    if (!*number)
        *number = add_group(groups, op) + 1;
    return *number - 1;
}

static void count_op(PortReport *report, const PortGroup *group) {
    const char *class = group->reported.class;
    report->exact += strcmp(class, amd_class_name(AMD_EXACT)) == 0;
    report->staged += strcmp(class, amd_class_name(AMD_STAGE)) == 0;
    report->none += strcmp(class, amd_class_name(AMD_NONE)) == 0;
    report->unknown += strcmp(class, "not known") == 0;
}

static void report_ops(Port *port, PortReport *report) {
    PortGroups *groups = ARENA_NEW(port->words.arena, PortGroups);
    groups->port = port;
    const Op *function = port->function;
    for (const Op *op = op_next_in_walk(function, function); op; op = op_next_in_walk(op, function)) {
        uint32_t number = group_of(groups, op);
        if (number == NO_NUMBER) {
            report->plain++;
            continue;
        }
        PortGroup *group = &groups->items[number];
        *ARENA_PUSH(port->words.arena, group->lines, group->line_count, group->line_capacity) =
            op_line(port->module, op);
        count_op(report, group);
    }
    PortOp *ops = ARENA_ARRAY(port->words.arena, PortOp, groups->count + 1);
    for (uint32_t i = 0; i < groups->count; i++) {
        ops[i] = groups->items[i].reported;
        ops[i].lines = groups->items[i].lines;
        ops[i].line_count = groups->items[i].line_count;
    }
    report->ops = ops;
    report->op_count = groups->count;
}

/* ---- Waits ---------------------------------------------------------------------------------------- */

static void place_wait(Port *port, const Op *op, PortWait *wait) {
    FindingPlace place = {0};
    op_place_set(port->module, op, &place, &port->words);
    wait->op = place.op;
    wait->file = place.file;
    wait->line = place.line;
    wait->ir_line = place.ir_line;
}

static void report_mmas(Port *port, PortReport *report) {
    uint32_t count = 0, capacity = 0;
    PortMma *mmas = NULL, mma;
    for (const Op *op = port->function; op && !port->native; op = op_next_in_walk(op, port->function)) {
        FindingPlace place = {0};
        if (!port_mma(port, op, &mma))
            continue;
        op_place_set(port->module, op, &place, &port->words);
        mma.op = place.op;
        mma.file = place.file;
        mma.line = place.line;
        mma.ir_line = place.ir_line;
        *ARENA_PUSH(port->words.arena, mmas, count, capacity) = mma;
    }
    report->mmas = mmas;
    report->mma_count = count;
}

static void report_waits(Port *port, PortReport *report) {
    uint32_t count = 0, capacity = 0;
    PortWait *waits = NULL, wait;
    for (const Op *op = port->function; op; op = op_next_in_walk(op, port->function)) {
        if (!port_wait(port, op, &wait))
            continue;
        place_wait(port, op, &wait);
        *ARENA_PUSH(port->words.arena, waits, count, capacity) = wait;
        if (wait.cover == PORT_TOO_LITTLE)
            report->verdict = VERDICT_FINDINGS;
    }
    report->waits = waits;
    report->wait_count = count;
}

/* ---- The whole ------------------------------------------------------------------------------------ */

PortReport port_report(Arena *arena, Module *module, const Op *function, const Target *target) {
    const Target *own = target_of(function);
    const Attr *shared = op_attr_around(function, "ttg.shared");
    Str name = op_symbol(function);
    Port port = {.words = {.arena = arena},
                 .module = module,
                 .function = function,
                 .target = target,
                 .native = own && own->vendor == VENDOR_AMD,
                 .counters = counters_of(module, function, target, &module->arena)};
    PortReport report = {.file = module->source->name,
                         .function = arena_copy(arena, name.data ? name.data : "", name.size),
                         .target = target->name,
                         .problem = counters_problem(port.counters),
                         .wave_threads = target->warp_threads,
                         .warp_threads = module_warp_threads(function, 0),
                         .shared_bytes = shared && shared->kind == ATTR_INTEGER ? shared->integer : -1,
                         .shared_limit = target->shared_bytes};
    report_ops(&port, &report);
    report_mmas(&port, &report);
    if (report.problem) {
        report.verdict = VERDICT_INCOMPLETE;
    } else {
        report.problem = "";
        report_waits(&port, &report);
    }
    return report;
}
