/* A mangled name is read into a tree, by the grammar of the Itanium C++ ABI, one function a production. */
#include "base/demangle/reader.h"

#include <ctype.h>
#include <stdlib.h>

static NodeId read_type(Demangler *d);
static NodeId read_name(Demangler *d, Str *after);
static NodeId read_encoding(Demangler *d);
static NodeId read_expression(Demangler *d);

/* ---- Names --------------------------------------------------------------------------------------- */

static NodeId read_source_name(Demangler *d) {
    uint32_t size = reader_number(d);
    if (d->failed || !size || (size_t)(d->end - d->at) < size)
        return reader_fail(d);
    Str text = {d->at, size};
    d->at += size;
    bool anonymous =
        size >= 10 && str_starts(text, STR("_GLOBAL_")) && strchr("._$", text.data[8]) && text.data[9] == 'N';
    return reader_node(d, NODE_TEXT, anonymous ? STR("(anonymous namespace)") : text, 0, 0);
}

typedef struct Operator {
    char code[3];
    const char *text;
    uint8_t operands; /* in an expression */
} Operator;

static const Operator operators[] = {
    {"nw", "new", 0}, {"na", "new[]", 0}, {"dl", "delete", 0}, {"da", "delete[]", 0}, {"aw", "co_await ", 1},
    {"ps", "+", 1},   {"ng", "-", 1},     {"ad", "&", 1},      {"de", "*", 1},        {"co", "~", 1},
    {"pl", "+", 2},   {"mi", "-", 2},     {"ml", "*", 2},      {"dv", "/", 2},        {"rm", "%", 2},
    {"an", "&", 2},   {"or", "|", 2},     {"eo", "^", 2},      {"aS", "=", 2},        {"pL", "+=", 2},
    {"mI", "-=", 2},  {"mL", "*=", 2},    {"dV", "/=", 2},     {"rM", "%=", 2},       {"aN", "&=", 2},
    {"oR", "|=", 2},  {"eO", "^=", 2},    {"ls", "<<", 2},     {"rs", ">>", 2},       {"lS", "<<=", 2},
    {"rS", ">>=", 2}, {"eq", "==", 2},    {"ne", "!=", 2},     {"lt", "<", 2},        {"gt", ">", 2},
    {"le", "<=", 2},  {"ge", ">=", 2},    {"ss", "<=>", 2},    {"nt", "!", 1},        {"aa", "&&", 2},
    {"oo", "||", 2},  {"pp", "++", 1},    {"mm", "--", 1},     {"cm", ",", 2},        {"pm", "->*", 2},
    {"pt", "->", 2},  {"cl", "()", 0},    {"ix", "[]", 0},     {"qu", "?", 0},
};

static const Operator *find_operator(const Demangler *d) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (reader_peek(d) == operators[i].code[0] && reader_peek_next(d) == operators[i].code[1])
            return &operators[i];
    return NULL;
}

static NodeId read_operator(Demangler *d) {
    if (reader_take(d, "cv")) {
        bool before = d->converting;
        d->converting = true;
        NodeId type = read_type(d);
        d->converting = before;
        return reader_node(d, NODE_CONVERSION, (Str){0}, type, 0);
    }
    if (reader_take(d, "li"))
        return reader_node(d, NODE_PREFIXED, STR("operator\"\" "), read_source_name(d), 0);
    const Operator *found = find_operator(d);
    if (!found)
        return reader_fail(d);
    d->at += 2;
    bool letters = isalpha((unsigned char)found->text[0]);
    size_t size = strlen(found->text) - (found->text[strlen(found->text) - 1] == ' ');
    return reader_node(d, NODE_PREFIXED, letters ? STR("operator ") : STR("operator"),
                       reader_node(d, NODE_TEXT, (Str){found->text, size}, 0, 0), 0);
}

/* A closure, or a type without a name. */
static NodeId read_unnamed(Demangler *d) {
    if (reader_take(d, "Ut"))
        return reader_node(d, NODE_LAMBDA, STR("unnamed type"), 0, reader_count(d) + 1);
    reader_expect(d, "Ul");
    List parameters = {0};
    if (!reader_take(d, "vE"))
        while (!d->failed && !reader_take(d, "E"))
            reader_append(d, &parameters, read_type(d));
    return reader_node(d, NODE_LAMBDA, STR("lambda"), parameters.first, reader_count(d) + 1);
}

