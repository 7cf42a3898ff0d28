/* Constant expressions of PTX, evaluated as they are read: 64-bit integers, signed or not, and doubles. */
#include "ptx/internal.h"

#include <stdlib.h>

typedef struct Constant {
    enum { CONSTANT_INTEGER, CONSTANT_SINGLE, CONSTANT_DOUBLE } kind;
    bool not_signed;
    bool exact; /* written as its bits, which no operator takes */
    uint64_t bits;
} Constant;

static bool read_choice(Reader *r, Constant *to);

static double as_double(Constant c) {
    double wide;
    if (c.kind == CONSTANT_DOUBLE)
        return memcpy(&wide, &c.bits, sizeof wide), wide;
    return c.not_signed ? (double)c.bits : (double)(int64_t)c.bits;
}

static Constant of_double(double value) {
    Constant c = {.kind = CONSTANT_DOUBLE};
    memcpy(&c.bits, &value, sizeof value);
    return c;
}

static Constant of_truth(bool value) {
    return (Constant){.bits = value};
}

/* ---- Literals -------------------------------------------------------------------------------------- */

static int digit_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* Digits of a base; how many there are. What does not fit is cut off, and said in `over` where ptxas notices: when
 * there is one more digit though the highest bit is set. */
static size_t read_digits(Reader *r, int base, uint64_t *value, bool *over) {
    const char *start = r->p;
    *over = false;
    for (*value = 0; digit_value(*r->p) < base; r->p++) {
        *over |= *value >> 63;
        *value = *value * (uint64_t)base + (uint64_t)digit_value(*r->p);
    }
    return (size_t)(r->p - start);
}

/* 0f3F800000: exactly eight digits; 0d: sixteen */
static bool read_bits(Reader *r, size_t digits, Constant *to) {
    const char *start = r->p;
    bool over;
    r->p += 2;
    to->kind = digits == 8 ? CONSTANT_SINGLE : CONSTANT_DOUBLE;
    to->exact = true;
    if (read_digits(r, 16, &to->bits, &over) == digits && !is_class(*r->p, CLASS_IDENTIFIER))
        return true;
    return ptx_fail(r, start, "a number that starts so has %zu hexadecimal digits", digits);
}

/* Digits with a point or an exponent, which is where `at` is. */
static bool is_decimal(const char *at) {
    return *at == '.' || *at == 'e' || *at == 'E';
}

static bool read_decimal(Reader *r, Constant *to) {
    const char *start = r->p;
    while (is_class(*r->p, CLASS_DIGIT))
        r->p++;
    if (*r->p == '.')
        for (r->p++; is_class(*r->p, CLASS_DIGIT);)
            r->p++;
    if (*r->p == 'e' || *r->p == 'E') {
        r->p += 1 + (r->p[1] == '+' || r->p[1] == '-');
        while (is_class(*r->p, CLASS_DIGIT))
            r->p++;
    }
    char text[64];
    size_t size = (size_t)(r->p - start);
    if (size >= sizeof text || is_class(*r->p, CLASS_IDENTIFIER) || !is_class(r->p[-1], CLASS_DIGIT | CLASS_FORM))
        return ptx_fail(r, start, "this is no number");
    memcpy(text, start, size);
    text[size] = 0;
    *to = of_double(strtod(text, NULL));
    return true;
}

static bool read_literal(Reader *r, Constant *to) {
    const char *start = r->p, *at = start;
    char letter = (char)(start[1] | 0x20);
    *to = (Constant){0};
    if (*start == '0' && (letter == 'f' || letter == 'd') && digit_value(start[2]) < 16)
        return read_bits(r, letter == 'f' ? 8 : 16, to);
    while (is_class(*at, CLASS_DIGIT))
        at++;
    if (is_decimal(at))
        return read_decimal(r, to);
    int base = *start != '0' ? 10 : letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    if (base == 16 || base == 2)
        r->p += 2;
    bool over;
    size_t digits = read_digits(r, base, &to->bits, &over);
    if (*r->p == 'U')
        to->not_signed = r->p++ != NULL;
    else
        to->not_signed = (int64_t)to->bits < 0;
    if (!digits || is_class(*r->p, CLASS_IDENTIFIER))
        return ptx_fail(r, start, "this is no number");
    return !over || ptx_fail(r, start, "this number has more than 64 bits");
}

/* ---- Operators ----------------------------------------------------------------------------------------- */

static bool fail_float(Reader *r, const char *at) {
    return ptx_fail(r, at, "this operator takes no floating-point numbers");
}

