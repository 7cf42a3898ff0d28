/* mov: a register, a number, an address or a special register; a vector made one register, or one register taken apart.
 */
#include "base/number.h"
#include "machine/simt/arith/compute.h"

enum { MOVE_MEMBERS = 8 };

/* Both sides as lists of members, each of so many bits. */
typedef struct ArithMove {
    PtxArgument to[MOVE_MEMBERS], from[MOVE_MEMBERS];
    uint8_t to_count, from_count;
    uint8_t to_bits, from_bits; /* of one member */
} ArithMove;

static PtxStep run_one(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ArithMove *move = code->detail;
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *values = ptx_fetch(machine, group, &move->from[0], 0, &scratch, &unknown);
    uint64_t mask = low_ones(move->to_bits);
    if (move->from_bits > move->to_bits) {
        EACH_LANE scratch.at[i] = values->at[i] & mask;
        values = &scratch;
    }
    ptx_put(machine, group, &move->to[0], 0, values, lanes, unknown);
    return PTX_STEP_NEXT;
}

static PtxStep run_predicate(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ArithMove *move = code->detail;
    uint32_t unknown = 0, mask = ptx_fetch_mask(machine, group, &move->from[0], &unknown);
    ptx_put_mask(machine, group, &move->to[0], mask, lanes, unknown);
    return PTX_STEP_NEXT;
}

/* The members of a vector, one by one; all are read before one is written. */
static PtxStep run_each(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ArithMove *move = code->detail;
    Lanes scratch, values[MOVE_MEMBERS];
    uint32_t unknown[MOVE_MEMBERS] = {0};
    for (unsigned k = 0; k < move->from_count; k++)
        values[k] = *ptx_fetch(machine, group, &move->from[k], 0, &scratch, &unknown[k]);
    for (unsigned k = 0; k < move->to_count; k++)
        ptx_put(machine, group, &move->to[k], 0, &values[k], lanes, unknown[k]);
    return PTX_STEP_NEXT;
}

/* Bits are gathered in two rows, of which 64 bits need only one, and handed out again. */
static PtxStep run_bits(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ArithMove *move = code->detail;
    Lanes whole[2] = {{{0}}, {{0}}}, scratch, part;
    uint32_t unknown[2] = {0, 0};
    for (unsigned k = 0, at = 0; k < move->from_count; k++)
        for (unsigned half = 0, bits = move->from_bits; half * 64 < bits; half++, at += bits < 64 ? bits : 64) {
            const Lanes *values = ptx_fetch(machine, group, &move->from[k], half, &scratch, &unknown[at / 64 & 1]);
            uint64_t mask = low_ones(bits);
            EACH_LANE whole[at / 64 & 1].at[i] |= (values->at[i] & mask) << at % 64;
        }
    for (unsigned k = 0, at = 0; k < move->to_count; k++)
        for (unsigned half = 0, bits = move->to_bits; half * 64 < bits; half++, at += bits < 64 ? bits : 64) {
            uint64_t mask = low_ones(bits);
            EACH_LANE part.at[i] = whole[at / 64 & 1].at[i] >> at % 64 & mask;
            if (move->to[k].kind != ARGUMENT_SINK)
                ptx_put(machine, group, &move->to[k], half, &part, lanes, unknown[at / 64 & 1]);
        }
    return PTX_STEP_NEXT;
}

/* ---- Picking ------------------------------------------------------------------------------------------------- */

/* False: more members than there can be. */
static bool read_side(const PtxProgram *program, const PtxArgument *argument, PtxArgument *members, uint8_t *count) {
    if (argument->kind != ARGUMENT_MEMBERS) {
        members[0] = *argument;
        *count = 1;
        return true;
    }
    if (!argument->count || argument->count > MOVE_MEMBERS)
        return false;
    for (uint32_t i = 0; i < argument->count; i++)
        members[i] = *argument_member(program, argument, i);
    *count = (uint8_t)argument->count;
    return true;
}

static PtxRun *pick(ArithMove *move, PtxType type, bool vector) {
    if (type.class == CLASS_PREDICATE)
        return move->to_count == 1 && move->from_count == 1 ? run_predicate : NULL;
    if (vector)
        return move->to_count == move->from_count ? run_each : NULL;
    move->to_bits = (uint8_t)(type.bits / move->to_count);
    move->from_bits = (uint8_t)(type.bits / move->from_count);
    if (move->to_count == 1 && move->from_count == 1 && type.bits <= 64) {
        move->from_bits = move->from[0].bits ? move->from[0].bits : 64;
        return run_one;
    }
    return run_bits;
}

bool move_prepare(const PtxPrepare *about, PtxCode *code) {
    ArithMove made = {0};
    PtxType types[COMPUTE_TYPES];
    compute_types(code->form->text, types);
    if (code->count != 2 || !types[0].class ||
        !read_side(about->program, code_argument(about->program, code, 0), made.to, &made.to_count) ||
        !read_side(about->program, code_argument(about->program, code, 1), made.from, &made.from_count))
        return false;
    bool vector = ptx_form_has(code->form->text, STR("v2")) || ptx_form_has(code->form->text, STR("v4"));
    PtxRun *run = pick(&made, types[0], vector);
    if (!run)
        return false;
    ArithMove *move = ARENA_NEW(about->program->arena, ArithMove);
    *move = made;
    code->detail = move;
    code->run = run;
    return true;
}
