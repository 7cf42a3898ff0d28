/* The order of strong accesses to one place: one after the other is picked, the earliest that found what is there. */
#include "check/replay/order/order.h"
#include "base/deadline.h"
#include "base/order.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 50000, /* nanoseconds by which times may be wrong */
    WIDER = 16,     /* so much more where no order fits: fences wait for records on their way to the host's memory */
    WIDEST = WINDOW * WIDER * WIDER,
    MOST_WIDER = 1 << 14, /* accesses to one place for which that is tried: it takes long */
    NEAR = 8000,        /* ... and by which a reader of what is there may have come before the thread that changes it */
    MOST_LOOKED = 1024, /* accesses that are looked at for the next */
    MOST_FIRST = 256,   /* ... and for what was there before all of them */
};

/* What is there. */
typedef struct OrderHeld {
    bool known;
    uint64_t value;
} OrderHeld;

static int32_t later(const Strong *a, const Strong *b) {
    return (int32_t)(a->time - b->time);
}

/* ---- What an access leaves ------------------------------------------------------------------------ */

static int64_t signed_of(const Strong *item, uint64_t value) {
    unsigned unused = 64 - 8 * item->bytes;
    return (int64_t)(value << unused) >> unused;
}

/* The sum of two reals, as atomics round it. */
static uint64_t real_sum(const Strong *item, uint64_t a, uint64_t b) {
    if (item->bytes == 8) {
        double x, y;
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        x += y;
        memcpy(&a, &x, sizeof x);
        return a;
    }
    uint32_t low = (uint32_t)a, other = (uint32_t)b;
    float x, y;
    memcpy(&x, &low, sizeof x);
    memcpy(&y, &other, sizeof y);
    x += y;
    memcpy(&low, &x, sizeof x);
    return low;
}

/* Reals of 16 bits: so many of them are the fraction. */
static double half_value(uint32_t bits, int fraction) {
    int exponents = (1 << (15 - fraction)) - 1, exponent = (int)(bits >> fraction) & exponents;
    int bias = exponents / 2, digits = (int)(bits & ((1U << fraction) - 1));
    double value = exponent == exponents ? (digits ? NAN : INFINITY)
                   : exponent            ? ldexp(digits + (1 << fraction), exponent - bias - fraction)
                                         : ldexp(digits, 1 - bias - fraction);
    return bits & 0x8000 ? -value : value;
}

/* The nearest of them, the even one of two. */
static uint32_t half_bits(double value, int fraction) {
    int exponents = (1 << (15 - fraction)) - 1, bias = exponents / 2, exponent;
    uint32_t sign = signbit(value) ? 0x8000 : 0, limit = (uint32_t)exponents << fraction;
    if (isnan(value))
        return limit | 1;
    if (isinf(value))
        return sign | limit;
    frexp(value, &exponent); /* between 0.5 and 1 */
    int unit = (exponent - 1 > 1 - bias ? exponent - 1 : 1 - bias) - fraction;
    double digits = nearbyint(ldexp(fabs(value), -unit));
    /* What is rounded up to the next power of two has its exponent one higher, as the sum says. */
    uint32_t bits = (uint32_t)((int)digits + ((unit + fraction + bias - 1) << fraction));
    return sign | (bits < limit ? bits : limit);
}

static uint64_t half_sum(const Strong *item, uint64_t a, uint64_t b) {
    int fraction = item->kind == STRONG_ADD_HALF ? 10 : 7;
    uint64_t sum = 0;
    for (unsigned i = 0; i < item->bytes / 2u; i++) {
        double x = half_value((uint32_t)(a >> 16 * i) & 0xFFFF, fraction);
        double y = half_value((uint32_t)(b >> 16 * i) & 0xFFFF, fraction);
        sum |= (uint64_t)half_bits(x + y, fraction) << 16 * i;
    }
    return sum;
}

/* Reals whose bits may differ though nothing else was there: what is too small may be 0, and no numbers are many. */
static bool is_vague(const Strong *item, uint64_t value) {
    uint64_t exponents = item->bytes == 8 ? UINT64_C(0x7FF0000000000000) : UINT64_C(0x7F800000);
    bool all = (value & exponents) == exponents, none = !(value & exponents);
    return item->kind == STRONG_ADD_REAL &&
           (none || (all && value & (item->bytes == 8 ? UINT64_C(0xFFFFFFFFFFFFF) : 0x7FFFFF)));
}

