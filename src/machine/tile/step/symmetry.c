/* Affine forms of integers, instruction by instruction. */
#include "machine/tile/step/symmetry.h"

#include "machine/tile/step/machine_internal.h"

/* ---- Arithmetic ----------------------------------------------------------------------------------- */

static const AffineForm none = {.by = {0}}, loose_form = {.loose = true};

static __int128 least_of(unsigned width) {
    return -((__int128)1 << (width - 1));
}

/* A number that must not wrap in the box. */
static AffineForm in_width(Symmetry *symmetry, AffineForm form, __int128 exact, unsigned width) {
    if (symmetry_is_fixed(symmetry, &form))
        return none;
    if (width < 2 || exact < least_of(width) || exact > -least_of(width) - 1) {
        symmetry_pin(symmetry, &form);
        return none;
    }
    symmetry_keep(symmetry, &form, (int64_t)exact, least_of(width), -least_of(width) - 1);
    return form;
}

/* left + times * right, of these values. */
static AffineForm sum(Symmetry *symmetry, const AffineForm *left, int64_t x, const AffineForm *right, int64_t y,
                      int64_t times, unsigned width) {
    AffineForm form;
    if (symmetry_combine(left, right, times, &form))
        return in_width(symmetry, form, (__int128)x + (__int128)y * times, width);
    symmetry_pin(symmetry, left);
    symmetry_pin(symmetry, right);
    return none;
}

static AffineForm product(Symmetry *symmetry, const AffineForm *forms, const int64_t *values, unsigned width) {
    unsigned fixed = symmetry_is_fixed(symmetry, &forms[0]) ? 0 : 1;
    if (fixed == 1)
        symmetry_pin(symmetry, &forms[1]);
    return sum(symmetry, &none, 0, &forms[!fixed], values[!fixed], values[fixed], width);
}

/* Whether left is below right, equal to it or above it stays as it is. */
static void keep_order(Symmetry *symmetry, const AffineForm *left, int64_t x, const AffineForm *right, int64_t y) {
    AffineForm form;
    __int128 difference = (__int128)x - y;
    __int128 limit = (__int128)1 << 64;
    if (symmetry_is_fixed(symmetry, left) && symmetry_is_fixed(symmetry, right))
        return;
    if (!symmetry_combine(left, right, -1, &form) || difference != (int64_t)difference) {
        symmetry_pin(symmetry, left);
        symmetry_pin(symmetry, right);
        return;
    }
    if (difference == 0)
        symmetry_keep(symmetry, &form, 0, 0, 0);
    else
        symmetry_keep(symmetry, &form, (int64_t)difference, difference < 0 ? -limit : 1, difference < 0 ? -1 : limit);
}

/* Whether x < y (`less`), or x <= y, stays as it is. */
static void keep_comparison(Symmetry *symmetry, const AffineForm *forms, const int64_t *values, bool less) {
    AffineForm form;
    __int128 difference = (__int128)values[0] - values[1], limit = (__int128)1 << 64;
    bool below = less ? difference < 0 : difference <= 0;
    if (symmetry_is_fixed(symmetry, &forms[0]) && symmetry_is_fixed(symmetry, &forms[1]))
        return;
    if (!symmetry_combine(&forms[0], &forms[1], -1, &form) || difference != (int64_t)difference) {
        symmetry_pin(symmetry, &forms[0]);
        symmetry_pin(symmetry, &forms[1]);
        return;
    }
    symmetry_keep(symmetry, &form, (int64_t)difference, below ? -limit : less ? 0 : 1, below ? (less ? -1 : 0) : limit);
}

/* Numbers that are compared without a sign are compared with one where they have none. */
static void keep_natural(Symmetry *symmetry, const AffineForm *form, int64_t value) {
    if (value < 0)
        symmetry_pin(symmetry, form);
    else
        symmetry_keep(symmetry, form, value, 0, INT64_MAX);
}

