/* What each wait of a kernel becomes: a number to wait for on a counter, from what was issued since what it is for. */
#include "check/port/internal.h"

#include "ir/op.h"
#include "model/effect/effect.h"

#include <inttypes.h>

/* ---- More than was asked for ---------------------------------------------------------------------- */

static void add_reason(Text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_reason(Text *to, const char *format, ...) {
    va_list arguments;
    text_addf(to, "%s", to->size ? "; " : "");
    va_start(arguments, format);
    text_vaddf(to, format, arguments);
    va_end(arguments);
}

/* Why the number is less than what was issued since, on one path or another. */
static void add_slack(Port *port, AmdQueue queue, Distance distance, Text *to) {
    bool mixed = queue == QUEUE_LOAD && !port->target->store_counter;
    if (distance.high == DISTANCE_NONE)
        add_reason(to, "what it is for is not known on every path: 0 is safe");
    else if (distance.most >= AMD_MANY && mixed)
        add_reason(to, "loads and stores in between also count on vmcnt, by an amount only the compiler knows: it may "
                       "wait for those, too");
    else if (distance.high > distance.low)
        add_reason(to, "in between are %u to %u instructions, depending on access width: the minimum is used",
                   distance.low, distance.high);
    if (distance.high != DISTANCE_NONE && distance.most > distance.high && !(distance.most >= AMD_MANY && mixed)) {
        if (distance.most >= AMD_MANY)
            add_reason(to, "paths differ: on some many more were issued, and are waited for");
        else
            add_reason(to, "paths differ: on the longest %u were issued, of which %u are waited for unnecessarily",
                       distance.most, distance.most - distance.high);
    }
}

/* The number to wait for, as the counter can hold it. */
static void set_count(Port *port, AmdQueue queue, Distance distance, PortWait *wait, Text *more) {
    unsigned limit = amd_counter_limit(queue, port->target);
    wait->counter = amd_counter_name(queue, port->target);
    if (distance_is_none(distance)) {
        add_reason(more, "nothing that it is for was issued on any path before it");
        return;
    }
    wait->count = distance.low;
    add_slack(port, queue, distance, more);
    if (limit && wait->count > limit) {
        add_reason(more, "%s holds at most %u%s: it waits for %" PRId64 " more than it has to", wait->counter, limit,
                   queue == QUEUE_TENSOR ? ", as far as is known" : "", wait->count - limit);
        wait->count = limit;
    }
}

/* ---- Kinds of waits ------------------------------------------------------------------------------- */

/* "all groups of copies", "all but the latest group of copies", "all but the 2 latest groups of copies" */
static const char *all_but(Port *port, int64_t leave, const char *what, const char *of) {
    if (leave == 1)
        return verdict_text(&port->words, "all but the latest %s%s", what, of);
    return leave > 0 ? verdict_text(&port->words, "all but the %" PRId64 " latest %ss%s", leave, what, of)
                     : verdict_text(&port->words, "all %ss%s", what, of);
}

/* Written in the target's own terms and with tokens, it can be held against what those need. */
static void judge(Port *port, const Op *op, const CounterWait *written, PortWait *wait, Text *more) {
    wait->written = written->leave;
    Distance need;
    wait->cover = counter_cover(port->counters, op, written, &need);
    if (wait->cover == PORT_TOO_LITTLE)
        add_reason(more, "%" PRId64 " may be left, but only %u were issued since: it does not wait for them",
                   written->leave, need.high);
    else if (wait->cover == PORT_UNKNOWN)
        add_reason(more, "%" PRId64 " may be left, and %u to %s were issued since: this cannot be decided",
                   written->leave, need.low,
                   need.high >= AMD_MANY ? "many" : verdict_text(&port->words, "%u", need.high));
    else if (wait->cover == PORT_MORE)
        add_reason(more, "%u could be left", need.low);
}

static void wait_for_groups(Port *port, const Op *op, const CounterWait *written, PortWait *wait, Text *more) {
    AmdQueue queue = amd_copy_queue(port->target);
    bool by_tokens = port->native && port->target->async_counter && waits_for_tokens(op);
    wait->asked = by_tokens ? "what its tokens stand for" : all_but(port, written->leave, "group", " of copies");
    set_count(port, queue,
              by_tokens ? distance_of_tokens(port->counters, op, queue)
                        : distance_of_group(port->counters, op, (uint64_t)written->leave, queue),
              wait, more);
    if (port->native && !port->target->async_counter && waits_for_tokens(op))
        judge(port, op, written, wait, more);
}

static void wait_for_stores(Port *port, const Op *op, const CounterWait *written, PortWait *wait, Text *more) {
    wait->asked = all_but(port, written->leave, "store", " of tiles");
    if (!port->target->tensor_counter) {
        add_reason(more, "there is no tensor data mover: store from registers, which needs no such wait");
        return;
    }
    set_count(port, QUEUE_TENSOR, distance_of_store(port->counters, op, (uint64_t)written->leave, QUEUE_TENSOR), wait,
              more);
    if (op_attr(op, "read_only"))
        add_reason(more, "it only needs the sources to be read, and waits for the whole stores");
}

static void wait_for_stage(Port *port, const Op *op, PortWait *wait, Text *more) {
    unsigned left = 0;
    wait->asked = "the phase of a barrier";
    if (!port->target->lds_barriers) {
        add_reason(more, "there is no barrier object to wait on: use s_barrier, with one stage in flight");
        return;
    }
    Distance distance = distance_of_stage(port->counters, op, &left);
    if (distance_is_none(distance)) {
        add_reason(more, "other waves issue what it waits for, and counters are per wave: only the LDS barrier can "
                         "be waited on");
        return;
    }
    set_count(port, QUEUE_TENSOR, distance, wait, more);
    add_reason(more,
               "this instead of an LDS barrier, if the waves that issue the copies execute s_barrier after it; %u "
               "stage%s stay%s in flight",
               left, left == 1 ? "" : "s", left == 1 ? "s" : "");
}

static void wait_as_written(Port *port, const Op *op, const CounterWait *written, PortWait *wait, Text *more) {
    bool moves = written->queue == QUEUE_MOVES;
    AmdQueue queue = moves ? QUEUE_TENSOR : written->queue;
    if (waits_for_tokens(op)) {
        wait->asked = "what its tokens stand for";
        set_count(port, queue, distance_of_tokens(port->counters, op, queue), wait, more);
        judge(port, op, written, wait, more);
    } else if (moves) {
        wait->asked = all_but(port, written->leave, "op", " of the tensor data mover");
        set_count(port, queue, distance_of_store(port->counters, op, (uint64_t)written->leave, queue), wait, more);
    } else {
        wait->asked = all_but(port, written->leave, "instruction", "");
        wait->counter = amd_counter_name(queue, port->target);
        wait->count = written->leave;
    }
}

static bool waits_for_phase(const Port *port, const Op *op) {
    Effect effects[EFFECTS_MOST];
    const Effect *wait = effects_find(effects, effects_of(port->module, op, effects), EFFECT_WAIT);
    return wait && wait->side == SIDE_NONE;
}

bool port_wait(Port *port, const Op *op, PortWait *wait) {
    CounterWait written = counter_wait_of(op, port->target);
    Text more = {0};
    *wait = (PortWait){.counter = "", .asked = "", .count = -1, .written = -1};
    if (written.queue == QUEUE_GROUPS)
        wait_for_groups(port, op, &written, wait, &more);
    else if (written.queue == QUEUE_MOVES && op_has_effect(port->module, op, EFFECT_AWAIT, GROUP_TMA_STORE))
        wait_for_stores(port, op, &written, wait, &more);
    else if (waits_for_phase(port, op) && *op->row->ptx) /* and AMD has nothing like it */
        wait_for_stage(port, op, wait, &more);
    else if (written.queue != QUEUE_NONE)
        wait_as_written(port, op, &written, wait, &more);
    else
        return false;
    wait->more = text_keep(&more, port->words.arena);
    return true;
}
