/* Records of sites that all lanes of a warp come to: lane 0 writes them. */
#include "instrument/internal.h"

/* Values of a function that are looked at with branches. ptxas makes six blocks of each, and takes the longer for one
 * the more there are. */
enum { MOST_BRANCHING = 8 };

void write_register(InstrumentCode *code, const char *text, unsigned width) {
    if (width == 64) {
        code_say(code, "mov.b64 ~value, %s", text);
        code_say(code, "mov.b64 {~lo, ~hi}, ~value");
        return;
    }
    if (width == 1)
        code_say(code, "selp.b32 ~lo, 1, 0, %s", text);
    else if (width == 16)
        code_say(code, "mov.b16 ~half, 0"), code_say(code, "mov.b32 ~lo, {%s, ~half}", text);
    else if (width == 8)
        code_say(code, "cvt.u32.u8 ~lo, %s", text);
    else
        code_say(code, "mov.b32 ~lo, %s", text);
    code_say(code, "mov.b32 ~hi, 0");
}

void write_value(InstrumentCode *code, const SitePart *part) {
    write_register(code, operand_text(code, part->operand),
                   ptx_operand_form(&code->analysis->values, part->operand).width);
}

void write_part_value(InstrumentCode *code, const InstrumentStep *step, const SitePart *part) {
    if (!part->data) {
        write_value(code, part);
        return;
    }
    write_data(code, part, step);
    code_say(code, "mov.b32 ~lo, ~hi");
    code_say(code, "mov.b32 ~hi, 0");
}

const char *write_mask(InstrumentCode *code, const InstrumentStep *step) {
    const char *predicate = step_predicate(code, step);
    if (!*predicate)
        return "~full";
    code_say(code, "vote.sync.ballot.b32 ~mask, %s, ~full", predicate);
    return "~mask";
}

uint32_t part_word(const Site *site, const SitePart *part) {
    return record_word(0, part->shape == PART_UNIFORM ? RECORD_UNIFORM : RECORD_WARP, site->number);
}

/* ---- Values that have to be looked at ---------------------------------------------------------------------- */

void write_base(InstrumentCode *code, const SitePart *part) {
    bool wide = part->bits == 64;
    int64_t stride = part->shape == PART_STRIDE ? part->stride : 0;
    code_say(code, "mov.u32 ~lane, %%laneid");
    if (!stride) {
        code_say(code, wide ? "mov.b64 ~d0, ~value" : "mov.b32 ~t0, ~lo");
    } else if (!wide) {
        code_say(code, "mad.lo.s32 ~t0, ~lane, %d, ~lo", (int)-stride);
    } else if (stride > INT32_MIN && stride <= INT32_MAX) {
        code_say(code, "mad.wide.s32 ~d0, ~lane, %d, ~value", (int)-stride);
    } else {
        code_say(code, "cvt.u64.u32 ~d0, ~lane");
        code_say(code, "mul.lo.s64 ~d0, ~d0, %lld", (long long)stride);
        code_say(code, "sub.s64 ~d0, ~value, ~d0");
    }
}

/* Those of the first lane of a mask, in ~d0 or ~t0; and in ~p1 whether all of the mask have the same. */
static void write_same(InstrumentCode *code, const SitePart *part, const char *mask) {
    bool guarded = mask[1] == 'm';
    if (!guarded) {
        code_say(code, "match.all.sync.b%u ~t1|~p1, %s, %s", part->bits, part->bits == 64 ? "~d0" : "~t0", mask);
        return;
    }
    code_say(code, "brev.b32 ~t1, %s", mask);
    code_say(code, "clz.b32 ~t1, ~t1"); /* the lowest bit that is set */
    if (part->bits == 64) {
        code_say(code, "mov.b64 {~t2, ~t3}, ~d0");
        code_say(code, "shfl.sync.idx.b32 ~t2, ~t2, ~t1, 31, ~full");
        code_say(code, "shfl.sync.idx.b32 ~t3, ~t3, ~t1, 31, ~full");
        code_say(code, "mov.b64 ~d1, {~t2, ~t3}");
        code_say(code, "setp.eq.s64 ~p1, ~d0, ~d1");
        code_say(code, "mov.b64 ~d0, ~d1");
    } else {
        code_say(code, "shfl.sync.idx.b32 ~t2, ~t0, ~t1, 31, ~full");
        code_say(code, "setp.eq.s32 ~p1, ~t0, ~t2");
        code_say(code, "mov.b32 ~t0, ~t2");
    }
    code_say(code, "shr.u32 ~t1, %s, ~lane", mask);
    code_say(code, "and.b32 ~t1, ~t1, 1");
    code_say(code, "setp.eq.or.u32 ~p1, ~t1, 0, ~p1");
    code_say(code, "vote.sync.all.pred ~p1, ~p1, ~full");
}

