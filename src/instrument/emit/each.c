/* Records of strong accesses: each lane has its own, with the time before the access, what was there, and what is
 * written. From these a reader finds the order in which they were made: nothing is locked for it. */
#include "instrument/internal.h"

typedef struct EachAccess {
    const PtxOperand *gives, *value, *compare; /* of the module; NULL: there is none */
} EachAccess;

static EachAccess access_of(const FunctionAnalysis *analysis, const InstrumentStep *step) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = look_statement(analysis, step->instruction);
    unsigned count = ptx_effects_of(analysis->module, statement, effects);
    EachAccess access = {0};
    for (unsigned i = 0; i < count; i++) {
        const PtxEffect *effect = &effects[i];
        if (!effect_is_access(&effect->effect))
            continue;
        access.gives = ptx_effect_operand(analysis->module, statement, effect->gives);
        access.value = ptx_effect_operand(analysis->module, statement, effect->value);
        access.compare = ptx_effect_operand(analysis->module, statement, effect->compare);
    }
    return access;
}

/* Room for all lanes: of one pointer, or each for itself. */
static void write_lane_room(InstrumentCode *code, const Site *site, const char *mask) {
    bool together = code->plan->together;
    uint32_t units = together ? code->plan->most : code->plan->most + 1 + lane_units(site);
    code_say(code, "cvt.u32.u64 ~t0, ~ptr");
    code_say(code, "and.b32 ~t0, ~t0, %u", code->chunk - 1);
    if (together) {
        code_say(code, "popc.b32 ~t1, %s", mask);
        code_say(code, "mad.lo.u32 ~t0, ~t1, %u, ~t0", lane_units(site) * RECORD_UNIT);
    }
    code_say(code, "setp.gt.u32 ~p2, ~t0, %u", code->chunk - RECORD_UNIT * (1 + units));
    Cold cold = cold_begin(code, "~p2", together);
    write_refill(code, 0);
    cold_end(code, cold);
}

/* Where the lane's own record is, in ~d2; the pointer of all is behind them. */
static void write_lane_place(InstrumentCode *code, const InstrumentStep *step, const char *mask) {
    uint32_t bytes = lane_units(step->site) * RECORD_UNIT;
    if (step->alone) {
        code_say(code, "mov.b64 ~d2, ~ptr");
        code_say(code, "setp.ne.u32 ~p2, %s, 0", mask);
        code_say(code, "@~p2 add.s64 ~ptr, ~ptr, %u", bytes);
        return;
    }
    code_say(code, "mov.u32 ~t1, %%lanemask_lt");
    code_say(code, "and.b32 ~t1, ~t1, %s", mask);
    code_say(code, "popc.b32 ~t1, ~t1");
    code_say(code, "mad.wide.u32 ~d2, ~t1, %u, ~ptr", bytes);
    code_say(code, "popc.b32 ~t1, %s", mask);
    code_say(code, "mad.wide.u32 ~ptr, ~t1, %u, ~ptr", bytes);
}

/* What is above the first word of a register of 128 bits, in ~hi: a hash. ~d0, ~value: its halves. */
static void write_rest(InstrumentCode *code) {
    code_say(code, "mov.b64 {~lo, ~hi}, ~d0");
    for (unsigned i = 0; i < 2; i++) {
        code_say(code, "mul.lo.u32 ~hi, ~hi, 0x%x", RECORD_HASH_FACTOR);
        code_say(code, "shr.u32 ~word, ~hi, %u", RECORD_HASH_SHIFT);
        code_say(code, "xor.b32 ~hi, ~hi, ~word");
        code_say(code, i ? "mov.b64 {~t3, ~word}, ~value" : "mov.b64 {~word, ~t3}, ~value");
        code_say(code, "xor.b32 ~hi, ~hi, ~word");
    }
}

