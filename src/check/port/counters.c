/* Distances between what is issued and what waits for it, as a dataflow over the pieces of a function.
 *
 * A state has one distance a mark. Marks of tokens and of groups exist once for each queue, since a token may stand for
 * things on any of them; a copy's mark is on the copy's own queue. Only ops that change something are looked at. */
#include "check/port/counters.h"

#include "base/pointers.h"
#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/flow/forwarded.h"
#include "model/flow/origin.h"

enum { MOST_MARKS = 1 << 14, MOST_COPIES = 512, MOST_RINGS = 64, VISITS_BEFORE_WIDENING = 40 };
/* Of a ring: how many stages are started and not waited for (low: at least; most: at most), then the latest ones. */
enum { RING_MARKS = 1 + COUNTERS_STAGES };
static const uint64_t most_work = 400 * 1000 * 1000;

static const Distance none = {DISTANCE_NONE, DISTANCE_NONE, DISTANCE_NONE};
static const Distance here = {0, 0, 0};
/* Nothing is known of it: it may be anything but negative, and nothing can be proved with it. */
static const Distance unknown = {0, DISTANCE_NONE, AMD_MANY};

/* An op that changes a state. */
typedef struct Happening {
    const Op *op;
    uint32_t number; /* of the op in the flow */
    AmdCount counts[QUEUE_COUNT];
    uint32_t copy; /* its number; NO_NUMBER: it is none */
    uint32_t ring; /* of mbarriers; NO_NUMBER: none */
    bool issues, commits, stores, starts, unsettles;
    CounterWait wait;
} Happening;

/* An op that copies, and the queue that it is on. */
typedef struct CounterCopy {
    const Op *op;
    AmdQueue queue;
} CounterCopy;

/* What becomes of tokens on the way out of a piece. */
typedef struct Hand {
    uint32_t from, to;  /* numbers of tokens */
    const Block *block; /* only if the edge goes there; NULL: always */
    bool later;         /* after those that are not */
} Hand;

typedef struct CounterPiece {
    uint32_t first, count; /* of its happenings */
    uint32_t first_hand, hand_count;
    uint32_t visits;
    bool reached;
    Distance *input;
} CounterPiece;

struct Counters {
    Module *module;
    Arena *arena;
    const Target *target;
    Flow flow;
    const char *problem;
    Pointers tokens, numbers, rings; /* values; ops: their number in the flow; allocations of mbarriers */
    Pointers used;                   /* tokens that are operands of something */
    Happening *happenings;
    uint32_t happening_count, happening_capacity;
    CounterPiece *pieces;
    uint32_t *piece_of; /* by number of an op */
    Hand *hands;
    uint32_t hand_count, hand_capacity;
    CounterCopy *copies;
    uint32_t copy_count, copy_capacity;
    uint32_t token_count, group_count; /* groups: how many commits back is looked */
    uint32_t marks, first_group, first_store, first_copy, first_ring;
    uint64_t work;
    /* The state before the happening `at` of `piece`, for questions that come in the order of the text. */
    Distance *state, *scratch;
    uint32_t piece, at;
};

/* ---- Distances ------------------------------------------------------------------------------------ */

static uint16_t sum(uint16_t a, uint16_t b) {
    return a == DISTANCE_NONE ? a : (uint16_t)(a + b > AMD_MANY ? AMD_MANY : a + b);
}

static void go_on(Distance *distance, AmdCount count) {
    if (distance_is_none(*distance))
        return;
    distance->low = sum(distance->low, count.low);
    distance->high = sum(distance->high, count.high);
    distance->most = sum(distance->most, count.high);
}

/* Where two paths meet. */
static Distance met(Distance a, Distance b) {
    if (distance_is_none(a))
        return b;
    if (distance_is_none(b))
        return a;
    return (Distance){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high,
                      a.most > b.most ? a.most : b.most};
}

/* Of two things that are waited for together, the one that was issued later. */
static Distance nearer(Distance a, Distance b) {
    Distance both = met(a, b);
    if (!distance_is_none(a) && !distance_is_none(b))
        both.most = a.most < b.most ? a.most : b.most;
    return both;
}

static bool same(Distance a, Distance b) {
    return a.low == b.low && a.high == b.high && a.most == b.most;
}

/* ---- Waits ---------------------------------------------------------------------------------------- */

