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

ReportBarrier report_barrier_blank(void) {
    return (ReportBarrier){.name = "",
                           .value = "",
                           .kind = "",
                           .mechanism = "",
                           .direction = "",
                           .depth = -1,
                           .count = -1,
                           .participants = "",
                           .index = "",
                           .phase = "",
                           .offset = "",
                           .expect_bytes = -1,
                           .data_bytes = -1,
                           .cadence = "",
                           .pair = ""};
}

void report_add_deadlocks(Report *report, Verdict *verdict) {
    ReportDeadlock *deadlocks = ARENA_ARRAY(verdict->arena, ReportDeadlock, verdict->finding_count + 1);
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (!str_starts(str_of(rule_of(finding->rule)->id), STR("deadlock.")))
            continue;
        deadlocks[report->deadlock_count++] = (ReportDeadlock){.rule = rule_of(finding->rule)->id,
                                                               .message = finding->message,
                                                               .why = finding->why,
                                                               .fix = finding->fix,
                                                               .schedule = finding->schedule,
                                                               .launch = finding->launch,
                                                               .blocked = finding->blocked,
                                                               .blocked_count = finding->blocked_count};
    }
    report->deadlocks = deadlocks;
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
