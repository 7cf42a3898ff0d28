/* Section 5 of the barrier report: every value that is another name for a barrier or a buffer.
 *
 * One walk over the kernel collects the steps by which a name goes from one value to another (views, captures, what
 * loops carry, what branches hand over, and the tokens that ops on tensor memory take and make); a search from each
 * allocation then follows them. A value may come from several allocations; it keeps the first few, so that the work is
 * linear in the text. */
#include "check/report/build/internal.h"

#include "model/flow/flow.h"
#include "model/flow/forwarded.h"

enum { MOST_ROOTS = 8 /* of one value */, NO_ROOT = UINT32_MAX };

/* A value that could be another name for something. */
typedef struct AliasNode {
    const Value *value;
    uint32_t first_step, step_count;
    uint32_t roots[MOST_ROOTS], levels[MOST_ROOTS];
    uint32_t root_count;
    uint32_t own; /* the root that it is the allocation of, plus 1 */
} AliasNode;

typedef struct AliasStep {
    uint32_t from, to;
    bool aref; /* only for the aref itself: its buffers have steps of their own */
} AliasStep;

/* An allocation that has aliases, or a named barrier. */
typedef struct Root {
    const Op *op;
    int64_t id;
    ReportAlias *aliases;
    uint32_t alias_count, alias_capacity;
} Root;

typedef struct AliasSearch {
    Builder *builder;
    AliasNode *nodes;
    uint32_t node_count, node_capacity;
    Pointers numbers; /* of values: among the nodes */
    AliasStep *steps;
    uint32_t step_count, step_capacity;
    AliasStep *ordered; /* those of one node beside each other */
    Root *roots;
    uint32_t root_count;
    uint32_t *barrier_roots, *buffer_roots; /* of each barrier and buffer; NO_ROOT: it has none */
} AliasSearch;

/* ---- The graph ------------------------------------------------------------------------------------------------- */

static AliasNode *find_node(const AliasSearch *search, const Value *value) {
    uint32_t index = value ? pointers_get(&search->numbers, value) : NO_NUMBER;
    return index == NO_NUMBER ? NULL : &search->nodes[index];
}

static uint32_t node_of(AliasSearch *search, const Value *value) {
    uint32_t index = pointers_get(&search->numbers, value);
    if (index != NO_NUMBER)
        return index;
    pointers_set(&search->numbers, value, search->node_count);
    *ARENA_PUSH(search->builder->arena, search->nodes, search->node_count, search->node_capacity) =
        (AliasNode){.value = value};
    return search->node_count - 1;
}

static void add_step(AliasSearch *search, const Value *from, const Value *to, bool aref) {
    if (!from || !to)
        return;
    uint32_t a = node_of(search, from), b = node_of(search, to);
    *ARENA_PUSH(search->builder->arena, search->steps, search->step_count, search->step_capacity) =
        (AliasStep){a, b, aref};
    search->nodes[a].step_count++;
}

/* Result j is a slot of buffer j of the aref, and a name for the aref, too. */
static void add_aref_view(AliasSearch *search, const Op *op) {
    const Op *create = op->operand_count ? origin_of(search->builder->module, op->operands[0]) : NULL;
    for (uint32_t i = 0; i < op->result_count && op_is(create, CLASS_AREF); i++) {
        if (i >= create->operand_count)
            break;
        add_step(search, op->operands[0], &op->results[i], true);
        add_step(search, create->operands[i], &op->results[i], false);
    }
}

static void add_views(AliasSearch *search, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->result_count ? effects_of(search->builder->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW)
            add_step(search, effects[i].amount, effects[i].on, false);
    if (op_is(op, CLASS_AREF)) /* one effect stands for all its buffers */
        for (uint32_t i = 1; i < op->operand_count && op->result_count; i++)
            add_step(search, op->operands[i], &op->results[0], false);
}

static void add_forwarded(void *search, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    add_step(search, from, to, false);
}

