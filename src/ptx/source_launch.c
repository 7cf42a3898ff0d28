/* How a kernel's own source launches it, as far as constants say: `sum<<<(count + 127) / 128, 128>>>(total, numbers,
 * count)`. */
#include "base/code.h"
#include "base/demangle/demangle.h"
#include "ptx/source_text.h"

#include <ctype.h>

enum { DEEPEST = 16, MOST_LIST = 64, MOST_NAMES = 4096 };

/* The text of a source: as it is, and without comments and lines of the preprocessor. Constants can be made of others,
 * each twice, so that they are looked for only so often. */
typedef struct SourceText {
    Str whole, plain;
    unsigned *names_left;
} SourceText;

typedef struct Reader {
    const SourceText *text;
    Str left;
    unsigned depth;
} Reader;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static Str word_at(Str text) {
    size_t size = 0;
    while (size < text.size && is_word(text.data[size]))
        size++;
    return (Str){text.data, size};
}

static Str behind(Str text, size_t size) {
    return (Str){text.data + size, text.size - size};
}

/* What stands behind the next place of a whole word, from `from` on; no data: there is none. */
static Str find_word(Str text, Str word, const char *from) {
    const char *end = text.data + text.size;
    for (const char *at = from; word.size && at < end && (at = memmem(at, (size_t)(end - at), word.data, word.size));
         at++)
        if ((at == text.data || !is_word(at[-1])) && (at + word.size == end || !is_word(at[word.size])))
            return str_between(at + word.size, end);
    return (Str){0};
}

/* ---- Constants ----------------------------------------------------------------------------------- */

static bool sum_of(Reader *reader, int64_t *value);

static void skip_blanks(Reader *reader) {
    while (reader->left.size && isspace((unsigned char)reader->left.data[0]))
        reader->left = behind(reader->left, 1);
}

static bool take(Reader *reader, char c) {
    skip_blanks(reader);
    if (!reader->left.size || reader->left.data[0] != c)
        return false;
    reader->left = behind(reader->left, 1);
    return true;
}

/* All of a text is an expression of constants. */
static bool constant(const SourceText *text, Str expression, unsigned depth, int64_t *value) {
    Reader reader = {text, expression, depth};
    bool good = depth < DEEPEST && sum_of(&reader, value);
    skip_blanks(&reader);
    return good && !reader.left.size;
}

/* Up to the end of a declarator. */
static Str initializer(Str text) {
    int depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        depth += strchr("([{", text.data[i]) != NULL;
        depth -= strchr(")]}", text.data[i]) != NULL;
        if (depth < 0 || (depth == 0 && strchr(",;", text.data[i])))
            return (Str){text.data, i};
    }
    return text;
}

/* Whether the statement before a name says that it is constant. */
static bool is_constant(Str text, const char *name) {
    const char *begin = name;
    while (begin > text.data && !strchr(";{}()", begin[-1]))
        begin--;
    Str before = str_between(begin, name);
    return find_word(before, STR("const"), before.data).data || find_word(before, STR("constexpr"), before.data).data;
}

/* Whether nothing but `#` stands before a word in its line. */
static bool is_directive(Str text, const char *word) {
    bool marked = false;
    for (; word > text.data && word[-1] != '\n'; word--)
        if (word[-1] == '#' && !marked)
            marked = true;
        else if (!isspace((unsigned char)word[-1]))
            return false;
    return marked;
}

/* `const int NAME = 3;` or `#define NAME 3`, and nothing else that could be meant. */
static bool named_constant(const SourceText *text, Str name, unsigned depth, int64_t *value) {
    unsigned found = 0;
    if (!*text->names_left)
        return false;
    --*text->names_left;
    for (Str rest = text->plain, next; (next = find_word(text->plain, name, rest.data)).data; rest = next) {
        Reader reader = {text, next, depth};
        if (!take(&reader, '=') || (reader.left.size && reader.left.data[0] == '='))
            continue;
        if (!is_constant(text->plain, next.data - name.size) ||
            !constant(text, initializer(reader.left), depth + 1, value) || found++)
            return false;
    }
    for (Str rest = text->whole, next; (next = find_word(text->whole, STR("define"), rest.data)).data; rest = next) {
        const char *end = memchr(next.data, '\n', next.size);
        Reader reader = {text, end ? str_between(next.data, end) : next, depth};
        skip_blanks(&reader);
        if (!str_equal(word_at(reader.left), name) || !is_directive(text->whole, next.data - strlen("define")))
            continue;
        if (!constant(text, behind(reader.left, name.size), depth + 1, value) || found++)
            return false;
    }
    return found == 1;
}

