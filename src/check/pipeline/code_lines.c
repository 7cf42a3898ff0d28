/* Which lines of the kernel's own source the text of a report's kernel comes from. */
#include "check/pipeline/internal.h"

#include "ir/location.h"
#include "ir/op.h"

enum { MOST_FILES = 64 };

typedef struct CodeLines {
    Arena *arena;
    TraceCodeLine *items;
    uint32_t count, capacity;
    Str files[MOST_FILES];
    uint32_t file_count;
    bool own; /* what is being added is the kernel's */
} CodeLines;

/* The name as it is kept, which each file has once; NULL: there are too many. */
static const char *kept_name(CodeLines *lines, Str file) {
    for (uint32_t i = 0; i < lines->file_count; i++)
        if (str_equal(lines->files[i], file))
            return lines->files[i].data;
    if (lines->file_count == MOST_FILES)
        return NULL;
    const char *name = arena_copy(lines->arena, file.data, file.size);
    lines->files[lines->file_count++] = str_of(name);
    return name;
}

static void add_line(CodeLines *lines, Str file, uint32_t line, uint32_t ir_line) {
    const TraceCodeLine *last = lines->count ? &lines->items[lines->count - 1] : NULL;
    const char *name = line && file.size ? kept_name(lines, file) : NULL;
    if (name && (!last || last->ir_line != ir_line || last->line != line || last->file != name))
        *ARENA_PUSH(lines->arena, lines->items, lines->count, lines->capacity) =
            (TraceCodeLine){name, line, ir_line, lines->own && name == lines->files[0].data};
}

static void add_op(CodeLines *lines, Module *module, const Op *op) {
    const Attr *location = kernel_location(module, op->location);
    if (location)
        add_line(lines, location_text(location), location->line, op_line(module, op));
}

static void add_ops(CodeLines *lines, Module *module, const Op *kernel) {
    const Op *last = kernel;
    add_op(lines, module, kernel);
    for (const Op *op = kernel; (op = op_next_in_walk(op, kernel)); last = op)
        add_op(lines, module, op);
    lines->own = false;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        if (op == kernel)
            op = last;
        else
            add_op(lines, module, op);
    }
}

/* All behind a .loc is at its place, up to the next one. */
static void add_statements(CodeLines *lines, PtxModule *module, const PtxFunction *function) {
    PtxPlace places[PTX_MOST_PLACES], own = {.line = 0};
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        uint32_t count = statement->kind == PTX_LOC ? ptx_places(module, i, places, PTX_MOST_PLACES) : 0;
        if (count)
            own = places[ptx_own_place(places, count)];
        else if (statement->kind == PTX_INSTRUCTION)
            add_line(lines, own.file, own.line, source_place(module->source, statement->begin).line);
    }
}

static void add_functions(CodeLines *lines, PtxModule *module, const PtxFunction *kernel) {
    add_statements(lines, module, kernel);
    lines->own = false;
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (!module->functions[i].entry)
            add_statements(lines, module, &module->functions[i]);
}

void step_code(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    Trace *trace = &result->traces[look->at];
    CodeLines lines = {.arena = result->verdicts[look->at].arena, .own = true};
    if (result->program) /* the program's check has said it */
        return;
    if (result->ptx)
        add_functions(&lines, result->ptx, &result->ptx->functions[result->entries[look->at]]);
    else
        add_ops(&lines, result->module, result->functions[look->at]);
    trace->code = lines.items;
    trace->code_count = lines.count;
}
