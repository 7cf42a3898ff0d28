/* Reads litmus tests in Dat3M's format: a header, { memory and registers }, a table of threads with an instruction in
 * each cell, and a condition. */
#include "litmus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Parser {
    const char *at;
    int line;
    Test *test;
    const char *problem;
    int thread; /* whose cell it is in */
} Parser;

static bool fails(Parser *parser, const char *problem) {
    if (parser->problem == NULL) {
        parser->problem = problem;
    }
    return false;
}

static void skip_blank(Parser *parser) {
    for (;;) {
        while (isspace((unsigned char)*parser->at)) {
            parser->line += *parser->at++ == '\n';
        }
        if (parser->at[0] != '(' || parser->at[1] != '*') {
            return;
        }
        const char *end = strstr(parser->at, "*)");
        parser->at = end == NULL ? parser->at + strlen(parser->at) : end + 2;
    }
}

static bool accept(Parser *parser, const char *text) {
    skip_blank(parser);
    size_t length = strlen(text);
    if (strncmp(parser->at, text, length) != 0) {
        return false;
    }
    parser->at += length;
    return true;
}

static bool expect(Parser *parser, const char *text) {
    return accept(parser, text) || fails(parser, "a sign is missing");
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* A word; empty if there is none. */
static void word(Parser *parser, char *to, size_t size) {
    skip_blank(parser);
    size_t length = 0;
    while (is_word(*parser->at)) {
        if (length + 1 < size) {
            to[length++] = *parser->at;
        }
        parser->at++;
    }
    to[length] = '\0';
}

static bool peek_word(Parser *parser, const char *text) {
    skip_blank(parser);
    size_t length = strlen(text);
    return strncmp(parser->at, text, length) == 0 && !is_word(parser->at[length]);
}

static bool number(Parser *parser, int64_t *to) {
    skip_blank(parser);
    const char *at = parser->at + (*parser->at == '-');
    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    char *end;
    *to = strtoll(parser->at, &end, 0);
    parser->at = end;
    return true;
}

/* r12; -1: it is none. */
static int register_number(const char *text) {
    if (text[0] != 'r' || !isdigit((unsigned char)text[1])) {
        return -1;
    }
    char *end;
    long n = strtol(text + 1, &end, 10);
    return *end == '\0' && n < MAX_REGISTERS ? (int)n : -1;
}

static int place_number(Parser *parser, const char *name) {
    Test *test = parser->test;
    for (int i = 0; i < test->place_count; i++) {
        if (strcmp(test->places[i].name, name) == 0) {
            return i;
        }
    }
    if (test->place_count == MAX_PLACES || name[0] == '\0') {
        return fails(parser, "too many names of memory, or an empty one") - 1;
    }
    int made = test->place_count++;
    Place *place = &test->places[made];
    *place = (Place){.virtual = made, .location = made};
    strncpy(place->name, name, sizeof place->name - 1);
    return made;
}

/* ---- { ... } ---- */

static Proxy proxy_named(const char *name) {
    static const char *const names[] = {"generic", "surface", "texture", "constant"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (Proxy)i;
        }
    }
    return PROXY_NONE;
}

static bool alias_declaration(Parser *parser, int made) {
    char kind[32], of[32];
    word(parser, kind, sizeof kind);
    if (!expect(parser, "aliases")) {
        return false;
    }
    word(parser, of, sizeof of);
    int other = place_number(parser, of);
    Proxy proxy = proxy_named(kind);
    if (other < 0 || proxy == PROXY_NONE) {
        return fails(parser, "an alias of nothing");
    }
    Place *place = &parser->test->places[made];
    const Place *target = &parser->test->places[other];
    place->location = target->location;
    place->initial = target->initial;
    place->proxy = proxy;
    if (proxy != PROXY_GENERIC) {
        place->virtual = target->virtual;
    }
    return true;
}

static bool declaration(Parser *parser) {
    char name[32];
    word(parser, name, sizeof name);
    int64_t value = 0;
    if (accept(parser, ":")) {
        char reg[32];
        word(parser, reg, sizeof reg);
        int thread = atoi(name + (name[0] == 'P')), r = register_number(reg);
        if (thread < 0 || thread >= MAX_THREADS || r < 0 || !expect(parser, "=") || !number(parser, &value)) {
            return fails(parser, "a register is not given a number");
        }
        parser->test->threads[thread].initial[r] = value;
        return true;
    }
    int place = place_number(parser, name);
    if (place < 0) {
        return false;
    }
    if (accept(parser, "@")) {
        return alias_declaration(parser, place);
    }
    if (!expect(parser, "=") || !number(parser, &value)) {
        return fails(parser, "memory is not given a number");
    }
    parser->test->places[place].initial = value;
    return true;
}

