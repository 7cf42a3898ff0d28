/* Groups: sites that a part of a warp's lanes may come to, whose records one call makes.
 *
 * The records are those of divergent.c. They are made where the last site of the group stands, of values that are kept
 * where each of them does: nothing between them may hold a thread. Who is there is found before the call, where no lane
 * can be that stands elsewhere in the kernel; the body finds who leads, how far they have counted, and whether there is
 * room. A call that goes on with the sites of the one before it is of the same lanes, and needs no count. */
#include "instrument/internal.h"

/* What is said of a part, in 16 bits. 0: there is none. The bytes between lanes are a number of 8 bits, shifted. */
enum {
    GROUP_KIND = 3,    /* which of `kinds` it is, if it is no list */
    GROUP_WIDE_AT = 2, /* of 64 bits */
    GROUP_CHECKED_AT,  /* it is looked whether lanes differ as it is thought */
    GROUP_LAST_AT,     /* of its site */
    GROUP_SHIFT_AT,    /* half of it */
    GROUP_STRIDE_AT = 8,
    GROUP_BITS = 16,
    GROUP_STAMP_UNITS = 2,
};
/* Beside the limit: the call goes on. */
#define GROUP_GOES_ON UINT32_C(0x80000000)
static const RecordKind kinds[GROUP_KIND + 1] = {RECORD_PLAIN, RECORD_WARP, RECORD_UNIFORM, RECORD_EXIT};

static int64_t part_stride(const SitePart *part) {
    return part->shape == PART_STRIDE ? part->stride : 0;
}

/* Of a table nothing is taken away: who has the same value is one lane, or some that are equal in it. */
static bool part_checked(const SitePart *part) {
    return !part_is_one(part) || part->shape == PART_TABLE;
}

/* -1: it does not fit. */
static int stride_bits(int64_t stride) {
    for (int half = 0; half < 8; half++) {
        int64_t by = INT64_C(1) << 2 * half, number = stride / by;
        if (number * by == stride && number >= INT8_MIN && number <= INT8_MAX)
            return (int)(number & UINT8_MAX) << GROUP_STRIDE_AT | half << GROUP_SHIFT_AT;
    }
    return -1;
}

bool step_may_group(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    const Site *site = step->site;
    if (site->map)
        return false;
    for (uint32_t i = 0; i < site->part_count; i++)
        if (stride_bits(part_stride(&site->parts[i])) < 0 ||
            (site->parts[i].data && !element_bytes(analysis, step->instruction))) /* a hash of all lanes' registers */
            return false;
    return true;
}

