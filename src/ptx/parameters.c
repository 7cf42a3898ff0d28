/* The names that a kernel's author gave its parameters: a compiler of C++ numbers them, and its .loc say where the
 * declaration is. */
#include "base/code.h"
#include "base/demangle/demangle.h"
#include "ptx/source_text.h"

#include <ctype.h>

enum { LINES_BEFORE = 40, LINES_BEHIND = 40 }; /* of a declaration, around the first .loc of the function */

/* ---- Text of C++ --------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

Str ptx_plain_lines(Source *source, uint32_t first, uint32_t last, Arena *arena) {
    const char *begin = source_line(source, first).data;
    Str end = source_line(source, last);
    size_t size = (size_t)(end.data + end.size - begin);
    char *copy = arena_copy(arena, begin, size);
    for (size_t i = 0; i < size; i++) {
        char *at = copy + i;
        const char *close = NULL;
        size_t left = size - i;
        if (left > 1 && at[0] == '/' && at[1] == '*')
            close = memmem(at + 2, left - 2, "*/", 2);
        else if ((left > 1 && at[0] == '/' && at[1] == '/') || *at == '#')
            close = memchr(at, '\n', left);
        else
            continue;
        size_t gone = close ? (size_t)(close - at) + (*close == '*' ? 2 : 0) : left;
        memset(at, ' ', gone);
        i += gone - (gone > 0);
    }
    return (Str){copy, size};
}

static Str trim(Str text) {
    while (text.size && isspace((unsigned char)text.data[0]))
        text = (Str){text.data + 1, text.size - 1};
    while (text.size && isspace((unsigned char)text.data[text.size - 1]))
        text.size--;
    return text;
}

/* How far what begins with an open bracket goes, up to the close one; 0: it does not end. */
static size_t bracketed(Str text) {
    int depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        depth += strchr("([{", text.data[i]) != NULL;
        depth -= strchr(")]}", text.data[i]) != NULL;
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

/* The name that a declaration of a parameter gives it; empty: none. */
static Str declared_name(Str text) {
    static const char *const types[] = {"int",      "float", "double", "char", "short", "long",
                                        "unsigned", "bool",  "signed", "auto", "void",  "const"};
    Str inner = memmem(text.data, text.size, "(*", 2)   ? STR("(*")
                : memmem(text.data, text.size, "(&", 2) ? STR("(&")
                                                        : STR("");
    if (inner.size) { /* of an array or a function */
        const char *at = (const char *)memmem(text.data, text.size, inner.data, 2) + 2;
        const char *close = memchr(at, ')', (size_t)(text.data + text.size - at));
        text = close ? str_between(at, close) : STR("");
    }
    const char *equals = text.size ? memchr(text.data, '=', text.size) : NULL;
    text = trim(equals ? str_between(text.data, equals) : text);
    while (text.size && text.data[text.size - 1] == ']') {
        const char *open = memrchr(text.data, '[', text.size);
        text = open ? trim(str_between(text.data, open)) : STR("");
    }
    size_t size = 0;
    while (size < text.size && is_word(text.data[text.size - size - 1]))
        size++;
    Str name = {text.data + text.size - size, size};
    bool alone = !inner.size && !trim((Str){text.data, text.size - size}).size; /* a type without a name */
    bool good = size && !isdigit((unsigned char)*name.data) && !str_starts(name, STR("__")) && !alone;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        good &= !str_is(name, types[i]);
    return good ? name : STR("");
}

/* Of a list without its brackets; false if it does not have as many. */
static bool split(Str list, Str *names, uint32_t count) {
    uint32_t found = 0;
    int depth = 0, angles = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= list.size; i++) {
        char c = i < list.size ? list.data[i] : ',';
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        angles += c == '<';
        angles -= c == '>' && angles > 0;
        if (c != ',' || (i < list.size && (depth || angles)))
            continue;
        Str one = (Str){list.data + begin, i - begin};
        if (found == count || str_mentions(one, STR("...")))
            return false;
        names[found++] = declared_name(one);
        begin = i + 1;
    }
    return found == count && !depth && !angles;
}

/* The definition that begins last before or at the place, of a function of this name. */
static bool find_definition(Str text, Str function, const char *place, Str *names, uint32_t count) {
    bool found = false;
    for (size_t i = 0; i + function.size < text.size; i++) {
        const char *at = text.data + i;
        bool here = str_equal((Str){at, function.size}, function) && (!i || !is_word(at[-1]));
        Str rest = trim(str_between(at + function.size, text.data + text.size));
        if (!here || !rest.size || *rest.data != '(' || (found && at > place))
            continue;
        size_t size = bracketed(rest);
        Str behind = trim((Str){rest.data + size, rest.size - size});
        if (size && behind.size && *behind.data == '{')
            found |= split((Str){rest.data + 1, size - 2}, names, count);
    }
    return found;
}

/* ---- Of a module --------------------------------------------------------------------------------- */

Source *ptx_kernel_source(PtxModule *module, const PtxFunction *function, const char *root, PtxPlace *place) {
    uint32_t statement = function->begin;
    while (statement < function->end && module->statements[statement].kind != PTX_LOC)
        statement++;
    if (statement == function->end || !ptx_places(module, statement, place, 1) || !place->line)
        return NULL;
    const char *file = arena_copy(&module->arena, place->file.data, place->file.size);
    Source *source = code_is_cpp(file) ? code_find(module->source->name, root, file) : NULL;
    if (source)
        source_place(source, 0); /* makes the index of lines */
    return source;
}

