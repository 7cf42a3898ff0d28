/* The words of a report. */
#include "finding/report.h"

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
