/* A kernel as it was before it was instrumented, for launches that must run and cannot be checked (mode shadow): nodes
 * of graphs, and what there is no room for. Its text is compiled once more, in the context that asks. */
#include "exec/gpu.h"

#include <stdlib.h>

typedef struct Plain {
    struct Plain *next;
    const GpuKernel *kernel;
    Handle context, function;
} Plain;

static Plain *plains;

enum { FUNCTION_DYNAMIC = 8, FUNCTION_NON_PORTABLE = 14 }; /* CU_FUNC_ATTRIBUTE_...: those that programs set */

static void copy_attributes(Handle from, Handle to) {
    static const int attributes[] = {FUNCTION_DYNAMIC, FUNCTION_NON_PORTABLE};
    void *get = driver_symbol("cuFuncGetAttribute"), *set = driver_symbol("cuFuncSetAttribute");
    for (size_t i = 0; get && set && i < sizeof attributes / sizeof *attributes; i++) {
        int value = 0;
        if ((*(Result(**)(int *, int, Handle)) & get)(&value, attributes[i], gpu_function(from)) == 0 && value)
            (*(Result(**)(Handle, int, int)) & set)(to, attributes[i], value);
    }
}

/* A variable of the module would be there twice. */
static bool has_variables(const GpuModule *module) {
    return memmem(module->ptx, module->ptx_bytes, "\n.global", strlen("\n.global")) ||
           memmem(module->ptx, module->ptx_bytes, ".visible .global", strlen(".visible .global")) ||
           memmem(module->ptx, module->ptx_bytes, ".visible .const", strlen(".visible .const"));
}

static Handle make_plain(const GpuKernel *kernel) {
    GpuLinked linked = {0};
    Handle module = NULL, function = NULL;
    void *load = driver_symbol("cuModuleLoadData"), *get = driver_symbol("cuModuleGetFunction");
    if (has_variables(kernel->module) || !load || !get ||
        !gpu_link(kernel->module->ptx, kernel->module->ptx_bytes, &linked))
        return NULL;
    if ((*(Result(**)(Handle *, const void *)) & load)(&module, linked.cubin) != 0 ||
        (*(Result(**)(Handle *, Handle, const char *)) & get)(&function, module, kernel->name) != 0)
        function = NULL;
    free(linked.cubin);
    return function;
}

Handle gpu_plain(const GpuKernel *kernel, Handle function) {
    Handle context = NULL;
    gpu_driver(NULL)->context_current(&context);
    Plain *plain = plains;
    while (plain && (plain->kernel != kernel || plain->context != context))
        plain = plain->next;
    if (!plain && (plain = calloc(1, sizeof *plain))) {
        *plain = (Plain){plains, kernel, context, make_plain(kernel)};
        plains = plain;
    }
    if (plain && plain->function)
        copy_attributes(function, plain->function);
    return plain ? plain->function : NULL;
}

Handle gpu_function(Handle kernel) {
    void *symbol = driver_symbol("cuKernelGetFunction");
    Handle function = NULL;
    return symbol && (*(Result(**)(Handle *, Handle)) & symbol)(&function, kernel) == 0 && function ? function : kernel;
}
