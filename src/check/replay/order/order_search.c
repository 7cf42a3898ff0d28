/* The order of accesses to one place by what they found and by the programs of their threads, where values come again,
 * as at a barrier that counts round and round: of each thread its next access can come, and only if it found what is
 * there. As a rule one of all threads has found it, and there is nothing to choose. Else the earliest is taken, and if
 * that leads nowhere, the next one. An order in which another change could have come somewhere is one of several, and
 * is not taken: which of them was made decides what is ordered.
 *
 * Who only reads what is there changes nothing, and comes as early as it can, unless it began when the next change was
 * over already, and what it found comes again. An order that is found so may still be wrong: none is taken in which an
 * access was over, long before one began that it comes behind. */
#include "base/deadline.h"
#include "base/order.h"
#include "check/replay/order/order.h"

#include <stdlib.h>

enum {
    NONE = UINT32_MAX,
    SLACK = 50000,      /* nanoseconds by which times may be wrong */
    UNKNOWN = 12800000, /* ... by which an access is over of which nothing says when */
    TRIES = 8,          /* values that may have been there at first */
    STEPS_EACH = 32,    /* so many for each access, and some more, until it is given up */
    STEPS_MORE = 10000,
};

/* An access. */
typedef struct OrderSearchMove {
    uint32_t found, left;   /* values, by their numbers; found NONE: it is not known */
    uint32_t before, next;  /* of its thread; NONE */
    uint32_t later, sooner; /* others that could come now and have found the same; NONE */
    bool changes;
} OrderSearchMove;

/* A value. */
typedef struct OrderSearchValue {
    uint64_t value;
    uint32_t can;    /* the first that could come now, and has found it; NONE */
    uint32_t coming; /* changes to it that have not come yet */
    uint32_t found;  /* changes of it */
    bool soon;       /* a thread leaves it by its first access */
    bool used;
} OrderSearchValue;

/* A place in the order where another one could come. */
typedef struct OrderSearchChoice {
    uint32_t placed, held, jumps, taken;
} OrderSearchChoice;

typedef struct OrderSearch {
    const Strong *items; /* by time */
    uint32_t count;
    OrderSearchMove *moves;
    OrderSearchValue *values; /* hashed */
    uint32_t mask;
    uint32_t blind, foreign; /* the first that could come now: which found nothing; which found what none leaves */
    uint32_t *order, placed;
    OrderSearchChoice *choices;
    uint32_t choice_count;
    uint32_t held, jumps;
    uint64_t steps;
} OrderSearch;