uint32_t group_most_units(void) {
    return GROUP_STAMP_UNITS + GROUP_MOST * (1 + RECORD_LANES * 8 / RECORD_UNIT);
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

static void write_group(InstrumentCode *code) {
    InstrumentGroup *group = &code->group;
    uint32_t limit = code->chunk - RECORD_UNIT * (1 + GROUP_STAMP_UNITS + group->units + code->plan->most);
    if (!group->count)
        return;
    if (code->headed)
        limit |= GROUP_GOES_ON;
    else
        code_say(code, "activemask.b32 ~mask");
    write_launch(code, "~e0");
    code_say(code, "or.b32 ~word, ~tag, 0x%x", group->site);
    write_body_call(code, BODY_FOUR, "~ptr, ~e0, ~word, ~count, ~mask, %u, %u, %u, ~g0, ~g%u, ~g%u, ~g%u", limit,
                    group->what[0] | group->what[1] << GROUP_BITS, group->what[2] | group->what[3] << GROUP_BITS,
                    group->count > 1 ? 1U : 0, group->count > 2 ? 2U : 0, group->count > 3 ? 3U : 0);
    *group = (InstrumentGroup){0};
    code->headed = true;
}

/* A value in a register of the group. */
static void write_kept(InstrumentCode *code, const InstrumentStep *step, const SitePart *part, uint32_t place) {
    unsigned width = part && !part->data ? ptx_operand_form(&code->analysis->values, part->operand).width : 0;
    if (!part) {
        code_say(code, "mov.b64 ~g%u, 0", place);
    } else if (width == 64) {
        code_say(code, "mov.b64 ~g%u, %s", place, operand_text(code, part->operand));
    } else if (width == 32) {
        code_say(code, "mov.b64 ~g%u, {%s, ~zero}", place, operand_text(code, part->operand));
    } else {
        write_part_value(code, step, part);
        code_say(code, "mov.b64 ~g%u, {~lo, ~zero}", place);
    }
}

/* A value that is kept, with what is said of it. */
static void add_part(InstrumentCode *code, const InstrumentStep *step, const SitePart *part, bool last) {
    InstrumentGroup *group = &code->group;
    bool wide = part && part->bits == 64, checked = part && part_checked(part);
    RecordKind kind = step->site->ends ? RECORD_EXIT : RECORD_PLAIN;
    if (group->count == GROUP_MOST)
        write_group(code);
    if (part)
        kind = part->shape == PART_UNIFORM || part->shape == PART_TABLE ? RECORD_UNIFORM : RECORD_WARP;
    if (!group->count)
        group->site = step->site->number;
    write_kept(code, step, part, group->count);
    uint32_t what = part ? (uint32_t)stride_bits(part_stride(part)) : 0;
    while (kinds[what & GROUP_KIND] != kind)
        what++;
    group->what[group->count++] = what | (uint32_t)wide << GROUP_WIDE_AT | (uint32_t)checked << GROUP_CHECKED_AT |
                                  (uint32_t)last << GROUP_LAST_AT;
    group->units++;
    if (checked) /* in an expression, GCC 14 reads the bits where there is no part, too */
        group->units += RECORD_LANES * part->bits / 8 / RECORD_UNIT;
}

void write_grouped(InstrumentCode *code, const InstrumentStep *step) {
    const Site *site = step->site;
    for (uint32_t i = 0; i < site->part_count; i++)
        add_part(code, step, &site->parts[i], i + 1 == site->part_count);
    if (!site->part_count)
        add_part(code, step, NULL, true);
    if (!step->joined)
        write_group(code);
}

/* ---- Bodies ------------------------------------------------------------------------------------------------ */

/* Who leads, how far they have counted, and whether the leader has room. */
static void write_group_head(InstrumentCode *code) {
    uint32_t known = new_label(code), done = new_label(code);
    code_say(code, "mov.b32 ~zero, 0");
    write_tag(code);
    code_say(code, "setp.lt.s32 ~p0, ~limit, 0");
    code_say(code, "and.b32 ~limit, ~limit, 0x%x", ~GROUP_GOES_ON);
    code_say(code, "@~p0 bra ~L%u", known);
    write_count(code, "~mask");
    code_label(code, known);
    write_first(code);
    write_body_room(code, "~first");
    code_say(code, "@~p0 bra ~L%u", done);
    write_unit(code, "~first", 0, record_word(0, RECORD_STAMP, 0), "~mask", "~count", "~zero");
    code_say(code, "@~first add.s64 ~ptr, ~ptr, %u", RECORD_UNIT);
    code_label(code, done);
}

/* The values of all lanes, behind the place of the head; what that takes is added to ~size. */
static void write_group_list(InstrumentCode *code) {
    code_say(code, "brev.b32 ~t1, ~mask");
    code_say(code, "clz.b32 ~t1, ~t1");
    code_say(code, "mov.b64 {~lo, ~hi}, ~ptr");
    code_say(code, "shfl.sync.idx.b32 ~lo, ~lo, ~t1, 31, ~mask");
    code_say(code, "shfl.sync.idx.b32 ~hi, ~hi, ~t1, 31, ~mask");
    code_say(code, "mov.b64 ~d1, {~lo, ~hi}");
    code_say(code, "popc.b32 ~t0, ~t0"); /* those before it */
    code_say(code, "mad.lo.u32 ~t1, ~t0, ~t2, %u", RECORD_UNIT);
    code_say(code, "cvt.u64.u32 ~d0, ~t1");
    code_say(code, "add.s64 ~d1, ~d1, ~d0");
    code_say(code, "@~p1 st.global.b64 [~d1], ~g0");
    code_say(code, "cvt.u32.u64 ~lo, ~g0");
    code_say(code, "@!~p1 st.global.b32 [~d1], ~lo");
    code_say(code, "popc.b32 ~t1, ~mask");
    code_say(code, "mad.lo.u32 ~size, ~t1, ~t2, %u", 2 * RECORD_UNIT - 1);
    code_say(code, "and.b32 ~size, ~size, -%u", RECORD_UNIT);
    code_say(code, "mov.b64 ~value, 0");
    code_say(code, "or.b32 ~t3, ~t3, 0x%x", record_word(0, RECORD_LIST, 0));
}

/* The record of ~g0, of which ~what says what it is. */
static void write_group_part(InstrumentCode *code) {
    uint32_t done = new_label(code);
    uint32_t all = 0;
    for (unsigned i = 0; i <= GROUP_KIND; i++)
        all |= (uint32_t)kinds[i] << 4 * i;
    code_say(code, "bfi.b32 ~t3, ~what, 0, 2, 2"); /* 4 times which it is */
    code_say(code, "shr.u32 ~t3, %u, ~t3", all);
    code_say(code, "bfi.b32 ~t3, ~t3, ~t4, 20, 4");
    code_say(code, "mov.u32 ~lane, %%laneid");
    code_say(code, "bfe.s32 ~t1, ~what, %u, 8", GROUP_STRIDE_AT);
    code_say(code, "bfe.u32 ~t2, ~what, %u, 3", GROUP_SHIFT_AT);
    code_say(code, "shl.b32 ~t2, ~t2, 1");
    code_say(code, "shl.b32 ~t1, ~t1, ~t2");
    code_say(code, "mul.wide.s32 ~d0, ~lane, ~t1");
    code_say(code, "sub.s64 ~value, ~g0, ~d0");
    code_say(code, "and.b32 ~t1, ~what, %u", 1U << GROUP_WIDE_AT);
    code_say(code, "setp.ne.u32 ~p1, ~t1, 0");
    code_say(code, "selp.b32 ~t2, 8, 4, ~p1");
    code_say(code, "and.b64 ~d0, ~value, 0xffffffff");
    code_say(code, "selp.b64 ~value, ~value, ~d0, ~p1");
    code_say(code, "mov.b32 ~size, %u", RECORD_UNIT);
    code_say(code, "and.b32 ~t1, ~what, %u", 1U << GROUP_CHECKED_AT);
    code_say(code, "setp.eq.u32 ~p2, ~t1, 0");
    code_say(code, "@~p2 bra ~L%u", done);
    code_say(code, "match.all.sync.b64 ~t1|~p2, ~value, ~mask");
    code_say(code, "@~p2 bra ~L%u", done);
    write_first(code);
    write_group_list(code);
    code_label(code, done);
    code_say(code, "mov.b64 {~lo, ~hi}, ~value");
    code_say(code, "@~first st.global.v4.b32 [~ptr], {~t3, ~mask, ~lo, ~hi}");
    code_say(code, "cvt.u64.u32 ~d0, ~size");
    code_say(code, "@~first add.s64 ~ptr, ~ptr, ~d0");
    code_say(code, "bfe.u32 ~t1, ~what, %u, 1", GROUP_LAST_AT);
    code_say(code, "add.u32 ~t4, ~t4, ~t1");
    code_say(code, "add.u32 ~count, ~count, ~t1");
}

void write_group_body(InstrumentCode *code) {
    uint32_t again = new_label(code);
    write_group_head(code);
    code_label(code, again);
    write_group_part(code);
    code_say(code, "mov.b64 ~g0, ~g1");
    code_say(code, "mov.b64 ~g1, ~g2");
    code_say(code, "mov.b64 ~g2, ~g3");
    code_say(code, "shf.r.wrap.b32 ~what, ~what, ~rest, %u", GROUP_BITS);
    code_say(code, "shr.u32 ~rest, ~rest, %u", GROUP_BITS);
    code_say(code, "and.b32 ~t1, ~what, 0x%x", (1U << GROUP_BITS) - 1);
    code_say(code, "setp.ne.u32 ~p1, ~t1, 0");
    code_say(code, "@~p1 bra ~L%u", again);
}
