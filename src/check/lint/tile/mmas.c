/* wgmma: where it may run, and results that are used before they are there.
 *
 * Products complete in the order of their issue, and a wait leaves the N youngest pending. So a product is in flight
 * until a wait with N at most its age: how many were issued after it. Ages are followed along all ways through the
 * kernel, the youngest where ways meet; results are followed under all their names. */
#include "base/pointers.h"
#include "check/lint/tile/group.h"
#include "model/flow/forwarded.h"

/* The state of a product: 0: over; else YOUNGEST less its age, 1 at least. */
enum { YOUNGEST = UINT8_MAX };

/* A value, and what it is handed on to, or the product that it may be the result of. */
typedef struct MmaLink {
    uint32_t value, other;
    uint32_t next; /* of the same value; NO_NUMBER: none */
    bool waited;   /* handed on through a wait; on every way from the product there is one that it goes through */
} MmaLink;

typedef struct MmaLinks {
    MmaLink *items;
    uint32_t count, capacity;
    uint32_t *first; /* by value, once all are there */
} MmaLinks;

typedef struct Mmas {
    Lint *lint;
    Arena *arena;
    const Op **items;
    uint32_t count, capacity;
    Pointers numbers; /* of products */
    Pointers values;  /* that may be results */
    uint32_t value_count;
    MmaLinks hands, holdings;
    uint64_t steps;
    bool reported_target; /* once a kernel is enough */
} Mmas;

/* ---- Where it may run ----------------------------------------------------------------------------- */

static void check_place(Mmas *mmas, const Op *op) {
    Lint *lint = mmas->lint;
    unsigned warps = partition_warps(op);
    int64_t start = partition_first_warp(op);
    if (lint->target && !lint->target->wgmma && !mmas->reported_target) {
        mmas->reported_target = true;
        lint_explain(lint_find(lint, RULE_WGMMA_TARGET, op, "%s has no wgmma", lint->target->name), "shared",
                     "wgmma exists only on sm_90a.", "Compile for sm_90a, or use the MMA of the target.");
    }
    if (warps % 4)
        lint_explain(lint_find(lint, RULE_WGMMA_WARPS, op,
                               "%s has %u warp%s, which is not a whole number of "
                               "warpgroups",
                               partition_name(lint, op), warps, warps == 1 ? "" : "s"),
                     "shared", "The four warps of a warpgroup execute wgmma together.",
                     "Give it a multiple of 4 warps.");
    if (start >= 0 && start % 4)
        lint_explain(lint_find(lint, RULE_WGMMA_START, op, "%s starts at warp %lld, inside a warpgroup",
                               partition_name(lint, op), (long long)start),
                     "shared", "A warpgroup starts at a warp whose index is a multiple of 4.",
                     "Start the partition at a multiple of 4 warps.");
}

/* ---- Names of results ----------------------------------------------------------------------------- */

static uint32_t value_number(Mmas *mmas, const Value *value) {
    uint32_t number = pointers_get(&mmas->values, value);
    if (number != NO_NUMBER)
        return number;
    pointers_set(&mmas->values, value, mmas->value_count);
    return mmas->value_count++;
}

static void add_link(Mmas *mmas, MmaLinks *links, MmaLink link) {
    *ARENA_PUSH(mmas->arena, links->items, links->count, links->capacity) = link;
}

static void hand_on(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    Mmas *mmas = context;
    const Type *type = lint_type(mmas->lint, from);
    if (type && type->kind == TYPE_TENSOR)
        add_link(mmas, &mmas->hands, (MmaLink){.value = value_number(mmas, from), .other = value_number(mmas, to)});
}

static void collect(Mmas *mmas) {
    for (const Op *op = mmas->lint->function; op; op = op_next_in_walk(op, mmas->lint->function)) {
        uint32_t before = mmas->hands.count;
        if (op_is(op, CLASS_WGMMA)) {
            check_place(mmas, op);
            if (!op_flag(op, "isAsync") || !op->result_count)
                continue;
            pointers_set(&mmas->numbers, op, mmas->count);
            *ARENA_PUSH(mmas->arena, mmas->items, mmas->count, mmas->capacity) = op;
            value_number(mmas, &op->results[0]);
        } else if (op_is(op, CLASS_WGMMA_WAIT)) {
            for (uint32_t i = 0; i < op->operand_count && i < op->result_count; i++)
                hand_on(mmas, FORWARDED_OVER, op->operands[i], &op->results[i]);
            for (uint32_t i = before; i < mmas->hands.count; i++)
                mmas->hands.items[i].waited = true;
        } else if (op_evaluator(op) != EVALUATE_SELECT || chooses_whole(op)) { /* another reads what it chooses from */
            op_hands_on(op, hand_on, mmas);
        }
    }
}

/* Those of one value, in the order in which they were added. */
static void link_up(Mmas *mmas, MmaLinks *links) {
    links->first = ARENA_ARRAY(mmas->arena, uint32_t, mmas->value_count + 1);
    memset(links->first, UINT8_MAX, mmas->value_count * sizeof *links->first); /* NO_NUMBER */
    for (uint32_t i = links->count; i-- > 0;) {
        links->items[i].next = links->first[links->items[i].value];
        links->first[links->items[i].value] = i;
    }
}

/* Everything that may be the result of one product. `seen` is by value: 0 not yet, 1 through waits only, 2 otherwise,
 * too. */
