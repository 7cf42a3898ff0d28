/* Which CTAs of a cluster an effect is about: who does it, and in whose memory.
 *
 * Ranks are taken bit by bit. CTAs whose ranks differ only in bits that move nothing in a layout have the same part of
 * it: a copy that is multicast is made by the one of them with these bits clear, for all. That is the same set for each
 * of them, by XOR with its own rank, which is how it is kept. */
#include "emulate/program_internal.h"

#include "model/layout/share.h"

enum { MOST_CTAS = 32 };

/* All combinations of the bits: bit k of it is set if k has no others. */
static uint32_t span_of(uint32_t bits) {
    uint32_t span = 1;
    for (uint32_t bit = 1; bit < MOST_CTAS; bit <<= 1)
        if (bits & bit)
            span |= span << bit;
    return span;
}

/* The bits of a rank that make no difference to the part of that memory. */
static bool find_copies(Compiler *compiler, const Value *memory, uint32_t *bits) {
    const Share *share = memory ? share_of(compiler->module, memory->type) : NULL;
    if (!share || !share->known || UINT32_C(1) << share->ctas != compiler->program->ctas)
        return false;
    *bits = share->copies;
    return true;
}

/* A copy is made by one of those that get it; of tensor cores each signals all that it shares an operand with. */
static bool reach_by_layout(Compiler *compiler, const Effect *effect, bool pair, CompiledEffect *compiled) {
    bool commits = effect->helper == HELPER_TENSOR;
    if (!effect->like_count || effect->like_count > EFFECT_MOST_LIKE || compiler->program->ranks_are_programs ||
        (!commits && effect->like_count > 1))
        return false;
    for (uint8_t i = 0; i < effect->like_count; i++) {
        uint32_t bits;
        if (!find_copies(compiler, effect->like[i], &bits))
            return false;
        compiled->reach |= span_of(bits | pair);
        if (!commits)
            compiled->leads = bits;
    }
    return true;
}

/* ---- Registers ------------------------------------------------------------------------------------ */

typedef struct Box {
    int64_t begin[CTAS_RANK], end[CTAS_RANK];
} Box;

static Box box_of(const Share *share, uint32_t cta) {
    Box box;
    share_box(share, cta, box.begin, box.end);
    return box;
}

static bool boxes_meet(const Box *a, const Box *b, unsigned rank) {
    for (unsigned d = 0; d < rank; d++)
        if (a->begin[d] >= b->end[d] || b->begin[d] >= a->end[d])
            return false;
    return true;
}

static bool box_holds(const Box *box, const Box *part, unsigned rank) {
    for (unsigned d = 0; d < rank; d++)
        if (part->begin[d] < box->begin[d] || part->end[d] > box->end[d])
            return false;
    return true;
}

/* In whose memory the part of a tensor lies that a CTA has in registers, by XOR with its rank; of memory that several
 * have it is the nearest. 0: it touches parts of what others have. */
static uint32_t reach_of_part(const Share *memory, const Share *tensor, uint32_t cta, uint32_t ctas) {
    Box own = box_of(tensor, cta);
    uint32_t reach = 0;
    for (uint32_t other = 0; other < ctas; other++) {
        Box theirs = box_of(memory, other);
        if ((other ^ cta) & memory->copies || !boxes_meet(&own, &theirs, tensor->rank))
            continue;
        if (!box_holds(&own, &theirs, tensor->rank))
            return 0;
        reach |= UINT32_C(1) << (other ^ cta);
    }
    return reach;
}

static bool share_is_plain(const Share *share, uint32_t ctas) {
    return share && share->known && share->boxes && UINT32_C(1) << share->ctas == ctas;
}

/* A load or store of threads, where a CTA has another part of the tensor in registers than it has in memory. False: it
 * touches parts of what others have, or each CTA's others are not the same. */
static bool reach_by_registers(Compiler *compiler, const Effect *effect, CompiledEffect *compiled) {
    uint32_t ctas = compiler->program->ctas;
    const Value *data = effect->value ? effect->value : effect->gives;
    if (!effect_is_local(effect) || effect->space != SPACE_SHARED || !data || effect->rows || effect->rank ||
        compiler->program->ranks_are_programs || ctas > MOST_CTAS)
        return true;
    const Share *memory = share_of(compiler->module, effect->on->type);
    const Share *tensor = share_of(compiler->module, data->type);
    if (!share_is_plain(memory, ctas) || !share_is_plain(tensor, ctas) || memory->rank != tensor->rank ||
        memcmp(memory->size, tensor->size, tensor->rank * sizeof *tensor->size) != 0)
        return true;
    compiled->reach = reach_of_part(memory, tensor, 0, ctas);
    for (uint32_t cta = 1; cta < ctas && compiled->reach; cta++)
        if (reach_of_part(memory, tensor, cta, ctas) != compiled->reach)
            compiled->reach = 0;
    bool known = compiled->reach != 0;
    compiled->reach += !known;
    return known;
}

/* ---- Effects -------------------------------------------------------------------------------------- */

bool compile_reach(Compiler *compiler, const Effect *effect, CompiledEffect *compiled) {
    uint32_t ctas = compiler->program->ctas;
    compiled->leads = 0;
    compiled->reach = 1;
    if (ctas < 2)
        return true;
    bool pair = effect->pair && effect->helper == HELPER_TENSOR;
    if (ctas > MOST_CTAS && (pair || effect->from_some || effect->to_ctas || effect->multicast))
        return false;
    if (effect->helper == HELPER_CLC && !compiler->program->ranks_are_programs) { /* the first asks for all */
        compiled->leads = ctas - 1;
        compiled->reach = span_of(ctas - 1);
        return ctas <= MOST_CTAS;
    }
    compiled->leads = pair;
    compiled->reach = span_of(pair);
    if (effect->multicast)
        return reach_by_layout(compiler, effect, pair, compiled);
    if (!pair && !reach_by_registers(compiler, effect, compiled))
        return false;
    if (effect->from_some) {
        compiled->leads = (ctas - 1) & ~(uint32_t)effect->from_ctas;
        compiled->reach = span_of(compiled->leads);
    }
    if (effect->to_ctas)
        compiled->reach |= span_of((uint32_t)effect->to_ctas & (ctas - 1));
    return true;
}
