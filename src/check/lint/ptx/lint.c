/* All passes over one kernel of PTX, and how they say what they find. */
#include "check/lint/ptx/internal.h"

#include "finding/lint_rows.h"

#include <stdarg.h>

/* Of all that is made for one function; a file of 13 MB needs a tenth of it. */
static const size_t lint_budget = (size_t)2 << 30;

/* ---- Saying it ------------------------------------------------------------------------------------ */

uint32_t ptx_line(const PtxLint *lint, uint32_t statement) {
    return source_place(lint->module->source, lint->module->statements[statement].begin).line;
}

/* The place in the user's source, and the text of PTX. `chain`: room for PTX_MOST_PLACES; becomes that place and those
 * it was inlined at, and how many there are is returned. */
static uint32_t set_place(PtxLint *lint, FindingPlace *place, uint32_t statement, PtxPlace *chain) {
    const PtxModule *module = lint->module;
    const PtxStatement *at = &module->statements[statement];
    Place line = source_place(module->source, at->begin);
    Arena *arena = lint->verdict->arena;
    if (is_instruction(at)) {
        Str form = module->forms[at->what].text;
        place->op = arena_copy(arena, form.data, form.size);
    }
    place->ir_line = line.line;
    place->ir_column = line.column;
    uint32_t count = ptx_places(lint->module, statement, chain, PTX_MOST_PLACES), own = ptx_own_place(chain, count);
    count -= own;
    memmove(chain, chain + own, count * sizeof *chain);
    if (count) {
        place->file = arena_copy(arena, chain[0].file.data, chain[0].file.size);
        place->line = chain[0].line;
        place->column = chain[0].column;
    }
    return count;
}

enum { MOST_INLINED = 8 };

/* The places that it was inlined at follow the place itself. */
static void add_chain(PtxLint *lint, Finding *finding, const PtxPlace *chain, uint32_t count) {
    for (uint32_t i = 1; i < count && i < MOST_INLINED; i++) {
        FindingPlace *place = &finding->places[finding->place_count++];
        place->role = "inlined here";
        place->file = arena_copy(lint->verdict->arena, chain[i].file.data, chain[i].file.size);
        place->line = chain[i].line;
        place->column = chain[i].column;
    }
}

static bool is_reported(PtxLint *lint, RuleId rule, uint32_t statement) {
    for (uint32_t i = 0; i < lint->reported_count; i++)
        if (lint->reported[i].rule == rule && lint->reported[i].statement == statement)
            return true;
    *ARENA_PUSH(lint->arena, lint->reported, lint->reported_count, lint->reported_capacity) =
        (ReportedAt){statement, rule};
    return false;
}

Finding *ptx_find(PtxLint *lint, RuleId rule, uint32_t statement, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    if (is_reported(lint, rule, statement))
        return NULL;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    PtxPlace chain[PTX_MOST_PLACES];
    Finding *finding = verdict_finding(lint->verdict);
    finding->rule = rule;
    finding->space = "shared";
    finding->message = verdict_keep(lint->verdict, &text);
    finding->why = lint_row(rule).why;
    finding->fix = lint_row(rule).fix;
    finding->times = 1;
    FindingPlace *places = finding_places(lint->verdict, finding, 2 + MOST_INLINED);
    uint32_t count = set_place(lint, &places[0], statement, chain);
    finding->place_count = 1;
    if (count)
        places[0].role = "in PTX";
    add_chain(lint, finding, chain, count);
    return finding;
}

void ptx_other(PtxLint *lint, Finding *finding, const char *role, uint32_t statement) {
    PtxPlace chain[PTX_MOST_PLACES];
    if (!finding)
        return;
    FindingPlace *place = &finding->places[finding->place_count++];
    set_place(lint, place, statement, chain);
    place->role = role;
}

void ptx_say(Finding *finding, const char *why, const char *fix) {
    if (finding && why)
        finding->why = why;
    if (finding && fix)
        finding->fix = fix;
}

/* ---- A kernel's header ---------------------------------------------------------------------------- */

/* The numbers of a directive, multiplied. */
static uint32_t times(const PtxModule *module, const PtxStatement *statement) {
    uint64_t all = 1;
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &module->operands[statement->first + i];
        if (operand->kind == PTX_INTEGER && operand->value >= 0 && all <= UINT32_MAX)
            all *= (uint64_t)operand->value;
    }
    return all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}

