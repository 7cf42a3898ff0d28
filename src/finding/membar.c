/* The parts of a report on thread barriers that do not depend on the kernel. */
#include "finding/membar.h"

MembarReport membar_report_blank(const char *file, const char *function) {
    static const MembarPlace nowhere = {.op = "", .file = ""};
    return (MembarReport){.file = file, .function = function, .model = "", .problem = "", .at = nowhere};
}

const char *membar_stage_text(const MembarReport *report) {
    if (report->unknown)
        return "memory is allocated; nothing says whether barriers are in";
    return report->inserted ? "memory is allocated: barriers are in" : "before barriers are inserted";
}

static const struct {
    const char *name, *text;
} causes[] = {
#define CAUSE(id, name, text) {name, text},
    MEMBAR_CAUSES(CAUSE)
#undef CAUSE
};

const char *membar_cause_name(MembarCause cause) {
    return causes[cause].name;
}

const char *membar_cause_text(MembarCause cause) {
    return causes[cause].text;
}

void membar_total(MembarTotals *totals, const MembarReport *report) {
    const MembarComparison *comparison = &report->comparison;
    totals->functions++;
    totals->needed += report->needed_count;
    totals->missing += report->missing_count;
    totals->present += report->present_count;
    totals->needless += report->needless_count;
    totals->distinct += report->distinct_count;
    if (!comparison->model)
        return;
    totals->model = report->model;
    totals->compared = comparison->model;
    totals->count += comparison->count;
    totals->other += comparison->other;
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const MembarDifference *difference = &comparison->differences[i];
        (difference->saved ? totals->saved : totals->added)[difference->cause]++;
    }
}
