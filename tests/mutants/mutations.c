/* Finding the places for a fault, and cutting the text there. */
#include "mutations.h"

#include "model/effect/effect.h"

#include <assert.h>
#include <stdlib.h>

/* What a wait for groups leaves pending when it waits for none. */
#define ALL_PENDING "1000"

typedef struct Finder {
    Module *module;
    Mutations *mutations;
    const Op *op;
    Effect effects[EFFECTS_MOST];
    unsigned effect_count;
} Finder;

const char *mutation_kind_name(MutationKind kind) {
    static const char *const names[] = {
        [NO_INIT] = "no init",
        [NO_EXPECT] = "no expect",
        [NO_ARRIVE] = "no arrive",
        [NO_COMMIT] = "no commit",
        [NO_PRODUCT_BARRIER] = "no MMA barrier",
        [NO_WAIT] = "no wait",
        [NO_GROUP_COMMIT] = "no group commit",
        [NO_GROUP_WAIT] = "no group wait",
        [OTHER_PHASE] = "other phase",
        [PHASE_ZERO] = "phase always 0",
        [PHASE_ONE] = "phase always 1",
        [OTHER_BARRIER_SLOT] = "other barrier slot",
        [OTHER_BUFFER_SLOT] = "other buffer slot",
        [COUNT_MORE] = "count + 1",
        [COUNT_LESS] = "count - 1",
        [ARRIVE_TWICE] = "arrive + 1",
        [BYTES_MORE] = "bytes + 16",
        [BYTES_HALF] = "bytes / 2",
        [BYTES_TWICE] = "bytes * 2",
        [PENDING_MORE] = "pending + 1",
        [ARRIVE_EARLY] = "arrive early",
        [WAIT_LATE] = "wait late",
        [NO_FENCE] = "no fence",
        [FENCE_LATE] = "fence late",
        [TURN_MORE] = "turn + 1",
        [TURN_LESS] = "turn - 1",
    };
    return names[kind];
}

/* ---- Text ----------------------------------------------------------------------------------------- */

static Str format(Finder *finder, const char *pattern, ...) __attribute__((format(printf, 2, 3)));

static Str format(Finder *finder, const char *pattern, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, pattern);
    text_vaddf(&text, pattern, arguments);
    va_end(arguments);
    Str kept = {arena_copy(&finder->module->arena, text.data ? text.data : "", text.size), text.size};
    text_free(&text);
    return kept;
}

/* Of an op without regions: up to the next op, or to the end of its line where none is written. */
static size_t end_of(const Module *module, const Op *op) {
    if (op->next && !op->next->implicit)
        return op->next->offset;
    const char *from = module->source->data + op->offset;
    return (size_t)(strchrnul(from, '\n') - module->source->data);
}

static Str text_of(const Module *module, const Op *op) {
    return (Str){module->source->data + op->offset, end_of(module, op) - op->offset};
}

static Str trimmed(Str s) {
    while (s.size && strchr(" \t\r\n", s.data[s.size - 1]))
        s.size--;
    return s;
}

/* What stands behind the names of the results. */
static Str behind_results(const Module *module, const Op *op) {
    Str text = text_of(module, op);
    const char *equals = op->result_names ? memchr(text.data, '=', text.size) : NULL;
    return equals ? str_between(equals + 1, text.data + text.size) : text;
}

/* As it is referred to: "%a", "%a#1". */
static Str name_of(Finder *finder, const Value *value) {
    if (!value->name)
        return STR("");
    uint32_t place = 0;
    const Value *first = value;
    for (; first->is_result && !first->pack && first->index; first--)
        place++;
    bool packed = value->is_result && first->pack > 1;
    return packed ? format(finder, "%%%.*s#%u", STR_ARG(value->name->text), place)
                  : format(finder, "%%%.*s", STR_ARG(value->name->text));
}

static bool is_in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_$.-#", c) != NULL);
}

/* The first reference to a name in a text; empty if there is none. */
static Str find_name(Str in, Str name) {
    for (const char *at = in.data, *end = at + in.size; name.size;) {
        at = memmem(at, (size_t)(end - at), name.data, name.size);
        if (!at)
            break;
        if (at + name.size == end || !is_in_name(at[name.size]))
            return (Str){at, name.size};
        at++;
    }
    return (Str){in.data, 0};
}

