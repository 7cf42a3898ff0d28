/* Cutting a file into units, line by line, before anything is parsed.
 *
 * `// -----` parts the modules of a test file, and `//--- name` the files in one. A pass log (MLIR_ENABLE_DUMP) has a line
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

/* Takes "IR Dump After Pass (argument) ('op' operation) //----- //" apart. */
static bool read_header(Str line, Unit *unit) {
    Str rest = after(line, "IR Dump ");
    if (!rest.data)
        return false;
    unit->when = upto(rest, " :");
    if (!str_is(unit->when, "Before") && !str_is(unit->when, "After"))
        return false;
    rest = (Str){rest.data + unit->when.size, rest.size - unit->when.size};
    while (rest.size && (rest.data[0] == ' ' || rest.data[0] == ':'))
        rest = (Str){rest.data + 1, rest.size - 1};
    unit->pass = upto(rest, "(/");
    rest = (Str){rest.data + unit->pass.size, rest.size - unit->pass.size};
    while (rest.size && rest.data[0] == ' ')
        rest = (Str){rest.data + 1, rest.size - 1};
    if (rest.size > 1 && rest.data[0] == '(' && rest.data[1] != '\'')
        unit->argument = upto((Str){rest.data + 1, rest.size - 1}, ")");
    unit->header = line;
    while (unit->header.size && (unit->header.data[unit->header.size - 1] == '\r'))
        unit->header.size--;
    return true;
}

static bool starts_with_word(Str line, const char *word) {
    size_t size = strlen(word);
    return line.size > size && memcmp(line.data, word, size) == 0 &&
           (line.data[size] == ' ' || line.data[size] == '(' || line.data[size] == '{');
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
    return str_starts(line, STR("// -----"));
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
            bool module = starts_with_word(line, "module") || starts_with_word(line, "\"builtin.module\"");
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
        if (!is_blank(source, unit) || units->count == 1)
            units->items[kept++] = *unit;
    }
    units->count = kept;
    return true;
}

void units_free(Units *units) {
    free(units->items);
    *units = (Units){0};
}
