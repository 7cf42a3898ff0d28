/* What the analysis of thread barriers found, as a report, as findings, and put into the IR. */
#ifndef CHECK_MEMBAR_REPORT_H
#define CHECK_MEMBAR_REPORT_H

#include "check/membar/membar.h"
#include "finding/membar.h"

typedef enum MembarStage { MEMBAR_STAGE_AS_READ, MEMBAR_STAGE_INSERTED, MEMBAR_STAGE_BEFORE } MembarStage;

typedef struct MembarQuestion {
    MembarStage stage;         /* goes over what the IR says */
    const MembarResult *other; /* of another model, to compare with; NULL: none */
    uint32_t line;             /* of the IR, to be explained; 0: none */
} MembarQuestion;

/* "sync", "near", "async"; false if there is no such model. */
const char *membar_model_name(MembarModel model);
bool membar_model_find(const char *name, MembarModel *model);

/* The functions of a module that have a body, in the order of the text; at most `most` are stored, all are counted. */
size_t membar_functions(const Module *module, const Op **functions, size_t most);

/* Texts are in `arena`. Both arenas must be able to jump. */
MembarReport membar_report(Arena *arena, Module *module, const MembarResult *result, MembarQuestion question);

/* For check: adds what is missing and what is needless, where the IR claims to have its barriers. At earlier stages
 * `summary` adds a note on how many the compiler will insert. */
void membar_findings(Module *module, const Op *function, ReleaseSet releases, bool summary, Verdict *verdict);

/* The module with the barriers that each function needs inserted; `prune`: and without the needless ones. The module
 * itself stays as it is. */
void membar_emit(Module *module, const MembarResult *const *results, size_t count, bool prune, Text *to);

/* Makes of a kernel what the compiler would have made of it where it has only to insert meetings of a cluster: after
 * mbarriers are set up, at the end; in Triton 3.6 before a product of two CTAs. For those who run it: the module stays
 * so, and says so (Module.completed). From Triton 3.9 on the CTAs of a cluster also meet before an atomic that
 * releases and after one that acquires; which is part of the op, and not said. `releases`: of Triton that lower the IR;
 * 0: not named. */
void membar_complete(Module *module, const Op *kernel, ReleaseSet releases);

#endif
