/* The public API over the floors below. Handles are the structures themselves, or small boxes around them. */
#include "api/internal.h"

#include "emulate/ptx/program.h"
#include "finding/finding.h"
#include "ir/optable.h"
#include "ir/print.h"
#include "model/effect/effect.h"
#include "model/flow/partition.h"
#include "ptx/edit.h"
#include "ptx/effects.h"
#include "ptx/flow/flow.h"
#include "ptx/log.h"
#include "ptx/pick.h"
#include "ptx/print.h"
#include "ptx/value/value.h"

#include <stdio.h>
#include <stdlib.h>

static weir_string public(Str s) {
    return (weir_string){s.data ? s.data : "", s.size};
}

const char *weir_version(void) {
    return WEIR_VERSION;
}

/* ---- Contexts and files ---------------------------------------------------------------------- */

weir_context *weir_create(void) {
    return calloc(1, sizeof(weir_context));
}

void weir_destroy(weir_context *context) {
    free(context);
}

const char *weir_error(const weir_context *context) {
    return context->error;
}

static void set_error(weir_context *context, const char *sentence) {
    snprintf(context->error, sizeof context->error, "%s", sentence);
}

/* By its text, or, where that is not even a module, by its name. */
static bool looks_like_ptx(const Source *source) {
    return ptx_is(source) || str_ends(str_of(source->name), STR(".ptx"));
}

/* Each PTX image is a module, and so is what cannot be read. False: no memory. */
static bool find_texts(weir_file *file, const Source *source) {
    if (!images_find(source, &file->images))
        return false;
    size_t most = file->images.count;
    Unit *units = calloc(most, sizeof *units);
    uint32_t *texts = calloc(most, sizeof *texts), count = 0;
    for (uint32_t i = 0; units && texts && i < most; i++) {
        const Image *image = &file->images.items[i];
        if (image->kind != IMAGE_PTX && !image->problem)
            continue;
        units[count] = (Unit){.begin = image->begin, .end = image->begin + image->size};
        texts[count++] = i;
    }
    file->units = (Units){.items = units, .count = count};
    file->texts = texts;
    return units && texts;
}

/* Whether any line could begin IR. */
static bool has_ir(const Source *source) {
    const char *at = source->data, *end = at + source->size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (starts_ir(str_between(at, stop ? stop : end)))
            return true;
        at = stop ? stop + 1 : end;
    }
    return false;
}

/* The PTX of a log, each text a module, if there is no IR in it, or if it is asked for. A text that is PTX from its
 * first word on is a log only if a second module follows. False: no memory. */
static bool find_log(weir_file *file, const Source *source, bool wanted) {
    PtxTexts texts = {0};
    bool enough = ptx_log_find(source, &texts);
    if (enough && texts.count > (file->ptx ? 1u : 0u) && (file->ptx || wanted || !has_ir(source))) {
        file->units = (Units){.items = calloc(texts.count, sizeof(Unit)), .count = texts.count};
        file->log = file->ptx = true;
        enough = file->units.items != NULL;
        for (uint32_t i = 0; enough && i < texts.count; i++)
            file->units.items[i] = (Unit){.begin = texts.items[i].begin, .end = texts.items[i].end};
    }
    free(texts.items);
    return enough;
}

/* All of a PTX file is one module: lines that look like those between modules are comments there. False: no memory. */
static bool find_units(weir_file *file, const Source *source, bool ptx_wanted) {
    file->recorded =
        recording_is(source->data, source->size) || str_ends(str_of(source->name), STR(RECORDING_ENDING));
    file->container = !file->recorded && images_in(source);
    file->ptx = file->container || looks_like_ptx(source);
    if (file->container)
        return find_texts(file, source);
    file->ptx |= file->recorded;
    if (!file->recorded && !str_ends(str_of(source->name), STR(".ptx")) && !find_log(file, source, ptx_wanted))
        return false;
    if (file->log)
        return true;
    if (!file->ptx)
        return units_find(source, &file->units);
    file->whole = (Unit){.end = source->size};
    file->units = (Units){.items = &file->whole, .count = 1};
    return true;
}

static void free_units(weir_file *file) {
    if (file->container || file->log) {
        free(file->units.items);
        free(file->texts);
        images_free(&file->images);
    } else {
        units_free(&file->units);
    }
}

static weir_file *open_source(weir_context *context, Source *source, bool ptx_wanted, const char *problem) {
    weir_file *file = source ? calloc(1, sizeof *file) : NULL;
    bool found = file && find_units(file, source, ptx_wanted);
    if (found && (!ptx_wanted || file->ptx)) {
        file->context = context;
        file->source = source;
        return file;
    }
    set_error(context, found ? "there is no PTX in it" : source ? "there is not enough memory" : problem);
    if (file)
        free_units(file);
    free(file);
    source_free(source);
    return NULL;
}