static void compare(Symmetry *symmetry, Comparison predicate, const AffineForm *forms, const int64_t *values) {
    if (predicate >= COMPARE_ULT) {
        keep_natural(symmetry, &forms[0], values[0]);
        keep_natural(symmetry, &forms[1], values[1]);
    }
    switch (predicate) {
    case COMPARE_EQ:
    case COMPARE_NE:
        keep_order(symmetry, &forms[0], values[0], &forms[1], values[1]);
        break;
    case COMPARE_SLT:
    case COMPARE_ULT:
    case COMPARE_SGE:
    case COMPARE_UGE:
        keep_comparison(symmetry, forms, values, true);
        break;
    default:
        keep_comparison(symmetry, forms, values, false);
        break;
    }
}

/* The quotient of a number that is not negative, or rounds down anyway. `up`: it is rounded up. *rest: the form of what
 * is left over. */
static AffineForm quotient(Symmetry *symmetry, const AffineForm *form, int64_t value, int64_t by, bool up,
                           AffineForm *rest) {
    int64_t left = value % by < 0 ? value % by + by : value % by;
    if (up)
        left = left ? left - 1 : by - 1;
    return symmetry_quotient(symmetry, form, by, left, left, rest);
}

static AffineForm divide(Symmetry *symmetry, Evaluator code, const AffineForm *forms, const int64_t *values) {
    bool rest = code == EVALUATE_REMAINDER_SIGNED || code == EVALUATE_REMAINDER_UNSIGNED;
    bool up = code == EVALUATE_DIVIDE_CEIL_SIGNED || code == EVALUATE_DIVIDE_CEIL_UNSIGNED;
    symmetry_pin(symmetry, &forms[1]);
    if (symmetry_is_fixed(symmetry, &forms[0]))
        return none;
    if (values[0] < 0 || values[1] <= 0) {
        symmetry_pin(symmetry, &forms[0]);
        return none;
    }
    symmetry_keep(symmetry, &forms[0], values[0], 0, INT64_MAX);
    AffineForm left, form = quotient(symmetry, &forms[0], values[0], values[1], up, &left);
    return rest ? left : form;
}

static AffineForm smaller(Symmetry *symmetry, Evaluator code, const AffineForm *forms, const int64_t *values) {
    bool least = code == EVALUATE_MINIMUM_SIGNED || code == EVALUATE_MINIMUM_UNSIGNED;
    bool natural = code == EVALUATE_MINIMUM_UNSIGNED || code == EVALUATE_MAXIMUM_UNSIGNED;
    compare(symmetry, natural ? COMPARE_ULT : COMPARE_SLT, forms, values);
    bool first = least ? values[0] < values[1] : values[0] > values[1];
    /* Where the two are equal the greater may be the other one elsewhere. */
    if (values[0] == values[1] && !least)
        keep_order(symmetry, &forms[0], values[0], &forms[1], values[1]);
    return first ? forms[0] : forms[1];
}

static AffineForm shift(Symmetry *symmetry, Evaluator code, const AffineForm *forms, const int64_t *values,
                        unsigned width) {
    symmetry_pin(symmetry, &forms[1]);
    if (values[1] < 0 || values[1] > 61 || (code == EVALUATE_SHIFT_RIGHT_UNSIGNED && values[0] < 0)) {
        symmetry_pin(symmetry, &forms[0]);
        return none;
    }
    int64_t by = INT64_C(1) << values[1];
    if (code == EVALUATE_SHIFT_LEFT)
        return sum(symmetry, &none, 0, &forms[0], values[0], by, width);
    if (code == EVALUATE_SHIFT_RIGHT_UNSIGNED)
        keep_natural(symmetry, &forms[0], values[0]);
    AffineForm rest;
    return quotient(symmetry, &forms[0], values[0], by, false, &rest);
}

/* The lower bits of a number. */
static AffineForm mask(Symmetry *symmetry, const AffineForm *forms, const int64_t *values) {
    unsigned number = symmetry_is_fixed(symmetry, &forms[0]);
    int64_t bits = values[!number], by = bits + 1;
    if (!symmetry_is_fixed(symmetry, &forms[!number]) || bits <= 0 || (by & bits) || by <= 0 || values[number] < 0) {
        symmetry_pin(symmetry, &forms[0]);
        symmetry_pin(symmetry, &forms[1]);
        return none;
    }
    const AffineForm parts[2] = {forms[number], none};
    return divide(symmetry, EVALUATE_REMAINDER_SIGNED, parts, (const int64_t[]){values[number], by});
}

