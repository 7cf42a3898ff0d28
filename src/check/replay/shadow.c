/* What a kernel that checked itself (mode shadow) has reported, as findings; and what it did not check. */
#include "check/explain/explain.h"
#include "check/replay/internal.h"

#include "ptx/places.h"
#include "ptx/reader.h"
#include "trace/shadow.h"

#include <inttypes.h>

/* A launch that reports name, which could run at the same time. */
typedef struct ShadowOther {
    struct ShadowOther *next;
    uint64_t tag;
    Recording recording;
    Source *source;
    Diagnostics diagnostics;
    PtxModule module;
    ThreadsCheck check;
    Sites sites;
    const PtxCode **codes; /* of each statement; NULL: its text says nothing */
    bool met;              /* it was said that signals may order the two */
} ShadowOther;

typedef struct ShadowReported {
    ThreadsCheck check;
    const Recording *recording;
    Sites sites;
    const PtxCode **codes; /* of each statement */
    ShadowState state;
    ShadowOther *others;
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
    return verdict_text(
        reported->check.verdict, "byte%s %" PRIu64 "%s of %s", plural(count), address - from, ending,
        ptx_argument_name(reported->check.module, reported->check.entry, argument, reported->check.verdict->arena));
}

/* ---- Launches that could run at the same time ---------------------------------------------------------------------
 */

/* Its check and ours have one arena, one after the other. */
static void read_text(ShadowReported *reported, ShadowOther *other) {
    const Str ptx = other->recording.ptx;
    const char *problem = "";
    other->source = source_copy(other->recording.kernel, ptx.data, ptx.size);
    if (!ptx_read(&other->module, other->source, false, &other->diagnostics))
        return;
    SiteText text = ptx_site_text(&other->module);
    if (!sites_read(&other->sites, other->recording.sites, &text, &reported->check.arena, &problem))
        return;
    other->check = (ThreadsCheck){.module = &other->module,
                                  .entry = recording_entry(&other->module, &other->recording),
                                  .options = reported->check.options,
                                  .verdict = reported->check.verdict,
                                  .recorded = true,
                                  .arena = reported->check.arena};
    if (other->check.entry != PTX_NONE && runs_prepare(&other->check, &problem))
        other->codes = play_codes(&other->check);
    reported->check.arena = other->check.arena;
}

static void read_others(ShadowReported *reported) {
    const Str all = reported->recording->beside;
    uint64_t head[2];
    for (size_t at = 0; all.size - at >= sizeof head;) {
        memcpy(head, all.data + at, sizeof head);
        at += sizeof head;
        if (head[1] > all.size - at)
            return;
        ShadowOther *other = ARENA_NEW(&reported->check.arena, ShadowOther);
        *other = (ShadowOther){.next = reported->others, .tag = head[0]};
        const char *problem;
        if (recording_read(&other->recording, (const uint8_t *)all.data + at, (size_t)head[1], &reported->check.arena,
                           &problem)) {
            reported->others = other;
            read_text(reported, other);
        }
        at += (size_t)head[1];
    }
}

static void free_others(ShadowReported *reported) {
    for (ShadowOther *other = reported->others; other; other = other->next) {
        if (!other->source)
            continue;
        ptx_free(&other->module);
        diagnostics_free(&other->diagnostics);
        source_free(other->source);
    }
}

static ShadowOther *other_of(const ShadowReported *reported, uint32_t tag) {
    ShadowOther *other = reported->others;
    while (other && other->tag != tag)
        other = other->next;
    return other;
}

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

static RuleId rule_of_report(const ShadowReport *report) {
    if (report->kind == KIND_READ)
        return RULE_RACE_RAW;
    return report->earlier_kind == KIND_READ ? RULE_RACE_WAR : RULE_RACE_WAW;
}

/* "CTA 6 of consume", "a CTA of produce (launch 4)": launches of one kernel have numbers. */
static const char *agent_of(const ShadowReported *reported, const Recording *recording, const Recording *other,
                            uint32_t number_1) {
    const RecordingLaunch *launch = &recording->launch;
    const char *kind = launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1 ? "cluster" : "CTA";
    Verdict *verdict = reported->check.verdict;
    const char *number = strcmp(recording->kernel, other->kernel) == 0
                             ? verdict_text(verdict, " (launch %" PRIu64 ")", launch->number)
                             : "";
    return number_1 ? verdict_text(verdict, "%s %u of %s%s", kind, number_1 - 1, recording->kernel, number)
                    : verdict_text(verdict, "a %s of %s%s", kind, recording->kernel, number);
}

/* Signals of the two may order them: what was found is no finding, and said once. */
static void report_met(ShadowReported *reported, ShadowOther *other) {
    if (other->met)
        return;
    other->met = true;
    verdict_incomplete(reported->check.verdict, "", 0,
                       "it could run at the same time as %s (launch %" PRIu64
                       "), whose signals it reads: whether these order the two was not checked",
                       other->recording.kernel, other->recording.launch.number);
}

