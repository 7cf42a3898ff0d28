/* Which recordings are of launches that no other one can run beside any more: who checks them does not have to wait for
 * the program to end. */
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_named.h"

#include <stdlib.h>

typedef struct GpuOverWritten {
    struct GpuOverWritten *next;
    uint32_t stream;
    uint64_t number;
    bool over;
    char name[];
} GpuOverWritten;

static GpuOverWritten *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int making;

void over_making(int count) {
    __atomic_add_fetch(&making, count, __ATOMIC_ACQ_REL);
}

void over_written(const char *name, const Recording *recording) {
    const RecordingOrder *order = recording->order;
    GpuOverWritten *written = order && order_on() ? malloc(sizeof *written + strlen(name) + 1) : NULL;
    if (!written)
        return;
    *written = (GpuOverWritten){.stream = order->stream, .number = recording->launch.number};
    memcpy(written->name, name, strlen(name) + 1);
    pthread_mutex_lock(&mutex);
    written->next = first;
    __atomic_store_n(&first, written, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
}

/* The clock of the host is read before it is asked whether a launch is in between: one that is made after that has what
 * the clock has. */
static void report(void) {
    for (GpuOverWritten *written = first; written; written = written->next)
        written->over = order_is_over(written->stream, written->number, disk_is_pressed());
    if (__atomic_load_n(&making, __ATOMIC_ACQUIRE) != 0 || !drain_is_done())
        return;
    for (GpuOverWritten **at = &first; *at;) {
        GpuOverWritten *written = *at;
        if (!written->over) {
            at = &written->next;
            continue;
        }
        folder_log("%s %s", named_keeps() && !disk_is_pressed() ? "over-kept" : "over", written->name);
        *at = written->next;
        free(written);
    }
}

/* No thread waits for the mutex, which a child of the program may never get: the thread that has it looks once more. */
void over_look(void) {
    static bool again;
    checked_look(false);
    if (!__atomic_load_n(&first, __ATOMIC_ACQUIRE))
        return;
    __atomic_store_n(&again, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&again, __ATOMIC_SEQ_CST) && pthread_mutex_trylock(&mutex) == 0) {
        __atomic_store_n(&again, false, __ATOMIC_SEQ_CST);
        report();
        pthread_mutex_unlock(&mutex);
    }
}
