/* Streams as calls name them: which one that is, and what the driver says of it. Events by their handles. */
#include "runtime/record/gpu_order_names.h"

#include "base/hash.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LEGACY = 1, EVENT_BUCKETS = 1024 };

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

uint32_t device_unit(int device) {
    enum { UUID_BYTES = 16, DEVICES = 64 };
    static uint32_t known[DEVICES];
    char uuid[UUID_BYTES] = {0};
    void *symbol = device >= 0 && device < DEVICES && !known[device] ? driver_symbol("cuDeviceGetUuid_v2") : NULL;
    Result (*uuid_of)(char *, int) = *(Result(**)(char *, int)) & symbol;
    if (uuid_of && uuid_of(uuid, device) == 0)
        known[device] = (uint32_t)hash_bytes(HASH_START, uuid, sizeof uuid) | 1;
    return device >= 0 && device < DEVICES ? known[device] : 0;
}

/* ---- Events -------------------------------------------------------------------------------------- */

typedef struct GpuOrderEvent {
    struct GpuOrderEvent *next;
    Handle handle;
    OrderClock *clock; /* NULL: never recorded */
    bool shared;
} GpuOrderEvent;

static GpuOrderEvent *events[EVENT_BUCKETS];
static bool any_elsewhere; /* events that are not known here may be recorded by others */

void order_events_elsewhere(void) {
    __atomic_store_n(&any_elsewhere, true, __ATOMIC_RELAXED);
}

static GpuOrderEvent **event_seat(Handle handle) {
    GpuOrderEvent **at = &events[(uintptr_t)handle / 16 % EVENT_BUCKETS];
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static GpuOrderEvent *event_of(Handle handle) {
    GpuOrderEvent **seat = event_seat(handle);
    if (!*seat && (*seat = calloc(1, sizeof **seat)))
        (*seat)->handle = handle;
    return *seat;
}

void event_set(Handle handle, const OrderClock *clock, bool open) {
    GpuOrderEvent *event = event_of(handle);
    if (!event)
        return;
    free(event->clock);
    event->clock = clock_copy(clock);
    if (event->clock)
        event->clock->open |= open;
}

const OrderClock *event_clock(Handle handle, bool *elsewhere) {
    static const OrderClock nothing, order_not_known = {.open = true};
    const GpuOrderEvent *event = *event_seat(handle);
    *elsewhere = event && event->shared;
    if (!event)
        return __atomic_load_n(&any_elsewhere, __ATOMIC_RELAXED) ? &order_not_known : NULL;
    return event->clock ? event->clock : *elsewhere ? &nothing : NULL;
}

void event_share(Handle handle) {
    GpuOrderEvent *event = event_of(handle);
    if (event)
        event->shared = true;
}

bool event_forget(Handle handle) {
    GpuOrderEvent **seat = event_seat(handle), *event = *seat;
    if (!event)
        return false;
    *seat = event->next;
    free(event->clock);
    free(event);
    return true;
}

static uint64_t make_process(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec << 32 ^ (uint64_t)time.tv_nsec << 20 ^ (uint64_t)getpid();
}

uint64_t process_number(void) {
    static uint64_t number;
    number = number ? number : make_process();
    return number;
}
