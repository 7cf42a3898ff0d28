/* Gathers and scatters of threads in memory of which the CTAs of a cluster share out the rows: in whose memory an
 * element lies follows from its row, which is data. Where the rows are known, so are the elements, one by one. */
#include "machine/tile/step/machine_internal.h"

#include "ir/memo.h"
#include "model/layout/share.h"

enum { MOST_GATHERED = 1 << 14 /* elements of a CTA */ };

typedef struct GatherKept {
    struct GatherKept *next;
    ViewPart part;
} GatherKept;

/* What is known of all gathers from views of one type. */
typedef struct Gathered {
    GatherKept *kept; /* parts that were found before: observers know them by their address */
    int64_t *places;  /* [MOST_GATHERED][rank] of one gather: its elements, */
    int64_t *chosen;  /* those of them that lie in one CTA, */
    uint8_t *holders; /* and the CTA of each */
} Gathered;

static Gathered *gathered_from(Module *module, const Type *type, unsigned rank) {
    bool fresh;
    Gathered *gathered = module_memo(module, "rows", type, sizeof *gathered, &fresh);
    if (fresh) {
        gathered->places = ARENA_ARRAY(&module->arena, int64_t, MOST_GATHERED * rank);
        gathered->chosen = ARENA_ARRAY(&module->arena, int64_t, MOST_GATHERED * rank);
        gathered->holders = ARENA_ARRAY(&module->arena, uint8_t, MOST_GATHERED);
    }
    return gathered;
}

static const ViewPart *keep_part(Module *module, Gathered *gathered, uint32_t count, unsigned rank) {
    size_t size = (size_t)count * rank;
    for (const GatherKept *kept = gathered->kept; kept; kept = kept->next)
        if (kept->part.count == count && memcmp(kept->part.begin, gathered->chosen, size * sizeof(int64_t)) == 0)
            return &kept->part;
    int64_t *begin = ARENA_ARRAY(&module->arena, int64_t, size), *end = ARENA_ARRAY(&module->arena, int64_t, size);
    for (size_t i = 0; i < size; i++) {
        begin[i] = gathered->chosen[i];
        end[i] = begin[i] + 1;
    }
    GatherKept *kept = ARENA_NEW(&module->arena, GatherKept);
    *kept =
        (GatherKept){.next = gathered->kept,
                     .part = {.count = count, .rank = (uint8_t)rank, .elements = count, .begin = begin, .end = end}};
    gathered->kept = kept;
    return &kept->part;
}

/* The elements that a CTA touches, and whose memory they lie in. False: a row is outside, or there are too many. */
static bool find_elements(const Machine *machine, const Event *event, const Tensor *rows, Gathered *gathered,
                          uint32_t *count) {
    Module *module = machine->program->module;
    const Effect *what = &event->effect->effect;
    const Type *type = type_canonical(module, event->effect->type);
    const Share *memory = share_of_allocation(module, type);
    const Share *tensor = share_of(module, (what->value ? what->value : what->gives)->type);
    uint32_t cta = agent_cta(machine, event->agent);
    unsigned rank = tensor->rank, axis = event->effect->axis;
    int64_t begin[CTAS_RANK], end[CTAS_RANK], at[CTAS_RANK], most = type->dims[type->dim_count - rank + axis];
    share_box(tensor, cta, begin, end);
    memcpy(at, begin, sizeof at);
    for (*count = 0; at[0] < end[0]; (*count)++) {
        if (*count == MOST_GATHERED)
            return false;
        int64_t *place = &gathered->places[*count * rank];
        memcpy(place, at, rank * sizeof *place);
        place[axis] = (int64_t)integer_unsigned(tensor_at(rows, at), rows->width);
        if (place[axis] >= most)
            return false;
        gathered->holders[*count] = (uint8_t)(share_holder(memory, place) | (cta & memory->copies));
        for (unsigned d = rank; d-- > 0 && ++at[d] == end[d] && d > 0;)
            at[d] = begin[d];
    }
    return true;
}

StepResult gather_access(Machine *machine, Event *event) {
    Module *module = machine->program->module;
    const Effect *what = &event->effect->effect;
    Word word = machine_words(machine, event->agent)[event->effect->rows], view = event->view;
    const Share *tensor = share_of(module, (what->value ? what->value : what->gives)->type);
    uint32_t count;
    Gathered *gathered = gathered_from(module, event->effect->type, tensor->rank);
    if (!word_is(word, WORD_TENSOR) || !word.tensor->known || word.tensor->rank != tensor->rank ||
        !find_elements(machine, event, word.tensor, gathered, &count)) {
        event->view = word_unknown((uint64_t)word.bits); /* it may be that of any CTA */
        machine_emit(machine, event);
        return STEP_DONE;
    }
    for (uint32_t other = 0; other < machine->program->ctas; other++) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            if (gathered->holders[i] == other)
                memcpy(&gathered->chosen[found++ * tensor->rank], &gathered->places[i * tensor->rank],
                       tensor->rank * sizeof *gathered->chosen);
        if (!found)
            continue;
        event->toward = other ^ agent_cta(machine, event->agent);
        event->view = view_toward(view, event->toward);
        event->part = keep_part(module, gathered, found, tensor->rank);
        machine_emit(machine, event);
    }
    return STEP_DONE;
}
