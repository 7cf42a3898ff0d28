/* Entry points of the driver by which work is put into streams, and waited for: each calls the driver's own, and tells
 * gpu_order.c. */
#include "runtime/hooks_order.h"

#include "runtime/copy_areas.h"
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_named.h"
#include "runtime/record/gpu_peers.h"

#include <string.h>

typedef enum Means {
    MEANS_WORK,
    MEANS_COPY_ARRAYS,  /* to, where in it, from, where in it, bytes */
    MEANS_COPY,         /* to, from, bytes */
    MEANS_COPY_TO_HOST, /* the same, and the host waits for it, unless it goes to pinned memory or the device's */
    MEANS_COPY_WAITS,   /* the same, and the host waits for it */
    MEANS_COPY_PEER,    /* to, its context, from, its context, bytes */
    MEANS_SET_8,        /* memory, what, how many of so many bits */
    MEANS_SET_16,
    MEANS_SET_32,
    MEANS_SET_ROWS_8, /* memory, its pitch, what, how many of so many bits in each of how many rows */
    MEANS_SET_ROWS_16,
    MEANS_SET_ROWS_32,
    MEANS_COPY_ROWS, /* CUDA_MEMCPY2D */
    MEANS_COPY_ROWS_WAITS,
    MEANS_COPY_SLICES, /* CUDA_MEMCPY3D */
    MEANS_COPY_SLICES_WAITS,
    MEANS_COPY_TO_ARRAY, /* array, where in it, from, bytes */
    MEANS_COPY_TO_ARRAY_WAITS,
    MEANS_COPY_FROM_ARRAY, /* to, array, where in it, bytes; the host waits for it as above */
    MEANS_COPY_FROM_ARRAY_WAITS,
    MEANS_COPY_MANY, /* to, from, bytes: of each; how many */
    MEANS_WAITS,     /* the host waits for all before it, or for it */
    MEANS_WAIT_EVENT,
    MEANS_RECORD_EVENT,
    MEANS_REPORTS_HOST,
    MEANS_OPENS,
    MEANS_DESTROYS,
    MEANS_HOST_EVENT,
    MEANS_DESTROYS_EVENT,
    MEANS_WAITS_FOR_ALL,
    MEANS_WAITS_FOR_CONTEXT, /* NULL: the thread's */
} Means;

/* Bytes that the driver takes from memory that is not pinned without waiting, at least (driver 580). */
enum { STAGED = 1 << 16 };

static bool is_seen_memory(uintptr_t address) {
    bool seen;
    GUARDED(seen = memory_find(address) != NULL);
    return seen;
}

/* ---- Whether the host waits ---------------------------------------------------------------------- */

typedef enum MemoryPlace { PLACE_DEVICE, PLACE_MANAGED, PLACE_PINNED, PLACE_PAGEABLE } MemoryPlace;

/* Where memory is, and the allocation it is in. */
static MemoryPlace place_of(const RecordingArea *area, RecordingMemory *memory) {
    MemoryPlace place = PLACE_PAGEABLE;
    *memory = (RecordingMemory){area->base, area->bytes};
    if (area->base >= RECORDING_OF_ARRAYS || !area->bytes)
        return PLACE_DEVICE;
    pthread_mutex_lock(&hook_mutex);
    const CaptureAllocation *found = memory_find(area->base);
    memory->base = found ? found->begin : 0;
    memory->bytes = found ? found->bytes : 0;
    if (found)
        place = found->managed ? PLACE_MANAGED : found->host ? PLACE_PINNED : PLACE_DEVICE;
    pthread_mutex_unlock(&hook_mutex);
    return place;
}

/* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: calls without a stream that use the memory wait until they are done. */
static bool is_synchronous(uint64_t memory) {
    enum { SYNC_MEMOPS = 6 };
    void *symbol = driver_symbol("cuPointerGetAttribute");
    Result (*ask)(void *, int, DevicePointer) = *(Result(**)(void *, int, DevicePointer)) & symbol;
    unsigned waits = 0;
    return ask && memory && memory < RECORDING_OF_ARRAYS && ask(&waits, SYNC_MEMOPS, memory) == 0 && waits;
}

