/* The five lines that a report begins with: the verdict, what happens, where, why, and what to change. */
#ifndef CHECK_REPORT_BUILD_HEAD_H
#define CHECK_REPORT_BUILD_HEAD_H

#include "finding/report.h"

/* Fills report->head and report->messages, and gives what the report says of deadlocks the texts of their findings,
 * with the report's names of barriers and buffers. The verdict, which is the report's, is whole and closed; texts go
 * into its arena. */
void report_lead(Report *report, Verdict *verdict);

#endif
