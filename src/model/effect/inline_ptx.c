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

/* What a register holds: a fact, or, of a predicate, whether `fact` stands in `relation` to `than`. */
typedef struct Register {
    PtxTextTerm name;
    InlinePtxFact fact, than;
    bool is_truth, is_signed;
    InlineRelation relation;
} Register;

typedef struct InlinePtxLabel {
    Str name;
    unsigned effects; /* how many there were before it */
} InlinePtxLabel;

typedef struct InlinePtxReader {
    Module *module;
    const Op *op;
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
    Str exit_label;
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

static Str quoted(const Op *op, const char *name) {
    const Attr *attr = op_attr(op, name);
    if (!attr || attr->kind != ATTR_STRING || attr->text.size < 2)
        return (Str){"", 0};
    return (Str){attr->text.data + 1, attr->text.size - 2};
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
    Str list = quoted(op, "constraints");
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

static bool same_name(const PtxTextTerm *a, const PtxTextTerm *b) {
    return a->kind == b->kind && (a->kind == TERM_OPERAND ? a->number == b->number : str_equal(a->name, b->name));
}

static Register *find_register(InlinePtxReader *reader, const PtxTextTerm *name) {
    for (unsigned i = 0; i < reader->register_count; i++)
        if (same_name(&reader->registers[i].name, name))
            return &reader->registers[i];
    return NULL;
}

static Register look_up(InlinePtxReader *reader, const PtxTextTerm *term) {
    Register known = {.name = *term};
    const Register *found = find_register(reader, term);
    if (found)
        return *found;
    if (term->kind == TERM_NUMBER)
        known.fact = (InlinePtxFact){.kind = FACT_NUMBER, .number = term->number};
    else if (term->kind == TERM_NAME && str_is(term->name, "%tid.x"))
        known.fact.kind = FACT_THREAD;
    else if (term->kind == TERM_OPERAND && reader->mapped && term->number >= 0 && term->number < reader->constraints &&
             !(reader->written >> term->number & 1) && reader->inputs[term->number])
        known.fact = (InlinePtxFact){.kind = FACT_VALUE, .value = reader->inputs[term->number]};
    return known;
}

/* From now on `name` holds what `known` does. */
static void set_register(InlinePtxReader *reader, const PtxTextTerm *name, Register known) {
    if (name->kind != TERM_NAME && name->kind != TERM_OPERAND)
        return;
    if (name->kind == TERM_OPERAND && name->number >= 0 && name->number < MOST_CONSTRAINTS)
        reader->written |= (uint64_t)1 << name->number;
    Register *place = find_register(reader, name);
    if (!place && reader->register_count == MOST_REGISTERS)
        return; /* one that is not in the list holds nothing that is known */
    if (!place)
        place = &reader->registers[reader->register_count++];
    *place = known;
    place->name = *name;
}

static void forget_all(InlinePtxReader *reader) {
    reader->register_count = 0;
}

/* Where a scope begins or ends the same name is another register. */
static void forget_names(InlinePtxReader *reader) {
    unsigned kept = 0;
    for (unsigned i = 0; i < reader->register_count; i++)
        if (reader->registers[i].name.kind == TERM_OPERAND)
            reader->registers[kept++] = reader->registers[i];
    reader->register_count = kept;
}

static InlineNumber number_of(InlinePtxReader *reader, const PtxTextTerm *term) {
    Register known = look_up(reader, term);
    bool plain = !known.is_truth;
    if (plain && known.fact.kind == FACT_NUMBER)
        return (InlineNumber){.known = true, .number = known.fact.number};
    if (plain && known.fact.kind == FACT_VALUE && !known.fact.number)
        return (InlineNumber){.known = true, .value = known.fact.value};
    return (InlineNumber){0};
}

/* The number itself, if the text or a constant says it. */
static bool constant_number(InlinePtxReader *reader, const PtxTextTerm *term, int64_t *number) {
    InlineNumber found = number_of(reader, term);
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

/* setp.ne.s32 p, a, b */
static Register compare(InlinePtxReader *reader, const Statement *statement) {
    Str name = statement->opcode;
    next_part(&name);
    Str word = next_part(&name), type = next_part(&name);
    Register left = look_up(reader, &statement->operands[1].terms[0]);
    Register right = look_up(reader, &statement->operands[2].terms[0]);
    if (name.size || !type.size || type.data[0] == 'f' || left.is_truth || right.is_truth)
        return (Register){0};
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (str_is(word, relations[i].word))
            return (Register){.fact = left.fact,
                              .than = right.fact,
                              .is_truth = true,
                              .is_signed = type.data[0] == 's',
                              .relation = relations[i].relation};
    return (Register){0};
}

/* What an instruction without effects leaves in its first operand. */
static Register outcome(InlinePtxReader *reader, const Statement *statement) {
    Str name = statement->opcode, word = next_part(&name);
    bool two = statement->count == 2, three = statement->count == 3;
    for (unsigned i = 0; i < statement->count; i++)
        if (statement->operands[i].memory || (i && statement->operands[i].count != 1))
            return (Register){0};
    if (three && str_is(word, "setp"))
        return compare(reader, statement);
    if (statement->count && statement->operands[0].count != 1) /* taken to pieces */
        return (Register){0};
    if (two && (str_is(word, "mov") || word_place(statement->opcode, "cvta.to.global.u64 cvta.global.u64") >= 0))
        return look_up(reader, &statement->operands[1].terms[0]);
    if (three && str_is(word, "add") && word_place(name, "s64 u64") >= 0) {
        Register a = look_up(reader, &statement->operands[1].terms[0]);
        Register b = look_up(reader, &statement->operands[2].terms[0]);
        if (a.fact.kind == FACT_NUMBER) {
            Register other = a;
            a = b;
            b = other;
        }
        if (!a.is_truth && a.fact.kind == FACT_VALUE && b.fact.kind == FACT_NUMBER &&
            !__builtin_add_overflow(a.fact.number, b.fact.number, &a.fact.number))
            return a;
    }
    return (Register){0};
}

/* The first operand, and its second half in p|q, are overwritten. Under a predicate nothing is known of them. */
static void note_outcome(InlinePtxReader *reader, const Statement *statement) {
    if (str_starts(statement->opcode, STR("."))) /* a declaration */
        return;
    if (statement->garbled) {
        forget_all(reader);
        reader->written = UINT64_MAX;
        return;
    }
    if (!statement->count || statement->operands[0].memory)
        return;
    const Operand *to = &statement->operands[0];
    Register known = statement->guarded ? (Register){0} : outcome(reader, statement);
    for (unsigned i = 0; i < to->count; i++)
        set_register(reader, &to->terms[i], i ? (Register){0} : known);
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
static InlinePtxGuard guard_of(InlinePtxReader *reader, const Statement *statement) {
    if (!statement->guarded)
        return (InlinePtxGuard){.known = true};
    Register known = look_up(reader, &statement->guard);
    bool holds = !statement->negated;
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
static bool set_guard(InlinePtxReader *reader, const Statement *statement, bool access, Effect *effect) {
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

static bool set_address(InlinePtxReader *reader, const Operand *operand, bool needs_global, Effect *effect) {
    if (!operand->memory || operand->count != 1)
        return false;
    Register known = look_up(reader, &operand->terms[0]);
    if (known.is_truth || known.fact.kind != FACT_VALUE ||
        __builtin_add_overflow(known.fact.number, operand->offset, &effect->offset))
        return false;
    effect->on = known.fact.value;
    return !needs_global || points_to_global(reader->module, effect->on);
}

static InlineNumber operand_at(InlinePtxReader *reader, const Statement *statement, unsigned index) {
    if (index >= statement->count || statement->operands[index].memory || statement->operands[index].count != 1)
        return (InlineNumber){0};
    return number_of(reader, &statement->operands[index].terms[0]);
}

static bool read_access(InlinePtxReader *reader, const Statement *statement, const Opcode *opcode) {
    Effect effect = opcode->effects[0];
    InlineAccess access = opcode->access;
    unsigned address = opcode->has_result;
    if (address >= statement->count ||
        !set_address(reader, &statement->operands[address], opcode->needs_global, &effect) ||
        !set_guard(reader, statement, true, &effect))
        return false;
    int64_t bytes = (int64_t)access.bits / 8 * access.elements;
    if (!is_tensor(reader->module, effect.on))
        effect.count = bytes;
    if (bytes != pointee_bytes(reader->module, effect.on))
        effect.element_bytes = bytes;
    access.once = guard_of(reader, statement).one_thread;
    if (access.action == INLINE_COMPARE)
        access.compare = operand_at(reader, statement, address + 1);
    access.operand = operand_at(reader, statement, address + 1 + (access.action == INLINE_COMPARE));
    if (!add_effect(reader, effect))
        return false;
    reader->accesses[reader->count - 1] = access;
    if (!opcode->has_result)
        return true;
    const Operand *to = &statement->operands[0];
    Register found = {.fact = {.kind = FACT_FOUND, .number = reader->count - 1}};
    for (unsigned i = 0; i < to->count; i++)
        set_register(reader, &to->terms[i], to->count == 1 && !statement->guarded ? found : (Register){0});
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
static bool read_sync(InlinePtxReader *reader, const Statement *statement, const Opcode *opcode) {
    Effect effect = opcode->effects[0];
    unsigned first = opcode->has_result, last = statement->count - (first && statement->count);
    InlineNumber id = operand_at(reader, statement, first), threads = operand_at(reader, statement, first + 1);
    int64_t number = -1;
    if (!id.known || last <= first || last - first > 2 || (last - first == 2 && !threads.known))
        return false;
    bool constant = constant_number(reader, &statement->operands[first].terms[0], &number), counted = last - first == 2;
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

static bool read_effects(InlinePtxReader *reader, const Statement *statement, const Opcode *opcode) {
    if (!opcode->count) {
        note_outcome(reader, statement);
        return true;
    }
    for (unsigned i = 0; i < opcode->count; i++) {
        Effect effect = opcode->effects[i];
        bool counts = opcode->counted && effect.verb == EFFECT_AWAIT;
        if ((counts && (statement->count != 1 || statement->operands[0].count != 1 ||
                        !constant_number(reader, &statement->operands[0].terms[0], &effect.count))) ||
            (opcode->addressed &&
             (!statement->count || !set_address(reader, &statement->operands[0], false, &effect))) ||
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

static const InlinePtxLabel *find_label(const InlinePtxReader *reader, Str name) {
    for (unsigned i = 0; i < reader->label_count; i++)
        if (str_equal(reader->labels[i].name, name))
            return &reader->labels[i];
    return NULL;
}

static bool read_branch(InlinePtxReader *reader, const Statement *statement) {
    if (statement->count != 1 || statement->operands[0].count != 1 || statement->operands[0].memory)
        return false;
    Str to = statement->operands[0].terms[0].name;
    const InlinePtxLabel *label = find_label(reader, to);
    if (reader->exit_state == 1) { /* the way back, after the way out */
        reader->exit_state = 2;
        return label && !statement->guarded && close_loop(reader, label, reader->exit_condition, !reader->exit_negated);
    }
    if (!statement->guarded)
        return false;
    Register condition = look_up(reader, &statement->guard);
    if (label)
        return close_loop(reader, label, condition, statement->negated);
    reader->exit_state = 1;
    reader->exit_label = to;
    reader->exit_condition = condition;
    reader->exit_negated = statement->negated;
    return true;
}

/* A jump to here may have left other things in the registers. */
static bool read_label(InlinePtxReader *reader, const Statement *statement) {
    if (reader->exit_state == 2 && str_equal(statement->opcode, reader->exit_label))
        reader->exit_state = 0;
    if (reader->exit_state || reader->label_count == MOST_LABELS || find_label(reader, statement->opcode))
        return false;
    reader->labels[reader->label_count++] = (InlinePtxLabel){statement->opcode, reader->count};
    forget_all(reader);
    return true;
}

/* ---- The text -------------------------------------------------------------------------------- */

static bool read_statement(InlinePtxReader *reader, const Statement *statement) {
    if (statement->kind == STATEMENT_LABEL)
        return read_label(reader, statement);
    if (statement->kind == STATEMENT_SCOPE) {
        forget_names(reader);
        return true;
    }
    Opcode opcode = inline_ptx_opcode(statement->opcode);
    if (reader->exit_state && (reader->exit_state == 2 || opcode.kind != OPCODE_BRANCH))
        return false;
    if (opcode.kind == OPCODE_UNKNOWN ||
        (statement->garbled && (opcode.exact || opcode.kind != OPCODE_EFFECTS || opcode.count)))
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
    bool single = has_one_result(reader->op);
    for (unsigned i = 0; reader->mapped && i < reader->outputs && i < reader->op->result_count; i++) {
        PtxTextTerm name = {.kind = TERM_OPERAND, .number = i};
        Register known = look_up(reader, &name);
        if (known.is_truth || known.fact.kind != FACT_FOUND || (single && reader->outputs > 1))
            continue;
        reader->accesses[known.fact.number].result = &reader->op->results[i];
    }
}

static bool read_assembly(InlinePtxReader *reader, Str *what) {
    Str text = quoted(reader->op, "asm_string");
    const char *at = text.data, *end = text.data + text.size;
    Statement statement;
    map_operands(reader);
    *what = (Str){"", 0};
    while (ptx_next_statement(&at, end, &statement)) {
        *what = statement.text;
        if (!read_statement(reader, &statement))
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

/* Whether it is a branch to a label of the text that is still to come: that ends. */
static bool goes_forward(const Statement *statement, const char *at, const char *end) {
    Statement label;
    if (inline_ptx_opcode(statement->opcode).kind != OPCODE_BRANCH || statement->count != 1 ||
        statement->operands[0].count != 1)
        return false;
    while (ptx_next_statement(&at, end, &label))
        if (label.kind == STATEMENT_LABEL && str_equal(label.opcode, statement->operands[0].terms[0].name))
            return true;
    return false;
}

/* The first statement of the text that is known to touch memory, to wait for others, or to stop or repeat the text. */
static bool finds_touching(const Op *op, Str *what) {
    Str text = quoted(op, "asm_string");
    const char *at = text.data, *end = text.data + text.size;
    Statement statement;
    while (ptx_next_statement(&at, end, &statement))
        if (statement.kind == STATEMENT_INSTRUCTION && inline_ptx_touches(statement.opcode) &&
            !goes_forward(&statement, at, end)) {
            *what = statement.text;
            return true;
        }
    return false;
}

bool inline_ptx_judged(Module *module, const Op *op, Effect *effects, unsigned most, unsigned *count, Str *what) {
    bool good = inline_ptx_effects(module, op, effects, most, count, what);
    if (!inline_ptx_is_pure(op))
        return good;
    if (!good) {
        *count = 0;
        return !finds_touching(op, what);
    }
    for (unsigned i = 0; i < *count; i++)
        if (effects[i].verb != EFFECT_READ) {
            *what = quoted(op, "asm_string");
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
    static const char names[] = "%ctaid.x %ctaid.y %ctaid.z %nctaid.x %nctaid.y %nctaid.z %cluster_ctarank "
                                "%cluster_nctarank";
    if (!is_inline_ptx(op) || op->result_count != 1 || type_resolve(module, op->results[0].type)->kind != TYPE_INTEGER)
        return REGISTER_OTHER;
    Str text = quoted(op, "asm_string");
    const char *at = text.data, *end = text.data + text.size;
    Statement move, more;
    if (!ptx_next_statement(&at, end, &move) || ptx_next_statement(&at, end, &more) || move.guarded || move.garbled ||
        move.kind != STATEMENT_INSTRUCTION || move.count != 2 || word_place(move.opcode, "mov.u32 mov.b32 mov.s32") < 0)
        return REGISTER_OTHER;
    const PtxTextTerm *to = &move.operands[0].terms[0], *from = &move.operands[1].terms[0];
    bool plain = move.operands[0].count == 1 && move.operands[1].count == 1 && to->kind == TERM_OPERAND && !to->number;
    return plain && from->kind == TERM_NAME ? (InlineRegister)(REGISTER_CTA + word_place(from->name, names))
                                            : REGISTER_OTHER;
}

bool inline_ptx_names_registers(const Op *op, bool in_program) {
    Str text = is_inline_ptx(op) ? quoted(op, "asm_string") : STR("");
    for (size_t i = 0; i < text.size; i++) {
        Str rest = str_between(text.data + i, text.data + text.size);
        bool own =
            str_starts(rest, STR("%tid.")) || str_starts(rest, STR("%ntid.")) || str_starts(rest, STR("%laneid"));
        if (*rest.data == '%' && !own && !(in_program && str_starts(rest, STR("%cluster_"))))
            return true;
    }
    return false;
}
