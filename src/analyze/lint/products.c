/* wgmma: where it may run, and results that are used before they are there.
 *
 * Products complete in the order of their issue, and a wait leaves the N youngest pending. So a product is in flight
 * until a wait with N at most its age: how many were issued after it. Ages are followed along all ways through the
 * kernel, the youngest where ways meet; results are followed under all their names. */
#include "analyze/lint/group.h"
#include "base/pointers.h"
#include "model/flow/handed.h"

enum { DONE = UINT8_MAX, OLDEST = UINT8_MAX - 1 };

typedef struct Hand {
    uint32_t from, to;
    bool waited; /* through a wait */
} Hand;

/* A value may be the result of a product. */
typedef struct Holding {
    uint32_t value, product;
    bool waited; /* on every way from the product to the value there is a wait that it goes through */
} Holding;

typedef struct Products {
    Lint *lint;
    Arena *arena;
    const Op **items;
    uint32_t count, capacity;
    Pointers numbers; /* of products */
    Pointers values;  /* that may be results */
    uint32_t value_count;
    Hand *hands;
    uint32_t hand_count, hand_capacity;
    uint32_t *first_hand; /* by value, in `hands` sorted by `from` */
    Holding *holdings;    /* sorted by value */
    uint32_t holding_count, holding_capacity;
    uint32_t *first_holding;
    uint64_t steps;
    bool told_target; /* once a kernel is enough */
} Products;

/* ---- Where it may run ----------------------------------------------------------------------------- */

static void check_place(Products *products, const Op *op) {
    Lint *lint = products->lint;
    unsigned warps = partition_warps(op);
    int64_t start = partition_first_warp(op);
    if (lint->target && !lint->target->wgmma && !products->told_target) {
        products->told_target = true;
        lint_explain(lint_find(lint, RULE_WGMMA_TARGET, op, "%s has no wgmma", lint->target->name), "shared",
                     "wgmma exists on sm_90a alone.", "Compile for sm_90a, or use the product of the target.");
    }
    if (warps % 4)
        lint_explain(lint_find(lint, RULE_WGMMA_WARPS, op, "%s has %u warp%s: no whole warp groups",
                               partition_name(lint, op), warps, warps == 1 ? "" : "s"),
                     "shared", "The four warps of a warp group execute wgmma together.",
                     "Give it a multiple of 4 warps.");
    if (start >= 0 && start % 4)
        lint_explain(lint_find(lint, RULE_WGMMA_START, op, "%s starts at warp %lld, within a warp group",
                               partition_name(lint, op), (long long)start),
                     "shared", "A warp group starts at a warp whose number 4 divides.",
                     "Let the partition start at a multiple of 4.");
}

/* ---- Names of results ----------------------------------------------------------------------------- */

static uint32_t value_number(Products *products, const Value *value) {
    uint32_t number = pointers_get(&products->values, value);
    if (number != NO_NUMBER)
        return number;
    pointers_set(&products->values, value, products->value_count);
    return products->value_count++;
}

static void hand_on(void *context, Handed how, const Value *from, const Value *to) {
    (void)how;
    Products *products = context;
    const Type *type = from->type ? type_canonical(products->lint->module, from->type) : NULL;
    if (!type || type->kind != TYPE_TENSOR)
        return;
    products->hands = arena_grown(products->arena, products->hands, products->hand_count, &products->hand_capacity,
                                  sizeof *products->hands);
    products->hands[products->hand_count++] = (Hand){value_number(products, from), value_number(products, to), false};
}

