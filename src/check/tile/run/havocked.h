/* Races in shared and tensor memory that come of data which Weir made up: of slots whose numbers are loaded from memory
 * that the launch does not describe, any two of which may be the same, or none; or of loops and branches that go by
 * such numbers. */
#ifndef CHECK_TILE_RUN_HAVOCKED_H
#define CHECK_TILE_RUN_HAVOCKED_H

#include "check/tile/run/races.h"
#include "check/tile/run/rerun.h"

/* How runs with other data are made, and what watches them. */
typedef struct OtherData {
    Machine *machine;
    Races *races;     /* NULL: none was made yet */
    uint8_t *ran;     /* what the last such run came to, by instruction */
    const Op *chosen; /* the first load whose number the run chose, if it chose nothing but such numbers; else NULL */
    RunEnd (*run)(void *context, const Rerun *rerun);
    void *context;
} OtherData;

/* After a run that is watched for races. */
void other_data_note(OtherData *data);
/* The load whose data the race comes of; NULL if none has to be given: nothing hangs on such data, or the two race
 * whatever it is. `rerun` is the run that has shown the race, the last one noted. */
const Op *race_havoc_dependent(OtherData *data, const Rerun *rerun, const Race *race);

#endif
