/* Streams as calls name them: which one that is, and what the driver says of it. */
#include "runtime/record/gpu_order_names.h"

#include "runtime/record/gpu.h"

enum { LEGACY = 1 };

Handle order_handle(OrderStream stream) {
    return stream.handle || !stream.per_thread ? stream.handle : (Handle)(uintptr_t)STREAM_PER_THREAD;
}

bool stream_is_legacy(OrderStream name) {
    return (uintptr_t)name.handle == LEGACY || (!name.handle && !name.per_thread);
}

bool stream_is_of_thread(OrderStream name) {
    return (uintptr_t)name.handle == STREAM_PER_THREAD || (!name.handle && name.per_thread);
}

bool stream_is_blocking(OrderStream name) {
    void *symbol = driver_symbol("cuStreamGetFlags");
    Result (*flags_of)(Handle, unsigned *) = *(Result(**)(Handle, unsigned *)) & symbol;
    unsigned flags = 0;
    return stream_is_legacy(name) || stream_is_of_thread(name) || !flags_of || flags_of(name.handle, &flags) != 0 ||
           !(flags & STREAM_NON_BLOCKING);
}

/* A thread that has called nothing of the driver yet has none: the runtime gives it that which others have. */
void stream_find_context(OrderStream *name) {
    static Handle usual;
    if (!name->context && gpu_driver(NULL))
        gpu_driver(NULL)->context_current(&name->context);
    if (!usual)
        usual = name->context;
    if (!name->context)
        name->context = usual;
}

void stream_find_own_context(OrderStream *name) {
    void *symbol = stream_is_legacy(*name) || stream_is_of_thread(*name) ? NULL : driver_symbol("cuStreamGetCtx");
    Result (*context_of)(Handle, Handle *) = *(Result(**)(Handle, Handle *)) & symbol;
    Handle context = NULL;
    if (context_of && context_of(name->handle, &context) == 0 && context)
        name->context = context;
}