static Str find_operand(Finder *finder, const Op *op, const Value *value) {
    return find_name(behind_results(finder->module, op), name_of(finder, value));
}

/* ---- Mutations ------------------------------------------------------------------------------------ */

static Mutation *add(Finder *finder, MutationKind kind) {
    Mutations *mutations = finder->mutations;
    if (mutations->count == mutations->capacity) {
        size_t capacity = mutations->capacity ? 2 * mutations->capacity : 64;
        Mutation *items = ARENA_ARRAY(&finder->module->arena, Mutation, capacity);
        if (mutations->count)
            memcpy(items, mutations->items, mutations->count * sizeof *items);
        mutations->items = items;
        mutations->capacity = capacity;
    }
    Mutation *mutation = &mutations->items[mutations->count++];
    *mutation = (Mutation){.kind = kind, .op = finder->op};
    return mutation;
}

static void cut(Finder *finder, Mutation *mutation, const char *begin, const char *end, Str text) {
    assert(mutation->cut_count < MOST_CUTS);
    const char *base = finder->module->source->data;
    mutation->cuts[mutation->cut_count++] = (Cut){(size_t)(begin - base), (size_t)(end - base), text};
}

static void replace(Finder *finder, Mutation *mutation, Str old, Str text) {
    cut(finder, mutation, old.data, old.data + old.size, text);
}

static void insert_before(Finder *finder, Mutation *mutation, const Op *op, Str text) {
    const char *at = finder->module->source->data + op->offset;
    cut(finder, mutation, at, at, text);
}

static bool is_used(const Op *op) {
    const Op *function = op;
    while (op_parent(function) && op_parent(function)->block)
        function = op_parent(function);
    for (const Op *user = function; user; user = op_next_in_walk(user, function))
        for (uint32_t i = 0; i < user->operand_count; i++)
            if (user->operands[i]->is_result && user->operands[i]->owner == op)
                return true;
    return false;
}

static void remove_op(Finder *finder, MutationKind kind) {
    if (finder->op->region_count || is_used(finder->op))
        return;
    replace(finder, add(finder, kind), trimmed(text_of(finder->module, finder->op)), STR(""));
}

/* Replaces the first number behind a word (or behind an operand), if there is one. */
static void change_number(Finder *finder, MutationKind kind, const char *behind, int64_t value) {
    const char *end = finder->module->source->data + end_of(finder->module, finder->op);
    const char *from = behind;
    while (from < end && (*from < '0' || *from > '9'))
        from++;
    const char *to = from;
    while (to < end && *to >= '0' && *to <= '9')
        to++;
    if (from < to)
        cut(finder, add(finder, kind), from, to, format(finder, "%lld", (long long)value));
}

static const Effect *effect_with(const Finder *finder, EffectVerb verb) {
    for (unsigned i = 0; i < finder->effect_count; i++)
        if (finder->effects[i].verb == verb)
            return &finder->effects[i];
    return NULL;
}

/* ---- Barriers ------------------------------------------------------------------------------------- */

static void mutate_init(Finder *finder, const Effect *init) {
    const Op *op = finder->op;
    if (op->result_count)
        return;
    Str barrier = find_operand(finder, op, init->on);
    const char *behind = barrier.data + barrier.size;
    remove_op(finder, NO_INIT);
    change_number(finder, COUNT_MORE, behind, init->count + 1);
    if (init->count > 1)
        change_number(finder, COUNT_LESS, behind, init->count - 1);
}

static void mutate_expect(Finder *finder, const Effect *expect) {
    Str barrier = find_operand(finder, finder->op, expect->on);
    const char *behind = barrier.data + barrier.size;
    remove_op(finder, NO_EXPECT);
    if (expect->count < 2 || expect->side != SIDE_NONE)
        return;
    change_number(finder, BYTES_MORE, behind, expect->count + 16);
    change_number(finder, BYTES_HALF, behind, expect->count / 2);
    change_number(finder, BYTES_TWICE, behind, expect->count * 2);
}

