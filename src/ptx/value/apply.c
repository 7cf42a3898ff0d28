/* What instructions on whole numbers give for forms: by rules that hold for all bases; else, where only a few bits of
 * the bases are not known, by trying all of them. */
#include "ptx/value/bits.h"
#include "ptx/value/operation.h"

Form form_pure(const FormTables *tables, const Form *arguments, unsigned count, unsigned width) {
    FormSpan span = SPAN_GRID;
    unsigned assumes = 0, lanes = 0;
    for (unsigned i = 0; i < count; i++) {
        if (arguments[i].kind == FORM_NEVER)
            return (Form){.kind = FORM_NEVER, .width = (uint8_t)width};
        lanes |= form_lanes(tables, &arguments[i]);
        span = form_span(&arguments[i]) > span ? form_span(&arguments[i]) : span;
        assumes |= arguments[i].assumes;
    }
    Form form = lanes ? form_depending(form_any(width), lanes) : form_uniform(width, span, 0, 0);
    form.assumes = (uint8_t)assumes;
    return form;
}

/* ---- Trying all bases ------------------------------------------------------------------------------------- */

enum { MOST_UNKNOWN = 6 }; /* bits, of all operands together */

typedef struct Trial {
    FormTables *tables;
    const Operation *operation;
    const Form *arguments;
    unsigned count, threads; /* threads: 1 if it is the same for all */
    const uint64_t *offsets[MOST_ARGUMENTS];
    /* of the results so far */
    bool any, same;
    FormShape shape;
    Bits base, lanes_known;
    uint64_t first[FORM_MOST_THREADS]; /* offsets of the first */
} Trial;

/* The bits of `pick` where `unknown` has ones, from the lowest on. */
static uint64_t scatter(uint64_t unknown, unsigned *pick) {
    uint64_t result = 0;
    for (; unknown; unknown &= unknown - 1, *pick >>= 1)
        if (*pick & 1)
            result |= unknown & -unknown;
    return result;
}

static void note_results(Trial *trial, uint64_t *results) {
    unsigned width = trial->operation->result;
    uint64_t mask = low_ones(width), first = results[0];
    trial->base = bits_common(trial->base, bits_of(first, mask));
    for (unsigned i = 0; i < trial->threads; i++) {
        trial->lanes_known = bits_common(trial->lanes_known, bits_of(results[i], mask));
        results[i] = (results[i] - first) & mask;
    }
    size_t size = sizeof *results * trial->threads;
    if (!trial->any)
        memcpy(trial->first, results, size);
    trial->same = trial->same && memcmp(trial->first, results, size) == 0;
    trial->any = true;
    if (!trial->same && trial->threads > 1) {
        FormShape shape = offsets_shape(trial->tables, results, width),
                  before = offsets_shape(trial->tables, trial->first, width);
        shape = before > shape ? before : shape;
        trial->shape = shape > trial->shape ? shape : trial->shape;
    }
}

static bool try_bases(Trial *trial, unsigned pick) {
    uint64_t bases[MOST_ARGUMENTS], values[MOST_ARGUMENTS], results[FORM_MOST_THREADS];
    for (unsigned i = 0; i < trial->count; i++) {
        const Form *form = &trial->arguments[i];
        bases[i] = form->ones | scatter(~(form->zeros | form->ones) & low_ones(form->width), &pick);
    }
    for (unsigned thread = 0; thread < trial->threads; thread++) {
        for (unsigned i = 0; i < trial->count; i++)
            values[i] = (bases[i] + trial->offsets[i][thread]) & low_ones(trial->arguments[i].width);
        if (!operation_evaluate(trial->operation, values, &results[thread]))
            return false;
    }
    note_results(trial, results);
    return true;
}

