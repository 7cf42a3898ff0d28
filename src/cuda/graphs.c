/* Graphs: captured from streams, or built node by node. */
#include "cuda/runtime.h"

Error graph_launch(Stream *stream, const CudaLaunch *launch) {
    (void)stream, (void)launch;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_copy(const Copy *copy) {
    (void)copy;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_fill(const char *name, Span to, Extent extent, unsigned value, unsigned element, Stream *stream) {
    (void)name, (void)to, (void)extent, (void)value, (void)element, (void)stream;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_host_function(Stream *stream, void *function, void *data) {
    (void)stream, (void)function, (void)data;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_event_recorded(Event *event, Stream *stream) {
    (void)event, (void)stream;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_event_waited(Event *event, Stream *stream) {
    (void)event, (void)stream;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_allocate(Stream *stream, void **to, size_t bytes) {
    (void)stream, (void)to, (void)bytes;
    return CUDA_CAPTURE_UNSUPPORTED;
}
Error graph_free(Stream *stream, void *memory) {
    (void)stream, (void)memory;
    return CUDA_CAPTURE_UNSUPPORTED;
}
void graph_forget_all(void) {}