static void mutate_arrive(Finder *finder, const Effect *arrive) {
    remove_op(finder, arrive->done == DONE_COMMIT ? NO_COMMIT : NO_ARRIVE);
    if (op_attr(finder->op, "count") && arrive->count > 0) {
        Str barrier = find_operand(finder, finder->op, arrive->on);
        change_number(finder, ARRIVE_TWICE, barrier.data + barrier.size, arrive->count + 1);
    }
}

/* A barrier of a product is left out by a predicate that is false. */
static void mutate_product_barrier(Finder *finder, const Effect *arrive) {
    Str barrier = find_operand(finder, finder->op, arrive->on), behind = {barrier.data + barrier.size, 0};
    behind.size = (size_t)(finder->module->source->data + end_of(finder->module, finder->op) - behind.data);
    const char *close = behind.size && behind.data[0] == '[' ? memchr(behind.data, ']', behind.size) : NULL;
    if (!barrier.size || !close)
        return;
    Mutation *mutation = add(finder, NO_PRODUCT_BARRIER);
    mutation->operand = arrive->on;
    mutation->about = barrier;
    insert_before(finder, mutation, finder->op, STR("%mutant_never = arith.constant false\n"));
    cut(finder, mutation, behind.data + 1, close, STR("%mutant_never"));
}

static void mutate_wait(Finder *finder, const Effect *wait) {
    const Op *op = finder->op;
    remove_op(finder, NO_WAIT);
    Str phase = wait->amount ? find_operand(finder, op, wait->amount) : STR("");
    if (!phase.size)
        return;
    bool narrow = wait->amount->type->width == 1;
    const char *one = narrow ? "true" : "1 : i32", *zero = narrow ? "false" : "0 : i32", *type = narrow ? "i1" : "i32";
    Mutation *mutation = add(finder, OTHER_PHASE);
    insert_before(finder, mutation, op,
                  format(finder,
                         "%%mutant_one = arith.constant %s\n%%mutant_phase = arith.xori %.*s, %%mutant_one : %s\n", one,
                         STR_ARG(phase), type));
    replace(finder, mutation, phase, STR("%mutant_phase"));
    const Op *maker = wait->amount->is_result ? wait->amount->owner : NULL;
    if (maker && str_is(maker->name, "arith.constant"))
        return;
    for (int always = 0; always < 2; always++) {
        mutation = add(finder, always ? PHASE_ONE : PHASE_ZERO);
        insert_before(finder, mutation, op,
                      format(finder, "%%mutant_phase = arith.constant %s\n", always ? one : zero));
        replace(finder, mutation, phase, STR("%mutant_phase"));
    }
}

/* ---- Groups --------------------------------------------------------------------------------------- */

/* To wait for no group is to let many be pending; the results stay. */
static void mutate_group_wait(Finder *finder, const Effect *await) {
    static const char *const words[] = {"pendings", "num"};
    Str text = text_of(finder->module, finder->op);
    const char *word = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words && !word; i++)
        word = op_attr(finder->op, words[i]) ? memmem(text.data, text.size, words[i], strlen(words[i])) : NULL;
    if (!word)
        return;
    change_number(finder, NO_GROUP_WAIT, word, atoi(ALL_PENDING));
    change_number(finder, PENDING_MORE, word, await->count + 1);
}

/* A commit's token may be used: what waits for nothing has one, too. */
static void mutate_group_commit(Finder *finder) {
    const Op *op = finder->op;
    if (!str_is(op->name, "ttg.async_commit_group"))
        return;
    Mutation *mutation = add(finder, NO_GROUP_COMMIT);
    Str name = find_name(text_of(finder->module, op), op->name);
    Str text = format(finder, "ttg.async_wait");
    if (op->operand_count)
        text = format(finder, "%.*s %.*s", STR_ARG(text), STR_ARG(name_of(finder, op->operands[0])));
    for (uint32_t i = 1; i < op->operand_count; i++)
        text = format(finder, "%.*s, %.*s", STR_ARG(text), STR_ARG(name_of(finder, op->operands[i])));
    Str behind = behind_results(finder->module, op);
    const char *location = memmem(behind.data, behind.size, " loc(", 5);
    const char *end = location ? location : trimmed(behind).data + trimmed(behind).size;
    cut(finder, mutation, name.data, end, format(finder, "%.*s {num = " ALL_PENDING " : i32}", STR_ARG(text)));
}

/* ---- Slots ---------------------------------------------------------------------------------------- */