static bool declarations(Parser *parser) {
    if (!expect(parser, "{")) {
        return false;
    }
    while (!accept(parser, "}")) {
        if (!accept(parser, ";") && !declaration(parser)) {
            return false;
        }
    }
    accept(parser, ";");
    return true;
}

/* ---- Threads ---- */

static bool thread_header(Parser *parser) {
    do {
        Test *test = parser->test;
        char name[32];
        int64_t cta, gpu;
        word(parser, name, sizeof name);
        if (test->thread_count == MAX_THREADS || atoi(name + 1) != test->thread_count || !expect(parser, "@") ||
            !expect(parser, "cta") || !number(parser, &cta) || !expect(parser, ",") || !expect(parser, "gpu") ||
            !number(parser, &gpu)) {
            return fails(parser, "the line of threads is not understood");
        }
        Thread *thread = &test->threads[test->thread_count++];
        thread->cta = (int)cta, thread->gpu = (int)gpu;
    } while (accept(parser, "|"));
    return expect(parser, ";");
}

typedef struct Named {
    const char *name;
    int value;
} Named;

static const Named orders[] = {{"weak", ORDER_WEAK},
                               {"relaxed", ORDER_RELAXED},
                               {"acquire", ORDER_ACQUIRE},
                               {"release", ORDER_RELEASE},
                               {"acq_rel", ORDER_ACQ_REL},
                               {"sc", ORDER_SC},
                               {NULL, 0}};
static const Named scopes[] = {{"cta", SCOPE_CTA}, {"gpu", SCOPE_GPU}, {"sys", SCOPE_SYS}, {NULL, 0}};
static const Named operators[] = {{"add", OPERATOR_ADD},       {"sub", OPERATOR_SUB},
                                  {"mul", OPERATOR_MUL},       {"div", OPERATOR_DIV},
                                  {"and", OPERATOR_AND},       {"or", OPERATOR_OR},
                                  {"xor", OPERATOR_XOR},       {"cas", OPERATOR_CAS},
                                  {"exch", OPERATOR_EXCHANGE}, {NULL, 0}};
static const Named branches[] = {{"beq", OPERATOR_EQ},
                                 {"bne", OPERATOR_NE},
                                 {"blt", OPERATOR_LT},
                                 {"bgt", OPERATOR_GT},
                                 {"ble", OPERATOR_LE},
                                 {"bge", OPERATOR_GE},
                                 {NULL, 0}};
static const struct {
    const char *name;
    Code code;
    Proxy proxy;
} accesses[] = {{"ld", CODE_LOAD, PROXY_GENERIC},   {"tld", CODE_LOAD, PROXY_TEXTURE},
                {"suld", CODE_LOAD, PROXY_SURFACE}, {"cold", CODE_LOAD, PROXY_CONSTANT},
                {"st", CODE_STORE, PROXY_GENERIC},  {"sust", CODE_STORE, PROXY_SURFACE},
                {"atom", CODE_ATOM, PROXY_GENERIC}, {"suatom", CODE_ATOM, PROXY_SURFACE},
                {"red", CODE_RED, PROXY_GENERIC},   {"sured", CODE_RED, PROXY_SURFACE}};

static int value_named(const Named *table, const char *name) {
    for (; table->name != NULL; table++) {
        if (strcmp(table->name, name) == 0) {
            return table->value;
        }
    }
    return -1;
}

static bool operand(Parser *parser, Operand *to) {
    if (number(parser, &to->value)) {
        to->is_register = false;
        return true;
    }
    char name[32];
    word(parser, name, sizeof name);
    to->is_register = true;
    to->value = register_number(name);
    return to->value >= 0 || fails(parser, "an operand is not understood");
}

static bool target(Parser *parser, Instruction *to) {
    char name[32];
    word(parser, name, sizeof name);
    to->target = register_number(name);
    return to->target >= 0 || fails(parser, "a register is missing");
}

static bool place(Parser *parser, Instruction *to) {
    char name[32];
    word(parser, name, sizeof name);
    to->place = place_number(parser, name);
    return to->place >= 0;
}

/* .order, .scope, .operator, whatever there is of them. */
static bool modifiers(Parser *parser, Instruction *to) {
    while (accept(parser, ".")) {
        char name[32];
        word(parser, name, sizeof name);
        int order = value_named(orders, name), scope = value_named(scopes, name), op = value_named(operators, name);
        if (order >= 0) {
            to->order = (Order)order;
        } else if (scope >= 0) {
            to->scope = (Scope)scope;
        } else if (op >= 0) {
            to->operator=(Operator) op;
        } else {
            return fails(parser, "a modifier is not known");
        }
    }
    return true;
}

