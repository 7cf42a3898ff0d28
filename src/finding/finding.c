/* The rules as a table, and a verdict as it is put together. */
#include "finding/finding.h"

#include "base/deadline.h"
#include "base/near.h"

#include <stdarg.h>

static const Rule rules[RULE_COUNT] = {
#define RULE(name, id, severity, summary, text) [RULE_##name] = {id, severity, summary, text},
#include "finding/rules.def"
#undef RULE
};

const Rule *rule_of(RuleId id) {
    return &rules[id];
}

const char *verdict_name(const Verdict *verdict) {
    return verdict->shown ? verdict->shown : verdict->kernel;
}

Severity finding_severity(const Finding *finding) {
    Severity severity = finding->graded ? finding->grade : rules[finding->rule].severity;
    return finding->elsewhere && severity == SEVERITY_ERROR ? SEVERITY_WARNING : severity;
}

Str rule_name(Str name) {
    static const struct {
        const char *old, *new;
    } renamed[] = {
#define RENAMED(old, new) {old, new},
#include "finding/renamed.def"
#undef RENAMED
    };
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (str_is(name, renamed[i].old))
            return str_of(renamed[i].new);
    return name;
}

/* A family, "deadlock", means every rule "deadlock.KIND". */
static bool means(Str name, const char *id) {
    return name.size && strncmp(id, name.data, name.size) == 0 && (id[name.size] == 0 || id[name.size] == '.');
}

/* The name at `at`; *at is left at the next, or NULL after the last. */
static Str next_name(const char **at) {
    const char *comma = strchr(*at, ',');
    Str name = comma ? str_between(*at, comma) : str_of(*at);
    *at = comma ? comma + 1 : NULL;
    return name;
}

size_t rule_list_match(const char *list, const char *id) {
    size_t longest = 0;
    for (const char *at = list; at;) {
        Str name = rule_name(next_name(&at));
        if (means(name, id) && name.size > longest)
            longest = name.size;
    }
    return longest;
}

bool rule_listed(const char *list, const char *id) {
    return rule_list_match(list, id) > 0;
}

Str rule_list_unknown(const char *list) {
    for (const char *at = list; at;) {
        Str name = next_name(&at);
        size_t i = 0;
        while (i < RULE_COUNT && !means(rule_name(name), rules[i].id))
            i++;
        if (i == RULE_COUNT)
            return name;
    }
    return (Str){NULL, 0};
}

Str rule_near(Str name) {
    unsigned most = name.size < 4 ? 1 : name.size < 8 ? 2 : 3;
    bool family = !memchr(name.data, '.', name.size);
    Str nearest = {NULL, 0};
    for (size_t i = 0; i < RULE_COUNT; i++) {
        Str id = {rules[i].id, family ? strcspn(rules[i].id, ".") : strlen(rules[i].id)};
        unsigned distance = near_distance(name, id, most);
        if (distance && distance <= most) {
            nearest = id;
            most = distance - 1;
        }
    }
    return nearest;
}

void coverage_print(const RunCoverage *coverage, Text *to) {
    const struct {
        uint32_t run, all;
        const char *what;
    } parts[] = {{coverage->barrier_ops_run, coverage->barrier_ops, "barrier ops"},
                 {coverage->accesses_run, coverage->accesses, "accesses"},
                 {coverage->branches_taken, coverage->branches, "branch outcomes"}};
    const char *separator = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].all) {
            text_addf(to, "%s%u of %u %s", separator, parts[i].run, parts[i].all, parts[i].what);
            separator = ", ";
        }
    if (coverage->rings)
        text_addf(to, "%s%u of %u rings wrapped", *separator ? "; " : "", coverage->rings_turned, coverage->rings);
}

/* ---- Putting a verdict together ---------------------------------------------------------------- */

const char *verdict_keep(Verdict *verdict, Text *text) {
    return text_keep(text, verdict->arena);
}

static const char *format_text(Verdict *verdict, const char *format, va_list arguments) {
    Text text = {0};
    text_vaddf(&text, format, arguments);
    return verdict_keep(verdict, &text);
}