/* What a constructor is named by: the last name before. */
static NodeId last_name(Demangler *d, NodeId id) {
    for (;;) {
        const Node *last = reader_node_of(d, id);
        if (last->kind == NODE_NESTED || last->kind == NODE_LOCAL)
            id = last->b;
        else if (last->kind == NODE_TEMPLATE || last->kind == NODE_TAGGED)
            id = last->a;
        else
            return id;
    }
}

static NodeId read_structor(Demangler *d, NodeId of) {
    bool destroys = reader_peek(d) == 'D';
    d->at++;
    if (!destroys && reader_take(d, "I"))
        return reader_fail(d); /* inherited: its base follows */
    if (!isdigit((unsigned char)reader_peek(d)))
        return reader_fail(d);
    d->at++;
    return reader_node(d, NODE_STRUCTOR, destroys ? STR("~") : STR(""), last_name(d, of), 0);
}

static NodeId read_unqualified(Demangler *d, NodeId in) {
    NodeId id;
    reader_take(d, "L"); /* internal linkage */
    char c = reader_peek(d);
    if (isdigit((unsigned char)c))
        id = read_source_name(d);
    else if (c == 'U')
        id = read_unnamed(d);
    else if (in && (c == 'C' || (c == 'D' && strchr("0123459", reader_peek_next(d)))))
        id = read_structor(d, in);
    else
        id = read_operator(d);
    while (reader_take(d, "B")) {
        NodeId tag = read_source_name(d);
        id = reader_node(d, NODE_TAGGED, tag ? reader_node_of(d, tag)->text : STR(""), id, 0);
    }
    return id;
}

static NodeId nested(Demangler *d, NodeId in, NodeId name) {
    return in ? reader_node(d, NODE_NESTED, (Str){0}, in, name) : name;
}

static NodeId read_std(Demangler *d) {
    return nested(d, reader_word(d, "std"), read_unqualified(d, 0));
}

