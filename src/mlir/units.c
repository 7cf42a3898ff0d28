/* Cutting a file into units, line by line, before anything is parsed.
 *
 * `// -----` parts the modules of a test file, and `//--- name` the files in one. A pass log (MLIR_ENABLE_DUMP) has a
 * line
 * `// -----// IR Dump After Pass (argument) ('builtin.module' operation) //----- //` before each dump (from Triton 3.8
 * on it is `Pass: argument{options}`), and other text in between; where two dumps follow each other without such a
 * line, an alias that is defined a second time, or a second module, starts the next unit. */
#include "mlir/reader.h"

typedef struct Cutter {
    const Source *source;
    Units *units;
    Map aliases; /* that the unit has defined */
    bool has_module;
} Cutter;

/* Starts the next unit, at `begin`; the one before it ends at `at`. */
static void cut(Cutter *cutter, size_t at, size_t begin, Unit unit) {
    Units *units = cutter->units;
    if (units->count)
        units->items[units->count - 1].end = at;
    unit.begin = begin;
    *ARENA_PUSH(&units->arena, units->items, units->count, units->capacity) = unit;
    map_free(&cutter->aliases);
    cutter->has_module = false;
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

static Str skip(Str text, const char *what) {
    while (text.size && strchr(what, text.data[0]))
        text = (Str){text.data + 1, text.size - 1};
    return text;
}

/* "Pass (argument)", or "Pass: argument{options}". From the right, since a name may begin with "(anonymous namespace)".
 */
static void read_pass(Str text, Unit *unit) {
    const char *colon = memmem(text.data, text.size, ": ", 2), *argument = NULL;
    unit->pass = text;
    unit->named = colon != NULL;
    if (colon) {
        unit->pass = str_between(text.data, colon);
        unit->argument = upto(str_between(colon + 2, text.data + text.size), "{<");
        return;
    }
    for (const char *at = text.data; (at = memmem(at, (size_t)(text.data + text.size - at), " (", 2)); at++)
        argument = at;
    if (argument && text.data[text.size - 1] == ')') {
        unit->argument = str_between(argument + 2, text.data + text.size - 1);
        unit->pass = trim(str_between(text.data, argument));
    }
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
    rest = skip(rest, " :");
    const char *end = memmem(rest.data, rest.size, "//", 2);
    rest = trim(str_between(rest.data, end ? end : rest.data + rest.size));
    const char *op = memmem(rest.data, rest.size, " ('", 3);
    if (op)
        rest = trim(str_between(rest.data, op));
    read_pass(rest, unit);
    unit->header = trim(line);
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

/* Whether the line parts two units. */
static bool read_separator(Cutter *cutter, Str line, size_t at, size_t next) {
    Unit unit = {0};
    if (str_starts(line, STR("//--- "))) /* a part of a test that holds several files */
        unit.header = line;
    else if (is_separator(line))
        cutter->units->dump |= read_header(line, &unit);
    else
        return false;
    cut(cutter, at, next, unit); /* the line itself is in no unit */
    return true;
}

/* Notes the functions that a unit has. */
static void read_function(Unit *unit, Str line) {
    line = skip(line, " ");
    if (!str_starts(line, STR("tt.func ")))
        return;
    unit->functions = true;
    const char *name = memchr(line.data, '@', line.size);
    if (!name || unit->kernel.size || memmem(line.data, (size_t)(name - line.data), "private", strlen("private")))
        return;
    name++;
    Str rest = str_between(name, line.data + line.size);
    bool quoted = rest.size && rest.data[0] == '"';
    unit->kernel = quoted ? upto((Str){name + 1, rest.size - 1}, "\"") : upto(rest, "(");
}

/* A line of a pass log. */
static void read_line(Cutter *cutter, Str line, size_t at) {
    Str alias = alias_name(line);
    bool module = starts_module(line);
    if ((module && cutter->has_module) || (alias.size && map_get(&cutter->aliases, alias))) {
        Unit unit = cutter->units->items[cutter->units->count - 1];
        unit.header = unit.kernel = (Str){0};
        unit.functions = false;
        cut(cutter, at, at, unit);
    }
    cutter->has_module |= module;
    read_function(&cutter->units->items[cutter->units->count - 1], line);
    void **place = alias.size ? map_put(&cutter->aliases, alias) : NULL;
    if (place)
        *place = cutter;
}

/* What stands before the first dump, or between two separators, may be nothing. */
static void drop_empty(const Source *source, Units *units) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < units->count; i++) {
        const Unit *unit = &units->items[i];
        bool empty = units->dump ? !has_ir(source, unit) : is_blank(source, unit);
        if (!empty || units->count == 1)
            units->items[kept++] = *unit;
    }
    units->count = kept;
}

/* Parts the compilations of a pass log: one ends where its kernel is lowered, or where another kernel comes. Within
 * one, what the passes did stays done. */
static void part_compilations(Units *units) {
    uint32_t compilation = 0;
    bool lowered = false, synced = false;
    Str kernel = {0};
    for (uint32_t i = 0; i < units->count; i++) {
        Unit *unit = &units->items[i];
        if (unit->kernel.size && kernel.size && (lowered || !str_equal(unit->kernel, kernel))) {
            compilation++;
            lowered = synced = false;
        }
        if (unit->kernel.size)
            kernel = unit->kernel;
        lowered |= !unit->functions;
        bool pass = str_ends(unit->argument, STR("-membar"));
        unit->synced = synced || (pass && str_is(unit->when, "After"));
        synced |= pass;
        unit->compilation = compilation;
    }
}

static void read_source(Cutter *cutter) {
    const Source *source = cutter->source;
    Units *units = cutter->units;
    cut(cutter, 0, 0, (Unit){0});
    for (size_t at = 0, next; at < source->size; at = next) {
        if (!units->dump) /* only lines that start with a comment matter, and those are few */
            at = next_comment_line(source, at);
        if (at >= source->size)
            break;
        const char *start = source->data + at, *line_end = memchr(start, '\n', source->size - at);
        next = line_end ? (size_t)(line_end - source->data) + 1 : source->size;
        Str line = str_between(start, line_end ? line_end : source->data + source->size);
        if (!read_separator(cutter, line, at, next) && units->dump && line.size)
            read_line(cutter, line, at);
    }
    units->items[units->count - 1].end = source->size;
    drop_empty(source, units);
    if (units->dump)
        part_compilations(units);
}

bool units_find(const Source *source, Units *units) {
    jmp_buf exhausted;
    Cutter cutter = {.source = source, .units = units};
    *units = (Units){0};
    arena_init(&units->arena, SIZE_MAX);
    units->arena.exhausted = &exhausted;
    bool good = setjmp(exhausted) == 0;
    if (good)
        read_source(&cutter);
    else
        units_free(units);
    map_free(&cutter.aliases);
    units->arena.exhausted = NULL;
    return good;
}

void units_free(Units *units) {
    arena_free(&units->arena);
    *units = (Units){0};
}
