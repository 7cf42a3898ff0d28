/* Takes the CONTROL, DESCRIBES, EVALUATE, IS and WAITS columns of a row apart. */
#include "ir/columns.h"

const EvaluatorRow evaluators[EVALUATOR_COUNT] = {
    [EVALUATE_NONE] = {"", SHAPES, ANY},
#define EVALUATOR(id, name, kind, operands, what) [EVALUATE_##id] = {name, kind, operands},
#include "ir/evaluators.def"
#undef EVALUATOR
};

Evaluator evaluator_named(Str name) {
    for (int code = EVALUATE_NONE + 1; code < EVALUATOR_COUNT; code++)
        if (str_is(name, evaluators[code].name))
            return (Evaluator)code;
    return EVALUATE_NONE;
}

static bool read_evaluate(OpRow *row, Str *where) {
    const char *at = row->evaluate;
    unsigned count = 0;
    for (Str word; (word = str_next_word(&at)).size; count++) {
        *where = word;
        if (count == MAX_EVALUATORS || !(row->evaluators[count] = (uint8_t)evaluator_named(word)))
            return false;
    }
    for (; count && count < MAX_EVALUATORS; count++) /* the last word is about all further results */
        row->evaluators[count] = row->evaluators[count - 1];
    return true;
}

static bool read_classes(OpRow *row, Str *where) {
    static const char *const words[] = {
#define CLASS(id, word, what) [CLASS_##id] = word,
#include "ir/classes.def"
#undef CLASS
    };
    const char *at = row->is;
    for (Str word; (word = str_next_word(&at)).size;) {
        unsigned class = 0;
        while (class < CLASS_COUNT && !str_is(word, words[class]))
            class ++;
        *where = word;
        if (class == CLASS_COUNT)
            return false;
        row->classes[class / 64] |= UINT64_C(1) << class % 64;
    }
    return true;
}

/* Which of `words`, from the second on, it is; 0 if it is none. */
static unsigned kind_named(Str word, const char *const *words, unsigned count) {
    unsigned kind = count - 1;
    while (kind && !(words[kind] && str_is(word, words[kind])))
        kind--;
    return kind;
}

typedef struct RefWord {
    const char *word;
    SlotRef *of;
} RefWord;

/* Words that are each followed by what they are about. */
static bool read_refs(const OpRow *row, const char *at, const RefWord *words, unsigned count, Str *where) {
    for (Str word; (word = str_next_word(&at)).size;) {
        unsigned k = 0;
        while (k < count && !str_is(word, words[k].word))
            k++;
        *where = word;
        if (k == count)
            return false;
        *where = str_next_word(&at);
        *words[k].of = op_slot_ref(row, *where);
        if (words[k].of->column == REF_NONE)
            return false;
    }
    return true;
}

#define KIND(id, word, what) word,

static bool read_control(OpRow *row, Str *where) {
    static const char *const kinds[CONTROL_COUNT] = {NULL, NULL, CONTROL_KINDS(KIND)};
    ControlColumn *control = &row->control;
    const RefWord words[] = {{"from", &control->from},         {"to", &control->to},        {"step", &control->step},
                             {"carries", &control->carries},   {"if", &control->condition}, {"on", &control->number},
                             {"captures", &control->captures}, {"calls", &control->callee}, {"tiles", &control->tiles}};
    const char *at = row->control_column;
    *where = str_next_word(&at);
    if (!where->size)
        return true;
    control->kind = (Control)kind_named(*where, kinds, CONTROL_COUNT);
    return control->kind && read_refs(row, at, words, sizeof words / sizeof *words, where);
}

static bool read_describes(OpRow *row, Str *where) {
    static const char *const kinds[DESCRIBE_COUNT] = {NULL, DESCRIBE_KINDS(KIND)};
    DescribeColumn *column = &row->describes;
    const RefWord words[] = {
        {"base", &column->base},       {"shape", &column->shape},     {"strides", &column->strides},
        {"offsets", &column->offsets}, {"box", &column->box},         {"steps", &column->steps},
        {"at", &column->at},           {"of", &column->of},           {"bounds", &column->bounds},
        {"if", &column->predicate},    {"element", &column->element}, {"clamps", &column->clamps}};
    const char *at = row->describes_column;
    *where = str_next_word(&at);
    if (!where->size)
        return true;
    column->kind = (Describe)kind_named(*where, kinds, DESCRIBE_COUNT);
    return column->kind && read_refs(row, at, words, sizeof words / sizeof *words, where);
}

#undef KIND

static bool read_waits(OpRow *row, Str *where) {
    static const char *const words[WAIT_COUNTER_COUNT] = {[WAITS_NOTHING] = "",
#define COUNTER(id, word, what) [WAITS_##id] = word,
                                                          WAIT_COUNTERS(COUNTER)
#undef COUNTER
    };
    const char *at = row->waits_column;
    unsigned count = 0;
    for (Str word; (word = str_next_word(&at)).size; count++) {
        unsigned counter = WAITS_NOTHING + 1;
        while (counter < WAIT_COUNTER_COUNT && !str_is(word, words[counter]))
            counter++;
        *where = word;
        if (counter == WAIT_COUNTER_COUNT || count == MAX_WAITS)
            return false;
        *where = str_next_word(&at);
        row->waits[count] = (WaitEntry){(WaitCounter)counter, op_slot_ref(row, *where)};
        if (row->waits[count].left.column != REF_ATTR)
            return false;
    }
    return true;
}

bool columns_read(OpRow *row, Str *where) {
    return read_control(row, where) && read_describes(row, where) && read_evaluate(row, where) &&
           read_classes(row, where) && read_waits(row, where);
}
