/* What a launch of the kernel needs: threads, CTAs of its cluster, shared memory of its variables. */
#include "check/lint/ptx/internal.h"

#include <inttypes.h>

static void look_at_threads(PtxLint *lint) {
    if (lint->header.most_threads > 1024)
        ptx_find(lint, RULE_LIMIT_THREADS, lint->header.threads_at, "%u threads: a CTA has at most 1024",
                 lint->header.most_threads);
}

static void look_at_cluster(PtxLint *lint) {
    uint32_t ctas = lint->header.ctas, most = lint->target ? lint->target->most_ctas : 16;
    if (ctas > most)
        ptx_find(lint, RULE_LIMIT_CLUSTER, lint->header.ctas_at, "a cluster of %u CTAs; the target allows %u", ctas,
                 most);
    else if (lint->target && ctas > lint->target->portable_ctas)
        ptx_find(lint, RULE_LIMIT_CLUSTER_PORTABLE, lint->header.ctas_at,
                 "a cluster of %u CTAs; more than %u are not portable", ctas, lint->target->portable_ctas);
}

static bool is_shared(const PtxModule *module, const PtxVariable *variable) {
    return str_is(ptx_name(module, variable->space), ".shared");
}

/* Variables of shared memory that the kernel itself names, each once. */
static void look_at_shared(PtxLint *lint) {
    const PtxModule *module = lint->module;
    const PtxFunction *function = &module->functions[lint->function];
    bool *seen = ARENA_ARRAY(lint->arena, bool, module->variables_count + 1);
    /* Only targets with a letter give all of it to variables; of others a launch can ask for more, as memory without a
     * size. */
    const int64_t plain = 48 << 10;
    int64_t bytes = 0, most = module->variant && lint->target ? lint->target->shared_bytes : plain;
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        for (uint32_t k = 0; is_instruction(statement) && k < statement->count; k++) {
            const PtxOperand *operand = &module->operands[statement->first + k];
            if (operand->kind != PTX_VARIABLE || seen[operand->a])
                continue;
            seen[operand->a] = true;
            if (!is_shared(module, &module->variables[operand->a]))
                continue;
            uint32_t align = variable_alignment(module, operand->a);
            bytes = (bytes + align - 1) / align * align + (int64_t)variable_bytes(module, operand->a);
        }
    }
    if (bytes > most)
        ptx_find(lint, RULE_LIMIT_SHARED, function->begin,
                 "its variables need %" PRId64 " bytes of shared memory, and the target has %" PRId64
                 " bytes for variables",
                 bytes, most);
}

void ptx_limits(PtxLint *lint) {
    look_at_threads(lint);
    look_at_cluster(lint);
    look_at_shared(lint);
}