/* One if x < y - stages * z. */
static void predicate_stage(Symmetry *symmetry, const Evaluation *how, const AffineForm *forms, const int64_t *values) {
    AffineForm last = sum(symmetry, &forms[1], values[1], &forms[2], values[2], -how->a, how->operand_width);
    __int128 exact = (__int128)values[1] - (__int128)how->a * values[2];
    if (exact != integer_wrap((int64_t)exact, how->operand_width)) {
        for (unsigned i = 0; i < 3; i++)
            symmetry_pin(symmetry, &forms[i]);
        return;
    }
    compare(symmetry, COMPARE_SLT, (const AffineForm[]){forms[0], last}, (const int64_t[]){values[0], (int64_t)exact});
}

AffineForm symmetry_number(Symmetry *symmetry, const Evaluation *how, const AffineForm *forms, const int64_t *values,
                           unsigned count) {
    bool fixed = true, loose = false;
    for (unsigned i = 0; i < count; i++) {
        fixed &= symmetry_is_fixed(symmetry, &forms[i]);
        loose |= forms[i].loose;
    }
    if (fixed || loose)
        return (AffineForm){.loose = !fixed};
    switch (how->code) {
    case EVALUATE_ADD:
        return sum(symmetry, &forms[0], values[0], &forms[1], values[1], 1, how->width);
    case EVALUATE_SUBTRACT:
        return sum(symmetry, &forms[0], values[0], &forms[1], values[1], -1, how->width);
    case EVALUATE_ADD_POINTER:
        return sum(symmetry, &forms[0], values[0], &forms[1], values[1], how->a, how->width);
    case EVALUATE_MULTIPLY:
        return product(symmetry, forms, values, how->width);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_WRAP:
    case EVALUATE_SAME:
        return in_width(symmetry, forms[0], values[0], how->width);
    case EVALUATE_ZERO_EXTEND:
        keep_natural(symmetry, &forms[0], values[0]);
        return in_width(symmetry, forms[0], values[0], how->width);
    case EVALUATE_COMPARE:
        compare(symmetry, (Comparison)how->a, forms, values);
        return none;
    case EVALUATE_SELECT:
        symmetry_pin(symmetry, &forms[0]);
        return values[0] ? forms[1] : forms[2];
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED:
        return smaller(symmetry, how->code, forms, values);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return divide(symmetry, how->code, forms, values);
    case EVALUATE_SHIFT_LEFT:
    case EVALUATE_SHIFT_RIGHT_SIGNED:
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return shift(symmetry, how->code, forms, values, how->width);
    case EVALUATE_AND:
        return mask(symmetry, forms, values);
    case EVALUATE_PREDICATE_STAGE:
        predicate_stage(symmetry, how, forms, values);
        return none;
    default:
        for (unsigned i = 0; i < count; i++)
            symmetry_pin(symmetry, &forms[i]);
        return none;
    }
}

/* ---- Instructions --------------------------------------------------------------------------------- */

AffineForm *symmetry_forms(const Machine *machine, uint32_t agent) {
    return machine->symmetry->forms + (size_t)agent * machine->program->most_registers;
}

void symmetry_start(const Machine *machine) {
    memset(machine->symmetry->forms, 0,
           (size_t)machine->agent_count * machine->program->most_registers * sizeof *machine->symmetry->forms);
}

void symmetry_capture(const Machine *machine, uint32_t from, uint32_t to, const Fork *fork) {
    const AffineForm *source = symmetry_forms(machine, from);
    AffineForm *target = symmetry_forms(machine, to);
    memset(target, 0, machine->program->most_registers * sizeof *target);
    for (uint32_t i = 0; i < fork->capture_count; i++) {
        uint32_t reg = machine->program->lists[fork->captures + i];
        if (reg != NO_REGISTER)
            target[i] = source[reg];
    }
}

static void pin_register(const Machine *machine, const AffineForm *forms, uint32_t reg) {
    if (reg != NO_REGISTER)
        symmetry_pin(&machine->symmetry->box, &forms[reg]);
}

static void pin_list(const Machine *machine, const AffineForm *forms, RegisterList list) {
    for (uint32_t i = 0; i < list.count; i++)
        pin_register(machine, forms, machine->program->lists[list.first + i]);
}

