/* Which lines of a kernel's source a page shows, and how. */
#include "render/html/html_code.h"

#include "base/code.h"
#include "base/order.h"
#include "render/html/html.h"

#include <ctype.h>
#include <stdlib.h>

enum { BESIDE = 2, GAP = 12 }; /* lines around one that are shown, and between two */

/* ---- Files and lines ---------------------------------------------------------------------------- */

static HtmlCodeFile *file_named(HtmlCode *code, const char *name, const char *ir, const char *root) {
    for (size_t i = 0; i < code->file_count; i++)
        if (strcmp(code->files[i].name, name) == 0)
            return &code->files[i];
    if (code->file_count == HTML_MOST_FILES) {
        code->left_out++;
        return NULL;
    }
    HtmlCodeFile *file = &code->files[code->file_count++];
    *file = (HtmlCodeFile){.name = name, .source = code_find(ir, root, name)};
    if (!file->source)
        return file;
    source_place(file->source, 0); /* makes the index of lines */
    file->shown = file->source->line_starts ? calloc((size_t)file->source->line_count + 2, sizeof *file->shown) : NULL;
    return file;
}

static void show(HtmlCode *code, HtmlCodeFile *file, uint32_t line) {
    if (!file || !file->shown || !line || line > file->source->line_count || file->shown[line])
        return;
    file->shown[line] = code->line_count < HTML_MOST_LINES;
    code->cut |= !file->shown[line];
    code->line_count += file->shown[line];
}

/* The file that the kernel begins in is shown by its ops; of others there are only lines here and there. */
static void show_around(HtmlCode *code, HtmlCodeFile *file, uint32_t line) {
    show(code, file, line);
    for (uint32_t i = 1; i <= BESIDE && !(code->trace && code->trace->code_count && file == code->files); i++) {
        show(code, file, line > i ? line - i : 0);
        show(code, file, line + i);
    }
}

/* What lies between lines that are shown, if it is little. */
static void fill_gaps(HtmlCode *code, HtmlCodeFile *file) {
    uint32_t last = 0;
    for (uint32_t line = 1; file->shown && line <= file->source->line_count; line++) {
        if (!file->shown[line])
            continue;
        for (uint32_t between = last + 1; last && line - last <= GAP && between < line; between++)
            show(code, file, between);
        last = line;
    }
}

/* ---- What is wanted ------------------------------------------------------------------------------ */

static bool is_wanted(const HtmlCode *code, uint32_t ir_line) {
    return ir_line < code->wanted_count && code->wanted[ir_line];
}

static bool is_placed(const FindingPlace *place) {
    return html_said(place->file) && place->line;
}

static void want_lines(HtmlCode *code) {
    const Trace *trace = code->trace;
    const Verdict *verdict = code->report->verdict;
    uint32_t last = 0;
    for (size_t i = 0; trace && i < trace->code_count; i++)
        last = trace->code[i].ir_line > last ? trace->code[i].ir_line : last;
    code->wanted = calloc((size_t)last + 1, sizeof *code->wanted);
    code->wanted_count = code->wanted ? (size_t)last + 1 : 0;
    for (size_t i = 0; trace && i < trace->event_count; i++)
        if (trace->events[i].ir_line < code->wanted_count)
            code->wanted[trace->events[i].ir_line] = true;
    for (size_t i = 0; verdict && i < verdict->finding_count; i++)
        for (size_t k = 0; k < verdict->findings[i].place_count; k++)
            if (verdict->findings[i].places[k].ir_line < code->wanted_count)
                code->wanted[verdict->findings[i].places[k].ir_line] = true;
}

/* Those of findings first, in case that there is no room for all. */
static void choose_lines(HtmlCode *code, const char *ir, const char *root) {
    const Trace *trace = code->trace;
    const Verdict *verdict = code->report->verdict;
    size_t count = trace ? trace->code_count : 0;
    if (count)
        file_named(code, trace->code[0].file, ir, root);
    for (size_t i = 0; verdict && i < verdict->finding_count; i++)
        for (size_t k = 0; k < verdict->findings[i].place_count; k++) {
            const FindingPlace *place = &verdict->findings[i].places[k];
            if (is_placed(place))
                show_around(code, file_named(code, place->file, ir, root), place->line);
        }
    for (size_t i = 0; i < count; i++)
        if (trace->code[i].own || is_wanted(code, trace->code[i].ir_line))
            show_around(code, file_named(code, trace->code[i].file, ir, root), trace->code[i].line);
    for (size_t i = 0; i < code->file_count; i++)
        fill_gaps(code, &code->files[i]);
}

void html_code_init(HtmlCode *code, const Report *report, const ReportHtml *what) {
    *code = (HtmlCode){.report = report, .trace = what->trace};
    want_lines(code);
    choose_lines(code, what->source ? what->source->name : report->file, what->root);
}

