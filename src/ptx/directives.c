/* Directives of PTX that declare nothing: of the module, of source lines, of functions, debug sections. */
#include "ptx/internal.h"

/* ---- The head of a module ---------------------------------------------------------------------------- */

/* Which versions there were, the last number of each major one; later ones than 9.0 may be whatever they are. */
static bool is_version(unsigned version) {
    static const uint8_t last[] = {0, 5, 3, 2, 3, 0, 5, 8, 8, 9};
    unsigned major = version / 10;
    return version > PTX_WORDS_OF || (major && major < sizeof last && version % 10 <= last[major]);
}

/* .version 8.7 */
bool read_version(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    while (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\f') /* the number stands on the same line */
        r->p++;
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
    if (!is_version(r->module->version))
        return ptx_fail(r, at, "there is no such version of PTX");
    add_operand(r, PTX_WORD, intern(r, str_between(at, r->p)), 0);
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* sm_90a, compute_90: the architecture, which is the first word of .target. */
static bool set_architecture(Reader *r, Str text, const char *at) {
    size_t start = str_starts(text, STR("compute_")) ? 8 : 3, digits = start;
    while (digits < text.size && is_class(text.data[digits], CLASS_DIGIT))
        digits++;
    int64_t number;
    if ((start == 3 && !str_starts(text, STR("sm_"))) ||
        !str_to_int((Str){text.data + start, digits - start}, &number) || number > 9999)
        return ptx_fail(r, at, "a target starts with its architecture, such as sm_90a");
    Text name = {0};
    text_addf(&name, "sm_%.*s", (int)(text.size - start), text.data + start);
    unsigned since = ptx_target_version((Str){name.data, name.size});
    text_free(&name);
    if (since > r->module->version)
        return ptx_fail(r, at, "'%.*s' is a target from version %u.%u on", STR_ARG(text), since / 10, since % 10);
    if (!since && number >= 50 && r->module->version <= PTX_WORDS_OF)
        return ptx_fail(r, at, "there is no target '%.*s'", STR_ARG(text));
    r->module->target = intern(r, text);
    r->module->capability = (unsigned)number;
    r->module->variant = digits < text.size ? text.data[digits] : 0;
    return true;
}

/* .target sm_90a, debug */
bool read_target(Reader *r, uint32_t word) {
    static const char options[] = "texmode_unified texmode_independent debug map_f64_to_f32";
    uint32_t first = r->module->operands_count;
    unsigned modes = 0;
    do {
        next_char(r);
        const char *at = r->p;
        Str text = take_identifier(r);
        if (!text.size)
            return fail_expected(r, "a target");
        int option = word_place(text, options);
        if (r->module->operands_count == first || str_starts(text, STR("sm_"))) {
            if (!set_architecture(r, text, at))
                return false;
        } else if (option < 0 || (option == 3 && r->module->capability >= 13)) {
            return ptx_fail(r, at, "there is no option '%.*s' of a target", STR_ARG(text));
        }
        modes |= option == 0 || option == 1 ? 1u << option : 0;
        if (modes == 3)
            return ptx_fail(r, at, "textures are in one mode, unified or independent");
        r->samplers |= option == 1;
        r->debug |= option == 2;
        add_operand(r, PTX_WORD, intern(r, text), 0);
    } while (take_more(r, ','));
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* .address_size 64 */
bool read_address_size(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count, number;
    next_char(r);
    const char *at = r->p;
    if (!read_count(r, &number))
        return false;
    if (number != 64)
        return ptx_fail(r, at,
                        number == 32 ? "ptxas no longer makes code with 32-bit addresses" : "an address has 64 bits");
    r->module->address_size = number;
    add_operand(r, PTX_INTEGER, 0, number);
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* ---- Between a function's parameters and its body -------------------------------------------------------- */

typedef struct HeaderRule {
    uint32_t word;
    uint8_t least, most; /* numbers behind it */
    bool of_function;    /* it stands at a function, and else at a kernel */
    bool positive;
    uint8_t version, capability;
    uint32_t against; /* another directive that does not go with it; 0: none */
} HeaderRule;

static const HeaderRule header_rules[] = {
    {WORD_reqntid, 1, 3, false, true, 21, 0, WORD_maxntid},
    {WORD_maxntid, 1, 3, false, true, 13, 0, WORD_reqntid},
    {WORD_minnctapersm, 1, 1, false, true, 20, 0, 0},
    {WORD_maxnreg, 1, 1, false, true, 13, 0, 0},
    {WORD_maxclusterrank, 1, 1, false, false, 78, 90, WORD_reqnctapercluster},
    {WORD_reqnctapercluster, 1, 3, false, false, 78, 90, WORD_maxclusterrank},
    {WORD_explicitcluster, 0, 0, false, false, 78, 90, 0},
    {WORD_blocksareclusters, 0, 0, false, false, 90, 90, 0},
    {WORD_noreturn, 0, 0, true, false, 64, 30, 0},
    {WORD_abi_preserve, 1, 1, true, false, 90, 80, 0},
    {WORD_abi_preserve_control, 1, 1, true, false, 90, 80, 0},
};

static uint32_t header_bit(uint32_t word) {
    return 1u << (word - WORD_reqntid);
}

static bool check_header(Reader *r, const HeaderRule *rule, Str name, const char *at) {
    const PtxFunction *function = &r->module->functions[r->function];
    uint32_t late = rule->word == WORD_noreturn ? header_bit(WORD_noreturn) | header_bit(WORD_abi_preserve) |
                                                      header_bit(WORD_abi_preserve_control)
                                                : header_bit(rule->word);
    if (function->entry == rule->of_function)
        return ptx_fail(r, at, "'%.*s' is a directive of %s", STR_ARG(name),
                        rule->of_function ? "functions" : "kernels");
    if (rule->version > r->module->version)
        return ptx_fail(r, at, "'%.*s' needs .version %u.%u or later", STR_ARG(name), rule->version / 10u,
                        rule->version % 10u);
    if (rule->capability > r->module->capability)
        return ptx_fail(r, at, "'%.*s' needs .target sm_%u or later", STR_ARG(name), rule->capability);
    if (rule->of_function && (r->header_words & late))
        return ptx_fail(r, at, "'%.*s' stands once, and .noreturn before the others", STR_ARG(name));
    if (rule->word == WORD_noreturn && function->return_count)
        return ptx_fail(r, at, "a function that returns values does not come with '%.*s'", STR_ARG(name));
    if (rule->against && (r->header_words & header_bit(rule->against)))
        return ptx_fail(r, at, "'%.*s' does not go with '%.*s'", STR_ARG(name),
                        STR_ARG(r->module->names[rule->against].text));
    return true;
}

bool end_header(Reader *r, const char *at) {
    uint32_t wanted = header_bit(WORD_reqntid) | header_bit(WORD_reqnctapercluster);
    return !(r->header_words & header_bit(WORD_blocksareclusters)) || (r->header_words & wanted) == wanted ||
           ptx_fail(r, at, "'.blocksareclusters' needs '.reqntid' and '.reqnctapercluster'");
}

/* .reqntid 128, 1, 1; .noreturn */
bool read_numbers(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count, count = 0;
    const char *start = r->base + r->statement_at, *before = r->p;
    const HeaderRule *rule = header_rules, *end = rule + sizeof header_rules / sizeof *header_rules;
    Str name = r->module->names[word].text;
    if (!r->header)
        return ptx_fail(r, start, "'%.*s' stands between a function's parameters and its body", STR_ARG(name));
    while (rule < end && rule->word != word)
        rule++;
    if (rule == end)
        return ptx_fail(r, start, "'%.*s' is no longer a directive of PTX", STR_ARG(name));
    if (!is_class(next_char(r), CLASS_DIGIT)) {
        r->p = before;
    } else {
        do {
            uint32_t number;
            if (!read_count(r, &number))
                return false;
            if (rule->positive && !number)
                return ptx_fail(r, start, "'%.*s' takes numbers over zero", STR_ARG(name));
            if (rule->of_function && number >= 240)
                return ptx_fail(r, start, "there are not that many registers");
            add_operand(r, PTX_INTEGER, 0, number);
            count++;
        } while (take_more(r, ','));
    }
    if (count < rule->least || count > rule->most)
        return ptx_fail(r, start, "'%.*s' has %u number%s", STR_ARG(name), count, plural(count));
    if (!check_header(r, rule, name, start))
        return false;
    r->header_words |= header_bit(word);
    add_statement(r, PTX_DIRECTIVE, word, first)->flags = PTX_HEADER;
    if (word == WORD_noreturn)
        r->module->functions[r->function].noreturn = true;
    return true;
}

/* .file 1 "path", 0, 0 */
bool read_file(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count, number;
    if (r->function != PTX_NONE)
        return ptx_fail(r, r->base + r->statement_at, "'.file' stands outside of functions");
    next_char(r);
    const char *at = r->p;
    if (!read_count(r, &number))
        return false;
    uint32_t named = intern(r, str_between(at, r->p)); /* no identifier starts with a digit */
    PtxName *name = &r->module->names[named];          /* which intern may have moved */
    if (name->bound_kind == BOUND_FILE)
        return ptx_fail(r, at, "there is a file %u already", number);
    name->bound_kind = BOUND_FILE;
    add_operand(r, PTX_INTEGER, 0, number);
    Str path = take_string(r);
    if (!path.size)
        return false;
    add_operand(r, PTX_STRING, intern(r, path), 0);
    for (unsigned more = 0; more < 2 && take_more(r, ','); more++) { /* when it was changed, and its size */
        int64_t value;
        if (!is_class(next_char(r), CLASS_DIGIT))
            return fail_expected(r, "a number");
        if (!read_integer(r, &value))
            return false;
        add_operand(r, PTX_INTEGER, 0, value);
    }
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* ptxas takes whatever stands in a function and that it does not know. */
static bool check_pragma(Reader *r, Str text) {
    Str inner = {text.data + 1, text.size - 2};
    bool outside = r->function == PTX_NONE;
    if (outside && !str_is(inner, "nounroll"))
        return ptx_fail(r, text.data, "this pragma does not stand outside of functions");
    if (!str_starts(inner, STR("used_bytes_mask")))
        return true;
    Str value = {inner.data + 15, inner.size - 15};
    while (value.size && *value.data == ' ')
        value = (Str){value.data + 1, value.size - 1};
    return (value.size && is_class(*value.data, CLASS_DIGIT)) ||
           ptx_fail(r, text.data, "'used_bytes_mask' has a number behind it");
}

/* .pragma "nounroll"; */
bool read_pragma(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (r->header && !r->module->functions[r->function].entry)
        return ptx_fail(r, r->base + r->statement_at, "a pragma of a function stands in its body");
    do {
        Str text = take_string(r);
        if (!text.size || !check_pragma(r, text))
            return false;
        add_operand(r, PTX_STRING, intern(r, text), 0);
    } while (take(r, ','));
    if (!want(r, ';'))
        return false;
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

/* A function of .alias. */
static bool read_aliased(Reader *r, uint32_t *function) {
    next_char(r);
    const char *at = r->p;
    Str name = take_identifier(r);
    if (!name.size)
        return fail_expected(r, "a function");
    uint32_t named = intern(r, name);
    const PtxName *entry = &r->module->names[named];
    if (entry->bound_kind != BOUND_FUNCTION || r->module->functions[entry->bound].entry)
        return ptx_fail(r, at, "'%.*s' is no function", STR_ARG(name));
    *function = entry->bound;
    add_operand(r, PTX_CALLEE, entry->bound, 0);
    return true;
}

/* .alias new, old; */
bool read_alias(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count, alias, function;
    const char *at = r->base + r->statement_at;
    if (!read_aliased(r, &alias) || !want(r, ',') || !read_aliased(r, &function) || !want(r, ';'))
        return false;
    if (alias == function)
        return ptx_fail(r, at, "a function is no alias of itself");
    if (r->module->functions[alias].body)
        return ptx_fail(r, at, "an alias has no body of its own");
    if (!same_prototype(r, alias, function, at))
        return false;
    r->module->functions[alias].alias = true;
    add_statement(r, PTX_DIRECTIVE, word, first);
    return true;
}

bool is_labeled(Reader *r, uint32_t word) {
    const PtxStatement *before =
        r->module->statements_count ? &r->module->statements[r->module->statements_count - 1] : NULL;
    return (before && before->kind == PTX_LABEL && r->function != PTX_NONE) ||
           ptx_fail(r, r->base + r->statement_at, "there is a label before '%.*s'",
                    STR_ARG(r->module->names[word].text));
}

/* $L: .branchtargets a, b; */
bool read_targets(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (!is_labeled(r, word))
        return false;
    do {
        next_char(r);
        const char *at = r->p;
        Str name = take_identifier(r);
        if (!name.size)
            return fail_expected(r, "a name");
        add_name(r, name, at);
        const PtxOperand *target = &r->module->operands[r->module->operands_count - 1];
        if (target->kind != (word == WORD_calltargets ? PTX_CALLEE : PTX_NAME))
            return ptx_fail(r, at, word == WORD_calltargets ? "this is no function" : "this is no label");
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

static bool take_word(Reader *r, uint32_t word) {
    Str expected = r->module->names[word].text;
    if (!str_equal(take_identifier(r), expected))
        return fail_expected(r, expected.data);
    add_operand(r, PTX_WORD, word, 0);
    return true;
}

/* function_name LABEL + 4, inlined_at 1 2 3 */
static bool read_inlined(Reader *r) {
    if (!take_word(r, WORD_function_name))
        return false;
    Str label = take_identifier(r);
    if (!label.size)
        return fail_expected(r, "a label of .debug_str");
    int64_t offset = 0;
    if (take_more(r, '+') && !read_integer(r, &offset))
        return false;
    add_operand(r, PTX_NAME, intern(r, label), offset);
    return want(r, ',') && take_word(r, WORD_inlined_at) && read_line_number(r) && read_line_number(r) &&
           read_line_number(r);
}

/* .loc 1 326 0 */
bool read_loc(Reader *r, uint32_t word) {
    uint32_t first = r->module->operands_count;
    if (r->function == PTX_NONE)
        return ptx_fail(r, r->base + r->statement_at, "'.loc' stands in a function");
    if (!read_line_number(r) || !read_line_number(r) || !read_line_number(r))
        return false;
    if (*r->p != '\n' && take_more(r, ',') && !read_inlined(r))
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
    r->debug_section |= str_starts(name, STR(".debug"));
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
        if (!read_whole(r, &offset))
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

/* A number of a section, which is no expression, and has to fit. */
static bool read_datum(Reader *r, uint32_t word) {
    const char *at = r->p;
    bool negative = *at == '-';
    r->p += negative;
    uint64_t limit = word >= WORD_b32 && !negative ? UINT64_MAX /* ptxas does not look at these */
                     : word == WORD_b64            ? UINT64_MAX
                                                   : (UINT64_C(1) << (8 << (word - WORD_b8))) - 1;
    int64_t number;
    if (!read_whole(r, &number))
        return false;
    if ((uint64_t)number > (negative ? limit / 2 + 1 : limit))
        return ptx_fail(r, at, "this number does not fit into '%.*s'", STR_ARG(r->module->names[word].text));
    add_operand(r, PTX_INTEGER, 0, negative ? -number : number);
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
        if (at > r->p && (c != '0' || at == r->p + 1) && (*at == ',' || *at == '\n') &&
            (word != WORD_b8 || number < 256)) {
            r->p = at;
            add_operand(r, PTX_INTEGER, 0, number);
        } else if (is_class(c, CLASS_LETTER) || (c == '.' && !is_class(r->p[1], CLASS_DIGIT))) {
            if (word < WORD_b32)
                return ptx_fail(r, r->p, "an address has at least 32 bits");
            if (!read_place(r))
                return false;
        } else if (!read_datum(r, word)) {
            return false;
        }
    } while (take_more(r, ','));
    add_statement(r, PTX_DATA, word, first);
    return true;
}
