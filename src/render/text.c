/* A verdict as terminal text. Everything that may stem from the IR goes through text_add_plain. */
#include "render/text.h"

#include "base/code.h"
#include "finding/agent.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Renderer {
    Text *to;
    Source *source;
    TextOptions options;
    /* The kernel's own source that was shown last; NULL source: it could not be read. */
    char *kernel_file;
    Source *kernel_source;
    const char *missing; /* a source of C++ that could not be read, of the first place of a finding */
} Renderer;

static const char red[] = "\033[1;31m", magenta[] = "\033[1;35m", cyan[] = "\033[1;36m", green[] = "\033[1;32m",
                  yellow[] = "\033[1;33m", bold[] = "\033[1m", normal[] = "\033[0m";

static void colored(Renderer *renderer, const char *color, const char *text) {
    if (renderer->options.color)
        text_addf(renderer->to, "%s%s%s", color, text, normal);
    else
        text_addf(renderer->to, "%s", text);
}

static bool is_said(const char *text) {
    return text && *text;
}

/* ---- Excerpts -------------------------------------------------------------------------------- */

void render_excerpt(Source *source, uint32_t line, uint32_t column, Text *to) {
    source_place(source, 0); /* makes the index of lines */
    if (line && line <= source->line_count)
        source_excerpt(source, (Place){line, column ? column : 1}, to);
}

