/* Which CTAs of a cluster an effect is about: who does it, and in whose memory.
 *
 * Ranks are taken bit by bit. CTAs whose ranks differ only in bits that move nothing in a layout have the same part of
 * it: a copy that is multicast is made by the one of them with these bits clear, for all. That is the same set for each
 * of them, by XOR with its own rank, which is how it is kept. */
#include "machine/tile/compile/program_internal.h"

#include "model/layout/share.h"
#include "model/target/target.h"

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

typedef struct CompileCtaBox {
    int64_t begin[CTAS_RANK], end[CTAS_RANK];
} CompileCtaBox;

/* An access of threads: how the CTAs share out the tensor in registers, and the allocation that the view is of. */
typedef struct Exchange {
    const Share *memory, *tensor;
    const int64_t *view; /* its sizes */
    int64_t axis;        /* of a gather or scatter: along it the coordinates are data; else -1 */
    uint32_t ctas;
} Exchange;

static CompileCtaBox box_of(const Share *share, uint32_t cta) {
    CompileCtaBox box;
    share_box(share, cta, box.begin, box.end);
    return box;
}

static bool narrow(CompileCtaBox *box, const CompileCtaBox *by, unsigned rank) {
    for (unsigned d = 0; d < rank; d++) {
        box->begin[d] = by->begin[d] > box->begin[d] ? by->begin[d] : box->begin[d];
        box->end[d] = by->end[d] < box->end[d] ? by->end[d] : box->end[d];
        if (box->begin[d] >= box->end[d])
            return false;
    }
    return true;
}

/* What a CTA touches in the memory of another, in coordinates of the view; of memory that several have it is the
 * nearest. False: nothing. *whole: all of the view that lies there. */
static bool find_touched(const Exchange *exchange, uint32_t cta, uint32_t other, CompileCtaBox *box, bool *whole) {
    unsigned rank = exchange->tensor->rank;
    CompileCtaBox own = box_of(exchange->tensor, cta), view = {.begin = {0}};
    memcpy(view.end, exchange->view, rank * sizeof *view.end);
    if (exchange->axis >= 0) {
        own.begin[exchange->axis] = 0;
        own.end[exchange->axis] = exchange->view[exchange->axis];
    }
    *box = box_of(exchange->memory, other);
    if ((other ^ cta) & exchange->memory->copies || !narrow(box, &view, rank))
        return false;
    CompileCtaBox theirs = *box;
    if (!narrow(box, &own, rank))
        return false;
    *whole = memcmp(theirs.begin, box->begin, rank * sizeof *box->begin) == 0 &&
             memcmp(theirs.end, box->end, rank * sizeof *box->end) == 0;
    return true;
}

/* Each CTA touches all that some others have of the view, which are the same for each, by XOR. */
static bool find_even_reach(const Exchange *exchange, uint32_t *reach) {
    for (uint32_t cta = 0; cta < exchange->ctas; cta++) {
        uint32_t found = 0;
        for (uint32_t other = 0; other < exchange->ctas; other++) {
            CompileCtaBox box;
            bool whole;
            if (!find_touched(exchange, cta, other, &box, &whole))
                continue;
            if (!whole)
                return false;
            found |= UINT32_C(1) << (other ^ cta);
        }
        if (cta && found != *reach)
            return false;
        *reach = found;
    }
    return *reach != 0;
}

static const ViewPart *keep_box(Compiler *compiler, const CompileCtaBox *box, unsigned rank) {
    ViewPart *part = ARENA_NEW(&compiler->module->arena, ViewPart);
    int64_t *begin = ARENA_ARRAY(&compiler->module->arena, int64_t, rank),
            *end = ARENA_ARRAY(&compiler->module->arena, int64_t, rank);
    *part = (ViewPart){.count = 1, .rank = (uint8_t)rank, .elements = 1, .begin = begin, .end = end};
    for (unsigned d = 0; d < rank; d++) {
        begin[d] = box->begin[d];
        end[d] = box->end[d];
        part->elements *= end[d] - begin[d];
    }
    return part;
}

/* Else what each touches in each, one by one. */
static void find_parts(Compiler *compiler, const Exchange *exchange, CompiledEffect *compiled) {
    const ViewPart **parts =
        ARENA_ARRAY(&compiler->module->arena, const ViewPart *, (size_t)exchange->ctas * exchange->ctas);
    for (uint32_t cta = 0; cta < exchange->ctas; cta++)
        for (uint32_t other = 0; other < exchange->ctas; other++) {
            CompileCtaBox box;
            bool whole;
            if (find_touched(exchange, cta, other, &box, &whole))
                parts[cta * exchange->ctas + other] = keep_box(compiler, &box, exchange->tensor->rank);
        }
    compiled->parts = parts;
}