const char *verdict_text(Verdict *verdict, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = format_text(verdict, format, arguments);
    va_end(arguments);
    return text;
}

size_t verdict_faults(const Verdict *verdict, const char *family) {
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        bool meant = !family || rule_listed(family, rule_of(finding->rule)->id);
        count += meant && !finding->suppressed && finding_severity(finding) != SEVERITY_NOTE;
    }
    return count;
}

Finding *verdict_finding(Verdict *verdict) {
    deadline_grant();
    Finding *finding = ARENA_PUSH(verdict->arena, verdict->findings, verdict->finding_count, verdict->finding_capacity);
    *finding = (Finding){.space = "",
                         .message = "",
                         .why = "",
                         .fix = "",
                         .launch = "",
                         .witness = "",
                         .fingerprint = "",
                         .schedule = "",
                         .times = 1};
    return finding;
}

static void add_incomplete(Verdict *verdict, Incomplete made) {
    for (size_t i = 0; i < verdict->incomplete_count; i++) {
        const Incomplete *other = &verdict->incomplete[i];
        if (other->ir_line == made.ir_line && strcmp(other->op, made.op) == 0 &&
            strcmp(other->reason, made.reason) == 0)
            return;
    }
    made.op = verdict_text(verdict, "%s", made.op);
    *ARENA_PUSH(verdict->arena, verdict->incomplete, verdict->incomplete_count, verdict->incomplete_capacity) = made;
}

void verdict_incomplete(Verdict *verdict, const char *op, uint32_t ir_line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_incomplete(verdict,
                   (Incomplete){.reason = format_text(verdict, format, arguments), .op = op, .ir_line = ir_line});
    va_end(arguments);
}

void verdict_unreached(Verdict *verdict, const char *op, uint32_t ir_line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_incomplete(
        verdict,
        (Incomplete){.reason = format_text(verdict, format, arguments), .op = op, .ir_line = ir_line, .follows = true});
    va_end(arguments);
}

LaunchRun *verdict_launch(Verdict *verdict) {
    LaunchRun *launch = ARENA_PUSH(verdict->arena, verdict->launches, verdict->launch_count, verdict->launch_capacity);
    *launch = (LaunchRun){.text = ""};
    return launch;
}

void verdict_note(Verdict *verdict, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *note = format_text(verdict, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < verdict->note_count; i++)
        if (strcmp(verdict->notes[i], note) == 0)
            return;
    *ARENA_PUSH(verdict->arena, verdict->notes, verdict->note_count, verdict->note_capacity) = note;
}

FindingPlace *finding_places(Verdict *verdict, Finding *finding, size_t count) {
    finding->places = ARENA_ARRAY(verdict->arena, FindingPlace, count);
    finding->place_count = count;
    for (size_t i = 0; i < count; i++)
        finding->places[i] = (FindingPlace){.role = "", .agent = "", .op = "", .note = "", .file = ""};
    return finding->places;
}

/* Launches that were given; the others were chosen. */
static size_t given_launches(const Verdict *verdict) {
    size_t given = 0;
    for (size_t i = 0; i < verdict->launch_count; i++)
        given += !verdict->launches[i].chosen;
    return given;
}

static VerdictScope scope_of(const Verdict *verdict) {
    if (verdict->kind != VERDICT_CLEAN || !verdict->launch_count || verdict->replayed)
        return COVERS_NONE;
    const ProofSummary *proof = verdict->proof;
    bool proved =
        proof && proof->proved && !proof->narrow && (given_launches(verdict) ? proof->fulfilled : proof->promised);
    if (proved ||
        (verdict->closed && !verdict->only_launch)) /* of one launch alone, another one has led to the proof */
        return COVERS_EVERY_LAUNCH;
    return given_launches(verdict) ? COVERS_GIVEN_LAUNCH : COVERS_TRIED_LAUNCHES;
}