static bool number(Reader *reader, int64_t *value) {
    Str word = word_at(reader->left), digits = word;
    while (digits.size && strchr("uUlL", digits.data[digits.size - 1]))
        digits.size--;
    reader->left = behind(reader->left, word.size);
    return digits.size < 10 && str_to_int(digits, value);
}

static bool operand(Reader *reader, int64_t *value) {
    skip_blanks(reader);
    if (!reader->left.size || reader->depth >= DEEPEST)
        return false;
    char c = reader->left.data[0];
    if (isdigit((unsigned char)c))
        return number(reader, value);
    if (take(reader, '-')) {
        bool good = operand(reader, value);
        *value = good ? -*value : 0;
        return good;
    }
    if (take(reader, '(')) {
        reader->depth++;
        bool good = sum_of(reader, value) && take(reader, ')');
        reader->depth--;
        return good;
    }
    Str name = word_at(reader->left);
    reader->left = behind(reader->left, name.size);
    return name.size && named_constant(reader->text, name, reader->depth, value);
}

static bool within(__int128 wide, int64_t *value) {
    *value = (int64_t)wide;
    return wide >= INT32_MIN && wide <= UINT32_MAX;
}

static bool product_of(Reader *reader, int64_t *value) {
    bool good = operand(reader, value);
    for (int64_t other; good;) {
        bool times = take(reader, '*'), over = !times && take(reader, '/'), rest = !times && !over && take(reader, '%');
        if (!times && !over && !rest)
            break;
        good = operand(reader, &other) && (times || other != 0) &&
               within(times  ? (__int128)*value * other
                      : over ? *value / other
                             : *value % other,
                      value);
    }
    return good;
}

static bool sum_of(Reader *reader, int64_t *value) {
    bool good = product_of(reader, value);
    for (int64_t other; good;) {
        bool plus = take(reader, '+');
        if (!plus && !take(reader, '-'))
            break;
        good = product_of(reader, &other) && within((__int128)*value + (plus ? other : -other), value);
    }
    return good;
}

/* ---- Sizes --------------------------------------------------------------------------------------- */

/* The parts of a list without its brackets. */
static uint32_t parts_of(Str list, Str *parts) {
    uint32_t count = 0;
    while (list.size && count < MOST_LIST) {
        Str part = initializer(list);
        parts[count++] = part;
        if (part.size == list.size)
            break;
        list = behind(list, part.size + 1);
    }
    return count;
}

/* What stands between the bracket that a text begins with and the one that closes it. */
static Str bracketed(Str text) {
    Str inner = {0};
    int depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        depth += strchr("([{", text.data[i]) != NULL;
        depth -= strchr(")]}", text.data[i]) != NULL;
        if (depth == 0)
            return i ? (Str){text.data + 1, i - 1} : inner;
    }
    return inner;
}

/* The list of a `dim3 NAME(...)`, the only one, which nothing changes. */
static Str declared_sizes(const SourceText *text, Str name) {
    Str found = {0};
    for (Str rest = text->plain, next; (next = find_word(text->plain, name, rest.data)).data; rest = next) {
        Reader reader = {text, next, 0};
        const char *before = next.data - name.size;
        while (before > text->plain.data && isspace((unsigned char)before[-1]))
            before--;
        bool declared = before - text->plain.data >= 4 && memcmp(before - 4, "dim3", 4) == 0;
        if (!declared && (take(&reader, '.') || take(&reader, '=')))
            return (Str){0};
        if (!declared)
            continue;
        skip_blanks(&reader);
        if (found.data || !reader.left.size || !strchr("({", reader.left.data[0]))
            return (Str){0};
        found = bracketed(reader.left);
    }
    return found;
}