/* (.s64) and (.u64) */
static bool take_cast(Reader *r, bool *not_signed) {
    const char *start = r->p;
    if (take(r, '(')) {
        Str word = take_dotted(r);
        *not_signed = str_is(word, ".u64");
        if ((*not_signed || str_is(word, ".s64")) && take(r, ')'))
            return true;
    }
    r->p = start;
    return false;
}

static bool read_unary(Reader *r, Constant *to);

static bool apply_unary(Reader *r, char sign, const char *at, Constant *to) {
    if (sign == '+' && !to->exact)
        return true;
    if (to->kind != CONSTANT_INTEGER) {
        if (sign != '-' || to->exact)
            return fail_float(r, at);
        *to = of_double(-as_double(*to));
        return true;
    }
    to->bits = sign == '-' ? -to->bits : sign == '~' ? ~to->bits : !to->bits;
    to->not_signed &= sign == '~';
    return true;
}

static bool read_primary(Reader *r, Constant *to) {
    char c = next_char(r);
    bool not_signed;
    if (is_class(c, CLASS_DIGIT) || (c == '.' && is_class(r->p[1], CLASS_DIGIT)))
        return read_literal(r, to);
    if (c == '(') {
        if (take_cast(r, &not_signed)) {
            if (!read_unary(r, to))
                return false;
            to->not_signed = not_signed;
            return true;
        }
        r->p++;
        return read_choice(r, to) && want(r, ')');
    }
    const char *start = r->p;
    if (str_is(take_identifier(r), "WARP_SZ")) {
        *to = (Constant){.bits = 32};
        return true;
    }
    r->p = start;
    return fail_expected(r, "a number");
}

static bool read_unary(Reader *r, Constant *to) {
    char c = next_char(r);
    if (c != '-' && c != '+' && c != '~' && c != '!')
        return read_primary(r, to);
    const char *at = r->p++;
    if (++r->depth > MOST_DEPTH)
        return ptx_fail(r, at, "this expression is nested too deeply");
    bool good = read_unary(r, to);
    r->depth--;
    return good && apply_unary(r, c, at, to);
}

/* The operator that stands here, and how tightly it binds, 1 the loosest; NULL if there is none. */
static const char *operator_at(const char *at, unsigned *level) {
    static const struct {
        char text[3];
        uint8_t level;
    } operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"|", 3},
                     {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
    if (*at == '%' && is_class(at[1], CLASS_IDENTIFIER))
        return NULL; /* a register */
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (*at == operators[i].text[0] && (!operators[i].text[1] || at[1] == operators[i].text[1])) {
            *level = operators[i].level;
            return operators[i].text;
        }
    return NULL;
}

static bool apply_floats(Reader *r, const char *operator, const char * at, Constant *to, Constant right) {
    if (to->exact || right.exact)
        return fail_float(r, at);
    double a = as_double(*to), b = as_double(right);
    switch (operator[0] | operator[1] << 8) {
    case '+':
        *to = of_double(a + b);
        return true;
    case '-':
        *to = of_double(a - b);
        return true;
    case '*':
        *to = of_double(a * b);
        return true;
    case '/':
        *to = of_double(a / b);
        return true;
    case '<':
        *to = of_truth(a < b);
        return true;
    case '>':
        *to = of_truth(a > b);
        return true;
    case '=' | '=' << 8:
        *to = of_truth(a == b);
        return true;
    case '!' | '=' << 8:
        *to = of_truth(a != b);
        return true;
    default:
        return fail_float(r, at);
    }
}

static bool divide(Reader *r, char operator, const char * at, Constant *to, Constant right, bool not_signed) {
    if (!right.bits)
        return ptx_fail(r, at, "this divides by zero");
    if (not_signed)
        to->bits = operator== '/' ? to->bits / right.bits : to->bits % right.bits;
    else if ((int64_t)right.bits == -1)
        to->bits = operator== '/' ? -to->bits : 0;
    else
        to->bits = (uint64_t)(operator== '/' ? (int64_t)to->bits / (int64_t)right.bits
                                             : (int64_t)to->bits % (int64_t)right.bits);
    return true;
}

static bool less(uint64_t a, uint64_t b, bool not_signed) {
    return not_signed ? a < b : (int64_t)a < (int64_t)b;
}

