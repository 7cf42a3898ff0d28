/* Entry points of the driver by which work is put into streams, and waited for: each calls the driver's own, and tells
 * gpu_order.c. */
#include "exec/hooks_order.h"

#include "exec/gpu.h"
#include "exec/hooks.h"

typedef enum Means {
    MEANS_WORK,
    MEANS_TO_HOST, /* a copy whose first argument is where it goes: the host waits for it, unless that is pinned memory
                      or the device's */
    MEANS_WAITS,   /* the host waits for all before it, or for it */
    MEANS_GRAPH,
    MEANS_WAIT_EVENT,
    MEANS_RECORD_EVENT,
    MEANS_TELLS_HOST,
    MEANS_OPENS,
    MEANS_DESTROYS,
    MEANS_HOST_EVENT,
    MEANS_DESTROYS_EVENT,
    MEANS_WAITS_FOR_ALL,
} Means;

static bool is_seen_memory(uintptr_t address) {
    bool seen;
    GUARDED(seen = memory_find(address) != NULL);
    return seen;
}

static void tell(Means means, OrderStream stream, const uintptr_t *words) {
    Handle context = NULL;
    switch (means) {
    case MEANS_GRAPH:
        order_events_elsewhere(); /* its nodes may record some */
        order_work(stream, false);
        break;
    case MEANS_WORK:
        order_work(stream, false);
        break;
    case MEANS_TO_HOST:
        order_work(stream, !is_seen_memory(words[0]));
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
    case MEANS_TELLS_HOST:
        order_host_called(stream);
        break;
    case MEANS_OPENS:
        order_opened(stream);
        break;
    case MEANS_DESTROYS:
        order_destroyed(stream);
        break;
    case MEANS_HOST_EVENT:
        order_host_event((Handle)words[0]);
        break;
    case MEANS_DESTROYS_EVENT:
        order_event_destroyed((Handle)words[0]);
        break;
    case MEANS_WAITS_FOR_ALL:
        if (gpu_driver(NULL))
            gpu_driver(NULL)->context_current(&context);
        order_host_context(context);
        break;
    }
}

/* What the driver did counts; a launch that failed is no reason to hear nothing of what comes after it. */
static Result told(Means means, unsigned stream, bool per_thread, Result result, const uintptr_t *words) {
    if (!result && order_on())
        tell(means, (OrderStream){.handle = stream ? (Handle)words[stream - 1] : NULL, .per_thread = per_thread},
             words);
    return result;
}

#define WORDS_1 uintptr_t a
#define WORDS_2 WORDS_1, uintptr_t b
#define WORDS_3 WORDS_2, uintptr_t c
#define WORDS_4 WORDS_3, uintptr_t d
#define WORDS_5 WORDS_4, uintptr_t e
#define WORDS_6 WORDS_5, uintptr_t f
#define GIVEN_1 a
#define GIVEN_2 GIVEN_1, b
#define GIVEN_3 GIVEN_2, c
#define GIVEN_4 GIVEN_3, d
#define GIVEN_5 GIVEN_4, e
#define GIVEN_6 GIVEN_5, f

#define HOOK(exported, means, count, stream, per_thread)                                               \
    EXPORTED Result exported(WORDS_##count) {                                                          \
        Result result = NEXT(exported, (WORDS_##count), GIVEN_##count);                                \
        return told(MEANS_##means, stream, per_thread, result, (const uintptr_t[]){GIVEN_##count, 0}); \
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

/* An event of another process. */
typedef struct IpcHandle {
    char bytes[64];
} IpcHandle;

EXPORTED Result cuIpcOpenEventHandle(Handle *event, IpcHandle handle) {
    if (order_on())
        order_events_elsewhere();
    return NEXT(cuIpcOpenEventHandle, (Handle *, IpcHandle), event, handle);
}