void verdict_drop_halves(Verdict *verdict) {
    size_t kept = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        const FindingPlace *place = finding->place_count ? &finding->places[0] : NULL;
        if (*finding->message && place && (place->ir_line || *place->file))
            verdict->findings[kept++] = *finding;
        else
            verdict->kind = VERDICT_INCOMPLETE;
    }
    verdict->finding_count = kept;
}

void verdict_decided(Verdict *verdict, const char *by) {
    if (!verdict->incomplete_count && verdict->kind != VERDICT_INCOMPLETE)
        return;
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        verdict_note(verdict, "%s: %s", by, verdict->incomplete[i].reason);
    verdict->incomplete_count = 0;
    verdict->kind = VERDICT_CLEAN;
    verdict->only_launch = true;
    verdict->closed = false;
    verdict->proof = NULL;
}

void verdict_close(Verdict *verdict) {
    if (verdict->kind == VERDICT_ERROR)
        return;
    bool incomplete = verdict->incomplete_count || verdict->kind == VERDICT_INCOMPLETE;
    verdict->kind = incomplete ? VERDICT_INCOMPLETE : VERDICT_CLEAN;
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (!verdict->findings[i].suppressed && finding_severity(&verdict->findings[i]) != SEVERITY_NOTE)
            verdict->kind = VERDICT_FINDINGS;
    size_t kept = 0;
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        if (verdict->kind != VERDICT_FINDINGS || !verdict->incomplete[i].follows)
            verdict->incomplete[kept++] = verdict->incomplete[i];
    verdict->incomplete_count = kept;
    verdict->scope = scope_of(verdict);
}

/* "every launch where grid.y == 1, K % 64 == 0" */
static void print_where(const Verdict *verdict, Text *to) {
    enum { MOST_WHERE = 6 };
    const ProofSummary *proof = verdict->proof;
    text_addf(to, "%s", verdict_scope_words(COVERS_EVERY_LAUNCH));
    for (size_t i = 0; i < proof->where_count && i < MOST_WHERE; i++) {
        text_addf(to, "%s", i ? ", " : " where ");
        text_add_plain(to, str_of(proof->where[i].text));
    }
    if (proof->where_count > MOST_WHERE)
        text_addf(to, ", and %zu more", proof->where_count - MOST_WHERE);
}

void verdict_require(Verdict *verdict, VerdictScope required) {
    if (verdict->kind != VERDICT_CLEAN || verdict->scope >= required)
        return;
    Text why = {0};
    if (verdict_holds_where(verdict)) {
        text_addf(&why, "%s is required, and it is proved for ", verdict_scope_name(required));
        print_where(verdict, &why);
        text_addf(
            &why,
            " only: give a launch that fulfills this, or say that callers promise it (--require %s takes it as it is)",
            verdict_scope_name(verdict->scope));
    } else {
        verdict_scope_lacking(verdict->scope, required, verdict->launch_count, verdict->open, &why);
    }
    verdict_incomplete(verdict, "", 0, "%.*s", (int)why.size, why.data);
    text_free(&why);
    verdict_close(verdict);
}

/* ---- Several launches --------------------------------------------------------------------------- */

static uint32_t first_line(const Finding *finding) {
    return finding->place_count ? finding->places[0].ir_line : 0;
}

static bool is_same(const Finding *a, const Finding *b) {
    return a->rule == b->rule && first_line(a) == first_line(b) && strcmp(a->fingerprint, b->fingerprint) == 0;
}

/* "grid 4x1x1, n = 8; also grid 8x1x1, n = 16; and 5 more" */
static void add_launch_text(Verdict *verdict, Finding *known, const char *launch) {
    enum { MOST_NAMED = 3 };
    known->also_size = known->also_size ? known->also_size : strlen(known->launch);
    int size = (int)known->also_size;
    if (known->also++ < MOST_NAMED) {
        known->launch = verdict_text(verdict, "%.*s; also %s", size, known->launch, launch);
        known->also_size = strlen(known->launch);
    } else {
        known->launch = verdict_text(verdict, "%.*s; and %zu more", size, known->launch, known->also - MOST_NAMED);
    }
}