/* How many bits of the bases are not known; more than MOST_UNKNOWN if they are not for trying. */
static unsigned prepare_trial(Trial *trial) {
    unsigned unknown = 0;
    for (unsigned i = 0; i < trial->count; i++) {
        const Form *form = &trial->arguments[i];
        if (form->kind != FORM_TABLE || form->width > 64)
            return MOST_UNKNOWN + 1;
        unknown += (unsigned)__builtin_popcountll(~(form->zeros | form->ones) & low_ones(form->width));
        trial->offsets[i] = form_offsets(trial->tables, form->table);
        trial->threads = form->table ? form_threads(trial->tables) : trial->threads;
    }
    return trial->threads > FORM_LANES ? unknown + 1 : unknown; /* of many threads fewer are tried */
}

/* What is told by all that was tried. */
static Form trial_form(Trial *trial, unsigned width, FormSpan span) {
    if (!trial->same)
        return form_shaped(width, trial->shape, trial->threads > 1 ? SPAN_WARP : span, trial->lanes_known.zeros,
                           trial->lanes_known.ones);
    Form form = form_uniform(width, span, trial->base.zeros, trial->base.ones);
    if (trial->threads > 1)
        form.table = form_table(trial->tables, trial->first);
    return form;
}

Form operation_enumerate(FormTables *tables, const Operation *op, const Form *arguments, unsigned count, bool *done) {
    uint64_t mask = low_ones(op->result);
    Trial trial;
    trial.tables = tables;
    trial.operation = op;
    trial.arguments = arguments;
    trial.count = count;
    trial.threads = 1;
    trial.any = false;
    trial.same = true;
    trial.shape = SHAPE_UNIFORM;
    trial.base = trial.lanes_known = (Bits){mask, mask};
    unsigned unknown = prepare_trial(&trial);
    *done = unknown <= MOST_UNKNOWN;
    if (*done && trial.threads > FORM_LANES)
        unknown--;
    for (unsigned pick = 0; *done && pick < 1u << unknown; pick++)
        *done = try_bases(&trial, pick);
    Form pure = form_pure(tables, arguments, count, op->result);
    FormSpan span = SPAN_GRID;
    for (unsigned i = 0; i < count; i++)
        span = arguments[i].span > span ? (FormSpan)arguments[i].span : span;
    if (!*done)
        return pure;
    Form form = trial_form(&trial, op->result, span);
    form.assumes = pure.assumes;
    return form_depending(form, form_lanes(tables, &pure));
}

/* ---- Rules -------------------------------------------------------------------------------------------------- */

/* Bits that an operation only moves: those of its first operands, as the others say, which are constants. */
static unsigned moved_operands(const Operation *op) {
    switch (op->evaluator) {
    case PTX_EVALUATE_SHR:
    case PTX_EVALUATE_BFE:
    case PTX_EVALUATE_BREV:
        return 1;
    case PTX_EVALUATE_BFI:
    case PTX_EVALUATE_SHF:
    case PTX_EVALUATE_PRMT:
        return 2;
    default:
        return 0;
    }
}

typedef struct ApplyMoving {
    const Operation *operation;
    unsigned moved;
    uint64_t words[MOST_ARGUMENTS];
} ApplyMoving;

static uint64_t moved_word(ApplyMoving *moving, uint64_t a, uint64_t b) {
    uint64_t result = 0;
    moving->words[0] = a;
    if (moving->moved > 1)
        moving->words[1] = b;
    operation_evaluate(moving->operation, moving->words, &result);
    return result;
}

