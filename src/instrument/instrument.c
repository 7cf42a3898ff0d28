/* A module with records in it, as text. */
#include "instrument/instrument.h"

#include "instrument/internal.h"

#include <inttypes.h>

enum { INSTRUMENT_ABI = 1 };
enum { OPTION_SHADOW = 1, OPTION_FREE_REGISTERS = 2, OPTION_SEED_LAYOUT = 4 };

uint32_t instrument_options_number(const InstrumentOptions *options) {
    return (options->mode == INSTRUMENT_SHADOW ? OPTION_SHADOW : 0) |
           (options->keep_registers ? 0 : OPTION_FREE_REGISTERS) | (options->seed_layout ? OPTION_SEED_LAYOUT : 0);
}

InstrumentOptions instrument_options_of(uint32_t spaces, uint32_t number) {
    return (InstrumentOptions){.mode = number & OPTION_SHADOW ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                               .spaces = spaces,
                               .keep_registers = !(number & OPTION_FREE_REGISTERS),
                               .seed_layout = (number & OPTION_SEED_LAYOUT) != 0};
}

/* FNV-1a. */
uint64_t instrument_hash(Str ptx) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < ptx.size; i++)
        hash = (hash ^ (unsigned char)ptx.data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* ---- What cannot be done ----------------------------------------------------------------------------------- */

static const char *sentence(PtxModule *module, const char *before, Str name, const char *behind) {
    Text text = {0};
    text_str(&text, str_of(before));
    text_add_plain(&text, name);
    text_str(&text, str_of(behind));
    return text_keep(&text, &module->arena);
}

static bool target_does(const PtxModule *module, const char **problem) {
    if (module->capability < 70)
        *problem = "records need a target of sm_70 or later";
    else if (module->version < 62)
        *problem = "records need PTX of version 6.2 or later";
    else if (module->address_size == 32)
        *problem = "records need addresses of 64 bits";
    else
        return true;
    return false;
}

static bool function_does(PtxModule *module, const Sites *sites, const char **problem) {
    for (uint32_t i = 0; i < sites->count; i++) {
        const PtxFunction *function = &module->functions[sites->items[i].function];
        if (function->entry)
            continue;
        *problem = sentence(module, "function '", ptx_name(module, function->name),
                            "' is called and not inlined, and touches memory that others see");
        return false;
    }
    return true;
}

/* ---- The text ---------------------------------------------------------------------------------------------- */

static bool name_taken(const PtxModule *module, Str name) {
    for (uint32_t i = 0; i < module->names_count; i++)
        if (str_starts(module->names[i].text, name))
            return true;
    return false;
}

/* What labels of ours start with: nothing of the module does. */
static Str fresh_labels(PtxEdits *edits) {
    for (unsigned i = 0;; i++) {
        Text text = {0};
        text_addf(&text, i ? "$weir%u_" : "$weir_", i);
        Str name = {arena_copy(&edits->arena, text.data, text.size), text.size};
        text_free(&text);
        if (!name_taken(edits->module, name))
            return name;
    }
}

static void add_mark(PtxEdits *edits, const Sites *sites, const InstrumentOptions *options) {
    const Source *source = edits->module->source;
    uint64_t hash = instrument_hash((Str){source->data, source->size});
    Text text = {0};
    text_addf(&text, ".visible .global .align 8 .b32 " INSTRUMENT_MARK "[6] = {%u, %u, %u, %u, 0x%x, 0x%x};",
              (unsigned)INSTRUMENT_ABI, sites->chunk, options->spaces, instrument_options_number(options),
              (unsigned)hash, (unsigned)(hash >> 32));
    ptx_edit_top(edits, (Str){text.data, text.size});
    text_free(&text);
}

/* The sites of a function, which are one after the other. */
static bool add_function(PtxEdits *edits, PtxModule *module, const Sites *sites, uint32_t first, uint32_t count,
                         uint32_t *labels, Str prefix, const char **problem) {
    Look look;
    Plan plan;
    Arena scratch;
    if (!look_open(&look, module, sites->items[first].function, problem))
        return false;
    arena_init(&scratch, SIZE_MAX);
    plan_function(&plan, &look, sites->items + first, count, &scratch);
    instrument_function(edits, &plan, sites->chunk, labels, prefix);
    arena_free(&scratch);
    look_close(&look);
    return true;
}

static bool add_records(PtxEdits *edits, PtxModule *module, const Sites *sites, const InstrumentOptions *options,
                        const char **problem) {
    uint32_t labels = 0, end;
    Str prefix = fresh_labels(edits);
    add_mark(edits, sites, options);
    for (uint32_t first = 0; first < sites->count; first = end) {
        for (end = first; end < sites->count && sites->items[end].function == sites->items[first].function; end++)
            ;
        if (!add_function(edits, module, sites, first, end - first, &labels, prefix, problem))
            return false;
    }
    return true;
}

bool instrument(PtxModule *module, const InstrumentOptions *options, Text *to, const char **problem) {
    Sites sites;
    PtxEdits edits;
    if (!target_does(module, problem) || !instrument_sites(&sites, module, options, problem))
        return false;
    ptx_edits_init(&edits, module);
    bool good = function_does(module, &sites, problem) && add_records(&edits, module, &sites, options, problem);
    if (good)
        ptx_edit_print(&edits, to);
    ptx_edits_free(&edits);
    instrument_sites_free(&sites);
    return good;
}
