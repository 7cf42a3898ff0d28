/* The effects of inline assembly: its statements one after the other, with what is known of its registers.
 *
 * Of a register it is enough to know whether it holds an operand of the op (an address is one, and an offset), a number
 * of the text, the thread's own number, what an access found, or how two of those compare. */
#include "model/effect/inline_ptx.h"

#include "ir/op.h"
#include "model/effect/inline_ptx_internal.h"
#include "model/effect/internal.h"

enum { MOST_CONSTRAINTS = 64, MOST_REGISTERS = 64, MOST_LABELS = 8 };

typedef enum FactKind {
    FACT_NONE,
    FACT_VALUE,  /* of the op's operand `value`, and `number` more */
    FACT_NUMBER, /* `number` */
    FACT_THREAD, /* which thread of the CTA it is */
    FACT_FOUND,  /* what access `number` of the text found */
} FactKind;
typedef struct InlinePtxFact {
    FactKind kind;
    const Value *value;
    int64_t number;
} InlinePtxFact;

/* What a register holds: a fact, or, of a predicate, whether `fact` stands in `relation` to `than`. Operand $N of the
 * op has no name, and the value N. */
typedef struct Register {
    PtxOperand name;
    InlinePtxFact fact, than;
    bool is_truth, is_signed;
    InlineRelation relation;
} Register;

typedef struct InlinePtxLabel {
    uint32_t statement;
    unsigned effects; /* how many there were before it */
} InlinePtxLabel;

typedef struct InlinePtxReader {
    Module *module;
    const Op *op;
    const PtxModule *ptx;
    /* Which value each $N is. */
    const Value *inputs[MOST_CONSTRAINTS]; /* NULL: an output that no input shares a register with */
    unsigned outputs, constraints;
    bool mapped;      /* the constraints are as many as the values */
    uint64_t written; /* $N that no longer hold what they did at the start */
    Register registers[MOST_REGISTERS];
    unsigned register_count;
    InlinePtxLabel labels[MOST_LABELS];
    unsigned label_count;
    /* "@p bra done; bra loop; done:" on the way: the first branch, then the second. */
    uint32_t exit_label;
    Register exit_condition;
    bool exit_negated;
    unsigned exit_state; /* 0: none */
    Effect *effects;
    unsigned most, count;
    InlineAccess accesses[EFFECTS_MOST];
} InlinePtxReader;

bool is_inline_ptx(const Op *op) {
    return op_is(op, CLASS_INLINE_PTX);
}