static Form move_bits(FormTables *tables, const Operation *op, const Form *arguments, unsigned count) {
    ApplyMoving moving = {.operation = op, .moved = moved_operands(op)};
    for (unsigned i = moving.moved; i < count; i++)
        if (!form_constant(&arguments[i], &moving.words[i]))
            return form_pure(tables, arguments, count, op->result);
    FormView from[2], to;
    from[1].vary = from[1].mess = from[1].fixed[0] = 0;
    from[1].count = 1;
    FormSpan span = SPAN_GRID;
    unsigned assumes = 0;
    for (unsigned i = 0; i < moving.moved; i++) {
        form_view(tables, &arguments[i], &from[i]);
        span = arguments[i].span > span ? (FormSpan)arguments[i].span : span;
        assumes |= arguments[i].assumes;
    }
    to.vary = moved_word(&moving, from[0].vary, from[1].vary);
    to.mess = moved_word(&moving, from[0].mess, from[1].mess);
    to.vary &= ~to.mess;
    to.count = from[0].count > from[1].count ? from[0].count : from[1].count;
    for (unsigned i = 0; i < to.count; i++)
        to.fixed[i] = moved_word(&moving, view_fixed(&from[0], i), view_fixed(&from[1], i)) & ~(to.vary | to.mess);
    unsigned lanes = 0;
    for (unsigned i = 0; i < moving.moved; i++)
        lanes |= form_lanes(tables, &arguments[i]);
    return form_depending(form_of_view(tables, op->result, span, assumes, &to), lanes);
}

static Form multiply(FormTables *tables, const Operation *op, const Form *arguments, bool *assumed) {
    if (op->high)
        return form_pure(tables, arguments, 2, op->result);
    Form a = form_extend(tables, &arguments[0], op->result, op->is_signed, assumed);
    Form b = form_extend(tables, &arguments[1], op->result, op->is_signed, assumed);
    return form_multiply(tables, &a, &b);
}

static Form multiply_add(FormTables *tables, const Operation *op, const Form *arguments, bool *assumed) {
    if (op->high || op->saturates)
        return form_pure(tables, arguments, 3, op->result);
    Form both = multiply(tables, op, arguments, assumed);
    return form_sum(tables, &both, &arguments[2]);
}

/* a << b is a times a power of two that is the same in all lanes, or 0. */
static Form shift_left(FormTables *tables, const Operation *op, const Form *arguments) {
    uint64_t by;
    if (form_constant(&arguments[1], &by)) {
        Form factor = form_number(op->width, by < op->width ? UINT64_C(1) << by : 0);
        return form_multiply(tables, &arguments[0], &factor);
    }
    if (!form_is_uniform(tables, &arguments[1]) || form_is_uniform(tables, &arguments[0]))
        return form_pure(tables, arguments, 2, op->result);
    Form factor = form_uniform(op->width, form_span(&arguments[1]), 0, 0);
    Form result = form_multiply(tables, &arguments[0], &factor);
    result.assumes |= arguments[1].assumes;
    return result;
}

static bool share_no_ones(const FormTables *tables, const Form *a, const Form *b) {
    uint64_t zeros_a, zeros_b, ones;
    form_known(tables, a, &zeros_a, &ones);
    form_known(tables, b, &zeros_b, &ones);
    return (zeros_a | zeros_b) == low_ones(a->width);
}

static Form logic(FormTables *tables, const Operation *op, const Form *arguments) {
    unsigned table = op->evaluator == PTX_EVALUATE_AND  ? LOGIC_AND
                     : op->evaluator == PTX_EVALUATE_OR ? LOGIC_OR
                                                        : LOGIC_XOR;
    bool plain = arguments[0].kind == FORM_TABLE && arguments[1].kind == FORM_TABLE && !arguments[0].table &&
                 !arguments[1].table;
    bool sum = table != LOGIC_AND && !plain;
    if (sum && share_no_ones(tables, &arguments[0], &arguments[1]))
        return form_sum(tables, &arguments[0], &arguments[1]);
    return form_logic(tables, arguments, 2, table);
}

/* Unsigned, or never negative, by a power of two. */
static Form divide(FormTables *tables, const Operation *op, const Form *arguments) {
    uint64_t by, zeros, ones, sign = UINT64_C(1) << (op->width - 1);
    form_known(tables, &arguments[0], &zeros, &ones);
    bool negative = op->is_signed && !(zeros & sign);
    if (!form_constant(&arguments[1], &by) || !by || by & (by - 1) || negative || (op->is_signed && by == sign))
        return form_pure(tables, arguments, 2, op->result);
    Operation shift = {.evaluator = PTX_EVALUATE_SHR, .numbers = true, .width = op->width, .result = op->result};
    Form other = op->evaluator == PTX_EVALUATE_DIV ? form_number(32, (unsigned)__builtin_ctzll(by))
                                                   : form_number(op->width, by - 1);
    Form operands[2] = {arguments[0], other};
    return op->evaluator == PTX_EVALUATE_DIV ? move_bits(tables, &shift, operands, 2)
                                             : form_logic(tables, operands, 2, LOGIC_AND);
}

