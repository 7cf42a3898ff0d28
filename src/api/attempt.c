/* What the parts of the API that look at a module have in common: memory with a bound, and the names of functions. */
#include "api/internal.h"

/* Of one piece of work, beside what the module has already. */
static const size_t work_budget = (size_t)2 << 30;

bool attempt(weir_module *module, Arena *arena, Task *work, void *context) {
    Arena *of_module = &module->module.arena;
    jmp_buf exhausted;
    if (setjmp(exhausted)) {
        of_module->exhausted = arena->exhausted = NULL;
        return false;
    }
    of_module->budget = of_module->held + work_budget;
    of_module->exhausted = arena->exhausted = &exhausted;
    work(context);
    of_module->exhausted = arena->exhausted = NULL;
    return true;
}

void list_functions(const Op *const *functions, size_t count, Text *to) {
    for (size_t i = 0; i < count; i++) {
        text_addf(to, "%s@", i ? ", " : "");
        text_add_plain(to, op_symbol(functions[i]));
    }
}
