/* Runs each thread of a litmus test by itself: a read gives every value that its location may hold. */
#include "litmus.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VISITS = 3, MAX_SEEN = 48 }; /* a label is come to so often; labels that are remembered */

/* A label that was come to. */
typedef struct Seen {
    int code, event;
    int64_t registers[MAX_REGISTERS];
} Seen;

typedef struct Run {
    const Test *test;
    int thread, pc;
    Trace trace;
    uint64_t sources[MAX_REGISTERS]; /* reads that each register's value comes from */
    uint64_t control;                /* reads that decided branches so far */
    Seen seen[MAX_SEEN];
    int seen_count;
} Run;

static void trace_keep(Traces *to, const Run *run, End end, int spin) {
    if (to->count == to->capacity) {
        to->capacity = to->capacity == 0 ? 64 : to->capacity * 2;
        to->all = realloc(to->all, (size_t)to->capacity * sizeof *to->all);
        if (to->all == NULL) {
            abort();
        }
    }
    Trace *made = &to->all[to->count++];
    *made = run->trace;
    made->end = end;
    made->spin = spin;
}

static int64_t calculate(Operator operator, int64_t a, int64_t b) {
    switch (operator) {
    case OPERATOR_ADD:
        return a + b;
    case OPERATOR_SUB:
        return a - b;
    case OPERATOR_MUL:
        return a * b;
    case OPERATOR_DIV:
        return b == 0 ? 0 : a / b;
    case OPERATOR_AND:
        return a & b;
    case OPERATOR_OR:
        return a | b;
    case OPERATOR_XOR:
        return a ^ b;
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
    case OPERATOR_GE:
        return a >= b;
    case OPERATOR_ALWAYS:
        return 1;
    case OPERATOR_EXCHANGE:
        return b;
    default:
        return a;
    }
}

static int64_t operand_value(const Run *run, Operand operand) {
    return operand.is_register ? run->trace.registers[operand.value] : operand.value;
}

static uint64_t operand_sources(const Run *run, Operand operand) {
    return operand.is_register ? run->sources[operand.value] : 0;
}

static Event *event_add(Run *run, const Instruction *code, EventKind kind) {
    Event *made = &run->trace.events[run->trace.count++];
    *made = (Event){.kind = kind,
                    .thread = run->thread,
                    .instruction = (int)(code - run->test->threads[run->thread].code),
                    .order = code->order,
                    .scope = code->scope,
                    .proxy = code->proxy,
                    .place = code->place,
                    .partner = -1,
                    .depends = run->control};
    return made;
}

static void step(Run *run, const Domain *domains, Traces *to);

static void step_next(const Run *run, const Domain *domains, Traces *to) {
    Run next = *run;
    next.pc++;
    step(&next, domains, to);
}

/* An atomic access is a read and a write. */
static Order read_order(const Instruction *code) {
    if (code->code == CODE_LOAD) {
        return code->order;
    }
    return code->order == ORDER_ACQUIRE || code->order == ORDER_ACQ_REL ? ORDER_ACQUIRE : ORDER_RELAXED;
}

static Order write_order(const Instruction *code) {
    if (code->code == CODE_STORE) {
        return code->order;
    }
    return code->order == ORDER_RELEASE || code->order == ORDER_ACQ_REL ? ORDER_RELEASE : ORDER_RELAXED;
}

static void write_event(Run *run, const Instruction *code, int64_t value, uint64_t data) {
    Event *made = event_add(run, code, EVENT_WRITE);
    made->order = write_order(code);
    made->value = value;
    made->data = data;
    made->depends |= data;
}

/* The second half of an atomic access that read `old`. */
static void atomic_write(Run *run, const Instruction *code, int64_t old, uint64_t read) {
    int64_t a = operand_value(run, code->a);
    uint64_t data = operand_sources(run, code->a);
    int64_t value = calculate(code->operator, old, a);
    if (code->operator== OPERATOR_CAS) {
        value = old == a ? operand_value(run, code->b) : old;
        data |= operand_sources(run, code->b);
    }
    write_event(run, code, value, code->operator== OPERATOR_EXCHANGE ? data : data | read);
    int write = run->trace.count - 1;
    run->trace.events[write].partner = write - 1;
    run->trace.events[write - 1].partner = write;
}

