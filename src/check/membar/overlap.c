/* Whether two accesses conflict: one of them writes, they may touch the same bytes, and nothing exempts the pair.
 *
 * Bytes are told apart by where the allocations lie, by the slots of a ring, and by static slices of one allocation. */
#include "base/table.h"
#include "check/membar/internal.h"

enum { MOST_SLOT_QUESTIONS = 1000 * 1000, MOST_PROOFS = 256 };

/* Answers about two indices. */
typedef struct SlotAnswer {
    const Value *first, *second;
    SlotsWay way;
    bool known, differ;
} SlotAnswer;

typedef struct SlotCache {
    SlotAnswer *items;
    uint32_t count, capacity;
} SlotCache;

static bool same_way(const SlotsWay *a, const SlotsWay *b) {
    for (unsigned i = 0; i < SLOTS_ENTERED; i++)
        if (a->entered[i].loop != b->entered[i].loop || a->entered[i].trips != b->entered[i].trips)
            return false;
    return a->around == b->around && a->iterations == b->iterations;
}

static uint32_t question_hash(const SlotAnswer *question) {
    const SlotsWay *way = &question->way;
    uint64_t hash = (uintptr_t)question->first * UINT64_C(0x9e3779b97f4a7c15) ^
                    (uintptr_t)question->second * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                    ((uintptr_t)way->around + (uint64_t)way->iterations) * UINT64_C(0x165667b19e3779f9);
    for (unsigned i = 0; i < SLOTS_ENTERED; i++)
        hash =
            (hash ^ ((uintptr_t)way->entered[i].loop + (uint64_t)way->entered[i].trips)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

TABLE(answers, SlotCache, SlotAnswer, const SlotAnswer *, 64, item->known, item, question_hash(key),
      item->first == key->first && item->second == key->second && same_way(&item->way, &key->way))

/* Triton compares indices of one iteration alone. */
static bool prove(Membar *membar, const SlotAnswer *question, Text *proof) {
    if (membar->model != MEMBAR_ASYNC)
        return slots_differ(membar->slots, question->first, question->second, NULL, SLOTS_PLAIN, proof);
    return slots_differ_on(membar->slots, question->first, question->second, &question->way, proof);
}

static bool ask_slots(Membar *membar, SlotAnswer question) {
    if (!membar->slot_answers)
        membar->slot_answers = ARENA_NEW(membar->arena, SlotCache);
    SlotCache *cache = membar->slot_answers;
    const SlotAnswer *answer = answers_find(cache, &question);
    if (answer)
        return answer->differ;
    if (++membar->slot_work > MOST_SLOT_QUESTIONS)
        return false;
    question.differ = prove(membar, &question, NULL);
    question.known = true;
    *answers_put(membar->arena, cache, &question) = question;
    return question.differ;
}

const FlowLoop *membar_loop_around(const Membar *membar, const Entry *entry, uint32_t number) {
    if (entry->mark < MARK_LOOP)
        return NULL;
    uint32_t loop = entry->mark - MARK_LOOP;
    const FlowLoop *found = &membar->flow.loops[loop];
    return found->first_block || flow_loop_holds(&membar->flow, loop, number) ? found : NULL;
}

/* What is known of the way that the entry took to an op of that number. What is inside a loop that hands out no values
 * cannot be seen outside. */
static SlotsWay way_of(const Membar *membar, const Entry *entry, uint32_t number) {
    const FlowLoop *loops = membar->flow.loops;
    const FlowLoop *around = entry->mark >= MARK_LOOP ? &loops[entry->mark - MARK_LOOP] : NULL;
    SlotsWay way = {0};
    if (around && op_is_control(around->op, CONTROL_TILES))
        around = membar_loop_around(membar, entry, number);
    if (around) {
        way.around = around->op;
        way.iterations = entry->turns < TURNS_MOST ? entry->turns : SLOTS_EVERY;
    }
    for (unsigned i = 0; i < SLOTS_ENTERED && entry->entered[i]; i++)
        way.entered[i] = (SlotsEntered){loops[entry->entered[i] - 1].op, entry->trips[i]};
    return way;
}

static void add_proof(Membar *membar, const Access *first, const Access *second, const SlotAnswer *question) {
    for (uint32_t i = 0; i < membar->proof_count; i++)
        if (membar->proofs[i].first == first->op && membar->proofs[i].second == second->op)
            return;
    if (membar->proof_count == MOST_PROOFS)
        return;
    Text text = {0};
    prove(membar, question, &text);
    const char *copy = arena_copy(&membar->module->arena, text.data, text.size);
    text_free(&text);
    *MEMBAR_PUSH(membar, proofs, proof) = (MembarProof){first->op, second->op, copy};
}

static bool in_other_slots(Membar *membar, const Entry *entry, const Access *first, const Access *second,
                           uint32_t number, bool proof) {
    if (!first->slot || !second->slot || first->buffer != second->buffer)
        return false;
    SlotAnswer question = {.first = first->slot, .second = second->slot};
    bool constant = value_made(first->slot, EVALUATE_CONSTANT) && value_made(second->slot, EVALUATE_CONSTANT);
    if (membar->model == MEMBAR_ASYNC) {
        if ((entry->mark == MARK_STALE && !constant) || !first->ring || first->ring != second->ring)
            return false;
        question.way = way_of(membar, entry, number);
    } else if (entry->mark != MARK_NONE && !constant) { /* Triton forgets indices at a back edge */
        return false;
    }
    if (!ask_slots(membar, question))
        return false;
    if (proof && entry->tag == 0)
        add_proof(membar, first, second, &question);
    return true;
}

/* Static slices of one shape that have no element in common. Triton compares slices of different allocations, too; that
 * is right only where they begin at the same byte. */
static bool in_other_slices(const Membar *membar, const Access *first, const Access *second) {
    const Type *a = first->type, *b = second->type;
    if (!a || !b || !first->offsets || !second->offsets || first->offsets->count != second->offsets->count)
        return false;
    if (a->param_count < 2 || b->param_count < 2 || !str_equal(a->params[1], b->params[1]))
        return false;
    if (membar->model == MEMBAR_ASYNC && (first->buffer != second->buffer || a->element != b->element ||
                                          !str_equal(a->params[a->param_count - 1], b->params[b->param_count - 1])))
        return false;
    for (uint32_t i = 0; i < first->offsets->count; i++) {
        int64_t x = first->offsets->ints[i], y = second->offsets->ints[i];
        if (x + a->dims[i] <= y || y + b->dims[i] <= x)
            return true;
    }
    return false;
}

/* Triton takes every access for one to the whole allocation. */
static bool touch_same_bytes(const Membar *membar, const Access *first, const Access *second) {
    const MembarBuffer *a = &membar->buffers[first->buffer], *b = &membar->buffers[second->buffer];
    if (a->space != b->space)
        return false;
    if (a->everywhere || b->everywhere)
        return true;
    if (a->of_caller || b->of_caller)
        return a->of_caller && b->of_caller;
    if (membar->model != MEMBAR_ASYNC)
        return a->begin < b->end && b->begin < a->end && (a->space != SPACE_TENSOR || (a->rows & b->rows));
    return first->begin < second->end && second->begin < first->end &&
           (a->space != SPACE_TENSOR || (a->rows & b->rows));
}

bool membar_takes_part(const Membar *membar, const Access *access, unsigned passes) {
    Space space = membar->buffers[access->buffer].space;
    return space == SPACE_TENSOR ? passes & PASS_TENSOR : passes & (PASS_SHARED | PASS_CLUSTER);
}

/* Between CTAs only what the allocator put on the same bytes is looked at: who shares a buffer on purpose has barriers
 * for it. */
static bool matters_to_cluster(const Membar *membar, const Access *first, const Access *second) {
    const MembarBuffer *buffer = &membar->buffers[first->buffer];
    return (first->distributed || second->distributed) && (first->buffer != second->buffer || buffer->scratch);
}

MembarOverlap membar_overlap(Membar *membar, const Entry *entry, const Access *second, uint32_t number, unsigned passes,
                             bool proof) {
    const Access *first = &membar->accesses[entry->access];
    if (!((first->kind | second->kind) & ACCESS_WRITE))
        return OVERLAP_READS;
    if (!touch_same_bytes(membar, first, second))
        return OVERLAP_BYTES;
    if ((passes & PASS_CLUSTER) && !matters_to_cluster(membar, first, second))
        return OVERLAP_EXEMPT;
    if (membar_exempt(membar, first, second))
        return OVERLAP_EXEMPT;
    if (in_other_slices(membar, first, second))
        return OVERLAP_SLICES;
    return in_other_slots(membar, entry, first, second, number, proof) ? OVERLAP_SLOTS : OVERLAP_CONFLICT;
}

MembarHazardKind membar_hazard_kind(const Access *first, const Access *second) {
    if ((first->kind & ACCESS_WRITE) && (second->kind & ACCESS_READ))
        return MEMBAR_RAW;
    return (first->kind & ACCESS_READ) && (second->kind & ACCESS_WRITE) ? MEMBAR_WAR : MEMBAR_WAW;
}

MembarHazard membar_hazard(const Membar *membar, const Entry *entry, const Access *second, uint32_t number) {
    const Access *first = &membar->accesses[entry->access];
    const MembarBuffer *a = &membar->buffers[first->buffer], *b = &membar->buffers[second->buffer];
    const FlowLoop *loop = membar_loop_around(membar, entry, number);
    MembarHazard hazard = {.kind = membar_hazard_kind(first, second),
                           .first = first->op,
                           .second = second->op,
                           .space = b->space,
                           .first_buffer = a->op,
                           .second_buffer = b->op,
                           .loop = loop ? loop->op : NULL};
    if (!a->everywhere && !b->everywhere && !a->of_caller) {
        hazard.begin = first->begin > second->begin ? first->begin : second->begin;
        hazard.end = first->end < second->end ? first->end : second->end;
        int64_t storage = b->space == SPACE_TENSOR ? hazard.begin & ~(int64_t)UINT32_MAX : 0;
        hazard.begin -= storage;
        hazard.end -= storage;
    }
    return hazard;
}
