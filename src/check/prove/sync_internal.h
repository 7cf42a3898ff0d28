/* What the files about all trip counts share. */
#ifndef CHECK_PROVE_SYNC_INTERNAL_H
#define CHECK_PROVE_SYNC_INTERNAL_H

#include "check/fences/proxies_run.h"
#include "check/prove/family.h"
#include "check/prove/prove.h"
#include "check/tile/run/races.h"
#include "machine/tile/schedule/happens_before.h"

typedef struct SyncProof {
    Prover *prover;
    const Program *program;
    Family *family;
    Machine *machine;
    HappensBefore *happens_before;
    Races *races;
    Proxies *proxies; /* NULL: threads alone access memory */
    Launch launch;
    Arena work, scratch; /* for all runs; for one */
    uint32_t runs;
    TripCount *counts;
    uint32_t count;
    int64_t least[MOST_TRIP_COUNTS];  /* those below are not looked at: preconditions exclude them */
    int64_t steady[MOST_TRIP_COUNTS]; /* from there on runs speak for longer ones */
    FamilyRun run;
    const char *wrong; /* what the last run showed; NULL: nothing is wrong */
    const Op *wrong_op;
    bool sensitive; /* it does not decide for all schedules */
    bool open;
} SyncProof;

/* ---- sync.c ---- */
void sync_open(SyncProof *sync, const Op *op, const char *reason, const char *text);
/* Runs until they speak for all launches; false: something is open. */
bool sync_cover_all(SyncProof *sync);

/* ---- sync_fences.c ---- */
/* Whether the kernel makes descriptors in memory. */
bool sync_makes_descriptors(const Prover *prover);
/* Runs that speak for all launches were made. */
void sync_fences(SyncProof *sync);

#endif
