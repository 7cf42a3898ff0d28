/* The sections of the barrier report as HTML: blocks that fold, tables, links to what is named. */
#ifndef RENDER_HTML_HTML_WRITER_H
#define RENDER_HTML_HTML_WRITER_H

#include "render/html/html.h"
#include "render/report/report_sections.h"

typedef struct HtmlWriter HtmlWriter;
struct HtmlWriter {
    ReportWriter writer; /* first, so that a report's writer can be taken for this one */
    Html html;
    void (*first)(HtmlWriter *writer); /* called before the first section */
    const ReportSection *section;      /* that is being written; NULL: none yet */
    size_t count;                      /* of what it counts */
    const char *label;                 /* of the tables that come */
    const char *key;                   /* of the last entry of a list; NULL: there is no list */
    bool in_part;
    /* A block, until it is known whether something in it is wrong. */
    bool in_block, wrong;
    Anchor anchor;
    Text head, body;
    Text *page; /* where it goes then */
    /* What is being put off. */
    size_t later; /* blocks; 0: nothing is */
    const char *later_kind;
    Text put_off;
    Text *page_then; /* where the page goes on */
};

void html_writer_init(HtmlWriter *writer, const Report *report, const ReportHtml *what, Text *to);
void html_writer_free(HtmlWriter *writer);

void html_table(HtmlWriter *writer, const Table *table);
/* Begins an entry, or goes on with one of the same key: the caller adds its <dd>. */
void html_start_fact(HtmlWriter *writer, const char *key);
/* An entry; nothing if nothing is said. */
void html_fact(HtmlWriter *writer, const char *key, const char *text);
/* Ends the list of entries, if there is one. */
void html_end_facts(HtmlWriter *writer);
/* Ends all that is open. */
void html_end_section(HtmlWriter *writer);

#endif
