/* The one walk over verdicts, and what its formats share: places below the root, sentences, items in their order. */
#include "render/ci/ci.h"

#include "base/code.h"
#include "base/hash.h"
#include "finding/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Items --------------------------------------------------------------------------------------- */

static void add_ended(Text *to, Text *item) {
    to->failed |= item->failed;
    text_add(to, item->data ? item->data : "", item->size);
    text_char(to, 0);
    text_free(item);
}

/* What a text of ended items has at `*at`, which is left behind it. */
static Str next_ended(const Text *text, size_t *at) {
    if (*at >= text->size)
        return (Str){NULL, 0};
    Str item = {text->data + *at, strlen(text->data + *at)};
    *at += item.size + 1;
    return item;
}

static void write_item(Ci *ci, Str item) {
    if (ci->format->most && ci->items >= ci->format->most) {
        ci->left_out++;
        return;
    }
    if (ci->items++)
        text_str(ci->to, str_of(ci->format->between));
    text_str(ci->to, item);
}

void ci_item(Ci *ci, Text *item) {
    if (ci->part) {
        add_ended(ci->to, item);
        return;
    }
    write_item(ci, (Str){item->data ? item->data : "", item->size});
    ci->to->failed |= item->failed;
    text_free(item);
}

void ci_hold(Ci *ci, Text *item) {
    add_ended(&ci->held, item);
}

Str ci_held(const Ci *ci, size_t *at) {
    return next_ended(&ci->held, at);
}

/* ---- The walk ------------------------------------------------------------------------------------ */

void ci_begin_part(Ci *ci, const CiFormat *format, const CiOptions *options, Text *to) {
    *ci = (Ci){.format = format, .options = *options, .to = to, .part = true};
    if (!ci->options.root)
        ci->options.root = ".";
}

void ci_begin(Ci *ci, const CiFormat *format, const CiOptions *options, Text *to) {
    ci_begin_part(ci, format, options, to);
    ci->part = false;
    if (format->begin)
        format->begin(ci);
}

static bool is_reported(const CiFormat *format, const Finding *finding) {
    return !finding->suppressed || (format->suppressed && finding->suppressed != SUPPRESSED_CONFIG);
}

static void count_finding(CiCounts *counts, const Finding *finding) {
    bool note = finding_severity(finding) == SEVERITY_NOTE;
    counts->suppressed += finding->suppressed != SUPPRESSED_NOT;
    counts->findings += !finding->suppressed && !note;
    counts->notes += !finding->suppressed && note;
}

void ci_add(Ci *ci, const CiInput *input) {
    const Verdict *verdict = input->verdict;
    const CiFormat *format = ci->format;
    ci->verdict = verdict_worse(ci->verdict, verdict->kind);
    ci->counts.kernels[verdict->kind]++;
    ci->counts.scopes[verdict->scope] += verdict->kind == VERDICT_CLEAN;
    ci->counts.where += verdict->kind == VERDICT_CLEAN && verdict_holds_where(verdict);
    ci->counts.seconds += verdict->seconds;
    for (size_t i = 0; i < verdict->finding_count; i++)
        count_finding(&ci->counts, &verdict->findings[i]);
    for (size_t i = 0; i < verdict->finding_count && format->finding; i++)
        if (is_reported(format, &verdict->findings[i]))
            format->finding(ci, input, &verdict->findings[i], input->witnesses ? input->witnesses[i] : NULL);
    for (size_t i = 0; i < verdict->incomplete_count && format->incomplete; i++)
        format->incomplete(ci, input, &verdict->incomplete[i]);
    if (format->kernel)
        format->kernel(ci, input);
}

void ci_error(Ci *ci, const char *file, const char *sentence) {
    ci->verdict = VERDICT_ERROR;
    ci->counts.kernels[VERDICT_ERROR]++;
    ci->format->error(ci, file, sentence);
}

void ci_drop(Ci *part) {
    text_free(&part->held);
}

void ci_join(Ci *ci, Ci *part) {
    Str item;
    for (size_t at = 0; (item = next_ended(part->to, &at)).data;)
        write_item(ci, item);
    text_add(&ci->held, part->held.data ? part->held.data : "", part->held.size);
    ci->to->failed |= part->held.failed;
    text_free(&part->held);
    ci->verdict = verdict_worse(ci->verdict, part->verdict);
    for (size_t i = 0; i <= VERDICT_ERROR; i++)
        ci->counts.kernels[i] += part->counts.kernels[i];
    for (VerdictScope scope = COVERS_NONE; scope < COVERS_COUNT; scope++)
        ci->counts.scopes[scope] += part->counts.scopes[scope];
    ci->counts.where += part->counts.where;
    ci->counts.findings += part->counts.findings;
    ci->counts.notes += part->counts.notes;
    ci->counts.suppressed += part->counts.suppressed;
    ci->counts.seconds += part->counts.seconds;
}

VerdictScope ci_scope(const Ci *ci) {
    return ci->verdict == VERDICT_CLEAN ? verdict_scope_weakest(ci->counts.scopes) : COVERS_NONE;
}

void ci_describe(const Ci *ci, Text *to) {
    VerdictScope scope = ci_scope(ci);
    text_addf(to, scope ? "%s (%s)" : "%s%s", verdict_kind_name(ci->verdict), verdict_scope_words(scope));
}

