/* In which order strong accesses to one place were made, from when each began, and what it found there and left.
 *
 * Time is near, and not exact: an access is made some time after it began. What is found says more: an atomic that
 * found 5 came directly behind what left 5. An order is sought in which everything was found as it was recorded, and
 * which is as near to the times as that lets it be. */
#ifndef CHECK_REPLAY_ORDER_ORDER_H
#define CHECK_REPLAY_ORDER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum StrongKind {
    STRONG_READ,
    STRONG_WRITE, /* or an exchange */
    STRONG_CAS,
    STRONG_ADD,
    STRONG_AND,
    STRONG_OR,
    STRONG_XOR,
    STRONG_MIN,
    STRONG_MAX,
    STRONG_LEAST, /* the same of signed numbers */
    STRONG_MOST,
    STRONG_INC, /* up to a limit, then 0; down to 0, then the limit */
    STRONG_DEC,
    STRONG_ADD_REAL,  /* f32, f64 */
    STRONG_ADD_HALF,  /* f16, or two of them */
    STRONG_ADD_BRAIN, /* bf16, or two of them */
    STRONG_OTHER,     /* it is not known what it leaves */
} StrongKind;

struct SitePoll;
struct PlaySite;
typedef struct Strong {
    uint64_t key;   /* the place */
    uint32_t time;  /* nanoseconds; may wrap */
    uint32_t index; /* the caller's: its own accesses are in the order of a thread's program */
    uint32_t thread, cta;
    uint64_t found, written, compared;
    uint8_t kind;
    uint8_t bytes;               /* of it: 1 to 8 */
    bool finds;                  /* what it found is known */
    bool goes_on;                /* an atomic that hands on, to all threads, what was released before it */
    bool foreign;                /* by strong_order: it found what none of them leaves */
    uint32_t stores;             /* of all plain stores, that many write there */
    const struct SitePoll *poll; /* when it ends a loop; NULL: that is not known */
    const struct PlaySite *site;
} Strong;

enum { STRONG_DOUBTED = 256 };

/* Plain stores may come between: what they leave is not known, nor when. An access that found what was not there, and
 * what no strong access leaves, has found what one of them left; there are no more of these than stores.
 *
 * How many found something else than what was there by that order; and how many found something where it is not known
 * what was there, so that others may have come before them or behind. */
typedef struct StrongUncertain {
    uint32_t unfit, unsure;
    bool within; /* ... and threads of one CTA are among those at one of these places: of any CTA, or */
    uint32_t ctas[STRONG_DOUBTED], cta_count; /* ... of these alone: it is a place that only their CTA has */
    bool late;                                /* the time was up before the order was found */
} StrongUncertain;
/* numbers[index] is the place of each in the order of its key. The items are sorted by key and time. */
StrongUncertain strong_order(Strong *items, uint32_t count, uint32_t *numbers);

/* Whether two of them are of different threads of one CTA. */
bool strong_within(const Strong *items, uint32_t count);

/* ---- order_sort.c ---- */
/* By key, time and index. */
void strong_sort(Strong *items, uint32_t count);

/* ---- order_chain.c ---- */
/* Of one place, if the order follows from what was found alone: numbers[index] is the place of each. False: it does
 * not. */
bool strong_chain(const Strong *items, uint32_t count, uint32_t *numbers);
/* ---- order_search.c ---- */
/* The same, if it follows from that and from the threads' programs. They are sorted by time, and those that found what
 * none leaves are known (Strong.foreign). */
bool strong_search(const Strong *items, uint32_t count, uint32_t *numbers);
/* ---- order.c ---- */
/* What one leaves that found what it did. False: not known. */
bool strong_leaves(const Strong *item, uint64_t *value);

#endif
