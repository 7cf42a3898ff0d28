/* Puts traces of threads together to executions: which write each read reads from, which barriers meet, in which order
 * fence.sc are; and from the consistent ones to verdicts. */
#include "litmus.h"

#include <stdlib.h>
#include <string.h>

typedef struct Search {
    const Test *test;
    Traces traces[MAX_THREADS];
    Domain domains[MAX_PLACES];
    Execution execution;
    Verdict *verdict;
    bool reached; /* the condition (of forall: its opposite) */
    Relation races;
} Search;

/* ---- Conditions ---- */

static int64_t value_of(const Test *test, const Final *final, const Value *value) {
    switch (value->kind) {
    case VALUE_REGISTER:
        return final->registers[value->thread][value->number];
    case VALUE_PLACE:
        return final->memory[test->places[value->number].location];
    default:
        return value->number;
    }
}

static bool compares(Operator operator, int64_t a, int64_t b) {
    switch (operator) {
    case OPERATOR_EQ:
        return a == b;
    case OPERATOR_NE:
        return a != b;
    case OPERATOR_LT:
        return a < b;
    case OPERATOR_GT:
        return a > b;
    case OPERATOR_LE:
        return a <= b;
    default:
        return a >= b;
    }
}

static bool holds(const Test *test, const Final *final, int index) {
    const Condition *condition = &test->conditions[index];
    switch (condition->kind) {
    case CONDITION_AND:
        return holds(test, final, condition->first) && holds(test, final, condition->second);
    case CONDITION_OR:
        return holds(test, final, condition->first) || holds(test, final, condition->second);
    case CONDITION_NOT:
        return !holds(test, final, condition->first);
    default:
        return compares(condition->operator, value_of(test, final, &condition->left),
                        value_of(test, final, &condition->right));
    }
}

bool litmus_condition(const Test *test, const Final *final) {
    return holds(test, final, test->condition);
}

/* Memory ends with the value of a write that no other is behind in coherence order; there may be several. */
static bool some_final(const Search *search, const Coherence *coherence, Final *final, int location) {
    const Test *test = search->test;
    if (location == test->place_count) {
        return litmus_condition(test, final) != (test->quantifier == QUANTIFIER_FORALL);
    }
    const Execution *execution = &search->execution;
    bool any = false;
    for (int i = 0; i < execution->count; i++) {
        const Event *event = &execution->events[i];
        bool here = event->kind == EVENT_INIT
                        ? event->place == location
                        : event->kind == EVENT_WRITE && test->places[event->place].location == location;
        if (here && coherence->order.rows[i] == 0) {
            any = true;
            final->memory[location] = event->value;
            if (some_final(search, coherence, final, location + 1)) {
                return true;
            }
        }
    }
    return !any && some_final(search, coherence, final, location + 1);
}

/* ---- Consistent executions ---- */

/* What a thread that spins reads last is what remains: no write is behind it. */
static bool stuck_reads(const Search *search, const Coherence *coherence) {
    const Execution *execution = &search->execution;
    for (int t = 0; t < search->test->thread_count; t++) {
        const Trace *trace = execution->traces[t];
        for (int i = trace->spin; trace->end == END_SPINS && i < trace->count; i++) {
            int event = execution->first[t] + i;
            if (trace->events[i].kind == EVENT_READ && coherence->order.rows[execution->from[event]] != 0) {
                return false;
            }
        }
    }
    return true;
}

static void note_race(Search *search) {
    Verdict *verdict = search->verdict;
    for (int a = 0; a < search->execution.count && !verdict->race; a++) {
        if (search->races.rows[a] != 0) {
            int b = __builtin_ctzll(search->races.rows[a]);
            const Event *first = &search->execution.events[a], *second = &search->execution.events[b];
            verdict->race = true;
            verdict->example = (Race){{first->thread, second->thread}, {first->instruction, second->instruction}};
        }
    }
}

/* Whether the execution could have come step by step: no read before its write, no write before one that it is behind.
 */
static bool in_order(const Execution *execution, const Coherence *coherence) {
    Relation all = coherence->order;
    for (int i = 0; i < execution->count; i++) {
        const Event *event = &execution->events[i];
        bool before = event->kind != EVENT_INIT && i > execution->first[event->thread];
        if (before) {
            all.rows[i - 1] |= UINT64_C(1) << i;
        }
        if (event->kind == EVENT_READ) {
            all.rows[execution->from[i]] |= UINT64_C(1) << i;
        }
    }
    for (int i = 1; i < execution->fence_count; i++) {
        all.rows[execution->fences[i - 1]] |= UINT64_C(1) << execution->fences[i];
    }
    for (int k = 0; k < execution->count; k++) {
        for (int a = 0; a < execution->count; a++) {
            all.rows[a] |= (all.rows[a] >> k & 1) != 0 ? all.rows[k] : 0;
        }
    }
    for (int i = 0; i < execution->count; i++) {
        if ((all.rows[i] >> i & 1) != 0) {
            return false;
        }
    }
    return true;
}