/* Whether the host waits for a copy or a memset, as "API synchronization behavior" of the driver's documentation has
 * it. Without a stream: for a copy to the host, for one from pinned memory, and for a memset of memory that the host
 * has, too. A copy from pageable memory has been staged when the call returns, and need not have arrived; a copy within
 * the device, and a memset of its memory, are not waited for. With a stream: for a copy to pageable memory, and from
 * host to host. Of copies of managed memory it depends on where that is. */
static OrderHostWait host_wait(const OrderCopy *copy, MemoryPlace to, MemoryPlace from) {
    bool sets = !copy->reads.bytes, with_stream = strstr(copy->name, "Async");
    if (to == PLACE_PAGEABLE &&
        (sets || strstr(copy->name, "toD"))) /* of the device, which the driver does not describe */
        to = PLACE_DEVICE;
    if (with_stream)
        return !sets && (to == PLACE_PAGEABLE || (to == PLACE_PINNED && from >= PLACE_PINNED)) ? HOST_WAITS
                                                                                               : HOST_GOES_ON;
    if (to >= PLACE_PINNED || from == PLACE_PINNED || (sets && to == PLACE_MANAGED))
        return HOST_WAITS;
    if (is_synchronous(copy->writes.base) || (from <= PLACE_MANAGED && is_synchronous(copy->reads.base)))
        return HOST_WAITS;
    return to == PLACE_MANAGED || from == PLACE_MANAGED ? HOST_MAY_WAIT : HOST_GOES_ON;
}

void hook_copied(OrderCopy *copy, bool node) {
    int mode = gpu_relax(); /* the driver is asked */
    MemoryPlace to = place_of(&copy->writes, &copy->written), from = place_of(&copy->reads, &copy->read);
    copy->host = node ? HOST_GOES_ON : host_wait(copy, to, from);
    gpu_relaxed(mode);
    if (peers_on() && !named_on())
        GUARDED(peers_announce());
    order_copy(copy);
}

static void put_sides(OrderCopy *copy, CopySides sides) {
    copy->reads = sides.reads;
    copy->writes = sides.writes;
}

static void report_copy(Means means, OrderStream stream, const uintptr_t *words, const char *name) {
    OrderCopy copy = {.stream = stream, .name = name};
    switch (means) {
    case MEANS_COPY_PEER:
        copy.reads = recording_area(words[2], words[4]);
        copy.writes = recording_area(words[0], words[4]);
        break;
    case MEANS_SET_8:
    case MEANS_SET_16:
    case MEANS_SET_32:
        copy.writes = recording_area(words[0], words[2] << (means - MEANS_SET_8));
        break;
    case MEANS_SET_ROWS_8:
    case MEANS_SET_ROWS_16:
    case MEANS_SET_ROWS_32:
        copy.writes = set_rows(words[0], words[1], (uint64_t)1 << (means - MEANS_SET_ROWS_8), words[3], words[4]);
        break;
    case MEANS_COPY_ROWS:
    case MEANS_COPY_ROWS_WAITS:
        put_sides(&copy, copy_rows((const void *)words[0]));
        break;
    case MEANS_COPY_SLICES:
    case MEANS_COPY_SLICES_WAITS:
        put_sides(&copy, copy_slices((const void *)words[0]));
        break;
    case MEANS_COPY_TO_ARRAY:
    case MEANS_COPY_TO_ARRAY_WAITS:
        copy.reads = recording_area(words[2], words[3]);
        copy.writes = recording_array(words[0]);
        break;
    case MEANS_COPY_ARRAYS:
        copy.reads = recording_array(words[2]);
        copy.writes = recording_array(words[0]);
        break;
    case MEANS_COPY_FROM_ARRAY:
    case MEANS_COPY_FROM_ARRAY_WAITS:
        copy.reads = recording_array(words[1]);
        copy.writes = recording_area(words[0], words[3]);
        break;
    default:
        copy.reads = recording_area(words[1], words[2]);
        copy.writes = recording_area(words[0], words[2]);
    }
    hook_copied(&copy, false);
}