static bool shares_alike(const Share *a, const Share *b) {
    return memcmp(a->rows, b->rows, sizeof a->rows) == 0 && memcmp(a->moves, b->moves, sizeof a->moves) == 0;
}

/* Whether CTAs that have other rows than each other are told apart by their rank. */
static bool is_cut_along(const Share *share, int64_t dimension) {
    int64_t begin[CTAS_RANK], end[CTAS_RANK];
    share_box(share, 0, begin, end);
    return end[dimension] - begin[dimension] < share->size[dimension];
}

static bool is_about(const Share *share, uint32_t ctas) {
    return share && share->known && UINT32_C(1) << share->ctas == ctas;
}

static bool is_by_registers(const Compiler *compiler, const Effect *effect) {
    return effect_is_local(effect) && effect->space == SPACE_SHARED && (effect->value || effect->gives) &&
           !effect->rank && !compiler->program->ranks_are_programs && compiler->program->ctas > 1 &&
           compiler->program->ctas <= MOST_CTAS;
}

/* False: nothing says how the CTAs share out the tensor or the memory, or they need not. */
static bool find_exchange(Compiler *compiler, const Op *op, const Effect *effect, Exchange *exchange) {
    if (!is_by_registers(compiler, effect))
        return false;
    const Type *memory = type_canonical(compiler->module, effect->on->type);
    *exchange = (Exchange){.memory = share_of_allocation(compiler->module, memory),
                           .tensor = share_of(compiler->module, (effect->value ? effect->value : effect->gives)->type),
                           .axis = -1,
                           .ctas = compiler->program->ctas};
    unsigned rank = exchange->tensor ? exchange->tensor->rank : 0;
    if (!is_about(exchange->memory, exchange->ctas) || !is_about(exchange->tensor, exchange->ctas) ||
        exchange->memory->rank != rank || memory->dim_count < rank)
        return false;
    exchange->view = memory->dims + memory->dim_count - rank;
    if (effect->rows && (!op_integer(op, "axis", &exchange->axis) || exchange->axis < 0 || exchange->axis >= rank))
        return false;
    for (unsigned d = 0; d < rank; d++)
        if (exchange->tensor->size[d] != exchange->view[d] && d != (unsigned)exchange->axis)
            return false;
    return true;
}

bool reach_needs_rows(Compiler *compiler, const Op *op, const Effect *effect) {
    Exchange exchange;
    return effect->rows && find_exchange(compiler, op, effect, &exchange) && exchange.memory->boxes &&
           is_cut_along(exchange.memory, exchange.axis);
}

/* A load or store of threads, where a CTA has another part of the tensor in registers than it has in memory. False:
 * parts that are no boxes. */
static bool reach_by_registers(Compiler *compiler, const Op *op, const Effect *effect, CompiledEffect *compiled) {
    Exchange exchange;
    if (!find_exchange(compiler, op, effect, &exchange))
        return true;
    if (effect->verb == EFFECT_UPDATE) /* of CTAs that have the same part one makes it */
        compiled->leads |= exchange.tensor->copies;
    if (!exchange.memory->boxes || !exchange.tensor->boxes)
        return !effect->rows && shares_alike(exchange.memory, exchange.tensor);
    uint32_t reach = 0;
    if (effect->rows && is_cut_along(exchange.memory, exchange.axis)) {
        compiled->rows = value_register(compiler, effect->rows);
        compiled->axis = (uint8_t)exchange.axis;
    } else if (find_even_reach(&exchange, &reach)) {
        compiled->reach = reach;
    } else {
        find_parts(compiler, &exchange, compiled);
    }
    return true;
}

/* ---- Copies --------------------------------------------------------------------------------------- */

bool is_copy_to_shared(const Effect *effect) {
    return effect->verb == EFFECT_WRITE && effect->space == SPACE_SHARED && effect->helper == HELPER_TMA &&
           effect->done == DONE_TX && !effect->rank && !effect->value && !effect->pair;
}

/* Whether a copy may write to one CTA of a pair and signal the other. */
static bool has_pairs(const Compiler *compiler) {
    const Target *target = target_of(compiler->program->function);
    return target && target->gather;
}

