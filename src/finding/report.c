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
