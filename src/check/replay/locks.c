/* Locks that are never released. A poll that ends its loop and changes what it found takes a lock: CAS from 0 to 1, an
 * exchange. The thread that takes it last, and leaves it as it is, may do so because it is the last; or a kernel that
 * would hang in another order of the same threads has ended by luck. Which of the two it is cannot be decided from one
 * run.
 *
 * He could have come before another one who took it if he would have ended on what that one found; and that one waits
 * forever if he would not have ended on what is left. */
#include "check/replay/internal.h"

/* Whether it took it; *left: what it left there. */
static bool takes(const Strong *item, uint64_t *left) {
    return item->poll && item->finds && poll_ends(item, item->found) && strong_leaves(item, left) &&
           *left != item->found && !poll_ends(item, *left);
}

/* The last one to take it, if nothing has changed it since; of all accesses to a place, in their order. */
static const Strong *keeper_of(const Strong *const *items, uint32_t count) {
    const Strong *keeper = NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t left;
        if (items[i]->stores) /* it is not known what these leave, nor when */
            return NULL;
        if (takes(items[i], &left))
            keeper = items[i];
        else if (!strong_leaves(items[i], &left) || !items[i]->finds || left != items[i]->found)
            keeper = NULL;
    }
    return keeper;
}

static bool keeps_out(const Strong *keeper, const Strong *const *items, uint32_t count) {
    uint64_t kept, left;
    if (!keeper || !takes(keeper, &kept))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (items[i]->thread != keeper->thread && takes(items[i], &left) && poll_ends(keeper, items[i]->found) &&
            !poll_ends(items[i], kept))
            return true;
    return false;
}

void locks_report(const Player *player, Verdict *verdict) {
    const PtxCode *code = player->turns && player->turns->kept ? player->turns->kept->code : NULL;
    if (code)
        verdict_incomplete(
            verdict, verdict_text(verdict, "%.*s", STR_ARG(code->form->text)), code_line(player->check->program, code),
            "the last thread that takes this lock does not release it: whether another thread can come after it and "
            "wait forever is not known");
}

void locks_find(ModificationOrders *turns, const Strong *items, uint32_t count, Arena *arena) {
    const Strong **row = ARENA_ARRAY(arena, const Strong *, count + 1);
    for (uint32_t i = 0, end; i < count && !turns->kept; i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        for (uint32_t k = i; k < end; k++)
            row[turns->numbers[items[k].index]] = &items[k];
        const Strong *keeper = keeper_of(row, end - i);
        if (keeps_out(keeper, row, end - i))
            turns->kept = keeper->site;
    }
}