static uint32_t value_of(OrderSearch *search, uint64_t value) {
    uint32_t at = (uint32_t)((value * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & search->mask;
    while (search->values[at].used && search->values[at].value != value)
        at = (at + 1) & search->mask;
    if (!search->values[at].used)
        search->values[at] = (OrderSearchValue){.value = value, .can = NONE, .used = true};
    return at;
}

static int64_t after(const OrderSearch *search, uint32_t one, uint32_t other) {
    return (int32_t)(search->items[one].time - search->items[other].time);
}

/* ---- What can come -------------------------------------------------------------------------------- */

static uint32_t *list_of(OrderSearch *search, uint32_t at) {
    const OrderSearchMove *move = &search->moves[at];
    if (move->found == NONE)
        return &search->blind;
    return search->items[at].foreign && move->changes ? &search->foreign : &search->values[move->found].can;
}

static void can_come(OrderSearch *search, uint32_t at) {
    uint32_t *list = list_of(search, at);
    search->moves[at].later = *list;
    search->moves[at].sooner = NONE;
    if (*list != NONE)
        search->moves[*list].sooner = at;
    *list = at;
}

static void cannot_come(OrderSearch *search, uint32_t at) {
    const OrderSearchMove *move = &search->moves[at];
    if (move->sooner == NONE)
        *list_of(search, at) = move->later;
    else
        search->moves[move->sooner].later = move->later;
    if (move->later != NONE)
        search->moves[move->later].sooner = move->sooner;
}

static void place(OrderSearch *search, uint32_t at) {
    const OrderSearchMove *move = &search->moves[at];
    cannot_come(search, at);
    if (move->next != NONE)
        can_come(search, move->next);
    search->order[search->placed++] = at;
    if (move->changes) {
        search->values[move->left].coming--;
        search->jumps += move->found != NONE && move->found != search->held;
        search->held = move->left;
    }
}

static void take_back(OrderSearch *search) {
    uint32_t at = search->order[--search->placed];
    const OrderSearchMove *move = &search->moves[at];
    if (move->next != NONE)
        cannot_come(search, move->next);
    can_come(search, at);
    if (move->changes)
        search->values[move->left].coming++;
}

/* The earliest behind `last` (NONE: of all) of a list; or `best`. */
static uint32_t earliest(const OrderSearch *search, uint32_t list, uint32_t last, uint32_t held, uint32_t best) {
    for (uint32_t at = list; at != NONE; at = search->moves[at].later)
        if (search->moves[at].changes && (last == NONE || at > last) && at < best &&
            (held == NONE || search->moves[at].found == held))
            best = at;
    return best;
}

/* The earliest change that can come, behind `last`; NONE. */
static uint32_t next_change(const OrderSearch *search, uint32_t last) {
    uint32_t best = earliest(search, search->values[search->held].can, last, NONE, NONE);
    best = earliest(search, search->blind, last, NONE, best);
    return earliest(search, search->foreign, last, search->jumps < search->items[0].stores ? NONE : search->held, best);
}

/* When it is over: its thread has begun the next one. */
static int64_t over_after(const OrderSearch *search, uint32_t at, uint32_t since) {
    uint32_t next = search->moves[at].next;
    return next == NONE ? after(search, at, since) + UNKNOWN : after(search, next, since) + SLACK;
}

/* Whether it reads what is there, and comes before the change that is next. */
static bool reads_now(const OrderSearch *search, uint32_t at, uint32_t change) {
    bool again = search->values[search->held].coming || search->items[0].stores;
    return !search->moves[at].changes && search->moves[at].found == search->held &&
           (!again || change == NONE || over_after(search, change, at) >= 0);
}

/* Those that do, and those of their threads behind them that do, too. Whether there were any. */
static bool place_reads(OrderSearch *search, uint32_t change) {
    bool any = false;
    for (uint32_t at = search->values[search->held].can, next; at != NONE; at = next) {
        next = search->moves[at].later;
        for (; at != NONE && reads_now(search, at, change); at = search->moves[at].next) {
            place(search, at);
            any = true;
        }
    }
    return any;
}

/* ---- The search ----------------------------------------------------------------------------------- */

/* Back to the last place where another one can come, and it does. False: there is none. */
static bool choose_again(OrderSearch *search) {
    while (search->choice_count) {
        OrderSearchChoice *choice = &search->choices[search->choice_count - 1];
        while (search->placed > choice->placed) {
            take_back(search);
            search->steps++;
        }
        search->held = choice->held;
        search->jumps = choice->jumps;
        uint32_t other = next_change(search, choice->taken);
        if (other != NONE) {
            choice->taken = other;
            place(search, other);
            return true;
        }
        search->choice_count--;
    }
    return false;
}

static bool search_from(OrderSearch *search, uint32_t held, uint64_t most) {
    search->held = held;
    search->jumps = search->choice_count = 0;
    search->steps = 0;
    while (search->placed < search->count) {
        uint32_t change = next_change(search, NONE);
        if (++search->steps > most || deadline_passed())
            return false;
        if (place_reads(search, change))
            continue;
        if (change == NONE) {
            if (!choose_again(search))
                return false;
            continue;
        }
        if (next_change(search, change) != NONE)
            search->choices[search->choice_count++] =
                (OrderSearchChoice){search->placed, search->held, search->jumps, change};
        place(search, change);
    }
    return true;
}

/* Whether none comes behind one that began long after it was over. Reads between two changes have no order. */
static bool is_possible(const OrderSearch *search) {
    uint32_t latest = search->order[0], changed = NONE; /* that began last; up to the last change */
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t at = search->order[i];
        bool changes = search->moves[at].changes;
        uint32_t before = changes ? latest : changed;
        if (before != NONE && over_after(search, at, before) < 0)
            return false;
        latest = after(search, at, latest) > 0 ? at : latest;
        changed = changes ? latest : changed;
    }
    return true;
}

/* Whether what it found may have been there at first: it is found more often than left, or no thread leaves it by its
 * first access, or else it may be all the same. */
static bool may_be_first(const OrderSearch *search, uint32_t at, unsigned how) {
    const OrderSearchMove *move = &search->moves[at];
    const OrderSearchValue *value = move->found == NONE ? NULL : &search->values[move->found];
    if (!value || move->before != NONE)
        return false;
    return how == 0 ? value->found > value->coming : how == 1 ? !value->soon : true;
}

static bool try_all(OrderSearch *search) {
    enum { HOWS = 3 };
    uint64_t most = (uint64_t)STEPS_EACH * search->count + STEPS_MORE;
    uint32_t tried[TRIES], count = 0;
    for (unsigned how = 0; how < HOWS; how++)
        for (uint32_t i = 0; i < search->count && count < TRIES; i++) {
            const OrderSearchMove *move = &search->moves[i];
            bool known = !may_be_first(search, i, how);
            for (uint32_t k = 0; k < count && !known; k++)
                known = tried[k] == move->found;
            if (known)
                continue;
            tried[count++] = move->found;
            if (search_from(search, move->found, most))
                return !search->choice_count && is_possible(search);
            while (search->placed)
                take_back(search);
        }
    return false;
}

/* ---- What there is -------------------------------------------------------------------------------- */

typedef struct OrderSearchOwn {
    uint32_t thread, index, at;
} OrderSearchOwn;

ORDER(by_thread, OrderSearchOwn, BY(thread) BY(index))

static void find_programs(OrderSearch *search, OrderSearchOwn *own) {
    for (uint32_t i = 0; i < search->count; i++)
        own[i] = (OrderSearchOwn){search->items[i].thread, search->items[i].index, i};
    qsort(own, search->count, sizeof *own, by_thread);
    for (uint32_t i = 0; i < search->count; i++) {
        bool first = !i || own[i].thread != own[i - 1].thread;
        bool last = i + 1 == search->count || own[i].thread != own[i + 1].thread;
        search->moves[own[i].at].before = first ? NONE : own[i - 1].at;
        search->moves[own[i].at].next = last ? NONE : own[i + 1].at;
    }
}

/* False: what one leaves is not known. */
static bool find_moves(OrderSearch *search) {
    for (uint32_t i = 0; i < search->count; i++) {
        const Strong *item = &search->items[i];
        OrderSearchMove *move = &search->moves[i];
        uint64_t left;
        if (!strong_leaves(item, &left))
            return false;
        move->found = item->finds ? value_of(search, item->found) : NONE;
        move->left = value_of(search, left);
        move->changes = move->found != move->left;
        search->values[move->left].coming += move->changes;
        search->values[move->left].soon |= move->changes && move->before == NONE;
        if (move->changes && item->finds)
            search->values[move->found].found++;
    }
    for (uint32_t i = search->count; i-- > 0;)
        if (search->moves[i].before == NONE)
            can_come(search, i);
    return true;
}

bool strong_search(const Strong *items, uint32_t count, uint32_t *numbers) {
    uint32_t capacity = 16;
    while (capacity / 4 <= count && capacity <= UINT32_MAX / 2)
        capacity *= 2;
    OrderSearch search = {.items = items,
                          .count = count,
                          .moves = calloc(count, sizeof *search.moves),
                          .values = calloc(capacity, sizeof *search.values),
                          .mask = capacity - 1,
                          .blind = NONE,
                          .foreign = NONE,
                          .order = calloc(count, sizeof *search.order),
                          .choices = calloc(count, sizeof *search.choices)};
    OrderSearchOwn *own = calloc(count, sizeof *own);
    bool good = search.moves && search.values && search.order && search.choices && own;
    if (good)
        find_programs(&search, own);
    good = good && find_moves(&search) && try_all(&search);
    for (uint32_t i = 0; good && i < count; i++)
        numbers[items[search.order[i]].index] = i;
    free(search.moves);
    free(search.values);
    free(search.order);
    free(search.choices);
    free(own);
    return good;
}
