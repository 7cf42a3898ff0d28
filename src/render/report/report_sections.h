/* What the barrier report says, section by section, for the code that lays it out.
 *
 * A writer is told of sections, of blocks within them (a barrier, a buffer), of entries (a key and a text), of tables
 * and of edges. Texts may hold bytes of an untrusted file: the writer makes them harmless. Sentences of our own mark
 * the words of the glossary: "a [phase]", or "[phases|phase]" where the word is written differently. */
#ifndef RENDER_REPORT_REPORT_SECTIONS_H
#define RENDER_REPORT_REPORT_SECTIONS_H

#include "render/report/report_about.h"
#include "render/table.h"

typedef struct ReportSection {
    const char *id, *title;
    const char *sentence; /* of our own */
    const char *nothing;  /* what is said if there is nothing; "": the section is then left out, or finds its words */
    const char *one;      /* what its count counts */
    unsigned most_open;   /* with more blocks, they are better folded; 0: they never are */
} ReportSection;

/* Those that are numbered, and the limits. */
const ReportSection *report_section_list(size_t *count);

/* Edges between the same two partitions. */
typedef struct EdgeGroup {
    const ReportEdge *const *edges;
    size_t count;
    bool goes_on; /* it starts where the group before it ended */
} EdgeGroup;

typedef struct ReportWriter ReportWriter;
struct ReportWriter {
    void (*section)(ReportWriter *writer, const ReportSection *section, const char *sentence, size_t count);
    void (*part)(ReportWriter *writer, const char *title); /* of a section; a sentence of our own */
    void (*block)(ReportWriter *writer, Tone tone, const char *name, Str what, Anchor anchor);
    void (*entry)(ReportWriter *writer, const char *key, Content content, Tone tone, Str text);
    void (*line)(ReportWriter *writer, Tone tone, Str text, Anchor about); /* a paragraph of a section */
    void (*table)(ReportWriter *writer, const Table *table);
    /* These may be NULL. */
    void (*edges)(ReportWriter *writer, const Report *report, const EdgeGroup *groups,
                  size_t count);                                    /* else: a table */
    void (*finding)(ReportWriter *writer, size_t index);            /* of the verdict; else: a line */
    void (*about_it)(ReportWriter *writer, const Finding *finding); /* beside what it is about; else: an entry */
    void (*picture)(ReportWriter *writer);                          /* of the edges */
    bool roomy;        /* there is room for tables that sum up, and for what else would make lines too long */
    unsigned sections; /* a bit each, by SectionId: those that are told; 0: all, and what stands above them */
    About about;       /* report_sections sets it up */
    Text text;         /* that is being put together */
    bool failed;
};

/* Sorts the edges; `groups` has room for as many as there are edges. False if there is no memory. */
bool report_group_edges(const ReportEdge **edges, size_t count, EdgeGroup *groups, size_t *group_count);

/* What fits on a screen: partitions, edges between them, what is wrong, what is overwritten (report_summary.c). */
void report_summary(const Report *report, Style style, Text *to);

/* After the verdict, the rest of what every report begins with: what happens, where, why, and what to change. */
void report_head(const Report *report, ReportWriter *writer);

/* Everything below the first line, up to and with the limits. The caller frees the writer's text. */
void report_sections(const Report *report, ReportWriter *writer);

/* ---- Words ---- */

/* "2 findings", "clean (this launch)", "incomplete"; then form and launch. Or why there is nothing to report. */
void report_outcome(const Report *report, Text *to);
/* What lines are of: "IR", or "PTX". */
const char *report_text_name(const Report *report);
/* " (kernel.cu:16, PTX line 167)", or nothing: where that is what was not looked at. */
void report_incomplete_place(const Report *report, const Incomplete *incomplete, Text *to);
/* A sentence of our own, without its marks. */
void report_plain_sentence(const char *sentence, Text *to);
/* "IR line 41 (kernel.py:19)"; nothing if neither is known. */
void report_place(const ReportPlace *place, Text *to);
/* "partition0, IR line 60 (kernel.py:33), 12 times: ttng.wait_barrier, 16384 bytes" */
void report_full_place(const ReportPlace *place, Text *to);
/* As in a table, where it may be broken: "IR line 41, kernel.py:19"; with room, its op, too. */
void report_cell_place(const ReportPlace *place, bool roomy, Text *to);
/* "TMA mbarrier: full, carries a, b (3 x 128x64xf16)" */
void report_edge_text(const ReportEdge *edge, Text *to);
/* "IR line 41 -> IR line 58" */
void report_edge_places(const ReportEdge *edge, Text *to);
/* "error", "warning", "note", and the tone of it. */
const char *report_severity(const Finding *finding, Tone *tone);
/* "full waits forever", as the report names things. */
const char *report_message(const Report *report, const Finding *finding);
/* "full waits forever (IR line 41) [deadlock.lapped]" */
void report_finding(const Report *report, const Finding *finding, Text *to);
/* The same beside what it is about; "deadlock.lapped at IR line 41, see above" once it was said. */
void report_mention(About *about, const Finding *finding, Text *to);
/* Whether an agent is the partition, or a helper of it: "partition0.tma", "cta1.partition0". */
bool report_belongs(const char *agent, const char *partition);
/* The number of the partition, also if a helper of it is named; how many there are if there is none. */
size_t report_partition(const Report *report, const char *name);
/* Of a partition of that name; "" if it has none. */
const char *report_role(const Report *report, const char *name);
/* Whether anything was run: a verdict without a run says that nothing was found in the text, and no more. */
bool report_ran(const Report *report);
/* Rows of the coverage whose order is missing. */
size_t report_missing(const Report *report);
/* What holds tensor memory together for the compiler. */
bool report_is_token(const ReportEdge *edge);
bool report_is_backward(const ReportEdge *edge);
/* Between the parts of a list: nothing before the first, which is at `start`. */
void report_part_by(Text *to, size_t start, const char *between);
void report_add_part(Text *to, size_t start, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