const char *write_leader_place(InstrumentCode *code) {
    if (code->plan->together)
        return "~ptr";
    code_say(code, "mov.b64 {~t1, ~t2}, ~ptr");
    code_say(code, "shfl.sync.idx.b32 ~t1, ~t1, 0, 31, ~full");
    code_say(code, "shfl.sync.idx.b32 ~t2, ~t2, 0, 31, ~full");
    code_say(code, "mov.b64 ~d1, {~t1, ~t2}");
    return "~d1";
}

/* The place of the lane's value in a list is in ~d1, but for so many bytes, and in ~t1, not 0, whether it is of the
 * mask. */
static void write_list_place(InstrumentCode *code, const char *mask, unsigned bytes) {
    const char *base = write_leader_place(code);
    code_say(code, "mov.u32 ~t1, %%lanemask_lt");
    code_say(code, "and.b32 ~t1, ~t1, %s", mask);
    code_say(code, "popc.b32 ~t1, ~t1");
    code_say(code, "mad.wide.u32 ~d1, ~t1, %u, %s", bytes, base);
    code_say(code, "mov.u32 ~t1, %%lanemask_eq");
    code_say(code, "and.b32 ~t1, ~t1, %s", mask);
}

/* The bytes of a list, in ~d1. */
static void write_list_size(InstrumentCode *code, const char *mask, unsigned bytes) {
    code_say(code, "popc.b32 ~t1, %s", mask);
    code_say(code, "mad.lo.u32 ~t1, ~t1, %u, %u", bytes, RECORD_UNIT - 1);
    code_say(code, "and.b32 ~t1, ~t1, -%u", RECORD_UNIT);
    code_say(code, "cvt.u64.u32 ~d1, ~t1");
}

/* The values of all lanes of the mask, behind a head. Lanes that are together have the pointer of the leader. */
static void write_list(InstrumentCode *code, const InstrumentStep *step, const SitePart *part, const char *mask,
                       uint32_t offset) {
    unsigned bytes = part->bits / 8;
    code_say(code, "cvt.u32.u64 ~t1, ~ptr");
    code_say(code, "and.b32 ~t1, ~t1, %u", code->chunk - 1);
    uint32_t limit = code->chunk - RECORD_UNIT * (2 + RECORD_LANES * bytes / RECORD_UNIT + code->plan->most);
    code_say(code, "setp.gt%s.u32 ~p2, ~t1, %u%s", code->plan->together ? "" : ".and", limit,
             code->plan->together ? "" : ", ~lead");
    Cold cold = cold_begin(code, "~p2", code->plan->together);
    write_refill(code, offset);
    cold_end(code, cold);
    write_list_place(code, mask, bytes);
    code_say(code, "setp.ne.u32 ~p2, ~t1, 0");
    code_say(code, "@~p2 st.global.b%u [~d1+%u], %s", part->bits, (offset + 1) * RECORD_UNIT,
             bytes == 8 ? "~value" : "~lo");
    write_unit(code, "~lead", offset, record_word(0, RECORD_LIST, step->site->number), mask, "~zero", "~zero");
    write_list_size(code, mask, bytes);
    code_say(code, "%sadd.s64 ~ptr, ~ptr, ~d1", code->plan->together ? "" : "@~lead ");
}

