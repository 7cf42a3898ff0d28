/* The order of accesses to one place by what they found alone: where no value is there twice, each came directly
 * behind the one that left what it found, whatever the times say. Counters are so. */
#include "base/order.h"
#include "check/replay/order/order.h"

#include <stdlib.h>

/* Who changes what is there. */
typedef struct OrderChainLink {
    uint64_t found, left;
    uint32_t item, rank;
} OrderChainLink;

typedef struct OrderChain {
    OrderChainLink *links; /* by what they found */
    uint32_t count;
    uint64_t last;   /* what is there at the end */
    uint32_t *ranks; /* of each item: how many changes came before it */
    uint32_t *next;  /* of each rank: the number of its next one */
} OrderChain;

ORDER(by_found, OrderChainLink, BY(found))

/* A counter counts one by one, as a rule. */
static OrderChainLink *link_of(const OrderChain *chain, uint64_t found) {
    OrderChainLink key = {.found = found};
    uint64_t at = found - chain->links[0].found;
    if (at < chain->count && chain->links[at].found == found)
        return &chain->links[at];
    return bsearch(&key, chain->links, chain->count, sizeof key, by_found);
}

/* By what they found, where no number is missing: each goes to its place. False: one was found by two. */
static bool sort_dense(OrderChain *chain, uint64_t least) {
    OrderChainLink *links = chain->links;
    for (uint32_t i = 0; i < chain->count; i++)
        while (links[i].found - least != i) {
            OrderChainLink *to = &links[links[i].found - least], moved = *to;
            if (moved.found == links[i].found)
                return false;
            *to = links[i];
            links[i] = moved;
        }
    return true;
}

/* False: what one of them found or left is not known, or was found by two. */
static bool find_links(OrderChain *chain, const Strong *items, uint32_t count) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t left, found = items[i].found;
        if (!items[i].finds || !strong_leaves(&items[i], &left))
            return false;
        if (left == found)
            continue;
        chain->links[chain->count++] = (OrderChainLink){found, left, i, 0};
        least = found < least ? found : least;
        most = found > most ? found : most;
    }
    if (chain->count && most - least == chain->count - 1)
        return sort_dense(chain, least);
    qsort(chain->links, chain->count, sizeof *chain->links, by_found);
    for (uint32_t i = 1; i < chain->count; i++)
        if (chain->links[i].found == chain->links[i - 1].found)
            return false;
    return chain->count > 0;
}

/* The first is the one that found what none has left. NULL: there are several, or none. */
static OrderChainLink *find_first(const OrderChain *chain) {
    OrderChainLink *first = NULL;
    for (uint32_t i = 0; i < chain->count; i++) {
        OrderChainLink *next = link_of(chain, chain->links[i].left);
        if (next)
            next->rank = 1; /* it has one before it */
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        if (chain->links[i].rank)
            continue;
        if (first)
            return NULL;
        first = &chain->links[i];
    }
    return first;
}

/* False: not all are in one chain. */
static bool walk(OrderChain *chain, OrderChainLink *at) {
    for (uint32_t rank = 0; rank < chain->count; rank++) {
        at->rank = rank;
        chain->last = at->left;
        at = link_of(chain, chain->last);
        if (!at != (rank + 1 == chain->count))
            return false;
    }
    return true;
}

/* False: one of them found what was never there. */
static bool rank_items(OrderChain *chain, const Strong *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const OrderChainLink *link = link_of(chain, items[i].found);
        if (!link && items[i].found != chain->last)
            return false;
        chain->ranks[i] = link ? link->rank : chain->count;
    }
    return true;
}

/* Who only reads a value comes before the one that changes it; among themselves they are in the order of time. */
static void number_items(const OrderChain *chain, const Strong *items, uint32_t count, uint32_t *numbers) {
    uint32_t *next = chain->next;
    for (uint32_t i = 0; i < count; i++)
        next[chain->ranks[i] + 1]++;
    for (uint32_t i = 0; i <= chain->count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < chain->count; i++)
        numbers[items[chain->links[i].item].index] = next[chain->links[i].rank + 1] - 1;
    for (uint32_t i = 0; i < count; i++) {
        const OrderChainLink *link = link_of(chain, items[i].found);
        if (!link || link->item != i)
            numbers[items[i].index] = next[chain->ranks[i]]++;
    }
}

/* What a thread did last. */
typedef struct OrderChainOwn {
    uint32_t thread;
    uint32_t index; /* + 1; 0: free */
} OrderChainOwn;

/* Whether each thread's own are in the order of its program. `own`: room for `capacity`, a power of two that is larger;
 * `order`: for their order. */
static bool keeps_programs(OrderChainOwn *own, uint32_t capacity, uint32_t *order, const Strong *items, uint32_t count,
                           const uint32_t *numbers) {
    for (uint32_t i = 0; i < count; i++)
        order[numbers[items[i].index]] = i;
    for (uint32_t i = 0; i < count; i++) {
        const Strong *item = &items[order[i]];
        uint32_t at = (uint32_t)((item->thread * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (capacity - 1);
        while (own[at].index && own[at].thread != item->thread)
            at = (at + 1) & (capacity - 1);
        if (own[at].index > item->index + 1)
            return false;
        own[at] = (OrderChainOwn){item->thread, item->index + 1};
    }
    return true;
}

bool strong_chain(const Strong *items, uint32_t count, uint32_t *numbers) {
    OrderChain chain = {.links = calloc(count, sizeof *chain.links),
                        .ranks = calloc(count, sizeof *chain.ranks),
                        .next = calloc((size_t)count + 2, sizeof *chain.next)};
    uint32_t capacity = 4;
    while (capacity / 2 <= count && capacity <= UINT32_MAX / 2)
        capacity *= 2;
    OrderChainOwn *own = calloc(capacity, sizeof *own);
    OrderChainLink *first = NULL;
    bool good = chain.links && chain.ranks && chain.next && own && find_links(&chain, items, count);
    good = good && (first = find_first(&chain)) && walk(&chain, first) && rank_items(&chain, items, count);
    if (good) {
        number_items(&chain, items, count, numbers);
        good = keeps_programs(own, capacity, chain.ranks, items, count, numbers);
    }
    free(chain.links);
    free(chain.ranks);
    free(chain.next);
    free(own);
    return good;
}
