/* What stores store, where two threads may write the same bytes of shared memory: compilers let threads that hold the
 * same data store it all, and only the values say whether it is the same.
 *
 * Where it is proven that no two threads of a CTA write the same bytes by the instruction, nothing is recorded; nor
 * where what is stored is written in the instruction. */
#include "base/order.h"
#include "instrument/internal.h"

#include <stdlib.h>

/* ---- Which stores ------------------------------------------------------------------------------------------ */

ORDER_NUMBERS(by_number, uint64_t)

/* Whether a thread is known not to take part: by a guard that depends on nothing but its number. */
static bool is_out(const FunctionAnalysis *analysis, const PtxStatement *statement, const Form *guard,
                   uint32_t thread) {
    if (!(statement->flags & PTX_GUARDED) || !form_based_on_constant(guard))
        return false;
    bool holds = (guard->ones + form_offset(&analysis->values, guard, thread)) & 1;
    return holds == ((statement->flags & PTX_NEGATED) != 0);
}

bool made_alone(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    const PtxBlockShape *shape = &analysis->values.shape;
    uint32_t threads = analysis->shaped ? shape->x * shape->y * shape->z : 0, lanes = 0;
    Form guard = statement->flags & PTX_GUARDED ? ptx_operand_form(&analysis->values, statement->first) : form_any(1);
    if (!threads || guard.assumes)
        return false;
    for (uint32_t i = 0; i < threads && lanes < 2; i++)
        lanes = (i % RECORD_LANES ? lanes : 0) + !is_out(analysis, statement, &guard, i);
    return lanes < 2;
}

const uint32_t *known_lanes(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t *count, Arena *arena) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    const PtxBlockShape *shape = &analysis->values.shape;
    if (!(statement->flags & PTX_GUARDED) || !look_full(analysis))
        return NULL;
    Form guard = ptx_operand_form(&analysis->values, statement->first);
    if (guard.assumes || !form_based_on_constant(&guard))
        return NULL;
    *count = shape->x * shape->y * shape->z / RECORD_LANES;
    uint32_t *lanes = ARENA_ARRAY(arena, uint32_t, *count);
    for (uint32_t i = 0; i < *count * RECORD_LANES; i++)
        lanes[i / RECORD_LANES] |= (uint32_t)!is_out(analysis, statement, &guard, i) << i % RECORD_LANES;
    return lanes;
}

/* Whether no two threads of a CTA write the same bytes, in one turn of the loops around it. */
static bool are_apart(const FunctionAnalysis *analysis, uint32_t instruction, const PtxOperand *address,
                      uint64_t bytes) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    uint32_t at = analysis->flow.instructions[instruction], operand = (uint32_t)(address - analysis->module->operands);
    Form form = ptx_address_form(&analysis->values, at, operand, NULL);
    const PtxBlockShape *shape = &analysis->values.shape;
    uint64_t places[FORM_MOST_THREADS];
    uint32_t count = 0, threads = analysis->shaped ? shape->x * shape->y * shape->z : 0;
    if (!threads || form.kind != FORM_TABLE || form.span > SPAN_CTA)
        return false;
    Form guard = statement->flags & PTX_GUARDED ? ptx_operand_form(&analysis->values, statement->first) : form_any(1);
    for (uint32_t i = 0; i < threads; i++)
        if (!is_out(analysis, statement, &guard, i))
            places[count++] = form_offset(&analysis->values, &form, i) & low_ones(form.width);
    if (count)
        qsort(places, count, sizeof *places, by_number);
    for (uint32_t i = 1; i < count; i++)
        if (places[i] - places[i - 1] < bytes)
            return false;
    return count < 2 || ((places[0] - places[count - 1]) & low_ones(form.width)) >= bytes;
}

static bool is_constant(const FunctionAnalysis *analysis, const PtxOperand *value) {
    uint32_t count = value->kind == PTX_VECTOR ? value->a : 1, first = value->kind == PTX_VECTOR ? 1 : 0;
    for (uint32_t i = 0; i < count; i++) {
        Form form = ptx_operand_form(&analysis->values, (uint32_t)(value + first + i - analysis->module->operands));
        uint64_t constant;
        if (value[first + i].kind == PTX_REGISTER && !form_constant(&form, &constant))
            return false;
    }
    return true;
}

