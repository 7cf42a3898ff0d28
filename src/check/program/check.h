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
/* A step of a warp, as a line of the log has it. */
typedef struct ProgramStep {
    uint64_t numbers[5]; /* of its line */
    uint8_t verb;
    Str where;
} ProgramStep;
/* Memory that processes share, at an address of this one, and where it is for all of them. */
typedef struct ProgramPlace {
    uint64_t address, bytes, to;
} ProgramPlace;
/* Where a launch stands among the operations of the log: those of each lane that the clock has are over when it
 * begins. */
typedef struct ProgramStand {
    uint64_t operation;
    uint32_t lane, process;
    const OrderClock *begun; /* NULL: it is not in the log, or has no atomics on memory that processes share */
    ProgramPlace *places;
    uint32_t place_count;
} ProgramStand;
/* A launch of which a recording says what it touches. */
typedef struct ProgramRecording {
    uint64_t process, number; /* of the recording */
    bool looked;              /* it was looked for */
    bool known;               /* ... and says what follows */
    bool dependent;
    unsigned waits;   /* of a dependent launch, as its line in the log has it */
    bool of_shared;   /* it says what follows of memory that processes share, and nothing of other memory */
    Touch *looked_at; /* ... in these places */
    uint32_t looked_at_count;
    bool signals; /* ... and something in the kernel may order it and other launches, which `steps` do not say */
    bool lost;    /* ... and not all of it: other launches have touched it, too */
    Touch *touches;
    uint32_t touch_count;
    const char *path;   /* of the recording */
    ProgramStand stand; /* set by the check */
    ProgramStep *steps; /* what it does beside others, played together; NULL: that is not known */
    uint32_t step_count;
    uint64_t grid[4]; /* as the line has it */
    bool begun;       /* by the check, as far as it has come */
} ProgramRecording;
typedef struct ProgramRecordings {
    ProgramRecording *items;
    uint32_t count, capacity;
    bool signals; /* atomics of some of them may order others: `steps` are wanted of all that have a stand */
    bool played;  /* ... they were looked for */
} ProgramRecordings;

/* With a picture of it, unless `trace` is NULL. Launches of which it would matter what they touch are added to
 * `recordings` in the arena of the verdict; what is known of them there is taken. The log is read as it is checked: a
 * line that cannot be read is an error, and the verdict then means nothing. */
void program_check(Source *source, ProgramRecordings *recordings, Verdict *verdict, Trace *trace,
                   Diagnostics *diagnostics);
/* Whether the first one is over when the other one begins, by what the log says. */
bool program_is_before(const ProgramStand *one, const ProgramStand *other);

#endif