weir_file *weir_open(weir_context *context, const char *path) {
    const char *problem = NULL;
    Source *source = source_read(path, &problem);
    return open_source(context, source, false, problem);
}

weir_file *weir_open_ptx(weir_context *context, const char *path) {
    const char *problem = NULL;
    Source *source = source_read(path, &problem);
    return open_source(context, source, true, problem);
}

weir_file *weir_open_buffer(weir_context *context, const char *name, const char *data, size_t size) {
    return open_source(context, source_copy(name, data, size), false,
                       size > SOURCE_LARGEST ? "it is larger than 4 GiB" : "there is not enough memory");
}

void weir_close(weir_file *file) {
    if (!file)
        return;
    free_units(file);
    source_free(file->source);
    free(file);
}

const char *weir_file_name(const weir_file *file) {
    return file->source->name;
}

size_t weir_file_size(const weir_file *file) {
    return file->source->size;
}

int weir_file_is_pass_log(const weir_file *file) {
    return file->units.dump;
}

int weir_file_is_ptx(const weir_file *file) {
    return file->ptx;
}

int weir_file_has_images(const weir_file *file) {
    return file->container;
}

size_t weir_image_count(const weir_file *file) {
    return file->images.count;
}

weir_image weir_image_at(const weir_file *file, size_t index) {
    static const weir_packing packings[] = {[PACKED_NOT] = WEIR_PACKED_NOT,
                                            [PACKED_LZ4] = WEIR_PACKED_LZ4,
                                            [PACKED_ZSTD] = WEIR_PACKED_ZSTD,
                                            [PACKED_OTHER] = WEIR_PACKED_OTHER};
    if (index >= file->images.count)
        return (weir_image){.kind = WEIR_IMAGE_OTHER, .problem = ""};
    const Image *image = &file->images.items[index];
    weir_image given = {.kind = (weir_image_kind)image->kind, /* ORDER ImageKind */
                        .packing = packings[image->packing],
                        .capability = image->capability,
                        .stored = image->size,
                        .size = image->unpacked,
                        .member = public(image->member),
                        .kept = image->kept,
                        .problem = image->problem ? image->problem : ""};
    size_t first = 0, last = file->units.count;
    while (first < last) { /* `texts` goes up */
        size_t middle = first + (last - first) / 2;
        if (file->texts[middle] < index)
            first = middle + 1;
        else
            last = middle;
    }
    if (first < file->units.count && file->texts[first] == index)
        given.module = first + 1;
    return given;
}

size_t weir_module_count(const weir_file *file) {
    return file->units.count;
}

weir_module_info weir_module_info_of(weir_file *file, size_t index) {
    if (index >= file->units.count)
        return (weir_module_info){0};
    const Unit *unit = &file->units.items[index];
    return (weir_module_info){public(unit->header),
                              public(unit->when),
                              public(unit->pass),
                              public(unit->argument),
                              source_place(file->source, unit->begin).line,
                              unit->end - unit->begin,
                              unit->compilation};
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const Diagnostic *x = a, *y = b;
    if (x->place.line != y->place.line)
        return x->place.line < y->place.line ? -1 : 1;
    return (x->place.column > y->place.column) - (x->place.column < y->place.column);
}

/* False: there is no memory. */
static bool parse_ptx(weir_file *file, weir_module *module, size_t index, bool strict) {
    static const size_t nothing = (size_t)1 << 20;
    module->ptx = calloc(1, sizeof *module->ptx);
    Source *text = text_of_module(file, module, index);
    if (!module->ptx || !text) {
        free(module->ptx);
        source_free(module->text);
        diagnostics_free(&module->diagnostics);
        return false;
    }
    module_init(&module->module, text, nothing);
    if (module->diagnostics.errors)
        *module->ptx = (PtxModule){.source = text, .target = PTX_NONE};
    else
        module->ok = ptx_read(module->ptx, text, strict, &module->diagnostics);
    return true;
}

