/* The public API over the floors below. Handles are the structures themselves, or small boxes around them. */
#include "api/internal.h"

#include "check/launches/launches.h"

#include "base/order.h"
#include "ptx/log.h"
#include "trace/order_log.h"

#include <stdio.h>
#include <stdlib.h>

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
    file->recorded = recording_is(source->data, source->size) || str_ends(str_of(source->name), STR(RECORDING_ENDING));
    file->program = order_log_is(source->data, source->size) ||
                    str_ends(str_of(source->name), STR(ORDER_LOG_ENDING)) || launches_in(source);
    file->container = !file->recorded && !file->program && images_in(source);
    file->ptx = file->container || looks_like_ptx(source);
    if (file->container)
        return find_texts(file, source);
    file->ptx |= file->recorded || file->program;
    if (!file->recorded && !file->program && !str_ends(str_of(source->name), STR(".ptx")) &&
        !find_log(file, source, ptx_wanted))
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

ORDER(by_place, Diagnostic, BY(place.line) BY(place.column))

/* False: there is no memory. */
static bool parse_ptx(weir_file *file, weir_module *module, size_t index, unsigned flags) {
    static const size_t nothing = (size_t)1 << 20;
    module->ptx = calloc(1, sizeof *module->ptx);
    Source *text = text_of_module(file, module, index, flags);
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
        module->ok = ptx_read(module->ptx, text, flags & WEIR_STRICT, &module->diagnostics);
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
    } else if (!parse_ptx(file, module, index, flags)) {
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