/* Sa and so on; NONE: it is one of what was said before, or St. */
static NodeId read_abbreviation(Demangler *d) {
    static const struct {
        const char *code, *text, *last, *whole;
    } all[] = {
        {"Sa", "std::allocator", "allocator", NULL},
        {"Sb", "std::basic_string", "basic_string", NULL},
        {"Ss", "std::string", "basic_string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"},
        {"Si", "std::istream", "basic_istream", "std::basic_istream<char, std::char_traits<char> >"},
        {"So", "std::ostream", "basic_ostream", "std::basic_ostream<char, std::char_traits<char> >"},
        {"Sd", "std::iostream", "basic_iostream", "std::basic_iostream<char, std::char_traits<char> >"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (reader_take(d, all[i].code)) {
            bool structor = all[i].whole && (reader_peek(d) == 'C' || reader_peek(d) == 'D');
            NodeId id = reader_word(d, structor ? all[i].whole : all[i].text);
            if (!structor)
                return id;
            return reader_node(d, NODE_TAGGED, STR(""), reader_word(d, all[i].last),
                               id); /* read_nested takes it apart */
        }
    return NODE_NONE;
}

static NodeId read_substitution(Demangler *d) {
    NodeId id = read_abbreviation(d);
    if (id)
        return id;
    reader_expect(d, "S");
    uint32_t number = reader_count_36(d);
    return d->failed || number >= d->known_count ? reader_fail(d) : d->known[number];
}

static NodeId read_argument(Demangler *d) {
    if (reader_take(d, "X")) {
        NodeId id = read_expression(d);
        reader_expect(d, "E");
        return id;
    }
    if (reader_peek(d) == 'L')
        return read_expression(d);
    if (!reader_take(d, "J"))
        return read_type(d);
    List items = {0};
    while (!d->failed && !reader_take(d, "E"))
        reader_append(d, &items, read_argument(d));
    return reader_node(d, NODE_PACK, (Str){0}, items.first, 0);
}

static NodeId read_arguments(Demangler *d) {
    List items = {0};
    bool before = d->converting;
    d->converting = false;
    reader_expect(d, "I");
    while (!d->failed && !reader_take(d, "E"))
        reader_append(d, &items, read_argument(d));
    d->converting = before;
    return items.first;
}

static NodeId with_arguments(Demangler *d, NodeId id) {
    NodeId list = read_arguments(d);
    return reader_node(d, NODE_TEMPLATE, (Str){0}, id, list);
}

static NodeId read_template_parameter(Demangler *d) {
    reader_expect(d, "T");
    uint32_t number = reader_count(d);
    return reader_node(d, NODE_PARAMETER, (Str){0}, 0, number);
}

static NodeId read_decltype(Demangler *d) {
    if (!reader_take(d, "Dt"))
        reader_expect(d, "DT");
    NodeId id = read_expression(d);
    reader_expect(d, "E");
    return reader_node(d, NODE_DECLTYPE, (Str){0}, id, 0);
}

/* " const &" of what stands before a member function's name, in the order that they are printed in. */
static Str read_qualifiers(Demangler *d) {
    static const char *const texts[] = {"",       " restrict",       " volatile",       " volatile restrict",
                                        " const", " const restrict", " const volatile", " const volatile restrict"};
    unsigned which = reader_take(d, "r") ? 1 : 0;
    which |= reader_take(d, "V") ? 2 : 0;
    which |= reader_take(d, "K") ? 4 : 0;
    return str_of(texts[which]);
}

static Str with_reference(Str qualifiers, bool left, bool right) {
    bool constant = str_is(qualifiers, " const");
    if (left)
        return constant ? STR(" const &") : STR(" &");
    if (right)
        return constant ? STR(" const &&") : STR(" &&");
    return qualifiers;
}

static NodeId read_nested(Demangler *d, Str *after) {
    reader_expect(d, "N");
    Str qualifiers = read_qualifiers(d);
    bool left = reader_take(d, "R"), right = !left && reader_take(d, "O");
    *after = with_reference(qualifiers, left, right);
    NodeId id = 0;
    while (!d->failed && !reader_take(d, "E")) {
        char c = reader_peek(d), next = reader_peek_next(d);
        bool known = false;
        NodeId of = id;
        if (c == 'S' && next != 't') {
            if (id)
                return reader_fail(d);
            id = read_substitution(d);
            known = true;
            const Node *string = reader_node_of(d, id);
            if (string->kind == NODE_TAGGED && string->b) {
                of = string->a;
                id = nested(d, string->b, read_structor(d, of));
                known = false;
            }
        } else if (c == 'S') {
            d->at += 2;
            id = id ? reader_fail(d) : nested(d, reader_word(d, "std"), read_unqualified(d, 0));
        } else if (c == 'T') {
            id = id ? reader_fail(d) : read_template_parameter(d);
        } else if (c == 'D' && (next == 't' || next == 'T')) {
            id = id ? reader_fail(d) : read_decltype(d);
        } else if (c == 'I') {
            id = id ? with_arguments(d, id) : reader_fail(d);
        } else if (c == 'M') {
            d->at++; /* of a lambda in what a member begins with */
            continue;
        } else {
            id = nested(d, id, read_unqualified(d, of));
        }
        if (!known && reader_peek(d) != 'E')
            reader_remember(d, id);
    }
    return id ? id : reader_fail(d);
}

static void skip_discriminator(Demangler *d) {
    if (reader_take(d, "__")) {
        reader_number(d);
        reader_expect(d, "_");
    } else if (reader_peek(d) == '_' && isdigit((unsigned char)reader_peek_next(d))) {
        d->at += 2;
    }
}

static NodeId read_local(Demangler *d, Str *after) {
    reader_expect(d, "Z");
    NodeId function = read_encoding(d), name;
    reader_expect(d, "E");
    if (reader_take(d, "s")) {
        name = reader_word(d, "string literal");
        skip_discriminator(d);
    } else {
        NodeId defaults = 0;
        if (reader_take(d, "d"))
            defaults = reader_node(d, NODE_LAMBDA, STR("default arg"), 0, reader_count(d) + 1);
        name = read_name(d, after);
        name = defaults ? nested(d, defaults, name) : name;
        skip_discriminator(d);
    }
    return reader_node(d, NODE_LOCAL, (Str){0}, function, name);
}

/* `after`: what stands behind its parameters. */
static NodeId read_name(Demangler *d, Str *after) {
    NodeId id;
    bool known = false;
    *after = STR("");
    if (++d->depth > DEEPEST)
        return reader_fail(d);
    char c = reader_peek(d);
    if (c == 'N') {
        id = read_nested(d, after);
    } else if (c == 'Z') {
        id = read_local(d, after);
    } else {
        if (c == 'S' && reader_peek_next(d) != 't') {
            id = read_substitution(d);
            known = true;
        } else if (reader_take(d, "St")) {
            id = read_std(d);
        } else {
            id = read_unqualified(d, 0);
        }
        if (reader_peek(d) == 'I') {
            if (!known)
                reader_remember(d, id);
            id = with_arguments(d, id);
        } else if (known) {
            reader_fail(d);
        }
    }
    d->depth--;
    return id;
}

/* ---- Types --------------------------------------------------------------------------------------- */

static const char *const builtins[26] = {
    ['a' - 'a'] = "signed char", ['b' - 'a'] = "bool",
    ['c' - 'a'] = "char",        ['d' - 'a'] = "double",
    ['e' - 'a'] = "long double", ['f' - 'a'] = "float",
    ['g' - 'a'] = "__float128",  ['h' - 'a'] = "unsigned char",
    ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
    ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
    ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
    ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
    ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
    ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
    ['z' - 'a'] = "...",
};

static NodeId read_function(Demangler *d, Str after) {
    reader_take(d, "Do"); /* noexcept */
    reader_expect(d, "F");
    reader_take(d, "Y");
    NodeId result = read_type(d);
    List parameters = {0};
    bool nothing = reader_take(d, "v");
    Str reference = after;
    while (!d->failed && !reader_take(d, "E")) {
        char next = reader_peek_next(d);
        if (next == 'E' && (reader_peek(d) == 'R' || reader_peek(d) == 'O')) {
            reference = with_reference(after, reader_peek(d) == 'R', reader_peek(d) == 'O');
            d->at++;
        } else if (nothing) {
            return reader_fail(d);
        } else {
            reader_append(d, &parameters, read_type(d));
        }
    }
    return reader_node(d, NODE_FUNCTION, reference, result, parameters.first);
}

/* A number, or an expression, or nothing, up to '_'. */
static NodeId read_dimension(Demangler *d) {
    NodeId id = 0;
    const char *begin = d->at;
    if (isdigit((unsigned char)reader_peek(d))) {
        reader_number(d);
        id = reader_node(d, NODE_TEXT, str_between(begin, d->at), 0, 0);
    } else if (reader_peek(d) != '_') {
        id = read_expression(d);
    }
    reader_expect(d, "_");
    return id;
}

/* Types whose codes begin with 'D'; `known`: it cannot be referred to. */
static NodeId read_d_type(Demangler *d, bool *known) {
    static const struct {
        const char *code, *text;
    } all[] = {{"Dn", "decltype(nullptr)"},
               {"Di", "char32_t"},
               {"Ds", "char16_t"},
               {"Du", "char8_t"},
               {"Da", "auto"},
               {"Dc", "decltype(auto)"},
               {"Dh", "__fp16"},
               {"Df", "decimal32"},
               {"Dd", "decimal64"},
               {"De", "decimal128"}};
    char next = reader_peek_next(d);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (reader_take(d, all[i].code)) {
            *known = true;
            return reader_word(d, all[i].text);
        }
    if (next == 't' || next == 'T')
        return read_decltype(d);
    if (next == 'o')
        return read_function(d, STR(""));
    if (reader_take(d, "Dp"))
        return reader_node(d, NODE_EXPANSION, (Str){0}, read_type(d), 0);
    if (reader_take(d, "Dv")) {
        NodeId count = read_dimension(d), element = read_type(d);
        return reader_node(d, NODE_VECTOR, (Str){0}, count, element);
    }
    *known = true;
    if (reader_take(d, "DF16b"))
        return reader_word(d, "std::bfloat16_t");
    if (reader_take(d, "DF")) {
        const char *begin = d->at;
        reader_number(d);
        Str bits = str_between(begin, d->at);
        reader_expect(d, "_");
        return reader_node(d, NODE_PREFIXED, STR("_Float"), reader_node(d, NODE_TEXT, bits, 0, 0), 0);
    }
    return reader_fail(d);
}

static NodeId read_qualified(Demangler *d) {
    Str qualifiers = read_qualifiers(d);
    if (reader_peek(d) == 'F' || (reader_peek(d) == 'D' && reader_peek_next(d) == 'o'))
        return read_function(d, qualifiers);
    return reader_node(d, NODE_QUALIFIED, qualifiers, read_type(d), 0);
}

static NodeId read_vendor(Demangler *d) {
    d->at++;
    NodeId name = read_source_name(d);
    Str text = name ? reader_node_of(d, name)->text : STR("");
    if (reader_peek(d) == 'I')
        return reader_fail(d);
    NodeId id = reader_node(d, NODE_QUALIFIED, STR(" "), read_type(d), 0);
    return reader_node(d, NODE_QUALIFIED, text, id, 0);
}

static NodeId read_type_at(Demangler *d, bool *known) {
    Str after;
    char c = reader_peek(d);
    if (islower((unsigned char)c) && c != 'r' && c != 'u') {
        if (!builtins[c - 'a'])
            return reader_fail(d);
        d->at++;
        *known = true;
        return reader_word(d, builtins[c - 'a']);
    }
    switch (c) {
    case 'r':
    case 'V':
    case 'K':
        return read_qualified(d);
    case 'u':
        d->at++;
        return read_source_name(d);
    case 'U':
        return read_vendor(d);
    case 'P':
        d->at++;
        return reader_node(d, NODE_POINTER, STR("*"), read_type(d), 0);
    case 'R':
        d->at++;
        return reader_node(d, NODE_REFERENCE, STR("&"), read_type(d), 0);
    case 'O':
        d->at++;
        return reader_node(d, NODE_REFERENCE, STR("&&"), read_type(d), 0);
    case 'F':
        return read_function(d, STR(""));
    case 'A': {
        d->at++;
        NodeId size = read_dimension(d), element = read_type(d);
        return reader_node(d, NODE_ARRAY, (Str){0}, size, element);
    }
    case 'M': {
        d->at++;
        NodeId in = read_type(d), of = read_type(d);
        return reader_node(d, NODE_MEMBER, (Str){0}, in, of);
    }
    case 'D':
        return read_d_type(d, known);
    case 'T': {
        if (strchr("sue", reader_peek_next(d)) && reader_peek_next(d)) {
            d->at += 2;
            return read_name(d, &after);
        }
        NodeId id = read_template_parameter(d);
        if (reader_peek(d) != 'I' || d->converting)
            return id;
        reader_remember(d, id);
        return with_arguments(d, id);
    }
    case 'S':
        if (reader_peek_next(d) != 't') {
            NodeId id = read_substitution(d);
            *known = reader_peek(d) != 'I';
            return *known ? id : with_arguments(d, id);
        }
        return read_name(d, &after);
    default:
        return c == 'N' || c == 'Z' || isdigit((unsigned char)c) ? read_name(d, &after) : reader_fail(d);
    }
}

static NodeId read_type(Demangler *d) {
    bool known = false;
    if (d->failed || ++d->depth > DEEPEST)
        return reader_fail(d);
    NodeId id = read_type_at(d, &known);
    d->depth--;
    return known ? id : reader_remember(d, id);
}

/* ---- Expressions --------------------------------------------------------------------------------- */

static NodeId read_literal(Demangler *d) {
    d->at++;
    if (reader_take(d, "_Z") || reader_take(d, "Z")) {
        NodeId id = read_encoding(d);
        reader_expect(d, "E");
        return id;
    }
    NodeId type = read_type(d);
    const char *begin = d->at;
    while (reader_peek(d) && reader_peek(d) != 'E')
        d->at++;
    Str text = str_between(begin, d->at);
    reader_expect(d, "E");
    return reader_node(d, NODE_LITERAL, text, type, 0);
}

static NodeId read_list(Demangler *d) {
    List items = {0};
    while (!d->failed && !reader_take(d, "E"))
        reader_append(d, &items, read_expression(d));
    return items.first;
}

/* A name in an expression that is not looked up before the template is used. */
static NodeId read_unresolved(Demangler *d) {
    NodeId id;
    if (reader_take(d, "on"))
        id = read_operator(d);
    else
        id = read_source_name(d);
    return reader_peek(d) == 'I' ? with_arguments(d, id) : id;
}

static NodeId read_scoped(Demangler *d) {
    d->at += 2;
    NodeId in = read_type(d);
    return nested(d, in, read_unresolved(d));
}

static NodeId read_function_parameter(Demangler *d) {
    if (reader_take(d, "fpT"))
        return reader_word(d, "this");
    if (reader_take(d, "fL")) {
        reader_number(d);
        reader_expect(d, "p");
    } else {
        reader_expect(d, "fp");
    }
    read_qualifiers(d);
    return reader_node(d, NODE_ARGUMENT, (Str){0}, 0, reader_count(d) + 1);
}

static NodeId read_cast(Demangler *d) {
    List items = {0};
    d->at += 2;
    NodeId type = read_type(d);
    if (reader_take(d, "_"))
        items.first = read_list(d);
    else
        reader_append(d, &items, read_expression(d));
    return reader_node(d, NODE_CAST, (Str){0}, type, items.first);
}

static NodeId read_operands(Demangler *d, const Operator *found) {
    Str text = str_of(found->text);
    d->at += 2;
    if (found->operands == 1) {
        bool behind = !reader_take(d, "_") && (str_is(text, "++") || str_is(text, "--"));
        return reader_node(d, behind ? NODE_SUFFIX : NODE_UNARY, text, read_expression(d), 0);
    }
    NodeId a = read_expression(d), b = read_expression(d);
    return reader_node(d, NODE_BINARY, text, a, b);
}

static NodeId read_expression_at(Demangler *d) {
    static const struct {
        const char *code, *text;
        bool type;
    } of[] = {{"st", "sizeof ", true}, {"sz", "sizeof ", false}, {"at", "alignof ", true}, {"az", "alignof ", false}};
    static const struct {
        const char *code, *text;
    } casts[] = {{"sc", "static_cast"}, {"dc", "dynamic_cast"}, {"rc", "reinterpret_cast"}, {"cc", "const_cast"}};
    char c = reader_peek(d), next = reader_peek_next(d);
    if (c == 'L')
        return read_literal(d);
    if (c == 'T')
        return read_template_parameter(d);
    if (c == 'f' && (next == 'p' || (next == 'L' && d->end - d->at > 2 && isdigit((unsigned char)d->at[2]))))
        return read_function_parameter(d);
    if (isdigit((unsigned char)c) || (c == 'o' && next == 'n'))
        return read_unresolved(d);
    if (c == 's' && next == 'r')
        return read_scoped(d);
    if (c == 'c' && next == 'v')
        return read_cast(d);
    if (reader_take(d, "sp"))
        return reader_node(d, NODE_EXPANSION, (Str){0}, read_expression(d), 0);
    if (reader_take(d, "sZ"))
        return reader_node(d, NODE_COUNT_OF, (Str){0}, read_expression(d), 0);
    if (reader_take(d, "cl")) {
        NodeId called = read_expression(d);
        return reader_node(d, NODE_CALL, (Str){0}, called, read_list(d));
    }
    if (reader_take(d, "il"))
        return reader_node(d, NODE_INITIALIZED, (Str){0}, 0, read_list(d));
    if (reader_take(d, "tl")) {
        NodeId type = read_type(d);
        return reader_node(d, NODE_INITIALIZED, (Str){0}, type, read_list(d));
    }
    if (reader_take(d, "qu")) {
        NodeId a = read_expression(d), yes = read_expression(d), no = read_expression(d);
        NodeId rest = reader_node(d, NODE_LIST, (Str){0}, no, 0);
        return reader_node(d, NODE_CHOICE, (Str){0}, a, reader_node(d, NODE_LIST, (Str){0}, yes, rest));
    }
    if (reader_take(d, "dt")) {
        NodeId a = read_expression(d), b = read_unresolved(d);
        return reader_node(d, NODE_BINARY, STR("."), a, b);
    }
    if (reader_take(d, "ix")) {
        NodeId a = read_expression(d), b = read_expression(d);
        return reader_node(d, NODE_BINARY, STR("[]"), a, b);
    }
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (reader_take(d, of[i].code))
            return reader_node(d, of[i].type ? NODE_OF : NODE_UNARY, str_of(of[i].text),
                               of[i].type ? read_type(d) : read_expression(d), 0);
    if (reader_take(d, "nx"))
        return reader_node(d, NODE_OF, STR("noexcept"), read_expression(d), 0);
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
        if (reader_take(d, casts[i].code)) {
            NodeId type = read_type(d), value = read_expression(d);
            return reader_node(d, NODE_NAMED_CAST, str_of(casts[i].text), type, value);
        }
    const Operator *found = find_operator(d);
    return found && found->operands ? read_operands(d, found) : reader_fail(d);
}

static NodeId read_expression(Demangler *d) {
    if (d->failed || ++d->depth > DEEPEST)
        return reader_fail(d);
    NodeId id = read_expression_at(d);
    d->depth--;
    return id;
}

/* ---- The whole ----------------------------------------------------------------------------------- */

static NodeId read_special(Demangler *d) {
    static const struct {
        const char *code, *text;
        bool type;
    } all[] = {{"TV", "vtable for ", true},
               {"TT", "VTT for ", true},
               {"TI", "typeinfo for ", true},
               {"TS", "typeinfo name for ", true},
               {"GV", "guard variable for ", false},
               {"TH", "TLS init function for ", false},
               {"TW", "TLS wrapper function for ", false}};
    Str after;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (reader_take(d, all[i].code))
            return reader_node(d, NODE_PREFIXED, str_of(all[i].text), all[i].type ? read_type(d) : read_name(d, &after),
                               0);
    return NODE_NONE;
}

/* Whether the function's type begins with what it returns: templates, but for those that say it in their name. */
static bool says_result(Demangler *d, NodeId id) {
    for (const Node *name = reader_node_of(d, id);; name = reader_node_of(d, id)) {
        if (name->kind == NODE_LOCAL) {
            id = name->b;
            continue;
        }
        if (name->kind != NODE_TEMPLATE)
            return false;
        const Node *last = reader_node_of(d, name->a);
        while (last->kind == NODE_NESTED || last->kind == NODE_LOCAL)
            last = reader_node_of(d, last->b);
        return last->kind != NODE_STRUCTOR && last->kind != NODE_CONVERSION;
    }
}

static NodeId read_encoding(Demangler *d) {
    Str after;
    if (d->failed || ++d->depth > DEEPEST)
        return reader_fail(d);
    NodeId special = read_special(d);
    NodeId name = special ? special : read_name(d, &after);
    char c = reader_peek(d);
    if (special || !c || c == 'E' || c == '.') {
        d->depth--;
        return name;
    }
    NodeId result = says_result(d, name) ? read_type(d) : 0;
    List parameters = {0};
    if (!reader_take(d, "v"))
        while (!d->failed && reader_peek(d) && reader_peek(d) != 'E' && reader_peek(d) != '.')
            reader_append(d, &parameters, read_type(d));
    d->depth--;
    return reader_node(d, NODE_ENCODING, (Str){0}, name,
                       reader_node(d, NODE_FUNCTION, after, result, parameters.first));
}

bool mangled_read(Mangled *mangled, Str name) {
    *mangled = (Mangled){0};
    if (!str_starts(name, STR("_Z")) || name.size > LONGEST_NAME || memchr(name.data, 0, name.size))
        return false;
    mangled->capacity = (uint32_t)(LEAST_NODES + NODES_OF_CHARACTER * name.size);
    mangled->nodes = calloc(mangled->capacity, sizeof *mangled->nodes);
    NodeId *room = calloc(mangled->capacity, sizeof *room);
    mangled->count = 1;
    Demangler d = {.at = name.data + 2, .end = name.data + name.size, .to = mangled, .known = room};
    if (!mangled->nodes || !room) {
        free(room);
        return false;
    }
    NodeId root = read_encoding(&d);
    if (reader_peek(&d) == '.') {
        root = reader_node(&d, NODE_CLONE, str_between(d.at, d.end), root, 0);
        d.at = d.end;
    }
    mangled->root = root;
    free(room);
    return !d.failed && d.at == d.end && root;
}

void mangled_free(Mangled *mangled) {
    free(mangled->nodes);
}
