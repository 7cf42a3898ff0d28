/* The table at the end: kernels by verdict, findings by rule, reasons by how often they came up. */
#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_REASONS = 40 }; /* no more than a screen */

/* A row of the table, if there is anything to count. */
static void add_row(Output *output, size_t count, const char *what) {
    if (count)
        output_printf(output, "%8zu  %s\n", count, what);
}

/* A row for a rule: of notes, which clean kernels have without their text, with what the rule is about. */
static void add_rule(Output *output, size_t count, weir_rule rule, bool verbose) {
    if (count && rule.severity == WEIR_NOTE && !verbose)
        output_printf(output, "%8zu  %s: %s\n", count, rule.id, rule.summary);
    else
        add_row(output, count, rule.id);
}

/* Findings that are there, and do not count. */
static void print_not_counted(Output *output, const Reporter *all) {
    size_t count = all->suppressed + all->baselined + all->ignored;
    if (count)
        output_printf(output, "not counted: %zu\n", count);
    add_row(output, all->suppressed, all->suppressed == 1 ? "finding suppressed" : "findings suppressed");
    add_row(output, all->baselined, all->baselined == 1 ? "finding baselined" : "findings baselined");
    add_row(output, all->ignored, all->ignored == 1 ? "finding ignored" : "findings ignored");
}

/* "1 error, 2 warnings, 3 notes" */
static void print_severities(Output *output, const size_t severities[WEIR_NOTE + 1]) {
    static const char *const names[] = {"error", "warning", "note"}; /* ORDER weir_severity */
    const char *between = "";
    for (weir_severity i = WEIR_ERROR; i <= WEIR_NOTE; i++) {
        if (!severities[i])
            continue;
        output_printf(output, "%s%zu %s%s", between, severities[i], names[i], severities[i] == 1 ? "" : "s");
        between = ", ";
    }
}

void coverage_add(weir_coverage *all, const weir_coverage *part) {
    all->barrier_ops += part->barrier_ops;
    all->barrier_ops_run += part->barrier_ops_run;
    all->accesses += part->accesses;
    all->accesses_run += part->accesses_run;
    all->branches += part->branches;
    all->branches_taken += part->branches_taken;
    all->rings += part->rings;
    all->rings_turned += part->rings_turned;
    all->launches += part->launches;
    all->covered += part->covered;
    all->proved += part->proved;
}

/* How much of all kernels was run. */
static void print_coverage(Output *output, const weir_coverage *coverage) {
    const struct {
        size_t run, all;
        const char *what;
    } parts[] = {{coverage->barrier_ops_run, coverage->barrier_ops, "barrier ops"},
                 {coverage->accesses_run, coverage->accesses, "accesses"},
                 {coverage->branches_taken, coverage->branches, "branch outcomes"},
                 {coverage->rings_turned, coverage->rings, "rings wrapped"}};
    if (coverage->launches)
        output_printf(output, "run: %zu launch%s\n", coverage->launches, coverage->launches == 1 ? "" : "es");
    add_row(output, coverage->proved, "covered by a proof for every launch");
    if (coverage->covered)
        output_printf(output, "not run, since a proof covers %s and %s PTX is clean: %zu launch%s\n",
                      coverage->covered == 1 ? "it" : "them", coverage->covered == 1 ? "its" : "their",
                      coverage->covered, coverage->covered == 1 ? "" : "es");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].all)
            output_printf(output, "%8zu  of %zu %s\n", parts[i].run, parts[i].all, parts[i].what);
}

/* Clean kernels by what that covers, from much to little. */
static void print_clean(Output *output, const size_t scopes[WEIR_SCOPE_EVERY_LAUNCH + 1]) {
    for (weir_scope i = WEIR_SCOPE_EVERY_LAUNCH; i > WEIR_SCOPE_NONE; i--)
        if (scopes[i])
            output_printf(output, "%8zu  clean (%s)\n", scopes[i], weir_scope_words(i));
    add_row(output, scopes[WEIR_SCOPE_NONE], "clean");
}