static bool fits(const Strong *item, OrderHeld held) {
    return !item->finds || !held.known || item->found == held.value ||
           (is_vague(item, item->found) && is_vague(item, held.value));
}

static uint64_t computed(const Strong *item, uint64_t before) {
    uint64_t by = item->written;
    switch ((StrongKind)item->kind) {
    case STRONG_ADD:
        return before + by;
    case STRONG_AND:
        return before & by;
    case STRONG_OR:
        return before | by;
    case STRONG_XOR:
        return before ^ by;
    case STRONG_MIN:
        return by < before ? by : before;
    case STRONG_MAX:
        return by > before ? by : before;
    case STRONG_LEAST:
        return signed_of(item, by) < signed_of(item, before) ? by : before;
    case STRONG_MOST:
        return signed_of(item, by) > signed_of(item, before) ? by : before;
    case STRONG_INC:
        return before >= by ? 0 : before + 1;
    case STRONG_DEC:
        return !before || before > by ? by : before - 1;
    case STRONG_ADD_REAL:
        return real_sum(item, before, by);
    case STRONG_ADD_HALF:
    case STRONG_ADD_BRAIN:
        return half_sum(item, before, by);
    default:
        return before;
    }
}

static OrderHeld left_by(const Strong *item, OrderHeld held) {
    OrderHeld before = item->finds ? (OrderHeld){true, item->found} : held;
    uint64_t mask = item->bytes < 8 ? (UINT64_C(1) << 8 * item->bytes) - 1 : UINT64_MAX;
    switch ((StrongKind)item->kind) {
    case STRONG_READ:
        return before;
    case STRONG_WRITE:
        return (OrderHeld){true, item->written};
    case STRONG_CAS:
        return before.known && before.value != item->compared ? before
               : before.known                                 ? (OrderHeld){true, item->written}
                                                              : (OrderHeld){0};
    case STRONG_OTHER:
        return (OrderHeld){0};
    default:
        return (OrderHeld){before.known, computed(item, before.value) & mask};
    }
}

bool strong_leaves(const Strong *item, uint64_t *value) {
    OrderHeld after = left_by(item, (OrderHeld){0});
    *value = after.value;
    return after.known;
}

static bool changes(const Strong *item, OrderHeld held) {
    OrderHeld after = left_by(item, held);
    return !after.known || after.value != held.value;
}

/* Whether its thread has another one before it. */
static bool behind_own(const Strong *items, const bool *done, uint32_t first, uint32_t at) {
    for (uint32_t i = first; i < at; i++)
        if (!done[i] && items[i].thread == items[at].thread)
            return true;
    return false;
}

/* Whether what is there now may be there again, when it has been changed. */
static bool comes_again(const Strong *items, const bool *done, uint32_t first, uint32_t end, OrderHeld held,
                        int32_t window) {
    if (items[first].stores)
        return true;
    for (uint32_t i = first; i < end && i < first + MOST_LOOKED && later(&items[i], &items[first]) < window; i++) {
        OrderHeld after = left_by(&items[i], (OrderHeld){0});
        bool reads =
            items[i].kind == STRONG_READ || (items[i].finds && !changes(&items[i], (OrderHeld){true, items[i].found}));
        if (!done[i] && !reads && (!after.known || after.value == held.value))
            return true;
    }
    return false;
}

/* One that only reads what is there, where `at` would change it; or `at`. Who reads comes before it if it is near, or
 * else could not have read that at all. */
static uint32_t reader_before(const Strong *items, const bool *done, uint32_t first, uint32_t at, uint32_t end,
                              OrderHeld held, int32_t window) {
    if (!held.known || !changes(&items[at], held))
        return at;
    for (uint32_t i = first; i < end && i < at + MOST_LOOKED && later(&items[i], &items[at]) < window; i++)
        if (!done[i] && i != at && items[i].finds && items[i].found == held.value && !changes(&items[i], held) &&
            items[i].thread != items[at].thread && !behind_own(items, done, first, i)) {
            bool far = later(&items[i], &items[at]) >= NEAR; /* as are all others then */
            return far && comes_again(items, done, first, end, held, window) ? at : i;
        }
    return at;
}