enum { MOST_VIEWS = 8 };

/* The op again, giving another name and taking another operand. */
static Str clone(Finder *finder, const Op *op, Str name, const Value *operand, Str instead) {
    Str behind = trimmed(behind_results(finder->module, op)), old = find_operand(finder, op, operand);
    Str before = str_between(behind.data, old.data),
        after = str_between(old.data + old.size, behind.data + behind.size);
    Text text = {0};
    text_str(&text, name);
    text_addf(&text, " =");
    text_str(&text, before);
    text_str(&text, instead);
    text_str(&text, after);
    text_char(&text, '\n');
    Str kept = {arena_copy(&finder->module->arena, text.data ? text.data : "", text.size), text.size};
    text_free(&text);
    return kept;
}

static Str next_slot(Finder *finder, const Value *index, int64_t depth) {
    return format(finder,
                  "%%mutant_one = arith.constant 1 : i32\n%%mutant_depth = arith.constant %lld : i32\n"
                  "%%mutant_next = arith.addi %.*s, %%mutant_one : i32\n"
                  "%%mutant_slot = arith.remsi %%mutant_next, %%mutant_depth : i32\n",
                  (long long)depth, STR_ARG(name_of(finder, index)));
}

static int64_t depth_of(Finder *finder, const Type *type) {
    const Type *ring = type ? type_canonical(finder->module, type) : NULL;
    return ring && ring->dim_count ? ring->dims[0] : 0;
}

static bool is_barrier(const Finder *finder, const Value *value) {
    for (unsigned i = 0; i < finder->effect_count; i++) {
        const Effect *effect = &finder->effects[i];
        if (effect->on == value && effect->verb >= EFFECT_INIT && effect->verb <= EFFECT_WAIT)
            return true;
    }
    return false;
}

/* The op uses the slot behind the one it should, of the ring that this operand is a part of. */
static void mutate_slot(Finder *finder, const Value *operand) {
    const Op *views[MOST_VIEWS];
    uint32_t count = 0;
    const Value *part = operand;
    while (part->is_result && count < MOST_VIEWS) {
        const Op *view = part->owner;
        if (!view->row || !strstr(view->row->effects, "view result of src"))
            return;
        views[count++] = view;
        if (str_is(view->name, "ttg.memdesc_index"))
            break;
        part = view->operands[0];
    }
    const Op *index = count ? views[count - 1] : NULL;
    if (!index || !str_is(index->name, "ttg.memdesc_index"))
        return;
    int64_t depth = depth_of(finder, index->operands[0]->type);
    Str old = find_operand(finder, finder->op, operand);
    if (depth < 2 || !old.size)
        return;
    Mutation *mutation = add(finder, is_barrier(finder, operand) ? OTHER_BARRIER_SLOT : OTHER_BUFFER_SLOT);
    mutation->operand = operand;
    mutation->about = old;
    insert_before(finder, mutation, finder->op, next_slot(finder, index->operands[1], depth));
    Str instead = STR("%mutant_slot");
    const Value *replaced = index->operands[1];
    for (uint32_t i = count; i-- > 0;) {
        Str name = format(finder, "%%mutant_view%u", i);
        insert_before(finder, mutation, finder->op, clone(finder, views[i], name, replaced, instead));
        instead = name;
        replaced = &views[i]->results[0];
    }
    replace(finder, mutation, old, instead);
}

/* The same for tokens, whose slot is an operand. */
static void mutate_token_slot(Finder *finder, const Effect *effect) {
    int64_t depth = effect->slot ? depth_of(finder, effect->on->type) : 0;
    Str old = depth > 1 ? find_operand(finder, finder->op, effect->slot) : STR("");
    if (!old.size)
        return;
    Mutation *mutation = add(finder, OTHER_BARRIER_SLOT);
    mutation->about = old;
    insert_before(finder, mutation, finder->op, next_slot(finder, effect->slot, depth));
    replace(finder, mutation, old, STR("%mutant_slot"));
}