/* The token of an op comes after those that it takes. */
static void add_tokens(AliasSearch *search, const Op *op) {
    const Value *made = token_made(search->builder->module, op);
    for (uint32_t i = 0; made && i < op->operand_count; i++)
        if (value_is_token(search->builder->module, op->operands[i]))
            add_step(search, op->operands[i], made, false);
}

static void add_op(AliasSearch *search, const Op *op) {
    if (op_hands_on(op, add_forwarded, search))
        return;
    add_tokens(search, op);
    if (op_is(op, CLASS_AREF_ENTER))
        add_aref_view(search, op);
    else
        add_views(search, op);
}

/* Puts the steps of each node beside each other. */
static void order_steps(AliasSearch *search) {
    uint32_t at = 0;
    search->ordered = ARENA_ARRAY(search->builder->arena, AliasStep, search->step_count + 1);
    for (uint32_t i = 0; i < search->node_count; i++) {
        search->nodes[i].first_step = at;
        at += search->nodes[i].step_count;
        search->nodes[i].step_count = 0;
    }
    for (uint32_t i = 0; i < search->step_count; i++) {
        AliasNode *from = &search->nodes[search->steps[i].from];
        search->ordered[from->first_step + from->step_count++] = search->steps[i];
    }
}

/* ---- The search ------------------------------------------------------------------------------------------------ */

/* Whether the value was not reached from this root before, and has room. Roots come one after the other. */
static bool reach(AliasNode *node, uint32_t root, uint32_t level) {
    if (node->root_count == MOST_ROOTS || (node->root_count && node->roots[node->root_count - 1] == root))
        return false;
    node->roots[node->root_count] = root;
    node->levels[node->root_count++] = level;
    return true;
}

static void search_from(AliasSearch *search, uint32_t root, uint32_t *queue) {
    const Op *op = search->roots[root].op;
    if (!op || !op->result_count)
        return;
    uint32_t start = node_of(search, &op->results[0]), count = 0;
    bool aref = op_is(op, CLASS_AREF);
    if (reach(&search->nodes[start], root, 0))
        queue[count++] = start;
    const Value *token = token_made(search->builder->module, op);
    if (token && reach(&search->nodes[node_of(search, token)], root, 1))
        queue[count++] = node_of(search, token);
    for (uint32_t i = 0; i < count; i++) {
        const AliasNode *node = &search->nodes[queue[i]];
        uint32_t level = node->levels[node->root_count - 1] + 1;
        for (uint32_t s = 0; s < node->step_count; s++) {
            const AliasStep *step = &search->ordered[node->first_step + s];
            if ((aref || !step->aref) && reach(&search->nodes[step->to], root, level))
                queue[count++] = step->to;
        }
    }
}

/* The root of a thing: one for each allocation, and one for each named barrier. */
static uint32_t root_at(AliasSearch *search, Thing thing) {
    const Value *value = thing.root && thing.root->result_count ? &thing.root->results[0] : NULL;
    uint32_t node = value ? node_of(search, value) : 0;
    if (value && search->nodes[node].own)
        return search->nodes[node].own - 1;
    search->roots[search->root_count++] = (Root){.op = thing.root, .id = thing.id};
    if (value)
        search->nodes[node].own = search->root_count;
    const Value *token = value ? token_made(search->builder->module, thing.root) : NULL;
    if (token)
        node_of(search, token);
    return search->root_count - 1;
}

static void collect_roots(AliasSearch *search) {
    Builder *builder = search->builder;
    search->roots = ARENA_ARRAY(builder->arena, Root, builder->barrier_count + builder->buffer_count + 1);
    search->barrier_roots = ARENA_ARRAY(builder->arena, uint32_t, builder->barrier_count + 1);
    search->buffer_roots = ARENA_ARRAY(builder->arena, uint32_t, builder->buffer_count + 1);
    for (size_t i = 0; i < builder->barrier_count; i++)
        search->barrier_roots[i] = root_at(search, builder->barrier_things[i]);
    for (size_t i = 0; i < builder->buffer_count; i++)
        search->buffer_roots[i] = builder->buffer_things[i].root ? root_at(search, builder->buffer_things[i]) : NO_ROOT;
}