/* If lanes differ as it is thought, their values are one; else a list. */
static void write_checked(InstrumentCode *code, const InstrumentStep *step, const SitePart *part, const char *mask,
                          uint32_t offset) {
    uint32_t alike = new_label(code), done = new_label(code);
    write_base(code, part);
    write_same(code, part, mask);
    code_say(code, "@~p1 bra.uni ~L%u", alike);
    write_list(code, step, part, mask, offset);
    code_say(code, "bra.uni ~L%u", done);
    code_label(code, alike);
    if (part->bits == 64)
        code_say(code, "mov.b64 {~lo, ~hi}, ~d0");
    write_unit(code, "~lead", offset, part_word(step->site, part), mask, part->bits == 64 ? "~lo" : "~t0", "~hi");
    code_label(code, done);
}

/* The same without a branch, where it was looked before whether there is room for the list. */
static void write_flat(InstrumentCode *code, const InstrumentStep *step, const SitePart *part, const char *mask,
                       uint32_t offset) {
    unsigned bytes = part->bits / 8;
    bool wide = bytes == 8, whole = mask[1] != 'm' && look_full(code->analysis);
    write_base(code, part);
    write_same(code, part, mask);
    code_say(code, "selp.b32 ~word, 0x%x, 0x%x, ~p1", part_word(step->site, part),
             record_word(0, RECORD_LIST, step->site->number));
    code_say(code, "or.b32 ~word, ~word, ~tag");
    if (wide)
        code_say(code, "mov.b64 {~lo, ~hi}, ~d0");
    code_say(code, "@~lead st.global.v4.b32 [~ptr+%u], {~word, %s, %s, ~hi}", offset * RECORD_UNIT, mask,
             wide ? "~lo" : "~t0");
    if (whole) {
        code_say(code, "mad.wide.u32 ~d1, ~lane, %u, %s", bytes, write_leader_place(code));
        code_say(code, "not.pred ~p2, ~p1");
    } else {
        write_list_place(code, mask, bytes);
        code_say(code, "setp.ne.and.u32 ~p2, ~t1, 0, !~p1");
    }
    code_say(code, "@~p2 st.global.b%u [~d1+%u], %s", part->bits, (offset + 1) * RECORD_UNIT, wide ? "~value" : "~lo");
    if (whole)
        code_say(code, "mov.b64 ~d1, %u", RECORD_LANES * bytes);
    else
        write_list_size(code, mask, bytes);
    if (!code->plan->together)
        code_say(code, "not.pred ~p2, ~p1"), code_say(code, "and.pred ~p2, ~p2, ~lead");
    code_say(code, "%s add.s64 ~ptr, ~ptr, ~d1", code->plan->together ? "@!~p1" : "@~p2");
}

static bool is_checked(const InstrumentStep *step, uint32_t part) {
    return step->how == STEP_STATIC && !step_may_run(step) && !part_is_one(&step->site->parts[part]);
}

void plan_flat(InstrumentPlan *plan, uint32_t most) {
    uint32_t checked = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t k = 0; k < plan->steps[i].site->part_count; k++)
            checked += is_checked(&plan->steps[i], k);
    for (uint32_t i = 0; i < plan->count && checked > MOST_BRANCHING; i++) {
        InstrumentStep *step = &plan->steps[i];
        uint32_t units = 0;
        for (uint32_t k = 0; k < step->site->part_count; k++)
            units += is_checked(step, k) ? RECORD_LANES * step->site->parts[k].bits / 8 / RECORD_UNIT : 0;
        step->lists = units <= most ? units : 0;
    }
}

/* ---- Records ----------------------------------------------------------------------------------------------- */

