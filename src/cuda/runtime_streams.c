/* The CUDA runtime: attributes of streams, and memory that is attached to one. */
#include "cuda/runtime.h"

#include <string.h>

Error do_cudaStreamAttachMemAsync(void *stream, void *memory, size_t bytes, unsigned flags) {
    const Allocation *one = memory_of(memory);
    (void)bytes;
    if (!stream_of(stream))
        return CUDA_INVALID_HANDLE;
    return one && one->kind == MEMORY_MANAGED && flags <= 4 ? 0 : CUDA_INVALID_VALUE;
}

/* None of them changes what a program computes: each is as it is at first. */
Error do_cudaStreamGetAttribute(void *stream, int attribute, void *value) {
    enum { BYTES = 64, PRIORITY = 8 };
    const Stream *of = stream_of(stream);
    if (!of || !value || attribute < 0)
        return of ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    memset(value, 0, BYTES);
    if (attribute == PRIORITY)
        memcpy(value, &of->priority, sizeof of->priority);
    return 0;
}

Error do_cudaStreamSetAttribute(void *stream, int attribute, const void *value) {
    if (!stream_of(stream))
        return CUDA_INVALID_HANDLE;
    return value && attribute >= 0 ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaStreamCopyAttributes(void *to, void *from) {
    return stream_of(to) && stream_of(from) ? 0 : CUDA_INVALID_HANDLE;
}
