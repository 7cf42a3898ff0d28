/* The kernel's own source beside the timeline: the lines that its text comes from, those of findings marked, each with
 * the lines of the IR that the page's script joins to steps of the run.
 *
 * Each file is looked for as base/code.h says, since anyone may have written its name, and no more of it is shown than
 * lines that the kernel comes from, with what lies between and beside them. Where the kernel's file cannot be read, the
 * page says so, and lines of the IR stand there. */
#ifndef RENDER_HTML_HTML_CODE_H
#define RENDER_HTML_HTML_CODE_H

#include "render/report/report.h"

typedef struct Html Html;

typedef struct HtmlCodeFile {
    const char *name;
    Source *source; /* NULL: it cannot be read */
    bool *shown;    /* lines, by their number */
} HtmlCodeFile;

enum { HTML_MOST_FILES = 8 };

typedef struct HtmlCode {
    const Report *report;
    const Trace *trace;
    HtmlCodeFile files[HTML_MOST_FILES]; /* the first is the one that the kernel begins in */
    size_t file_count, left_out;         /* left_out: files that there was no room for */
    size_t line_count;
    bool cut; /* there was no room for a line */
    size_t wanted_count;
    bool *wanted; /* lines of the IR that steps or findings are at, by their number */
} HtmlCode;

/* Reads the files, and decides which of their lines are shown. */
void html_code_init(HtmlCode *code, const Report *report, const ReportHtml *what);
void html_code_free(HtmlCode *code);

/* Whether the kernel's source is there; else lines of the IR take its place. */
bool html_code_is_there(const HtmlCode *code);
/* The line of a shown file that is named at the start of `text`, "matmul.py:20": the number of the file, 1 + its index,
 * and how much of the text names it; 0 if none is. */
size_t html_code_named(const HtmlCode *code, Str text, uint32_t *line, size_t *size);
/* Everything on the page is written, and the lines of the IR that it quotes are known. */
void html_code_panel(Html *html);

#endif