const Attr *counter_left(const Op *op, WaitCounter counter) {
    const WaitEntry *entry = counter_entry(op, counter);
    const Attr *attr = entry ? op_attr_of(op, entry->left) : NULL;
    return attr && attr->kind == ATTR_INTEGER ? attr : NULL;
}

/* A number to be left: a negative one asks for all, as 0 does, and one beyond reason for none. */
static bool number_left(const Op *op, WaitCounter counter, int64_t *value) {
    enum { LARGEST = 1 << 30 };
    const Attr *attr = counter_left(op, counter);
    if (!attr)
        return false;
    *value = attr->integer < 0 ? 0 : attr->integer > LARGEST || !attr->exact ? LARGEST : attr->integer;
    return true;
}

/* Before there was a counter of their own, loads and stores counted together, and so do their numbers here. */
static CounterWait memory_wait(const Op *op, const Target *target) {
    int64_t loads = 0, stores = 0;
    bool load = number_left(op, WAITS_LOAD, &loads), store = number_left(op, WAITS_STORE, &stores);
    bool any = load || (store && !target->store_counter);
    CounterWait wait = {.queue = any ? QUEUE_LOAD : QUEUE_NONE, .written = true};
    wait.leave = target->store_counter ? loads : loads + stores;
    return wait;
}

CounterWait counter_wait_of(const Op *op, const Target *target) {
    static const struct {
        AmdQueue queue;
        bool written; /* the number is one of instructions */
    } waits[WAIT_COUNTER_COUNT] = {
        [WAITS_NOTHING] = {QUEUE_NONE, false}, [WAITS_GROUPS] = {QUEUE_GROUPS, false},
        [WAITS_MOVES] = {QUEUE_MOVES, false},  [WAITS_COPIES] = {QUEUE_NONE, true},
        [WAITS_LOAD] = {QUEUE_LOAD, true},     [WAITS_STORE] = {QUEUE_NONE, false},
        [WAITS_DS] = {QUEUE_NONE, false},      [WAITS_ASYNC] = {QUEUE_ASYNC, true},
        [WAITS_TENSOR] = {QUEUE_TENSOR, true}, [WAITS_BITS] = {QUEUE_NONE, false},
    };
    WaitCounter counter = op->row ? op->row->waits[0].counter : WAITS_NOTHING;
    if (counter == WAITS_LOAD)
        return memory_wait(op, target);
    CounterWait wait = {.queue = counter == WAITS_COPIES ? amd_copy_queue(target) : waits[counter].queue,
                        .written = waits[counter].written};
    return wait.queue != QUEUE_NONE && number_left(op, counter, &wait.leave) ? wait
                                                                             : (CounterWait){.queue = QUEUE_NONE};
}

/* ---- What happens where --------------------------------------------------------------------------- */

static bool is_token(const Value *value) {
    return value->type && type_is(value->type, STR("ttg.async.token"));
}

static void number_token(Counters *counters, const Value *value) {
    if (is_token(value) && pointers_get(&counters->tokens, value) == NO_NUMBER)
        pointers_set(&counters->tokens, value, counters->token_count++);
}

static void number_tokens(Counters *counters, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        number_token(counters, &op->results[i]);
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const Block *block = op->regions[r].first; block; block = block->next)
            for (uint32_t i = 0; i < block->arg_count; i++)
                number_token(counters, &block->args[i]);
}

/* The allocation of mbarriers that the op starts a stage of, or waits for one of. */
static uint32_t number_ring(Counters *counters, const Op *op) {
    const Op *root = op->operand_count ? origin_of(counters->module, op->operands[0]) : NULL;
    if (root && pointers_get(&counters->rings, root) == NO_NUMBER && counters->rings.count < MOST_RINGS)
        pointers_set(&counters->rings, root, counters->rings.count);
    return root ? pointers_get(&counters->rings, root) : NO_NUMBER;
}

static uint32_t number_copy(Counters *counters, const Op *op, const AmdCount *counts) {
    AmdCopy copy;
    AmdQueue queue = counts[QUEUE_MOVES].high == 1              ? QUEUE_TENSOR
                     : amd_copy_of(counters->module, op, &copy) ? amd_copy_queue(counters->target)
                                                                : QUEUE_NONE;
    if (queue == QUEUE_NONE)
        return NO_NUMBER;
    *ARENA_PUSH(counters->arena, counters->copies, counters->copy_count, counters->copy_capacity) =
        (CounterCopy){op, queue};
    return counters->copy_count - 1;
}