static Header header_of(const PtxModule *module, uint32_t function) {
    Header header = {0};
    const PtxFunction *at = &module->functions[function];
    for (uint32_t i = at->begin; i < at->end && module->statements[i].kind != PTX_OPEN; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind != PTX_DIRECTIVE)
            continue;
        Str name = ptx_name(module, statement->what);
        bool exact = str_is(name, ".reqntid");
        if (exact || str_is(name, ".maxntid")) {
            header.threads = exact ? times(module, statement) : header.threads;
            header.most_threads = times(module, statement);
            header.threads_at = i;
        } else if (str_is(name, ".reqnctapercluster")) {
            header.ctas = times(module, statement);
            header.ctas_at = i;
        }
    }
    return header;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

typedef struct LintWork {
    uint32_t function;
    bool first;
    PtxLint lint;
} LintWork;

static const Target *target_of_module(const PtxModule *module) {
    Str name = ptx_name(module, module->target);
    return name.size ? target_named(name) : NULL;
}

/* What does not fit into memory is said, and the rest is looked at all the same. */
static bool prepare(PtxLint *lint) {
    const char *problem = NULL;
    bool flows = ptx_flow(&lint->flow, lint->module, lint->function, lint_budget, &problem);
    lint->known = flows ? known_open(&lint->flow, lint_budget, &problem) : NULL;
    if (lint->known)
        return true;
    if (flows)
        ptx_flow_free(&lint->flow);
    verdict_incomplete(lint->verdict, "", ptx_line(lint, lint->module->functions[lint->function].begin), "%s",
                       problem ? problem : "there is not enough memory");
    return false;
}

static void close_function(PtxLint *lint) {
    if (!lint->open)
        return;
    lint->open = false;
    known_close(lint->known);
    ptx_flow_free(&lint->flow);
}

static void run_passes(PtxLint *lint) {
    static void (*const passes[])(PtxLint *) = {ptx_numbers, ptx_addresses, ptx_named,    ptx_threads, ptx_mbarriers,
                                                ptx_groups,  ptx_in_flight, ptx_clusters, ptx_tensor,  ptx_accesses};
    if (!prepare(lint))
        return;
    lint->open = true;
    lint->acts = NULL;
    lint->act_count = lint->act_capacity = 0;
    gather_acts(lint);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        passes[i](lint);
    close_function(lint);
}

/* Functions that are no kernels have no header, and are not known to be called by one alone: what a kernel does
 * elsewhere does not count for them. */
static void lint_others(PtxLint *lint, uint32_t kernel) {
    lint->header = (Header){0};
    for (uint32_t i = 0; i < lint->module->functions_count; i++) {
        const PtxFunction *function = &lint->module->functions[i];
        if (i == kernel || function->entry || !function->body)
            continue;
        lint->function = i;
        lint->reach.unknown = function->begin;
        run_passes(lint);
    }
}

static void lint_all(LintWork *work) {
    PtxLint *lint = &work->lint;
    PtxModule *module = lint->module;
    lint->forms = ARENA_ARRAY(lint->arena, FormActs, module->forms_count + 1);
    lint->header = header_of(module, work->function);
    lint->reach = reach_of(lint, work->function);
    if (!module->functions[work->function].entry)
        lint->reach.unknown = module->functions[work->function].begin;
    else
        ptx_limits(lint);
    run_passes(lint);
    if (work->first && module->functions[work->function].entry)
        lint_others(lint, work->function);
}

void ptx_lint(PtxModule *module, uint32_t function, bool first, const Target *target, Verdict *verdict) {
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, lint_budget);
    arena.exhausted = &exhausted;
    LintWork work = {.function = function, .first = first};
    work.lint = (PtxLint){.module = module,
                          .function = function,
                          .target = target ? target : target_of_module(module),
                          .verdict = verdict,
                          .arena = &arena};
    if (!setjmp(exhausted))
        lint_all(&work);
    else
        verdict_incomplete(verdict, "", 0, "linting needs more memory than the limit");
    close_function(&work.lint);
    arena_free(&arena);
}