static bool memory_instruction(Parser *parser, Instruction *to) {
    if (to->code == CODE_LOAD && *parser->at != '.') { /* ld r0, 5 */
        to->code = CODE_MOVE;
        return target(parser, to) && expect(parser, ",") && operand(parser, &to->a);
    }
    if (!modifiers(parser, to)) {
        return false;
    }
    if ((to->code == CODE_LOAD || to->code == CODE_ATOM) && (!target(parser, to) || !expect(parser, ","))) {
        return false;
    }
    if (!place(parser, to)) {
        return false;
    }
    if (to->code != CODE_LOAD && (!expect(parser, ",") || !operand(parser, &to->a))) {
        return false;
    }
    return to->operator!= OPERATOR_CAS ||(expect(parser, ",") && operand(parser, &to->b));
}

static bool fence(Parser *parser, Instruction *to) {
    to->code = CODE_FENCE;
    if (!accept(parser, ".proxy.")) {
        return modifiers(parser, to);
    }
    char name[32];
    word(parser, name, sizeof name);
    to->code = strcmp(name, "alias") == 0 ? CODE_FENCE_ALIAS : CODE_FENCE_PROXY;
    to->proxy = to->code == CODE_FENCE_ALIAS ? PROXY_NONE : proxy_named(name);
    return to->code == CODE_FENCE_ALIAS || to->proxy != PROXY_NONE || fails(parser, "a fence of no proxy");
}

static bool barrier(Parser *parser, Instruction *to) {
    to->code = CODE_BARRIER;
    to->proxy = PROXY_NONE;
    char mode[32];
    int64_t instance = 0;
    if (!expect(parser, ".cta.")) {
        return false;
    }
    word(parser, mode, sizeof mode);
    to->arrive = strcmp(mode, "arrive") == 0;
    if (!number(parser, &instance)) {
        return fails(parser, "a barrier without a number");
    }
    to->instance = (int)instance;
    to->named = accept(parser, ",");
    if (to->named && !operand(parser, &to->a)) {
        return false;
    }
    to->quorum = to->named && accept(parser, ",");
    return !to->quorum || operand(parser, &to->b);
}

static int label_number(const char *text) {
    return strncmp(text, "LC", 2) == 0 ? atoi(text + 2) : -1;
}

static bool label(Parser *parser, Instruction *to) {
    char name[32];
    word(parser, name, sizeof name);
    to->label = label_number(name);
    return to->label >= 0 || fails(parser, "a label is missing");
}

static bool other_instruction(Parser *parser, const char *name, Instruction *to) {
    if (label_number(name) >= 0) {
        to->code = CODE_LABEL;
        to->label = label_number(name);
        return expect(parser, ":");
    }
    if (strcmp(name, "goto") == 0) {
        to->code = CODE_BRANCH;
        to->operator= OPERATOR_ALWAYS;
        return label(parser, to);
    }
    int op = value_named(branches, name);
    if (op >= 0) {
        to->code = CODE_BRANCH;
        to->operator=(Operator) op;
        return operand(parser, &to->a) && expect(parser, ",") && operand(parser, &to->b) && expect(parser, ",") &&
               label(parser, to);
    }
    op = value_named(operators, name);
    if (op < 0) {
        return fails(parser, "an instruction is not known");
    }
    to->code = CODE_MOVE;
    to->operator=(Operator) op;
    return target(parser, to) && expect(parser, ",") && operand(parser, &to->a) && expect(parser, ",") &&
           operand(parser, &to->b);
}

static bool instruction(Parser *parser) {
    Thread *thread = &parser->test->threads[parser->thread];
    if (thread->count == MAX_CODE) {
        return fails(parser, "a thread is too long");
    }
    Instruction *to = &thread->code[thread->count++];
    *to = (Instruction){.place = -1, .target = -1, .label = -1, .line = parser->line};
    char name[32];
    word(parser, name, sizeof name);
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        if (strcmp(name, accesses[i].name) == 0) {
            to->code = accesses[i].code;
            to->proxy = accesses[i].proxy;
            return memory_instruction(parser, to);
        }
    }
    if (strcmp(name, "fence") == 0) {
        return fence(parser, to);
    }
    return strcmp(name, "bar") == 0 ? barrier(parser, to) : other_instruction(parser, name, to);
}

static bool ends_table(Parser *parser) {
    return peek_word(parser, "exists") || peek_word(parser, "forall") || peek_word(parser, "locations") ||
           peek_word(parser, "filter") || *parser->at == '~' || *parser->at == '\0';
}

