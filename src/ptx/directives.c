/* Directives of PTX that declare nothing: of the module, of source lines, of functions, debug sections. */
#include "ptx/internal.h"

/* .version 8.7 */
bool read_version(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    next_char(r);
    const char *at = r->p;
    unsigned major = 0, minor = 0;
    while (is_class(*r->p, CLASS_DIGIT) && major < 100)
        major = major * 10 + (unsigned)(*r->p++ - '0');
    bool point = r->p > at && *r->p == '.';
    r->p += point;
    const char *fraction = r->p;
    while (point && is_class(*r->p, CLASS_DIGIT) && minor < 100)
        minor = minor * 10 + (unsigned)(*r->p++ - '0');
    if (r->p == fraction || is_class(*r->p, CLASS_IDENTIFIER))
        return ptx_fail(r, at, "a version is two numbers with a point between them");
    if (r->module->version)
        return ptx_fail(r, r->base + r->statement_at, "a file has one module: this is its second .version");
    r->module->version = major * 10 + minor;
    add_operand(r, PTX_WORD, intern(r, str_between(at, r->p)), 0);
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* .target sm_90a, debug */
bool read_target(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    do {
        next_char(r);
        const char *at = r->p;
        Str text = take_identifier(r);
        if (!text.size)
            return fail_expected(r, "a target");
        unsigned since = ptx_target_version(text);
        if (since > r->module->version)
            return ptx_fail(r, at, "'%.*s' is a target from version %u.%u on", STR_ARG(text), since / 10, since % 10);
        add_operand(r, PTX_WORD, intern(r, text), 0);
        int64_t number;
        size_t digits = 3;
        while (digits < text.size && is_class(text.data[digits], CLASS_DIGIT))
            digits++;
        if (!str_starts(text, STR("sm_")) || !str_to_int((Str){text.data + 3, digits - 3}, &number) || number > 9999)
            continue;
        r->module->target = intern(r, text);
        r->module->capability = (unsigned)number;
        r->module->variant = digits < text.size ? text.data[digits] : 0;
    } while (take_more(r, ','));
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* .reqntid 128, 1, 1; .address_size 64; .noreturn */
bool read_numbers(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (word != WORD_address_size && !r->header)
        return ptx_fail(r, r->base + r->statement_at, "'%.*s' stands between a function's parameters and its body",
                        STR_ARG(r->module->names[word].text));
    const char *before = r->p;
    if (!is_class(next_char(r), CLASS_DIGIT)) {
        r->p = before;
    } else {
        do {
            uint32_t number;
            if (!read_count(r, &number))
                return false;
            add_operand(r, PTX_INTEGER, 0, number);
            if (word == WORD_address_size)
                r->module->address_size = number;
        } while (take_more(r, ','));
    }
    add_statement(r, PTX_DIRECTIVE, word, first)->flags = r->header ? PTX_HEADER : 0;
    if (word == WORD_noreturn)
        r->module->functions[r->function].noreturn = true;
    return true;
}

/* .file 1 "path", 0, 0 */
bool read_file(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count, number;
    if (!read_count(r, &number))
        return false;
    add_operand(r, PTX_INTEGER, 0, number);
    Str path = take_string(r);
    if (!path.size)
        return false;
    add_operand(r, PTX_STRING, intern(r, path), 0);
    while (take_more(r, ',')) {
        if (!read_count(r, &number))
            return false;
        add_operand(r, PTX_INTEGER, 0, number);
    }
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* .pragma "nounroll"; */
bool read_pragma(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    do {
        Str text = take_string(r);
        if (!text.size)
            return false;
        add_operand(r, PTX_STRING, intern(r, text), 0);
    } while (take(r, ','));
    if (!want(r, ';'))
        return false;
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* .alias new, old; */
bool read_alias(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    do {
        next_char(r);
        const char *at = r->p;
        Str name = take_identifier(r);
        if (!name.size)
            return fail_expected(r, "a function");
        const PtxName *entry = &r->module->names[intern(r, name)];
        if (entry->bound_kind != BOUND_FUNCTION)
            return ptx_fail(r, at, "'%.*s' is no function", STR_ARG(name));
        add_operand(r, PTX_CALLEE, entry->bound, 0);
    } while (take(r, ','));
    if (!want(r, ';'))
        return false;
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* $L: .branchtargets a, b; */
bool read_targets(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    const PtxStatement *before =
        r->module->statements_count ? &r->module->statements[r->module->statements_count - 1] : NULL;
    if (!before || before->kind != PTX_LABEL || r->function == PTX_NONE)
        return ptx_fail(r, r->base + r->statement_at, "there is a label before '%.*s'",
                        STR_ARG(r->module->names[word].text));
    do {
        next_char(r);
        const char *at = r->p;
        Str name = take_identifier(r);
        if (!name.size)
            return fail_expected(r, "a name");
        add_name(r, name, at);
    } while (take(r, ','));
    if (!want(r, ';'))
        return false;
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* ---- Source lines ---------------------------------------------------------------------------------------- */

static inline bool read_line_number(Reader *r) {
    uint32_t number = 0;
    while (*r->p == ' ' || *r->p == '\t')
        r->p++;
    const char *start = r->p, *at = start;
    while (is_class(*at, CLASS_DIGIT) && at - start < 9)
        number = number * 10 + (uint32_t)(*at++ - '0');
    if (at == start || is_class(*at, CLASS_IDENTIFIER)) {
        if (!read_count(r, &number))
            return false;
    } else {
        r->p = at;
    }
    add_operand(r, PTX_INTEGER, 0, number);
    return true;
}

/* function_name LABEL + 4, inlined_at 1 2 3 */
static bool read_inlined(Reader *r) {
    Str word = take_identifier(r);
    add_operand(r, PTX_WORD, intern(r, word), 0);
    if (str_is(word, "inlined_at"))
        return read_line_number(r) && read_line_number(r) && read_line_number(r);
    if (!str_is(word, "function_name"))
        return fail_expected(r, "function_name or inlined_at");
    Str label = take_identifier(r);
    if (!label.size)
        return fail_expected(r, "a label of .debug_str");
    int64_t offset = 0;
    if (take_more(r, '+') && !read_integer(r, &offset))
        return false;
    add_operand(r, PTX_NAME, intern(r, label), offset);
    return true;
}

/* .loc 1 326 0 */
bool read_loc(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (!read_line_number(r) || !read_line_number(r) || !read_line_number(r))
        return false;
    while (*r->p != '\n' && take_more(r, ','))
        if (!read_inlined(r))
            return false;
    add_statement(r, PTX_LOC, word, first);
    return true;
}

/* ---- Sections of debug information ----------------------------------------------------------------------- */

bool read_section(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (r->function != PTX_NONE)
        return ptx_fail(r, r->base + r->statement_at, "a section cannot stand in a function");
    Str name = take_dotted(r);
    if (!name.size)
        return fail_expected(r, "the section's name");
    add_operand(r, PTX_WORD, intern(r, name), 0);
    add_statement(r, PTX_SECTION, word, first);
    if (next_char(r) != '{')
        return fail_expected(r, "'{'");
    return true;
}

/* a label, or a section as ".debug_str"; with a number or less another label */
static bool read_place(Reader *r) {
    uint32_t head = r->module->operands_count;
    Str name = *r->p == '.' ? take_dotted(r) : take_identifier(r);
    if (!name.size)
        return fail_expected(r, "a number or a label");
    PtxOperand *operand = add_operand(r, PTX_NAME, intern(r, name), 0);
    if (take_more(r, '+')) {
        int64_t offset;
        if (!read_integer(r, &offset))
            return false;
        r->module->operands[head].value = offset;
    } else if (take_more(r, '-')) {
        PtxOperand left = *operand;
        *operand = (PtxOperand){.kind = PTX_DIFFERENCE, .a = 2};
        *PUSH(r, operands) = left;
        next_char(r);
        Str right = *r->p == '.' ? take_dotted(r) : take_identifier(r);
        if (!right.size)
            return fail_expected(r, "a label");
        add_operand(r, PTX_NAME, intern(r, right), 0);
    }
    return true;
}

/* .b8 1, 2, 3: a list that ends where no comma follows */
bool read_data(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (!r->in_section)
        return ptx_fail(r, r->base + r->statement_at, "data stands in a section");
    do {
        char c = next_char(r);
        const char *at = r->p;
        int64_t number = 0;
        while (is_class(*at, CLASS_DIGIT) && at - r->p < 18)
            number = number * 10 + (*at++ - '0');
        if (at > r->p && (c != '0' || at == r->p + 1) && (*at == ',' || *at == '\n')) {
            r->p = at;
            add_operand(r, PTX_INTEGER, 0, number);
        } else if (is_class(c, CLASS_LETTER) || (c == '.' && !is_class(r->p[1], CLASS_DIGIT))) {
            if (!read_place(r))
                return false;
        } else if (!read_integer(r, &number)) {
            return false;
        } else {
            add_operand(r, PTX_INTEGER, 0, number);
        }
    } while (take_more(r, ','));
    add_statement(r, PTX_DATA, word, first);
    return true;
}
