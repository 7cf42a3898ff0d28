/* Order logs of the processes of one program, made one: in the order of their times (`at`), each piece behind the
 * number of its process. Where a stream waits for an event until that is recorded, what records it comes before. */
#ifndef TRACE_ORDER_MERGE_H
#define TRACE_ORDER_MERGE_H

#include "trace/order_log.h"

typedef struct OrderPart {
    Str text;
    const char *name; /* for people */
    OrderLog log;
    uint64_t process, time; /* of what comes next */
    bool ended, over;       /* it says `end`; all of it is read */
} OrderPart;

/* Writes pieces of the log; returns false if it cannot go on. */
typedef bool OrderWrite(void *to, const char *data, size_t size);

/* False: NULL in *problem: `write` stopped, or else a sentence on the part *wrong. */
bool order_merge(OrderPart *parts, uint32_t count, OrderWrite *write, void *to, const char **problem, uint32_t *wrong);

#endif