static bool races(const Search *search) {
    for (int i = 0; i < search->execution.count; i++) {
        if (search->races.rows[i] != 0) {
            return true;
        }
    }
    return false;
}

static bool on_consistent(void *context, const Execution *execution, const Coherence *coherence) {
    Search *search = context;
    bool done = true;
    for (int t = 0; t < search->test->thread_count; t++) {
        done = done && execution->traces[t]->end == END_DONE;
    }
    if (!done && !stuck_reads(search, coherence)) {
        return false;
    }
    search->verdict->executions++;
    note_race(search);
    bool open = races(search) && !search->verdict->in_order; /* another coherence order may be in order */
    search->verdict->in_order |= open && in_order(execution, coherence);
    open = open && !search->verdict->in_order;
    if (!done) {
        search->verdict->finishes = false;
        return !open;
    }
    Final final = {.memory = {0}};
    for (int t = 0; t < search->test->thread_count; t++) {
        memcpy(final.registers[t], execution->traces[t]->registers, sizeof final.registers[t]);
    }
    search->reached = search->reached || some_final(search, coherence, &final, 0);
    return search->reached && !open;
}

/* ---- Choices ---- */

static void check(Search *search) {
    model_check(&search->execution, on_consistent, search, &search->races);
}

/* Orders of fence.sc: those of a thread stay in program order. */
static void choose_fences(Search *search, uint64_t left) {
    Execution *execution = &search->execution;
    if (left == 0) {
        check(search);
        return;
    }
    uint64_t threads = 0;
    for (uint64_t i = left; i != 0; i &= i - 1) {
        int fence = __builtin_ctzll(i);
        int thread = execution->events[fence].thread;
        if ((threads >> thread & 1) != 0) {
            continue;
        }
        threads |= UINT64_C(1) << thread;
        execution->fences[execution->fence_count++] = fence;
        choose_fences(search, left & ~(UINT64_C(1) << fence));
        execution->fence_count--;
    }
}

static void start_fences(Search *search) {
    uint64_t fences = 0;
    for (int i = 0; i < search->execution.count; i++) {
        const Event *event = &search->execution.events[i];
        fences |= event->kind == EVENT_FENCE && event->memory && event->order == ORDER_SC ? UINT64_C(1) << i : 0;
    }
    search->execution.fence_count = 0;
    choose_fences(search, fences);
}

static void choose_reads(Search *search, int event) {
    Execution *execution = &search->execution;
    while (event < execution->count && execution->events[event].kind != EVENT_READ) {
        event++;
    }
    if (event == execution->count) {
        start_fences(search);
        return;
    }
    const Event *read = &execution->events[event];
    const Place *places = search->test->places;
    int location = places[read->place].location;
    for (int i = 0; i < execution->count; i++) {
        const Event *write = &execution->events[i];
        bool here = write->kind == EVENT_INIT ? write->place == location
                                              : write->kind == EVENT_WRITE && places[write->place].location == location;
        if (here && write->value == read->value) {
            execution->from[event] = i;
            choose_reads(search, event + 1);
        }
    }
}

/* ---- Barriers ---- */

static const Instruction *code_of(const Search *search, const Event *event) {
    return &search->test->threads[event->thread].code[event->instruction];
}

static bool same_cta(const Test *test, int a, int b) {
    return test->threads[a].cta == test->threads[b].cta && test->threads[a].gpu == test->threads[b].gpu;
}

/* Whether a barrier of a thread that is not come to would be of the same instance and id. */
static bool missing(const Search *search, const Event *event, int thread, const Instruction *code) {
    const Instruction *own = code_of(search, event);
    if (code->code != CODE_BARRIER || code->instance != own->instance || code->named != own->named) {
        return false;
    }
    const Trace *trace = search->execution.traces[thread];
    int64_t id = code->a.is_register ? trace->registers[code->a.value] : code->a.value;
    if (code->named && id != event->value) {
        return false;
    }
    int at = (int)(code - search->test->threads[thread].code);
    for (int i = 0; i < trace->count; i++) {
        if (trace->events[i].kind == EVENT_BARRIER && trace->events[i].instruction == at) {
            return false;
        }
    }
    return true;
}

/* Events that came to the same instance and id as a barrier. */
static uint64_t arrivals(const Search *search, const Event *event) {
    uint64_t made = 0;
    for (int i = 0; i < search->execution.count; i++) {
        const Event *other = &search->execution.events[i];
        if (other->kind == EVENT_BARRIER && same_cta(search->test, event->thread, other->thread) &&
            code_of(search, other)->instance == code_of(search, event)->instance && other->value == event->value) {
            made |= UINT64_C(1) << i;
        }
    }
    return made;
}

