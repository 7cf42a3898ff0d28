/* A module with records in it, as text. */
#include "instrument/instrument.h"

#include "base/hash.h"
#include "instrument/emit/shadow.h"
#include "instrument/internal.h"

#include <inttypes.h>

enum { OPTION_SHADOW = 1, OPTION_FREE_REGISTERS = 2, OPTION_SEED_LAYOUT = 4, OPTION_ONCE = 8 };

uint32_t instrument_options_number(const InstrumentOptions *options) {
    return (options->mode == INSTRUMENT_SHADOW ? OPTION_SHADOW : 0) |
           (options->keep_registers ? 0 : OPTION_FREE_REGISTERS) | (options->seed_layout ? OPTION_SEED_LAYOUT : 0) |
           (options->once ? OPTION_ONCE : 0);
}

InstrumentOptions instrument_options_of(uint32_t spaces, uint32_t number) {
    return (InstrumentOptions){.mode = number & OPTION_SHADOW ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                               .spaces = spaces,
                               .keep_registers = !(number & OPTION_FREE_REGISTERS),
                               .seed_layout = (number & OPTION_SEED_LAYOUT) != 0,
                               .once = (number & OPTION_ONCE) != 0};
}

uint64_t instrument_hash(Str bytes) {
    return hash_bytes(HASH_START, bytes.data, bytes.size);
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

static bool calls_do(PtxModule *module, const Calls *calls, const char **problem) {
    uint32_t kernel = calls_taken_kernel(calls);
    if (kernel == PTX_NONE)
        return true;
    *problem = sentence(module, "kernel '", ptx_name(module, module->functions[kernel].name),
                        "' is launched by the device, which cannot hand over where its records go");
    return false;
}

/* A kernel gets one more parameter. */
static bool parameters_do(PtxModule *module, const InstrumentOptions *options, const char **problem) {
    bool shadow = options->mode == INSTRUMENT_SHADOW;
    uint64_t bytes = shadow ? 128 : 8, align = shadow ? 16 : 8;
    uint64_t most = ptx_most_parameters(shadow && module->version < SHADOW_VERSION ? SHADOW_VERSION : module->version);
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxFunction *function = &module->functions[i];
        if (!function->entry || (function->parameter_bytes + align - 1) / align * align + bytes <= most)
            continue;
        Text text = {0};
        text_addf(&text, "' has %llu bytes of parameters, of at most %llu: there is no room for %llu more",
                  (unsigned long long)function->parameter_bytes, (unsigned long long)most, (unsigned long long)bytes);
        text_char(&text, 0);
        *problem = sentence(module, "kernel '", ptx_name(module, function->name), text.data);
        text_free(&text);
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

void instrument_mark(const PtxModule *module, uint32_t chunk, uint64_t fingerprint, const InstrumentOptions *options,
                     Text *to) {
    uint64_t hash = instrument_hash((Str){module->source->data, module->source->size});
    text_addf(to, ".visible .global .align 8 .b32 " INSTRUMENT_MARK "[%u] = {%u, %u, %u, %u, 0x%x, 0x%x, 0x%x, 0x%x};",
              (unsigned)INSTRUMENT_MARK_WORDS, (unsigned)INSTRUMENT_ABI, chunk, options->spaces,
              instrument_options_number(options), (unsigned)hash, (unsigned)(hash >> 32), (unsigned)fingerprint,
              (unsigned)(fingerprint >> 32));
}

static void add_mark(PtxEdits *edits, Sites *sites, const InstrumentOptions *options) {
    Text text = {0};
    instrument_mark(edits->module, sites->chunk, instrument_fingerprint(sites), options, &text);
    ptx_edit_top(edits, (Str){text.data, text.size});
    text_free(&text);
}

typedef struct Adding {
    PtxEdits *edits;
    PtxModule *module;
    FunctionAnalyses *analyses;
    Sites *sites;
    const Calls *calls;
    uint32_t labels;
    Str prefix;              /* of labels */
    bool bodies[BODY_COUNT]; /* that are called */
    bool once;               /* InstrumentOptions */
} Adding;

/* The sites of a function, which are one after the other. */
static bool add_function(Adding *adding, uint32_t function, uint32_t first, uint32_t count, const char **problem) {
    InstrumentPlan plan;
    Arena scratch;
    FunctionAnalysis *analysis = analysis_take(adding->analyses, function, adding->calls, problem);
    if (!analysis)
        return false;
    arena_init(&scratch, SIZE_MAX);
    plan_function(&plan, analysis, adding->sites, first, count, &scratch);
    plan.once = adding->once;
    instrument_function(adding->edits, &plan, adding->sites->chunk, &adding->labels, adding->prefix, adding->bodies);
    arena_free(&scratch);
    analysis_give(adding->analyses, analysis);
    return true;
}

/* Whether an instruction says how many registers a thread has, or a directive how many there are. */
static bool limits_registers(const PtxModule *module, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (statement->kind == PTX_DIRECTIVE)
        return str_is(ptx_name(module, statement->what), ".maxnreg");
    unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(module, statement, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.verb == EFFECT_REGISTERS)
            return true;
    return false;
}

static void free_registers(PtxEdits *edits) {
    for (uint32_t i = 0; i < edits->module->statements_count; i++)
        if (limits_registers(edits->module, &edits->module->statements[i]))
            ptx_edit_replace(edits, i, (Str){"", 0});
}

/* Every kernel, and every function that is handed something, whether it has sites or not. */
static bool add_records(Adding *adding, const char **problem) {
    PtxModule *module = adding->module;
    uint32_t at = 0;
    calls_edit_declarations(adding->edits, adding->calls);
    for (uint32_t i = 0; i < module->functions_count; i++) {
        uint32_t first = at;
        while (at < adding->sites->found && adding->sites->items[at].function == i)
            at++;
        bool wanted = module->functions[i].body && (module->functions[i].entry || adding->calls->hands[i]);
        if (wanted && !add_function(adding, i, first, at - first, problem))
            return false;
    }
    write_bodies(adding->edits, adding->bodies, adding->sites->chunk, &adding->labels, adding->prefix);
    return true;
}

static bool add_all(FunctionAnalyses *analyses, const InstrumentOptions *options, Text *to, const char **problem) {
    PtxModule *module = analyses->module;
    Sites sites;
    PtxEdits edits;
    Calls calls;
    if (!find_sites(&sites, analyses, options, problem))
        return false;
    ptx_edits_init(&edits, module);
    calls_find(&calls, module, &sites, &edits.arena);
    Adding adding = {.edits = &edits, .module = module, .analyses = analyses, .sites = &sites, .calls = &calls};
    adding.once = options->once;
    adding.prefix = fresh_labels(&edits);
    add_mark(&edits, &sites, options);
    if (!options->keep_registers)
        free_registers(&edits);
    bool good = calls_do(module, &calls, problem) && add_records(&adding, problem);
    if (good)
        ptx_edit_print(&edits, to);
    ptx_edits_free(&edits);
    instrument_sites_free(&sites);
    return good;
}

bool instrument(PtxModule *module, const InstrumentOptions *options, Text *to, const char **problem) {
    FunctionAnalyses analyses;
    if (!parameters_do(module, options, problem))
        return false;
    if (options->mode == INSTRUMENT_SHADOW)
        return instrument_shadow(module, options, to, problem);
    if (!target_does(module, problem))
        return false;
    analyses_open(&analyses, module);
    bool good = add_all(&analyses, options, to, problem);
    analyses_close(&analyses);
    return good;
}