static void join_finding(Verdict *verdict, const Finding *finding) {
    for (size_t i = 0; i < verdict->finding_count; i++) {
        Finding *known = &verdict->findings[i];
        if (!is_same(known, finding))
            continue;
        Finding other = *finding;
        if (known->elsewhere && !finding->elsewhere) { /* that one is the graver */
            other = *known;
            *known = *finding;
        }
        if (!*other.launch) /* it shows without one, and was found once */
            return;
        known->times += other.times;
        if (strcmp(known->launch, other.launch) != 0)
            add_launch_text(verdict, known, other.launch);
        return;
    }
    *verdict_finding(verdict) = *finding;
}

/* All launches that were given have to be covered. */
static void join_proof(ProofSummary *proof, const ProofSummary *other) {
    proof->fulfilled &= other->fulfilled;
    proof->outside |= other->outside;
    proof->promised &= other->promised;
}

void verdict_join(Verdict *verdict, const Verdict *other) {
    for (size_t i = 0; i < other->finding_count; i++)
        join_finding(verdict, &other->findings[i]);
    for (size_t i = 0; i < other->incomplete_count; i++)
        add_incomplete(verdict, other->incomplete[i]);
    for (size_t i = 0; i < other->note_count; i++)
        verdict_note(verdict, "%s", other->notes[i]);
    for (size_t i = 0; i < other->launch_count; i++)
        *verdict_launch(verdict) = other->launches[i];
    verdict->seconds += other->seconds;
    if (verdict->proof && other->proof)
        join_proof(verdict->proof, other->proof);
    else
        verdict->proof = NULL;
    if (other->kind == VERDICT_INCOMPLETE)
        verdict->kind = VERDICT_INCOMPLETE;
    verdict_close(verdict);
}

/* ---- What does not count ------------------------------------------------------------------------ */

/* ORDER SuppressionKind */
static const struct {
    const char *name, *word;
} suppressions[SUPPRESSION_KINDS] = {
    {"", ""}, {"config", "ignored"}, {"inSource", "suppressed"}, {"baseline", "baselined"}};

const char *suppression_kind_name(SuppressionKind kind) {
    return suppressions[kind].name;
}

const char *suppression_kind_word(SuppressionKind kind) {
    return suppressions[kind].word;
}

size_t verdict_suppressed(const Verdict *verdict, SuppressionKind kind) {
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        count += finding->suppressed == kind && (!kind || finding_severity(finding) != SEVERITY_NOTE);
    }
    return count;
}

static size_t count_lowered(const Verdict *verdict) {
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++)
        count += verdict->findings[i].lowered && !verdict->findings[i].suppressed;
    return count;
}

bool verdict_excepts(const Verdict *verdict) {
    return count_lowered(verdict) || verdict_suppressed(verdict, SUPPRESSED_CONFIG) ||
           verdict_suppressed(verdict, SUPPRESSED_SOURCE) || verdict_suppressed(verdict, SUPPRESSED_BASELINE);
}

void suppressions_print(const Verdict *verdict, Text *to) {
    static const SuppressionKind order[] = {SUPPRESSED_SOURCE, SUPPRESSED_BASELINE, SUPPRESSED_CONFIG};
    const char *separator = "";
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        size_t count = verdict_suppressed(verdict, order[i]);
        if (count) {
            text_addf(to, "%s%zu %s", separator, count, suppression_kind_word(order[i]));
            separator = ", ";
        }
    }
    if (count_lowered(verdict))
        text_addf(to, "%s%zu lowered to %s", separator, count_lowered(verdict),
                  count_lowered(verdict) == 1 ? "a note" : "notes");
}

/* ---- Kinds of verdict -------------------------------------------------------------------------- */

/* ORDER VerdictKind. A verdict on several inputs is the one with the highest weight among them. */
static const struct {
    const char *name;
    int weight, status;
} kinds[] = {
    {"clean", 0, 0},
    {"findings", 2, 1},
    {"incomplete", 1, 3},
    {"error", 3, 2},
};

const char *verdict_kind_name(VerdictKind kind) {
    return kinds[kind].name;
}

int verdict_status(VerdictKind kind) {
    return kinds[kind].status;
}

