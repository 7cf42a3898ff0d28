/* The order log of the process (trace/order_log.h): what it puts into which stream, what waits for what, which memory
 * there is. The lock of the state is held. */
#include "cuda/cuda.h"

#include "trace/order_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };
static const uint64_t most_bytes = UINT64_C(1) << 30;

static struct {
    bool on, full;
    int file;
    uint64_t bytes;
    Text text;
} order = {.file = -1};

static uint64_t thread_count;
static _Thread_local uint64_t thread; /* number of this thread + 1; 0: it has none */
static uint64_t current;              /* of the lines that follow, + 1 */

bool log_on(void) {
    return order.on;
}

static void flush(void) {
    if (order.file < 0 || order.full || !order.text.size) {
        order.text.size = 0;
        return;
    }
    order.full |= write(order.file, order.text.data, order.text.size) != (ssize_t)order.text.size;
    order.bytes += order.text.size;
    order.text.size = 0;
    if (!order.full && order.bytes > most_bytes) {
        static const char sentence[] =
            "missing \"the order log is larger than 1 GiB: what the program did then was not checked\"\n";
        order.full = write(order.file, sentence, sizeof sentence - 1) >= 0 || true;
    }
}

void log_line(const char *format, ...) {
    va_list arguments;
    if (!order.on)
        return;
    if (!thread)
        thread = ++thread_count;
    if (thread != current)
        text_addf(&order.text, "thread %llu\n", (unsigned long long)(thread - 1));
    current = thread;
    va_start(arguments, format);
    text_vaddf(&order.text, format, arguments);
    va_end(arguments);
    text_char(&order.text, '\n');
    if (order.text.size >= PIECE)
        flush();
}

/* ---- Threads: the lock is not held ---- */

void *log_thread_made(void) {
    cuda_relock();
    uint64_t made = ++thread_count;
    log_line("spawn %llu", (unsigned long long)(made - 1));
    cuda_unlock();
    return (void *)(uintptr_t)made;
}

void log_thread_not_made(void *made) {
    (void)made;
}

uint64_t log_thread_begun(void *made) {
    return thread = (uintptr_t)made;
}

void log_thread_joined(uint64_t id) {
    cuda_relock();
    log_line("learn %llu 1", (unsigned long long)(id - 1));
    cuda_unlock();
}

void log_begin(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/program-%ld.weirlog", cuda.folder, (long)getpid());
    order.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (order.file < 0)
        return;
    order.on = true;
    text_addf(&order.text, "weirlog 1\nprocess %ld\n", (long)getpid());
    flush();
}

void log_end(void) {
    if (!order.on)
        return;
    text_addf(&order.text, "end\n");
    order.full = false;
    flush();
    close(order.file);
    text_free(&order.text);
    order.on = false;
}

/* Memory that the host accesses without a call. */
static bool is_open_to_host(const Allocation *one) {
    return one->bytes && (one->kind == MEMORY_MANAGED || one->kind == MEMORY_HOST || one->kind == MEMORY_REGISTERED);
}

void log_allocated(const Allocation *allocation) {
    if (allocation->bytes)
        log_line("host %llu %llu%s \"%s\"", (unsigned long long)allocation->at, (unsigned long long)allocation->bytes,
                 is_open_to_host(allocation) ? " 1" : "", cuda_where());
}

static void log_open_to_host(Allocation *one) {
    if (is_open_to_host(one))
        log_line("u %llu %llu", (unsigned long long)one->at, (unsigned long long)one->bytes);
}

void log_host_function(const Stream *stream) {
    if (!order.on)
        return;
    log_line("copy %llu \"host function\" \"%s\"", (unsigned long long)stream->number, cuda_where());
    memory_each(log_open_to_host);
    log_line("notifies %llu", (unsigned long long)stream->number);
}

void log_lifetime(const Stream *stream, const char *name, bool frees, const Allocation *allocation) {
    Text lines = {0};
    if (!allocation->bytes || !order.on)
        return;
    order_log_lifetime(&lines, &(OrderLifetime){.stream = stream ? &stream->number : NULL,
                                                .name = name,
                                                .where = cuda_where(),
                                                .address = allocation->at,
                                                .bytes = allocation->bytes,
                                                .frees = frees});
    log_line("%.*s", (int)lines.size, lines.data);
    text_free(&lines);
}

void log_freed(const Allocation *allocation) {
    if (allocation->bytes)
        log_line("free %llu \"%s\"", (unsigned long long)allocation->at, cuda_where());
}

/* After a launch that ended badly nothing can be freed any more; the allocator of PyTorch keeps what it has. */
void log_left(Allocation *one) {
    if (!one->bytes || one->of_graph || one->kind == MEMORY_REGISTERED || one->kind > MEMORY_ARRAY || cuda.sticky)
        return;
    void *torch = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    if (torch)
        dlclose(torch);
    else
        log_line("left %llu", (unsigned long long)one->at);
}

void log_touch(char what, const void *at, size_t bytes, size_t stride, size_t count) {
    if (!bytes || !count)
        return;
    if (count > 1)
        log_line("%c %llu %llu %llu %llu", what, (unsigned long long)(uintptr_t)at, (unsigned long long)bytes,
                 (unsigned long long)stride, (unsigned long long)count);
    else
        log_line("%c %llu %llu", what, (unsigned long long)(uintptr_t)at, (unsigned long long)bytes);
}

/* Once a launch touches what kernels got by malloc, that is there. */
static void log_heap(const weir_device_touch *touches, size_t count) {
    static const uint64_t most = UINT64_C(1) << 48;
    static bool is_there;
    for (size_t i = 0; i < count && !is_there; i++)
        if (touches[i].address >= WEIR_DEVICE_HEAP) {
            log_line("host %llu %llu \"\"", (unsigned long long)WEIR_DEVICE_HEAP, (unsigned long long)most);
            is_there = true;
        }
}

void log_launch(const CudaLaunch *launch, bool ran) {
    size_t count = 0;
    int waits = 0;
    if (!order.on)
        return;
    const weir_device_touch *touches = ran ? weir_device_touches(cuda.device, &count, &waits) : NULL;
    unsigned long long stream = launch->stream->number;
    log_heap(touches, touches ? count : 0);
    if (!touches) {
        log_line("unknown %llu %d \"%s\" \"%s\"", stream, launch->dependent, launch->kernel->plain, cuda_where());
        return;
    }
    if (launch->dependent)
        log_line("dependent %llu %d \"%s\" \"%s\"", stream, waits, launch->kernel->plain, cuda_where());
    else
        log_line("launch %llu \"%s\" \"%s\"", stream, launch->kernel->plain, cuda_where());
    for (size_t i = 0; i < count; i++) {
        const weir_device_touch *touch = &touches[i];
        unsigned how = touch->how & 15;
        const char *letter = how == 1 ? "r" : how == 2 ? "w" : how == 4 ? "R" : "W";
        text_addf(&order.text, "%s%s %llu %llu", touch->how & WEIR_TOUCH_EARLY ? "e" : "", letter,
                  (unsigned long long)touch->address, (unsigned long long)touch->bytes);
        if (touch->count > 1)
            text_addf(&order.text, " %llu %llu", (unsigned long long)touch->stride, (unsigned long long)touch->count);
        text_char(&order.text, '\n');
    }
    flush();
}
