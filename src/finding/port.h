/* What becomes of one kernel on an AMD target: of each of its ops, and of each place where it waits.
 *
 * Plain data, as a finding is: texts and numbers. docs/porting.md explains the words, render/port.h how each becomes
 * text and JSON. A text that is not known is "", a line 0. */
#ifndef FINDING_PORT_H
#define FINDING_PORT_H

#include "finding/finding.h"

/* All ops of one name. */
typedef struct PortOp {
    const char *op;     /* "ttng.wait_barrier" */
    const char *class;  /* "exact", "stage-level", "none", or "not known" */
    const char *form;   /* "LDS barrier"; "" if there is none */
    const char *remark; /* what else to know, or why there is none */
    const uint32_t *lines;
    size_t line_count;
} PortOp;

/* How much a wait that is written in the target's own terms covers. */
typedef enum PortCover { PORT_ENOUGH, PORT_TOO_LITTLE, PORT_UNKNOWN, PORT_MORE } PortCover;

typedef struct PortWait {
    const char *op;
    const char *file; /* of the kernel's own source */
    uint32_t line, ir_line;
    const char *asked;   /* "all but the 2 latest groups of copies" */
    const char *counter; /* "vmcnt"; "": there is nothing to wait for with a counter */
    int64_t count;       /* that many may be left; -1: there is no such number */
    int64_t written;     /* the number that stands there, in the same terms; -1: none */
    PortCover cover;     /* of `written` */
    const char *more;    /* what it waits for beyond what was asked for, or what to do instead; "": nothing */
} PortWait;

/* An MMA: what of it has to be in registers there. */
typedef struct PortMma {
    const char *op;
    const char *file; /* of the kernel's own source */
    uint32_t line, ir_line;
    const char *shape;   /* "128x256x64 f16 -> f32": rows, columns, depth */
    const char *now;     /* where it has them: "a, b in shared memory, accumulator in tensor memory" */
    int64_t waves;       /* that it is spread over: as many as its partition has warps */
    int64_t accumulator; /* registers of a lane */
    int64_t operands;    /* the same, at least: waves that share rows or columns each hold them */
} PortMma;

typedef struct PortReport {
    const char *file, *function, *target;
    const char *problem;                 /* a sentence on what could not be looked at */
    VerdictKind verdict;                 /* findings: a wait covers too little; incomplete: there is a problem */
    unsigned wave_threads, warp_threads; /* of the target; of the kernel, 0: not known */
    int64_t shared_bytes, shared_limit;  /* that the kernel says it takes, -1: it does not; that the target has */
    const PortOp *ops;
    size_t op_count;
    size_t exact, staged, none, unknown; /* ops, not names of ops */
    size_t plain;                        /* ops that need no form of their own */
    const PortWait *waits;
    size_t wait_count;
    const PortMma *mmas; /* of a kernel that is not written for AMD */
    size_t mma_count;
} PortReport;

/* "enough", "too little", "not known", "more than needed" */
const char *port_cover_name(PortCover cover);

#endif