/* Waits for TMA are for stores only, those of AMD's tensor data mover for all it does. A wait on an mbarrier, or for a
 * scalar's sake, may cover copies too, and which it does is not looked at. */
static Happening happening_of(Counters *counters, const FlowOp *at) {
    const Op *op = at->op;
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row ? effects_of(counters->module, op, effects) : 0;
    bool waits = false;
    Happening happening = {
        .op = op, .number = at->number, .ring = NO_NUMBER, .wait = counter_wait_of(op, counters->target)};
    for (const Effect *effect = effects; effect < effects + count; effect++) {
        bool of_barrier = effect->side == SIDE_NONE;
        happening.stores |=
            effect_is_access(effect) && (effect->group == GROUP_TMA_STORE || effect->group == GROUP_AMD_TENSOR);
        happening.starts |= effect->verb == EFFECT_EXPECT && of_barrier;
        happening.commits |= effect->verb == EFFECT_COMMIT && effect->group == GROUP_CP_ASYNC && count == 1;
        waits |= effect->verb == EFFECT_WAIT && of_barrier;
    }
    happening.unsettles =
        !op->row || op_is_control(op, CONTROL_CALL) || op->row->waits[0].counter == WAITS_BITS || waits;
    if (happening.starts || waits)
        happening.ring = number_ring(counters, op);
    return happening;
}

static void note_happening(Counters *counters, const FlowOp *at) {
    const Op *op = at->op;
    Happening happening = happening_of(counters, at);
    amd_issues(counters->module, op, counters->target, happening.counts);
    happening.copy = number_copy(counters, op, happening.counts);
    bool defines = false;
    for (AmdQueue queue = 0; queue < QUEUE_COUNT; queue++)
        happening.issues |= happening.counts[queue].high;
    for (uint32_t i = 0; i < op->result_count && !flow_branches(op); i++)
        defines |= is_token(&op->results[i]);
    bool waits = happening.wait.queue != QUEUE_NONE;
    if (!happening.issues && !happening.commits && !happening.unsettles && !waits && !defines &&
        happening.ring == NO_NUMBER)
        return;
    if (waits && happening.wait.leave + 1 > counters->group_count)
        counters->group_count =
            happening.wait.leave + 1 > COUNTERS_GROUPS ? COUNTERS_GROUPS : (uint32_t)happening.wait.leave + 1;
    *ARENA_PUSH(counters->arena, counters->happenings, counters->happening_count, counters->happening_capacity) =
        happening;
}

static void note_happenings(Counters *counters) {
    Flow *flow = &counters->flow;
    for (uint32_t i = 0; i < flow->op_count; i++) {
        const Op *op = flow->ops[i].op;
        pointers_set(&counters->numbers, op, flow->ops[i].number);
        number_tokens(counters, op);
        for (uint32_t k = 0; k < op->operand_count; k++)
            if (is_token(op->operands[k]))
                pointers_set(&counters->used, op->operands[k], 0);
    }
    for (uint32_t p = 0; p < flow->piece_count; p++) {
        const FlowPiece *piece = &flow->pieces[p];
        counters->pieces[p].first = counters->happening_count;
        for (uint32_t i = 0; i < piece->count; i++) {
            counters->piece_of[flow->ops[piece->first + i].number] = p;
            note_happening(counters, &flow->ops[piece->first + i]);
        }
        counters->pieces[p].count = counters->happening_count - counters->pieces[p].first;
    }
}

/* ---- Tokens that are handed on -------------------------------------------------------------------- */

typedef struct CounterHanding {
    Counters *counters;
    const Op *control, *end;
} CounterHanding;

static bool has_operand(const Op *op, const Value *value) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (op->operands[i] == value)
            return true;
    return false;
}

static void note_hand(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    const CounterHanding *handing = context;
    Counters *counters = handing->counters;
    uint32_t source = pointers_get(&counters->tokens, from), target = pointers_get(&counters->tokens, to);
    if (source == NO_NUMBER || target == NO_NUMBER)
        return;
    bool straight = has_operand(handing->end, from);
    /* What a loop carries is what it gives back once it is over. */
    bool later = to->is_result && to->owner == handing->control && !from->is_result;
    if (!straight && !later)
        return;
    const Block *only = handing->control == handing->end && op_successor_count(handing->end) ? to->owner : NULL;
    *ARENA_PUSH(counters->arena, counters->hands, counters->hand_count, counters->hand_capacity) =
        (Hand){source, target, only, !straight};
}

