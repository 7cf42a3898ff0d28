/* Where the threads of a kernel stand that does not end, by the last that each of them recorded. */
#ifndef TRACE_THREAD_STATUS_H
#define TRACE_THREAD_STATUS_H

#include "trace/stream.h"

/* Numbers of threads. Those of CTAs that have not begun are in none of them. */
typedef struct RecordThreadStatus {
    uint64_t ended;
    uint64_t gave_up;   /* a wait of theirs went on for too long */
    uint64_t held;      /* they have come to a barrier of threads, and recorded nothing since */
    uint64_t elsewhere; /* anything else: they may go on */
} RecordThreadStatus;

/* False: the recording cannot tell, because it is damaged, or because not everything found a place in it. */
bool record_thread_status(RecordThreadStatus *thread_status, const Recording *recording, const RecordShape *shapes,
                          uint32_t site_count);

/* Whether no thread can go on: all have ended, gave up, or are held, and some have not ended. */
static inline bool thread_status_still(const RecordThreadStatus *thread_status) {
    return !thread_status->elsewhere && thread_status->gave_up + thread_status->held > 0;
}

#endif