static void mutate_slots(Finder *finder) {
    const Op *op = finder->op;
    bool uses = false;
    for (unsigned i = 0; i < finder->effect_count; i++) {
        const Effect *effect = &finder->effects[i];
        uses |= effect->verb != EFFECT_VIEW && effect->verb != EFFECT_FREE && effect->verb != EFFECT_INVALIDATE;
        if (effect->side != SIDE_NONE && effect->verb >= EFFECT_INIT && effect->verb <= EFFECT_WAIT &&
            type_canonical(finder->module, effect->on->type)->kind == TYPE_TENSOR)
            mutate_token_slot(finder, effect);
    }
    if (!uses || op->region_count)
        return;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again |= op->operands[k] == op->operands[i];
        if (!again)
            mutate_slot(finder, op->operands[i]);
    }
}

/* ---- Places --------------------------------------------------------------------------------------- */

static bool has_access(const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb <= EFFECT_UPDATE && (effects[i].space == SPACE_SHARED || effects[i].space == SPACE_TENSOR))
            return true;
    return false;
}

static bool has_verb(const Effect *effects, unsigned count, EffectVerb verb) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == verb)
            return true;
    return false;
}

enum { MOST_MOVED = MOST_CUTS / 2 };

/* An arrive (with what gives its operands) changes places with the access or wait before it. */
static void mutate_arrive_early(Finder *finder) {
    const Op *op = finder->op, *moved[MOST_MOVED] = {op};
    uint32_t count = 1;
    Effect effects[EFFECTS_MOST];
    if (op->result_count)
        return;
    for (const Op *before = op->prev; before && !before->region_count; before = before->prev) {
        unsigned effect_count = effects_of(finder->module, before, effects);
        bool needed = false;
        for (uint32_t i = 0; i < count && !needed; i++)
            for (uint32_t k = 0; k < moved[i]->operand_count; k++)
                needed |= moved[i]->operands[k]->is_result && moved[i]->operands[k]->owner == before;
        if (has_access(effects, effect_count) || has_verb(effects, effect_count, EFFECT_AWAIT) ||
            has_verb(effects, effect_count, EFFECT_WAIT)) {
            if (needed)
                return;
            Mutation *mutation = add(finder, ARRIVE_EARLY);
            mutation->about = before->name;
            for (uint32_t i = count; i-- > 0;) {
                Str text = trimmed(text_of(finder->module, moved[i]));
                insert_before(finder, mutation, before, format(finder, "%.*s\n", (int)text.size, text.data));
                replace(finder, mutation, text, STR(""));
            }
            return;
        }
        if (needed && count == MOST_MOVED)
            return;
        if (needed)
            moved[count++] = before;
    }
}

/* The op comes behind another one. */
static void move_behind(Finder *finder, MutationKind kind, const Op *behind) {
    Mutation *mutation = add(finder, kind);
    mutation->about = behind->name;
    Str text = trimmed(text_of(finder->module, finder->op));
    replace(finder, mutation, text, STR(""));
    Str other = trimmed(text_of(finder->module, behind));
    const char *end = other.data + other.size;
    cut(finder, mutation, end, end, format(finder, "\n%.*s", (int)text.size, text.data));
}

/* A wait changes places with the access or arrive behind it. */
static void mutate_wait_late(Finder *finder) {
    const Op *op = finder->op;
    Effect effects[EFFECTS_MOST];
    if (op->result_count)
        return;
    for (const Op *behind = op->next; behind && !behind->implicit && !behind->region_count; behind = behind->next) {
        unsigned count = effects_of(finder->module, behind, effects);
        if (!has_access(effects, count) && !has_verb(effects, count, EFFECT_ARRIVE))
            continue;
        move_behind(finder, WAIT_LATE, behind);
        return;
    }
}

