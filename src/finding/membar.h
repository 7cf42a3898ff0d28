/* What is said of one function's thread barriers: those it needs, those it has, and why.
 *
 * Plain data, as a finding is: texts and numbers, so that the code that writes it out knows nothing of ops.
 * docs/membar.md explains the words, render/membar.h how each becomes text and JSON. A text that is not known is "", a
 * line 0. */
#ifndef FINDING_MEMBAR_H
#define FINDING_MEMBAR_H

#include "finding/finding.h"

/* An op; without a role. */
typedef FindingPlace MembarPlace;

/* Two accesses that a barrier parts. */
typedef struct MembarConflict {
    const char *kind;                         /* "RAW", "WAR" or "WAW" */
    const char *space;                        /* "shared" or "tensor" */
    MembarPlace first, second;                /* in the order in which they run */
    const char *first_buffer, *second_buffer; /* what each touches: "tile", "scratch of tt.reduce at line 12" */
    int64_t begin, end;                       /* bytes of shared memory, columns of tensor memory; equal: not known */
    MembarPlace loop;                         /* around whose back edge it goes; no ir_line: it does not */
} MembarConflict;

/* A barrier that has to be, and is not there. */
typedef struct MembarNeeded {
    MembarPlace at;
    bool after;       /* it; else before it */
    bool automatic;   /* the model puts one after every wait for copies: no conflict asks for it */
    bool missing;     /* the IR claims to have all that it needs: an error */
    const char *kind; /* "local", "tensor" or "cluster" */
    const MembarConflict *conflicts;
    size_t conflict_count; /* of those that are kept */
    size_t all_conflicts;
} MembarNeeded;

/* A barrier that is there. */
typedef struct MembarThere {
    MembarPlace at;
    bool needless;
    const char *why;        /* needless: one sentence */
    MembarPlace covered_by; /* needless: what parts its conflicts before it; no ir_line: nothing conflicts */
    const MembarConflict *conflicts;
    size_t conflict_count, all_conflicts;
} MembarThere;

/* Two slots of a ring that are never the same. */
typedef struct MembarDistinct {
    MembarPlace first, second;
    const char *why;
} MembarDistinct;

/* Why a model wants a barrier where another does not. */
#define MEMBAR_CAUSES(M)                                                      \
    M(AUTOMATIC, "automatic", "an automatic barrier after a wait for copies") \
    M(IN_FLIGHT, "in flight", "a copy in flight")                             \
    M(SLOTS, "slots", "slots that are never the same")                        \
    M(ELSEWHERE, "elsewhere", "a barrier at another place")                   \
    M(OTHER, "other", "another reason")

typedef enum MembarCause {
#define CAUSE(id, name, text) MEMBAR_CAUSE_##id,
    MEMBAR_CAUSES(CAUSE)
#undef CAUSE
        MEMBAR_CAUSE_COUNT
} MembarCause;

const char *membar_cause_name(MembarCause cause);
const char *membar_cause_text(MembarCause cause);

/* A place where two models differ. */
typedef struct MembarDifference {
    MembarPlace at;
    bool after;
    bool present; /* `at` is a barrier that the IR has */
    bool saved;   /* only the other model wants it; else only the chosen one does */
    MembarCause cause;
    const char *why; /* one sentence */
} MembarDifference;

typedef struct MembarComparison {
    const char *model;   /* the other one; NULL: there is no comparison */
    size_t count, other; /* barriers that the chosen model, and the other one, wants to be there */
    const MembarDifference *differences;
    size_t difference_count;
} MembarComparison;

/* What is pending before an op, for a question about its line. */
typedef struct MembarPending {
    MembarPlace at;
    const char *lines; /* each ended by a newline; "": nothing is */
} MembarPending;

typedef struct MembarReport {
    const char *file, *function;
    const char *model;   /* "sync", "near" or "async" */
    bool inserted;       /* the IR claims to have its barriers; else the compiler puts them in later */
    bool unknown;        /* the IR does not say which of the two */
    bool assumed;        /* that is not what the IR says, but what the user does */
    const char *problem; /* a sentence on what could not be looked at, or on why nothing could */
    MembarPlace at;      /* of the problem */
    VerdictKind verdict; /* findings: a barrier is missing; incomplete: there is a problem */
    const MembarNeeded *needed;
    size_t needed_count, missing_count;
    const MembarThere *present;
    size_t present_count, needless_count;
    const MembarDistinct *distinct;
    size_t distinct_count;
    MembarComparison comparison;
    bool asked; /* about a line */
    const MembarPending *pending;
    size_t pending_count;
} MembarReport;

/* Several functions together. */
typedef struct MembarTotals {
    size_t functions, needed, missing, present, needless, distinct;
    const char *model, *compared; /* the chosen one, and the one it is compared with; NULL: with none */
    size_t count, other;          /* as in MembarComparison */
    size_t saved[MEMBAR_CAUSE_COUNT], added[MEMBAR_CAUSE_COUNT];
} MembarTotals;

void membar_total(MembarTotals *totals, const MembarReport *report);

/* A report without anything in it. */
MembarReport membar_report_blank(const char *file, const char *function);
/* "memory is placed: barriers are in" */
const char *membar_stage_text(const MembarReport *report);

#endif