static Source *kernel_source(Renderer *renderer, const char *file) {
    if (!renderer->kernel_file || strcmp(renderer->kernel_file, file) != 0) {
        free(renderer->kernel_file);
        source_free(renderer->kernel_source);
        renderer->kernel_file = strdup(file);
        renderer->kernel_source = code_find(renderer->source->name, renderer->options.root, file);
    }
    return renderer->kernel_source;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static bool has_kernel_place(const FindingPlace *place) {
    return is_said(place->file) && place->line;
}

static void add_place(Renderer *renderer, const char *file, uint32_t line, uint32_t column) {
    text_addf(renderer->to, "%s", renderer->options.color ? bold : "");
    text_plainf(renderer->to, "%s", file);
    if (line)
        text_addf(renderer->to, ":%u", line);
    if (line && column)
        text_addf(renderer->to, ":%u", column);
    text_addf(renderer->to, ":%s ", renderer->options.color ? normal : "");
}

/* "partition1 waits (ttng.wait_barrier): slot 1 of %full", "partition 'default' reads" */
static void add_what(Renderer *renderer, const FindingPlace *place) {
    Text *to = renderer->to;
    bool agent = is_said(place->agent), role = is_said(place->role);
    if (agent)
        agent_words(to, str_of(place->agent));
    text_plainf(to, "%s%s", agent && role ? " " : "", place->role);
    if (is_said(place->op))
        text_plainf(to, "%s(%s)", agent || role ? " " : "", place->op);
    if (is_said(place->note))
        text_plainf(to, ": %s", place->note);
}

static void add_severity(Renderer *renderer, Severity severity) {
    static const struct {
        const char *word, *color;
    } words[] = {{"error:", red}, {"warning:", magenta}, {"note:", cyan}}; /* ORDER Severity */
    colored(renderer, words[severity].color, words[severity].word);
    text_addf(renderer->to, " ");
}

static void add_ir_place(Renderer *renderer, const FindingPlace *place) {
    const char *name = place->ir_file ? place->ir_file : renderer->source->name;
    add_place(renderer, name, place->ir_line, place->ir_column);
}

static void show_ir(Renderer *renderer, const FindingPlace *place) {
    Source *other = place->ir_file ? code_read(place->ir_file) : NULL;
    if (other || !place->ir_file)
        render_excerpt(other ? other : renderer->source, place->ir_line, place->ir_column, renderer->to);
    source_free(other);
}

/* The start of a line about a place: where the kernel's author wrote it, if that is known, else where it is in the IR.
 */
static void start_at(Renderer *renderer, const FindingPlace *place, Severity severity) {
    if (has_kernel_place(place))
        add_place(renderer, place->file, place->line, place->column);
    else
        add_ir_place(renderer, place);
    add_severity(renderer, severity);
}

/* The source's lines; of the first one that is not there, this is said at the end. */
static void show_place(Renderer *renderer, const FindingPlace *place) {
    if (!has_kernel_place(place)) {
        show_ir(renderer, place);
        return;
    }
    Source *kernel = kernel_source(renderer, place->file);
    if (!kernel && !renderer->missing && code_is_cpp(place->file))
        renderer->missing = place->file;
    if (kernel)
        render_excerpt(kernel, place->line, place->column, renderer->to);
}

/* ---- Findings -------------------------------------------------------------------------------- */

static void add_line(Renderer *renderer, const char *key, const char *text) {
    if (!is_said(text))
        return;
    text_addf(renderer->to, "  ");
    colored(renderer, bold, key);
    text_plainf(renderer->to, " %s\n", text);
}

static void add_same_in_ir(Renderer *renderer, const FindingPlace *place) {
    add_ir_place(renderer, place);
    add_severity(renderer, SEVERITY_NOTE);
    Str name = str_of(renderer->source->name);
    bool ptx = str_ends(name, STR(".ptx")) || str_ends(name, STR(".weirrec"));
    text_addf(renderer->to, "the same in %s\n", ptx ? "PTX" : "the IR");
    show_ir(renderer, place);
}

/* What the agent does where it is reported, in the IR. */
static void add_first_place(Renderer *renderer, const FindingPlace *place) {
    show_place(renderer, place);
    bool said = is_said(place->agent) || is_said(place->role) || is_said(place->note);
    if (!said && place->ir_line && has_kernel_place(place))
        add_same_in_ir(renderer, place);
    if (!said || !place->ir_line)
        return;
    add_ir_place(renderer, place);
    add_severity(renderer, SEVERITY_NOTE);
    add_what(renderer, place);
    text_addf(renderer->to, "\n");
    if (has_kernel_place(place))
        show_ir(renderer, place);
}

static void add_other_place(Renderer *renderer, const FindingPlace *place) {
    start_at(renderer, place, SEVERITY_NOTE);
    add_what(renderer, place);
    text_addf(renderer->to, "\n");
    show_place(renderer, place);
    if (!has_kernel_place(place) || !place->ir_line)
        return;
    add_same_in_ir(renderer, place);
}

/* What differs from launch to launch. */
static void add_finding_launch(Renderer *renderer, const Finding *finding, const char *witness_file) {
    add_line(renderer, finding->elsewhere ? "at other launches:" : "launch:", finding->launch);
    if (finding->times > 1) {
        text_addf(renderer->to, "  ");
        colored(renderer, bold, "seen:");
        text_addf(renderer->to, " ");
        text_number_of(renderer->to, finding->times, "time");
        text_addf(renderer->to, "\n");
    }
    if (is_said(witness_file))
        add_line(renderer, "witness:", witness_file);
    else if (is_said(finding->witness))
        add_line(renderer, "witness:", renderer->options.witness_hint);
}

static void add_details(Renderer *renderer, const Finding *finding, const FindingPlace *first,
                        const char *witness_file) {
    add_first_place(renderer, first);
    for (size_t i = 1; i < finding->place_count; i++)
        add_other_place(renderer, &finding->places[i]);
    add_line(renderer, "why:", finding->why);
    add_line(renderer, "fix:", finding->fix);
    add_line(renderer, "schedule:", finding->schedule);
    add_finding_launch(renderer, finding, witness_file);
}

static void add_finding(Renderer *renderer, const Finding *finding, const char *witness_file) {
    static const FindingPlace nowhere = {.file = ""};
    const FindingPlace *first = finding->place_count ? &finding->places[0] : &nowhere;
    size_t begin = renderer->to->size;
    start_at(renderer, first, finding_severity(finding));
    text_plainf(renderer->to, "%s [%s]\n", finding->message, rule_of(finding->rule)->id);
    if (!renderer->options.lines)
        add_details(renderer, finding, first, witness_file);
    if (renderer->options.grouped)
        grouped_finding(renderer->options.grouped, finding, renderer->source, begin, renderer->to->size);
}

/* One that does not count, in a line, with why not. */
static void add_suppressed(Renderer *renderer, const Finding *finding) {
    static const FindingPlace nowhere = {.file = ""};
    const FindingPlace *place = finding->place_count ? &finding->places[0] : &nowhere;
    if (has_kernel_place(place))
        add_place(renderer, place->file, place->line, place->column);
    else
        add_ir_place(renderer, place);
    colored(renderer, cyan, suppression_kind_word(finding->suppressed));
    text_plainf(renderer->to, ": %s [%s] (%s)\n", finding->message, rule_of(finding->rule)->id, finding->reason);
}

/* ---- The rest of a verdict --------------------------------------------------------------------- */

static void add_incomplete(Renderer *renderer, const Incomplete *incomplete) {
    size_t begin = renderer->to->size;
    bool known = is_said(incomplete->file), op = is_said(incomplete->op);
    if (known)
        add_place(renderer, incomplete->file, incomplete->line, incomplete->column);
    else
        add_place(renderer, renderer->source->name, incomplete->ir_line, 0);
    colored(renderer, yellow, "incomplete:");
    text_plainf(renderer->to, " %s", incomplete->reason);
    if (known)
        text_plainf(renderer->to, op ? " (%s, PTX line %u)" : "%s (PTX line %u)", op ? incomplete->op : "",
                    incomplete->ir_line);
    else if (op)
        text_plainf(renderer->to, " (%s)", incomplete->op);
    text_addf(renderer->to, "\n");
    if (renderer->options.grouped)
        grouped_other(renderer->options.grouped, GROUPED_INCOMPLETE, incomplete->reason, begin, renderer->to->size);
}

static void add_launch(Renderer *renderer, const LaunchRun *launch) {
    Text *to = renderer->to;
    text_addf(to, "  ");
    colored(renderer, bold, launch->chosen ? "launch, chosen:" : "launch:");
    text_plainf(to, " %s: ", launch->text);
    if (launch->covered) {
        text_addf(to, "covered by a proof\n");
        return;
    }
    text_number_of(to, launch->ctas, "CTA");
    if (launch->classes && launch->ctas > 1)
        text_addf(to, launch->classes == 1 ? " in 1 class" : " in %zu classes", launch->classes);
    text_addf(to, ", ");
    text_number_of(to, launch->schedules, "schedule");
    text_addf(to, ", ");
    text_number_of(to, launch->events, "event");
    text_addf(to, launch->proved ? "; covered by a proof\n" : "\n");
}

/* " except 2 suppressed", or " (2 suppressed)"; nothing if all count. */
static void add_not_counted(Text *to, const Verdict *verdict) {
    bool clean = verdict->kind == VERDICT_CLEAN;
    Text kinds = {0};
    suppressions_print(verdict, &kinds);
    if (kinds.size)
        text_addf(to, clean ? " except %.*s" : " (%.*s)", (int)kinds.size, kinds.data);
    text_free(&kinds);
}

/* "1 error, 2 warnings, 3 notes" */
static void add_severities(Text *to, const Verdict *verdict) {
    static const char *const names[] = {"error", "warning", "note"}; /* ORDER Severity */
    size_t counts[] = {0, 0, 0};
    const char *between = "";
    for (size_t i = 0; i < verdict->finding_count; i++)
        counts[finding_severity(&verdict->findings[i])] += !verdict->findings[i].suppressed;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (!counts[i])
            continue;
        text_addf(to, "%s", between);
        text_number_of(to, counts[i], names[i]);
        between = ", ";
    }
}