/* What an operand holds, in ~lo, and what is above that in ~hi; 0 if there is none. */
static void write_low(InstrumentCode *code, const PtxOperand *moved) {
    const PtxOperand *one = moved && moved->kind == PTX_VECTOR ? moved + 1 : moved;
    uint32_t index = one ? (uint32_t)(one - code->analysis->module->operands) : 0;
    bool number = one && (one->kind == PTX_INTEGER || one->kind == PTX_SINGLE || one->kind == PTX_DOUBLE);
    if (!one || (one->kind != PTX_REGISTER && !number)) {
        code_say(code, "mov.b32 ~lo, 0");
        code_say(code, "mov.b32 ~hi, 0");
    } else if (number) {
        code_say(code, "mov.b32 ~lo, 0x%x", (unsigned)one->bits);
        code_say(code, "mov.b32 ~hi, 0x%x", (unsigned)(one->bits >> 32));
    } else if (ptx_operand_form(&code->analysis->values, index).width > 64) {
        code_say(code, "mov.b128 {~d0, ~value}, %s", operand_text(code, index));
        write_rest(code);
    } else {
        write_value(code, &(SitePart){.operand = index});
    }
}

void write_each_before(InstrumentCode *code, const InstrumentStep *step) {
    const Site *site = step->site;
    bool together = code->plan->together;
    EachAccess access = access_of(code->analysis, step);
    const char *mask = together ? write_mask(code, step) : "";
    const char *predicate = step_predicate(code, step);
    if (together) {
        if (!step->alone)
            write_lane_room(code, site, mask);
        write_lane_place(code, step, mask);
    }
    if (*predicate)
        code_say(code, *predicate == '!' ? "@%s bra ~L%u" : "@!%s bra ~L%u",
                 *predicate == '!' ? predicate + 1 : predicate, step->label);
    if (!together && !code->bodies) {
        write_lane_room(code, site, mask);
        code_say(code, "mov.b64 ~d2, ~ptr");
    }
    if (site->part_count) {
        write_value(code, &site->parts[0]);
        code_say(code, "mov.b64 ~d1, {~lo, ~hi}"); /* the access may write the register */
    }
    write_low(code, access.value); /* what it writes may be where it gives */
    code_say(code, "mov.b32 ~t0, ~lo");
    if (site->large)
        code_say(code, "mov.b32 ~t1, ~hi");
    write_low(code, site->poll.reported ? &code->analysis->module->operands[site->poll.operand] : access.compare);
    code_say(code, "mov.b64 ~written, {~t0, ~lo}");
    if (site->large)
        code_say(code, "mov.b64 ~upper, {~t1, ~hi}");
    code_say(code, "mov.u64 ~d0, %%globaltimer");
    code_say(code, "cvt.u32.u64 ~time, ~d0");
}

/* The atomic that does the same, and gives what it found in ~lo, or in ~value if that has 64 bits. */
void write_each_fetch(InstrumentCode *code, const InstrumentStep *step) {
    const PtxStatement *statement = look_statement(code->analysis, step->instruction);
    const PtxForm *form = look_form(code->analysis, step->instruction);
    Str type = ptx_form_modifier(form->row, form->text, STR("t"));
    if (!step->site->fetches)
        return;
    const char *text = code->analysis->module->source->data + statement->begin;
    int size = (int)(statement->end - statement->begin), at = 0, end;
    while (at + 4 < size && memcmp(text + at, "red.", 4) != 0)
        at++;
    for (end = at; end < size && text[end] != ' ' && text[end] != '\t' && text[end] != '['; end++)
        ;
    while (size > end && text[size - 1] != ';')
        size--;
    code_say(code, "%.*satom%.*s %s,%.*s", at, text, end - at - 3, text + at + 3,
             str_ends(type, STR("64")) ? "~value" : "~lo", size - 1 - end, text + end);
    ptx_edit_replace(code->edits, step->at, (Str){code->text.data, code->text.size});
    code->text.size = 0;
}