static bool row(Parser *parser) {
    for (parser->thread = 0;; parser->thread++) {
        skip_blank(parser);
        if (*parser->at != '|' && *parser->at != ';' && !instruction(parser)) {
            return false;
        }
        if (accept(parser, ";")) {
            return true;
        }
        if (!expect(parser, "|") || parser->thread + 1 == parser->test->thread_count) {
            return fails(parser, "more cells than threads");
        }
    }
}

/* ---- The condition ---- */

static bool value(Parser *parser, Value *to) {
    bool brackets = accept(parser, "[");
    if (!brackets && number(parser, &to->number)) {
        if (!accept(parser, ":")) {
            to->kind = VALUE_CONSTANT;
            return true;
        }
        to->thread = (int)to->number;
    } else {
        char name[32];
        word(parser, name, sizeof name);
        if (!accept(parser, ":")) {
            to->kind = VALUE_PLACE;
            to->number = place_number(parser, name);
            return to->number >= 0 && (!brackets || expect(parser, "]"));
        }
        to->thread = atoi(name + 1);
    }
    char name[32];
    word(parser, name, sizeof name);
    to->kind = VALUE_REGISTER;
    to->number = register_number(name);
    return (to->number >= 0 && to->thread >= 0 && to->thread < MAX_THREADS) || fails(parser, "no such register");
}

static int condition_new(Parser *parser, Condition made) {
    if (parser->test->condition_count == 64) {
        fails(parser, "the condition is too long");
        return 0;
    }
    parser->test->conditions[parser->test->condition_count] = made;
    return parser->test->condition_count++;
}

static int condition_or(Parser *parser);

static bool comparison(Parser *parser, Operator *to) {
    static const Named signs[] = {{"==", OPERATOR_EQ}, {"!=", OPERATOR_NE}, {"<=", OPERATOR_LE}, {">=", OPERATOR_GE},
                                  {"=", OPERATOR_EQ},  {"<", OPERATOR_LT},  {">", OPERATOR_GT},  {NULL, 0}};
    for (const Named *sign = signs; sign->name != NULL; sign++) {
        if (accept(parser, sign->name)) {
            *to = (Operator)sign->value;
            return true;
        }
    }
    return fails(parser, "a comparison is missing");
}

static int condition_atom(Parser *parser) {
    if (accept(parser, "~")) {
        return condition_new(parser, (Condition){.kind = CONDITION_NOT, .first = condition_atom(parser)});
    }
    if (accept(parser, "(")) {
        int inner = condition_or(parser);
        expect(parser, ")");
        return inner;
    }
    Condition made = {.kind = CONDITION_COMPARE};
    if (!value(parser, &made.left) || !comparison(parser, &made.operator) || !value(parser, &made.right)) {
        return 0;
    }
    return condition_new(parser, made);
}

static int condition_and(Parser *parser) {
    int left = condition_atom(parser);
    while (parser->problem == NULL && accept(parser, "/\\")) {
        left =
            condition_new(parser, (Condition){.kind = CONDITION_AND, .first = left, .second = condition_atom(parser)});
    }
    return left;
}

static int condition_or(Parser *parser) {
    int left = condition_and(parser);
    while (parser->problem == NULL && accept(parser, "\\/")) {
        left = condition_new(parser, (Condition){.kind = CONDITION_OR, .first = left, .second = condition_and(parser)});
    }
    return left;
}

static bool condition(Parser *parser) {
    bool not = accept(parser, "~");
    if (accept(parser, "exists")) {
        parser->test->quantifier = not ? QUANTIFIER_NOT_EXISTS : QUANTIFIER_EXISTS;
    } else if (!not &&accept(parser, "forall")) {
        parser->test->quantifier = QUANTIFIER_FORALL;
    } else {
        return fails(parser, "no condition of a kind that is known");
    }
    parser->test->condition = condition_or(parser);
    return parser->problem == NULL;
}

bool litmus_parse(const char *text, Test *test, const char **problem) {
    *test = (Test){.name = ""};
    Parser parser = {.at = text, .line = 1, .test = test};
    *problem = NULL;
    if (!accept(&parser, "PTX") && !accept(&parser, "ptx")) {
        *problem = "it does not begin with PTX";
        return false;
    }
    while (*parser.at == ' ') {
        parser.at++;
    }
    size_t length = strcspn(parser.at, "\r\n");
    strncpy(test->name, parser.at, length < sizeof test->name ? length : sizeof test->name - 1);
    for (; *parser.at != '{' && *parser.at != '\0'; parser.at++) {
        parser.line += *parser.at == '\n';
    }
    bool fine = declarations(&parser) && thread_header(&parser);
    while (fine && !ends_table(&parser)) {
        fine = row(&parser);
    }
    fine = fine && condition(&parser);
    *problem = parser.problem;
    return fine;
}