static void collect(Products *products) {
    for (const Op *op = products->lint->function; op; op = op_next_in_walk(op, products->lint->function)) {
        uint32_t before = products->hand_count;
        if (op_is(op, CLASS_WGMMA)) {
            check_place(products, op);
            if (!op_flag(op, "isAsync") || !op->result_count)
                continue;
            products->items = arena_grown(products->arena, products->items, products->count, &products->capacity,
                                          sizeof *products->items);
            pointers_set(&products->numbers, op, products->count);
            products->items[products->count++] = op;
            value_number(products, &op->results[0]);
        } else if (op_is(op, CLASS_WGMMA_WAIT)) {
            for (uint32_t i = 0; i < op->operand_count && i < op->result_count; i++)
                hand_on(products, HANDED_OVER, op->operands[i], &op->results[i]);
            for (uint32_t i = before; i < products->hand_count; i++)
                products->hands[i].waited = true;
        } else if (op_evaluator(op) != EVALUATE_SELECT) { /* which reads what it chooses from */
            op_hands_on(op, hand_on, products);
        }
    }
}

/* Counting sort of items whose first field is the number of a value: those of value v are then from first[v] to
 * first[v + 1]. */
static uint32_t *sort_by_value(Products *products, void **items, size_t size, uint32_t count) {
    uint32_t *first = ARENA_ARRAY(products->arena, uint32_t, products->value_count + 2);
    char *sorted = arena_zalloc(products->arena, size * (count + (size_t)1));
    const char *from = *items;
    for (uint32_t i = 0; i < count; i++)
        first[*(const uint32_t *)(const void *)(from + i * size) + 2]++;
    for (uint32_t i = 1; i < products->value_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = *(const uint32_t *)(const void *)(from + i * size);
        memcpy(sorted + size * first[value + 1]++, from + i * size, size);
    }
    *items = sorted;
    return first;
}

/* Everything that may be the result of one product. `seen` is by value: 0 not yet, 1 through waits only, 2 otherwise,
 * too. */
static void follow(Products *products, uint32_t product, uint8_t *seen, uint32_t *stack, uint32_t *names) {
    uint32_t depth = 0, name_count = 0;
    uint32_t start = pointers_get(&products->values, &products->items[product]->results[0]);
    seen[start] = 2;
    names[name_count++] = stack[depth++] = start;
    while (depth && products->steps < LINT_STEPS) {
        uint32_t value = stack[--depth];
        for (uint32_t i = products->first_hand[value]; i < products->first_hand[value + 1]; i++) {
            const Hand *hand = &products->hands[i];
            uint8_t kind = hand->waited ? 1 : seen[value];
            products->steps++;
            if (seen[hand->to] >= kind)
                continue;
            if (!seen[hand->to])
                names[name_count++] = hand->to;
            seen[hand->to] = kind;
            stack[depth++] = hand->to;
        }
    }
    for (uint32_t i = 0; i < name_count; i++) {
        products->holdings = arena_grown(products->arena, products->holdings, products->holding_count,
                                         &products->holding_capacity, sizeof *products->holdings);
        products->holdings[products->holding_count++] = (Holding){names[i], product, seen[names[i]] == 1};
        seen[names[i]] = 0;
    }
}

static void find_names(Products *products) {
    uint32_t count = products->value_count;
    uint8_t *seen = ARENA_ARRAY(products->arena, uint8_t, count + 1);
    uint32_t *stack = ARENA_ARRAY(products->arena, uint32_t, 2 * (size_t)count + 1);
    uint32_t *names = ARENA_ARRAY(products->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < products->count; i++)
        follow(products, i, seen, stack, names);
}

/* ---- Ages ----------------------------------------------------------------------------------------- */

static void issue(const Products *products, const Op *op, uint8_t *ages) {
    uint32_t number = pointers_get(&products->numbers, op);
    for (uint32_t i = 0; i < products->count; i++)
        if (number == NO_NUMBER) /* not asynchronous: it waits for all */
            ages[i] = DONE;
        else
            ages[i] += ages[i] < OLDEST;
    if (number != NO_NUMBER)
        ages[number] = 0;
}

static void await(const Products *products, const Op *op, uint8_t *ages) {
    int64_t left;
    bool known = op_integer(op, "pendings", &left);
    for (uint32_t i = 0; i < products->count; i++)
        if (!known || ages[i] >= left)
            ages[i] = DONE;
}

