/* Records of accesses with a ticket: each lane has its own, and no lane waits for another one of its warp while that
 * waits for it: who gets the lock makes the access in the same turn of the loop, and gives the lock back. */
#include "instrument/internal.h"

#include <stddef.h>

typedef struct Access {
    const PtxOperand *address; /* of the module */
    const PtxOperand *moved;   /* what it gives, or else what it writes; NULL: nothing is known */
    PtxSpace space;
} Access;

static Access access_of(const Look *look, const Step *step) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = look_statement(look, step->instruction);
    unsigned count = ptx_effects_of(look->module, statement, effects);
    Access access = {0};
    for (unsigned i = 0; i < count; i++) {
        const PtxEffect *effect = &effects[i];
        if (!effect_is_access(&effect->effect))
            continue;
        PtxOrigin origin = {0};
        access.address = ptx_effect_operand(look->module, statement, effect->on);
        access.moved = ptx_effect_operand(look->module, statement, effect->gives.size ? effect->gives : effect->value);
        ptx_address_form(&look->values, step->site->statement, (uint32_t)(access.address - look->module->operands),
                         &origin);
        access.space = ptx_space_of_form(look_form(look, step->instruction)->text, 0);
    }
    return access;
}

/* The entry of the table: record_entry. */
static void write_entry(Code *code, const Access *access) {
    const PtxOperand *base = access->address + 1;
    uint32_t index = (uint32_t)(base - code->look->module->operands);
    bool narrow = base->kind == PTX_REGISTER && ptx_operand_form(&code->look->values, index).width == 32;
    const char *text = access->address->a ? operand_text(code, index) : "0";
    code_say(code, narrow ? "cvt.u64.u32 ~d0, %s" : "mov.b64 ~d0, %s", text);
    if (access->address->value)
        code_say(code, "add.s64 ~d0, ~d0, %lld", (long long)access->address->value);
    if (access->space == PTX_SPACE_SHARED || access->space == PTX_SPACE_CLUSTER)
        code_say(code, "and.b64 ~d0, ~d0, 0xffffff");
    else if (access->space == PTX_SPACE_UNKNOWN) {
        code_say(code, "isspacep.shared%s ~p1, ~d0", code->look->module->capability >= 90 ? "::cluster" : "");
        code_say(code, "@~p1 and.b64 ~d0, ~d0, 0xffffff");
    }
    code_say(code, "shr.u64 ~d0, ~d0, 4");
    code_say(code, "cvt.u32.u64 ~t0, ~d0");
    code_say(code, "shr.u32 ~t1, ~t0, %u", RECORD_TICKETS_LOG2);
    code_say(code, "xor.b32 ~t0, ~t0, ~t1");
    code_say(code, "and.b32 ~t0, ~t0, 0x%x", (1u << RECORD_TICKETS_LOG2) - 1);
    write_launch(code, "~d0");
    code_say(code, "ld.global.b64 ~entry, [~d0+%u]", (unsigned)offsetof(RecordLaunch, tickets));
    code_say(code, "mad.wide.u32 ~entry, ~t0, 8, ~entry");
}

/* Units of a lane's record. */
static uint32_t lane_units(const Site *site) {
    return 1 + site->part_count;
}

/* Room for all lanes: of one pointer, or each for itself. */
static void write_lane_room(Code *code, const Step *step, const char *mask) {
    bool together = code->plan->together;
    code_say(code, "cvt.u32.u64 ~t0, ~ptr");
    code_say(code, "and.b32 ~t0, ~t0, %u", code->chunk - 1);
    uint32_t units = together ? code->plan->most : code->plan->most + 1 + lane_units(step->site);
    if (together) {
        code_say(code, "popc.b32 ~t1, %s", mask);
        code_say(code, "mad.lo.u32 ~t0, ~t1, %u, ~t0", lane_units(step->site) * RECORD_UNIT);
    }
    code_say(code, "setp.gt.u32 ~p2, ~t0, %u", code->chunk - RECORD_UNIT * (1 + units));
    Cold cold = cold_begin(code, "~p2", together);
    write_refill(code, 0);
    cold_end(code, cold);
}

