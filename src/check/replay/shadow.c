/* What a kernel that checked itself (mode shadow) has reported, as findings; and what it did not check. */
#include "check/explain/explain.h"
#include "check/replay/internal.h"

#include "ptx/places.h"
#include "trace/shadow.h"

#include <inttypes.h>

typedef struct ShadowReported {
    ThreadsCheck check;
    const Recording *recording;
    Sites sites;
    const PtxCode **codes; /* of each statement */
    ShadowState state;
} ShadowReported;

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static const PtxCode *code_of(const ShadowReported *reported, uint32_t site) {
    return site < reported->sites.count ? reported->codes[reported->sites.items[site].statement] : NULL;
}

/* "CTA 6", "cluster 2", "another CTA". */
static const char *actor_words(const ShadowReported *reported, uint32_t number_1) {
    const RecordingLaunch *launch = &reported->recording->launch;
    bool clusters = launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1;
    if (!number_1)
        return clusters ? "another cluster" : "another CTA";
    return verdict_text(reported->check.verdict, "%s %u", clusters ? "cluster" : "CTA", number_1 - 1);
}

/* The parameter of 8 bytes that points nearest before an address, in the same allocation; PTX_NONE: none does. */
static uint32_t argument_at(const ShadowReported *reported, uint64_t address, uint64_t *from) {
    const Recording *recording = reported->recording;
    const PtxFunction *kernel = &reported->check.module->functions[reported->check.entry];
    uint32_t found = PTX_NONE;
    uint64_t base = 0;
    for (size_t i = 0; i < recording->memory_count; i++)
        if (address - recording->memory[i].base < recording->memory[i].bytes)
            base = recording->memory[i].base;
    for (uint32_t i = 0; i < kernel->parameter_count && base; i++) {
        const PtxSymbolSlot *seat = &reported->check.program->seats[kernel->parameters + i];
        uint64_t value;
        if (seat->bytes != sizeof value || seat->at + sizeof value > recording->parameter_bytes)
            continue;
        memcpy(&value, recording->parameters + seat->at, sizeof value);
        if (value >= base && value <= address && (found == PTX_NONE || value > *from)) {
            *from = value;
            found = i;
        }
    }
    return found;
}

