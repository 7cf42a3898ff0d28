/* Which findings are about which barrier, buffer or edge of a report: those with a place on one of its lines. Where a
 * finding names what it is about ("bytes 0-16383 of %ring"), it is about that alone, else about all that its ops touch:
 * barriers, if it is of that space, else memory. Findings that do not count are about nothing. */
#ifndef RENDER_REPORT_REPORT_ABOUT_H
#define RENDER_REPORT_REPORT_ABOUT_H

#include "finding/report.h"

typedef struct AboutLine {
    uint32_t line, finding;
} AboutLine;

typedef struct About {
    const Report *report;
    AboutLine *lines; /* of the IR, in order */
    size_t line_count;
    bool *names;    /* of each finding: whether it names a barrier or buffer that its ops touch */
    bool *reported; /* of each finding: whether it was said in full */
} About;

/* False if there is no memory; it is to be freed all the same. */
bool about_init(About *about, const Report *report);
void about_free(About *about);

/* Notes that a finding is said in full now; whether it was before. */
bool about_report(About *about, const Finding *finding);

/* Up to `most` findings, in their order; how many there are. */
size_t about_barrier(const About *about, const ReportBarrier *barrier, const Finding **found, size_t most);
size_t about_buffer(const About *about, const ReportBuffer *buffer, const Finding **found, size_t most);
size_t about_edge(const About *about, const ReportEdge *edge, const Finding **found, size_t most);

#endif
