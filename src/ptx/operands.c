/* Operands of PTX instructions and initializers. */
#include "ptx/internal.h"

const char *const ptx_part_names[PTX_PARTS] = {"", "x", "y", "z", "w", "b0", "b1", "b2", "b3", "h0", "h1"};

/* ---- Registers and names ----------------------------------------------------------------------------- */

/* ".x" behind a register. Colors are other names for the same four. */
static bool read_part(Reader *r) {
    PtxOperand *operand = &r->module->operands[r->module->operands_count - 1];
    static const char colors[] = "rgba";
    const char *at = r->p + 1;
    const char *color = *at && !is_class(at[1], CLASS_IDENTIFIER) ? strchr(colors, *at) : NULL;
    for (unsigned i = 1; i < PTX_PARTS && !operand->part; i++) {
        size_t size = strlen(ptx_part_names[i]);
        if (strncmp(at, ptx_part_names[i], size) == 0 && !is_class(at[size], CLASS_IDENTIFIER)) {
            operand->part = (uint8_t)i;
            r->p = at + size;
        }
    }
    if (!operand->part && color) {
        operand->part = (uint8_t)(PTX_X + (color - colors));
        r->p = at + 1;
    }
    return operand->part || ptx_fail(r, r->p, "a register has no such part");
}

static bool read_name(Reader *r) {
    const char *at = r->p;
    Str text = take_identifier(r);
    if (!text.size)
        return fail_expected(r, "an operand");
    add_name(r, text, at);
    uint8_t kind = r->module->operands[r->module->operands_count - 1].kind;
    return *r->p != '.' || kind > PTX_SPECIAL || read_part(r);
}

/* Bytes that are no digits, as their highest bits; those of the number before the first of them, at most seven. Without
 * a loop: how long a number is cannot be foretold, and that would cost more than all of this. There are 16 bytes behind
 * the text, and it is ASCII. */
static inline uint64_t no_digits(uint64_t word) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    word ^= ones * '0';
    return ((word + ones * (128 - 10)) | word) & ones << 7;
}

