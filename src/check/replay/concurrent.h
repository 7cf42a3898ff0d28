/* Which launches of a program may have run at the same time, by what their recordings say of the order. */
#ifndef CHECK_REPLAY_CONCURRENT_H
#define CHECK_REPLAY_CONCURRENT_H

#include "trace/file.h"

/* How two launches stand to each other. */
typedef enum Beside {
    BESIDE_APART,  /* of other programs or devices, or the order is not known of one of them */
    BESIDE_BEFORE, /* the first is over when the second begins */
    BESIDE_WAITED, /* ... when the second has waited for it: griddepcontrol.wait */
    BESIDE_MAYBE,  /* nothing that was seen orders them, but something that was not could */
    BESIDE_BOTH,   /* they may run at the same time */
} Beside;

/* `first` was launched before `second`. */
Beside recordings_concurrent(const Recording *first, const Recording *second);
/* A launch and a copy of its program: BESIDE_BEFORE: one of them is over when the other begins. */
struct RecordingCopy;
Beside recording_beside_copy(const Recording *launch, const struct RecordingCopy *copy, const RecordingKnown *known);
/* Whether the copy is over before the launch begins. */
bool recording_behind_copy(const Recording *launch, const struct RecordingCopy *copy);
/* By their programs, and in the order in which they were launched. */
int recordings_by_number(const Recording *one, const Recording *other);
/* The number of the launch before it that it depends on, + 1; 0: it depends on none. */
uint64_t recording_depends_on(const Recording *recording);

#endif