static void read_sizes(const SourceText *text, Str expression, int64_t sizes[3]) {
    Str parts[MOST_LIST], list = expression;
    Reader reader = {text, expression, 0};
    skip_blanks(&reader);
    Str word = word_at(reader.left);
    Str rest = behind(reader.left, word.size);
    if (str_is(word, "dim3") && rest.size && strchr("({", rest.data[0]))
        list = bracketed(rest);
    else if (word.size && declared_sizes(text, word).data)
        list = declared_sizes(text, word);
    uint32_t count = parts_of(list, parts);
    for (uint32_t i = 0; i < 3; i++)
        if (i >= count)
            sizes[i] = 1;
        else if (!constant(text, parts[i], 0, &sizes[i]) || sizes[i] < 1)
            sizes[i] = -1;
}

/* ---- Launches ------------------------------------------------------------------------------------ */

/* Without blanks: `scale<float, 64>` is what `scale<float,64>` is. */
static bool same_name(Str a, Str b) {
    for (;;) {
        while (a.size && a.data[0] == ' ')
            a = behind(a, 1);
        while (b.size && b.data[0] == ' ')
            b = behind(b, 1);
        if (!a.size || !b.size || a.data[0] != b.data[0])
            return !a.size && !b.size;
        a = behind(a, 1);
        b = behind(b, 1);
    }
}

static void agree(int64_t *known, int64_t value, bool first) {
    *known = first || *known == value ? value : -1;
}

/* A launch, from behind its `<<<` on. */
static void read_launch(const SourceText *text, Str sizes, Str behind_sizes, PtxSourceLaunch *launch) {
    Str parts[MOST_LIST];
    uint32_t count = parts_of(sizes, parts);
    bool first = !launch->count++;
    int64_t grid[3] = {-1, -1, -1}, block[3] = {-1, -1, -1}, shared = 0, value;
    if (count > 0)
        read_sizes(text, parts[0], grid);
    if (count > 1)
        read_sizes(text, parts[1], block);
    if (count > 2 && (!constant(text, parts[2], 0, &shared) || shared < 0))
        shared = -1;
    for (unsigned i = 0; i < 3; i++) {
        agree(&launch->grid[i], grid[i], first);
        agree(&launch->block[i], block[i], first);
    }
    agree(&launch->shared, shared, first);
    count = behind_sizes.size && behind_sizes.data[0] == '(' ? parts_of(bracketed(behind_sizes), parts) : 0;
    for (uint32_t i = 0; i < PTX_MOST_SOURCE_ARGUMENTS; i++)
        agree(&launch->arguments[i], i < count && constant(text, parts[i], 0, &value) && value >= 0 ? value : -1,
              first);
}

/* `name` without its template arguments, which `arguments` are, if it has any: `<float, 64>`. */
static void find_launches(const SourceText *text, Str name, Str arguments, PtxSourceLaunch *launch) {
    for (Str rest = text->plain, next; (next = find_word(text->plain, name, rest.data)).data; rest = next) {
        const char *open = memmem(next.data, next.size, "<<<", 3);
        const char *close = open ? memmem(open, next.size - (size_t)(open - next.data), ">>>", 3) : NULL;
        if (!close || !same_name(str_between(next.data, open), arguments))
            continue;
        Reader reader = {text, str_between(close + 3, text->plain.data + text->plain.size), 0};
        skip_blanks(&reader);
        read_launch(text, str_between(open + 3, close), reader.left, launch);
    }
}

PtxSourceLaunch ptx_launch_in(Source *source, Str mangled, Arena *arena) {
    PtxSourceLaunch launch = {.count = 0};
    unsigned names_left = MOST_NAMES;
    Text last = {0}, shown = {0};
    SourceText text = {
        {source->data, source->size}, ptx_plain_lines(source, 1, source->line_count, arena), &names_left};
    bool cpp = name_last(mangled, &last);
    name_shown(mangled, &shown);
    const char *angle = cpp ? memchr(shown.data, '<', shown.size) : NULL;
    find_launches(&text, cpp ? (Str){last.data, last.size} : mangled,
                  angle ? str_between(angle, shown.data + shown.size) : STR(""), &launch);
    text_free(&last);
    text_free(&shown);
    return launch;
}

PtxSourceLaunch ptx_source_launch(PtxModule *module, uint32_t entry, const char *root) {
    PtxPlace place;
    const PtxFunction *function = &module->functions[entry];
    Source *source = ptx_kernel_source(module, function, root, &place);
    PtxSourceLaunch launch = {.count = 0};
    if (source && source->line_count)
        launch = ptx_launch_in(source, ptx_name(module, function->name), &module->arena);
    source_free(source);
    return launch;
}