/* They come one behind the other here, and in any order on the device. */
static void report_copies(OrderStream stream, const uintptr_t *words, const char *name) {
    const DevicePointer *to = (const void *)words[0], *from = (const void *)words[1];
    const size_t *bytes = (const void *)words[2];
    for (size_t i = 0; i < words[3]; i++)
        hook_copied(&(OrderCopy){.stream = stream,
                                 .reads = recording_area(from[i], bytes[i]),
                                 .writes = recording_area(to[i], bytes[i]),
                                 .name = name},
                    false);
}

static Handle current_context(void) {
    Handle context = NULL;
    if (gpu_driver(NULL))
        gpu_driver(NULL)->context_current(&context);
    return context;
}

static void report(Means means, OrderStream stream, const uintptr_t *words, const char *name) {
    switch (means) {
    case MEANS_WORK:
        order_work(stream, false);
        break;
    case MEANS_COPY_ARRAYS:
    case MEANS_COPY:
    case MEANS_COPY_TO_HOST:
    case MEANS_COPY_WAITS:
    case MEANS_COPY_PEER:
    case MEANS_SET_8:
    case MEANS_SET_16:
    case MEANS_SET_32:
    case MEANS_SET_ROWS_8:
    case MEANS_SET_ROWS_16:
    case MEANS_SET_ROWS_32:
    case MEANS_COPY_ROWS:
    case MEANS_COPY_ROWS_WAITS:
    case MEANS_COPY_SLICES:
    case MEANS_COPY_SLICES_WAITS:
    case MEANS_COPY_TO_ARRAY:
    case MEANS_COPY_TO_ARRAY_WAITS:
    case MEANS_COPY_FROM_ARRAY:
    case MEANS_COPY_FROM_ARRAY_WAITS:
        report_copy(means, stream, words, name);
        break;
    case MEANS_COPY_MANY:
        report_copies(stream, words, name);
        break;
    case MEANS_WAITS:
        order_work(stream, true);
        break;
    case MEANS_WAIT_EVENT:
        order_stream_waits(stream, (Handle)words[1]);
        break;
    case MEANS_RECORD_EVENT:
        order_event_recorded((Handle)words[0], stream);
        break;
    case MEANS_REPORTS_HOST:
        order_host_called(stream);
        break;
    case MEANS_OPENS:
        order_opened(stream);
        break;
    case MEANS_DESTROYS:
        order_destroyed(stream);
        break;
    case MEANS_HOST_EVENT:
        order_host_event((Handle)words[0], strcmp(name, "cuEventQuery") == 0);
        break;
    case MEANS_DESTROYS_EVENT:
        order_event_destroyed((Handle)words[0]);
        break;
    case MEANS_WAITS_FOR_ALL:
        order_host_context(current_context());
        break;
    case MEANS_WAITS_FOR_CONTEXT:
        order_host_context(words[0] ? (Handle)words[0] : current_context());
        break;
    }
}

/* Memory of the host that is not pinned, as far as was seen. */
static bool is_pageable(uintptr_t address) {
    return !is_seen_memory(address);
}

/* Whether the driver waits, in a call that copies, until the copy's turn in its stream has come. */
static bool waits_for_turn(Means means, const uintptr_t *words) {
    CopySides sides;
    switch (means) {
    case MEANS_COPY_WAITS:
    case MEANS_COPY_ROWS_WAITS:
    case MEANS_COPY_SLICES_WAITS:
    case MEANS_COPY_TO_ARRAY_WAITS:
    case MEANS_COPY_FROM_ARRAY_WAITS:
        return true;
    case MEANS_COPY_TO_HOST:
    case MEANS_COPY:
        return is_pageable(words[0]) || (words[2] > STAGED && is_pageable(words[1]));
    case MEANS_COPY_TO_ARRAY:
        return is_pageable(words[2]);
    case MEANS_COPY_FROM_ARRAY:
        return is_pageable(words[0]);
    case MEANS_COPY_ROWS:
    case MEANS_COPY_SLICES:
        sides = means == MEANS_COPY_ROWS ? copy_rows((const void *)words[0]) : copy_slices((const void *)words[0]);
        return ((sides.to_host || sides.to_unified) && is_pageable(sides.writes.base)) ||
               ((sides.from_host || sides.from_unified) && is_pageable(sides.reads.base));
    default:
        return false;
    }
}