static bool passes(const Search *search, const Event *event) {
    if (event->quorum > 0) {
        return __builtin_popcountll(arrivals(search, event)) >= event->quorum;
    }
    for (int t = 0; t < search->test->thread_count; t++) {
        const Thread *thread = &search->test->threads[t];
        for (int i = 0; same_cta(search->test, event->thread, t) && i < thread->count; i++) {
            if (missing(search, event, t, &thread->code[i])) {
                return false;
            }
        }
    }
    return true;
}

/* With a number of threads, that many are waited for, any of those that come; else all. */
static void choose_synced(Search *search, uint64_t open) {
    if (open == 0) {
        choose_reads(search, 0);
        return;
    }
    const Event *event = &search->execution.events[__builtin_ctzll(open)];
    uint64_t group = arrivals(search, event);
    int wanted = event->quorum > 0 ? (int)event->quorum : __builtin_popcountll(group);
    for (uint64_t set = group;; set = (set - 1) & group) {
        if (__builtin_popcountll(set) == wanted) {
            search->execution.synced |= set;
            choose_synced(search, open & ~group);
            search->execution.synced &= ~group;
        }
        if (set == 0) {
            return;
        }
    }
}

/* Threads wait at barriers exactly where not enough have come. */
static void start_barriers(Search *search) {
    Execution *execution = &search->execution;
    uint64_t open = 0;
    for (int t = 0; t < search->test->thread_count; t++) {
        const Trace *trace = execution->traces[t];
        for (int i = 0; i < trace->count; i++) {
            const Event *event = &trace->events[i];
            if (event->kind != EVENT_BARRIER) {
                continue;
            }
            bool waits = trace->end == END_BLOCKED && i + 1 == trace->count;
            bool goes_on = passes(search, event);
            if (!code_of(search, event)->arrive && waits == goes_on) {
                return;
            }
            open |= goes_on ? UINT64_C(1) << (execution->first[t] + i) : 0;
        }
    }
    execution->synced = 0;
    choose_synced(search, open);
}

/* ---- Threads together ---- */

static bool assemble(Search *search) {
    Execution *execution = &search->execution;
    execution->count = 0;
    for (int t = 0; t < search->test->thread_count; t++) {
        const Trace *trace = execution->traces[t];
        execution->first[t] = execution->count;
        if (execution->count + trace->count + MAX_PLACES > MAX_EVENTS) {
            search->verdict->cut = true;
            return false;
        }
        memcpy(&execution->events[execution->count], trace->events, (size_t)trace->count * sizeof *trace->events);
        execution->count += trace->count;
    }
    for (int i = 0; i < search->test->place_count; i++) {
        const Place *place = &search->test->places[i];
        if (place->location == i) {
            execution->events[execution->count++] =
                (Event){.kind = EVENT_INIT, .place = i, .value = place->initial, .partner = -1, .proxy = PROXY_NONE};
        }
    }
    return true;
}

/* Whether every value that is read is written by someone. */
static bool values_fit(const Search *search) {
    const Execution *execution = &search->execution;
    const Place *places = search->test->places;
    for (int i = 0; i < execution->count; i++) {
        const Event *read = &execution->events[i];
        bool found = read->kind != EVENT_READ;
        for (int k = 0; k < execution->count && !found; k++) {
            const Event *write = &execution->events[k];
            int location = places[read->place].location;
            found =
                write->value == read->value &&
                (write->kind == EVENT_INIT ? write->place == location
                                           : write->kind == EVENT_WRITE && places[write->place].location == location);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static void choose_traces(Search *search, int thread) {
    if (thread == search->test->thread_count) {
        if (assemble(search) && values_fit(search)) {
            start_barriers(search);
        }
        return;
    }
    for (int i = 0; i < search->traces[thread].count; i++) {
        search->execution.traces[thread] = &search->traces[thread].all[i];
        choose_traces(search, thread + 1);
    }
}

void litmus_evaluate(const Test *test, Verdict *verdict) {
    Search *search = calloc(1, sizeof *search);
    if (search == NULL) {
        abort();
    }
    *verdict = (Verdict){.finishes = true};
    search->test = test;
    search->verdict = verdict;
    search->execution.test = test;
    litmus_traces(test, search->traces, search->domains);
    choose_traces(search, 0);
    for (int t = 0; t < test->thread_count; t++) {
        verdict->cut |= search->traces[t].cut;
        free(search->traces[t].all);
    }
    verdict->holds = test->quantifier == QUANTIFIER_EXISTS ? search->reached : !search->reached;
    free(search);
}
