/* The table at the end: kernels by verdict, findings by rule, reasons by how often they came up. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static int by_count(const void *a, const void *b) {
    const Reason *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->text, y->text);
}

/* A row of the table, if there is anything to count. */
static void add_row(Output *output, size_t count, const char *what) {
    if (count)
        output_printf(output, "%8zu  %s\n", count, what);
}

/* Of what such a rule finds, nothing is wrong. */
static bool is_note(size_t rule) {
    return weir_rule_at(rule).severity == WEIR_NOTE;
}

void session_summary(Session *session) {
    Output *output = session->output;
    const Teller *all = &session->teller;
    static const char *const verdicts[] = {"clean", "with findings", "incomplete"}; /* ORDER weir_verdict */
    bool verbose = all->options->verbose;
    size_t findings = 0, notes = 0, reasons = 0;
    output_printf(output, "files: %zu\nkernels: %zu\n", all->options->inputs.count, all->kernels);
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
        add_row(output, all->counts[i], verdicts[i]);
    for (size_t i = 0; i < weir_rule_count(); i++)
        *(is_note(i) ? &notes : &findings) += all->rules[i];
    if (findings)
        output_printf(output, "findings: %zu\n", findings);
    for (size_t i = 0; i < weir_rule_count(); i++)
        add_row(output, is_note(i) ? 0 : all->rules[i], weir_rule_at(i).id);
    if (notes)
        output_printf(output, "notes: %zu%s\n", notes, verbose ? "" : " (-v shows them)");
    for (size_t i = 0; i < weir_rule_count(); i++)
        add_row(output, is_note(i) ? all->rules[i] : 0, weir_rule_at(i).id);
    for (size_t i = 0; i < all->reason_count; i++)
        reasons += all->reasons[i].count;
    if (reasons) {
        output_printf(output, "not looked at: %zu\n", reasons);
        qsort(all->reasons, all->reason_count, sizeof *all->reasons, by_count);
    }
    for (size_t i = 0; i < all->reason_count; i++)
        add_row(output, all->reasons[i].count, all->reasons[i].text);
    if (all->counts[WEIR_VERDICT_ERROR])
        output_printf(output, "errors: %zu\n", all->counts[WEIR_VERDICT_ERROR]);
    /* The same input gives the same bytes, unless somebody looks on. */
    if (verbose || (all->how.flags & WEIR_COLOUR))
        output_printf(output, "time: %.2f s\n", progress_seconds(&session->progress));
}
