/* What the passes of the linter of PTX share. */
#ifndef CHECK_LINT_PTX_INTERNAL_H
#define CHECK_LINT_PTX_INTERNAL_H

#include "check/lint/ptx/known.h"
#include "check/lint/ptx/lint.h"
#include "model/effect/ptx_column.h"

/* What all instructions of one form have in common. */
typedef struct FormActs {
    const PtxEffect *effects;
    unsigned count;
    bool made, unknown;
} FormActs;

/* One effect of one instruction. */
typedef struct Act {
    uint32_t statement;   /* of the module */
    uint32_t instruction; /* of the flow */
    const PtxEffect *effect;
    uint32_t on, count, through; /* operands of the module, as those of the effect; PTX_NONE: there is none */
} Act;

/* What a kernel does at all, with the functions that it calls. */
typedef struct PtxReach {
    uint64_t verbs;           /* bit (1 << EffectVerb) */
    uint32_t commits, awaits; /* bit (1 << GroupKind) */
    uint32_t unknown;         /* a statement that is not known all effects of; PTX_NONE: there is none */
    bool calls;               /* functions that have a body here */
    bool fences_async;        /* it has a fence of the async proxy */
    bool arrives_for_copies;  /* an arrival on an mbarrier that is made when copies are done */
    bool releases_cluster;    /* an arrival on the cluster barrier that is not relaxed, or a fence for the cluster */
} PtxReach;

/* What stands between a function's parameters and its body; 0: nothing is said. */
typedef struct Header {
    uint32_t threads;             /* .reqntid: exactly */
    uint32_t most_threads;        /* .maxntid, or the same */
    uint32_t ctas;                /* .reqnctapercluster */
    uint32_t threads_at, ctas_at; /* statements */
} Header;

typedef struct ReportedAt {
    uint32_t statement;
    RuleId rule;
} ReportedAt;

typedef struct PtxLint {
    PtxModule *module;
    uint32_t function;
    const Target *target; /* NULL: not known */
    Verdict *verdict;
    Arena *arena;
    FormActs *forms; /* of the module */
    Header header;   /* of the kernel */
    PtxReach reach;  /* of the kernel */
    PtxFlow flow;
    Known *known; /* of its values */
    Act *acts;    /* of the function, in the order of its text */
    uint32_t act_count, act_capacity;
    uint32_t *first_acts; /* of each instruction of the flow, and behind the last one */
    ReportedAt *reported;
    uint32_t reported_count, reported_capacity;
    bool open; /* flow and values are there */
} PtxLint;

/* ---- lint.c ---- */
/* A finding at a statement: what is wrong there, in one sentence. Why, and what would fix it, come from the rule's row
 * unless the pass sets them. The same rule at the same statement is told once: NULL then. The pointer is good until the
 * next finding. */
