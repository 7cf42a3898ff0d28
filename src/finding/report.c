/* The words of a report. */
#include "finding/report.h"

Report report_blank(const char *file, const Verdict *verdict) {
    return (Report){.file = file,
                    .kernel = verdict->kernel,
                    .form = "",
                    .form_text = "",
                    .target = "",
                    .module = "",
                    .nothing = "",
                    .verdict = verdict,
                    .head = {.verdict = "", .rule = "", .what = "", .where = "", .why = "", .fix = ""},
                    .launch = "",
                    .deadlock_verdict = "unknown",
                    .deadlock_reason = "",
                    .coverage_note = ""};
}

const char *report_mechanism(ReportMechanism mechanism) {
    static const char *const names[] = {
#define MECHANISM(id, text) [MECHANISM_##id] = text,
        REPORT_MECHANISMS(MECHANISM)
#undef MECHANISM
    };
    return names[mechanism];
}

bool report_bytes_take_turns(const ReportBarrier *barrier) {
    int64_t sum = 0;
    for (size_t i = 0; i < barrier->byte_count; i++)
        sum += barrier->bytes[i].bytes;
    return barrier->byte_count > 1 && sum != barrier->data_bytes;
}
