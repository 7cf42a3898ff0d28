/* Streams as calls name them, and events by their handles (gpu_order.c). */
#ifndef RUNTIME_RECORD_GPU_ORDER_NAMES_H
#define RUNTIME_RECORD_GPU_ORDER_NAMES_H

#include "runtime/record/gpu_order.h"

/* Whether it is the stream that all blocking ones wait for, or that of the thread; whether it waits for the first. */
bool stream_is_legacy(OrderStream name);
bool stream_is_of_thread(OrderStream name);
bool stream_is_blocking(OrderStream name);
/* The context that is current, where the name has none; and that of the stream itself: calls may name a stream while
 * another context is current. */
void stream_find_context(OrderStream *name);
void stream_find_own_context(OrderStream *name);
/* Which GPU it is, for all processes; 0: the driver does not say. */
uint32_t device_unit(int device);
/* That no other process has, on any machine (RecordingOrder.process). */
uint64_t process_number(void);

/* It was recorded: where it has come, that is known. `open`: or something that was not seen. */
void event_set(Handle handle, const OrderClock *clock, bool open);
/* What is known where it has come; NULL: nothing, as it was never recorded. *elsewhere: another process may have
 * recorded it since. */
const OrderClock *event_clock(Handle handle, bool *elsewhere);
/* Other processes have it from now on. */
void event_share(Handle handle);
/* False: it was not known. */
bool event_forget(Handle handle);

#endif