void ci_end(Ci *ci) {
    ci->format->end(ci);
    ci->to->failed |= ci->held.failed;
    text_free(&ci->held);
}

/* ---- Places -------------------------------------------------------------------------------------- */

/* Characters up to a column that counts bytes. */
static uint32_t column_of(Source *source, uint32_t line, uint32_t column) {
    if (!source || column < 2)
        return column ? column : 1;
    source_place(source, 0); /* makes the index of lines */
    Str text = line <= source->line_count ? source_line(source, line) : STR("");
    return (uint32_t)utf8_count((Str){text.data, column - 1 < text.size ? column - 1 : text.size}) + 1;
}

CiPlace ci_ir_place(const Ci *ci, const char *file, Source *source, uint32_t line, uint32_t column) {
    char *below = path_below(ci->options.root, file);
    return (CiPlace){.path = below ? below : strdup(file),
                     .below = below != NULL,
                     .line = line ? line : 1,
                     .column = line ? column_of(source, line, column) : 1};
}

/* In the kernel's own source, `below` the root or not. */
static CiPlace code_place(const Ci *ci, const FindingPlace *place, char *below) {
    char *path = NULL;
    Source *source = NULL;
    if (below && asprintf(&path, "%s/%s", ci->options.root, below) >= 0)
        source = code_read(path);
    CiPlace found = {.path = below ? below : strdup(place->file),
                     .below = below != NULL,
                     .line = place->line,
                     .column = column_of(source, place->line, place->column)};
    source_free(source);
    free(path);
    return found;
}

CiPlace ci_place(const Ci *ci, const CiInput *input, const FindingPlace *place) {
    bool known = *place->file && place->line;
    char *below = known ? code_below(input->file, ci->options.root, place->file) : NULL;
    if (below)
        return code_place(ci, place, below);
    const char *file = place->ir_file ? place->ir_file : input->file;
    Source *source = place->ir_file ? NULL : input->source;
    CiPlace in_ir = ci_ir_place(ci, file, source, place->ir_line, place->ir_column);
    if (in_ir.below || !known)
        return in_ir;
    free(in_ir.path);
    return code_place(ci, place, NULL);
}

CiPlace ci_incomplete_place(const Ci *ci, const CiInput *input, const Incomplete *incomplete) {
    FindingPlace place = {.file = incomplete->file ? incomplete->file : "",
                          .line = incomplete->line,
                          .column = incomplete->column,
                          .ir_line = incomplete->ir_line,
                          .ir_column = 1};
    return ci_place(ci, input, &place);
}

CiPlace ci_finding_place(const Ci *ci, const CiInput *input, const Finding *finding) {
    static const FindingPlace nowhere = {.file = ""};
    return ci_place(ci, input, finding->place_count ? &finding->places[0] : &nowhere);
}

/* ---- Sentences ----------------------------------------------------------------------------------- */

static void say_line(Text *to, const char *key, const char *text) {
    if (!text || !*text)
        return;
    text_addf(to, "\n%s: ", key);
    text_add_plain(to, str_of(text));
}

void ci_say(const Finding *finding, Text *to) {
    text_add_plain(to, str_of(finding->message));
    text_char(to, '.');
    say_line(to, "Why", finding->why);
    say_line(to, "Fix", finding->fix);
    say_line(to, "Schedule", finding->schedule);
    say_line(to, finding->elsewhere ? "At other launches" : "Launch", finding->launch);
}

void ci_say_place(const FindingPlace *place, Text *to) {
    agent_words(to, str_of(place->agent));
    text_plainf(to, "%s%s", *place->agent && *place->role ? " " : "", place->role);
    if (*place->op)
        text_plainf(to, "%s(%s)", *place->agent || *place->role ? " " : "", place->op);
    if (*place->note)
        text_plainf(to, ": %s", place->note);
}

void ci_say_incomplete(const CiInput *input, const Incomplete *incomplete, Text *to) {
    text_plainf(to, "@%s was not fully checked: %s", verdict_name(input->verdict), incomplete->reason);
    if (*incomplete->op)
        text_plainf(to, " (%s)", incomplete->op);
}

void ci_hash(Str text, Text *to) {
    uint64_t hash = hash_bytes(HASH_START, text.data, text.size);
    text_addf(to, "%016" PRIx64, hash ^ (hash >> 31));
}

void ci_xml(Text *to, Str text, bool attribute) {
    for (size_t i = 0, size; i < text.size; i += size ? size : 1) {
        char c = text.data[i];
        uint32_t character = 0;
        size = utf8_size((Str){text.data + i, text.size - i}, &character);
        bool blank = c == '\n' || c == '\t';
        if (!size || (character < 0x20 && !blank) || character == 0xfffe || character == 0xffff)
            text_str(to, STR("\xef\xbf\xbd"));
        else if (c == '&')
            text_str(to, STR("&amp;"));
        else if (c == '<')
            text_str(to, STR("&lt;"));
        else if (c == '>')
            text_str(to, STR("&gt;"));
        else if (attribute && (blank || c == '"'))
            text_addf(to, "&#%d;", c);
        else
            text_add(to, text.data + i, size);
    }
}

void ci_attribute(Text *to, const char *name, Str value) {
    text_addf(to, " %s=\"", name);
    ci_xml(to, value, true);
    text_char(to, '"');
}
