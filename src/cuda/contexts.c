/* Contexts: each has a default stream, streams, events, memory and modules of its own. One at a time is a thread's.
 * What is never freed is the little that says that a context is gone. */
#include "cuda/driver.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 256, ANY_FLAGS = 0xff };

struct Context {
    Context *next;
    uint64_t number; /* in the log; 0: the primary one */
    unsigned flags;
    unsigned users; /* that hold the primary one */
    bool gone;
    Stream stream;
};

static Context primary = {.stream = {.flags = 2}}, *contexts = &primary;
static uint64_t context_count;
static bool runtime_holds; /* the runtime is one of the users */
static _Thread_local Context *stack[MOST];
static _Thread_local unsigned depth;

static Context *top(void) {
    return depth ? stack[depth - 1] : NULL;
}

Context *context_of(const void *handle) {
    Context *context = contexts;
    while (context && context != handle)
        context = context->next;
    return context;
}

Context *context_numbered(uint64_t number) {
    Context *context = contexts;
    while (context && context->number != number)
        context = context->next;
    return context;
}

static bool is_gone(const Context *context) {
    return context->gone || (context == &primary && !primary.users);
}

uint64_t context_number(void) {
    return depth ? top()->number : 0;
}

Stream *context_stream(void) {
    return depth ? &top()->stream : &primary.stream;
}

void context_bind(void) {
    if (!runtime_holds)
        primary.users++;
    runtime_holds = true;
    if (!depth)
        stack[depth++] = &primary;
}

Error context_problem(void) {
    if (!depth)
        return CUDA_INVALID_CONTEXT;
    return is_gone(top()) ? CUDA_CONTEXT_DESTROYED : 0;
}

/* What it has is no more, and the launch that ended badly is forgotten. */
static void clear(const Context *context) {
    stream_await_all(context->number);
    for (CudaModule *module = module_first(); module; module = module->next)
        if (module_of(module) && module->context == context->number)
            module_unload(module);
    memory_reset(context->number);
    stream_forget_all(context->number);
    cuda.sticky = 0;
}

/* ---- Contexts that the program makes ---- */

Error do_cuCtxCreate(void **to, unsigned flags, int device) {
    Context *made = to && flags <= ANY_FLAGS && !device && depth < MOST ? calloc(1, sizeof *made) : NULL;
    if (!to || flags > ANY_FLAGS)
        return CUDA_INVALID_VALUE;
    if (!made)
        return device ? CUDA_INVALID_DEVICE : CUDA_NO_MEMORY;
    *made = (Context){.next = contexts, .number = ++context_count, .flags = flags, .stream = {.flags = 2}};
    contexts = stack[depth++] = made;
    stream_open(&made->stream, 2);
    made->stream.id = 0;
    *to = made;
    return 0;
}

Error do_cuCtxDestroy(void *handle) {
    Context *context = context_of(handle);
    if (!context || context == &primary || context->gone)
        return context == &primary || !context ? CUDA_INVALID_CONTEXT : CUDA_CONTEXT_DESTROYED;
    clear(context);
    context->gone = true;
    depth -= top() == context;
    return 0;
}

/* ---- That of the thread ---- */

Error do_cuCtxPushCurrent(void *handle) {
    Context *context = context_of(handle);
    if (!context || is_gone(context))
        return context ? CUDA_CONTEXT_DESTROYED : CUDA_INVALID_CONTEXT;
    if (depth == MOST)
        return CUDA_NO_MEMORY;
    stack[depth++] = context;
    return 0;
}

Error do_cuCtxPopCurrent(void **to) {
    if (!depth)
        return CUDA_INVALID_CONTEXT;
    depth--;
    if (to)
        *to = stack[depth];
    return 0;
}

Error do_cuCtxSetCurrent(void *handle) {
    Context *before = top();
    depth -= depth > 0;
    Error error = handle ? do_cuCtxPushCurrent(handle) : 0;
    if (error && before)
        stack[depth++] = before;
    return error;
}

Error do_cuCtxGetCurrent(void **to) {
    if (!to)
        return CUDA_INVALID_VALUE;
    *to = top();
    return 0;
}

Error do_cuCtxGetFlags(unsigned *flags) {
    if (!flags)
        return CUDA_INVALID_VALUE;
    *flags = top()->flags;
    return 0;
}

Error do_cuCtxGetId(void *handle, unsigned long long *id) {
    const Context *context = handle ? context_of(handle) : top();
    if (!id || !context)
        return id ? CUDA_INVALID_CONTEXT : CUDA_INVALID_VALUE;
    *id = context->number + 1;
    return 0;
}

Error do_cuCtxGetApiVersion(void *handle, unsigned *version) {
    enum { VERSION = 3020 };
    if (!version || (handle && !context_of(handle)))
        return version ? CUDA_INVALID_CONTEXT : CUDA_INVALID_VALUE;
    *version = VERSION;
    return 0;
}

Error do_cuCtxSynchronize(void *handle) {
    const Context *context = handle ? context_of(handle) : top();
    return context ? stream_synchronize_all(context->number) : CUDA_INVALID_CONTEXT;
}

Error do_cuStreamGetCtx(void *handle, void **to) {
    const Stream *stream = stream_of(handle);
    if (!stream || !to)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *to = context_numbered(stream->context);
    return 0;
}

/* ---- The primary one ---- */

Error do_cuDevicePrimaryCtxRetain(void **to, int device) {
    if (!to || device)
        return to ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    primary.users++;
    *to = &primary;
    return 0;
}

Error do_cuDevicePrimaryCtxRelease(int device) {
    if (device || !primary.users)
        return device ? CUDA_INVALID_DEVICE : CUDA_INVALID_CONTEXT;
    if (!--primary.users)
        clear(&primary);
    return 0;
}

Error do_cuDevicePrimaryCtxSetFlags(int device, unsigned flags) {
    if (device || flags > ANY_FLAGS)
        return device ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    primary.flags = flags;
    return 0;
}

Error do_cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    if (device || !flags || !active)
        return device ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    *flags = primary.flags;
    *active = primary.users > 0;
    return 0;
}

Error do_cuDevicePrimaryCtxReset(int device) {
    if (device)
        return CUDA_INVALID_DEVICE;
    clear(&primary);
    return 0;
}