/* The younger of two, product by product. */
static bool join(Paths *paths, uint32_t piece, void *to, const void *from) {
    (void)piece;
    uint8_t *ages = to;
    const uint8_t *others = from;
    bool changed = false;
    for (size_t i = 0; i < paths->size; i++) {
        changed |= others[i] < ages[i];
        ages[i] = others[i] < ages[i] ? others[i] : ages[i];
    }
    return changed;
}

/* ---- Uses ----------------------------------------------------------------------------------------- */

static void tell_use(Lint *lint, const Op *op, const Op *product, uint8_t age) {
    uint32_t line = op_line(lint->module, product);
    Finding *finding;
    if (age != DONE) {
        finding = lint_find(lint, RULE_WGMMA_RESULT, op,
                            "uses the result of the product at line %u, which is still in flight here", line);
        lint_explain(
            finding, "shared",
            "Touching the registers of a product before the wait that covers it has undefined behaviour.",
            lint_text(lint, "Wait with pendings = %u%s, and use what the wait returns.", age, age ? " or less" : ""));
    } else {
        finding = lint_find(lint, RULE_WGMMA_AROUND, op,
                            "uses the result of the product at line %u, and not what the wait returned", line);
        lint_explain(finding, "shared", "A compiler may move the use before a wait that does not have the value.",
                     "Hand the result to the wait, and use the wait's result.");
    }
    lint_other_place(lint, finding, "multiplies", product);
}

static void check_uses(const Products *products, const Op *op, const uint8_t *ages) {
    const Value *sum = op_is(op, CLASS_WGMMA) ? op_operand_named(op, "c") : NULL;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint32_t value = op->operands[i] == sum ? NO_NUMBER : pointers_get(&products->values, op->operands[i]);
        if (value == NO_NUMBER)
            continue;
        for (uint32_t h = products->first_holding[value]; h < products->first_holding[value + 1]; h++) {
            const Holding *holding = &products->holdings[h];
            if (ages[holding->product] != DONE || !holding->waited)
                tell_use(products->lint, op, products->items[holding->product], ages[holding->product]);
        }
    }
}

/* Waits and control flow do not touch what they hand on. */
static bool only_hands_on(const Op *op) {
    return op_is(op, CLASS_WGMMA_WAIT) || flow_branches(op) || op_is_terminator(op);
}

static void pass(Paths *paths, const FlowOp *at, void *state) {
    const Products *products = paths->context;
    if (paths->telling && !only_hands_on(at->op))
        check_uses(products, at->op, state);
    if (op_is(at->op, CLASS_WGMMA))
        issue(products, at->op, state);
    else if (op_is(at->op, CLASS_WGMMA_WAIT))
        await(products, at->op, state);
}

void lint_products(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Products products = {.lint = lint, .arena = arena, .numbers = {.arena = arena}, .values = {.arena = arena}};
    collect(&products);
    if (!products.count)
        return;
    void *hands = products.hands;
    products.first_hand = sort_by_value(&products, &hands, sizeof *products.hands, products.hand_count);
    products.hands = hands;
    find_names(&products);
    void *holdings = products.holdings;
    products.first_holding = sort_by_value(&products, &holdings, sizeof *products.holdings, products.holding_count);
    products.holdings = holdings;
    Flow flow = flow_of(lint->function, arena);
    Paths paths = {.lint = lint,
                   .flow = &flow,
                   .context = &products,
                   .size = products.count, /* the age of each */
                   .start = memset(arena_alloc(arena, products.count), DONE, products.count),
                   .afresh = true,
                   .pass = pass,
                   .join = join};
    if (products.steps >= LINT_STEPS || !paths_follow(&paths))
        verdict_incomplete(lint->verdict, "", 0, "the kernel has too many warp-group products to follow their results");
}