static void note_hands(Counters *counters) {
    Flow *flow = &counters->flow;
    for (uint32_t p = 0; p < flow->piece_count; p++) {
        const FlowPiece *piece = &flow->pieces[p];
        CounterPiece *here = &counters->pieces[p];
        here->first_hand = counters->hand_count;
        if (!piece->count || !counters->token_count)
            continue;
        const Op *end = flow->ops[piece->first + piece->count - 1].op;
        const Op *control = flow_branches(end) || op_successor_count(end) ? end : op_parent(end);
        CounterHanding handing = {counters, control, end};
        if (control)
            op_hands_on(control, note_hand, &handing);
        here->hand_count = counters->hand_count - here->first_hand;
    }
}

static bool leads_to(const Counters *counters, const FlowEdge *edge, const Block *block) {
    const FlowPiece *to = &counters->flow.pieces[edge->to];
    return !block || (to->count && counters->flow.ops[to->first].op->block == block);
}

/* From `state` to scratch, which is all that a token is under its new names. */
static void hand_on(Counters *counters, const CounterPiece *piece, const FlowEdge *edge, const Distance *state) {
    Distance *out = counters->scratch;
    memcpy(out, state, counters->marks * sizeof *out);
    for (int later = 0; later < 2; later++) {
        for (uint32_t i = 0; i < piece->hand_count; i++) {
            const Hand *hand = &counters->hands[piece->first_hand + i];
            if (hand->later != later || !leads_to(counters, edge, hand->block))
                continue;
            const Distance *from = hand->later ? out : state;
            memcpy(out + hand->to * QUEUE_COUNT, from + hand->from * QUEUE_COUNT, QUEUE_COUNT * sizeof *out);
        }
    }
}

/* ---- One op --------------------------------------------------------------------------------------- */

/* The latest commit, or store, is the first of its ring. */
static void turn_ring(Counters *counters, Distance *ring) {
    size_t others = (size_t)(counters->group_count - 1) * QUEUE_COUNT;
    memmove(ring + QUEUE_COUNT, ring, others * sizeof *ring);
    for (AmdQueue queue = 0; queue < QUEUE_COUNT; queue++)
        ring[queue] = here;
}

static void issue(Counters *counters, const Happening *happening, Distance *state) {
    for (uint32_t mark = 0; mark < counters->first_copy; mark++)
        go_on(&state[mark], happening->counts[mark % QUEUE_COUNT]);
    for (uint32_t copy = 0; copy < counters->copy_count; copy++)
        for (uint32_t ago = 0; ago < COUNTERS_EXECUTIONS; ago++)
            go_on(&state[counters->first_copy + copy * COUNTERS_EXECUTIONS + ago],
                  happening->counts[counters->copies[copy].queue]);
    for (uint32_t i = 0; i < counters->rings.count * RING_MARKS; i++)
        if (i % RING_MARKS)
            go_on(&state[counters->first_ring + i], happening->counts[QUEUE_TENSOR]);
}

static void go_around(Counters *counters, const Happening *happening, Distance *state) {
    Distance *ring = state + counters->first_ring + happening->ring * RING_MARKS, *stages = ring + 1;
    Distance *open = &ring[0];
    if (!happening->starts) {
        open->low -= !distance_is_none(*open) && open->low > 0;
        open->most -= !distance_is_none(*open) && open->most > 0;
        return;
    }
    memmove(stages + 1, stages, (COUNTERS_STAGES - 1) * sizeof *stages);
    stages[0] = here;
    if (distance_is_none(*open))
        *open = here;
    go_on(open, (AmdCount){1, 1});
}

static void start_copy(Counters *counters, uint32_t copy, Distance *state) {
    Distance *ring = state + counters->first_copy + copy * COUNTERS_EXECUTIONS;
    memmove(ring + 1, ring, (COUNTERS_EXECUTIONS - 1) * sizeof *ring);
    ring[0] = here;
}

