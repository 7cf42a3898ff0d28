/* The order log of the program (trace/order_log.h), written as calls of the driver are made: by it, copies are held
 * against each other. Kernels are not in it but where they order streams; their recordings say what they access. The
 * mutex of gpu_order.c guards all of it. */
#ifndef RUNTIME_RECORD_GPU_LOG_H
#define RUNTIME_RECORD_GPU_LOG_H

#include "trace/copies.h"
#include "trace/order_log.h"

/* A line, by that thread of the host; one that belongs to the operation before it. */
void log_line(uint64_t thread, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_more(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on each line says when it was written: logs of several processes are merged by it. */
void log_timed(void);
/* What the operation of the line before reads or writes, of an allocation. Memory that is not known is not written:
 * bytes 0. */
void log_memory(uint64_t thread, RecordingMemory allocation);
void log_touches(const RecordingArea *area, bool writes);
void log_lifetime(uint64_t thread, const OrderLifetime *of);
/* The program ends. The log stays if it is wanted. */
void log_end(bool wanted);

#endif