Finding *ptx_find(PtxLint *lint, RuleId rule, uint32_t statement, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A second place, and what it does there. */
void ptx_other(PtxLint *lint, Finding *finding, const char *role, uint32_t statement);
/* Why, and what would fix it, where the rule's row speaks of Triton's IR; NULL: as the row says. */
void ptx_say(Finding *finding, const char *why, const char *fix);
/* The line of a statement. */
uint32_t ptx_line(const PtxLint *lint, uint32_t statement);
/* The form of the instruction of a statement. */
static inline const PtxForm *ptx_form(const PtxLint *lint, uint32_t statement) {
    return &lint->module->forms[lint->module->statements[statement].what];
}
static inline bool is_instruction(const PtxStatement *statement) {
    return statement->kind == PTX_INSTRUCTION;
}
static inline bool is_guarded(const PtxLint *lint, uint32_t statement) {
    return lint->module->statements[statement].flags & PTX_GUARDED;
}

/* ---- acts.c ---- */
const FormActs *form_acts(PtxLint *lint, uint32_t form);
/* The operand of an instruction that its row calls so; PTX_NONE: it has none. */
uint32_t operand_named(const PtxModule *module, const PtxStatement *statement, Str name);
/* The number of an operand; those in trees are not counted. PTX_NONE: there is none. */
uint32_t operand_at(const PtxModule *module, const PtxStatement *statement, unsigned index);
void gather_acts(PtxLint *lint);
/* What a kernel does at all; and of what is not known, that the verdict is incomplete. */
PtxReach reach_of(PtxLint *lint, uint32_t function);
/* Whether nothing does such a thing; false if that is not known. */
static inline bool never_does(const PtxLint *lint, EffectVerb verb) {
    return lint->reach.unknown == PTX_NONE && !(lint->reach.verbs >> verb & 1);
}

/* ---- points.c ---- */
/* The number behind the letters of a type: 32 of ".b32", 16 of "bf16x2". */
unsigned digits_in(Str type);
/* An address as a variable or a value, and bytes from there. */
typedef enum PointKind { POINT_NONE, POINT_VARIABLE, POINT_VALUE } PointKind;
typedef struct Point {
    PointKind kind;
    uint32_t id; /* variable of the module, value of the flow */
    int64_t offset;
} Point;
Point point_of(const PtxLint *lint, uint32_t operand);
static inline bool points_alike(Point a, Point b) {
    return a.kind && a.kind == b.kind && a.id == b.id;
}
/* Whether both are known, and the bytes from one on and those from the other have some in common. */
bool points_overlap(Point a, int64_t a_bytes, Point b, int64_t b_bytes);
/* The bytes of an access, or those that an act is about; false: not known. */
bool bytes_of(const PtxLint *lint, const Act *act, int64_t *bytes);
/* As known_number; of PTX_NONE nothing is known. */
bool number_of(const PtxLint *lint, uint32_t operand, int64_t *value);
/* The alignment that a variable was declared with. */
uint32_t variable_alignment(const PtxModule *module, uint32_t variable);
/* Its bytes; 0: not known, or as many as the launch gives it. */
uint64_t variable_bytes(const PtxModule *module, uint32_t variable);
/* The instruction of the flow that computes a value, whatever its guard; PTX_NONE: none does. */
static inline uint32_t value_instruction(const PtxLint *lint, uint32_t value) {
    return value != PTX_NONE && lint->flow.values[value].kind == VALUE_RESULT ? lint->flow.values[value].instruction
                                                                              : PTX_NONE;
}

/* ---- paths.c ---- */
/* Whether `earlier` was run whenever `later` is, before it: it stands on every path there. Instructions of the flow. */
bool comes_before(const PtxLint *lint, uint32_t earlier, uint32_t later);
/* Whether the same threads run both, if they run the blocks: there is no guard, or it is the same one. */
bool same_guard(const PtxLint *lint, uint32_t one, uint32_t other);
/* Whether a thread that runs the second has run the first before, or some thread that ran the first runs it. */
bool both_run(const PtxLint *lint, const Act *first, const Act *second);
/* Whether an act is one of those that are looked for. */
typedef bool IsSuch(const PtxLint *lint, const Act *act, const void *context);
/* The first such act on some path from one instruction to another, and before one; NULL: there is none. */
const Act *such_between(const PtxLint *lint, uint32_t from, uint32_t to, IsSuch *is, const void *context);
const Act *such_before(const PtxLint *lint, uint32_t to, IsSuch *is, const void *context);
/* The act of an instruction with that verb; NULL: it has none. */
const Act *act_at(const PtxLint *lint, uint32_t instruction, EffectVerb verb);

/* ---- The passes, one a file ---- */
void ptx_limits(PtxLint *lint);    /* of a kernel's header and its variables */
void ptx_numbers(PtxLint *lint);   /* counts, sizes, ids */
void ptx_addresses(PtxLint *lint); /* alignment */
void ptx_named(PtxLint *lint);     /* numbered barriers of one kernel together */
void ptx_threads(PtxLint *lint);   /* instructions of a whole warp where a part of it is */
void ptx_mbarriers(PtxLint *lint); /* their life and bytes */
void ptx_groups(PtxLint *lint);    /* groups of copies and MMAs */
void ptx_in_flight(PtxLint *lint); /* registers that are still written */
void ptx_clusters(PtxLint *lint);  /* other CTAs */
void ptx_tensor(PtxLint *lint);    /* tensor memory */
void ptx_accesses(PtxLint *lint);  /* proxies, read-only loads, sizes of strong accesses */

#endif