/* Where it is not known what was there at first: who wrote what `at` has read, and is near to it; or `at`. */
static uint32_t writer_before(const Strong *items, const bool *done, uint32_t first, uint32_t at, uint32_t end) {
    if (items[at].kind != STRONG_READ || !items[at].finds)
        return at;
    for (uint32_t i = at + 1; i < end && i < at + MOST_LOOKED && later(&items[i], &items[at]) < NEAR; i++)
        if (!done[i] && items[i].kind == STRONG_WRITE && !items[i].finds && items[i].written == items[at].found &&
            items[i].thread != items[at].thread && !behind_own(items, done, first, i))
            return i;
    return at;
}

static uint32_t pick(const Strong *items, const bool *done, uint32_t first, uint32_t end, OrderHeld held,
                     int32_t window) {
    if (items[first].foreign && items[first].stores &&
        !fits(&items[first], held)) /* a store has come between, and others come behind that */
        window = window == WINDOW ? NEAR : window / WIDER;
    for (uint32_t i = first, looked = 0; i < end && looked < MOST_LOOKED && later(&items[i], &items[first]) < window;
         i++) {
        if (done[i])
            continue;
        looked++;
        if (fits(&items[i], held) && !behind_own(items, done, first, i))
            return held.known ? reader_before(items, done, first, i, end, held, window)
                              : writer_before(items, done, first, i, end);
    }
    return first;
}

/* What those leave that change what is there. */
typedef struct Lefts {
    uint64_t values[MOST_FIRST];
    uint32_t items[MOST_FIRST], count;
} Lefts;

static void find_lefts(Lefts *lefts, const Strong *items, uint32_t end) {
    lefts->count = 0;
    for (uint32_t i = 0; i < end; i++) {
        OrderHeld after = left_by(&items[i], (OrderHeld){0});
        if (!after.known || !changes(&items[i], (OrderHeld){true, items[i].found}))
            continue;
        lefts->values[lefts->count] = after.value;
        lefts->items[lefts->count++] = i;
    }
}

/* Whether what an access found was there before another one near to it. */
static bool found_left(const Lefts *lefts, const Strong *items, uint32_t at) {
    for (uint32_t i = 0; i < lefts->count; i++)
        if (lefts->values[i] == items[at].found && lefts->items[i] != at)
            return true;
    return false;
}

/* What was there before all of them: what one of them found, and none of them left; or none of those near to it did; or
 * else 0, if one of them found that. */
static OrderHeld at_first(const Strong *items, uint32_t count, int32_t window) {
    uint32_t end = 0;
    bool zero = false;
    for (uint32_t i = 0; i < count && later(&items[i], &items[0]) < window; i++)
        if (items[i].foreign)
            return (OrderHeld){true, items[i].found};
    while (end < count && end < MOST_FIRST && later(&items[end], &items[0]) < window)
        end++;
    Lefts lefts;
    find_lefts(&lefts, items, end);
    for (uint32_t i = 0; i < end; i++) {
        if (items[i].finds && !found_left(&lefts, items, i))
            return (OrderHeld){true, items[i].found};
        zero |= items[i].finds && !items[i].found;
    }
    return (OrderHeld){zero, 0};
}

/* Of one key, if times are wrong by no more than that; `fits_all`: it ends where something does not fit. */
static StrongUncertain order_within(const Strong *items, uint32_t count, int32_t window, bool fits_all, bool *done,
                                    uint32_t *numbers) {
    StrongUncertain doubts = {0};
    uint32_t stores = 0; /* that have come between */
    OrderHeld held = at_first(items, count, window);
    bool lost = false; /* an update has left a value that is not known */
    uint32_t first = 0;
    memset(done, 0, count * sizeof *done);
    for (uint32_t number = 0; number < count && !(fits_all && doubts.unfit) && !doubts.late; number++) {
        doubts.late = deadline_passed();
        while (done[first])
            first++;
        uint32_t at = pick(items, done, first, count, held, window);
        bool fitted = fits(&items[at], held);
        if (!fitted && items[at].foreign && stores < items[at].stores) {
            stores++;
            fitted = true;
        }
        doubts.unfit += !fitted;
        doubts.unsure += lost && !held.known && items[at].finds;
        if (fitted || items[at].kind != STRONG_READ)
            held = left_by(&items[at], held);
        lost |= items[at].kind == STRONG_OTHER;
        done[at] = true;
        numbers[items[at].index] = number;
    }
    return doubts;
}

ORDER_NUMBERS(by_value, uint64_t)

