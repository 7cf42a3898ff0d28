/* What the sections of the barrier report are put together from: see report_sections.h. */
#ifndef RENDER_REPORT_REPORT_SAY_H
#define RENDER_REPORT_REPORT_SAY_H

#include "render/report/report_sections.h"

/* ORDER: as report_section_list has them */
typedef enum SectionId {
    SECTION_PARTITIONS,
    SECTION_DEPENDENCIES,
    SECTION_PHASES,
    SECTION_SHARED,
    SECTION_ALIASES,
    SECTION_DEADLOCKS,
    SECTION_COVERAGE,
    SECTION_LIMITS,
} SectionId;

/* An empty section says just that, or, if it is given, why it is. */
void say_section(ReportWriter *writer, SectionId id, size_t count, const char *why_empty);

/* What is put together in the writer's text, as a slice that is good until more is put there. */
Str say_taken(ReportWriter *writer);
/* That text, as an entry, or a paragraph. */
void say(ReportWriter *writer, const char *key, Tone tone);
void say_line(ReportWriter *writer, Tone tone);
/* Entries; nothing if the text is "". */
void say_text(ReportWriter *writer, const char *key, const char *text);
void say_toned(ReportWriter *writer, const char *key, Tone tone, const char *text);
void say_content(ReportWriter *writer, const char *key, Content content, const char *text);
/* Findings beside what they are about. */
void say_found(ReportWriter *writer, const Finding *const *found, size_t count);
/* Frees the table. */
void say_table(ReportWriter *writer, Table *table);

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- Sections that stand in a file of their own ---- */

void say_deadlocks(const Report *report, ReportWriter *writer);
void say_coverage(const Report *report, ReportWriter *writer);
void say_limits(const Report *report, ReportWriter *writer);
/* Whether what a count calls suspicious is a deadlock by the phases. */
bool say_is_deadlock(const ReportCandidate *candidate);

#endif