/* "clean (this launch); 2 notes", "1 error, 1 note; incomplete: 2 reasons", "incomplete: 1 reason; 1 note" */
static void add_outcome(Renderer *renderer, const Verdict *verdict) {
    static const char *const colors[] = {green, red, yellow, red}; /* ORDER VerdictKind */
    Text *to = renderer->to;
    bool first = verdict->kind == VERDICT_FINDINGS; /* whose name need not be said */
    if (renderer->options.color)
        text_addf(to, "%s", colors[verdict->kind]);
    if (first)
        add_severities(to, verdict);
    else
        verdict_print(verdict, to);
    add_not_counted(to, verdict);
    if (verdict->incomplete_count) {
        text_addf(to,
                  "%s: ", verdict->kind == VERDICT_INCOMPLETE || verdict->kind == VERDICT_ERROR ? "" : "; incomplete");
        text_number_of(to, verdict->incomplete_count, "reason");
    }
    if (!first && verdict_suppressed(verdict, SUPPRESSED_NOT) && !renderer->options.brief) {
        text_addf(to, "; ");
        add_severities(to, verdict);
    }
    if (renderer->options.color)
        text_addf(to, "%s", normal);
}

/* What that is founded on: "3 launches, 96 CTAs, 12,345 events". */
static void add_basis(Text *to, const Verdict *verdict) {
    uint64_t ctas = 0, events = 0;
    size_t chosen = 0;
    for (size_t i = 0; i < verdict->launch_count; i++) {
        ctas += verdict->launches[i].ctas;
        events += verdict->launches[i].events;
        chosen += verdict->launches[i].chosen;
    }
    if (verdict->program && verdict->launch_count) {
        text_addf(to, "%s%s", verdict->incomplete_count || verdict->finding_count ? "; " : ": ",
                  verdict->launches[0].text);
    } else if (verdict->launch_count) {
        text_addf(to, "%s", verdict->incomplete_count || verdict->finding_count ? "; " : ": ");
        text_number_of(to, verdict->launch_count, "launch");
        if (chosen == verdict->launch_count)
            text_addf(to, " (chosen)");
        else if (chosen)
            text_addf(to, " (%zu chosen)", chosen);
        text_addf(to, ", ");
        text_number_of(to, ctas, "CTA");
        text_addf(to, ", ");
        text_number_of(to, events, "event");
    }
    Text run = {0};
    coverage_print(&verdict->coverage, &run);
    if (run.size)
        text_addf(to, "; run: %.*s", (int)run.size, run.data);
    text_free(&run);
    text_addf(to, "\n");
}

