/* The barrier report, written out: for a terminal, as Markdown, as a graph for dot, as HTML, as JSON.
 *
 * Text, Markdown and HTML say the same in the same order: report_sections.c has what is said, the three have how. All
 * that may stem from the IR is made harmless for where it goes. docs/report.md explains the sections, docs/glossary.md
 * the words. */
#ifndef RENDER_REPORT_REPORT_H
#define RENDER_REPORT_REPORT_H

#include "base/source.h"
#include "finding/report.h"
#include "render/trace.h"

typedef struct ReportTextOptions {
    bool color, summary;
    unsigned width;    /* columns; 0: as wide as need be */
    unsigned sections; /* a bit each, by SectionId; 0: all */
} ReportTextOptions;

void render_report_text(const Report *report, ReportTextOptions options, Text *to);
void render_report_markdown(const Report *report, Text *to);
/* Partitions are nodes, and red if they wait forever; edges are arrows, dashed if they lead backward. An order that
 * coverage misses is a dotted red arrow. */
void render_report_dot(const Report *report, Text *to);

typedef struct ReportHtml {
    const Trace *trace; /* NULL: nothing was run */
    Source *source;     /* the IR's text; NULL: there is none, as of a program */
    const char *root;   /* a folder below which the kernel's own source may lie (base/code.h); NULL: none is known */
} ReportHtml;

void render_report_html(const Report *report, const ReportHtml *what, Text *to);

/* All words, for a terminal of `width` columns (0: as wide as need be). */
void render_glossary_text(Text *to, unsigned width);

#endif
