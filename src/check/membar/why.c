/* What is pending right before an op, and what that is to the op, in words. */
#include "check/membar/internal.h"

#include "model/names/names.h"

enum { MOST_LINES = 200 };

typedef struct WhyReporter {
    Membar *membar;
    Text *to;
    const MembarNode *node; /* NULL: the op does nothing to memory */
    uint32_t number;
} WhyReporter;

static void say_op(const WhyReporter *reporter, const Op *op) {
    text_add_plain(reporter->to, op->name);
    text_addf(reporter->to, " @%u", op_line(reporter->membar->module, op));
}

static void say_buffer(const WhyReporter *reporter, const MembarBuffer *buffer) {
    Text *to = reporter->to;
    if (buffer->op && !buffer->scratch && buffer->op->result_count) {
        text_addf(to, " of ");
        name_print(reporter->membar->module, buffer->op, to);
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

static void say_access(const WhyReporter *reporter, const Entry *entry) {
    static const char *const kinds[] = {"", "read", "write", "update"}; /* ORDER ACCESS_ bits */
    const Membar *membar = reporter->membar;
    const Access *access = &membar->accesses[entry->access];
    if (entry->access == membar->callers) {
        text_addf(reporter->to, "whatever a caller did before");
        return;
    }
    text_addf(reporter->to, "%s by ", kinds[access->kind]);
    if (access->foreign)
        text_addf(reporter->to, "a copy of the caller");
    else
        say_op(reporter, access->op);
    say_buffer(reporter, &membar->buffers[access->buffer]);
    const MembarNode *since = entry->flying || entry->since == SINCE_UNKNOWN ? NULL : &membar->nodes[entry->since];
    if (since && since->op != access->op && !since->call) {
        text_addf(reporter->to, ", over since ");
        say_op(reporter, since->op);
    }
    if (membar_is_common(membar, entry))
        text_addf(reporter->to, ", or by one of many like it");
    const FlowLoop *loop = membar_loop_around(membar, entry, reporter->number);
    if (loop) {
        text_addf(reporter->to, ", in an earlier iteration of ");
        say_op(reporter, loop->op);
    }
}

static void say_outstanding(const WhyReporter *reporter, const Access *access) {
    if (access->outstanding == OUTSTANDING_GROUP)
        text_addf(reporter->to, "in flight until its group is waited for: a barrier does not help");
    else
        text_addf(reporter->to, "in flight until its mbarrier is waited on, which every thread does: a barrier does "
                                "not help");
}

static void say_overlap(const WhyReporter *reporter, const Entry *entry, const Access *second, MembarOverlap overlap) {
    static const char *const hazards[] = {"a read after a write", "a write after a read", "a write after a write"};
    static const char *const apart[] = {
        [OVERLAP_READS] = "neither writes",
        [OVERLAP_BYTES] = "they touch no byte in common",
        [OVERLAP_EXEMPT] = "the target needs no barrier between the two",
        [OVERLAP_SLICES] = "they are different slices of one allocation",
        [OVERLAP_SLOTS] = "they are different slots",
    };
    if (overlap == OVERLAP_CONFLICT)
        text_addf(reporter->to, "%s: a barrier is needed here",
                  hazards[membar_hazard_kind(&reporter->membar->accesses[entry->access], second)]);
    else
        text_addf(reporter->to, "no barrier is needed: %s", apart[overlap]);
}

/* Of all accesses of the op, the one that the entry conflicts with, or the one that comes closest. */
static void say_relation(const WhyReporter *reporter, const Entry *entry) {
    Membar *membar = reporter->membar;
    const MembarNode *node = reporter->node;
    const Access *closest = NULL;
    MembarOverlap overlap = OVERLAP_BYTES;
    uint32_t first = node->call ? node->call->first_entry : node->first;
    uint32_t count = node->call ? node->call->entry_count : node->count;
    for (uint32_t i = 0; i < count + (node->scratch != 0); i++) {
        const Access *second = &membar->accesses[i < count ? first + i : node->scratch];
        MembarOverlap found = membar_overlap(membar, entry, second, reporter->number, PASS_THREADS, false);
        if (closest && overlap != OVERLAP_BYTES && found != OVERLAP_CONFLICT)
            continue;
        if (overlap == OVERLAP_CONFLICT && closest)
            break;
        closest = second;
        overlap = found;
    }
    if (closest)
        say_overlap(reporter, entry, closest, overlap);
    else
        text_addf(reporter->to, "no barrier is needed: the op touches no memory");
}

static void say_entry(const WhyReporter *reporter, const Entry *entry) {
    const Membar *membar = reporter->membar;
    say_access(reporter, entry);
    text_addf(reporter->to, ": ");
    if (entry->flying) {
        say_outstanding(reporter, &membar->accesses[entry->access]);
    } else if (entry->tag) {
        text_addf(reporter->to, "separated from here by the barrier %s ", entry->tag % 2 ? "at or before" : "after");
        say_op(reporter, membar->nodes[(entry->tag - 1) / 2].op);
    } else if (entry->access == membar->callers) {
        text_addf(reporter->to, "the caller inserts the barrier, if one is needed");
    } else if (reporter->node) {
        say_relation(reporter, entry);
    } else {
        text_addf(reporter->to, "no barrier is needed: the op touches no memory");
    }
    text_char(reporter->to, '\n');
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

void membar_report_why(Membar *membar, void *context) {
    const WhyQuestion *question = context;
    WhyReporter reporter = {.membar = membar, .to = question->to};
    uint32_t piece;
    Notes notes;
    if (!find_op(membar, question->op, &piece, &reporter.number))
        return;
    for (uint32_t i = membar->piece_nodes[piece]; i < membar->piece_nodes[piece + 1]; i++)
        if (membar->nodes[i].number == reporter.number)
            reporter.node = &membar->nodes[i];
    membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
    const MembarState *state = membar_state_at(membar, PASS_THREADS, piece, reporter.number);
    if (!state)
        text_addf(question->to, "no path leads here\n");
    else if (!state->count)
        text_addf(question->to, "nothing is pending here\n");
    for (uint32_t i = 0; state && i < state->count && i < MOST_LINES; i++)
        say_entry(&reporter, &state->entries[i]);
    if (state && state->count > MOST_LINES)
        text_addf(question->to, "and %u more\n", state->count - MOST_LINES);
}
