/* Streams as calls name them (gpu_order.c). */
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

#endif