weir_module *weir_parse(weir_file *file, size_t index, unsigned flags) {
    weir_module *module = index < file->units.count ? calloc(1, sizeof *module) : NULL;
    if (!module) {
        set_error(file->context, index < file->units.count ? "there is not enough memory" : "there is no such module");
        return NULL;
    }
    ReadOptions options = {.strict = flags & WEIR_STRICT, .dump = file->units.dump};
    if (!file->ptx) {
        module->ok = read_unit(&module->module, file->source, &file->units.items[index], options, &module->diagnostics);
    } else if (!parse_ptx(file, module, index, options.strict)) {
        set_error(file->context, "there is not enough memory");
        free(module);
        return NULL;
    }
    if (file->units.count > 1)
        module->number = index + 1;
    module->when = file->units.items[index].when;
    module->pass = file->units.items[index].pass;
    if (module->diagnostics.count)
        qsort(module->diagnostics.items, module->diagnostics.count, sizeof *module->diagnostics.items, by_place);
    return module;
}

void weir_module_free(weir_module *module) {
    if (!module)
        return;
    module_free(&module->module);
    if (module->ptx)
        ptx_free(module->ptx);
    free(module->ptx);
    free(module->kept);
    arena_free(&module->recorded);
    source_free(module->text);
    diagnostics_free(&module->diagnostics);
    free(module);
}

int weir_module_ok(const weir_module *module) {
    return module->ok;
}

size_t weir_module_ops(const weir_module *module) {
    return module->ptx ? module->ptx->instructions : module->module.op_count;
}

size_t weir_module_unknown_ops(const weir_module *module) {
    return module->ptx ? module->ptx->without_row : module->module.unknown_count;
}

size_t weir_module_memory(const weir_module *module) {
    return module->ptx ? ptx_memory(module->ptx) : module_memory(&module->module);
}

size_t weir_diagnostic_count(const weir_module *module) {
    return module->diagnostics.count;
}

weir_diagnostic weir_diagnostic_at(const weir_module *module, size_t index) {
    if (index >= module->diagnostics.count)
        return (weir_diagnostic){WEIR_NOTE, 0, 0, "", ""};
    const Diagnostic *d = &module->diagnostics.items[index];
    return (weir_diagnostic){(weir_severity)d->severity, d->place.line, d->place.column, d->message ? d->message : "",
                             d->excerpt ? d->excerpt : ""};
}

size_t weir_error_count(const weir_module *module) {
    return module->diagnostics.errors;
}

