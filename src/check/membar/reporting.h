/* What the files that tell of thread barriers share. */
#ifndef CHECK_MEMBAR_REPORTING_H
#define CHECK_MEMBAR_REPORTING_H

#include "check/membar/report.h"
#include "model/names/names.h"

typedef struct MembarReporter {
    Module *module;
    const Op *function;
    Verdict words; /* only its arena is used: for verdict_text */
    Names *names;  /* made when the first is asked for */
} MembarReporter;

/* ---- report.c ---- */
/* "" and 0 for no op. */
MembarPlace membar_place(MembarReporter *reporter, const Op *op);
/* How many of so many hazards the analysis keeps. */
size_t membar_kept(size_t hazards);
/* `count` of them. */
const MembarConflict *membar_conflicts(MembarReporter *reporter, const MembarHazard *hazards, size_t count);

/* ---- compare.c ---- */
void membar_compare(MembarReporter *reporter, const MembarResult *chosen, const MembarResult *other,
                    MembarComparison *comparison);

#endif
