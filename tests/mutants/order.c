/* Sets of accesses, moved about by events. */
#include "order.h"

#include "launches.h"

#include <stdlib.h>

enum { MOST_REGIONS = 512, MOST_ACCESSES = 1 << 16, MOST_GROUPS = 64 };

typedef struct Area {
    Word view;
    const Type *type;
    Bytes bytes;
    uint32_t *accesses; /* to it, in order */
    uint32_t count, capacity;
    uint32_t last_write; /* UINT32_MAX: none */
} Area;

typedef struct OneAccess {
    uint32_t area, line;
    uint32_t number; /* among those of its agent */
    uint16_t agent;
    bool writes;
} OneAccess;

/* A set of accesses. */
typedef struct Set {
    uint64_t *words;
    uint32_t count; /* of words */
} Set;

typedef struct Knowledge {
    Arena arena; /* of one run */
    Machine *machine;
    OrderResult result;
    Area areas[MOST_REGIONS];
    uint8_t meets[MOST_REGIONS][MOST_REGIONS]; /* 0: not looked at; 1: no; 2: yes */
    uint32_t area_count;
    OneAccess *accesses;
    uint32_t access_count;
    Set known[MOST_AGENTS], tensor[MOST_AGENTS], copies[MOST_AGENTS], bulk[MOST_AGENTS];
    Set open[MOST_AGENTS][GROUP_KINDS], closed[MOST_AGENTS][GROUP_KINDS][MOST_GROUPS];
    uint32_t closed_count[MOST_AGENTS][GROUP_KINDS];
    uint32_t made[MOST_AGENTS]; /* accesses of the agent */
    Set issued;                 /* the copies of the op that is being issued */
    const Op *issuing;
    Set *phases; /* mbarriers, named and cluster barriers, two parities each */
    uint32_t named, cluster;
    Set outstanding_ops[MOST_OUTSTANDING_OPS * 2]; /* by sequence number */
} Knowledge;

/* ---- Sets ----------------------------------------------------------------------------------------- */

static void grow(Knowledge *order, Set *set, uint32_t count) {
    if (set->count >= count)
        return;
    uint32_t capacity = count < 2 * set->count ? 2 * set->count : count;
    uint64_t *words = ARENA_ARRAY(&order->arena, uint64_t, capacity);
    if (set->count)
        memcpy(words, set->words, set->count * sizeof *words);
    *set = (Set){words, capacity};
}

static void put(Knowledge *order, Set *set, uint32_t member) {
    grow(order, set, member / 64 + 1);
    set->words[member / 64] |= UINT64_C(1) << member % 64;
}

static bool has(const Set *set, uint32_t member) {
    return member / 64 < set->count && set->words[member / 64] >> member % 64 & 1;
}

static void join(Knowledge *order, Set *set, const Set *other) {
    grow(order, set, other->count);
    for (uint32_t i = 0; i < other->count; i++)
        set->words[i] |= other->words[i];
}

