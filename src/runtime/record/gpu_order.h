/* Which launches of a program are over when another one begins: a clock for each stream and event, and one for each
 * thread of the host. What could order two launches and is not seen makes it open whether they are ordered
 * (RECORDING_ORDER_OPEN, RecordingKnown.maybe): no launch is accused of a race for what was not looked at. So is what
 * another thread of the host knows: it may have handed it on. */
#ifndef RUNTIME_RECORD_GPU_ORDER_H
#define RUNTIME_RECORD_GPU_ORDER_H

#include "engine/order/order.h"
#include "runtime/driver.h"
#include "trace/copies.h"

#include <stdbool.h>

enum { ORDER_STREAMS = ORDER_LANES }; /* that are distinguished */

/* A stream as a call names it: none is that of the thread, or that which all others wait for. */
typedef struct OrderStream {
    Handle context, handle;
    bool per_thread; /* none is that of the thread */
} OrderStream;

/* Of a launch that is recorded. */
typedef struct GpuOrder {
    RecordingOrder order;
    RecordingKnown *known;
    bool there;
} GpuOrder;

/* How a launch is made. */
typedef struct OrderLaunch {
    OrderStream stream;
    uint64_t number;
    bool dependent;      /* on the one before it, and may begin before that has ended */
    bool may_poll;       /* it may wait for what another launch writes */
    bool has_text;       /* it can be recorded */
    bool remote;         /* its memory synchronization domain is not the default one */
    Handle triggered[2]; /* events that it records while it runs; NULL: none */
    const char *name;    /* of the kernel; NULL: not known */
} OrderLaunch;

/* Threads of the host. What one that this thread makes knows when it begins, to be given to order_thread_begun in it,
 * which returns its id; or it could not be made. Its end was waited for. */
void *order_thread_made(void);
void order_thread_not_made(void *made);
uint64_t order_thread_begun(void *made);
void order_thread_joined(uint64_t id);
/* What was not looked at. */
typedef struct OrderDoubts {
    bool late;    /* something was (order_is_over) */
    bool crowded; /* there were more streams than are distinguished */
    bool domains; /* launches of two memory synchronization domains may have run at the same time */
} OrderDoubts;
OrderDoubts order_doubts(void);
void order_remote(void); /* launches may be in another one from now on */

/* Whether anything asks: modes record and shadow. */
bool order_on(void);
/* As the driver has it. */
Handle order_handle(OrderStream stream);
/* A launch is made. Its order has to be freed. */
void order_launch(const OrderLaunch *launch, GpuOrder *order);
void order_free(GpuOrder *order);
/* The launch of that number is recorded; it was the last that was made. */
void order_recorded(const GpuOrder *order, uint64_t number);

/* A launch of a kernel that is recorded, or is equal to recorded launches and is not recorded itself. */
typedef struct OrderKernel {
    const char *name; /* stays */
    uint64_t key;     /* of the kernel, its shape and its arguments */
    uint64_t number;  /* of the launch */
    bool recorded;
} OrderKernel;
/* Whether the launch is to be recorded though it is equal to others: it can run at the same time as another launch, and
 * no two launches with the same arguments were recorded that could. */
bool order_wants(const GpuOrder *order, uint64_t key);
/* It is to be recorded, and others are placed meanwhile: they find it beside them. Then, with what came of it, or of
 * one that is not to be recorded: */
void order_chosen(const GpuOrder *order, const OrderKernel *kernel);
void order_looked_at(const GpuOrder *order, const OrderKernel *kernel);
/* Calls `report` with each two kernels of which launches could run at the same time, and were never recorded so. */
void order_each_missed(void (*report)(const char *kernel, const char *other, uint64_t launches));
/* A launch of a kernel that has no PTX. */
void order_library(const GpuOrder *order, uint64_t number);
/* How often such a launch and one that was looked at could run at the same time. */
uint64_t order_library_beside(void);

/* Whether all threads of the host know that the launch of that number in that stream is over: so it is for all launches
 * that come. The caller drops it then. Where there is one stream, or if the caller hurries, one thread is enough: what
 * another one makes then, and is not known to come behind it, is late. */
bool order_is_over(uint32_t stream, uint64_t number, bool hurries);

/* A copy or a memset. */
typedef enum OrderHostWait { HOST_GOES_ON, HOST_MAY_WAIT, HOST_WAITS } OrderHostWait;
typedef struct OrderCopy {
    OrderStream stream;
    OrderHostWait host;
    RecordingArea reads, writes;   /* bytes 0: none */
    RecordingMemory read, written; /* the allocations that these are in; bytes 0: memory of the host that is pageable */
    const char *name;              /* of the entry point */
} OrderCopy;
void order_copy(const OrderCopy *copy);
/* Something that is no launch. `host`: the host waits for it. */
void order_work(OrderStream stream, bool host);
void order_destroyed(OrderStream stream);
void order_event_recorded(Handle event, OrderStream stream);
void order_event_destroyed(Handle event);
void order_stream_waits(OrderStream stream, Handle event);
/* This thread of the host knows that all before it is over. */
void order_host_event(Handle event, bool asks); /* asks: by a call that does not wait */
void order_host_stream(OrderStream stream);
void order_host_context(Handle context); /* NULL: all of them */
/* The host is called when all before it is over, and nothing sees what it does then. */
void order_host_called(OrderStream stream);
/* The stream waits for something that nothing sees. */
void order_opened(OrderStream stream);
/* From now on events may be recorded, or waited for, by others; anything may be ordered by something that is not
 * modeled. */
void order_events_elsewhere(void);
void order_unknown(void);
/* Other processes say when things are done, and so does this one; they have memory of this one from now on; they have
 * the event, by that key. */
void order_timed(void);
void order_shares(void);
void order_event_shared(Handle event, const char *key);
/* Memory of a pool is allocated in the order of a stream, which waits for those that have freed it before; or freed. */
typedef struct OrderPooled {
    OrderStream stream;
    bool host, frees; /* host: freed by this thread, which waits for nothing */
    RecordingMemory memory;
    const char *name; /* of the entry point */
} OrderPooled;
void order_pooled(const OrderPooled *what);
/* The driver gives the memory to this thread: whatever was freed there is over. */
void order_given(DevicePointer memory, uint64_t bytes);
/* Lines of the order log: where the stream stands in it, or NULL; by that thread. */
typedef struct OrderPlace {
    uint64_t stream, context;
} OrderPlace;
typedef void OrderWrite(uint64_t thread, const OrderPlace *place, void *of);
void order_write(const OrderStream *name, OrderWrite *write, void *of);
uint64_t order_new_stream(void); /* a number for one, while something is written */
/* The program ends: the order log is closed (gpu_log.h). `alone`: kernels without PTX are all that was launched. */
void order_log_end(bool alone);

#endif