static Form look_up(FormTables *tables, const Operation *op, const Form *arguments) {
    uint64_t table;
    if (!form_constant(&arguments[3], &table))
        return form_pure(tables, arguments, 4, op->result);
    return form_logic(tables, arguments, 3, (unsigned)table & 255);
}

static Form convert(FormTables *tables, const Operation *op, const Form *arguments, bool *assumed) {
    if (op->saturates)
        return form_pure(tables, arguments, 1, op->result);
    return form_extend(tables, &arguments[0], op->result, op->is_signed, assumed);
}

static Form apply_rule(FormTables *tables, const Operation *op, const Form *arguments, unsigned count, bool *assumed) {
    Form negated;
    switch (op->evaluator) {
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
        if (op->saturates)
            break;
        negated = op->evaluator == PTX_EVALUATE_SUB ? form_negate(tables, &arguments[1]) : arguments[1];
        return form_sum(tables, &arguments[0], &negated);
    case PTX_EVALUATE_NEG:
        return form_negate(tables, &arguments[0]);
    case PTX_EVALUATE_MUL:
        return multiply(tables, op, arguments, assumed);
    case PTX_EVALUATE_MAD:
        return multiply_add(tables, op, arguments, assumed);
    case PTX_EVALUATE_SHL:
        return shift_left(tables, op, arguments);
    case PTX_EVALUATE_AND:
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
        return logic(tables, op, arguments);
    case PTX_EVALUATE_NOT:
        return form_not(tables, &arguments[0]);
    case PTX_EVALUATE_MOV:
        return arguments[0];
    case PTX_EVALUATE_LOP3:
        return look_up(tables, op, arguments);
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_REM:
        return divide(tables, op, arguments);
    case PTX_EVALUATE_CVT:
        return convert(tables, op, arguments, assumed);
    case PTX_EVALUATE_SELP:
        return form_select(tables, &arguments[2], &arguments[0], &arguments[1]);
    default:
        if (moved_operands(op))
            return move_bits(tables, op, arguments, count);
    }
    return form_pure(tables, arguments, count, op->result);
}

static unsigned known_bits(const Form *form) {
    return (unsigned)__builtin_popcountll(form->zeros | form->ones);
}

static bool says_more(const Form *a, const Form *b) {
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return known_bits(a) > known_bits(b);
}

Form operation_apply(FormTables *tables, const Operation *op, const Form *arguments, unsigned count, bool *assumed) {
    Form cut[MOST_ARGUMENTS];
    bool assumes = false, tried = false;
    for (unsigned i = 0; i < count; i++) {
        if (arguments[i].kind == FORM_NEVER)
            return (Form){.kind = FORM_NEVER, .width = op->result};
        cut[i] = form_extend(tables, &arguments[i], operation_argument_width(op, i), false, assumed);
    }
    if (!op->numbers)
        return form_pure(tables, arguments, count, op->result);
    Form result = apply_rule(tables, op, cut, count, &assumes);
    if (result.kind != FORM_TABLE || assumes || (!form_based_on_constant(&result) && known_bits(&result) < 8)) {
        Form other = operation_enumerate(tables, op, cut, count, &tried);
        if (tried && (assumes || says_more(&other, &result))) {
            result = other;
            assumes = false;
        }
    }
    if (assumes && result.kind == FORM_ANY) /* nothing is told: then nothing needs to be assumed */
        return form_any(op->result);
    *assumed |= assumes;
    return result;
}