/* Where the lane's own record is, in ~d2; the pointer of all is behind them. */
static void write_lane_place(Code *code, const Step *step, const char *mask) {
    uint32_t bytes = lane_units(step->site) * RECORD_UNIT;
    if (!code->plan->together)
        return;
    code_say(code, "mov.u32 ~t1, %%lanemask_lt");
    code_say(code, "and.b32 ~t1, ~t1, %s", mask);
    code_say(code, "popc.b32 ~t1, ~t1");
    code_say(code, "mad.wide.u32 ~d2, ~t1, %u, ~ptr", bytes);
    code_say(code, "popc.b32 ~t1, %s", mask);
    code_say(code, "mad.wide.u32 ~ptr, ~t1, %u, ~ptr", bytes);
}

void write_each_before(Code *code, const Step *step) {
    const Site *site = step->site;
    bool together = code->plan->together;
    Access access = access_of(code->look, step);
    const char *mask = together ? write_mask(code, step) : "";
    const char *predicate = step_predicate(code, step);
    if (together) {
        write_lane_room(code, step, mask);
        write_lane_place(code, step, mask);
    }
    if (*predicate)
        code_say(code, *predicate == '!' ? "@%s bra ~L%u" : "@!%s bra ~L%u",
                 *predicate == '!' ? predicate + 1 : predicate, step->labels + 2);
    if (!together) {
        write_lane_room(code, step, mask);
        code_say(code, "mov.b64 ~d2, ~ptr");
    }
    if (site->part_count) {
        write_value(code, &site->parts[0]);
        code_say(code, "mov.b64 ~d1, {~lo, ~hi}"); /* the access may write the register */
    }
    write_entry(code, &access);
    code_label(code, step->labels);
    code_say(code, "atom.global.acquire.gpu.cas.b32 ~t0, [~entry], 0, 1");
    code_say(code, "setp.ne.b32 ~failed, ~t0, 0");
    code_say(code, "@~failed bra ~L%u", step->labels + 1);
    code_say(code, "ld.relaxed.gpu.global.b32 ~ticket, [~entry+4]");
}

/* The low 32 bits of what was read or written, in ~lo. */
static void write_moved(Code *code, const PtxOperand *moved) {
    const PtxOperand *one = moved && moved->kind == PTX_VECTOR ? moved + 1 : moved;
    uint32_t index = one ? (uint32_t)(one - code->look->module->operands) : 0;
    if (!one ||
        (one->kind != PTX_REGISTER && one->kind != PTX_INTEGER && one->kind != PTX_SINGLE && one->kind != PTX_DOUBLE))
        code_say(code, "mov.b32 ~lo, 0");
    else if (one->kind != PTX_REGISTER)
        code_say(code, "mov.b32 ~lo, 0x%x", (unsigned)one->bits);
    else if (ptx_operand_form(&code->look->values, index).width > 64) {
        code_say(code, "mov.b128 {~d0, ~value}, %s", operand_text(code, index));
        code_say(code, "cvt.u32.u64 ~lo, ~d0");
    } else
        write_value(code, &(SitePart){.operand = index});
}

void write_each_behind(Code *code, const Step *step) {
    const Site *site = step->site;
    Access access = access_of(code->look, step);
    code_say(code, "add.u32 ~t1, ~ticket, 1");
    code_say(code, "st.relaxed.gpu.global.b32 [~entry+4], ~t1");
    code_say(code, "st.release.gpu.global.b32 [~entry], ~zero");
    write_moved(code, access.moved);
    code_say(code, "mov.u32 ~t1, %%lanemask_eq");
    code_say(code, "mov.b64 {~t2, ~t3}, ~d1");
    if (!code->plan->together) {
        code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_STAMP, 0));
        code_say(code, "st.global.v4.b32 [~d2], {~word, ~t1, ~count, ~zero}");
        code_say(code, "add.s64 ~d2, ~d2, %u", RECORD_UNIT);
        code_say(code, "add.s64 ~ptr, ~d2, %u", lane_units(site) * RECORD_UNIT);
        code_say(code, "add.u32 ~count, ~count, 1");
    }
    code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_LANE, site->number));
    if (site->part_count) {
        code_say(code, "st.global.v4.b32 [~d2], {~word, ~t1, ~t2, ~t3}");
        code_say(code, "st.global.v4.b32 [~d2+%u], {~ticket, ~lo, ~zero, ~zero}", RECORD_UNIT);
    } else
        code_say(code, "st.global.v4.b32 [~d2], {~word, ~t1, ~ticket, ~lo}");
    code_label(code, step->labels + 1);
    code_say(code, "@~failed bra ~L%u", step->labels);
    code_label(code, step->labels + 2);
}