/* That a constant holds the number of one of the named barriers. It is not followed: a number may be anything else. */
static void reach_constant(AliasSearch *search, const uint32_t *named, uint32_t count, const Value *value) {
    int64_t number;
    bool known = value_constant(value, &number);
    for (uint32_t i = 0; known && i < count; i++)
        if (search->roots[named[i]].id == number) {
            uint32_t node = node_of(search, value); /* which may move them all */
            reach(&search->nodes[node], named[i], 0);
        }
}

static void reach_constants(AliasSearch *search) {
    enum { MOST_NAMED = 64 }; /* the hardware has 16 */
    Builder *builder = search->builder;
    uint32_t named[MOST_NAMED], count = 0;
    Effect effects[EFFECTS_MOST];
    for (uint32_t r = 0; r < search->root_count && count < MOST_NAMED; r++)
        if (!search->roots[r].op)
            named[count++] = r;
    for (const Op *op = builder->function; op && count; op = op_next_in_walk(op, builder->function)) {
        unsigned effect_count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < effect_count; i++)
            if (effect_is_named(&effects[i]))
                reach_constant(search, named, count, effects[i].on);
    }
}

/* ---- What they are called -------------------------------------------------------------------------------------- */

/* "[1, %slot]": numbers of an attribute, or those that the op takes behind what it is a view of. */
static void describe_place(AliasSearch *search, const Op *op, const Attr *offsets, Text *to) {
    text_addf(to, "view");
    uint32_t count = offsets ? offsets->count : op->operand_count - 1;
    for (uint32_t i = 0; i < count; i++) {
        text_addf(to, "%s", i ? ", " : " [");
        if (offsets)
            text_addf(to, "%lld", (long long)offsets->ints[i]);
        else
            text_addf(to, "%s", value_text(search->builder->arena, op->operands[i + 1]));
    }
    text_addf(to, count ? "]" : "");
}

static void describe_view(AliasSearch *search, const Op *op, Text *to) {
    const Attr *offsets = op_attr(op, "offsets");
    const Type *last = op->operand_count > 1 ? op->operands[op->operand_count - 1]->type : NULL;
    ViewStep step = view_step_of(search->builder->module, op);
    int64_t column;
    const char *dot = memchr(op->name.data, '.', op->name.size);
    Str name = dot ? str_between(dot + 1, op->name.data + op->name.size) : op->name;
    if (op_is(op, CLASS_AREF_ENTER)) {
        text_addf(to, "returned by ");
        text_add_plain(to, str_starts(name, STR("aref.")) ? (Str){name.data + 5, name.size - 5} : name);
    } else if (op_is(op, CLASS_AREF)) {
        text_addf(to, "aref of it");
    } else if (step.rank) {
        text_addf(to, "view in CTA %s", value_text(search->builder->arena, step.rank));
    } else if (op_integer(op, "N", &column)) {
        text_addf(to, "view from column %lld", (long long)column);
    } else if (offsets && offsets->kind == ATTR_INTS) {
        describe_place(search, op, offsets, to);
    } else if (last && last->kind == TYPE_INTEGER) {
        describe_place(search, op, NULL, to);
    } else {
        text_addf(to, "view (");
        text_add_plain(to, name);
        text_char(to, ')');
    }
}

static bool is_view(const Effect *effect) {
    return effect->verb == EFFECT_VIEW;
}

static void describe_result(AliasSearch *search, const Root *root, const Op *op, Text *to) {
    if (!root->op)
        text_addf(to, "constant %lld", (long long)root->id);
    else if (op == root->op && (allocation_find(&search->builder->allocations, op) ||
                                !op_any_effect(search->builder->module, op, is_view)))
        text_addf(to, "allocation"); /* a part of one that has a name of its own is a view even there */
    else if (op_is_loop(op))
        text_addf(to, "result of the loop at line %u", op_line(search->builder->module, op));
    else if (flow_branches(op) || op_evaluator(op) == EVALUATE_SELECT)
        text_addf(to, "result of %.*s", STR_ARG(op->row->name));
    else if (op_any_effect(search->builder->module, op, is_view))
        describe_view(search, op, to);
    else
        text_addf(to, "%.*s", STR_ARG(op->name));
}