/* Which of one key found what none of them leaves. If it is not known what one leaves, it may be that. */
static void find_foreign(Strong *items, uint32_t count) {
    uint64_t *left = count > 1 ? calloc(count, sizeof *left) : NULL;
    uint32_t left_count = 0;
    bool known = left != NULL;
    for (uint32_t i = 0; i < count && known; i++) {
        OrderHeld after = left_by(&items[i], (OrderHeld){0});
        bool reads =
            items[i].kind == STRONG_READ || (items[i].finds && !changes(&items[i], (OrderHeld){true, items[i].found}));
        if (!reads)
            left[left_count++] = after.value;
        known = reads || after.known;
    }
    if (known)
        qsort(left, left_count, sizeof *left, by_value);
    for (uint32_t i = 0; i < count; i++)
        items[i].foreign =
            known && items[i].finds && !bsearch(&items[i].found, left, left_count, sizeof *left, by_value);
    free(left);
}

typedef struct OrderWho {
    uint32_t cta, thread;
} OrderWho;

ORDER(by_cta, OrderWho, BY(cta))

bool strong_within(const Strong *items, uint32_t count) {
    OrderWho *all = calloc(count + 1, sizeof *all);
    bool found = !all;
    for (uint32_t i = 0; i < count && all; i++)
        all[i] = (OrderWho){items[i].cta, items[i].thread};
    if (all)
        qsort(all, count, sizeof *all, by_cta);
    for (uint32_t i = 1; i < count && !found; i++)
        found = all[i].cta == all[i - 1].cta && all[i].thread != all[i - 1].thread;
    free(all);
    return found;
}

/* Nothing here writes: what is found may change all the same, as by the host. Nothing is acquired from each other then,
 * and any order of a thread's program does. */
static bool order_reads(const Strong *items, uint32_t count, uint32_t *numbers) {
    for (uint32_t i = 0; i < count; i++)
        if (items[i].kind != STRONG_READ)
            return false;
    for (uint32_t i = 0; i < count; i++)
        numbers[items[i].index] = i;
    return true;
}

static void doubt(StrongUncertain *doubts, const Strong *items, uint32_t count) {
    bool one = doubts->cta_count < STRONG_DOUBTED;
    if (!strong_within(items, count))
        return;
    for (uint32_t i = 1; i < count && one; i++)
        one = items[i].cta == items[0].cta;
    if (!one)
        doubts->within = true;
    else if (!doubts->cta_count || doubts->ctas[doubts->cta_count - 1] != items[0].cta)
        doubts->ctas[doubts->cta_count++] = items[0].cta;
}

static void order_key(Strong *items, uint32_t count, bool *done, uint32_t *numbers, StrongUncertain *doubts) {
    int32_t best = WINDOW;
    if (order_reads(items, count, numbers) || strong_chain(items, count, numbers))
        return;
    find_foreign(items, count);
    StrongUncertain least = order_within(items, count, best, true, done, numbers);
    if (least.unfit && strong_search(items, count, numbers))
        return;
    if (least.unfit)
        least = order_within(items, count, best, false, done, numbers);
    StrongUncertain made = least;
    for (int32_t window = WINDOW * WIDER; least.unfit && count <= MOST_WIDER && window <= WIDEST; window *= WIDER) {
        made = order_within(items, count, window, false, done, numbers);
        best = made.unfit < least.unfit ? window : best;
        least = made.unfit < least.unfit ? made : least;
    }
    if (made.unfit > least.unfit) /* that was not the last */
        order_within(items, count, best, false, done, numbers);
    doubts->late |= least.late;
    doubts->unfit += least.unfit;
    doubts->unsure += least.unsure;
    if (least.unfit || least.unsure)
        doubt(doubts, items, count);
}

StrongUncertain strong_order(Strong *items, uint32_t count, uint32_t *numbers) {
    StrongUncertain doubts = {0};
    bool *done = calloc(count + 1, sizeof *done);
    strong_sort(items, count);
    for (uint32_t i = 0, end; i < count && !doubts.late; i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        doubts.late = deadline_passed();
        if (done)
            order_key(items + i, end - i, done + i, numbers, &doubts);
        for (uint32_t k = i; !done && k < end; k++) /* in the order of time: of which nothing is sure */
            numbers[items[k].index] = k - i;
    }
    doubts.unfit += done ? 0 : count;
    doubts.within |= !done;
    free(done);
    return doubts;
}