const Landing *find_landings(Compiler *compiler, const Value *view) {
    uint32_t ctas = compiler->program->ctas;
    const Type *type = type_canonical(compiler->module, view->type);
    if (ctas < 2 || ctas > MOST_CTAS || compiler->program->ranks_are_programs)
        return NULL;
    Exchange exchange = {.memory = share_of_allocation(compiler->module, type),
                         .tensor = share_of(compiler->module, view->type),
                         .axis = -1,
                         .ctas = ctas};
    if (!is_about(exchange.memory, ctas) || !is_about(exchange.tensor, ctas) || !exchange.memory->boxes ||
        !exchange.tensor->boxes || exchange.memory->rank != exchange.tensor->rank ||
        type->dim_count < exchange.tensor->rank || shares_alike(exchange.memory, exchange.tensor))
        return NULL;
    exchange.view = type->dims + type->dim_count - exchange.tensor->rank;
    Landing *found = ARENA_ARRAY(&compiler->module->arena, Landing, ctas);
    for (uint32_t cta = 0; cta < ctas; cta++)
        for (uint32_t other = 0; other < ctas; other++) {
            CompileCtaBox box;
            bool whole;
            if (!find_touched(&exchange, cta, other, &box, &whole))
                continue;
            if (found[cta].part)
                return NULL;
            found[cta] = (Landing){keep_box(compiler, &box, exchange.tensor->rank), other ^ cta};
        }
    for (uint32_t cta = 0; cta < ctas; cta++)
        if (!found[cta].part || found[cta].aside > has_pairs(compiler))
            return NULL;
    return found;
}

/* ---- Views ---------------------------------------------------------------------------------------- */

/* Whether that may be done with a view that starts in another CTA: by threads, element by element, which go where it
 * begins, whichever CTA that is in; or by a copy whose box lies in one CTA. */
static bool goes_elsewhere(Compiler *compiler, const Effect *effect) {
    if (is_copy_to_shared(effect))
        return find_landings(compiler, effect->on) != NULL;
    return is_by_registers(compiler, effect) && effect->done == DONE_NOW;
}

/* A wait is told of memory that it makes ready, which its effects do not mention. */
static bool only_mentions(const Op *op, unsigned effects) {
    return effects && !op->result_count && !op->region_count && !op_successor_count(op);
}

/* Whether all that is done with a view can be done in another CTA. Of what an MMA or a copy from shared memory is told
 * only the address is left. */
bool view_may_be_elsewhere(Compiler *compiler, const Value *view) {
    const Op *root = compiler->program->function;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        Effect effects[EFFECTS_MOST];
        bool used = false, known = false;
        for (uint32_t i = 0; i < op->operand_count; i++)
            used |= op->operands[i] == view;
        unsigned count = used ? effects_of(compiler->module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            bool on = effect->on == view, of = effect->verb == EFFECT_VIEW && effect->amount == view;
            if ((on && !goes_elsewhere(compiler, effect)) || (of && !view_may_be_elsewhere(compiler, effect->on)) ||
                effect->through == view)
                return false;
            known |= on || of;
        }
        if (used && !known && op_evaluator(op) == EVALUATE_SELECT && op->result_count == 1)
            known = view_may_be_elsewhere(compiler, &op->results[0]);
        if (used && !known && !only_mentions(op, count))
            return false;
    }
    return true;
}

/* ---- Effects -------------------------------------------------------------------------------------- */

bool compile_reach(Compiler *compiler, const Op *op, const Effect *effect, CompiledEffect *compiled) {
    uint32_t ctas = compiler->program->ctas;
    compiled->leads = 0;
    compiled->reach = 1;
    if (ctas < 2)
        return true;
    bool pair = effect->pair && effect->helper == HELPER_TENSOR;
    if (ctas > MOST_CTAS && (pair || effect->from_some || effect->to_ctas || effect->multicast))
        return false;
    if (effect->helper == HELPER_CLC) { /* the first asks for all; Meta's fork asks which is the first along x */
        const Program *program = compiler->program;
        compiled->leads = (program->ranks_are_programs ? program->cluster[0] : ctas) - 1;
        compiled->reach = span_of(ctas - 1);
        return ctas <= MOST_CTAS;
    }
    compiled->leads = pair;
    compiled->reach = span_of(pair);
    if (effect->multicast)
        return reach_by_layout(compiler, effect, pair, compiled);
    if (!pair && !reach_by_registers(compiler, op, effect, compiled))
        return false;
    if (effect->from_some) {
        compiled->leads = (ctas - 1) & ~(uint32_t)effect->from_ctas;
        compiled->reach = span_of(compiled->leads);
    }
    if (effect->to_ctas)
        compiled->reach |= span_of((uint32_t)effect->to_ctas & (ctas - 1));
    return true;
}