VerdictKind verdict_worse(VerdictKind a, VerdictKind b) {
    return kinds[b].weight > kinds[a].weight ? b : a;
}

/* ---- Scopes ------------------------------------------------------------------------------------ */

/* ORDER VerdictScope */
static const struct {
    const char *name, *words;
} scopes[COVERS_COUNT] = {{NULL, ""},
                          {"tried-launches", "tried launches"},
                          {"given-launch", "this launch"},
                          {"every-launch", "every launch"}};

const char *verdict_scope_name(VerdictScope scope) {
    return scopes[scope].name;
}

const char *verdict_scope_words(VerdictScope scope) {
    return scopes[scope].words;
}

VerdictScope verdict_scope_named(const char *name) {
    VerdictScope scope = COVERS_COUNT - 1;
    while (scope > COVERS_NONE && strcmp(scopes[scope].name, name) != 0)
        scope--;
    return scope;
}

VerdictScope verdict_scope_weakest(const size_t counts[COVERS_COUNT]) {
    for (VerdictScope scope = COVERS_NONE; scope < COVERS_COUNT; scope++)
        if (counts[scope])
            return scope;
    return COVERS_NONE;
}

void verdict_scope_print(VerdictScope scope, size_t given, size_t tried, Text *to) {
    if (scope == COVERS_GIVEN_LAUNCH && given > 1)
        text_addf(to, "these %zu launches", given);
    else if (scope == COVERS_TRIED_LAUNCHES)
        text_addf(to, "%zu tried launch%s", tried, tried == 1 ? "" : "es");
    else
        text_addf(to, "%s", scopes[scope].words);
}

void verdict_scopes_print(const size_t counts[COVERS_COUNT], Text *to) {
    const char *separator = " (";
    for (VerdictScope scope = COVERS_COUNT - 1; scope > COVERS_NONE; scope--)
        if (counts[scope]) {
            text_addf(to, "%s%zu %s", separator, counts[scope], scopes[scope].words);
            separator = ", ";
        }
    text_addf(to, "%s", *separator == ',' ? ")" : "");
}

void verdict_scope_lacking(VerdictScope scope, VerdictScope required, size_t tried, const char *open, Text *to) {
    text_addf(to, "%s is required, and ", scopes[required].name);
    if (scope == COVERS_NONE) {
        text_addf(to, "no launch was run");
        return;
    }
    text_addf(to, "it is clean for ");
    verdict_scope_print(scope, 1, tried, to);
    text_addf(to, " only");
    if (required == COVERS_GIVEN_LAUNCH)
        text_addf(to, ": give a launch file, or --arg and --grid, or run the program with weir exec");
    else if (open)
        text_addf(to, ": %s is left open, and other launches may differ (--require %s takes this)", open,
                  scopes[scope].name);
    else
        text_addf(to, ": other launches may differ (--require %s takes this)", scopes[scope].name);
}

bool verdict_holds_where(const Verdict *verdict) {
    const ProofSummary *proof = verdict->proof;
    return verdict->scope != COVERS_NONE && verdict->scope < COVERS_EVERY_LAUNCH && proof && proof->proved &&
           proof->where_count && !proof->narrow && !verdict->only_launch &&
           !(proof->outside && given_launches(verdict));
}

void verdict_print_scope(const Verdict *verdict, Text *to) {
    size_t given = given_launches(verdict);
    if (verdict->scope == COVERS_NONE)
        return;
    if (verdict->program) {
        text_addf(to, " (this run)");
        return;
    }
    text_addf(to, " (");
    if (verdict_holds_where(verdict))
        print_where(verdict, to);
    else if (verdict->scope == COVERS_EVERY_LAUNCH && !verdict->closed)
        print_where(verdict, to);
    else
        verdict_scope_print(verdict->scope, given, verdict->launch_count - given, to);
    text_addf(to, ")");
}

void verdict_print(const Verdict *verdict, Text *to) {
    text_addf(to, "%s", kinds[verdict->kind].name);
    verdict_print_scope(verdict, to);
}
