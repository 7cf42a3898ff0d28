/* Races between launches of one program: recordings of those that may have run at the same time (RecordingOrder), and
 * that access the same memory, are played together, in one engine. Each begins behind those that its clock has; a
 * dependent one behind griddepcontrol.wait. Strong accesses of all of them are ordered together, so that flags
 * which kernels set for each other count. */
#ifndef CHECK_REPLAY_TOGETHER_H
#define CHECK_REPLAY_TOGETHER_H

#include "check/replay/recording.h"
#include "machine/simt/host/steps.h"

/* Recordings of which some may have run at the same time, or behind each other with one of those between: groups[i] is
 * the first one of its group. One that is alone, or whose order is not known, is a group of its own. */
void recordings_group(const Recording *const *recordings, size_t count, size_t *groups, Arena *arena);

typedef struct RecordedLaunch {
    PtxModule *module;
    uint32_t entry;
    const Recording *recording;
    const char *file;
    const ThreadsOptions *options;
    Verdict *verdict;      /* what is wrong between two launches is told of the later one */
    TogetherKind together; /* set */
} RecordedLaunch;

/* Adds what is wrong between them to their verdicts. Each of them is still to be checked by itself. */
void recordings_check(RecordedLaunch *launches, size_t count, Arena *arena);

/* Memory of a process, and where that is for all of them: below 2^58. */
typedef struct TogetherPlace {
    uint64_t address, bytes, to;
} TogetherPlace;

/* What a launch of one of several processes does. */
typedef struct TogetherSteps {
    const TogetherPlace *places; /* memory that others have, too */
    uint32_t place_count;
    uint64_t apart; /* added to addresses of other memory, which no other process has */
} TogetherSteps;

/* Takes what the number-th did. */
typedef void TogetherTake(void *context, uint32_t number, const PtxMachine *machine, const HostStep *steps,
                          uint32_t count);
/* Plays launches of several processes together, and gives their steps, whose times are in an order in which they can
 * have been done. before[i * count + k]: the i-th is over when the k-th begins, which was launched behind it. False:
 * they cannot be played to their end, or the order of strong accesses cannot be told; then some were not given. */
bool recordings_steps(RecordedLaunch *launches, const TogetherSteps *steps, uint32_t count, const bool *before,
                      TogetherTake *take, void *context);

#endif