/* LLVM's has one result at most, which is a struct of all that the text writes. */
static bool has_one_result(const Op *op) {
    return op->row->result_count && op->row->results[0].arity == SLOT_OPTIONAL;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static Str next_constraint(Str *list) {
    const char *end = list->data + list->size, *comma = list->size ? memchr(list->data, ',', list->size) : NULL;
    Str constraint = str_between(list->data, comma ? comma : end);
    *list = comma ? str_between(comma + 1, end) : str_between(end, end);
    while (constraint.size && constraint.data[0] == ' ')
        constraint = (Str){constraint.data + 1, constraint.size - 1};
    while (constraint.size && constraint.data[constraint.size - 1] == ' ')
        constraint.size--;
    return constraint;
}

/* Outputs are numbered first, then inputs; "0" is an input in the register of output 0, "~{memory}" is neither. Several
 * elements in one register are not taken apart. */
static void map_operands(InlinePtxReader *reader) {
    const Op *op = reader->op;
    Str list = op_string(op, "constraints");
    const Attr *packed = op_attr(op, "packed_element");
    unsigned inputs = 0;
    bool good = !packed || (packed->kind == ATTR_INTEGER && packed->integer == 1);
    while (list.size) {
        Str constraint = next_constraint(&list);
        int64_t tied;
        if (!constraint.size || constraint.data[0] == '~')
            continue;
        bool output = constraint.data[0] == '=';
        if (reader->constraints == MOST_CONSTRAINTS || (output && inputs) ||
            memchr(constraint.data, '*', constraint.size))
            return;
        reader->outputs += output;
        if (!output && inputs < op->operand_count) {
            reader->inputs[reader->constraints] = op->operands[inputs];
            if (str_to_int(constraint, &tied) && tied >= 0 && tied < reader->outputs)
                reader->inputs[tied] = op->operands[inputs];
        }
        inputs += !output;
        reader->constraints++;
    }
    bool results =
        has_one_result(op) ? (reader->outputs > 0) == (op->result_count > 0) : reader->outputs == op->result_count;
    reader->mapped = good && results && inputs == op->operand_count;
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* A name as it is kept: $N, or what the operand stands for. */
static PtxOperand name_of(const InlinePtxReader *reader, const PtxOperand *operand) {
    Str text = operand->kind == PTX_NAME ? ptx_name(reader->ptx, operand->a) : (Str){"", 0};
    int64_t number;
    if (text.size > 1 && *text.data == '$' && str_to_int((Str){text.data + 1, text.size - 1}, &number))
        return (PtxOperand){.kind = PTX_NAME, .a = PTX_NONE, .value = number};
    return (PtxOperand){.kind = operand->kind, .part = operand->part, .a = operand->a, .value = operand->value};
}

static bool is_op_operand(const PtxOperand *name) {
    return name->kind == PTX_NAME && name->a == PTX_NONE;
}

static Register *find_register(InlinePtxReader *reader, const PtxOperand *name) {
    for (unsigned i = 0; i < reader->register_count; i++) {
        const PtxOperand *other = &reader->registers[i].name;
        if (other->kind == name->kind && other->part == name->part && other->a == name->a &&
            other->value == name->value)
            return &reader->registers[i];
    }
    return NULL;
}

static bool is_thread(const PtxOperand *operand) {
    return operand->kind == PTX_SPECIAL && operand->part == PTX_X &&
           strcmp(ptx_special_at(operand->a)->name, "%tid") == 0;
}

static Register look_up(InlinePtxReader *reader, const PtxOperand *operand) {
    PtxOperand name = name_of(reader, operand);
    const Register *found = find_register(reader, &name);
    Register known = {0};
    if (operand->negated)
        return known;
    if (found)
        return *found;
    if (name.kind == PTX_INTEGER)
        known.fact = (InlinePtxFact){.kind = FACT_NUMBER, .number = name.value};
    else if (is_thread(operand))
        known.fact.kind = FACT_THREAD;
    else if (is_op_operand(&name) && reader->mapped && name.value < reader->constraints &&
             !(reader->written >> name.value & 1) && reader->inputs[name.value])
        known.fact = (InlinePtxFact){.kind = FACT_VALUE, .value = reader->inputs[name.value]};
    return known;
}

/* From now on the register holds what `known` does. */
static void set_register(InlinePtxReader *reader, const PtxOperand *operand, Register known) {
    if (operand->kind != PTX_NAME && operand->kind != PTX_REGISTER)
        return;
    known.name = name_of(reader, operand);
    if (is_op_operand(&known.name) && known.name.value < MOST_CONSTRAINTS)
        reader->written |= (uint64_t)1 << known.name.value;
    Register *place = find_register(reader, &known.name);
    if (!place && reader->register_count == MOST_REGISTERS)
        return; /* one that is not in the list holds nothing that is known */
    if (!place)
        place = &reader->registers[reader->register_count++];
    *place = known;
}

/* All that an instruction writes: `known`, or the first of a pair p|q is that. */
static void set_results(InlinePtxReader *reader, const PtxOperand *to, Register known) {
    for (uint32_t i = 0; i < ptx_extent(to); i++)
        set_register(reader, &to[i], i == (to->kind == PTX_PAIR) ? known : (Register){0});
}

static void forget_all(InlinePtxReader *reader) {
    reader->register_count = 0;
}

static InlineNumber number_of(InlinePtxReader *reader, const PtxOperand *operand) {
    Register known = operand ? look_up(reader, operand) : (Register){0};
    bool plain = !known.is_truth;
    if (plain && known.fact.kind == FACT_NUMBER)
        return (InlineNumber){.known = true, .number = known.fact.number};
    if (plain && known.fact.kind == FACT_VALUE && !known.fact.number)
        return (InlineNumber){.known = true, .value = known.fact.value};
    return (InlineNumber){0};
}

/* The number itself, if the text or a constant says it. */
static bool constant_number(InlinePtxReader *reader, const PtxOperand *operand, int64_t *number) {
    InlineNumber found = number_of(reader, operand);
    *number = found.number;
    return found.known && (!found.value || value_constant(found.value, number));
}

/* ---- What registers become ------------------------------------------------------------------- */

static const struct {
    const char *word;
    InlineRelation relation;
} relations[] = {
    {"eq", RELATION_EQUAL},   {"ne", RELATION_UNEQUAL},  {"lt", RELATION_LESS}, {"le", RELATION_LESS_EQUAL},
    {"gt", RELATION_GREATER}, {"ge", RELATION_AT_LEAST}, {"lo", RELATION_LESS}, {"ls", RELATION_LESS_EQUAL},
    {"hi", RELATION_GREATER}, {"hs", RELATION_AT_LEAST},
};

static InlineRelation opposite(InlineRelation relation) {
    static const InlineRelation opposites[] = {
        [RELATION_EQUAL] = RELATION_UNEQUAL,      [RELATION_UNEQUAL] = RELATION_EQUAL,
        [RELATION_LESS] = RELATION_AT_LEAST,      [RELATION_AT_LEAST] = RELATION_LESS,
        [RELATION_LESS_EQUAL] = RELATION_GREATER, [RELATION_GREATER] = RELATION_LESS_EQUAL,
    };
    return opposites[relation];
}

/* The single operand at a place, or NULL: it is missing, an address, or several. */
static const PtxOperand *single(const InlinePtxReader *reader, const PtxStatement *statement, unsigned place) {
    const PtxOperand *operand = ptx_operand_at(reader->ptx, statement, place);
    return operand && operand->kind < PTX_ADDRESS ? operand : NULL;
}

/* setp.ne.s32 p, a, b */
static Register compare(Str words, const Register *left, const Register *right) {
    Str word = next_part(&words), type = next_part(&words);
    if (words.size || !type.size || type.data[0] == 'f' || left->is_truth || right->is_truth)
        return (Register){0};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (str_is(word, relations[i].word))
            return (Register){.fact = left->fact,
                              .than = right->fact,
                              .is_truth = true,
                              .is_signed = type.data[0] == 's',
                              .relation = relations[i].relation};
    return (Register){0};
}

/* What an instruction without effects leaves in its first operand. */
static Register outcome(InlinePtxReader *reader, const PtxStatement *statement) {
    Str form = reader->ptx->forms[statement->what].text, words = form, word = next_part(&words);
    unsigned count = ptx_operand_count(reader->ptx, statement);
    const PtxOperand *from = single(reader, statement, 1), *other = single(reader, statement, 2);
    bool two = count == 2 && from, three = count == 3 && from && other;
    Register a = from ? look_up(reader, from) : (Register){0}, b = other ? look_up(reader, other) : (Register){0};
    if (three && str_is(word, "setp"))
        return compare(words, &a, &b);
    if (!single(reader, statement, 0)) /* taken to pieces */
        return (Register){0};
    if (two && (str_is(word, "mov") || word_place(form, "cvta.to.global.u64 cvta.global.u64") >= 0))
        return a;
    if (three && str_is(word, "add") && word_place(words, "s64 u64") >= 0) {
        if (a.fact.kind == FACT_NUMBER) {
            Register swapped = a;
            a = b;
            b = swapped;
        }
        if (!a.is_truth && a.fact.kind == FACT_VALUE && b.fact.kind == FACT_NUMBER &&
            !__builtin_add_overflow(a.fact.number, b.fact.number, &a.fact.number))
            return a;
    }
    return (Register){0};
}

/* The first operand, and its second half in p|q, are overwritten. Under a predicate nothing is known of them. */
static void note_outcome(InlinePtxReader *reader, const PtxStatement *statement) {
    const PtxOperand *to = ptx_operand_at(reader->ptx, statement, 0);
    if (statement->kind == PTX_UNREAD) {
        forget_all(reader);
        reader->written = UINT64_MAX;
    } else if (to && to->kind != PTX_ADDRESS) {
        set_results(reader, to, statement->flags & PTX_GUARDED ? (Register){0} : outcome(reader, statement));
    }
}

/* ---- Predicates ------------------------------------------------------------------------------ */

typedef struct InlinePtxGuard {
    bool known, one_thread;
    const Value *value; /* NULL: always */
} InlinePtxGuard;

/* A value of one bit, or one that was made from one. */
static bool is_boolean(Module *module, const Value *value) {
    const Op *extended = value_made(value, EVALUATE_ZERO_EXTEND);
    if (extended && extended->operand_count)
        value = extended->operands[0];
    const Type *type = type_resolve(module, value->type);
    type = type && type->kind == TYPE_TENSOR ? type_resolve(module, type->element) : type;
    return type && type->kind == TYPE_INTEGER && type->width == 1;
}

/* When a statement is carried out: always, if a value is not 0, or by one thread. */
static InlinePtxGuard guard_of(InlinePtxReader *reader, const PtxStatement *statement) {
    if (!(statement->flags & PTX_GUARDED))
        return (InlinePtxGuard){.known = true};
    Register known = look_up(reader, &reader->ptx->operands[statement->first]);
    bool holds = !(statement->flags & PTX_NEGATED);
    if (!known.is_truth)
        return (InlinePtxGuard){.known = holds && known.fact.kind == FACT_VALUE && !known.fact.number &&
                                         is_boolean(reader->module, known.fact.value),
                                .value = known.fact.value};
    bool equal = known.relation == RELATION_EQUAL, unequal = known.relation == RELATION_UNEQUAL;
    if ((!equal && !unequal) || known.than.kind != FACT_NUMBER)
        return (InlinePtxGuard){0};
    holds = holds == equal; /* now: whether it is so if they are equal */
    if (known.fact.kind == FACT_THREAD)
        return (InlinePtxGuard){.known = holds && known.than.number == 0, .one_thread = true};
    if (known.fact.kind != FACT_VALUE || known.fact.number)
        return (InlinePtxGuard){0};
    bool one = known.than.number == 1 && is_boolean(reader->module, known.fact.value);
    return (InlinePtxGuard){.known = known.than.number == 0 ? !holds : one && holds, .value = known.fact.value};
}

static bool is_tensor(Module *module, const Value *value) {
    const Type *type = type_resolve(module, value->type);
    return type && type->kind == TYPE_TENSOR;
}

/* Only an access can be made for some elements of a tensor and not for others. */
static bool set_guard(InlinePtxReader *reader, const PtxStatement *statement, bool access, Effect *effect) {
    InlinePtxGuard guard = guard_of(reader, statement);
    if (!guard.known || !guard.value)
        return guard.known;
    bool many = is_tensor(reader->module, guard.value);
    if (many)
        effect->mask = guard.value;
    else
        effect->predicate = guard.value;
    return access || !many;
}

/* ---- Effects --------------------------------------------------------------------------------- */

static bool add_effect(InlinePtxReader *reader, Effect effect) {
    if (reader->count == reader->most)
        return false;
    reader->effects[reader->count++] = effect;
    return true;
}

/* Whether a pointer without a space in the text is one to global memory: by its type, or as a number of 64 bits, for
 * those of shared memory have 32. */
static bool points_to_global(Module *module, const Value *value) {
    const Type *type = type_resolve(module, value->type);
    type = type && type->kind == TYPE_TENSOR ? type_resolve(module, type->element) : type;
    if (!type)
        return false;
    return (type->kind == TYPE_INTEGER && type->width == 64) || type_is(type, STR("tt.ptr")) ||
           (type_is(type, STR("llvm.ptr")) && type->param_count && str_is(type->params[0], "1"));
}

/* Bytes of what the pointer, or each pointer of a tensor, points to; 0 if its type does not say. */
static int64_t pointee_bytes(Module *module, const Value *value) {
    const Type *type = type_resolve(module, value->type);
    type = type && type->kind == TYPE_TENSOR ? type_resolve(module, type->element) : type;
    bool pointer = type && type_is(type, STR("tt.ptr")) && type->element;
    type = pointer ? type_resolve(module, type->element) : NULL;
    return type && (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT) ? (type->width + 7) / 8 : 0;
}

static bool set_address(InlinePtxReader *reader, const PtxOperand *operand, bool needs_global, Effect *effect) {
    if (!operand || operand->kind != PTX_ADDRESS || operand->a != 1)
        return false;
    Register known = look_up(reader, operand + 1);
    if (known.is_truth || known.fact.kind != FACT_VALUE ||
        __builtin_add_overflow(known.fact.number, operand->value, &effect->offset))
        return false;
    effect->on = known.fact.value;
    return !needs_global || points_to_global(reader->module, effect->on);
}

static bool read_access(InlinePtxReader *reader, const PtxStatement *statement, const Opcode *opcode) {
    Effect effect = opcode->effects[0];
    InlineAccess access = opcode->access;
    unsigned address = opcode->has_result;
    if (!set_address(reader, ptx_operand_at(reader->ptx, statement, address), opcode->needs_global, &effect) ||
        !set_guard(reader, statement, true, &effect))
        return false;
    int64_t bytes = (int64_t)access.bits / 8 * access.elements;
    if (!is_tensor(reader->module, effect.on))
        effect.count = bytes;
    if (bytes != pointee_bytes(reader->module, effect.on))
        effect.element_bytes = bytes;
    access.once = guard_of(reader, statement).one_thread;
    if (access.action == INLINE_COMPARE)
        access.compare = number_of(reader, single(reader, statement, address + 1));
    access.operand = number_of(reader, single(reader, statement, address + 1 + (access.action == INLINE_COMPARE)));
    if (!add_effect(reader, effect))
        return false;
    reader->accesses[reader->count - 1] = access;
    if (!opcode->has_result)
        return true;
    const PtxOperand *to = ptx_operand_at(reader->ptx, statement, 0);
    bool whole = to->kind < PTX_ADDRESS && !(statement->flags & PTX_GUARDED);
    Register found = {.fact = {.kind = FACT_FOUND, .number = reader->count - 1}};
    set_results(reader, to, whole ? found : (Register){0});
    return true;
}

/* Where warps are specialized, no barrier of the text is that of a partition, and the default warps are not all. */
static bool is_specialized(const Op *op) {
    const Op *function = op;
    while (function && !op_is_control(function, CONTROL_FUNCTION))
        function = op_parent(function);
    for (const Op *other = function; other; other = op_next_in_walk(other, function))
        if (op_is_control(other, CONTROL_FORK))
            return true;
    return false;
}

/* Barrier 0 of all threads is the block's own. Any other one is a named barrier: operands of the op, or numbers of the
 * text, say which, and for how many threads. One that reduces has a result before these, and a predicate behind. */
static bool read_sync(InlinePtxReader *reader, const PtxStatement *statement, const Opcode *opcode) {
    Effect effect = opcode->effects[0];
    unsigned first = opcode->has_result, count = ptx_operand_count(reader->ptx, statement),
             last = count - (first && count);
    const PtxOperand *named = single(reader, statement, first);
    InlineNumber id = number_of(reader, named), threads = number_of(reader, single(reader, statement, first + 1));
    int64_t number = -1;
    if (!id.known || last <= first || last - first > 2 || (last - first == 2 && !threads.known))
        return false;
    bool constant = constant_number(reader, named, &number), counted = last - first == 2;
    if (constant && !number && !counted && effect.verb == EFFECT_NAMED_SYNC && !is_specialized(reader->op)) {
        effect = (Effect){.verb = EFFECT_CTA_BARRIER, .spaces = 1u << SPACE_SHARED | 1u << SPACE_GLOBAL};
    } else {
        effect.on = id.value;
        effect.number = id.number;
        effect.amount = counted ? threads.value : NULL;
        effect.count = counted ? threads.number : 0;
    }
    if (first) /* as any other result */
        note_outcome(reader, statement);
    return !guard_of(reader, statement).one_thread && set_guard(reader, statement, false, &effect) &&
           add_effect(reader, effect);
}

static bool read_effects(InlinePtxReader *reader, const PtxStatement *statement, const Opcode *opcode) {
    if (!opcode->count) {
        note_outcome(reader, statement);
        return true;
    }
    for (unsigned i = 0; i < opcode->count; i++) {
        Effect effect = opcode->effects[i];
        bool counts = opcode->counted && effect.verb == EFFECT_AWAIT;
        if ((counts && (ptx_operand_count(reader->ptx, statement) != 1 ||
                        !constant_number(reader, single(reader, statement, 0), &effect.count))) ||
            (opcode->addressed && !set_address(reader, ptx_operand_at(reader->ptx, statement, 0), false, &effect)) ||
            !set_guard(reader, statement, false, &effect) || !add_effect(reader, effect))
            return false;
    }
    return true;
}

/* ---- Branches -------------------------------------------------------------------------------- */

/* The end of a loop that goes on while `condition` is (not, if negated) so. It repeats one access, and waits for what
 * that finds: anything else is not followed. */
static bool close_loop(InlinePtxReader *reader, const InlinePtxLabel *label, Register condition, bool negated) {
    const InlinePtxFact *than = &condition.than;
    if (!condition.is_truth || reader->count != label->effects + 1 || condition.fact.kind != FACT_FOUND ||
        condition.fact.number != label->effects ||
        !(than->kind == FACT_NUMBER || (than->kind == FACT_VALUE && !than->number)))
        return false;
    for (unsigned i = 0; i < reader->constraints; i++) /* what it began with is what it goes on with */
        if (reader->inputs[i] && reader->written >> i & 1)
            return false;
    Effect *effect = &reader->effects[label->effects];
    InlineAccess *access = &reader->accesses[label->effects];
    effect->repeats = true;
    access->until = negated ? condition.relation : opposite(condition.relation);
    access->until_signed = condition.is_signed;
    access->until_number =
        (InlineNumber){.known = true, .value = than->value, .number = than->value ? 0 : than->number};
    if (effect->verb == EFFECT_READ && access->until == RELATION_EQUAL)
        effect->expected = than->value;
    return true;
}

/* The label of the text that a branch goes to; NULL: there is none. */
static const PtxOperand *target_of(const InlinePtxReader *reader, const PtxStatement *statement) {
    const PtxOperand *to = ptx_operand_at(reader->ptx, statement, 0);
    return to && to->kind == PTX_TARGET && !ptx_operand_at(reader->ptx, statement, 1) ? to : NULL;
}

static bool read_branch(InlinePtxReader *reader, const PtxStatement *statement) {
    const PtxOperand *to = target_of(reader, statement);
    bool guarded = statement->flags & PTX_GUARDED, negated = statement->flags & PTX_NEGATED;
    const InlinePtxLabel *label = NULL;
    for (unsigned i = 0; to && i < reader->label_count; i++)
        if (reader->labels[i].statement == to->a)
            label = &reader->labels[i];
    if (reader->exit_state == 1) { /* the way back, after the way out */
        reader->exit_state = 2;
        return label && !guarded && close_loop(reader, label, reader->exit_condition, !reader->exit_negated);
    }
    if (!guarded || !to)
        return false;
    Register condition = look_up(reader, &reader->ptx->operands[statement->first]);
    if (label)
        return close_loop(reader, label, condition, negated);
    reader->exit_state = 1;
    reader->exit_label = to->a;
    reader->exit_condition = condition;
    reader->exit_negated = negated;
    return true;
}

/* A jump to here may have left other things in the registers. */
static bool read_label(InlinePtxReader *reader, const PtxStatement *statement) {
    uint32_t number = (uint32_t)(statement - reader->ptx->statements);
    if (reader->exit_state == 2 && reader->exit_label == number)
        reader->exit_state = 0;
    for (unsigned i = 0; i < reader->label_count; i++)
        if (reader->ptx->statements[reader->labels[i].statement].what == statement->what)
            return false;
    if (reader->exit_state || reader->label_count == MOST_LABELS)
        return false;
    reader->labels[reader->label_count++] = (InlinePtxLabel){number, reader->count};
    forget_all(reader);
    return true;
}

/* ---- The text -------------------------------------------------------------------------------- */

/* Declarations of registers, and pragmas. */
static bool is_declaration(const PtxModule *ptx, const PtxStatement *statement) {
    return (statement->kind == PTX_VARIABLES && str_is(ptx_name(ptx, ptx->variables[statement->what].space), ".reg")) ||
           (statement->kind == PTX_DIRECTIVE && str_is(ptx_name(ptx, statement->what), ".pragma"));
}

/* The form of what is an instruction, whether all of it could be read or not; else NULL. */
static const PtxForm *form_of(const PtxModule *ptx, const PtxStatement *statement) {
    bool instruction = statement->kind == PTX_INSTRUCTION || statement->kind == PTX_UNREAD;
    return instruction && statement->what != PTX_NONE ? &ptx->forms[statement->what] : NULL;
}

static bool read_statement(InlinePtxReader *reader, const PtxStatement *statement) {
    if (statement->kind == PTX_LABEL)
        return read_label(reader, statement);
    if (statement->kind == PTX_OPEN || statement->kind == PTX_CLOSE)
        return true;
    if (is_declaration(reader->ptx, statement))
        return !reader->exit_state;
    const PtxForm *form = form_of(reader->ptx, statement);
    Opcode opcode = form ? inline_ptx_opcode(form) : (Opcode){.kind = OPCODE_UNKNOWN};
    if (reader->exit_state && (reader->exit_state == 2 || opcode.kind != OPCODE_BRANCH))
        return false;
    if (opcode.kind == OPCODE_UNKNOWN ||
        (statement->kind == PTX_UNREAD && (opcode.exact || opcode.kind != OPCODE_EFFECTS || opcode.count)))
        return false;
    switch (opcode.kind) {
    case OPCODE_ACCESS:
        return read_access(reader, statement, &opcode);
    case OPCODE_SYNC:
        return read_sync(reader, statement, &opcode);
    case OPCODE_BRANCH:
        return read_branch(reader, statement);
    default:
        return read_effects(reader, statement, &opcode);
    }
}

/* Which accesses end in a result of the op. */
static void note_results(InlinePtxReader *reader) {
    bool one = has_one_result(reader->op);
    for (unsigned i = 0; reader->mapped && i < reader->outputs && i < reader->op->result_count; i++) {
        PtxOperand name = {.kind = PTX_NAME, .a = PTX_NONE, .value = i};
        const Register *known = find_register(reader, &name);
        if (!known || known->is_truth || known->fact.kind != FACT_FOUND || (one && reader->outputs > 1))
            continue;
        reader->accesses[known->fact.number].result = &reader->op->results[i];
    }
}

/* A statement as it stands in the file, without its semicolon. */
static Str text_of(const Op *op, const PtxStatement *statement) {
    Str text = op_string(op, "asm_string");
    size_t end = statement->end;
    end -= end > statement->begin && text.data[end - 1] == ';';
    return str_between(text.data + statement->begin, text.data + end);
}

static bool read_assembly(InlinePtxReader *reader, Str *what) {
    reader->ptx = op_assembly(reader->module, reader->op);
    *what = op_string(reader->op, "asm_string");
    if (!reader->ptx->version)
        return false;
    map_operands(reader);
    for (uint32_t i = 0; i < reader->ptx->statements_count; i++) {
        *what = text_of(reader->op, &reader->ptx->statements[i]);
        if (!read_statement(reader, &reader->ptx->statements[i]))
            return false;
    }
    if (reader->exit_state)
        return false;
    note_results(reader);
    return true;
}

bool inline_ptx_effects(Module *module, const Op *op, Effect *effects, unsigned most, unsigned *count, Str *what) {
    InlinePtxReader reader = {
        .module = module, .op = op, .effects = effects, .most = most < EFFECTS_MOST ? most : EFFECTS_MOST};
    bool good = read_assembly(&reader, what);
    *count = reader.count;
    return good;
}

bool inline_ptx_is_pure(const Op *op) {
    for (unsigned i = 0; i < op->row->attr_count; i++)
        if (str_is(op->row->attrs[i].name, "has_side_effects"))
            return !op_flag(op, "has_side_effects");
    return op_flag(op, "pure");
}

/* The first statement of the text that is known to touch memory, to wait for others, or to stop or repeat the text. A
 * branch to a label that is still to come ends. */
static bool finds_touching(Module *module, const Op *op, Str *what) {
    InlinePtxReader reader = {.module = module, .op = op, .ptx = op_assembly(module, op)};
    for (uint32_t i = 0; i < reader.ptx->statements_count; i++) {
        const PtxStatement *statement = &reader.ptx->statements[i];
        const PtxForm *form = form_of(reader.ptx, statement);
        const PtxOperand *to =
            form && inline_ptx_opcode(form).kind == OPCODE_BRANCH ? target_of(&reader, statement) : NULL;
        if (form && inline_ptx_touches(form->text) && !(to && to->a > i)) {
            *what = text_of(op, statement);
            return true;
        }
    }
    return false;
}

bool inline_ptx_judged(Module *module, const Op *op, Effect *effects, unsigned most, unsigned *count, Str *what) {
    bool good = inline_ptx_effects(module, op, effects, most, count, what);
    if (!inline_ptx_is_pure(op))
        return good;
    if (!good) {
        *count = 0;
        return !finds_touching(module, op, what);
    }
    for (unsigned i = 0; i < *count; i++)
        if (effects[i].verb != EFFECT_READ) {
            *what = op_string(op, "asm_string");
            return false;
        }
    return true;
}

bool inline_ptx_access(Module *module, const Op *op, unsigned effect, InlineAccess *access) {
    Effect effects[EFFECTS_MOST];
    InlinePtxReader reader = {.module = module, .op = op, .effects = effects, .most = EFFECTS_MOST};
    Str what;
    if (!is_inline_ptx(op) || !read_assembly(&reader, &what) || effect >= reader.count || !reader.accesses[effect].bits)
        return false;
    *access = reader.accesses[effect];
    return true;
}

static unsigned element_bits(Module *module, const Value *value) {
    const Type *type = type_resolve(module, value->type);
    type = type && type->kind == TYPE_TENSOR ? type_resolve(module, type->element) : type;
    if (!type)
        return 0;
    return type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT ? type->width : type_is(type, STR("tt.ptr")) ? 64 : 0;
}

int inline_ptx_load(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    InlineAccess access;
    unsigned count;
    Str what;
    if (!is_inline_ptx(op) || op->result_count != 1 ||
        !inline_ptx_effects(module, op, effects, EFFECTS_MOST, &count, &what) || count != 1 ||
        !inline_ptx_access(module, op, 0, &access))
        return -1;
    const Effect *effect = &effects[0];
    bool plain =
        effect->verb == EFFECT_READ && !effect->repeats && !effect->offset && !effect->mask && !effect->predicate;
    bool whole = access.elements == 1 && access.bits == element_bits(module, &op->results[0]);
    return plain && whole && access.result == &op->results[0] ? 0 : -1;
}

InlineRegister inline_ptx_register(Module *module, const Op *op) {
    if (!is_inline_ptx(op) || op->result_count != 1 || type_resolve(module, op->results[0].type)->kind != TYPE_INTEGER)
        return REGISTER_OTHER;
    InlinePtxReader reader = {.ptx = op_assembly(module, op)};
    const PtxStatement *move = reader.ptx->statements;
    if (reader.ptx->statements_count != 1 || move->kind != PTX_INSTRUCTION || move->flags & PTX_GUARDED ||
        ptx_operand_count(reader.ptx, move) != 2 ||
        word_place(reader.ptx->forms[move->what].text, "mov.u32 mov.b32 mov.s32") < 0)
        return REGISTER_OTHER;
    const PtxOperand *to = single(&reader, move, 0), *from = single(&reader, move, 1);
    PtxOperand name = to ? name_of(&reader, to) : (PtxOperand){0};
    if (!is_op_operand(&name) || name.value || !from || from->kind != PTX_SPECIAL)
        return REGISTER_OTHER;
    int which = word_place(str_of(ptx_special_at(from->a)->name), "%ctaid %nctaid %cluster_ctarank %cluster_nctarank");
    if (which > 1)
        return (InlineRegister)(REGISTER_RANK + which - 2);
    bool part = which >= 0 && from->part >= PTX_X && from->part <= PTX_Z;
    return part ? (InlineRegister)(REGISTER_CTA + 3 * which + from->part - PTX_X) : REGISTER_OTHER;
}

/* Whether the threads of a CTA alone have it: %tid, %ntid, %laneid. */
static bool is_own(const PtxSpecial *special, bool in_program) {
    Str name = str_of(special->name);
    return word_place(name, "%tid %ntid %laneid") >= 0 || (in_program && str_starts(name, STR("%cluster_")));
}

bool inline_ptx_names_registers(Module *module, const Op *op, bool in_program) {
    if (!is_inline_ptx(op))
        return false;
    const PtxModule *ptx = op_assembly(module, op);
    for (uint32_t i = 0; i < ptx->operands_count; i++) {
        const PtxOperand *operand = &ptx->operands[i];
        if ((operand->kind == PTX_NAME && *ptx_name(ptx, operand->a).data == '%') ||
            (operand->kind == PTX_SPECIAL && !is_own(ptx_special_at(operand->a), in_program)))
            return true;
    }
    for (uint32_t i = 0; i < ptx->statements_count; i++) {
        Str text = text_of(op, &ptx->statements[i]);
        if (ptx->statements[i].kind == PTX_UNREAD && memchr(text.data, '%', text.size))
            return true;
    }
    return !ptx->version;
}