static void add_finding(ShadowReported *reported, const ShadowReport *report) {
    Verdict *verdict = reported->check.verdict;
    ShadowOther *other = report->other ? other_of(reported, report->other) : NULL;
    const PtxCode *later = code_of(reported, report->site), *earlier = NULL;
    if (!later || (report->other && !other)) {
        verdict_incomplete(verdict, "", 0, "a report is about an access that the kernel does not have");
        return;
    }
    if (report->met) {
        report_met(reported, other);
        return;
    }
    uint32_t site = report->earlier_site - 1;
    if (!other)
        earlier = report->earlier_site ? code_of(reported, site) : NULL;
    else if (report->earlier_site && other->codes && site < other->sites.count)
        earlier = other->codes[other->sites.items[site].statement];
    const ThreadsCheck *of_earlier = other ? &other->check : &reported->check;
    Facts facts = {.ptx = true,
                   .agent = other ? agent_of(reported, reported->recording, &other->recording, report->cta + 1)
                                  : actor_words(reported, report->cta + 1),
                   .verb = effect_access_verb(report->kind),
                   .noun = effect_access_noun(report->kind),
                   .object = bytes_words(reported, report),
                   .other = other ? agent_of(reported, &other->recording, reported->recording, report->earlier)
                                  : actor_words(reported, report->earlier),
                   .other_verb = effect_access_verb(report->earlier_kind),
                   .other_noun = report->earlier_kind == KIND_READ ? "read" : "write",
                   .place = earlier ? code_words(of_earlier, earlier) : "an instruction that is not known",
                   .last = "unordered accesses to"};
    bool narrow = report->scope && report->earlier_scope;
    Finding *finding = verdict_finding(verdict);
    finding->rule = rule_of_report(report);
    finding->space = "global";
    explain(verdict, finding, CAUSE_RACE, &facts);
    explain(verdict, finding,
            narrow              ? CAUSE_STRONG_SCOPE
            : other             ? CAUSE_UNORDERED_LAUNCHES
            : report->in_flight ? CAUSE_UNFINISHED_STORE
                                : CAUSE_UNORDERED_GRID,
            &facts);
    finding->launch = reported->check.launch->text;
    finding->schedule = "on the GPU";
    enum { MOST_PLACES = 16 };
    FindingPlace *places = finding_places(verdict, finding, 2 * MOST_PLACES), *place = places;
    finding->place_count = 1 + code_place(&reported->check, later, place, place + 1);
    place->role = facts.verb;
    place->agent = facts.agent;
    if (earlier) {
        place = &places[finding->place_count++];
        finding->place_count += code_place(of_earlier, earlier, place, place + 1);
        place->role = facts.other_verb;
        place->agent = facts.other;
    }
}

/* A dependent launch, of which some CTA has ended without having waited. */
static void report_waits(ShadowReported *reported) {
    const RecordingLaunch *launch = &reported->recording->launch;
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint32_t cluster = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    const PtxProgram *program = reported->check.program;
    if (!reported->state.waits || reported->state.waited >= ctas / (cluster ? cluster : 1) || !program->code_count)
        return;
    Finding *finding = verdict_finding(reported->check.verdict);
    finding->rule = RULE_GLOBAL_DEPENDENCY_WAIT;
    finding->space = "global";
    finding->message = verdict_text(reported->check.verdict,
                                    "%s is a dependent launch and finishes in some CTA without waiting for the "
                                    "preceding launch",
                                    reported->recording->kernel);
    finding->why = "The preceding launch may still run when this one has finished. A third launch that does not "
                   "wait, either, can then begin before the first one has finished.";
    finding->fix = "Execute griddepcontrol.wait (cudaGridDependencySynchronize()) on every path.";
    finding->launch = reported->check.launch->text;
    finding->schedule = "on the GPU";
    const PtxCode *first = &program->code[0];
    code_places(&reported->check, finding, &first, 1)[0]->role = "ends";
}

/* ---- What was not checked ---------------------------------------------------------------------------------------- */

static void report_troubles(const ShadowReported *reported) {
    static const char *const words[] = {
        "a CTA made more releases than a cell can distinguish: later races were not found",
        "there were more races than fit into the reports",
        "a cell of shadow memory changed too often: some accesses were not checked",
        "a TMA copy used a tensor map that shadow memory does not know: it was not checked",
        "there are too many flags: races that they could order were not found",
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
            "%" PRIu64 " access%s were to memory without shadow memory, the first at %#" PRIx64 ": not checked",
            reported->state.outside, reported->state.outside == 1 ? "" : "es", reported->state.outside_address);
    }
    const RecordingLaunch *launch = &reported->recording->launch;
    verdict_incomplete(verdict, "", 0,
                       "mode shadow checks CTAs and launches against each other, in global memory: threads of one "
                       "CTA,%s copies of the program and shared memory were not checked",
                       launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1 ? " CTAs of one cluster," : "");
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
    read_others(reported);
    for (size_t i = 0; i < count; i++) {
        ShadowReport report;
        memcpy(&report, bytes->data + sizeof reported->state + i * sizeof report, sizeof report);
        add_finding(reported, &report);
    }
    report_waits(reported);
    recording_unseen(reported->recording, check->verdict);
    report_troubles(reported);
    report_unchecked(reported);
    free_others(reported);
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