size_t weir_note_count(const weir_module *module) {
    return module->diagnostics.notes;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

bool sink_pass(void *to, const char *data, size_t size) {
    const Sink *sink = to;
    return sink->write(sink->to, data, size) == 0;
}

int sink_finish(Text *out) {
    bool good = text_flush(out);
    text_free(out);
    return good ? 0 : -1;
}

void report_diagnostics(const Diagnostics *diagnostics, const char *file, bool color, Text *to) {
    size_t errors = 0;
    for (size_t i = 0; i < diagnostics->count; i++) {
        errors += diagnostics->items[i].severity == SEVERITY_ERROR;
        diagnostic_render(&diagnostics->items[i], file, color, to);
    }
    size_t notes = diagnostics->count - errors;
    if (diagnostics->errors > errors)
        text_addf(to, "%zu more errors are not shown\n", diagnostics->errors - errors);
    if (diagnostics->notes > notes)
        text_addf(to, "%zu more notes are not shown\n", diagnostics->notes - notes);
}

int weir_report(const weir_file *file, const weir_module *module, int color, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    report_diagnostics(&module->diagnostics, file->source->name, color, &out);
    return sink_finish(&out);
}

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

/* ---- PTX --------------------------------------------------------------------------------------- */

weir_ptx weir_ptx_of(const weir_module *module) {
    const PtxModule *ptx = module->ptx;
    if (!ptx)
        return (weir_ptx){0};
    return (weir_ptx){.version = ptx->version,
                      .target = public(ptx_name(ptx, ptx->target)),
                      .functions = ptx->functions_count,
                      .forms = ptx->forms_count,
                      .instructions = ptx->instructions,
                      .without_row = ptx->without_row};
}

int weir_ptx_flow_of(const weir_module *module, weir_ptx_flow *sum) {
    const PtxModule *ptx = module->ptx;
    *sum = (weir_ptx_flow){0};
    for (uint32_t i = 0; ptx && i < ptx->functions_count; i++) {
        PtxFlow flow;
        const char *problem;
        if (!ptx->functions[i].body)
            continue;
        if (!ptx_flow(&flow, ptx, i, ptx_flow_budget(ptx), &problem))
            return -1;
        sum->blocks += flow.block_count;
        sum->values += flow.value_count;
        sum->loops += flow.loop_count;
        for (uint32_t k = 0; k < flow.block_count; k++)
            sum->phis += flow.blocks[k].phi_count;
        for (uint32_t k = 0; k < flow.loop_count; k++)
            sum->irreducible += flow.loops[k].irreducible;
        if (flow.arena.held > sum->memory)
            sum->memory = flow.arena.held;
        ptx_flow_free(&flow);
    }
    return ptx ? 0 : -1;
}

static void add_accesses(const PtxShares *shares, PtxSpace space, weir_ptx_accesses *accesses) {
    size_t *const counts[PTX_ACCESS_KINDS] = {&accesses->constant, &accesses->uniform, &accesses->affine,
                                              &accesses->bits,     &accesses->table,   &accesses->any};
    accesses->space = ptx_space_name(space);
    for (unsigned kind = 0; kind < PTX_ACCESS_KINDS; kind++) {
        *counts[kind] = shares->count[space][kind][0] + shares->count[space][kind][1];
        accesses->assumed += shares->count[space][kind][1];
    }
}

_Static_assert((int)WEIR_PTX_SPACES == (int)PTX_SPACES, "a row for each space");
int weir_ptx_values_of(const weir_module *module, weir_ptx_values *sum) {
    const PtxModule *ptx = module->ptx;
    PtxShares shares = {0};
    bool good = ptx != NULL;
    *sum = (weir_ptx_values){0};
    for (uint32_t i = 0; good && i < ptx->functions_count; i++) {
        PtxFlow flow;
        PtxValues values;
        const char *problem;
        if (!ptx->functions[i].body)
            continue;
        if (!ptx_flow(&flow, ptx, i, ptx_flow_budget(ptx), &problem))
            return -1;
        good = ptx_values(&values, &flow, NULL, ptx_values_budget(ptx), &problem);
        if (good) {
            ptx_count_shares(&values, &shares);
            for (uint32_t k = 0; k < flow.block_count; k++)
                sum->parting += values.parts[k];
            sum->blocks += flow.block_count;
            sum->memory = values.arena.held > sum->memory ? values.arena.held : sum->memory;
        }
        ptx_values_free(&values);
        ptx_flow_free(&flow);
    }
    for (unsigned space = 0; space < PTX_SPACES; space++)
        add_accesses(&shares, (PtxSpace)space, &sum->spaces[space]);
    return good ? 0 : -1;
}

weir_ptx_function weir_ptx_function_at(weir_module *module, size_t index) {
    const PtxModule *ptx = module->ptx;
    if (!ptx || index >= ptx->functions_count)
        return (weir_ptx_function){.name = {"", 0}};
    const PtxFunction *function = &ptx->functions[index];
    return (weir_ptx_function){.name = public(ptx_name(ptx, function->name)),
                               .entry = function->entry,
                               .body = function->body,
                               .line = source_place(ptx->source, ptx->statements[function->begin].begin).line,
                               .instructions = function->instructions};
}

int weir_ptx_pick(weir_module *module, const char *kernel) {
    bool missing = true;
    bool *kept = module->ptx && module->ok ? ptx_pick(module->ptx, str_of(kernel), &missing) : NULL;
    if (!kept)
        return missing ? 0 : -1;
    free(module->kept);
    module->kept = kept;
    return 1;
}

weir_ptx_form weir_ptx_form_at(const weir_module *module, size_t index) {
    const PtxModule *ptx = module->ptx;
    if (!ptx || index >= ptx->forms_count)
        return (weir_ptx_form){.text = {"", 0}};
    const PtxForm *form = &ptx->forms[index];
    return (weir_ptx_form){public(form->text), form->used, form->row != NULL};
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

/* ---- The op table ---------------------------------------------------------------------------- */

size_t weir_table_size(void) {
    return op_row_count();
}

weir_table_row weir_table_at(size_t index) {
    static const char *const none[] = {NULL};
    if (index >= op_row_count())
        return (weir_table_row){"", "", "", "", none, "", "", "", ""};
    const OpRow *row = op_row_by_id((unsigned)index);
    return (weir_table_row){row->name.data,
                            row->operand_column,
                            row->attr_column,
                            row->result_column,
                            row->format_column,
                            row->evaluate,
                            row->effects,
                            row->ptx,
                            row->amd};
}

/* ---- The rules ------------------------------------------------------------------------------- */

size_t weir_rule_count(void) {
    return RULE_COUNT;
}

weir_string weir_rules_unknown(const char *rules) {
    Str name = rule_list_unknown(rules);
    return (weir_string){name.data, name.size};
}

const char *weir_rule_name(const char *name) {
    Str now = rule_name(str_of(name));
    return now.data;
}

weir_rule weir_rule_at(size_t index) {
    if (index >= RULE_COUNT)
        return (weir_rule){"", WEIR_NOTE, "", ""};
    const Rule *rule = rule_of((RuleId)index);
    return (weir_rule){rule->id, (weir_severity)rule->severity, rule->summary, rule->text};
}