void scopes_describe(const size_t scopes[WEIR_SCOPE_EVERY_LAUNCH + 1], char *to, size_t size) {
    size_t used = 0;
    *to = 0;
    for (weir_scope i = WEIR_SCOPE_EVERY_LAUNCH; i > WEIR_SCOPE_NONE; i--)
        if (scopes[i] && used < size)
            used += (size_t)snprintf(to + used, size - used, "%s%zu %s", used ? ", " : " (", scopes[i],
                                     weir_scope_words(i));
    if (used && used + 1 < size)
        snprintf(to + used, size - used, ")");
}

/* How many kernels have no PTX, which is why nothing is known of them. */
static void print_unseen(Output *output, const Options *options, const Tally *unseen) {
    size_t launches = 0;
    for (size_t i = 0; i < unseen->count; i++)
        launches += unseen->items[i].times;
    if (unseen->count || options->records)
        output_printf(output, "kernels without PTX, not checked: %zu (%zu launch%s)\n", unseen->count, launches,
                      launches == 1 ? "" : "es");
}

/* Programs whose operations were looked at: those that a log has. */
static void print_programs(Output *output, const size_t programs[WEIR_VERDICT_ERROR]) {
    static const char *const verdicts[] = {"clean (this run)", "with findings", "incomplete"}; /* ORDER weir_verdict */
    size_t count = 0;
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
        count += programs[i];
    if (count)
        output_printf(output, "programs: %zu\n", count);
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
        add_row(output, programs[i], verdicts[i]);
}

static void print_summary(Session *session, Output *output) {
    Reporter *all = &session->reporter;
    static const char *const verdicts[] = {"clean", "with findings", "incomplete"}; /* ORDER weir_verdict */
    bool verbose = all->options->verbose;
    size_t findings = 0, reasons = 0;
    output_printf(output, "files: %zu", all->options->inputs.count);
    if (all->options->left_out)
        output_printf(output, " (%zu excluded by %s)", all->options->left_out,
                      weir_project_file(all->options->project));
    output_printf(output, "\nkernels: %zu\n", all->kernels);
    print_clean(output, all->scopes);
    for (weir_verdict i = WEIR_VERDICT_FINDINGS; i < WEIR_VERDICT_ERROR; i++)
        add_row(output, all->counts[i], verdicts[i]);
    print_programs(output, all->programs);
    print_coverage(output, &all->coverage);
    for (weir_severity i = WEIR_ERROR; i <= WEIR_NOTE; i++)
        findings += all->severities[i];
    if (findings) {
        output_printf(output, "findings: ");
        print_severities(output, all->severities);
        output_printf(output, "%s\n",
                      all->severities[WEIR_NOTE] && !verbose ? " (-v shows those of clean kernels)" : "");
    }
    for (size_t i = 0; i < weir_rule_count(); i++)
        add_rule(output, all->rules[i], weir_rule_at(i), verbose);
    print_not_counted(output, all);
    for (size_t i = 0; i < all->reasons.count; i++)
        reasons += all->reasons.items[i].times;
    if (reasons)
        output_printf(output, "not checked: %zu\n", reasons);
    tally_print(&all->reasons, output, verbose ? 0 : MOST_REASONS);
    if (all->counts[WEIR_VERDICT_ERROR])
        output_printf(output, "failed inputs: %zu\n", all->counts[WEIR_VERDICT_ERROR]);
    /* The same input gives the same bytes, unless there is a terminal. */
    if (verbose || (isatty(STDOUT_FILENO) && !all->options->output)) {
        output_printf(output, "time: %.2f s", progress_seconds(&session->progress));
        if (all->kept)
            output_printf(output, " (%zu of %zu files have not changed since they were checked)", all->kept,
                          all->options->inputs.count);
        output_printf(output, "\n");
    }
    print_unseen(output, all->options, &all->unseen);
}

void session_summary(Session *session) {
    const Options *options = session->options;
    if (!options->format && !options->quiet)
        print_summary(session, session->output);
    if (session->also && !options->also && !options->quiet)
        print_summary(session, session->also);
}
