/* Cutting a file into units, line by line, before anything is parsed.
 *
 * `// -----` parts the modules of a test file, and `//--- name` the files in one. A pass log (MLIR_ENABLE_DUMP) has a
 * line
 * `// -----// IR Dump After Pass (argument) ('builtin.module' operation) //----- //` before each dump,
 * and other text in between; where two dumps follow each other without such a line, an alias that is
 * defined a second time, or a second module, starts the next unit. */
#include "mlir/reader.h"

#include <stdlib.h>

typedef struct Cutter {
    Units *units;
    size_t capacity;
    bool failed;
} Cutter;

static Unit *cut(Cutter *cutter, size_t at) {
    Units *units = cutter->units;
    if (units->count == cutter->capacity) {
        size_t capacity = cutter->capacity ? cutter->capacity * 2 : 4;
        Unit *items = realloc(units->items, capacity * sizeof *items);
        if (!items) {
            cutter->failed = true;
            return NULL;
        }
        units->items = items;
        cutter->capacity = capacity;
    }
    if (units->count)
        units->items[units->count - 1].end = at;
    units->items[units->count] = (Unit){.begin = at};
    return &units->items[units->count++];
}

static Str after(Str line, const char *word) {
    const char *at = memmem(line.data, line.size, word, strlen(word));
    return at ? str_between(at + strlen(word), line.data + line.size) : (Str){0};
}

static Str upto(Str text, const char *stops) {
    size_t size = 0;
    while (size < text.size && !strchr(stops, text.data[size]))
        size++;
    while (size && text.data[size - 1] == ' ')
        size--;
    return (Str){text.data, size};
}

static Str trim(Str text) {
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\r'))
        text.size--;
    return text;
}

/* Takes "IR Dump After Pass (argument) ('op' operation) //----- //" apart. */
static bool read_header(Str line, Unit *unit) {
    Str rest = after(line, "IR Dump ");
    if (!rest.data)
        return false;
    Str when = upto(rest, " :");
    if (!str_is(when, "Before") && !str_is(when, "After"))
        return false;
    unit->when = when;
    rest = (Str){rest.data + unit->when.size, rest.size - unit->when.size};
    while (rest.size && (rest.data[0] == ' ' || rest.data[0] == ':'))
        rest = (Str){rest.data + 1, rest.size - 1};
    /* From the right, since a name may begin with "(anonymous namespace)". */
    const char *end = memmem(rest.data, rest.size, "//", 2);
    rest = trim(str_between(rest.data, end ? end : rest.data + rest.size));
    const char *op = memmem(rest.data, rest.size, " ('", 3);
    if (op)
        rest = trim(str_between(rest.data, op));
    const char *argument = NULL;
    for (const char *at = rest.data; (at = memmem(at, (size_t)(rest.data + rest.size - at), " (", 2)); at++)
        argument = at;
    if (argument && rest.data[rest.size - 1] == ')') {
        unit->argument = str_between(argument + 2, rest.data + rest.size - 1);
        rest = trim(str_between(rest.data, argument));
    }
    unit->pass = rest;
    unit->header = line;
    unit->header = trim(unit->header);
    return true;
}

/* The name in `#name =` or `!name =` at the start of a line; empty if it is none. */
static Str alias_name(Str line) {
    size_t size = 1;
    if (line.size < 4 || (line.data[0] != '#' && line.data[0] != '!'))
        return (Str){0};
    while (size < line.size && line.data[size] != ' ' && line.data[size] != '=')
        size++;
    return size + 1 < line.size && line.data[size] == ' ' && line.data[size + 1] == '=' ? (Str){line.data, size}
                                                                                        : (Str){0};
}

/* `module {`, `module attributes`, `module @name` */
static bool starts_module(Str line) {
    if (str_starts(line, STR("\"builtin.module\"")))
        return true;
    Str rest = line;
    if (str_starts(rest, STR("builtin.")))
        rest = (Str){rest.data + 8, rest.size - 8};
    if (!str_starts(rest, STR("module")))
        return false;
    rest = (Str){rest.data + 6, rest.size - 6};
    while (rest.size && rest.data[0] == ' ')
        rest = (Str){rest.data + 1, rest.size - 1};
    return rest.size && (rest.data[0] == '{' || rest.data[0] == '@' || str_starts(rest, STR("attributes")));
}

