/* What the barrier report says, section by section, for whoever lays it out.
 *
 * A writer is told of sections, of blocks within them (a barrier, a buffer), of entries (a key and a text), of tables
 * and of edges. Texts may hold bytes of an untrusted file: the writer makes them harmless. Sentences of our own mark
 * the words of the glossary: "a [phase]", or "[phases|phase]" where the word is written differently. */
#ifndef RENDER_REPORT_SECTIONS_H
#define RENDER_REPORT_SECTIONS_H

#include "finding/report.h"
#include "render/table.h"

/* Edges between the same two partitions. */
typedef struct EdgeGroup {
    const ReportEdge *const *edges;
    size_t count;
    bool goes_on; /* it starts where the group before it ended */
} EdgeGroup;

typedef struct ReportWriter ReportWriter;
struct ReportWriter {
    void (*section)(ReportWriter *writer, const char *title, const char *sentence);
    void (*part)(ReportWriter *writer, const char *title); /* of a section; a sentence of our own */
    void (*block)(ReportWriter *writer, Tone tone, const char *name, Str what);
    void (*entry)(ReportWriter *writer, const char *key, Tone tone, Str text);
    void (*line)(ReportWriter *writer, Tone tone, Str text); /* a paragraph of a section */
    void (*table)(ReportWriter *writer, const Table *table);
    void (*edges)(ReportWriter *writer, const Report *report, const EdgeGroup *groups, size_t count);
    Text text; /* that is being put together */
    bool failed;
};

/* Sorts the edges; `groups` has room for as many as there are edges. False if there is no memory. */
bool report_group_edges(const ReportEdge **edges, size_t count, EdgeGroup *groups, size_t *group_count);

/* "2 findings", "clean", "incomplete"; then form and launch. */
void report_outcome(const Report *report, Text *to);
/* Everything below the first line, up to and with the limits. The caller frees the writer's text. */
void report_sections(const Report *report, ReportWriter *writer);

/* "IR line 41 (kernel.py:19)"; nothing if neither is known. */
void report_place(const ReportPlace *place, Text *to);
/* "TMA mbarrier: full, carries a, b (3 x 128x64xf16)" */
void report_edge_text(const ReportEdge *edge, Text *to);
/* "IR line 41 -> IR line 58" */
void report_edge_places(const ReportEdge *edge, Text *to);
/* Of a partition of that name; "" if it has none. */
const char *report_role(const Report *report, const char *name);

#endif
