/* Writing HTML: escapes, links, cells. What the parts of the HTML report share.
 *
 * Every text of a report may stem from a file that anybody wrote. It goes out through html_text, html_addf or a
 * function below that uses them, never through text_addf. */
#ifndef RENDER_HTML_H
#define RENDER_HTML_H

#include "base/map.h"
#include "base/source.h"
#include "finding/report.h"

enum { HTML_MOST_LINES = 2000 }; /* of the IR that a page quotes */

/* A page that is being written. */
typedef struct Html {
    Text *to;
    const Report *report;
    Source *source;
    Map barriers, buffers; /* by name: the element */
    Map rings;             /* barriers, by what a run calls them: see TraceBarrier */
    Text ring_names;
    const Term *terms;
    size_t term_count;
    uint32_t lines[HTML_MOST_LINES]; /* of the IR that are quoted, in order */
    size_t line_count;
} Html;

void html_init(Html *html, const Report *report, Source *source, Text *to);
void html_free(Html *html);

/* ---- Texts ---- */

/* Text for anywhere in a page, attributes included. Controls, marks that turn the direction of writing, and bytes that
 * are no UTF-8 become U+FFFD. */
void html_text(Text *to, Str text);
/* printf of %s, which is escaped, %u, %zu, %lld and %%, and nothing else. */
void html_addf(Html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A sentence. "IR line 41", "the loop of line 41" and "loop@41" become links to that line. */
void html_words(Html *html, const char *text);
/* The same, and words of the glossary become links to it, each where it first stands. */
void html_prose(Html *html, const char *text);
bool html_said(const char *text);

/* ---- Links ---- */

/* Where its row is: "barrier-3" is html_barrier's 3. -1 if there is no such barrier. */
long html_barrier(const Html *html, Str name);
/* The same by what a run calls it: "%full", "%token.empty", "named barrier 9". */
long html_ring(const Html *html, Str ring);
/* The names of barriers or buffers, joined by ", ", each as a link to its row. */
void html_barriers(Html *html, const char *names);
void html_buffers(Html *html, const char *names);
/* "IR line 41", which shows that line; nothing for 0. */
void html_line(Html *html, uint32_t line);
/* Sees to it that the line is quoted, and two before and after it. False if there is none, or no room. */
bool html_quote(Html *html, uint32_t line);
/* A slot of a barrier, "%full[1]", as a link to its row. */
void html_slot(Html *html, const char *slot);
/* "partition0 ttng.wait_barrier, 16,384 bytes; kernel.py:12; IR line 41; 3 times" */
void html_place(Html *html, const ReportPlace *place);

/* ---- Lists and tables ---- */

/* A row of a <dl class="facts">; nothing if the text is "". */
void html_fact(Html *html, const char *key, const char *text);

/* The headings are separated by '|'; one that starts with '#' is above numbers. */
void html_table(Html *html, const char *name, const char *headings);
void html_table_end(Html *html);
void html_cell(Html *html, const char *text);
void html_cell_code(Html *html, const char *text);
/* -1 is shown as not known. */
void html_cell_number(Html *html, int64_t number);
void html_cell_line(Html *html, uint32_t line);
void html_cell_places(Html *html, const ReportPlace *places, size_t count);
/* The dash for what is not there. */
void html_none(Html *html);

#endif