static bool read_names(PtxModule *module, const PtxFunction *function, Str name, const char *root, Str *names,
                       Arena *arena) {
    PtxPlace place;
    Source *source = ptx_kernel_source(module, function, root, &place);
    if (!source)
        return false;
    bool found = false;
    if (place.line <= source->line_count) {
        uint32_t first = place.line > LINES_BEFORE ? place.line - LINES_BEFORE : 1;
        uint32_t last = place.line + LINES_BEHIND < source->line_count ? place.line + LINES_BEHIND : source->line_count;
        Str text = ptx_plain_lines(source, first, last, arena), line = source_line(source, place.line);
        const char *at = text.data + (line.data + line.size - source_line(source, first).data);
        found = find_definition(text, name, at, names, function->parameter_count);
    }
    for (uint32_t i = 0; found && i < function->parameter_count; i++)
        names[i].data = arena_copy(arena, names[i].data, names[i].size);
    source_free(source);
    return found;
}

/* One that the source does not name is "param_2". */
static void name_parameters(PtxModule *module, const PtxFunction *function, const char *root) {
    Text last = {0};
    Str mangled = ptx_name(module, function->name);
    Str *names = ARENA_ARRAY(&module->arena, Str, function->parameter_count + 1);
    bool cpp = name_last(mangled, &last);
    Str name = cpp ? (Str){last.data, last.size} : mangled;
    bool read = read_names(module, function, name, root, names, &module->arena);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        PtxVariable *variable = &module->variables[function->parameters + i];
        Str own = ptx_name(module, variable->name);
        variable->named = read && names[i].size;
        if (variable->named)
            variable->shown = names[i];
        else if (cpp && own.size > mangled.size + 1 && str_starts(own, mangled))
            variable->shown = (Str){own.data + mangled.size + 1, own.size - mangled.size - 1};
    }
    text_free(&last);
}

void ptx_name_parameters(PtxModule *module, const char *root) {
    for (uint32_t i = 0; !module->named && i < module->functions_count; i++)
        if (module->functions[i].entry && module->functions[i].body && module->functions[i].parameter_count)
            name_parameters(module, &module->functions[i], root);
    module->named = true;
}

Str ptx_parameter_name(const PtxModule *module, uint32_t variable) {
    Str shown = module->variables[variable].shown;
    return shown.size ? shown : ptx_name(module, module->variables[variable].name);
}

bool ptx_parameter_is(const PtxModule *module, uint32_t variable, Str name) {
    return str_equal(name, ptx_parameter_name(module, variable)) ||
           str_equal(name, ptx_name(module, module->variables[variable].name));
}

const char *ptx_argument_name(const PtxModule *module, uint32_t entry, uint32_t index, Arena *arena) {
    const PtxVariable *variable = &module->variables[module->functions[entry].parameters + index];
    Text text = {0};
    if (variable->named)
        text_plainf(&text, "argument %s", arena_copy(arena, variable->shown.data, variable->shown.size));
    else
        text_addf(&text, "argument %u", index);
    return text_keep(&text, arena);
}

/* ---- What they point to -------------------------------------------------------------------------- */

/* A type's words without `const` and the like; the first blank is gone. */
static Str plain_type(Str type) {
    static const char *const words[] = {"const", "volatile", "__restrict__", "__restrict", "restrict"};
    type = trim(type);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        Str word = str_of(words[i]);
        if (str_ends(type, word) && type.size > word.size && !is_word(type.data[type.size - word.size - 1]))
            return plain_type((Str){type.data, type.size - word.size});
    }
    return type;
}

const char *ptx_pointee(const PtxModule *module, uint32_t entry, uint32_t index, Arena *arena) {
    static const char *const types[][2] = {
        {"bool", "i8"},           {"char", "i8"},          {"signed char", "i8"},
        {"unsigned char", "i8"},  {"short", "i16"},        {"unsigned short", "i16"},
        {"int", "i32"},           {"unsigned int", "i32"}, {"long", "i64"},
        {"unsigned long", "i64"}, {"long long", "i64"},    {"unsigned long long", "i64"},
        {"float", "f32"},         {"double", "f64"},       {"__half", "f16"},
        {"__nv_bfloat16", "bf16"}};
    Str mangled = ptx_name(module, module->functions[entry].name);
    const char *whole = name_whole(arena_copy(arena, mangled.data, mangled.size), arena);
    Str name = str_of(whole ? whole : ""), type = {0};
    const char *open = name.data + name.size;
    int depth = 0;
    do { /* the last bracket of the outermost is that of the parameters */
        open -= open > name.data;
        depth += *open == ')';
        depth -= *open == '(';
    } while (open > name.data && depth);
    uint32_t at = 0;
    for (const char *from = open + 1, *c = from; c < name.data + name.size; c++) {
        bool ends = depth == 0 && (*c == ',' || *c == ')');
        if (ends && at++ == index)
            type = str_between(from, c);
        if (ends)
            from = c + 1;
        depth += strchr("([{<", *c) != NULL;
        depth -= !ends && strchr(")]}>", *c) != NULL;
    }
    type = plain_type(type);
    if (!type.size || type.data[type.size - 1] != '*')
        return NULL;
    type = plain_type((Str){type.data, type.size - 1});
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_is(type, types[i][0]))
            return types[i][1];
    return NULL;
}