/* A wait ends a copy for sure if it was that long ago on every path, and for sure not if on one path it was not. */
static void settle(Counters *counters, const Happening *happening, Distance *state) {
    const CounterWait *wait = &happening->wait;
    for (uint32_t i = 0; i < counters->copy_count * COUNTERS_EXECUTIONS; i++) {
        Distance *distance = &state[counters->first_copy + i];
        AmdQueue queue = counters->copies[i / COUNTERS_EXECUTIONS].queue;
        bool counted = wait->written && wait->queue == queue;
        if (distance_is_none(*distance) || (wait->written && !counted && !happening->unsettles))
            continue;
        if (counted && distance->low >= wait->leave)
            *distance = none;
        else if (!counted || distance->high >= wait->leave)
            distance->high = DISTANCE_NONE;
    }
}

/* A token stands for what the tokens that it was made of stand for; one that is made of none, for its own op. */
static void define_tokens(Counters *counters, const Happening *happening, Distance *state) {
    const Op *op = happening->op;
    Distance found[QUEUE_COUNT];
    bool made = false;
    for (AmdQueue queue = 0; queue < QUEUE_COUNT; queue++)
        found[queue] = none;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!is_token(op->operands[i]))
            continue;
        uint32_t token = pointers_get(&counters->tokens, op->operands[i]);
        for (AmdQueue queue = 0; queue < QUEUE_COUNT; queue++) {
            Distance from = token == NO_NUMBER ? none : state[token * QUEUE_COUNT + queue];
            found[queue] = nearer(found[queue], distance_is_none(from) ? unknown : from);
        }
        made = true;
    }
    if (happening->commits)
        found[QUEUE_GROUPS] = here;
    for (uint32_t i = 0; i < op->result_count; i++) {
        uint32_t token = pointers_get(&counters->tokens, &op->results[i]);
        for (AmdQueue queue = 0; queue < QUEUE_COUNT && token != NO_NUMBER; queue++)
            state[token * QUEUE_COUNT + queue] = made ? found[queue] : here;
    }
}

static void go_over(Counters *counters, const Happening *happening, Distance *state) {
    counters->work += counters->marks;
    if (happening->issues)
        issue(counters, happening, state);
    if (happening->commits && counters->group_count)
        turn_ring(counters, state + counters->first_group);
    if (happening->stores && counters->group_count)
        turn_ring(counters, state + counters->first_store);
    if (happening->copy != NO_NUMBER)
        start_copy(counters, happening->copy, state);
    if (happening->ring != NO_NUMBER)
        go_around(counters, happening, state);
    if (happening->wait.queue != QUEUE_NONE || happening->unsettles)
        settle(counters, happening, state);
    if (!flow_branches(happening->op))
        define_tokens(counters, happening, state);
}

/* ---- To the fixed point --------------------------------------------------------------------------- */

/* Adds what comes over an edge; whether that changed anything. */
static bool arrive(Counters *counters, const FlowEdge *edge, bool other_waves) {
    CounterPiece *to = &counters->pieces[edge->to];
    bool changed = !to->reached;
    to->reached = true;
    counters->work += counters->marks;
    for (uint32_t mark = 0; mark < counters->marks; mark++) {
        Distance joined = met(to->input[mark], other_waves ? none : counters->scratch[mark]);
        if (to->visits > VISITS_BEFORE_WIDENING && !same(joined, to->input[mark]))
            joined.most = AMD_MANY;
        changed |= !same(joined, to->input[mark]);
        to->input[mark] = joined;
    }
    return changed;
}

/* Goes through a piece and to those behind it; the first one before `next` that has to be looked at again. */
static uint32_t go_through(Counters *counters, uint32_t number, bool *waiting, uint32_t next) {
    CounterPiece *piece = &counters->pieces[number];
    const FlowPiece *flow = &counters->flow.pieces[number];
    const Op *end = flow->count ? counters->flow.ops[flow->first + flow->count - 1].op : NULL;
    bool other_waves = op_is_control(end, CONTROL_PARTITIONS);
    piece->visits++;
    memcpy(counters->state, piece->input, counters->marks * sizeof *counters->state);
    for (uint32_t i = 0; i < piece->count; i++)
        go_over(counters, &counters->happenings[piece->first + i], counters->state);
    for (uint32_t i = 0; i < flow->edge_count; i++) {
        const FlowEdge *edge = &counters->flow.edges[flow->first_edge + i];
        hand_on(counters, piece, edge, counters->state);
        if (!arrive(counters, edge, other_waves || edge->all_meet))
            continue;
        waiting[edge->to] = true;
        next = edge->to < next ? edge->to : next;
    }
    return next;
}