void html_code_free(HtmlCode *code) {
    for (size_t i = 0; i < code->file_count; i++) {
        source_free(code->files[i].source);
        free(code->files[i].shown);
    }
    free(code->wanted);
}

bool html_code_is_there(const HtmlCode *code) {
    return code->file_count && code->files[0].shown;
}

/* The name without its folders, as messages have it. Of two files of the same name, neither is meant. */
static const HtmlCodeFile *file_at(const HtmlCode *code, Str text, size_t *size) {
    const HtmlCodeFile *found = NULL;
    for (size_t i = 0; i < code->file_count; i++) {
        Str name = str_of(path_name(code->files[i].name));
        if (!name.size || !str_starts(text, name) || text.size == name.size || text.data[name.size] != ':')
            continue;
        if (found)
            return NULL;
        found = &code->files[i];
        *size = name.size + 1;
    }
    return found;
}

size_t html_code_named(const HtmlCode *code, Str text, uint32_t *line, size_t *size) {
    const HtmlCodeFile *file = file_at(code, text, size);
    uint32_t number = 0;
    if (!file || !file->shown)
        return 0;
    for (; *size < text.size && isdigit((unsigned char)text.data[*size]) && number < 100000000; (*size)++)
        number = number * 10 + (uint32_t)(text.data[*size] - '0');
    *line = number;
    return number && number <= file->source->line_count && file->shown[number] ? (size_t)(file - code->files) + 1 : 0;
}

/* ---- Marks --------------------------------------------------------------------------------------- */

/* A line of a file, or of the IR (no file). */
typedef struct CodePlace {
    const char *file;
    uint32_t line;
} CodePlace;

static bool is_at(const FindingPlace *place, CodePlace at) {
    if (!at.file)
        return place->ir_line == at.line && !place->ir_file;
    return is_placed(place) && place->line == at.line && strcmp(place->file, at.file) == 0;
}

/* What one finding says happens on a line: "writes, reads". */
static void add_roles(Html *html, const Finding *finding, CodePlace at) {
    const char *before = " ", *last = "";
    for (size_t i = 0; i < finding->place_count; i++) {
        const FindingPlace *place = &finding->places[i];
        if (!is_at(place, at) || !html_said(place->role) || strcmp(place->role, last) == 0)
            continue;
        html_addf(html, "%s%s", before, place->role);
        last = place->role;
        before = ", ";
    }
}

/* Notes only where there is nothing graver. */
static void add_marks(Html *html, CodePlace at, Severity above) {
    static const char *const words[] = {"error", "warning", "note"}; /* ORDER Severity */
    static const char *const signs[] = {"\xe2\x9c\x97", "!", "i"};
    enum { MOST = 4 };
    const Verdict *verdict = html->report->verdict;
    size_t count = 0;
    text_str(html->to, STR("<span class=\"marks\">"));
    for (size_t i = 0; i < verdict->finding_count && count < MOST; i++) {
        const Finding *finding = &verdict->findings[i];
        bool here = false;
        for (size_t k = 0; k < finding->place_count && !here; k++)
            here = is_at(&finding->places[k], at);
        Severity severity = finding_severity(finding);
        if (!here || (severity == SEVERITY_NOTE && above != SEVERITY_NOTE))
            continue;
        html_addf(html, "<a class=\"tag tag-%s\" href=\"#finding-%zu\" title=\"%s\">%s", words[severity], i,
                  rule_of(finding->rule)->id, signs[severity]);
        add_roles(html, finding, at);
        text_str(html->to, STR("</a>"));
        count++;
    }
    text_str(html->to, STR("</span>"));
}

/* How grave the gravest finding is that has a place in that line; -1: none has. */
static int gravest(const Verdict *verdict, CodePlace at) {
    int found = -1;
    for (size_t i = 0; i < verdict->finding_count; i++)
        for (size_t k = 0; k < verdict->findings[i].place_count; k++) {
            int severity = (int)finding_severity(&verdict->findings[i]);
            if ((found < 0 || severity < found) && is_at(&verdict->findings[i].places[k], at))
                found = severity;
        }
    return found;
}

/* ---- The panel ----------------------------------------------------------------------------------- */

/* Lines of the IR that a line stands for, as far as steps or findings are at them. */
typedef struct JoinedLine {
    uint32_t file, line, ir_line;
} JoinedLine;

ORDER(by_place, JoinedLine, BY(file) BY(line) BY(ir_line))

static JoinedLine *joined_lines(const HtmlCode *code, size_t *count) {
    const Trace *trace = code->trace;
    size_t most = trace ? trace->code_count : 0;
    JoinedLine *joined = calloc(most + 1, sizeof *joined);
    *count = 0;
    for (size_t i = 0; joined && i < most; i++)
        for (uint32_t k = 0; k < code->file_count && is_wanted(code, trace->code[i].ir_line); k++)
            if (strcmp(code->files[k].name, trace->code[i].file) == 0)
                joined[(*count)++] = (JoinedLine){k, trace->code[i].line, trace->code[i].ir_line};
    if (*count)
        qsort(joined, *count, sizeof *joined, by_place);
    return joined;
}

