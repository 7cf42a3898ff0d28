/* The time by which work has to be done: one for each thread, as a thread looks at one kernel at a time. It is time of
 * the processor, as the thread has used it: how much is done by then does not depend on what else the machine does.
 *
 * Whatever may take long asks now and then whether it is past, and ends as it does when a budget is used
 * up. An arena asks, too, when it grows, and jumps as if it were exhausted. The code that set the deadline says what
 * that means for the result.
 *
 * What was found is still told when time is up: a finding that ends before its last word would be none. */
#ifndef BASE_DEADLINE_H
#define BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether work has to end now, for another reason than the time that it took. */
typedef int DeadlineStop(void *context);

typedef struct Deadline {
    uint64_t end;   /* nanoseconds of the thread's time; 0: there is none */
    uint64_t grant; /* until then it is not past; 0: nothing was granted */
    uint32_t asked; /* since the clock was read */
    bool missed, stopped; /* stopped: because `stop` said so */
    DeadlineStop *stop;   /* asked whenever the clock is read; or NULL */
    void *context;
} Deadline;

extern _Thread_local Deadline deadline;

/* Of a clock that does not go back. */
double clock_seconds(void);

/* Nanoseconds that the thread has worked, and more. */
uint64_t deadline_now(void);
/* From now on, so many seconds; 0: no bound. */
void deadline_start(unsigned seconds, DeadlineStop *stop, void *context);
/* Since then, by the clock. */
double deadline_seconds(void);
/* No bound any more. Returns whether it was missed. */
bool deadline_end(void);
/* Reads the clock. */
bool deadline_look(void);
/* Something was found, and is to be told: it gets a while for that, even if time is up. */
void deadline_grant(void);

/* Whether it is past; looks at the clock only now and then. */
static inline bool deadline_passed(void) {
    return deadline.end && ((deadline.missed && !deadline.grant) || (++deadline.asked % 256 == 0 && deadline_look()));
}

#endif