static void describe_argument(AliasSearch *search, const Block *block, Text *to) {
    const Op *op = block->region->op;
    Control control = op_control(op);
    uint32_t line = op ? op_line(search->builder->module, op) : 0;
    if (control == CONTROL_PARTITIONS) {
        text_addf(to, "argument of partition%u", (unsigned)(block->region - op->regions));
    } else if (op_is_loop(op)) {
        text_addf(to, "%s of the loop at line %u",
                  control == CONTROL_LOOP        ? "iter_arg"
                  : block->region == op->regions ? "argument"
                                                 : "argument of the body",
                  line);
    } else if (control == CONTROL_TILES) {
        text_addf(to, "argument of the subtiled region at line %u", line);
    } else {
        text_addf(to, "argument of block ^");
        if (block->label)
            text_add_plain(to, block->label->text);
    }
}

static ReportAlias alias_of(AliasSearch *search, const AliasNode *node, uint32_t which) {
    Builder *builder = search->builder;
    const Value *value = node->value;
    const Block *block = value->is_result ? NULL : value->owner;
    bool by_ops =
        builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED; /* a loop says whose it is */
    const Op *op = value->is_result ? value->owner : block->first && !by_ops ? block->first : block->region->op;
    Text how = {0};
    if (value_is_token(builder->module, value))
        text_addf(&how, "token: ");
    if (block)
        describe_argument(search, block, &how);
    else
        describe_result(search, &search->roots[node->roots[which]], op, &how);
    uint32_t offset = block && block->offset       ? block->offset
                      : block && block->region->op ? block->region->op->offset
                                                   : op->offset;
    return (ReportAlias){.value = value_text(builder->arena, value),
                         .how = verdict_keep(builder->verdict, &how),
                         .partition = builder_partition(builder, op),
                         .ir_line = source_place(builder->module->source, offset).line,
                         .level = node->levels[which]};
}

/* ---- In the order of the text ---------------------------------------------------------------------------------- */

/* Writes the aliases that a value is. */
static void take_value(AliasSearch *search, const Value *value) {
    const AliasNode *node = find_node(search, value);
    for (uint32_t i = 0; node && i < node->root_count; i++) {
        Root *root = &search->roots[node->roots[i]];
        *ARENA_PUSH(search->builder->arena, root->aliases, root->alias_count, root->alias_capacity) =
            alias_of(search, node, i);
    }
}

static void take_all(AliasSearch *search) {
    const Op *function = search->builder->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        if (op->block && op == op->block->first && op != function)
            for (uint32_t i = 0; i < op->block->arg_count; i++)
                take_value(search, &op->block->args[i]);
        for (uint32_t i = 0; i < op->result_count; i++)
            take_value(search, &op->results[i]);
    }
}

static const Root *root_of_buffer(const AliasSearch *search, const char *name) {
    for (size_t i = 0; i < search->builder->buffer_count; i++)
        if (search->buffer_roots[i] != NO_ROOT && strcmp(search->builder->buffers[i].name, name) == 0)
            return &search->roots[search->buffer_roots[i]];
    return NULL;
}

/* A barrier that is only planned has the names of all buffers that are passed with it. */
static void join_aliases(AliasSearch *search, ReportBarrier *barrier) {
    ReportAlias *joined = NULL;
    uint32_t count = 0, capacity = 0;
    for (size_t i = 0; i < barrier->protect_count; i++) {
        const Root *root = root_of_buffer(search, barrier->protects[i]);
        for (uint32_t k = 0; root && k < root->alias_count; k++)
            *ARENA_PUSH(search->builder->arena, joined, count, capacity) = root->aliases[k];
    }
    barrier->aliases = joined;
    barrier->alias_count = count;
}