/* Whether it is a store by threads themselves to memory that others of the CTA may store to. */
static bool stores_shared(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect) {
    const Effect *of = &effect->effect;
    if (of->verb != EFFECT_WRITE || of->done != DONE_NOW || of->helper != HELPER_BASE || of->proxy != PROXY_GENERIC ||
        of->order != ORDER_WEAK || !effect->value.size)
        return false;
    PtxSpace space = look_space(analysis, instruction, effect);
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_CLUSTER || space == PTX_SPACE_UNKNOWN;
}

unsigned element_bytes(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxForm *form = look_form(analysis, instruction);
    Str type = form->row ? ptx_form_modifier(form->row, form->text, STR("t")) : (Str){0};
    return ptx_type_bits(type) / 8;
}

void gather_data(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t block, const PtxEffect *effects,
                 unsigned count, Site *site) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    const PtxEffect *effect = NULL;
    for (unsigned i = 0; i < count && !effect; i++)
        effect = stores_shared(analysis, instruction, &effects[i]) ? &effects[i] : NULL;
    const PtxOperand *value = effect ? ptx_effect_operand(analysis->module, statement, effect->value) : NULL;
    const PtxOperand *on = effect ? ptx_effect_operand(analysis->module, statement, effect->on) : NULL;
    unsigned element = element_bytes(analysis, instruction), row = 16;
    if (!value || !on || on->kind != PTX_ADDRESS || site->part_count == SITE_PARTS ||
        (element && is_constant(analysis, value)))
        return;
    uint64_t bytes = element ? (uint64_t)element * (value->kind == PTX_VECTOR ? value->a : 1) : row;
    bool own = look_space(analysis, instruction, effect) == PTX_SPACE_SHARED && !effect->any_cta;
    if (own && are_apart(analysis, instruction, on, bytes))
        return;
    /* Of matrices all lanes have one hash, unless rows of one may meet. */
    bool together = look_together(analysis, block);
    bool each = element || rows_meet(analysis, instruction, on, value->kind == PTX_VECTOR ? value->a : 1);
    site->parts[site->part_count++] = (SitePart){.operand = (uint32_t)(value - analysis->module->operands),
                                                 .bits = 32,
                                                 .data = true,
                                                 .shape = each && together ? PART_EVERY : PART_UNIFORM,
                                                 .proven = together || !element};
}

/* ---- Code -------------------------------------------------------------------------------------------------- */

static void write_mix(InstrumentCode *code) {
    code_say(code, "mul.lo.u32 ~hi, ~hi, 0x%x", RECORD_HASH_FACTOR);
    code_say(code, "shr.u32 ~word, ~hi, %u", RECORD_HASH_SHIFT);
    code_say(code, "xor.b32 ~hi, ~hi, ~word");
}

/* One more word, in ~lo, of a hash in ~hi; or the first. */
static void write_word(InstrumentCode *code, bool first) {
    if (!first) {
        write_mix(code);
        code_say(code, "xor.b32 ~hi, ~hi, ~lo");
    } else {
        code_say(code, "mov.b32 ~hi, ~lo");
    }
}

static void write_constant(InstrumentCode *code, const PtxOperand *operand, unsigned bytes, bool first) {
    uint64_t mask = bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX, value = operand->bits & mask;
    for (unsigned i = 0; i < (bytes + 3) / 4; i++) {
        code_say(code, "mov.b32 ~lo, 0x%x", i < 2 ? (unsigned)(value >> 32 * i) : 0);
        write_word(code, first && !i);
    }
}