/* The record of a lane that leads itself, by a call. */
static void write_lane_call(InstrumentCode *code, const Site *site) {
    uint32_t limit = code->chunk - RECORD_UNIT * (2 + lane_units(site) + code->plan->most);
    write_launch(code, "~e0");
    code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_LANE, site->number));
    if (!site->part_count)
        code_say(code, "mov.b64 ~d1, 0");
    if (site->large)
        write_body_call(code, BODY_LANE_LARGE, "~ptr, ~e0, ~word, ~count, %u, ~d1, ~time, ~lo, ~written, ~hi, ~upper",
                        limit);
    else
        write_body_call(code, BODY_LANE, "~ptr, ~e0, ~word, ~count, %u, ~d1, ~time, ~lo, ~written", limit);
    code_say(code, "add.u32 ~count, ~count, 1");
}

void write_lane_body(InstrumentCode *code, bool large) {
    write_body_room(code, "");
    code_say(code, "mov.b32 ~zero, 0");
    code_say(code, "mov.u32 ~t1, %%lanemask_eq");
    code_say(code, "or.b32 ~t0, ~tag, 0x%x", record_word(0, RECORD_STAMP, 0));
    code_say(code, "st.global.v4.b32 [~ptr], {~t0, ~t1, ~count, ~zero}");
    code_say(code, "mov.b64 {~t2, ~t3}, ~d1");
    code_say(code, "st.global.v4.b32 [~ptr+%u], {~t4, ~t1, ~t2, ~t3}", RECORD_UNIT);
    code_say(code, "mov.b64 {~t2, ~t3}, ~written");
    code_say(code, "st.global.v4.b32 [~ptr+%u], {~time, ~lo, ~t2, ~t3}", 2 * RECORD_UNIT);
    if (large) {
        code_say(code, "mov.b64 {~t2, ~t3}, ~upper");
        code_say(code, "st.global.v4.b32 [~ptr+%u], {~zero, ~hi, ~t2, ~t3}", 3 * RECORD_UNIT);
    }
    code_say(code, "add.s64 ~ptr, ~ptr, %u", (3 + large) * RECORD_UNIT);
}

void write_each_behind(InstrumentCode *code, const InstrumentStep *step) {
    const Site *site = step->site;
    const PtxForm *form = look_form(code->analysis, step->instruction);
    EachAccess access = access_of(code->analysis, step);
    if (!site->fetches)
        write_low(code, access.gives);
    else if (str_ends(ptx_form_modifier(form->row, form->text, STR("t")), STR("64")))
        code_say(code, "mov.b64 {~lo, ~hi}, ~value");
    if (!code->plan->together && code->bodies) {
        write_lane_call(code, site);
        code_label(code, step->label);
        return;
    }
    code_say(code, "mov.u32 ~t1, %%lanemask_eq");
    if (site->part_count)
        code_say(code, "mov.b64 {~t2, ~t3}, ~d1");
    else
        code_say(code, "mov.b32 ~t2, 0"), code_say(code, "mov.b32 ~t3, 0");
    if (!code->plan->together) {
        code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_STAMP, 0));
        code_say(code, "st.global.v4.b32 [~d2], {~word, ~t1, ~count, ~zero}");
        code_say(code, "add.s64 ~d2, ~d2, %u", RECORD_UNIT);
        code_say(code, "add.s64 ~ptr, ~d2, %u", lane_units(site) * RECORD_UNIT);
        code_say(code, "add.u32 ~count, ~count, 1");
    }
    code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_LANE, site->number));
    code_say(code, "st.global.v4.b32 [~d2], {~word, ~t1, ~t2, ~t3}");
    code_say(code, "mov.b64 {~t0, ~t1}, ~written");
    code_say(code, "st.global.v4.b32 [~d2+%u], {~time, ~lo, ~t0, ~t1}", RECORD_UNIT);
    if (site->large) {
        code_say(code, "mov.b64 {~t0, ~t1}, ~upper");
        code_say(code, "st.global.v4.b32 [~d2+%u], {~zero, ~hi, ~t0, ~t1}", 2 * RECORD_UNIT);
    }
    code_label(code, step->label);
}