static void step_read(const Run *run, const Instruction *code, const Domain *domains, Traces *to) {
    const Domain *domain = &domains[run->test->places[code->place].location];
    for (int i = 0; i < domain->count; i++) {
        Run next = *run;
        Event *made = event_add(&next, code, EVENT_READ);
        made->order = read_order(code);
        made->value = domain->values[i];
        uint64_t read = UINT64_C(1) << (next.trace.count - 1);
        if (code->code != CODE_LOAD) {
            atomic_write(&next, code, domain->values[i], read);
        }
        if (code->target >= 0) {
            next.trace.registers[code->target] = domain->values[i];
            next.sources[code->target] = read;
        }
        next.pc++;
        step(&next, domains, to);
    }
}

static int label_place(const Thread *thread, int label) {
    for (int i = 0; i < thread->count; i++) {
        if (thread->code[i].code == CODE_LABEL && thread->code[i].label == label) {
            return i;
        }
    }
    return thread->count; /* the end */
}

/* Whether the instruction at `at` is inside a loop: some branch behind it goes back before it. */
static bool in_loop(const Thread *thread, int at) {
    for (int i = at; i < thread->count; i++) {
        if (thread->code[i].code == CODE_BRANCH && label_place(thread, thread->code[i].label) <= at) {
            return true;
        }
    }
    return false;
}

/* Whether the loop that begins at a label computes something. */
static bool counts(const Thread *thread, int label) {
    for (int i = label; i < thread->count && in_loop(thread, i); i++) {
        if (thread->code[i].code == CODE_MOVE) {
            return true;
        }
    }
    return false;
}

static bool quiet_since(const Trace *trace, int event) {
    for (int i = event; i < trace->count; i++) {
        if (trace->events[i].kind != EVENT_READ && trace->events[i].kind != EVENT_FENCE) {
            return false;
        }
    }
    return true;
}

/* A thread that comes to a label again as it was, and has written nothing since, may do so forever. */
static void step_label(const Run *run, const Domain *domains, Traces *to) {
    int visits = 0, last = 0;
    for (int i = 0; i < run->seen_count; i++) {
        const Seen *seen = &run->seen[i];
        if (seen->code != run->pc) {
            continue;
        }
        visits++;
        last = seen->event;
        if (memcmp(seen->registers, run->trace.registers, sizeof seen->registers) == 0 &&
            quiet_since(&run->trace, seen->event)) {
            trace_keep(to, run, END_SPINS, seen->event);
        }
    }
    if (visits == MAX_VISITS || run->seen_count == MAX_SEEN) {
        /* A round that only reads can be left out of an execution; one that writes, or counts, cannot. */
        to->cut |= !quiet_since(&run->trace, last) || counts(&run->test->threads[run->thread], run->pc);
        return;
    }
    Run next = *run;
    Seen *seen = &next.seen[next.seen_count++];
    seen->code = run->pc;
    seen->event = run->trace.count;
    memcpy(seen->registers, run->trace.registers, sizeof seen->registers);
    next.pc++;
    step(&next, domains, to);
}

static void step_branch(const Run *run, const Instruction *code, const Domain *domains, Traces *to) {
    Run next = *run;
    next.control |= operand_sources(run, code->a) | operand_sources(run, code->b);
    bool taken = calculate(code->operator, operand_value(run, code->a), operand_value(run, code->b)) != 0;
    next.pc = taken ? label_place(&run->test->threads[run->thread], code->label) : run->pc + 1;
    step(&next, domains, to);
}

static void step_barrier(const Run *run, const Instruction *code, const Domain *domains, Traces *to) {
    Run next = *run;
    Event *made = event_add(&next, code, EVENT_BARRIER);
    made->value = code->named ? operand_value(run, code->a) : -1;
    made->quorum = code->quorum ? operand_value(run, code->b) : 0;
    if (!code->arrive) {
        trace_keep(to, &next, END_BLOCKED, 0);
    }
    next.pc++;
    step(&next, domains, to);
}