/* What the function is handed may stand for anything. */
static void start_tokens(Counters *counters, const Op *function, Distance *state) {
    const Block *entry = function->region_count ? function->regions[0].first : NULL;
    for (uint32_t i = 0; entry && i < entry->arg_count; i++) {
        uint32_t token = pointers_get(&counters->tokens, &entry->args[i]);
        for (AmdQueue queue = 0; queue < QUEUE_COUNT && token != NO_NUMBER; queue++)
            state[token * QUEUE_COUNT + queue] = unknown;
    }
}

static void run_to_end(Counters *counters, const Op *function) {
    uint32_t count = counters->flow.piece_count;
    bool *waiting = ARENA_ARRAY(counters->arena, bool, count + 1);
    uint32_t next = count;
    for (uint32_t p = count; p-- > 0;) {
        CounterPiece *piece = &counters->pieces[p];
        piece->input = arena_alloc(counters->arena, (size_t)(counters->marks + 1) * sizeof *piece->input);
        for (uint32_t mark = 0; mark < counters->marks; mark++)
            piece->input[mark] = none;
        waiting[p] = piece->reached = counters->flow.pieces[p].entry;
        if (piece->reached)
            start_tokens(counters, function, piece->input);
        next = waiting[p] ? p : next;
    }
    while (next < count && counters->work < most_work) {
        uint32_t number = next++;
        if (!waiting[number])
            continue;
        waiting[number] = false;
        next = go_through(counters, number, waiting, next);
    }
    if (next < count)
        counters->problem = "it is too large to count its waits";
}

Counters *counters_of(Module *module, const Op *function, const Target *target, Arena *arena) {
    Counters *counters = ARENA_NEW(arena, Counters);
    *counters = (Counters){.module = module,
                           .arena = arena,
                           .target = target,
                           .flow = flow_of(function, arena),
                           .tokens = {.arena = arena},
                           .numbers = {.arena = arena},
                           .rings = {.arena = arena},
                           .used = {.arena = arena},
                           .piece = FLOW_NONE};
    counters->pieces = ARENA_ARRAY(arena, CounterPiece, counters->flow.piece_count + 1);
    counters->piece_of = ARENA_ARRAY(arena, uint32_t, counters->flow.op_count + 1);
    number_tokens(counters, function);
    note_happenings(counters);
    uint64_t marks = (uint64_t)(counters->token_count + 2 * counters->group_count) * QUEUE_COUNT +
                     (uint64_t)counters->copy_count * COUNTERS_EXECUTIONS +
                     (uint64_t)counters->rings.count * RING_MARKS;
    if (marks > MOST_MARKS || counters->copy_count > MOST_COPIES ||
        marks * counters->flow.piece_count > most_work / 8) {
        counters->problem = "it is too large to count its waits";
        return counters;
    }
    note_hands(counters);
    counters->marks = (uint32_t)marks;
    counters->first_group = counters->token_count * QUEUE_COUNT;
    counters->first_store = counters->first_group + counters->group_count * QUEUE_COUNT;
    counters->first_copy = counters->first_store + counters->group_count * QUEUE_COUNT;
    counters->first_ring = counters->first_copy + counters->copy_count * COUNTERS_EXECUTIONS;
    counters->state = ARENA_ARRAY(arena, Distance, counters->marks + 1);
    counters->scratch = ARENA_ARRAY(arena, Distance, counters->marks + 1);
    run_to_end(counters, function);
    return counters;
}

const char *counters_problem(const Counters *counters) {
    return counters->problem;
}

/* ---- Questions ------------------------------------------------------------------------------------ */

/* Brings `state` to the place before the op; false if no path leads there. */
static bool go_to(Counters *counters, const Op *op) {
    uint32_t number = pointers_get(&counters->numbers, op);
    if (counters->problem || number == NO_NUMBER)
        return false;
    uint32_t piece = counters->piece_of[number];
    const CounterPiece *there = &counters->pieces[piece];
    if (!there->reached)
        return false;
    bool passed = counters->piece == piece && counters->at > 0 &&
                  counters->happenings[there->first + counters->at - 1].number >= number;
    if (counters->piece != piece || passed) {
        memcpy(counters->state, there->input, counters->marks * sizeof *counters->state);
        counters->piece = piece;
        counters->at = 0;
    }
    while (counters->at < there->count && counters->happenings[there->first + counters->at].number < number)
        go_over(counters, &counters->happenings[there->first + counters->at++], counters->state);
    return true;
}

