/* What is pending right before an op, and what that is to the op, in words. */
#include "check/membar/internal.h"

#include "model/names/names.h"

enum { MOST_LINES = 200 };

typedef struct Teller {
    Membar *membar;
    Text *to;
    const Node *node; /* NULL: the op does nothing to memory */
    uint32_t number;
} Teller;

static void say_op(const Teller *teller, const Op *op) {
    text_add_plain(teller->to, op->name);
    text_addf(teller->to, " @%u", op_line(teller->membar->module, op));
}

static void say_buffer(const Teller *teller, const Buffer *buffer) {
    Text *to = teller->to;
    if (buffer->op && !buffer->scratch && buffer->op->result_count) {
        text_addf(to, " of ");
        name_print(teller->membar->module, buffer->op, to);
    } else if (buffer->scratch) {
        text_addf(to, " of its scratch memory");
    } else {
        text_addf(to, buffer->of_caller ? " of memory of the caller" : " of memory that is not known");
    }
    if (buffer->everywhere || buffer->of_caller)
        return;
    int64_t storage = buffer->space == SPACE_TENSOR ? buffer->begin & ~(int64_t)UINT32_MAX : 0;
    text_addf(to, ", %s %lld to %lld", buffer->space == SPACE_TENSOR ? "columns" : "bytes",
              (long long)(buffer->begin - storage), (long long)(buffer->end - storage));
}

static void say_access(const Teller *teller, const Entry *entry) {
    static const char *const kinds[] = {"", "read", "write", "update"}; /* ORDER ACCESS_ bits */
    const Membar *membar = teller->membar;
    const Access *access = &membar->accesses[entry->access];
    if (entry->access == membar->callers) {
        text_addf(teller->to, "whatever a caller did before");
        return;
    }
    text_addf(teller->to, "%s by ", kinds[access->kind]);
    if (access->foreign)
        text_addf(teller->to, "a copy of the caller");
    else
        say_op(teller, access->op);
    say_buffer(teller, &membar->buffers[access->buffer]);
    const Node *since = entry->flying || entry->since == SINCE_UNKNOWN ? NULL : &membar->nodes[entry->since];
    if (since && since->op != access->op && !since->call) {
        text_addf(teller->to, ", over since ");
        say_op(teller, since->op);
    }
    if (membar_is_common(membar, entry))
        text_addf(teller->to, ", or by one of many like it");
    const FlowLoop *loop = membar_loop_around(membar, entry, teller->number);
    if (loop) {
        text_addf(teller->to, ", in an earlier iteration of ");
        say_op(teller, loop->op);
    }
}

static void say_flight(const Teller *teller, const Access *access) {
    if (access->flight == FLIGHT_GROUP)
        text_addf(teller->to, "in flight until its group is waited for: a barrier does not help");
    else
        text_addf(teller->to, "in flight until its mbarrier is waited on, which every thread does: a barrier does "
                              "not help");
}

static void say_meeting(const Teller *teller, const Entry *entry, const Access *second, Meeting meeting) {
    static const char *const hazards[] = {"a read after a write", "a write after a read", "a write after a write"};
    static const char *const apart[] = {
        [MEETING_READS] = "neither writes",
        [MEETING_BYTES] = "they touch no byte in common",
        [MEETING_EXEMPT] = "the target needs no barrier between the two",
        [MEETING_SLICES] = "they are different slices of one allocation",
        [MEETING_SLOTS] = "they are different slots",
    };
    if (meeting == MEETING_CONFLICT)
        text_addf(teller->to, "%s: a barrier is needed here",
                  hazards[membar_hazard_kind(&teller->membar->accesses[entry->access], second)]);
    else
        text_addf(teller->to, "no barrier is needed: %s", apart[meeting]);
}

/* Of all accesses of the op, the one that the entry conflicts with, or the one that comes closest. */
static void say_relation(const Teller *teller, const Entry *entry) {
    Membar *membar = teller->membar;
    const Node *node = teller->node;
    const Access *closest = NULL;
    Meeting meeting = MEETING_BYTES;
    uint32_t first = node->call ? node->call->first_entry : node->first;
    uint32_t count = node->call ? node->call->entry_count : node->count;
    for (uint32_t i = 0; i < count + (node->scratch != 0); i++) {
        const Access *second = &membar->accesses[i < count ? first + i : node->scratch];
        Meeting found = membar_meet(membar, entry, second, teller->number, PASS_THREADS, false);
        if (closest && meeting != MEETING_BYTES && found != MEETING_CONFLICT)
            continue;
        if (meeting == MEETING_CONFLICT && closest)
            break;
        closest = second;
        meeting = found;
    }
    if (closest)
        say_meeting(teller, entry, closest, meeting);
    else
        text_addf(teller->to, "no barrier is needed: the op touches no memory");
}

static void say_entry(const Teller *teller, const Entry *entry) {
    const Membar *membar = teller->membar;
    say_access(teller, entry);
    text_addf(teller->to, ": ");
    if (entry->flying) {
        say_flight(teller, &membar->accesses[entry->access]);
    } else if (entry->tag) {
        text_addf(teller->to, "separated from here by the barrier %s ", entry->tag % 2 ? "at or before" : "after");
        say_op(teller, membar->nodes[(entry->tag - 1) / 2].op);
    } else if (entry->access == membar->callers) {
        text_addf(teller->to, "the caller inserts the barrier, if one is needed");
    } else if (teller->node) {
        say_relation(teller, entry);
    } else {
        text_addf(teller->to, "no barrier is needed: the op touches no memory");
    }
    text_char(teller->to, '\n');
}

/* Where the op stands; false if it is not in the function. */
static bool find_op(const Membar *membar, const Op *op, uint32_t *piece, uint32_t *number) {
    for (uint32_t i = 0; i < membar->flow.piece_count; i++)
        for (uint32_t k = 0; k < membar->flow.pieces[i].count; k++) {
            const FlowOp *at = &membar->flow.ops[membar->flow.pieces[i].first + k];
            if (at->op != op)
                continue;
            *piece = i;
            *number = at->number;
            return true;
        }
    return false;
}

void membar_tell_why(Membar *membar, void *context) {
    const WhyQuestion *question = context;
    Teller teller = {.membar = membar, .to = question->to};
    uint32_t piece;
    Notes notes;
    if (!find_op(membar, question->op, &piece, &teller.number))
        return;
    for (uint32_t i = membar->piece_nodes[piece]; i < membar->piece_nodes[piece + 1]; i++)
        if (membar->nodes[i].number == teller.number)
            teller.node = &membar->nodes[i];
    membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
    const State *state = membar_state_at(membar, PASS_THREADS, piece, teller.number);
    if (!state)
        text_addf(question->to, "no path leads here\n");
    else if (!state->count)
        text_addf(question->to, "nothing is pending here\n");
    for (uint32_t i = 0; state && i < state->count && i < MOST_LINES; i++)
        say_entry(&teller, &state->entries[i]);
    if (state && state->count > MOST_LINES)
        text_addf(question->to, "and %u more\n", state->count - MOST_LINES);
}
