/* Thread barriers: which a kernel needs in shared and tensor memory, which it has, and which it could do without.
 *
 * Threads of one CTA (of one partition, inside warp_specialize) that access the same bytes must be separated by a
 * barrier if one of them writes. A forward dataflow over all control flow keeps, for every point, the accesses since
 * the last barrier on some path: reads, writes that are visible, and what is still in flight. docs/membar.md explains
 * the models. */
#ifndef CHECK_MEMBAR_MEMBAR_H
#define CHECK_MEMBAR_MEMBAR_H

#include "base/diagnostics.h"
#include "ir/ir.h"
#include "model/effect/effect.h"
#include "model/memory/stage.h"
#include "model/target/release.h"

typedef enum MembarModel {
    MEMBAR_SYNC,  /* every write is visible at once; a wait for copies has a barrier after it: as Triton does it */
    MEMBAR_NEAR,  /* the same, but a copy in flight is no write that came before */
    MEMBAR_ASYNC, /* what is in flight is known; a wait makes it visible, and only hazards make barriers */
} MembarModel;

typedef enum MembarHazardKind { MEMBAR_RAW, MEMBAR_WAR, MEMBAR_WAW } MembarHazardKind;
typedef enum MembarKind {
    MEMBAR_LOCAL /* ttg.barrier local */,
    MEMBAR_TENSOR /* the same, for tensor memory */,
    MEMBAR_CLUSTER /* ttng.cluster_barrier */,
    MEMBAR_INIT_FENCE /* ttng.fence_mbarrier_init_release_cluster */,
    MEMBAR_INIT /* the same, and ttng.cluster_barrier {relaxed = true} */
} MembarKind;

/* Two accesses that a barrier has to part. */
typedef struct MembarHazard {
    MembarHazardKind kind;
    const Op *first, *second;
    Space space;
    const Op *first_buffer, *second_buffer; /* allocations, or the op whose scratch it is */
    int64_t begin, end; /* the bytes (columns) that both touch, of the frame; begin == end: not known */
    const Op *loop;     /* around whose back edge it goes: an op, or a branch back; NULL: it does not */
} MembarHazard;

/* A place where a barrier has to be: right before `op`, or right after it. */
typedef struct MembarNeed {
    const Op *op;
    bool after;
    bool automatic; /* put there because the op is a wait for copies, without any hazard (sync and near) */
    MembarKind kind;
    const MembarHazard *hazards; /* those that only it parts, else one that it was put there for; at most
                                    MEMBAR_MOST_HAZARDS are kept */
    size_t hazard_count;         /* all of them */
} MembarNeed;

enum { MEMBAR_MOST_HAZARDS = 8 };

/* A barrier that the IR has. */
typedef struct MembarPresent {
    const Op *op;
    bool needless;
    const Op *covered_by;        /* needless: what parts its hazards before it; NULL: nothing conflicts across it */
    const char *why;             /* needless: one sentence */
    const MembarHazard *hazards; /* those that only it parts; at most MEMBAR_MOST_HAZARDS are kept */
    size_t hazard_count;
} MembarPresent;

/* Two slots of one ring that were proved different, so that no barrier is needed. */
typedef struct MembarProof {
    const Op *first, *second;
    const char *text;
} MembarProof;

typedef struct MembarResult {
    const Op *function;
    MembarModel model;
    ReleaseSet releases; /* of Triton that lower the IR, as an option or the file names them; 0: not named */
    MembarNeed *needs;   /* that the IR does not have, in the order of the text */
    size_t need_count;
    MembarPresent *present; /* in the order of the text */
    size_t present_count;
    MembarProof *proofs; /* the first few */
    size_t proof_count;
    Past inserted;       /* whether the IR is past the stage at which barriers are inserted */
    const char *problem; /* a sentence on what could not be looked at; NULL if nothing */
    const Op *problem_op;
} MembarResult;

/* Of one function with a body (callees are looked at through their summaries). In the module's arena, which must be
 * able to jump. `releases`: of Triton that lower the IR; 0: not named. */
const MembarResult *membar_analyze(Module *module, const Op *function, MembarModel model, ReleaseSet releases);
/* What is pending right before an op, for --why: a line for each access, where it was made and why it needs or does not
 * need a barrier here. */
void membar_why(Module *module, const MembarResult *result, const Op *op, Text *to);

#endif