bool starts_ir(Str line) {
    static const char *const words[] = {"tt.func ", "func.func ", "llvm.func ", "gpu.module ", "\"tt.func\"", "{-#"};
    if (starts_module(line) || alias_name(line).size)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_starts(line, str_of(words[i])))
            return true;
    return false;
}

/* Whether anything in a unit of a pass log is IR. */
static bool has_ir(const Source *source, const Unit *unit) {
    const char *at = source->data + unit->begin, *end = source->data + unit->end;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (starts_ir(str_between(at, line_end ? line_end : end)))
            return true;
        at = line_end ? line_end + 1 : end;
    }
    return false;
}

/* Nothing but spaces and comments. */
static bool is_blank(const Source *source, const Unit *unit) {
    for (size_t at = unit->begin; at < unit->end; at++) {
        const char *c = source->data + at;
        if (*c == '/' && at + 1 < unit->end && c[1] == '/') {
            const char *line_end = memchr(c, '\n', unit->end - at);
            at = line_end ? (size_t)(line_end - source->data) : unit->end;
        } else if (*c != ' ' && *c != '\t' && *c != '\r' && *c != '\n') {
            return false;
        }
    }
    return true;
}

/* `// -----`, also where the line was commented out once more. */
static bool is_separator(Str line) {
    while (line.size > 3 && line.data[2] == ' ' && line.data[3] == '/' && str_starts(line, STR("// ")))
        line = (Str){line.data + 3, line.size - 3};
    return str_is(trim(line), "// -----") || str_starts(line, STR("// -----// "));
}

/* The start of the next line that begins with "//", from the start of a line on; the end if there is none. */
static size_t next_comment_line(const Source *source, size_t at) {
    const char *begin = source->data + at, *end = source->data + source->size;
    for (const char *slash = begin; (slash = memchr(slash, '/', (size_t)(end - slash))); slash++)
        if (slash[1] == '/' && (slash == begin || slash[-1] == '\n'))
            return (size_t)(slash - source->data);
    return source->size;
}

bool units_find(const Source *source, Units *units) {
    *units = (Units){0};
    Cutter cutter = {.units = units};
    Map aliases = {0};
    bool has_module = false;
    cut(&cutter, 0);
    for (size_t at = 0; at < source->size && !cutter.failed;) {
        if (!units->dump) /* only lines that start with a comment matter, and those are few */
            at = next_comment_line(source, at);
        const char *start = source->data + at;
        if (at >= source->size)
            break;
        const char *line_end = memchr(start, '\n', source->size - at);
        size_t next = line_end ? (size_t)(line_end - source->data) + 1 : source->size;
        Str line = str_between(start, line_end ? line_end : source->data + source->size);
        Unit header = {0};
        bool part = str_starts(line, STR("//--- ")); /* a part of a test that holds several files */
        if (part || is_separator(line)) {
            if (part)
                header.header = line;
            else
                units->dump |= read_header(line, &header);
            Unit *unit = cut(&cutter, at);
            if (unit) {
                unit->begin = next; /* the line itself is in no unit */
                unit->header = header.header;
                unit->when = header.when;
                unit->pass = header.pass;
                unit->argument = header.argument;
            }
            map_free(&aliases);
            has_module = false;
        } else if (units->dump && line.size) {
            Str alias = alias_name(line);
            bool module = starts_module(line);
            bool again = (module && has_module) || (alias.size && map_get(&aliases, alias));
            if (again) {
                const Unit before = units->items[units->count - 1];
                Unit *unit = cut(&cutter, at);
                if (unit) {
                    *unit = before;
                    unit->begin = at;
                    unit->header = (Str){0};
                }
                map_free(&aliases);
                has_module = false;
            }
            has_module |= module;
            void **place = alias.size ? map_put(&aliases, alias) : NULL;
            if (place)
                *place = units;
        }
        at = next;
    }
    map_free(&aliases);
    if (cutter.failed) {
        units_free(units);
        return false;
    }
    units->items[units->count - 1].end = source->size;
    /* What stands before the first dump, or between two separators, may be nothing. */
    size_t kept = 0;
    for (size_t i = 0; i < units->count; i++) {
        const Unit *unit = &units->items[i];
        bool empty = units->dump ? !has_ir(source, unit) : is_blank(source, unit);
        if (!empty || units->count == 1)
            units->items[kept++] = *unit;
    }
    units->count = kept;
    return true;
}

void units_free(Units *units) {
    free(units->items);
    *units = (Units){0};
}
