/* "IR line 41" becomes "rings.py:86 (IR line 41)". */
#include "check/explain/source_lines.h"

#include "base/order.h"
#include "check/explain/calls.h"
#include "finding/report.h"
#include "ir/location.h"
#include "ir/op.h"

#include <stdlib.h>

/* The source line of the ops of one line of the IR. */
typedef struct SourceLine {
    uint32_t ir_line, line;
    Str file; /* without its folders */
} SourceLine;

typedef struct SourceLines {
    SourceLine *items; /* by IR line, each once */
    size_t count;
} SourceLines;

static Str without_folders(Str path) {
    size_t start = path.size;
    while (start && path.data[start - 1] != '/')
        start--;
    return (Str){path.data + start, path.size - start};
}

ORDER(by_ir_line, SourceLine, BY(ir_line))

static SourceLines lines_of(Verdict *verdict, Module *module) {
    SourceLines lines = {0};
    size_t most = 0;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
        most++;
    lines.items = ARENA_ARRAY(verdict->arena, SourceLine, most + 1);
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        uint32_t ir_line = op_line(module, op);
        const Attr *location = kernel_location(module, op->location);
        if (location && (!lines.count || lines.items[lines.count - 1].ir_line != ir_line))
            lines.items[lines.count++] =
                (SourceLine){ir_line, location->line, without_folders(location_text(location))};
    }
    qsort(lines.items, lines.count, sizeof *lines.items, by_ir_line);
    return lines;
}

/* ---- One text ------------------------------------------------------------------------------------ */

static const Str mark = STR("IR line ");

/* What stands at `at`, if that is a line of this kernel with a source; *end is behind the number. */
static const SourceLine *mentioned(const SourceLines *lines, const char *at, const char **end) {
    static const Str elsewhere = STR(" of ");
    if (strncmp(at, mark.data, mark.size) != 0)
        return NULL;
    char *behind;
    SourceLine key = {.ir_line = (uint32_t)strtoul(at + mark.size, &behind, 10)};
    *end = behind;
    if (behind == at + mark.size || strncmp(behind, elsewhere.data, elsewhere.size) == 0)
        return NULL;
    return bsearch(&key, lines->items, lines->count, sizeof key, by_ir_line);
}

static bool same_source(const SourceLine *a, const SourceLine *b) {
    return a->line == b->line && str_equal(a->file, b->file);
}

/* Whether the text has another IR line with that source line, or, up to `end`, this one. */
static bool mentions(const SourceLines *lines, const char *text, const char *end, const SourceLine *line, bool other) {
    const char *behind;
    for (const char *at = text; (at = strstr(at, mark.data)) && (!end || at < end); at += mark.size) {
        const SourceLine *found = mentioned(lines, at, &behind);
        if (found && (other ? found != line && same_source(found, line) : found == line))
            return true;
    }
    return false;
}

static const char *with_source(const void *context, Verdict *verdict, const char *text) {
    const SourceLines *lines = context;
    if (!text || !strstr(text, mark.data))
        return text;
    Text to = {0};
    for (const char *at = text; *at;) {
        const char *next = strstr(at, mark.data), *end = next;
        const SourceLine *line = next ? mentioned(lines, next, &end) : NULL;
        if (!line) {
            end = next ? next + mark.size : at + strlen(at);
            text_str(&to, str_between(at, end));
        } else {
            text_str(&to, str_between(at, next));
            text_add_plain(&to, line->file);
            text_addf(&to, ":%u", line->line);
            if (!mentions(lines, text, next, line, false) || mentions(lines, text, NULL, line, true))
                text_addf(&to, " (IR line %u)", line->ir_line);
        }
        at = end;
    }
    return verdict_keep(verdict, &to);
}

/* Whether the kernel was written in Python, where ops are calls. */
static bool is_python(const SourceLines *lines) {
    static const Str suffix = STR(".py");
    for (size_t i = 0; i < lines->count; i++) {
        Str file = lines->items[i].file;
        if (file.size > suffix.size && str_is((Str){file.data + file.size - suffix.size, suffix.size}, suffix.data))
            return true;
    }
    return false;
}

static const char *with_calls(Verdict *verdict, const char *text) {
    if (!text || !strchr(text, '`'))
        return text;
    Text to = {0};
    text_add_calls(&to, text);
    return verdict_keep(verdict, &to);
}

/* The same of the agent that waits forever. */
const ReportBlocked *blocked_retold(Verdict *verdict, const Finding *finding, Retell *retell, const void *context) {
    ReportBlocked *blocked = ARENA_ARRAY(verdict->arena, ReportBlocked, finding->blocked_count + 1);
    for (size_t i = 0; i < finding->blocked_count; i++) {
        blocked[i] = finding->blocked[i];
        blocked[i].waits_for = retell(context, verdict, blocked[i].waits_for);
        blocked[i].why = retell(context, verdict, blocked[i].why);
        ReportPlace *could = ARENA_ARRAY(verdict->arena, ReportPlace, blocked[i].could_count + 1);
        for (size_t k = 0; k < blocked[i].could_count; k++) {
            could[k] = blocked[i].could[k];
            could[k].detail = retell(context, verdict, could[k].detail);
        }
        blocked[i].could = could;
    }
    return blocked;
}

void verdict_name_source(Verdict *verdict, Module *module) {
    if (!verdict->finding_count)
        return;
    SourceLines lines = lines_of(verdict, module);
    bool python = is_python(&lines);
    for (size_t i = 0; i < verdict->finding_count && lines.count; i++) {
        Finding *finding = &verdict->findings[i];
        finding->message = with_source(&lines, verdict, finding->message);
        finding->why = with_source(&lines, verdict, finding->why);
        finding->fix = with_source(&lines, verdict, finding->fix);
        finding->schedule = with_source(&lines, verdict, finding->schedule);
        if (finding->blocked_count)
            finding->blocked = blocked_retold(verdict, finding, with_source, &lines);
        if (python)
            finding->fix = with_calls(verdict, finding->fix);
    }
}
