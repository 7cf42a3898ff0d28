/* The operands of an instruction as arguments of the machine. */
#include "machine/simt/decode/internal.h"

/* What the row says of a constant that stands there. */
typedef struct DecodeWanted {
    unsigned bits; /* 0: nothing */
    char letter;
} DecodeWanted;

/* Those of the first operands of a form. */
enum { WANTED_KEPT = 6 };
struct WantedTypes {
    bool known[WANTED_KEPT];
    DecodeWanted at[WANTED_KEPT];
};

typedef struct Decoding {
    PtxProgram *program;
    const PtxForm *form;
    const uint32_t *places;
    uint32_t first_statement;
    WantedTypes *types; /* of each form */
} Decoding;

/* ---- Types of constants ---- */

static DecodeWanted wanted_type(const PtxForm *form, Str type) {
    Str word = ptx_form_modifier(form->row, form->text, type);
    bool wide = str_is(type, "wide");
    if (wide)
        word = ptx_form_modifier(form->row, form->text, STR("t"));
    if (!word.size)
        word = type;
    DecodeWanted wanted = {.bits = ptx_bits_of_type(word) * (wide ? 2 : 1), .letter = word.size ? word.data[0] : 0};
    if (wanted.bits > 64)
        wanted.bits = 64;
    return wanted;
}

/* Of the operand at that place. A vector's type is that of its members; of pairs ("d|p") only registers are read. */
static DecodeWanted wanted_at(const Decoding *d, unsigned place) {
    const PtxRow *row = d->form->row;
    PtxOperandRow operand;
    const char *at = row ? row->operands : "";
    for (unsigned i = 0; row && ptx_next_operand(&at, &operand); i++) {
        if (operand.optional && operand.with.size && !ptx_form_has(d->form->text, operand.with) &&
            !ptx_form_modifier(row, d->form->text, operand.with).size) {
            i--;
            continue;
        }
        if (i == place)
            return operand.type.size ? wanted_type(d->form, operand.type) : (DecodeWanted){0};
    }
    return (DecodeWanted){0};
}

static DecodeWanted wanted_of(const Decoding *d, unsigned place) {
    if (place >= WANTED_KEPT)
        return wanted_at(d, place);
    if (!d->types->known[place]) {
        d->types->known[place] = true;
        d->types->at[place] = wanted_at(d, place);
    }
    return d->types->at[place];
}

WantedTypes *decode_types(const PtxModule *module, Arena *scratch) {
    return ARENA_ARRAY(scratch, WantedTypes, module->forms_count);
}

/* ---- Constants ---- */

static uint32_t constant_row(PtxProgram *program, uint64_t value) {
    for (uint32_t i = program->constant_count, tried = 0; i-- > 0 && tried < 64; tried++)
        if (program->constants[i].at[0] == value)
            return i;
    Lanes *row = ARENA_PUSH(program->arena, program->constants, program->constant_count, program->constant_capacity);
    for (unsigned i = 0; i < PTX_LANES; i++)
        row->at[i] = value;
    return program->constant_count - 1;
}

static uint64_t single_of(uint64_t bits) {
    double wide;
    memcpy(&wide, &bits, sizeof wide);
    float narrow = (float)wide;
    uint32_t low;
    memcpy(&low, &narrow, sizeof low);
    return low;
}

static uint64_t double_of(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float narrow;
    memcpy(&narrow, &low, sizeof narrow);
    double wide = (double)narrow;
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

static void decode_constant(Decoding *d, const PtxOperand *operand, DecodeWanted wanted, PtxArgument *to) {
    uint64_t value = operand->bits;
    unsigned bits = wanted.bits;
    if (operand->kind == PTX_DOUBLE && wanted.letter == 'f' && bits == 32)
        value = single_of(value);
    if (operand->kind == PTX_SINGLE && wanted.letter == 'f' && bits == 64)
        value = double_of(value);
    if (!bits)
        bits = operand->kind == PTX_SINGLE ? 32 : 64;
    if (bits == 1)
        value = value != 0;
    else if (bits < 64)
        value &= (UINT64_C(1) << bits) - 1;
    to->kind = ARGUMENT_CONSTANT;
    to->bits = (uint8_t)bits;
    to->slot = constant_row(d->program, value);
}

/* ---- Registers ---- */

static uint32_t new_arguments(PtxProgram *program, uint32_t count) {
    uint32_t first = program->argument_count;
    for (uint32_t i = 0; i < count; i++)
        ARENA_PUSH(program->arena, program->arguments, program->argument_count, program->argument_capacity);
    return first;
}

/* Rows of one element, and of one register. */
static uint32_t element_rows(const PtxSymbolSlot *seat) {
    return seat->bits > 64 ? 2 : 1;
}

static PtxArgument register_argument(const PtxSymbolSlot *seat, const PtxOperand *operand, unsigned member) {
    uint32_t index = (uint32_t)operand->value, each = element_rows(seat);
    PtxArgument made = {
        .kind = seat->bits == 1 ? ARGUMENT_PREDICATE : ARGUMENT_ROW, .bits = seat->bits, .negated = operand->negated};
    made.slot = (uint32_t)seat->at + (seat->bits == 1 ? index : (index * seat->members + member) * each);
    return made;
}

static void decode_register(Decoding *d, const PtxOperand *operand, PtxArgument *to) {
    PtxProgram *program = d->program;
    const PtxSymbolSlot *seat = &program->seats[operand->a];
    uint32_t at = (uint32_t)(operand - program->module->operands);
    bool member = operand->part >= PTX_X && operand->part <= PTX_W;
    if (!seat->bits) {
        *to = (PtxArgument){.kind = ARGUMENT_WORD, .operand = at};
        return;
    }
    if (seat->members == 1 || member) {
        *to = register_argument(seat, operand, member && seat->members > 1 ? operand->part - PTX_X : 0);
        to->part = member ? PTX_WHOLE : operand->part;
        to->operand = at;
        return;
    }
    PtxArgument whole = {.kind = ARGUMENT_MEMBERS, .count = seat->members, .operand = at};
    whole.first = new_arguments(program, seat->members);
    for (unsigned i = 0; i < seat->members; i++) {
        program->arguments[whole.first + i] = register_argument(seat, operand, i);
        program->arguments[whole.first + i].operand = at;
    }
    *to = whole;
}

/* ---- Trees ---- */

static PtxArgument decode_operand(Decoding *d, const PtxOperand *operand, DecodeWanted wanted);

static void decode_members(Decoding *d, const PtxOperand *operand, DecodeWanted wanted, PtxArgument *to) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < operand->a; i += ptx_extent(&operand[1 + i]))
        count++;
    to->count = count;
    to->first = new_arguments(d->program, count);
    for (uint32_t i = 0, at = 0; i < count; i++, at += ptx_extent(&operand[1 + at])) {
        PtxArgument member = decode_operand(d, &operand[1 + at], wanted);
        d->program->arguments[to->first + i] = member;
    }
}

