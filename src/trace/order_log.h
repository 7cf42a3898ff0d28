/* The order log of a program: what it put into which stream, what waits for what, and which memory there is. Lines of
 * text, each a verb, numbers (decimal) and texts in quotes:
 *
 *     weirlog 1
 *     stream 1 0 "app.py:11"                 a stream; 0 non-blocking, 1 blocking, 2 legacy
 *     thread 7                               what follows is done by this host thread
 *     alloc 140000 4096 1 "app.py:12"        memory: address, bytes, the stream it is allocated for
 *     host 150000 4096 "app.py:12"           memory that is no allocator's for one stream: cudaMalloc's, the host's
 *     launch 1 "produce" "app.py:14"         an operation: stream, name, place; and what it touches:
 *     w 140000 4096
 *     record 9 1                             event, stream
 *     wait 9 2
 *     end
 *
 * docs/programs.md has all verbs. A log that ends without `end` is cut off. */
#ifndef TRACE_ORDER_LOG_H
#define TRACE_ORDER_LOG_H

#include "base/text.h"

#define ORDER_LOG_ENDING ".weirlog"

typedef enum OrderVerb {
#define ORDER_VERB(name, word, least, most, texts) ORDER_##name,
#include "trace/order_log.def"
#undef ORDER_VERB
    ORDER_VERBS
} OrderVerb;

enum { ORDER_NUMBERS = 5, ORDER_TEXTS = 2 };

typedef struct OrderLine {
    OrderVerb verb;
    uint64_t numbers[ORDER_NUMBERS];
    unsigned number_count;
    Str texts[ORDER_TEXTS];
    uint32_t line;
} OrderLine;

typedef struct OrderLog {
    Str rest; /* what was not read yet */
    uint32_t line;
    const char *problem;         /* with that line; NULL: none */
    uint8_t verb;                /* the last one */
    uint8_t behind[ORDER_VERBS]; /* of each, the one that has come behind it last */
} OrderLog;

/* The lines of an operation that allocates memory, or frees it: in that stream, or by the host (NULL). */
typedef struct OrderLifetime {
    const uint64_t *stream;
    const char *name, *where;
    uint64_t address, bytes;
    bool frees;
} OrderLifetime;
void order_log_lifetime(Text *to, const OrderLifetime *of);

bool order_log_is(const char *data, size_t size);
/* The next line but empty ones. False: there is none, or `problem` says what is wrong with it. */
bool order_log_next(OrderLog *log, OrderLine *line);

#endif