/* The form of a tensor, or of what is no number: it may be loose, as long as nothing depends on it. */
static AffineForm follow_tensor(const Machine *machine, const AffineForm *forms, const Word *words,
                                const Evaluation *how, const uint32_t *registers, uint32_t count) {
    enum { FEW = 8 };
    AffineForm operands[FEW];
    Word values[FEW];
    bool fixed = true;
    for (uint32_t i = 0; i < count; i++) {
        bool here = registers[i] != NO_REGISTER;
        fixed &= !here || symmetry_is_fixed(&machine->symmetry->box, &forms[registers[i]]);
        if (i < FEW) {
            operands[i] = here ? forms[registers[i]] : none;
            values[i] = here ? words[registers[i]] : word_unknown(0);
        }
    }
    if (fixed || count > FEW)
        return (AffineForm){.loose = !fixed};
    return symmetry_tensor(&machine->symmetry->box, how, operands, values, count);
}

/* An op of up to three integers; of anything else nothing may move. */
static AffineForm follow_number(const Machine *machine, const AffineForm *forms, const Word *words,
                                const Evaluation *how, const uint32_t *registers, uint32_t count) {
    AffineForm operands[3];
    int64_t values[3];
    bool numbers = count <= 3 && !how->tensor;
    for (uint32_t i = 0; i < count && numbers; i++) {
        numbers = registers[i] != NO_REGISTER && word_is(words[registers[i]], WORD_INTEGER);
        if (numbers) {
            operands[i] = forms[registers[i]];
            values[i] = words[registers[i]].bits;
        }
    }
    if (machine->symmetry->places && (!numbers || how->code == EVALUATE_NONE))
        return follow_tensor(machine, forms, words, how, registers, count);
    if (numbers)
        return symmetry_number(&machine->symmetry->box, how, operands, values, count);
    for (uint32_t i = 0; i < count; i++)
        pin_register(machine, forms, registers[i]);
    return none;
}

/* The counter of a loop is compared with its end. */
static void follow_for(const Machine *machine, const AffineForm *forms, const Word *words,
                       const Instruction *instruction) {
    const AffineForm sides[2] = {forms[instruction->dst], forms[instruction->b]};
    const int64_t values[2] = {words[instruction->dst].bits, words[instruction->b].bits};
    compare(&machine->symmetry->box, instruction->operand_width ? COMPARE_ULT : COMPARE_SLT, sides, values);
}

static void follow_switch(const Machine *machine, const AffineForm *forms, const Word *words,
                          const Instruction *instruction) {
    if (word_is(words[instruction->a], WORD_INTEGER))
        keep_order(&machine->symmetry->box, &forms[instruction->a], words[instruction->a].bits, &none,
                   machine->program->cases[instruction->b]);
    else
        pin_register(machine, forms, instruction->a);
}

/* An access to global memory: its form says where it lies, but what is masked off, and how much it is, may not
 * differ. What it loads may. */
static void follow_access(const Machine *machine, AffineForm *forms, const CompiledEffect *effect) {
    const uint32_t registers[] = {effect->amount,           effect->through, effect->predicate,
                                  effect->second_predicate, effect->mask,    effect->rows};
    for (unsigned k = 0; k < sizeof registers / sizeof *registers; k++)
        pin_register(machine, forms, registers[k]);
    uint32_t result =
        effect->transfer == NO_TRANSFER ? NO_REGISTER : machine->program->transfers[effect->transfer].result;
    if (result != NO_REGISTER)
        forms[result] = (AffineForm){.loose = true};
}

static void follow_effects(const Machine *machine, AffineForm *forms, const Instruction *instruction) {
    for (uint32_t i = 0; i < instruction->a; i++) {
        const CompiledEffect *effect = &machine->program->effects[instruction->aux + i];
        if (machine->symmetry->places && effect->effect.space == SPACE_GLOBAL) {
            follow_access(machine, forms, effect);
            continue;
        }
        const uint32_t registers[] = {
            effect->on,   effect->amount, effect->through, effect->predicate, effect->second_predicate,
            effect->slot, effect->boxes,  effect->mask,    effect->offsets,   effect->rows,
            effect->rank};
        for (unsigned k = 0; k < sizeof registers / sizeof *registers; k++)
            pin_register(machine, forms, registers[k]);
        if (machine->program->global && !machine->symmetry->places)
            pin_list(machine, forms, effect->coordinates);
    }
}