static void step(Run *run, const Domain *domains, Traces *to) {
    const Thread *thread = &run->test->threads[run->thread];
    if (run->pc == thread->count) {
        trace_keep(to, run, END_DONE, 0);
        return;
    }
    if (run->trace.count + 2 > MAX_TRACE) {
        to->cut = true;
        return;
    }
    const Instruction *code = &thread->code[run->pc];
    Run next = *run;
    switch (code->code) {
    case CODE_LABEL:
        step_label(run, domains, to);
        return;
    case CODE_LOAD:
    case CODE_ATOM:
    case CODE_RED:
        step_read(run, code, domains, to);
        return;
    case CODE_BRANCH:
        step_branch(run, code, domains, to);
        return;
    case CODE_BARRIER:
        step_barrier(run, code, domains, to);
        return;
    case CODE_STORE:
        write_event(&next, code, operand_value(run, code->a), operand_sources(run, code->a));
        break;
    case CODE_MOVE:
        next.trace.registers[code->target] =
            calculate(code->operator, operand_value(run, code->a), operand_value(run, code->b));
        next.sources[code->target] = operand_sources(run, code->a) | operand_sources(run, code->b);
        break;
    default: {
        Event *made = event_add(&next, code, EVENT_FENCE);
        made->memory = code->code == CODE_FENCE;
        made->alias = code->code == CODE_FENCE_ALIAS;
    }
    }
    step_next(&next, domains, to);
}

/* ---- Values ---- */

static int domain_find(const Domain *domain, int64_t value) {
    for (int i = 0; i < domain->count; i++) {
        if (domain->values[i] == value) {
            return i;
        }
    }
    return -1;
}

static bool domain_add(Domain *domain, int64_t value, int depth) {
    int at = domain_find(domain, value);
    if (at >= 0) {
        bool better = depth < domain->depth[at];
        domain->depth[at] = better ? depth : domain->depth[at];
        return better;
    }
    if (domain->count == 48) {
        return false;
    }
    domain->values[domain->count] = value;
    domain->depth[domain->count++] = depth;
    return true;
}

/* How many writes to its own location a write's value needs, itself among them: those that it was made from one after
 * the other. */
static int write_depth(const Test *test, const Trace *trace, const Event *write, const Domain *domain) {
    int depth = 0;
    for (int i = 0; i < trace->count; i++) {
        const Event *read = &trace->events[i];
        if ((write->data >> i & 1) != 0 && test->places[read->place].location == test->places[write->place].location) {
            int needed = domain->depth[domain_find(domain, read->value)];
            depth = needed > depth ? needed : depth;
        }
    }
    return depth + 1;
}

/* How many writes to each location there can be in an execution. */
static void count_writes(const Test *test, int writes[MAX_PLACES]) {
    memset(writes, 0, MAX_PLACES * sizeof *writes);
    for (int t = 0; t < test->thread_count; t++) {
        for (int i = 0; i < test->threads[t].count; i++) {
            const Instruction *code = &test->threads[t].code[i];
            if (code->code == CODE_STORE || code->code == CODE_ATOM || code->code == CODE_RED) {
                writes[test->places[code->place].location] += in_loop(&test->threads[t], i) ? MAX_VISITS : 1;
            }
        }
    }
}

static bool domains_grow(const Test *test, const Traces *traces, const int *writes, Domain *domains) {
    bool grown = false;
    for (int i = 0; i < traces->count; i++) {
        const Trace *trace = &traces->all[i];
        for (int k = 0; k < trace->count; k++) {
            const Event *event = &trace->events[k];
            if (event->kind != EVENT_WRITE) {
                continue;
            }
            int location = test->places[event->place].location;
            int depth = write_depth(test, trace, event, &domains[location]);
            if (depth <= writes[location] && domain_add(&domains[location], event->value, depth)) {
                grown = true;
            }
        }
    }
    return grown;
}

void litmus_traces(const Test *test, Traces traces[MAX_THREADS], Domain domains[MAX_PLACES]) {
    int writes[MAX_PLACES], total = 0;
    count_writes(test, writes);
    for (int i = 0; i < test->place_count; i++) {
        int location = test->places[i].location;
        domains[i].count = 0;
        domain_add(&domains[i], test->places[location].initial, 0);
        total += writes[i];
    }
    bool grown = true;
    for (int round = 0; grown && round <= total; round++) {
        grown = false;
        for (int t = 0; t < test->thread_count; t++) {
            traces[t].count = 0;
            traces[t].cut = false;
            Run run = {.test = test, .thread = t};
            memcpy(run.trace.registers, test->threads[t].initial, sizeof run.trace.registers);
            step(&run, domains, &traces[t]);
        }
        for (int t = 0; t < test->thread_count; t++) {
            grown |= domains_grow(test, &traces[t], writes, domains);
        }
    }
}
