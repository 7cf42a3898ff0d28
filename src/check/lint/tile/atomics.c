/* Atomics on one address that are not atomic to each other: of different scopes, of different sizes. */
#include "base/pointers.h"
#include "check/lint/tile/group.h"
#include "ir/op.h"

enum { MOST_STEPS = 64 /* from a pointer to where it comes from */ };

typedef struct Atomic {
    const Op *op;
    Scope scope;
    unsigned bits;
} Atomic;

/* The first atomic on each pointer, and on each base. */
typedef struct Atomics {
    Lint *lint;
    Pointers pointers, bases;
    Atomic *items;
    uint32_t count, capacity;
} Atomics;

/* The pointer without what does not change where it points. */
static const Value *plain_pointer(const Value *value, bool offsets) {
    for (int step = 0; step < MOST_STEPS; step++) {
        const Op *op = value_op(value);
        Evaluator how = op_evaluator(op);
        bool same = how == EVALUATE_SPLAT || how == EVALUATE_UNSPLAT || how == EVALUATE_WRAP || how == EVALUATE_SAME ||
                    (offsets && (how == EVALUATE_ADD_POINTER || how == EVALUATE_BROADCAST || how == EVALUATE_EXPAND));
        if (!same || !op->operand_count)
            break;
        value = op->operands[0];
    }
    return value;
}

/* Whether one scope can hold a thread of the kernel that the other does not: `gpu` and `sys` hold all of them. */
static bool scopes_differ(const Atomic *a, const Atomic *b) {
    return a->scope != b->scope && (a->scope < SCOPE_GPU || b->scope < SCOPE_GPU);
}

static void report(Lint *lint, const Atomic *now, const Atomic *before, bool surely) {
    uint32_t line = op_line(lint->module, before->op);
    Finding *finding = NULL;
    if (!scopes_differ(now, before) && now->bits == before->bits)
        return;
    if (!surely)
        finding =
            lint_find(lint, RULE_ATOMIC_UNKNOWN, now->op,
                      "review: %u bits with scope %s, and %u bits with scope %s at IR line %u, on one tensor",
                      now->bits, effect_scope_name(now->scope), before->bits, effect_scope_name(before->scope), line);
    else if (scopes_differ(now, before))
        finding = lint_find(lint, RULE_ATOMIC_SCOPE, now->op,
                            "scope %s here, and scope %s at IR line %u on the same "
                            "address",
                            effect_scope_name(now->scope), effect_scope_name(before->scope), line);
    else
        finding = lint_find(lint, RULE_ATOMIC_WIDTH, now->op, "%u bits here, and %u at IR line %u on the same address",
                            now->bits, before->bits, line);
    lint_explain(finding, "global",
                 "Two atomics are atomic with respect to each other only if they have the same size and each scope "
                 "includes the other thread.",
                 "Give all atomics on one address the same size and the widest scope that is needed.");
    lint_other_place(lint, finding, "updates", before->op);
}

/* Compares with the first of that key, or becomes it. */
static void enter(Atomics *atomics, Pointers *table, const Value *key, uint32_t number, bool surely) {
    uint32_t first = pointers_get(table, key);
    if (first == NO_NUMBER)
        pointers_set(table, key, number);
    else
        report(atomics->lint, &atomics->items[number], &atomics->items[first], surely);
}

static void add(Atomics *atomics, const Op *op, const Effect *effect) {
    const Type *type = lint_type(atomics->lint, effect->on);
    const Type *to = type ? type_pointee(atomics->lint->module, type) : NULL;
    to = to && to->kind == TYPE_TENSOR ? to->element : to;
    if (!to || !to->width)
        return;
    uint32_t number = atomics->count;
    *ARENA_PUSH(&atomics->lint->module->arena, atomics->items, atomics->count, atomics->capacity) =
        (Atomic){op, effect->scope, to->width};
    const Value *pointer = plain_pointer(effect->on, false);
    bool known = pointers_get(&atomics->pointers, pointer) != NO_NUMBER;
    enter(atomics, &atomics->pointers, pointer, number, true);
    if (!known)
        enter(atomics, &atomics->bases, plain_pointer(pointer, true), number, false);
}

void lint_atomics(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Atomics atomics = {.lint = lint, .pointers = {.arena = arena}, .bases = {.arena = arena}};
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        Effects effects = lint_effects(lint, op);
        for (const Effect *effect = effects.items; effect < effects.end; effect++)
            if (effect->verb == EFFECT_UPDATE && effect->space == SPACE_GLOBAL && effect->on &&
                !effect->on_descriptor && effect->scope != SCOPE_NONE)
                add(&atomics, op, effect);
    }
}
