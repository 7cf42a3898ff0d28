/* A result while it is made: what is wrong with it, and memory with a bound. */
#include "check/pipeline/internal.h"

/* Of what is said; and of one piece of work, beside what the module has already. */
static const size_t result_budget = (size_t)1 << 30, work_budget = (size_t)2 << 30;

void result_init(PipelineResult *result, Module *module) {
    *result = (PipelineResult){.module = module, .problem = ""};
    arena_init(&result->arena, result_budget);
}

void result_free(PipelineResult *result) {
    arena_free(&result->arena);
    diagnostics_free(&result->diagnostics);
    source_free(result->source);
}

bool result_fail(PipelineResult *result, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    result->problem = text_keep(&text, &result->arena);
    return false;
}

void result_close(PipelineResult *result) {
    if (!*result->problem && !result->diagnostics.errors)
        return;
    result->kind = VERDICT_ERROR;
    result->count = result->report_count = 0;
}

static void set_exhausted(PipelineResult *const *results, size_t count, Arena *arena, jmp_buf *exhausted) {
    if (arena)
        arena->exhausted = exhausted;
    for (size_t i = 0; i < count; i++) {
        Arena *of_module = &results[i]->module->arena;
        of_module->budget = of_module->held + work_budget;
        of_module->exhausted = results[i]->arena.exhausted = exhausted;
    }
}

bool results_attempt(PipelineResult *const *results, size_t count, Arena *arena, Task *work, void *context) {
    jmp_buf exhausted;
    if (setjmp(exhausted)) {
        set_exhausted(results, count, arena, NULL);
        return false;
    }
    set_exhausted(results, count, arena, &exhausted);
    work(context);
    set_exhausted(results, count, arena, NULL);
    return true;
}

bool result_attempt(PipelineResult *result, Task *work, void *context) {
    return results_attempt(&result, 1, NULL, work, context);
}