static void write_aliases(AliasSearch *search) {
    Builder *builder = search->builder;
    take_all(search);
    for (size_t i = 0; i < builder->barrier_count; i++) {
        const Root *root = &search->roots[search->barrier_roots[i]];
        builder->barriers[i].aliases = root->aliases;
        builder->barriers[i].alias_count = root->alias_count;
        if (builder->barriers[i].protect_count > 1 && strcmp(builder->barriers[i].kind, "planned") == 0)
            join_aliases(search, &builder->barriers[i]);
    }
    for (size_t i = 0; i < builder->buffer_count; i++) {
        const Root *root = search->buffer_roots[i] == NO_ROOT ? NULL : &search->roots[search->buffer_roots[i]];
        builder->buffers[i].aliases = root ? root->aliases : NULL;
        builder->buffers[i].alias_count = root ? root->alias_count : 0;
    }
}

/* ---- Other ops ------------------------------------------------------------------------------------------------- */

/* The barriers of each root, as a list: the first, and after each barrier the next; SIZE_MAX ends it. */
typedef struct Barriers {
    size_t *first, *next;
} Barriers;

static Barriers barriers_by_root(const AliasSearch *search) {
    Builder *builder = search->builder;
    Barriers lists = {ARENA_ARRAY(builder->arena, size_t, search->root_count + 1),
                      ARENA_ARRAY(builder->arena, size_t, builder->barrier_count + 1)};
    for (uint32_t r = 0; r < search->root_count; r++)
        lists.first[r] = SIZE_MAX;
    for (size_t i = builder->barrier_count; i-- > 0;) {
        lists.next[i] = lists.first[search->barrier_roots[i]];
        lists.first[search->barrier_roots[i]] = i;
    }
    return lists;
}

/* An op that does something to a barrier; of a token or an aref, to one side of it or (SIDE_NONE) to both. */
static void note_other(AliasSearch *search, const Barriers *lists, const Op *op, const Value *on, Side side,
                       const char *detail) {
    const AliasNode *node = find_node(search, on);
    ReportPlace place;
    bool placed = false;
    for (uint32_t r = 0; node && r < node->root_count; r++)
        for (size_t i = lists->first[node->roots[r]]; i != SIZE_MAX; i = lists->next[i]) {
            Side of = search->builder->barrier_things[i].side;
            if (side != SIDE_NONE && of != SIDE_NONE && of != side)
                continue;
            if (!placed) {
                place = builder_place(search->builder, op);
                place.detail = detail;
                placed = true;
            }
            ReportBarrier *barrier = &search->builder->barriers[i];
            builder_push_place(search->builder, &barrier->others, &barrier->other_count, place);
        }
}

/* A token of an aref, and the values that hand it on: into a loop, around it, and out of it. */
typedef struct Tokens {
    const Value *items[16];
    uint32_t count;
} Tokens;

static bool is_token(const Tokens *tokens, const Value *value) {
    for (uint32_t i = 0; i < tokens->count; i++)
        if (tokens->items[i] == value)
            return true;
    return false;
}

static void add_token(Tokens *tokens, const Value *value) {
    if (!is_token(tokens, value) && tokens->count < sizeof tokens->items / sizeof *tokens->items)
        tokens->items[tokens->count++] = value;
}

static void hand_on(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    if (is_token(context, from))
        add_token(context, to);
}

/* The side of an aref that an op waits for; SIDE_NONE if it does not enter one. */
static Side entered_side(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op_is(op, CLASS_AREF_ENTER) ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_WAIT)
            return effects[i].side;
    return SIDE_NONE;
}

/* What an op enters, and the tokens by which its end is known. */
typedef struct AliasEntering {
    Module *module;
    const Value *aref;
    Side side;
    Tokens tokens;
} AliasEntering;

static bool takes_token(const Tokens *tokens, const Op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (is_token(tokens, op->operands[i]))
            return true;
    return false;
}