static OrderStream stream_of(unsigned stream, bool per_thread, const uintptr_t *words) {
    return (OrderStream){.handle = stream ? (Handle)words[stream - 1] : NULL, .per_thread = per_thread};
}

static bool puts_nothing(Means means) {
    return means == MEANS_WAITS || means == MEANS_DESTROYS || means >= MEANS_HOST_EVENT;
}

/* Before the driver is called: it must not wait with its lock held (gpu_hold.c). */
static void hold_back(Means means, unsigned stream, bool per_thread, const uintptr_t *words) {
    Handle handle = order_handle(stream_of(stream, per_thread, words));
    if (puts_nothing(means))
        return;
    hold_for_room(handle, 1);
    if (!drain_flies())
        return;
    int mode = gpu_relax(); /* the driver is asked for memory */
    bool waits = waits_for_turn(means, words);
    gpu_relaxed(mode);
    if (waits)
        hold_for_stream(handle);
}

/* What is put into a stream that is captured happens when its graph is launched. (A stream that was destroyed cannot be
 * asked.) */
static bool is_captured(Means means, OrderStream stream) {
    return means < MEANS_DESTROYS && gpu_capture(order_handle(stream)) != CAPTURE_NONE;
}

/* Flags of events: CU_EVENT_WAIT_EXTERNAL and CU_EVENT_RECORD_EXTERNAL, of events that are no part of the graph. */
static void report_captured(Means means, OrderStream stream, const uintptr_t *words) {
    enum { EXTERNAL = 1 };
    bool event = means == MEANS_WAIT_EVENT || means == MEANS_RECORD_EVENT;
    if (event && words[2] & EXTERNAL)
        named_outside();
    else if (event)
        named_event((Handle)words[means == MEANS_WAIT_EVENT], order_handle(stream), means == MEANS_WAIT_EVENT);
    else if (means != MEANS_WAITS)
        named_node();
}

/* What the driver did counts; a launch that failed is no reason to hear nothing of what comes after it. */
static Result reported(Means means, unsigned stream, bool per_thread, Result result, const uintptr_t *words,
                       const char *name) {
    OrderStream in = stream_of(stream, per_thread, words);
    gpu_failed(result, NULL);
    bool counts = !result && order_on();
    if (counts && is_captured(means, in))
        report_captured(means, in, words);
    else if (counts)
        report(means, in, words, name);
    over_look();
    return result;
}

#define HOOK(exported, means, count, stream, per_thread)                              \
    EXPORTED Result exported(WORDS_##count) {                                         \
        const uintptr_t words[] = {GIVEN_##count, 0, 0};                              \
        hold_back(MEANS_##means, stream, per_thread, words);                          \
        Result result = NEXT(exported, (WORDS_##count), GIVEN_##count);               \
        return reported(MEANS_##means, stream, per_thread, result, words, #exported); \
    }
#define ASYNC(name, exported, means, count, stream) \
    HOOK(exported, means, count, stream, false)     \
    HOOK(exported##_ptsz, means, count, stream, true)
#define SYNC(name, exported, means, count, stream) \
    HOOK(exported, means, count, stream, false)    \
    HOOK(exported##_ptds, means, count, stream, true)
#define OTHER(name, exported, means, count, stream) HOOK(exported, means, count, stream, false)

ORDER_ASYNC(ASYNC)
ORDER_SYNC(SYNC)
ORDER_OTHERS(OTHER)

/* Launches in the stream may be in another memory synchronization domain. */
#define SET_ATTRIBUTE(exported)                                                        \
    EXPORTED Result exported(Handle stream, int id, const int *value) {                \
        Result result = NEXT(exported, (Handle, int, const int *), stream, id, value); \
        if (!result && id == ATTRIBUTE_DOMAIN && *value && order_on())                 \
            order_remote();                                                            \
        return result;                                                                 \
    }
SET_ATTRIBUTE(cuStreamSetAttribute)
SET_ATTRIBUTE(cuStreamSetAttribute_ptsz)