/* Of a label: where the instruction behind it is, unless it is one of a list or a prototype. */
static void decode_target(const Decoding *d, const PtxOperand *operand, PtxArgument *to) {
    const PtxModule *module = d->program->module;
    const PtxStatement *behind = operand->a + 1 < module->statements_count ? &module->statements[operand->a + 1] : NULL;
    bool jump = !behind || (behind->kind != PTX_PROTOTYPE && behind->kind != PTX_DIRECTIVE);
    if (behind && behind->kind == PTX_DIRECTIVE && behind->count)
        jump = module->operands[behind->first].kind != PTX_TARGET && module->operands[behind->first].kind != PTX_CALLEE;
    if (!jump)
        return;
    to->kind = ARGUMENT_JUMP;
    to->slot = d->places[operand->a - d->first_statement];
}

static PtxArgument decode_operand(Decoding *d, const PtxOperand *operand, DecodeWanted wanted) {
    PtxArgument made = {.kind = ARGUMENT_WORD, .operand = (uint32_t)(operand - d->program->module->operands)};
    switch ((PtxOperandKind)operand->kind) {
    case PTX_REGISTER:
        decode_register(d, operand, &made);
        break;
    case PTX_SPECIAL:
        made.kind = ARGUMENT_READ_ONLY;
        made.slot = operand->a;
        made.part = operand->part;
        made.offset = operand->value;
        made.bits = ptx_special_at(operand->a)->bits > 32 ? 64 : 32;
        break;
    case PTX_INTEGER:
    case PTX_SINGLE:
    case PTX_DOUBLE:
        decode_constant(d, operand, wanted, &made);
        break;
    case PTX_VARIABLE:
        made.kind = ARGUMENT_SYMBOL;
        made.slot = operand->a;
        made.offset = operand->value;
        made.bits = 64;
        break;
    case PTX_CALLEE:
        made.kind = ARGUMENT_ROUTINE;
        made.slot = ptx_function_behind(d->program->module, operand->a);
        made.bits = 64;
        break;
    case PTX_TARGET:
        decode_target(d, operand, &made);
        break;
    case PTX_SINK:
        made.kind = ARGUMENT_SINK;
        break;
    case PTX_ADDRESS:
        made.kind = ARGUMENT_ADDRESS;
        made.offset = operand->value;
        decode_members(d, operand, (DecodeWanted){0}, &made);
        break;
    case PTX_VECTOR:
    case PTX_PAIR:
    case PTX_LIST:
        made.kind = ARGUMENT_MEMBERS;
        decode_members(d, operand, wanted, &made);
        break;
    default:
        break;
    }
    return made;
}

void decode_arguments(PtxProgram *program, PtxCode *code, const uint32_t *places, uint32_t first_statement,
                      WantedTypes *types) {
    const PtxModule *module = program->module;
    const PtxStatement *statement = &module->statements[code->statement];
    uint32_t taken, count = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &taken);
    for (uint32_t i = 0; i < taken; i += ptx_extent(&operands[i]))
        count++;
    Decoding d = {.program = program,
                  .form = code->form,
                  .places = places,
                  .first_statement = first_statement,
                  .types = &types[statement->what]};
    uint32_t first = new_arguments(program, count);
    for (uint32_t i = 0, at = 0; i < count; i++, at += ptx_extent(&operands[at])) {
        PtxArgument made = decode_operand(&d, &operands[at], wanted_of(&d, i));
        program->arguments[first + i] = made;
    }
    code->first = first;
    code->count = count;
    code->guard = PTX_NONE;
    if (statement->flags & PTX_GUARDED) {
        PtxArgument guard = decode_operand(&d, &module->operands[statement->first], (DecodeWanted){.bits = 1});
        code->guard = guard.kind == ARGUMENT_PREDICATE ? guard.slot : PTX_NONE;
        code->guard_negated = (statement->flags & PTX_NEGATED) != 0;
    }
}