typedef struct CodeList {
    const JoinedLine *joined, *end;
    uint32_t last; /* line that was written */
} CodeList;

static void add_joined(Html *html, CodeList *list, uint32_t file, uint32_t line) {
    const char *before = " data-ir=\"";
    uint32_t last = 0;
    while (list->joined < list->end &&
           (list->joined->file < file || (list->joined->file == file && list->joined->line < line)))
        list->joined++;
    for (; list->joined < list->end && list->joined->file == file && list->joined->line == line; list->joined++) {
        if (list->joined->ir_line == last)
            continue;
        last = list->joined->ir_line;
        text_addf(html->to, "%s%u", before, last);
        before = " ";
    }
    if (last)
        text_char(html->to, '"');
}

/* `file` is NULL for lines of the IR, which are their own. */
static void add_line(Html *html, CodeList *list, const HtmlCodeFile *file, uint32_t line) {
    static const char *const classes[] = {"", " error", " warning", " note"}; /* ORDER Severity */
    enum { MOST = 400 };                                                      /* bytes of a line */
    size_t index = file ? (size_t)(file - html->code.files) : 0;
    CodePlace at = {file ? file->name : NULL, line};
    int grave = gravest(html->report->verdict, at);
    const char *severity = classes[1 + grave];
    bool gap = list->last && list->last + 1 != line;
    Str whole = source_line(file ? file->source : html->source, line), shown = utf8_cut(whole, MOST);
    if (file)
        text_addf(html->to, "<li id=\"S%zu-%u\" value=\"%u\"", index, line, line);
    else
        text_addf(html->to, "<li id=\"L%u\" value=\"%u\"", line, line);
    if (gap || *severity)
        text_addf(html->to, " class=\"%s%s\"", gap ? "gap" : "at", severity);
    if (file)
        add_joined(html, list, (uint32_t)index, line);
    text_str(html->to, STR("><code>"));
    html_text(html->to, shown);
    text_addf(html->to, "%s</code>", shown.size < whole.size ? " \xe2\x80\xa6" : "");
    if (grave >= 0)
        add_marks(html, at, (Severity)grave);
    text_str(html->to, STR("</li>\n"));
    list->last = line;
}

static void add_file(Html *html, CodeList *list, const HtmlCodeFile *file) {
    html_addf(html, "<h3>%s</h3>\n<ol class=\"lines\">\n", file->name);
    list->last = 0;
    for (uint32_t line = 1; line <= file->source->line_count; line++)
        if (file->shown[line])
            add_line(html, list, file, line);
    text_str(html->to, STR("</ol>\n"));
}

void html_quoted_lines(Html *html) {
    CodeList list = {0};
    text_str(html->to, STR("<ol class=\"lines\">\n"));
    for (uint32_t line = 1; line <= html->source->line_count; line++)
        if (html->quoted[line])
            add_line(html, &list, NULL, line);
    text_str(html->to, STR("</ol>\n"));
}

static void add_notices(Html *html, bool ir) {
    const HtmlCode *code = &html->code;
    for (size_t i = 0; i < code->file_count; i++)
        if (!code->files[i].shown)
            html_addf(html, "<p class=\"notice\"><code>%s</code> cannot be read here.%s</p>\n", code->files[i].name,
                      !i && ir ? " Lines of the text that was checked stand in its place." : "");
    if (!code->file_count && ir && html->report->ptx)
        text_str(html->to, STR("<p class=\"notice\">This PTX names no source lines (<code>nvcc -lineinfo</code> writes "
                               "them). Its own lines stand here.</p>\n"));
    else if (!code->file_count && ir)
        text_str(html->to, STR("<p class=\"notice\">The IR names no source lines. Its own stand here.</p>\n"));
    if (code->cut || code->left_out)
        text_str(html->to,
                 STR("<p class=\"notice\">There is not room for all lines; those of findings come first.</p>\n"));
}

void html_code_panel(Html *html) {
    const HtmlCode *code = &html->code;
    bool ir = !html_code_is_there(code) && html->line_count;
    size_t count;
    if (!ir && !code->file_count)
        return;
    JoinedLine *joined = joined_lines(code, &count);
    CodeList list = {joined, joined ? joined + count : NULL, 0};
    text_str(html->to, STR("<div class=\"code\" tabindex=\"0\" role=\"region\" aria-label=\"Source\">\n"));
    add_notices(html, ir);
    for (size_t i = 0; i < code->file_count; i++)
        if (code->files[i].shown)
            add_file(html, &list, &code->files[i]);
    if (ir) {
        html_addf(html, "<h3>%s</h3>\n", html->report->file);
        html_quoted_lines(html);
    }
    text_str(html->to, STR("</div>\n"));
    html->to->failed |= !joined;
    free(joined);
}