/* Whether an op ends it: it arrives on the other side. */
static bool ends(const Op *op, const AliasEntering *entering) {
    Effect effects[EFFECTS_MOST];
    bool possible = op->operand_count && op->operands[0] == entering->aref &&
                    (!entering->tokens.count || takes_token(&entering->tokens, op));
    unsigned count = possible ? effects_of(entering->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_ARRIVE || effects[i].verb == EFFECT_EXPECT)
            return effects[i].side != entering->side;
    return false;
}

enum { MOST_OPS = 4096 };

/* The first op from `from` on, within `within`, that takes the token; NULL if there is none. */
static const Op *find_end(const Op *from, const Op *within, AliasEntering *entering, bool around) {
    const Op *op = from;
    for (int step = 0; step < MOST_OPS && (op = op_next_in_walk(op, within)); step++) {
        if (ends(op, entering))
            return op;
        bool yields = op_is_control(op, CONTROL_YIELD);
        const Op *loop = yields ? op_parent(op) : op;
        if (!op_is_control(loop, CONTROL_LOOP) || !takes_token(&entering->tokens, op))
            continue;
        op_hands_on(loop, hand_on, &entering->tokens);
        /* What goes around the loop ends in it, before what leaves it. */
        const Op *end = yields && around ? find_end(loop, loop, entering, false) : NULL;
        if (end)
            return end;
    }
    return NULL;
}

/* The op that ends what `enter` begins: the one that takes its token, or without one the next of its kind. */
static const Op *exit_of(Module *module, const Op *enter, Side side, const Op *function) {
    AliasEntering entering = {.module = module, .aref = enter->operands[0], .side = side};
    if (enter->result_count)
        add_token(&entering.tokens, &enter->results[enter->result_count - 1]);
    return find_end(enter, function, &entering, true);
}

static void note_aref(AliasSearch *search, const Barriers *lists, const Op *op) {
    Module *module = search->builder->module;
    Verdict *verdict = search->builder->verdict;
    if (op_is(op, CLASS_AREF) && op->result_count)
        note_other(search, lists, op, &op->results[0], SIDE_NONE, "");
    Side side = entered_side(module, op);
    if (side == SIDE_NONE)
        return;
    const Op *end = exit_of(module, op, side, search->builder->function);
    const char *word = side == SIDE_EMPTY ? "put" : "get";
    const char *detail = end ? verdict_text(verdict, "%s.enter ... %s.exit, IR lines %u-%u", word, word,
                                            op_line(module, op), op_line(module, end))
                             : verdict_text(verdict, "%s.enter, without an exit", word);
    note_other(search, lists, op, op->operands[0], SIDE_NONE, detail);
}

static void write_others(AliasSearch *search) {
    Builder *builder = search->builder;
    Barriers lists = barriers_by_root(search);
    Effect effects[EFFECTS_MOST];
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = op->row ? effects_of(builder->module, op, effects) : 0;
        bool aref = op_is(op, CLASS_AREF);
        for (unsigned i = 0; i < count && !aref; i++) {
            const Effect *effect = &effects[i];
            if (effect->verb == EFFECT_INIT)
                note_other(search, &lists, op, effect->on, effect->side,
                           effect->count < 0 ? ""
                                             : verdict_text(builder->verdict, "count %lld", (long long)effect->count));
            else if (effect->verb == EFFECT_INVALIDATE)
                note_other(search, &lists, op, effect->on, effect->side, "");
        }
        note_aref(search, &lists, op);
    }
}

void report_aliases(Builder *builder) {
    AliasSearch search = {.builder = builder, .numbers.arena = builder->arena};
    collect_roots(&search);
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function))
        add_op(&search, op);
    order_steps(&search);
    uint32_t *queue = ARENA_ARRAY(builder->arena, uint32_t, search.node_count + 1);
    for (uint32_t r = 0; r < search.root_count; r++)
        search_from(&search, r, queue);
    reach_constants(&search);
    write_aliases(&search);
    write_others(&search);
}