/* An element that is a register: as many of its bytes as are stored. */
static void write_element(InstrumentCode *code, const PtxOperand *operand, unsigned bytes, bool first) {
    uint32_t index = (uint32_t)(operand - code->analysis->module->operands);
    unsigned width = ptx_operand_form(&code->analysis->values, index).width;
    if (operand->kind != PTX_REGISTER) {
        write_constant(code, operand, bytes, first);
        return;
    }
    if (width == 128) {
        code_say(code, "mov.b128 {~value, ~d0}, %s", operand_text(code, index));
        for (unsigned i = 0; i < 4; i++) {
            code_say(code, i % 2 ? "mov.b64 {~word, ~lo}, %s" : "mov.b64 {~lo, ~word}, %s", i < 2 ? "~value" : "~d0");
            write_word(code, first && !i);
        }
        return;
    }
    if (width == 64) {
        code_say(code, "mov.b64 ~value, %s", operand_text(code, index));
        code_say(code, "cvt.u32.u64 ~lo, ~value");
    } else if (width == 16) {
        code_say(code, "mov.b16 ~half, 0");
        code_say(code, "mov.b32 ~lo, {%s, ~half}", operand_text(code, index));
    } else if (width == 8) {
        code_say(code, "cvt.u32.u8 ~lo, %s", operand_text(code, index));
    } else {
        code_say(code, "mov.b32 ~lo, %s", operand_text(code, index));
    }
    if (bytes < 4)
        code_say(code, "and.b32 ~lo, ~lo, 0x%x", (1U << 8 * bytes) - 1);
    write_word(code, first);
    if (bytes > 4) {
        code_say(code, "mov.b64 {~word, ~lo}, ~value");
        write_word(code, false);
    }
}

/* Small elements fill words, as they do in memory. */
static void write_small(InstrumentCode *code, const PtxOperand *elements, unsigned count, unsigned bytes) {
    code_say(code, "mov.b32 ~t3, 0");
    for (unsigned i = 0; i < count; i++) {
        write_element(code, &elements[i], bytes, true);
        if (i)
            code_say(code, "shl.b32 ~hi, ~hi, %u", 8 * bytes * i % 32);
        code_say(code, "or.b32 ~t3, ~t3, ~hi");
        if ((i + 1) * bytes == 4 && count * bytes > 4) {
            code_say(code, "mov.b32 ~t2, ~t3");
            code_say(code, "mov.b32 ~t3, 0");
        }
    }
    code_say(code, "mov.b32 ~hi, %s", count * bytes > 4 ? "~t2" : "~t3");
    if (count * bytes <= 4)
        return;
    code_say(code, "mov.b32 ~lo, ~t3");
    write_word(code, false);
}

/* Registers of all lanes make up the rows, of which no two meet: one hash of all of them, with two instructions for a
 * register. It is compared with those of other such stores alone. The topmost bit of a sum stays there, whatever it is
 * multiplied by: registers are turned, and the last product is wide, so that signs do not cancel out. */
static void write_matrices(InstrumentCode *code, const InstrumentStep *step, const PtxOperand *elements,
                           unsigned count) {
    enum { TURN = 11 };
    code_say(code, "mov.u32 ~hi, %%laneid");
    for (unsigned i = 0; i < count; i++) {
        uint32_t index = (uint32_t)(&elements[i] - code->analysis->module->operands);
        const char *text = operand_text(code, index);
        if (i)
            code_say(code, "shf.l.wrap.b32 ~lo, %s, %s, %u", text, text, TURN * i % 32);
        code_say(code, "mad.lo.u32 ~hi, ~hi, 0x%x, %s", RECORD_HASH_FACTOR, i ? "~lo" : text);
    }
    code_say(code, "mul.wide.u32 ~d0, ~hi, 0x%x", RECORD_HASH_FACTOR);
    code_say(code, "mov.b64 {~lo, ~hi}, ~d0");
    code_say(code, "xor.b32 ~hi, ~hi, ~lo");
    code_say(code, "redux.sync.add.u32 ~hi, ~hi, %s", step->how == STEP_APART ? "~mask" : "~full");
}

void write_data(InstrumentCode *code, const SitePart *part, const InstrumentStep *step) {
    const PtxOperand *value = &code->analysis->module->operands[part->operand];
    const PtxOperand *elements = value->kind == PTX_VECTOR ? value + 1 : value;
    unsigned count = value->kind == PTX_VECTOR ? value->a : 1, bytes = element_bytes(code->analysis, step->instruction);
    if (!bytes && part->shape == PART_EVERY)
        write_rows(code, step, elements, count);
    else if (!bytes)
        write_matrices(code, step, elements, count);
    else if (bytes < 4)
        write_small(code, elements, count, bytes);
    else
        for (unsigned i = 0; i < count; i++)
            write_element(code, &elements[i], bytes, !i);
}