static void add_kernel(Renderer *renderer, const Verdict *verdict) {
    add_place(renderer, renderer->source->name, 0, 0);
    if (is_said(verdict->kernel))
        text_plainf(renderer->to, "@%s: ", verdict_name(verdict));
}

static void add_note(Renderer *renderer, const char *note) {
    size_t begin = renderer->to->size;
    add_line(renderer, "note:", note);
    if (renderer->options.grouped)
        grouped_other(renderer->options.grouped, GROUPED_NOTE, note, begin, renderer->to->size);
}

static void add_findings(Renderer *renderer, const Verdict *verdict) {
    const TextOptions *options = &renderer->options;
    size_t left[GROUPED_REMARK + 1] = {0};
    for (size_t i = 0; i < verdict->finding_count; i++)
        left[finding_severity(&verdict->findings[i])] += !verdict->findings[i].suppressed; /* ORDER Severity */
    size_t out = grouped_choose(left, options->grouped ? 0 : options->most);
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (finding->suppressed && options->suppressed)
            add_suppressed(renderer, finding);
        if (finding->suppressed || !left[finding_severity(finding)])
            continue;
        left[finding_severity(finding)]--;
        add_finding(renderer, finding, options->witnesses ? options->witnesses[i] : NULL);
    }
    grouped_left_out(renderer->to, out);
}

/* Why it is not proved for every launch; or what is taken for granted. */
static void add_proof(Renderer *renderer, const ProofSummary *proof) {
    enum { MOST_OPEN = 4 };
    for (size_t i = 0; i < proof->open_count && i < MOST_OPEN; i++)
        text_plainf(renderer->to, "  not proved for every launch: %s\n", proof->open[i].text);
    if (proof->open_count > MOST_OPEN)
        text_addf(renderer->to, "  and %zu more\n", proof->open_count - MOST_OPEN);
    for (size_t i = 0; proof->proved && i < proof->assume_count; i++)
        text_plainf(renderer->to, "  proved, assuming: %s\n", proof->assumes[i]);
}

void render_text(const Verdict *verdict, Source *source, TextOptions options, Text *to) {
    Renderer renderer = {.to = to, .source = source, .options = options};
    bool list_launches = options.launches && verdict->launch_count;
    add_kernel(&renderer, verdict);
    if (options.brief) {
        add_outcome(&renderer, verdict);
        add_basis(to, verdict);
        return;
    }
    bool list_findings = verdict_suppressed(verdict, SUPPRESSED_NOT) || (options.suppressed && verdict->finding_count);
    bool proof = options.open && verdict->proof && verdict->kind == VERDICT_CLEAN && !verdict->closed;
    if (list_findings || verdict->incomplete_count || verdict->note_count || list_launches || proof) {
        verdict_print(verdict, to);
        text_char(to, '\n');
    }
    add_findings(&renderer, verdict);
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        add_incomplete(&renderer, &verdict->incomplete[i]);
    if (renderer.missing) {
        text_addf(to, "  ");
        colored(&renderer, bold, "note:");
        text_plainf(to, " %s is not there: its lines are not shown, and comments in it (weir: ignore) are not read\n",
                    renderer.missing);
    }
    for (size_t i = 0; i < verdict->note_count; i++)
        add_note(&renderer, verdict->notes[i]);
    for (size_t i = 0; list_launches && i < verdict->launch_count; i++)
        add_launch(&renderer, &verdict->launches[i]);
    if (proof)
        add_proof(&renderer, verdict->proof);
    add_outcome(&renderer, verdict);
    add_basis(to, verdict);
    free(renderer.kernel_file);
    source_free(renderer.kernel_source);
}
