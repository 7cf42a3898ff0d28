/* Writing HTML: escapes, links, sections. What the parts of the HTML report share.
 *
 * Every text of a report may stem from a file that anyone wrote. It goes out through html_text, html_addf or a
 * function below that uses them, never through text_addf. */
#ifndef RENDER_HTML_HTML_H
#define RENDER_HTML_HTML_H

#include "base/map.h"
#include "base/source.h"
#include "finding/report.h"
#include "render/html/html_code.h"

enum { HTML_MOST_LINES = 2000 }; /* of the IR that a page quotes */

/* A page that is being written. */
struct Html {
    Text *to;
    const Report *report;
    Source *source;
    Map barriers, buffers; /* by name: the element */
    Map rings;             /* barriers, by what a run calls them: see TraceBarrier */
    Text ring_names;
    const Term *terms;
    size_t term_count;
    bool *quoted; /* lines of the IR, by their number; NULL: none can be */
    size_t line_count;
    HtmlCode code;
};

void html_init(Html *html, const Report *report, const ReportHtml *what, Text *to);
void html_free(Html *html);

/* ---- Texts ---- */

/* Text for anywhere in a page, attributes included. Controls, marks that turn the direction of writing, and bytes that
 * are no UTF-8 become U+FFFD. */
void html_text(Text *to, Str text);
/* printf as text_plainf has it, with texts made harmless for a page. */
void html_addf(Html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text of several lines. "IR line 41", "the loop at line 41", "loop@41" and "matmul.py:20" become links to that line.
 */
void html_words(Html *html, Str text);
/* A sentence: the same, and words of the glossary become links to it, each where it first stands. */
void html_prose(Html *html, Str text);

bool html_said(const char *text);

/* ---- Links ---- */

/* Where the row of a barrier is, by what a run calls it: "%full", "%token.empty", "named barrier 9": "barrier-3" is 3.
 * -1 if the report has none. */
long html_ring(const Html *html, Str ring);
/* The names of barriers or buffers, joined by ", ", each as a link to its row. */
void html_barriers(Html *html, Str names);
void html_buffers(Html *html, Str names);
/* A slot of a barrier, "%full[1]", as a link to its row. */
void html_slot(Html *html, Str slot);
/* A number, which shows that line of the IR. */
void html_line(Html *html, uint32_t line);
/* Sees to it that the line is quoted, and two before and after it. False if there is none, or no room. */
bool html_quote(Html *html, uint32_t line);

/* ---- Sections ---- */

/* A section's start: a fold that is open, with a heading, "3 barriers" beside it if `one` is not "", and a sentence
 * about it. */
void html_section(Html *html, const char *id, const char *heading, size_t count, const char *one, Str lead);
void html_section_end(Html *html);
void html_glossary(Html *html);
/* The lines of the IR that were quoted until now: a section of them, and they alone. */
void html_excerpts(Html *html);
void html_quoted_lines(Html *html);

#endif
