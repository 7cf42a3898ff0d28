/* Heads are known by the order of the text, in which the compiler writes blocks: what goes back goes up. */
#include "machine/tile/compile/block_loops.h"

enum { MOST_BLOCKS = 256 }; /* of a region, as far as it is looked at */

static bool is_many(const Block *block) {
    return block && block->region && block->region->block_count > 1 && block->region->block_count <= MOST_BLOCKS;
}

bool block_is_head(const Block *block) {
    if (!is_many(block) || !block->first)
        return false;
    for (const Block *from = block; from; from = from->next)
        for (uint32_t i = 0; from->last && i < op_successor_count(from->last); i++)
            if (from->last->extra->successors[i] == block)
                return true;
    return false;
}

bool block_loop_has(const Block *head, const Block *block) {
    const Block *stack[MOST_BLOCKS];
    bool seen[MOST_BLOCKS] = {false};
    uint32_t depth = 0;
    if (!is_many(head) || block->region != head->region || block->order < head->order)
        return false;
    stack[depth++] = block;
    seen[block->order] = true;
    while (depth) {
        const Op *end = stack[--depth]->last;
        for (uint32_t i = 0; end && i < op_successor_count(end); i++) {
            const Block *to = end->extra->successors[i];
            if (to == head)
                return true;
            if (to->region == head->region && to->order > head->order && to->order < MOST_BLOCKS && !seen[to->order]) {
                seen[to->order] = true;
                stack[depth++] = to;
            }
        }
    }
    return false;
}

const Block *block_loop_around(const Op *op) {
    const Block *found = NULL;
    if (!is_many(op->block))
        return NULL;
    for (const Block *head = op->block->region->first; head; head = head->next)
        if (head->order <= op->block->order && block_is_head(head) && block_loop_has(head, op->block))
            found = head; /* one that comes later is in the ones before */
    return found;
}

typedef struct BlockLoopSearch {
    Carried *carried;
    bool back, several;
} BlockLoopSearch;

static void find_way(void *context, Forwarded how, const Value *from, const Value *to) {
    BlockLoopSearch *search = context;
    if (how != FORWARDED_BRANCH || to != search->carried->argument)
        return;
    const Value **place = search->back ? &search->carried->next : &search->carried->first;
    search->several |= *place && *place != from;
    *place = from;
}

bool block_carried(const Value *value, Carried *carried) {
    if (value->is_result || !block_is_head(value->owner))
        return false;
    const Block *head = value->owner;
    *carried = (Carried){.loop = head->first, .index = value->index, .argument = value};
    BlockLoopSearch search = {.carried = carried};
    for (const Block *from = head->region->first; from; from = from->next) {
        search.back = from->order >= head->order;
        if (op_is_control(from->last, CONTROL_JUMP))
            op_hands_on(from->last, find_way, &search);
    }
    return carried->first && carried->next && !search.several;
}

int block_loop_stays(const Block *head, const Op *branch) {
    if (!branch || !branch->row || op_successor_count(branch) != 2)
        return -1; /* by what an op goes that has no row is not known */
    bool yes = block_loop_has(head, branch->extra->successors[0]) || branch->extra->successors[0] == head;
    bool no = block_loop_has(head, branch->extra->successors[1]) || branch->extra->successors[1] == head;
    return yes == no ? -1 : yes;
}

static bool leads_to(const Block *from, const Block *to) {
    const Block *stack[MOST_BLOCKS];
    bool seen[MOST_BLOCKS] = {false};
    uint32_t depth = 0;
    stack[depth++] = from;
    seen[from->order] = true;
    while (depth) {
        const Block *at = stack[--depth];
        if (at == to)
            return true;
        for (uint32_t i = 0; at->last && i < op_successor_count(at->last); i++) {
            const Block *next = at->last->extra->successors[i];
            if (next->region == to->region && next->order < MOST_BLOCKS && !seen[next->order]) {
                seen[next->order] = true;
                stack[depth++] = next;
            }
        }
    }
    return false;
}

bool block_is_by_either(const Block *block, const Op *branch) {
    if (!is_many(block) || op_successor_count(branch) != 2)
        return false;
    const Block *const *ways = (const Block *const *)branch->extra->successors;
    return ways[0]->region == block->region && ways[1]->region == block->region && leads_to(ways[0], block) &&
           leads_to(ways[1], block);
}