/* What is loaded from one place is the same for all, unless it was given to each; of global memory it is not known. */
static AffineForm follow_load(const Machine *machine, const AffineForm *forms, const Instruction *instruction) {
    if (machine->symmetry->places)
        return (AffineForm){.loose = true};
    pin_register(machine, forms, instruction->a);
    pin_register(machine, forms, instruction->b);
    pin_register(machine, forms, instruction->c);
    if (machine->symmetry->loads_differ)
        symmetry_pin(&machine->symmetry->box, &loose_form);
    return none;
}

static void follow_descriptor(const Machine *machine, const AffineForm *forms, const Instruction *instruction) {
    const Maker *maker = &machine->program->makers[instruction->aux];
    pin_register(machine, forms, maker->pointer);
    pin_list(machine, forms, maker->box);
    if (!machine->program->global)
        return;
    pin_register(machine, forms, maker->base);
    pin_register(machine, forms, maker->predicate);
    pin_list(machine, forms, maker->shape);
    pin_list(machine, forms, maker->strides);
    pin_list(machine, forms, maker->offsets);
    pin_list(machine, forms, maker->bounds);
}

void symmetry_follow(const Machine *machine, uint32_t agent, const Instruction *instruction) {
    const Program *program = machine->program;
    const Word *words = machine_words(machine, agent);
    AffineForm *forms = symmetry_forms(machine, agent), to = none;
    switch ((Code)instruction->code) {
    case CODE_INTEGER:
        to = follow_number(machine, forms, words, &program->evaluations[instruction->aux],
                           (const uint32_t[]){instruction->a, instruction->b, instruction->c},
                           program->ops[instruction - program->code]->operand_count);
        break;
    case CODE_EVALUATE:
        to = follow_number(machine, forms, words, &program->evaluations[instruction->aux],
                           program->lists + instruction->a, instruction->b);
        break;
    case CODE_MOVE:
        to = forms[instruction->a];
        break;
    case CODE_LOOP:
        pin_register(machine, forms, instruction->c);
        to = forms[instruction->a];
        break;
    case CODE_FOR:
        follow_for(machine, forms, words, instruction);
        return;
    case CODE_NEXT:
        to = sum(&machine->symmetry->box, &forms[instruction->dst], words[instruction->dst].bits,
                 &forms[instruction->c], words[instruction->c].bits, 1, instruction->width);
        break;
    case CODE_SWITCH:
        follow_switch(machine, forms, words, instruction);
        return;
    case CODE_PROGRAM_ID:
        to = symmetry_coordinate(&machine->symmetry->box, instruction->aux,
                                 program->ranks_are_programs ? program->cluster[instruction->aux] : 1);
        break;
    case CODE_LOAD:
        to = follow_load(machine, forms, instruction);
        break;
    case CODE_CLC:
        symmetry_pin(&machine->symmetry->box, &loose_form);
        break;
    case CODE_EFFECTS:
        follow_effects(machine, forms, instruction);
        return;
    case CODE_DESCRIPTOR:
        follow_descriptor(machine, forms, instruction);
        break;
    case CODE_BRANCH:
    case CODE_ASSUME:
        pin_register(machine, forms, instruction->a);
        return;
    case CODE_VIEW:
    case CODE_KEEP_BUFFER:
    case CODE_BUFFER:
    case CODE_CELL:
    case CODE_KEEP:
    case CODE_FINISHED:
    case CODE_FROM_POINTER:
        pin_register(machine, forms, instruction->a);
        pin_register(machine, forms, instruction->b);
        if (instruction->code == CODE_VIEW)
            pin_register(machine, forms, instruction->c);
        break;
    case CODE_PROGRAMS:
    case CODE_RANK:
    case CODE_RANKS:
    case CODE_ALLOCATE:
    case CODE_SCRATCH:
    case CODE_SEQUENCE:
        break;
    case CODE_JUMP:
    case CODE_AGAIN:
    case CODE_FORK:
    case CODE_JOIN:
    case CODE_END:
        return;
    }
    if (instruction->dst != NO_REGISTER)
        forms[instruction->dst] = to;
}