static void clear(Set *set) {
    if (set->count)
        memset(set->words, 0, set->count * sizeof *set->words);
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

static Area *area_of(Knowledge *order, Word view, const Type *type) {
    for (uint32_t i = 0; i < order->area_count; i++) {
        Area *area = &order->areas[i];
        if (area->type == type && area->view.bits == view.bits && area->view.meta == view.meta &&
            area->view.cta == view.cta)
            return area;
    }
    if (order->area_count == MOST_REGIONS) {
        order->result.partial = true;
        return NULL;
    }
    Area *area = &order->areas[order->area_count];
    *area = (Area){.view = view, .type = type, .last_write = UINT32_MAX};
    Offset at = {(int32_t)(view.bits & UINT32_MAX), (int32_t)(view.bits >> 32)};
    if (!view_bytes(order->machine->program->module, type, at, &order->arena, &area->bytes))
        return NULL;
    order->area_count++;
    return area;
}

static bool meet(Knowledge *order, uint32_t a, uint32_t b) {
    uint8_t *known = &order->meets[a][b];
    if (!*known) {
        const Area *x = &order->areas[a], *y = &order->areas[b];
        bool same = x->view.meta == y->view.meta && x->view.cta == y->view.cta;
        *known = same && bytes_overlap(&x->bytes, &y->bytes) ? 2 : 1;
    }
    return *known == 2;
}

static uint32_t line_of(const Knowledge *order, const Op *op) {
    return source_place(order->machine->program->module->source, op->offset).line;
}

static void mix(Knowledge *order, uint64_t value) {
    order->result.data = identity_mix(order->result.data, value);
}

/* Sum, so that the order of reads of different agents does not count. */
static void see(Knowledge *order, uint32_t area, uint32_t agent) {
    uint64_t seen = identity_mix(agent, order->made[agent]);
    bool any = false;
    for (uint32_t i = 0; i < order->area_count; i++) {
        uint32_t write = order->areas[i].last_write;
        if (write == UINT32_MAX || !meet(order, area, i))
            continue;
        any = true;
        seen += identity_mix(order->accesses[write].agent, order->accesses[write].number + UINT64_C(1000000));
    }
    order->result.data += identity_mix(seen, 1);
    order->result.unwritten += !any;
}

static void check(Knowledge *order, const Area *area, bool writes, const Event *event, bool on_tensor_core) {
    uint32_t index = (uint32_t)(area - order->areas), agent = event->agent;
    for (uint32_t i = 0; i < order->area_count; i++) {
        if (!meet(order, index, i))
            continue;
        const Area *other = &order->areas[i];
        for (uint32_t k = 0; k < other->count; k++) {
            uint32_t earlier = other->accesses[k];
            if ((!writes && !order->accesses[earlier].writes) || has(&order->known[agent], earlier) ||
                (on_tensor_core && has(&order->tensor[agent], earlier)))
                continue;
            if (!order->result.races++) {
                order->result.line = line_of(order, event->op);
                order->result.other_line = order->accesses[earlier].line;
            }
        }
    }
}

static void access_event(Knowledge *order, const Event *event) {
    const Effect *effect = &event->effect->effect;
    if ((effect->space != SPACE_SHARED && effect->space != SPACE_TENSOR) || !word_is(event->view, WORD_VIEW) ||
        !event->effect->type)
        return;
    Area *area = area_of(order, event->view, event->effect->type);
    if (!area || order->access_count == MOST_ACCESSES) {
        order->result.partial = true;
        return;
    }
    uint32_t agent = event->agent, this = order->access_count++;
    bool writes = effect->verb != EFFECT_READ;
    check(order, area, writes, event, effect->helper == HELPER_TENSOR);
    if (effect->verb != EFFECT_WRITE)
        see(order, (uint32_t)(area - order->areas), agent);
    order->accesses[this] = (OneAccess){.area = (uint32_t)(area - order->areas),
                                        .line = line_of(order, event->op),
                                        .number = order->made[agent]++,
                                        .agent = (uint16_t)agent,
                                        .writes = writes};
    if (area->count == area->capacity) {
        uint32_t capacity = area->capacity ? area->capacity * 2 : 16;
        uint32_t *list = ARENA_ARRAY(&order->arena, uint32_t, capacity);
        if (area->count)
            memcpy(list, area->accesses, area->count * sizeof *list);
        area->accesses = list;
        area->capacity = capacity;
    }
    area->accesses[area->count++] = this;
    if (writes)
        area->last_write = this;
    switch (effect->done) {
    case DONE_NOW:
        /* What a helper does, its thread does not know: a product is asynchronous even where nothing says so. */
        put(order,
            effect->helper == HELPER_BASE     ? &order->known[agent]
            : effect->helper == HELPER_TENSOR ? &order->tensor[agent]
                                              : &order->bulk[agent],
            this);
        break;
    case DONE_TX:
        if (order->issuing != event->op)
            clear(&order->issued);
        order->issuing = event->op;
        put(order, &order->issued, this);
        break;
    case DONE_GROUP:
        put(order, &order->open[agent][effect->group], this);
        if (effect->group == GROUP_CP_ASYNC)
            put(order, &order->copies[agent], this);
        break;
    case DONE_COMMIT:
        put(order, &order->tensor[agent], this);
        break;
    default:
        order->result.partial = true;
        break;
    }
}

/* Memory that is given back may be any agent's: that counts as a write, which nothing sees. */
static void free_event(Knowledge *order, const Event *event) {
    Area *area = word_is(event->view, WORD_VIEW) ? area_of(order, event->view, event->effect->type) : NULL;
    if (area)
        check(order, area, true, event, false);
}

/* ---- Groups --------------------------------------------------------------------------------------- */

static void commit(Knowledge *order, uint32_t agent, GroupKind kind) {
    uint32_t *count = &order->closed_count[agent][kind];
    Set *groups = order->closed[agent][kind];
    if (*count == MOST_GROUPS) {
        order->result.partial = true;
        return;
    }
    groups[(*count)++] = order->open[agent][kind];
    order->open[agent][kind] = (Set){0};
}

static void await(Knowledge *order, uint32_t agent, GroupKind kind, uint32_t pending) {
    uint32_t *count = &order->closed_count[agent][kind], over = *count > pending ? *count - pending : 0;
    Set *groups = order->closed[agent][kind];
    for (uint32_t i = 0; i < over; i++)
        join(order, &order->known[agent], &groups[i]);
    memmove(groups, groups + over, (*count - over) * sizeof *groups);
    *count -= over;
}

/* ---- Events --------------------------------------------------------------------------------------- */

static Set *phase(Knowledge *order, uint32_t barrier, uint32_t parity) {
    return &order->phases[2 * barrier + (parity & 1)];
}

static void signal_event(Knowledge *order, const Event *event, Set *into) {
    const Outstanding *outstanding = event->outstanding;
    uint32_t agent = event->agent;
    if (!outstanding) {
        join(order, into, &order->known[agent]);
    } else if (event->kind == EVENT_DELIVER) {
        join(order, into, &order->outstanding_ops[outstanding->sequence % (MOST_OUTSTANDING_OPS * 2)]);
    } else if (event->effect->effect.done == DONE_COPIES) {
        join(order, into, &order->copies[agent]);
    } else {
        join(order, into, &order->known[agent]);
        join(order, into, &order->tensor[agent]);
    }
}

static void observe(void *observer, const Event *event) {
    Knowledge *order = observer;
    const State *state = event->state;
    uint32_t agent = event->agent, barrier = event->barrier;
    uint32_t first = agent - agent % order->machine->program->agents_per_cta + 1;
    switch (event->kind) {
    case EVENT_ACCESS:
        access_event(order, event);
        break;
    case EVENT_FREE:
        free_event(order, event);
        break;
    case EVENT_ISSUE: {
        Set *outstanding = &order->outstanding_ops[event->outstanding->sequence % (MOST_OUTSTANDING_OPS * 2)];
        clear(outstanding);
        if (event->outstanding->kind == OUTSTANDING_BYTES && order->issuing == event->op)
            join(order, outstanding, &order->issued);
        break;
    }
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        signal_event(order, event, phase(order, barrier, state->barriers[barrier].phase));
        order->issuing = NULL;
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        join(order, phase(order, barrier, state->barriers[barrier].phase), &order->known[agent]);
        if (event->effect->effect.side != SIDE_NONE)
            join(order, phase(order, barrier, state->barriers[barrier].phase), &order->bulk[agent]);
        break;
    case EVENT_FLIP:
        clear(phase(order, barrier, state->barriers[barrier].phase));
        break;
    case EVENT_INIT:
        clear(phase(order, barrier, 0));
        clear(phase(order, barrier, 1));
        break;
    case EVENT_WAIT:
        join(order, &order->known[agent], phase(order, barrier, event->parity));
        break;
    case EVENT_COMMIT:
        commit(order, agent, event->effect->effect.group);
        break;
    case EVENT_AWAIT:
        await(order, agent, event->effect->effect.group, (uint32_t)event->amount);
        break;
    case EVENT_NAMED_ARRIVE:
        join(order, phase(order, order->named + barrier, state->named[barrier].generation), &order->known[agent]);
        break;
    case EVENT_NAMED_COMPLETE:
        clear(phase(order, order->named + barrier, state->named[barrier].generation));
        break;
    case EVENT_NAMED_SYNC:
        join(order, &order->known[agent], phase(order, order->named + barrier, state->agents[agent].generation));
        break;
    case EVENT_CLUSTER_ARRIVE:
        if (!event->effect->effect.relaxed)
            join(order, phase(order, order->cluster + barrier, state->cluster[barrier].generation),
                 &order->known[agent]);
        break;
    case EVENT_CLUSTER_COMPLETE:
        clear(phase(order, order->cluster + barrier, state->cluster[barrier].generation));
        break;
    case EVENT_CLUSTER_WAIT:
        join(order, &order->known[agent], phase(order, order->cluster + barrier, state->agents[agent].generation));
        break;
    case EVENT_FORK:
        for (uint32_t k = 0; k < event->amount; k++) {
            clear(&order->known[first + k]);
            join(order, &order->known[first + k], &order->known[agent]);
        }
        break;
    case EVENT_JOIN:
        for (uint32_t k = 0; k + 1 < order->machine->program->agents_per_cta; k++)
            join(order, &order->known[agent], &order->known[first + k]);
        break;
    default:
        break;
    }
}

static void start(void *context, Machine *machine) {
    Knowledge *order = context;
    jmp_buf *exhausted = order->arena.exhausted;
    OrderResult result = order->result;
    size_t budget = order->arena.budget;
    arena_free(&order->arena);
    memset(order, 0, sizeof *order);
    arena_init(&order->arena, budget);
    order->arena.exhausted = exhausted;
    order->result = result;
    order->machine = machine;
    order->named = machine->slot_count;
    order->cluster = order->named + machine->program->ctas * NAMED_BARRIERS;
    order->phases = ARENA_ARRAY(&order->arena, Set, 2 * (order->cluster + machine->cluster_barriers));
    order->accesses = ARENA_ARRAY(&order->arena, OneAccess, MOST_ACCESSES);
    mix(order, 1);
    machine->observe = observe;
    machine->observer = order;
}

static void end(void *context, RunEnd end) {
    Knowledge *order = context;
    order->result.stuck += end == RUN_STUCK || end == RUN_FAULT;
    order->result.partial |= end == RUN_BUDGET || end == RUN_UNKNOWN;
}

typedef void RunAll(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher);

static OrderResult find(Module *module, const Launch *launch, uint64_t budget, RunAll *run) {
    Knowledge *order = ARENA_NEW(&module->arena, Knowledge);
    arena_init(&order->arena, (size_t)1 << 30);
    order->arena.exhausted = module->arena.exhausted;
    run(module, launch, budget, &(RunWatcher){order, start, end});
    OrderResult result = order->result;
    arena_free(&order->arena);
    return result;
}

OrderResult order_find(Module *module, const Launch *launch, uint64_t budget) {
    return find(module, launch, budget, launches_run);
}

OrderResult order_find_otherwise(Module *module, const Launch *launch, uint64_t budget) {
    return find(module, launch, budget, launches_run_otherwise);
}