static bool apply(Reader *r, const char *operator, const char * at, Constant *to, Constant right) {
    if (to->kind != CONSTANT_INTEGER || right.kind != CONSTANT_INTEGER)
        return apply_floats(r, operator, at, to, right);
    bool not_signed = to->not_signed || right.not_signed, keeps = true;
    uint64_t a = to->bits, b = right.bits, shift = b & 63;
    switch (operator[0] | operator[1] << 8) {
    case '+':
        to->bits = a + b;
        break;
    case '-':
        to->bits = a - b;
        break;
    case '*':
        to->bits = a * b;
        break;
    case '/':
    case '%':
        if (!divide(r, *operator, at, to, right, not_signed))
            return false;
        break;
    case '|':
        to->bits = a | b;
        break;
    case '^':
        to->bits = a ^ b;
        break;
    case '&':
        to->bits = a & b;
        break;
    case '<' | '<' << 8:
        to->bits = a << shift;
        not_signed = to->not_signed;
        break;
    case '>' | '>' << 8:
        to->bits = to->not_signed ? a >> shift : (uint64_t)((int64_t)a >> shift);
        not_signed = to->not_signed;
        break;
    default:
        keeps = false;
    }
    if (keeps) {
        to->not_signed = not_signed;
        return true;
    }
    bool first = operator[0] == '|' ? a || b : operator[0] == '&' ? a && b : false;
    bool less_or_equal = operator[1] == '=';
    if (operator[0] == '=' || operator[0] == '!')
        first = (a == b) == (operator[0] == '=');
    else if (operator[0] == '<')
        first = less_or_equal ? !less(b, a, not_signed) : less(a, b, not_signed);
    else if (operator[0] == '>')
        first = less_or_equal ? !less(a, b, not_signed) : less(b, a, not_signed);
    *to = of_truth(first);
    return true;
}

/* As far as operators bind at least so tightly. */
static bool read_level(Reader *r, unsigned least, Constant *to) {
    if (!read_unary(r, to))
        return false;
    for (unsigned level; next_char(r);) {
        const char *at = r->p, *operator= operator_at(at, &level);
        if (!operator|| level<least)
            break;
        Constant right;
        r->p += strlen(operator);
        if (!read_level(r, level + 1, &right) || !apply(r, operator, at, to, right))
            return false;
    }
    return true;
}

static bool read_choice(Reader *r, Constant *to) {
    if (++r->depth > MOST_DEPTH)
        return ptx_fail(r, r->p, "this expression is nested too deeply");
    bool good = read_level(r, 1, to);
    if (good && take(r, '?')) {
        Constant yes, no;
        const char *at = r->p;
        good = read_choice(r, &yes) && want(r, ':') && read_choice(r, &no);
        if (good && to->kind != CONSTANT_INTEGER)
            good = fail_float(r, at);
        if (good)
            *to = to->bits ? yes : no;
    }
    r->depth--;
    return good;
}

bool read_constant(Reader *r, PtxOperand *to) {
    static const uint8_t kinds[] = {PTX_INTEGER, PTX_SINGLE, PTX_DOUBLE};
    Constant constant;
    const char *start = r->p;
    r->depth = 0;
    bool literal = is_class(*start, CLASS_DIGIT); /* alone, as nearly always */
    if (literal && !read_literal(r, &constant))
        return false;
    bool alone = literal && (*r->p == ',' || *r->p == ';' || *r->p == ']' || *r->p == '}');
    if (!alone) {
        r->p = start;
        if (!read_choice(r, &constant))
            return false;
    }
    *to = (PtxOperand){.kind = kinds[constant.kind], .not_signed = constant.not_signed, .bits = constant.bits};
    return true;
}

bool read_integer(Reader *r, int64_t *value) {
    PtxOperand constant;
    next_char(r);
    const char *at = r->p;
    if (!read_constant(r, &constant))
        return false;
    *value = constant.value;
    return constant.kind == PTX_INTEGER || ptx_fail(r, at, "this has to be a whole number");
}

bool read_whole(Reader *r, int64_t *value) {
    next_char(r);
    const char *at = r->p;
    Constant constant;
    if (!is_class(*at, CLASS_DIGIT)) /* ptxas takes no expressions here */
        return fail_expected(r, "a number");
    if (!read_literal(r, &constant))
        return false;
    *value = (int64_t)constant.bits;
    return constant.kind == CONSTANT_INTEGER || ptx_fail(r, at, "this has to be a whole number");
}

bool read_count(Reader *r, uint32_t *value) {
    int64_t number;
    next_char(r);
    const char *at = r->p;
    if (!read_whole(r, &number))
        return false;
    *value = (uint32_t)number;
    return (uint64_t)number < UINT32_MAX || ptx_fail(r, at, "this number is too large");
}
