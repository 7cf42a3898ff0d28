/* States of the exact mode: counted references, and lists that share their tails. */
#include "engine/hb/gsan_exact.h"

enum { SHORT_LIST = 16, MOST_TRIES = 8 };

void *gsan_shadow_take(Gsan *gsan, size_t size) {
    gsan->shadow_bytes += size;
    return gsan_pool_take(&gsan->pool, size);
}

void gsan_shadow_give(Gsan *gsan, void *memory, size_t size) {
    gsan->shadow_bytes -= memory ? size : 0;
    gsan_pool_give(&gsan->pool, memory, size);
}

/* ---- Tickets ---- */

/* It is over, and no cell names it any more. */
void gsan_ticket_drop(Gsan *gsan, Ticket *ticket) {
    if (!ticket->done || ticket->records)
        return;
    for (Completion *at = ticket->completion.next, *next; at; at = next) {
        next = at->next;
        gsan_pool_give(&gsan->pool, at, sizeof *at);
    }
    gsan->tickets[ticket->number - 1] = NULL;
    gsan_pool_give(&gsan->pool, ticket, sizeof *ticket);
}

/* ---- Lists ---- */

Node *gsan_list_share(Node *list) {
    if (list)
        list->references++;
    return list;
}

void gsan_list_drop(Gsan *gsan, Node *list) {
    while (list && !--list->references) {
        Node *next = list->next;
        Ticket *ticket = list->record.ticket;
        gsan_shadow_give(gsan, list, sizeof *list);
        if (ticket) {
            ticket->records--;
            gsan_ticket_drop(gsan, ticket);
        }
        list = next;
    }
}

Node *gsan_list_add(Gsan *gsan, const GsanExactRecord *record, Node *next) {
    Node *node = gsan_shadow_take(gsan, sizeof *node);
    *node = (Node){.references = 1,
                   .length = 1,
                   .limit = SHORT_LIST,
                   .device = record->thread->device,
                   .narrowest = record->scope,
                   .is_one_place = true,
                   .next = gsan_list_share(next),
                   .record = *record};
    if (record->ticket)
        record->ticket->records++;
    if (!next)
        return node;
    node->length += next->length;
    node->limit = next->limit;
    node->device = node->device == next->device ? node->device : UINT32_MAX;
    node->narrowest = node->narrowest < next->narrowest ? node->narrowest : next->narrowest;
    node->is_one_place =
        next->is_one_place && next->record.place == record->place && next->record.bytes == record->bytes;
    return node;
}

Node *gsan_list_put(Gsan *gsan, const GsanExactRecord *record, Node *list) {
    Node *longer = gsan_list_add(gsan, record, list);
    gsan_list_drop(gsan, list);
    return longer;
}

bool gsan_weak_stands_for(void *context, const GsanExactRecord *newer, const GsanExactRecord *older) {
    (void)context;
    return newer->thread == older->thread && !newer->ticket && !older->ticket && newer->epoch >= older->epoch;
}

bool gsan_is_same_time(const GsanExactRecord *a, const GsanExactRecord *b) {
    return a->thread == b->thread && a->ticket == b->ticket && a->epoch == b->epoch;
}

bool gsan_strong_stands_for(void *context, const GsanExactRecord *newer, const GsanExactRecord *older) {
    return gsan_weak_stands_for(context, newer, older) && newer->place == older->place &&
           newer->bytes == older->bytes && older->scope >= newer->scope;
}

/* ---- Looking through a list ---- */

/* A record that stays; `same`: one more than the index of the next older that stays, of the same thread. */
typedef struct GsanStateKept {
    GsanExactRecord record;
    uint32_t same;
} GsanStateKept;

/* A ticket that only its own thread has waited for is nothing but an access of that thread. */
static GsanExactRecord plain_record(const GsanExactRecord *record) {
    GsanExactRecord plain = *record;
    const Ticket *ticket = record->ticket;
    if (ticket && ticket->done && !ticket->completion.next && ticket->completion.thread == ticket->thread) {
        plain.ticket = NULL;
        plain.epoch = ticket->completion.epoch;
    }
    return plain;
}

/* One that is kept although another one stands for it does no harm. */
static bool has_newer(const Gsan *gsan, const GsanStateKept *kept, const GsanExactRecord *record,
                      RecordPairTest *stands_for, void *context) {
    uint32_t tries = 0;
    for (uint32_t at = gsan->marks[record->thread->number].kept; at && tries < MOST_TRIES; at = kept[at - 1].same) {
        if (stands_for(context, &kept[at - 1].record, record))
            return true;
        tries++;
    }
    return false;
}

uint32_t gsan_list_limit(uint32_t length) {
    return 2 * length + SHORT_LIST;
}

void gsan_make_marks(Gsan *gsan) {
    if (gsan->mark_capacity >= gsan->thread_count)
        return;
    gsan_pool_give(&gsan->pool, gsan->marks, gsan->mark_capacity * sizeof *gsan->marks);
    gsan->marks = gsan_pool_take(&gsan->pool, gsan->thread_capacity * sizeof *gsan->marks);
    gsan->mark_capacity = gsan->thread_capacity;
}

Node *gsan_list_compact(Gsan *gsan, const Node *list, RecordTest *is_needless, RecordPairTest *stands_for,
                        void *context) {
    if (!list)
        return NULL;
    gsan_make_marks(gsan);
    uint32_t length = list->length, count = 0;
    GsanStateKept *kept = gsan_pool_take(&gsan->pool, length * sizeof *kept);
    for (const Node *at = list; at; at = at->next) {
        GsanExactRecord record = plain_record(&at->record);
        if (is_needless(context, &record) || has_newer(gsan, kept, &record, stands_for, context))
            continue;
        uint32_t *mark = &gsan->marks[record.thread->number].kept;
        kept[count] = (GsanStateKept){record, *mark};
        *mark = ++count;
    }
    Node *result = NULL;
    for (uint32_t i = count; i--;) {
        gsan->marks[kept[i].record.thread->number].kept = 0;
        result = gsan_list_put(gsan, &kept[i].record, result);
    }
    if (result)
        result->limit = gsan_list_limit(count);
    gsan_pool_give(&gsan->pool, kept, length * sizeof *kept);
    return result;
}

/* ---- States ---- */

GsanExactState *gsan_state_new(Gsan *gsan) {
    GsanExactState *state = gsan_shadow_take(gsan, sizeof *state);
    state->references = 1;
    return state;
}

void gsan_state_take(GsanExactState *state, uint64_t count) {
    if (state)
        state->references += count;
}

void gsan_state_give(Gsan *gsan, GsanExactState *state, uint64_t count) {
    if (!state || (state->references -= count))
        return;
    for (int i = 0; i < LISTS; i++)
        gsan_list_drop(gsan, state->lists[i]);
    gsan_release_drop(gsan, state->release);
    gsan_shadow_give(gsan, state, sizeof *state);
}