Distance distance_of_token(Counters *counters, const Op *op, const Value *token, AmdQueue queue) {
    uint32_t number = pointers_get(&counters->tokens, token);
    return number != NO_NUMBER && go_to(counters, op) ? counters->state[number * QUEUE_COUNT + queue] : none;
}

bool waits_for_tokens(const Op *wait) {
    for (uint32_t i = 0; i < wait->operand_count; i++)
        if (is_token(wait->operands[i]))
            return true;
    return false;
}

Distance distance_of_tokens(Counters *counters, const Op *wait, AmdQueue queue) {
    Distance found = none;
    for (uint32_t i = 0; i < wait->operand_count; i++)
        if (is_token(wait->operands[i])) {
            Distance distance = distance_of_token(counters, wait, wait->operands[i], queue);
            found = nearer(found, distance_is_none(distance) ? unknown : distance);
        }
    return found;
}

PortCover distance_cover(Distance distance, int64_t leave) {
    if (distance_is_none(distance))
        return PORT_ENOUGH;
    if (leave > distance.low)
        return distance.high != DISTANCE_NONE && leave > distance.high ? PORT_TOO_LITTLE : PORT_UNKNOWN;
    return leave < distance.low ? PORT_MORE : PORT_ENOUGH;
}

static bool is_relied_on(const Counters *counters, const Op *wait) {
    for (uint32_t i = 0; i < wait->result_count; i++)
        if (pointers_get(&counters->used, &wait->results[i]) != NO_NUMBER)
            return true;
    return false;
}

PortCover counter_cover(Counters *counters, const Op *op, const CounterWait *wait, Distance *need) {
    *need = distance_of_tokens(counters, op, wait->queue);
    PortCover cover = distance_cover(*need, wait->leave);
    /* Ops of the mover are counted by the compiler, from the tokens; a load without a token is waited for by it. */
    bool proves = wait->queue != QUEUE_MOVES && (wait->queue != QUEUE_GROUPS || is_relied_on(counters, op));
    return cover == PORT_TOO_LITTLE && !proves ? PORT_UNKNOWN : cover;
}

static Distance distance_in_ring(Counters *counters, const Op *op, uint32_t ring, uint64_t leave, AmdQueue queue) {
    bool kept = leave < counters->group_count && go_to(counters, op);
    return kept ? counters->state[ring + leave * QUEUE_COUNT + queue] : none;
}

Distance distance_of_group(Counters *counters, const Op *op, uint64_t leave, AmdQueue queue) {
    return distance_in_ring(counters, op, counters->first_group, leave, queue);
}

Distance distance_of_store(Counters *counters, const Op *op, uint64_t leave, AmdQueue queue) {
    return distance_in_ring(counters, op, counters->first_store, leave, queue);
}

Distance distance_of_stage(Counters *counters, const Op *op, unsigned *left) {
    const Op *root = op->operand_count ? origin_of(counters->module, op->operands[0]) : NULL;
    uint32_t number = root ? pointers_get(&counters->rings, root) : NO_NUMBER;
    if (number == NO_NUMBER || !go_to(counters, op))
        return none;
    const Distance *ring = &counters->state[counters->first_ring + number * RING_MARKS];
    if (distance_is_none(ring[0]))
        return none;
    *left = ring[0].low > 0 ? ring[0].low - 1u : 0;
    *left = *left > COUNTERS_STAGES ? COUNTERS_STAGES : *left;
    return *left ? ring[*left] : here;
}

uint32_t counters_copies(const Counters *counters) {
    return counters->problem ? 0 : counters->copy_count;
}

const Op *counters_copy(const Counters *counters, uint32_t number) {
    return counters->copies[number].op;
}

AmdQueue counters_queue(const Counters *counters, uint32_t number) {
    return counters->copies[number].queue;
}

Distance distance_of_copy(Counters *counters, const Op *op, uint32_t number, uint32_t executions_ago) {
    if (executions_ago >= COUNTERS_EXECUTIONS || !go_to(counters, op))
        return none;
    return counters->state[counters->first_copy + number * COUNTERS_EXECUTIONS + executions_ago];
}