static inline uint64_t load_word(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* The number at `at`, and how many digits it has; 0: none, or more than seven. */
static inline unsigned take_digits(const char *at, uint64_t *number) {
    const uint64_t pairs = UINT64_C(0x000000ff000000ff);
    uint64_t word = load_word(at), others = no_digits(word);
    unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 0;
    if (!count)
        return 0;
    word = (word ^ UINT64_C(0x3030303030303030)) << (64 - 8 * count); /* zeros before it, up to eight digits */
    word = word * 10 + (word >> 8);
    word = (word & pairs) * (100 + (UINT64_C(1000000) << 32)) + (word >> 16 & pairs) * (1 + (UINT64_C(10000) << 32));
    *number = word >> 32;
    return count;
}

static bool read_new_register(Reader *r);

/* Nearly all registers are one of a range, with a short name: letters, then digits; and nearly all ranges were met
 * before. */
bool read_register(Reader *r) {
    uint64_t key = load_word(r->p), digits = ~no_digits(key) & UINT64_C(0x8080808080808080), number;
    unsigned size = digits ? (unsigned)__builtin_ctzll(digits) / 8 : 0;
    if (!size)
        return read_new_register(r);
    key &= UINT64_MAX >> (64 - 8 * size);
    const Prefix *prefix = &r->prefixes[key * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    unsigned count = take_digits(r->p + size, &number);
    const char *at = r->p + size + count;
    if (prefix->key != key || !count || is_class(*at, CLASS_IDENTIFIER) || *at == '.')
        return read_new_register(r);
    const PtxName *name = &r->module->names[prefix->name];
    if (!name->range || name->singles || number >= r->module->variables[name->range - 1].range)
        return read_name(r);
    r->p = at;
    add_operand(r, PTX_REGISTER, name->range - 1, (int64_t)number);
    return true;
}

/* The same, character by character. */
static bool read_new_register(Reader *r) {
    const char *start = r->p, *at = start + 1;
    while (is_class(*at, CLASS_LETTER))
        at++;
    size_t size = (size_t)(at - start);
    uint64_t key, number = 0;
    const char *digits = at;
    while (is_class(*at, CLASS_DIGIT))
        number = number * 10 + (uint64_t)(*at++ - '0');
    if (size > 7 || at == digits || at - digits > 9 || is_class(*at, CLASS_IDENTIFIER) || *at == '.')
        return read_name(r);
    key = load_word(start) & UINT64_MAX >> (64 - 8 * size);
    Prefix *prefix = &r->prefixes[key * UINT64_C(0x9e3779b97f4a7c15) >> 58];
    if (prefix->key != key)
        *prefix = (Prefix){key, intern(r, (Str){start, size})};
    const PtxName *name = &r->module->names[prefix->name];
    if (!name->range || name->singles || number >= r->module->variables[name->range - 1].range)
        return read_name(r);
    r->p = at;
    add_operand(r, PTX_REGISTER, name->range - 1, (int64_t)number);
    return true;
}

/* ---- Constants ------------------------------------------------------------------------------------------ */

/* Nearly all numbers are decimal, and short; true if it was such a one. */
static inline bool take_short(Reader *r, int64_t *number) {
    const char *at = r->p;
    bool negative = *at == '-';
    at += negative;
    if (!is_class(*at, CLASS_DIGIT) || (*at == '0' && is_class(at[1], CLASS_IDENTIFIER)))
        return false;
    const char *digits = at;
    uint64_t few;
    unsigned count = take_digits(at, &few);
    int64_t value = count ? (int64_t)few : 0;
    at += count;
    while (!count && is_class(*at, CLASS_DIGIT) && at - digits < 18)
        value = value * 10 + (*at++ - '0');
    if (*at != ',' && *at != ';' && *at != '}' && *at != ']')
        return false;
    r->p = at;
    *number = negative ? -value : value;
    return true;
}

static bool read_number(Reader *r) {
    PtxOperand constant;
    int64_t number;
    if (take_short(r, &number)) {
        add_operand(r, PTX_INTEGER, 0, number);
        return true;
    }
    if (!read_constant(r, &constant))
        return false;
    *PUSH(r, operands) = constant;
    return true;
}

/* "+ 4" behind a symbol; none is 0. */
static bool read_offset(Reader *r, int64_t *offset) {
    *offset = 0;
    if (next_char(r) != '+')
        return true;
    r->p++;
    return read_integer(r, offset);
}

/* ---- Members ----------------------------------------------------------------------------------------------- */

/* Up to the bracket that closes; they belong to operand `head`, which is told how many they are. */
static bool read_members(Reader *r, uint32_t head, char close, bool (*read)(Reader *r)) {
    if (++r->brackets > MOST_DEPTH)
        return ptx_fail(r, r->p, "brackets are nested too deeply");
    if (!take(r, close)) {
        do {
            if (!read(r))
                return false;
        } while (take(r, ','));
        if (!want(r, close))
            return false;
    }
    r->brackets--;
    r->module->operands[head].a = r->module->operands_count - head - 1;
    return true;
}

static bool read_grouped(Reader *r, PtxOperandKind kind, char close, bool (*read)(Reader *r)) {
    uint32_t head = r->module->operands_count;
    add_operand(r, kind, 0, 0);
    r->p++;
    return read_members(r, head, close, read);
}

/* The base of an address, and what is added to it. */
static bool read_base(Reader *r, uint32_t head) {
    char c = next_char(r);
    bool good = c == '%' ? read_register(r) : is_class(c, CLASS_DIGIT) || c == '-' ? read_number(r) : read_name(r);
    if (!good || next_char(r) != '+')
        return good;
    r->p++;
    int64_t offset;
    if (!take_short(r, &offset) && !read_integer(r, &offset))
        return false;
    r->module->operands[head].value = offset;
    r->module->operands[head].written = 1;
    return true;
}

static bool read_address(Reader *r) {
    uint32_t head = r->module->operands_count;
    add_operand(r, PTX_ADDRESS, 0, 0);
    r->p++;
    if (!read_base(r, head))
        return false;
    if (*r->p != ']' && take(r, ','))
        return read_members(r, head, ']', read_operand);
    if (!want(r, ']'))
        return false;
    r->module->operands[head].a = r->module->operands_count - head - 1;
    if (next_char(r) != '.')
        return true;
    if (!str_is(take_dotted(r), ".unified"))
        return fail_expected(r, "'.unified', ',' or ';'");
    r->module->operands[head].unified = 1;
    return true;
}

/* The operand that was read last becomes the first of two. */
static PtxOperand *wrap_last(Reader *r, uint32_t head, PtxOperandKind kind) {
    PUSH(r, operands);
    PtxOperand *operands = r->module->operands;
    uint32_t moved = r->module->operands_count - 1 - head;
    memmove(operands + head + 1, operands + head, moved * sizeof *operands);
    for (uint32_t i = r->fixup_count; i-- > 0 && r->fixups[i].operand >= head;)
        r->fixups[i].operand++;
    operands[head] = (PtxOperand){.kind = (uint8_t)kind, .a = moved};
    return &operands[head];
}

static bool read_pair(Reader *r, uint32_t head) {
    if (++r->brackets > MOST_DEPTH)
        return ptx_fail(r, r->p, "operands are nested too deeply");
    r->p++;
    wrap_last(r, head, PTX_PAIR);
    if (!read_operand(r))
        return false;
    r->brackets--;
    r->module->operands[head].a = r->module->operands_count - head - 1;
    return true;
}

/* ---- An operand --------------------------------------------------------------------------------------------- */

/* A variable or a label, with an offset or an index. */
static bool read_symbol(Reader *r) {
    uint32_t head = r->module->operands_count;
    if (r->p[0] == '_' && !is_class(r->p[1], CLASS_IDENTIFIER)) {
        r->p++;
        add_operand(r, PTX_SINK, 0, 0);
        return true;
    }
    if (r->p[0] == 'W' && strncmp(r->p, "WARP_SZ", 7) == 0 && !is_class(r->p[7], CLASS_IDENTIFIER))
        return read_number(r);
    if (!read_name(r))
        return false;
    PtxOperand *operand = &r->module->operands[head];
    int64_t offset = 0;
    char c = *r->p == ',' || *r->p == ';' ? *r->p : next_char(r);
    if (operand->kind == PTX_VARIABLE && c == '[') {
        r->p++;
        if (!read_integer(r, &offset) || !want(r, ']'))
            return false;
        r->module->operands[head].written = 1;
    } else if (operand->kind == PTX_VARIABLE && !read_offset(r, &offset)) {
        return false;
    }
    if (r->module->operands[head].kind == PTX_VARIABLE)
        r->module->operands[head].value = offset;
    return true;
}

static bool read_negated(Reader *r) {
    const char *start = r->p++;
    char c = next_char(r);
    if (c == '%' || is_class(c, CLASS_LETTER)) {
        uint32_t head = r->module->operands_count;
        if (!(c == '%' ? read_register(r) : read_name(r)))
            return false;
        if (r->module->operands[head].kind != PTX_REGISTER)
            return ptx_fail(r, start, "only a register can be negated");
        r->module->operands[head].negated = 1;
        return true;
    }
    r->p = start;
    return read_number(r);
}

bool read_operand(Reader *r) {
    uint32_t head = r->module->operands_count;
    bool good;
    switch (next_char(r)) {
    case '%':
        good = read_register(r);
        break;
    case '[':
        return read_address(r);
    case '{': /* of tex, with a predicate behind it: {a, b, c, d}|p */
        good = read_grouped(r, PTX_VECTOR, '}', read_operand);
        break;
    case '(':
        return r->calls ? read_grouped(r, PTX_LIST, ')', read_operand) : read_number(r);
    case '!':
        good = read_negated(r);
        break;
    case '0' ... '9':
    case '-':
    case '+':
    case '~':
    case '.':
        return read_number(r);
    case 'a' ... 'z':
    case 'A' ... 'Z':
    case '_':
    case '$':
        good = read_symbol(r);
        break;
    default:
        return fail_expected(r, "an operand");
    }
    if (!good || *r->p == ',' || *r->p == ';' || next_char(r) != '|')
        return good;
    return read_pair(r, head);
}

/* ---- Initializers ------------------------------------------------------------------------------------------- */

/* An address: it has to be declared, since nothing is found further down. */
static bool read_declared(Reader *r) {
    next_char(r);
    const char *at = r->p;
    uint32_t fixups = r->fixup_count, head = r->module->operands_count;
    Str text = take_identifier(r);
    if (!text.size)
        return fail_expected(r, "a value");
    add_name(r, text, at);
    if (r->fixup_count > fixups) {
        r->fixup_count = fixups;
        return ptx_fail(r, at, "'%.*s' is not declared", STR_ARG(text));
    }
    const PtxOperand *operand = &r->module->operands[head];
    return operand->kind == PTX_VARIABLE || operand->kind == PTX_CALLEE ||
           ptx_fail(r, at, "'%.*s' has no address", STR_ARG(text));
}

/* generic(a) + 4, 0xff00(a) */
static bool read_applied(Reader *r, PtxOperandKind kind, int64_t mask) {
    uint32_t head = r->module->operands_count;
    int64_t offset = 0;
    add_operand(r, kind, 1, mask);
    if (!want(r, '(') || !read_declared(r))
        return false;
    if (kind == PTX_MASKED && next_char(r) != ')') {
        if (!read_offset(r, &offset))
            return false;
        r->module->operands[head + 1].value = offset;
    }
    if (!want(r, ')') || (kind == PTX_GENERIC && !read_offset(r, &offset)))
        return false;
    if (kind == PTX_GENERIC)
        r->module->operands[head].value = offset;
    return true;
}

bool read_initial(Reader *r) {
    char c = next_char(r);
    if (c == '{')
        return read_grouped(r, PTX_VECTOR, '}', read_initial);
    if (is_class(c, CLASS_LETTER) && strncmp(r->p, "WARP_SZ", 7) != 0) {
        uint32_t head = r->module->operands_count;
        const char *start = r->p;
        if (str_is(take_identifier(r), "generic") && next_char(r) == '(')
            return read_applied(r, PTX_GENERIC, 0);
        r->p = start;
        int64_t offset;
        if (!read_declared(r) || !read_offset(r, &offset))
            return false;
        r->module->operands[head].value = offset;
        return true;
    }
    if (!read_number(r))
        return false;
    PtxOperand last = r->module->operands[r->module->operands_count - 1];
    if (last.kind != PTX_INTEGER || next_char(r) != '(')
        return true;
    r->module->operands_count--;
    return read_applied(r, PTX_MASKED, last.value);
}