void write_count(InstrumentCode *code, const char *mask) {
    if (code->edits->module->capability >= 80 && code->edits->module->version >= 70) {
        code_say(code, "redux.sync.max.u32 ~count, ~count, %s", mask);
        return;
    }
    uint32_t again = new_label(code);
    code_say(code, "mov.b32 ~t1, %s", mask);
    code_say(code, "mov.b32 ~t3, ~count");
    code_label(code, again);
    code_say(code, "brev.b32 ~t2, ~t1");
    code_say(code, "clz.b32 ~t2, ~t2");
    code_say(code, "shfl.sync.idx.b32 ~t2, ~count, ~t2, 31, %s", mask);
    code_say(code, "max.u32 ~t3, ~t3, ~t2");
    code_say(code, "sub.u32 ~t2, ~t1, 1");
    code_say(code, "and.b32 ~t1, ~t1, ~t2");
    code_say(code, "setp.ne.u32 ~p2, ~t1, 0");
    code_say(code, "@~p2 bra.uni ~L%u", again);
    code_say(code, "mov.b32 ~count, ~t3");
}

/* The part that is the address of a tensor map. */
static const SitePart *map_part(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = look_statement(analysis, step->instruction);
    unsigned count = ptx_effects_of(analysis->module, statement, effects);
    const PtxOperand *on = NULL;
    for (unsigned i = 0; i < count && !on; i++)
        if (effects[i].effect.proxy == PROXY_TENSORMAP && effects[i].effect.verb == EFFECT_READ)
            on = ptx_effect_operand(analysis->module, statement, effects[i].on);
    for (uint32_t i = 0; on && i < step->site->part_count; i++)
        if (&analysis->module->operands[step->site->parts[i].operand] == on + 1)
            return &step->site->parts[i];
    return &step->site->parts[0];
}

void write_map(InstrumentCode *code, const InstrumentStep *step, const char *leader, const char *mask,
               uint32_t offset) {
    const SitePart *part = map_part(code->analysis, step);
    code_say(code, "add.s64 ~d0, %s, %lld", operand_text(code, part->operand),
             (long long)code->analysis->module->operands[part->operand - 1].value);
    code_say(code, "mov.b64 {~lo, ~hi}, ~d0");
    write_unit(code, leader, offset, record_word(0, RECORD_MAP, step->site->number), mask, "~lo", "~hi");
    code_say(code, "setp.ne.and.u32 ~p2, %s, 0, %s", mask, leader);
    for (unsigned i = 0; i < 128 / RECORD_UNIT; i++) {
        code_say(code, "@~p2 ld.v2.b64 {~d1, ~d2}, [~d0+%u]", i * RECORD_UNIT);
        code_say(code, "@~p2 st.global.v2.b64 [~ptr+%u], {~d1, ~d2}", (offset + 1 + i) * RECORD_UNIT);
    }
}

void write_static(InstrumentCode *code, const InstrumentStep *step, uint32_t offset) {
    const Site *site = step->site;
    const char *mask = write_mask(code, step);
    if (step->first && !code->plan->together) {
        write_count(code, "~full");
        write_unit(code, "~lead", offset++, record_word(0, RECORD_STAMP, 0), mask, "~count", "~zero");
    }
    if (site->map) {
        write_map(code, step, "~lead", mask, offset);
        offset += 1 + 128 / RECORD_UNIT;
    }
    if (!site->part_count)
        write_unit(code, "~lead", offset, record_word(0, site->ends ? RECORD_EXIT : RECORD_PLAIN, site->number), mask,
                   "~zero", "~zero");
    for (uint32_t i = 0; i < site->part_count; i++) {
        const SitePart *part = &site->parts[i];
        write_part_value(code, step, part);
        if (part_is_one(part))
            write_unit(code, "~lead", offset + i, part_word(site, part), mask, "~lo", "~hi");
        else
            (step->lists ? write_flat : write_checked)(code, step, part, mask, offset + i);
    }
    if (!code->plan->together)
        code_say(code, "add.u32 ~count, ~count, 1");
}