/* A fence changes places with what it is for: the operation behind it, or the arrive that tells others of it. */
static void mutate_fence(Finder *finder) {
    const Op *op = finder->op;
    Effect effects[EFFECTS_MOST];
    remove_op(finder, NO_FENCE);
    for (const Op *behind = op->next; behind && !behind->implicit && !behind->region_count; behind = behind->next) {
        unsigned count = effects_of(finder->module, behind, effects);
        bool reports = has_verb(effects, count, EFFECT_ARRIVE);
        for (unsigned i = 0; i < count; i++)
            reports |= effect_is_local(&effects[i]) && effects[i].proxy == PROXY_ASYNC;
        if (!reports)
            continue;
        move_behind(finder, FENCE_LATE, behind);
        return;
    }
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

/* The loop ends a step later, or earlier. */
static void mutate_turns(Finder *finder) {
    const Op *loop = finder->op;
    const Value *start = loop->operands[0], *end = loop->operands[1], *step = loop->operands[2];
    Str old = find_operand(finder, loop, end);
    if (!old.size || start == end || end->type != step->type)
        return;
    for (int less = 0; less < 2; less++) {
        Mutation *mutation = add(finder, less ? TURN_LESS : TURN_MORE);
        insert_before(finder, mutation, loop,
                      format(finder, "%%mutant_end = arith.%s %.*s, %.*s : %.*s\n", less ? "subi" : "addi",
                             STR_ARG(name_of(finder, end)), STR_ARG(name_of(finder, step)), STR_ARG(end->type->text)));
        replace(finder, mutation, old, STR("%mutant_end"));
    }
}

/* Whether anything in it signals others or waits for them. */
static bool synchronizes(const Finder *finder, const Op *loop) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = loop; op; op = op_next_in_walk(op, loop)) {
        unsigned count = effects_of(finder->module, op, effects);
        if (has_verb(effects, count, EFFECT_ARRIVE) || has_verb(effects, count, EFFECT_WAIT))
            return true;
    }
    return false;
}

/* ---- All of them ---------------------------------------------------------------------------------- */

static void mutate(Finder *finder) {
    const Effect *init = effect_with(finder, EFFECT_INIT), *expect = effect_with(finder, EFFECT_EXPECT),
                 *wait = effect_with(finder, EFFECT_WAIT), *await = effect_with(finder, EFFECT_AWAIT);
    const Effect *arrive = effect_with(finder, EFFECT_ARRIVE);
    bool accesses = has_access(finder->effects, finder->effect_count);
    if (init)
        mutate_init(finder, init);
    if (expect)
        mutate_expect(finder, expect);
    if (arrive && !accesses && !await)
        mutate_arrive(finder, arrive);
    for (unsigned i = 0; i < finder->effect_count && accesses; i++)
        if (finder->effects[i].verb == EFFECT_ARRIVE)
            mutate_product_barrier(finder, &finder->effects[i]);
    if (wait)
        mutate_wait(finder, wait);
    if (await)
        mutate_group_wait(finder, await);
    if (!accesses && effect_with(finder, EFFECT_COMMIT))
        mutate_group_commit(finder);
    mutate_slots(finder);
    if (arrive && !accesses && !await && !finder->op->region_count)
        mutate_arrive_early(finder);
    if ((wait || await) && !finder->op->region_count)
        mutate_wait_late(finder);
    const Effect *fence = effect_with(finder, EFFECT_FENCE_PROXY);
    if (fence && fence->proxy == PROXY_ASYNC && fence->space == SPACE_SHARED && !finder->op->result_count)
        mutate_fence(finder);
    if (str_is(finder->op->name, "scf.for") && finder->op->operand_count > 2 && synchronizes(finder, finder->op))
        mutate_turns(finder);
}

void mutations_find(Module *module, Mutations *mutations) {
    Finder finder = {.module = module, .mutations = mutations};
    for (const Item *item = module->first; item; item = item->next)
        for (const Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op)) {
            if (op->implicit)
                continue;
            finder.op = op;
            finder.effect_count = effects_of(module, op, finder.effects);
            mutate(&finder);
        }
}

static int compare_cuts(const void *a, const void *b) {
    const Cut *const *x = a, *const *y = b;
    size_t first = (*x)->begin, second = (*y)->begin;
    return first != second ? (first > second) - (first < second) : (*x > *y) - (*x < *y);
}

void mutation_apply(const Mutation *mutation, const Source *source, Text *to) {
    const Cut *cuts[MOST_CUTS];
    for (uint32_t i = 0; i < mutation->cut_count; i++)
        cuts[i] = &mutation->cuts[i];
    qsort(cuts, mutation->cut_count, sizeof *cuts, compare_cuts);
    size_t at = 0;
    for (uint32_t i = 0; i < mutation->cut_count; i++) {
        text_add(to, source->data + at, cuts[i]->begin - at);
        text_str(to, cuts[i]->text);
        at = cuts[i]->end;
    }
    text_add(to, source->data + at, source->size - at);
}