static const char *bytes_words(const ShadowReported *reported, const ShadowReport *report) {
    uint32_t mask = report->mask ? report->mask : 0xffff, first = (uint32_t)__builtin_ctz(mask), count = 0;
    while (mask >> (first + count) & 1)
        count++;
    uint64_t address = report->address + first, from = 0;
    uint32_t argument = argument_at(reported, address, &from);
    const char *ending =
        count > 1 ? verdict_text(reported->check.verdict, "-%" PRIu64, address - from + count - 1) : "";
    if (argument == PTX_NONE)
        return verdict_text(reported->check.verdict, "%u byte%s of global memory at %#" PRIx64, count, plural(count),
                            address);
    return verdict_text(reported->check.verdict, "byte%s %" PRIu64 "%s of argument %u", plural(count), address - from,
                        ending, argument);
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static RuleId rule_of_report(const ShadowReport *report) {
    if (report->kind == KIND_READ)
        return RULE_RACE_RAW;
    return report->earlier_kind == KIND_READ ? RULE_RACE_WAR : RULE_RACE_WAW;
}

static void add_finding(ShadowReported *reported, const ShadowReport *report) {
    Verdict *verdict = reported->check.verdict;
    const PtxCode *later = code_of(reported, report->site),
                  *earlier = report->earlier_site ? code_of(reported, report->earlier_site - 1) : NULL;
    if (!later) {
        verdict_incomplete(verdict, "", 0, "a report is about an access that the kernel does not have");
        return;
    }
    const PtxCode *codes[] = {later, earlier};
    Facts facts = {.ptx = true,
                   .agent = actor_words(reported, report->cta + 1),
                   .verb = effect_access_verb(report->kind),
                   .object = bytes_words(reported, report),
                   .other = actor_words(reported, report->earlier),
                   .other_verb = effect_access_verb(report->earlier_kind),
                   .place = earlier ? code_words(&reported->check, earlier) : "an instruction that is not known",
                   .last = "and nothing orders the two"};
    bool narrow = report->scope && report->earlier_scope;
    Finding *finding = verdict_finding(verdict);
    finding->rule = rule_of_report(report);
    finding->space = "global";
    explain(verdict, finding, CAUSE_RACE, &facts);
    explain(verdict, finding,
            report->in_flight ? CAUSE_UNFINISHED_STORE
            : narrow          ? CAUSE_STRONG_SCOPE
                              : CAUSE_UNORDERED_GRID,
            &facts);
    finding->launch = reported->check.launch->text;
    finding->schedule = "on the GPU: nothing orders the two";
    FindingPlace **places = code_places(&reported->check, finding, codes, earlier ? 2 : 1);
    places[0]->role = facts.verb;
    places[0]->agent = facts.agent;
    if (earlier) {
        places[1]->role = facts.other_verb;
        places[1]->agent = facts.other;
    }
}

/* ---- What was not checked ---------------------------------------------------------------------------------------- */

static void report_troubles(const ShadowReported *reported) {
    static const char *const words[] = {
        "a CTA made more releases than a cell can tell apart: races behind them were not found",
        "there were more races than reports have room for",
        "a cell of shadow memory changed again and again: some accesses were not checked",
        "a TMA copy used a tensor map that is not known to shadow memory: it was not checked",
        "there are more flags than there is room for: races that they could order were not found",
    };
    const PtxCode *code = code_of(reported, reported->state.trouble_site);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (reported->state.trouble >> i & 1)
            verdict_incomplete(reported->check.verdict, "", code ? code_line(reported->check.program, code) : 0, "%s",
                               words[i]);
}

static void report_unchecked(const ShadowReported *reported) {
    Verdict *verdict = reported->check.verdict;
    for (uint32_t i = 0; i < reported->sites.count; i++) {
        const PtxCode *code = reported->sites.items[i].why && reported->sites.items[i].function == reported->check.entry
                                  ? code_of(reported, i)
                                  : NULL;
        if (code)
            verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(code->form->text)),
                               code_line(reported->check.program, code), "%s", reported->sites.items[i].why);
    }
    if (reported->state.outside) {
        const PtxCode *code = code_of(reported, reported->state.outside_site - 1);
        verdict_incomplete(
            verdict, "", code ? code_line(reported->check.program, code) : 0,
            "%" PRIu64 " access%s were to memory that has no shadow, the first at %#" PRIx64 ": not checked",
            reported->state.outside, reported->state.outside == 1 ? "" : "es", reported->state.outside_address);
    }
    verdict_incomplete(verdict, "", 0,
                       "mode shadow checks CTAs against each other, in global memory: threads of one CTA%s and shared "
                       "memory were not checked",
                       reported->recording->launch.cluster[0] * reported->recording->launch.cluster[1] *
                                   reported->recording->launch.cluster[2] >
                               1
                           ? ", CTAs of one cluster"
                           : "");
}

static void check_shadow(ThreadsCheck *check) {
    ShadowReported *reported = (ShadowReported *)check;
    const char *problem = "";
    SiteText text = ptx_site_text(check->module);
    if (!runs_prepare(check, &problem) ||
        !sites_read(&reported->sites, reported->recording->sites, &text, &check->arena, &problem)) {
        verdict_incomplete(check->verdict, "", 0, "%s", problem);
        return;
    }
    const Str *bytes = &reported->recording->shadow;
    size_t count = (bytes->size - sizeof reported->state) / sizeof(ShadowReport);
    memcpy(&reported->state, bytes->data, sizeof reported->state);
    reported->codes = play_codes(check);
    check->launch = recording_launch(check, reported->recording);
    for (size_t i = 0; i < count; i++) {
        ShadowReport report;
        memcpy(&report, bytes->data + sizeof reported->state + i * sizeof report, sizeof report);
        add_finding(reported, &report);
    }
    report_troubles(reported);
    report_unchecked(reported);
    runs_add_launch(check, check->launch);
    check->verdict->only_launch = true;
}

void recording_check_shadow(PtxModule *module, uint32_t entry, const Recording *recording,
                            const ThreadsOptions *options, Verdict *verdict) {
    ShadowReported reported = {
        .check = {.module = module, .entry = entry, .options = options, .verdict = verdict, .recorded = true},
        .recording = recording};
    runs_with_arena(&reported.check, check_shadow);
}
