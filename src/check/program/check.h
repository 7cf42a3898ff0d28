/* What the order log of a program shows: operations that touch the same memory and are ordered by nothing, dependent
 * launches that access before they wait, memory that is given out again while a stream may still use it. */
#ifndef CHECK_PROGRAM_CHECK_H
#define CHECK_PROGRAM_CHECK_H

#include "base/diagnostics.h"
#include "engine/order/races.h"
#include "finding/finding.h"
#include "render/trace.h"

/* Whether all lines can be read; else the first that cannot is an error. */
bool program_log_read(Source *source, Diagnostics *diagnostics);
/* A launch of which a recording says what it touches. */
typedef struct ProgramRecording {
    uint64_t process, number; /* of the recording */
    bool looked;              /* it was looked for */
    bool known;               /* ... and says what follows */
    bool dependent;
    unsigned waits; /* of a dependent launch, as its line in the log has it */
    Touch *touches;
    uint32_t touch_count;
} ProgramRecording;
typedef struct ProgramRecordings {
    ProgramRecording *items;
    uint32_t count, capacity;
} ProgramRecordings;

/* Of a log that can be read; with a picture of it, unless `trace` is NULL. Launches of which it would matter what they
 * touch are added to `recordings` in the arena of the verdict; what is known of them there is taken. */
void program_check(const Source *source, ProgramRecordings *recordings, Verdict *verdict, Trace *trace);

#endif