static void follow(Mmas *mmas, uint32_t product, uint8_t *seen, uint32_t *stack, uint32_t *names) {
    uint32_t depth = 0, name_count = 0;
    uint32_t start = pointers_get(&mmas->values, &mmas->items[product]->results[0]);
    seen[start] = 2;
    names[name_count++] = stack[depth++] = start;
    while (depth && mmas->steps < LINT_STEPS) {
        uint32_t value = stack[--depth];
        for (uint32_t i = mmas->hands.first[value]; i != NO_NUMBER; i = mmas->hands.items[i].next) {
            const MmaLink *hand = &mmas->hands.items[i];
            uint8_t kind = hand->waited ? 1 : seen[value];
            mmas->steps++;
            if (seen[hand->other] >= kind)
                continue;
            if (!seen[hand->other])
                names[name_count++] = hand->other;
            seen[hand->other] = kind;
            stack[depth++] = hand->other;
        }
    }
    for (uint32_t i = 0; i < name_count; i++) {
        add_link(mmas, &mmas->holdings, (MmaLink){.value = names[i], .other = product, .waited = seen[names[i]] == 1});
        seen[names[i]] = 0;
    }
}

static void find_names(Mmas *mmas) {
    uint32_t count = mmas->value_count;
    uint8_t *seen = ARENA_ARRAY(mmas->arena, uint8_t, count + 1);
    uint32_t *stack = ARENA_ARRAY(mmas->arena, uint32_t, 2 * (size_t)count + 1);
    uint32_t *names = ARENA_ARRAY(mmas->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < mmas->count; i++)
        follow(mmas, i, seen, stack, names);
}

/* ---- Ages ----------------------------------------------------------------------------------------- */

static void issue(const Mmas *mmas, const Op *op, uint8_t *states) {
    uint32_t number = pointers_get(&mmas->numbers, op);
    for (uint32_t i = 0; i < mmas->count; i++)
        if (number == NO_NUMBER) /* not asynchronous: it waits for all */
            states[i] = 0;
        else
            states[i] -= states[i] > 1;
    if (number != NO_NUMBER)
        states[number] = YOUNGEST;
}

static void await(const Mmas *mmas, const Op *op, uint8_t *states) {
    int64_t left;
    bool known = op_integer(op, "pendings", &left);
    for (uint32_t i = 0; i < mmas->count; i++)
        if (!known || YOUNGEST - states[i] >= left)
            states[i] = 0;
}

/* ---- Uses ----------------------------------------------------------------------------------------- */

static void report_use(Lint *lint, const Op *op, const Op *product, uint8_t state) {
    uint32_t line = op_line(lint->module, product), age = YOUNGEST - state;
    Finding *finding;
    if (state) {
        finding = lint_find(lint, RULE_WGMMA_RESULT, op,
                            "uses the result of the MMA at IR line %u, which is still in flight here", line);
        lint_explain(finding, "shared",
                     "Accessing the registers of a wgmma before the wait that covers it is undefined behavior.",
                     verdict_text(lint->verdict,
                                  "Wait with `ttng.warp_group_dot_wait {pendings = %u}`%s, and use "
                                  "what it returns.",
                                  age, age ? " or less" : ""));
    } else {
        finding = lint_find(lint, RULE_WGMMA_AROUND, op,
                            "uses the result of the MMA at IR line %u, not what the wait returned", line);
        lint_explain(finding, "shared", "The compiler may move the use above a wait that does not carry the value.",
                     "Pass the result to the wait, and use what the wait returns.");
    }
    lint_other_place(lint, finding, "multiplies", product);
}

static void check_uses(const Mmas *mmas, const Op *op, const uint8_t *states) {
    const Value *sum = op_is(op, CLASS_WGMMA) ? op_operand_named(op, "c") : NULL;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint32_t value = op->operands[i] == sum ? NO_NUMBER : pointers_get(&mmas->values, op->operands[i]);
        if (value == NO_NUMBER)
            continue;
        for (uint32_t h = mmas->holdings.first[value]; h != NO_NUMBER; h = mmas->holdings.items[h].next) {
            const MmaLink *holding = &mmas->holdings.items[h];
            if (states[holding->other] || !holding->waited)
                report_use(mmas->lint, op, mmas->items[holding->other], states[holding->other]);
        }
    }
}

/* Waits and control flow do not touch what they hand on. */
static bool only_hands_on(const Op *op) {
    return op_is(op, CLASS_WGMMA_WAIT) || flow_branches(op) || op_is_terminator(op) || chooses_whole(op);
}

static void pass(TilePaths *paths, const FlowOp *at, void *state) {
    const Mmas *mmas = paths->context;
    if (paths->reporting && !only_hands_on(at->op))
        check_uses(mmas, at->op, state);
    if (op_is(at->op, CLASS_WGMMA))
        issue(mmas, at->op, state);
    else if (op_is(at->op, CLASS_WGMMA_WAIT))
        await(mmas, at->op, state);
}

void lint_mmas(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Mmas mmas = {.lint = lint, .arena = arena, .numbers = {.arena = arena}, .values = {.arena = arena}};
    collect(&mmas);
    if (!mmas.count)
        return;
    link_up(&mmas, &mmas.hands);
    find_names(&mmas);
    link_up(&mmas, &mmas.holdings);
    Flow flow = flow_of(lint->function, arena);
    TilePaths paths = {.lint = lint,
                       .flow = &flow,
                       .context = &mmas,
                       .size = mmas.count, /* the state of each */
                       .afresh = true,
                       .pass = pass};
    if (mmas.steps >= LINT_STEPS || !paths_follow(&paths))
        verdict_incomplete(lint->verdict, "", 0, "the kernel has too many warpgroup MMAs to track their results");
}
