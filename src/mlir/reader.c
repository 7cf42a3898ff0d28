/* The top of a unit: aliases, operations, file metadata; and the reader's common parts. */
#include "mlir/internal.h"

#include <stdlib.h>

/* Reading takes a few times the file's size; this much is for the files that are all short words. */
enum { BUDGET_PER_BYTE = 64, BUDGET_BASE = 64 << 20 };

/* Where something is missing at the end of a line, the place is that end and not the start of the next. */
static const char *end_of_line_before(const MlirReader *r, const char *at) {
    const char *line = at;
    while (line > r->base && (line[-1] == ' ' || line[-1] == '\t'))
        line--;
    if (line == r->base || line[-1] != '\n' || at >= r->end)
        return at;
    const char *end = line - 1, *start;
    while (end > r->base && is_class(end[-1], CLASS_SPACE))
        end--;
    for (start = end; start > r->base && start[-1] != '\n'; start--)
        if (start[-1] == '/' && start[0] == '/')
            return at; /* a comment, which is no place for an error */
    return end > r->base ? end : at;
}

bool fail(MlirReader *r, const char *at, const char *format, ...) {
    r->failed = true;
    if (r->quiet)
        return false;
    if (strncmp(format, "expected ", 9) == 0 && at > r->op_start)
        at = end_of_line_before(r, at);
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(r->diagnostics, SEVERITY_ERROR, r->source, offset_of(r, at), format, arguments);
    va_end(arguments);
    return false;
}

bool fail_at_zero(MlirReader *r, const char *at) {
    fail(r, at, "the text has a zero byte");
    if (!r->quiet) {
        r->brackets_broken = true;
        if (at >= r->p)
            r->end = at; /* what comes behind it is not looked at */
    }
    return false;
}

void note(MlirReader *r, const char *at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(r->diagnostics, SEVERITY_NOTE, r->source, offset_of(r, at), format, arguments);
    va_end(arguments);
}

bool mismatch(MlirReader *r, const char *expected) {
    skip_space(r);
    if (!r->far || r->p >= r->far) {
        r->far = r->p;
        r->expected = expected;
    }
    return false;
}

void *keep_items(MlirReader *r, const void *items, size_t size, uint32_t *count, uint32_t mark) {
    size_t bytes = (*count - mark) * size;
    void *kept = arena_zalloc(&r->module->arena, bytes + size); /* never nothing */
    *count = mark;
    return bytes ? memcpy(kept, items, bytes) : kept;
}

Region *add_region(MlirReader *r, Op *op) {
    uint32_t count = op->region_count;
    if (count == 0 || (count & (count - 1)) == 0) { /* full at each power of two */
        Region *moved = ARENA_ARRAY(&r->module->arena, Region, count ? count * 2 : 1);
        if (count)
            memcpy(moved, op->regions, sizeof *moved * count);
        for (uint32_t i = 0; i < count; i++)
            for (Block *block = moved[i].first; block; block = block->next)
                block->region = &moved[i];
        op->regions = moved;
    }
    op->region_count++;
    op->regions[count] = (Region){.op = op};
    return &op->regions[count];
}

Item *add_item(MlirReader *r, ItemKind kind, uint32_t at) {
    Item *item = ARENA_NEW(&r->module->arena, Item);
    item->kind = kind;
    item->offset = at;
    if (r->module->last)
        r->module->last->next = item;
    else
        r->module->first = item;
    r->module->last = item;
    return item;
}

/* What an alias means whose definition could not be read: nothing, but it is defined. */
static Item broken_alias = {.kind = ITEM_METADATA};

/* `#name = attribute` or `!name = type` */
static bool read_alias(MlirReader *r) {
    const char *start = r->p++;
    Str suffix = take_suffix(r);
    if (!suffix.size || is_class(*suffix.data, CLASS_DIGIT))
        return fail(r, start, "expected an alias's name after '%c'", *start);
    if (memchr(suffix.data, '.', suffix.size))
        return fail(r, start, "an alias's name must not have a '.'");
    Str name = str_between(start, r->p);
    if (!take(r, '='))
        return fail(r, r->p, "expected '=' after an alias's name");
    void **place = module_put(r->module, &r->module->aliases, name);
    if (*place)
        return fail(r, start, "alias '%.*s' is already defined at line %u", STR_ARG(name),
                    source_place(r->source, ((Item *)*place)->offset).line);
    *place = &broken_alias; /* until it is read, and if it cannot be: its uses are not wrong because of that */
    if (*start == '!') {
        const Type *type = read_type(r);
        if (!type)
            return r->failed ? false : fail(r, r->p, "expected a type");
        Item *item = add_item(r, ITEM_TYPE_ALIAS, offset_of(r, start));
        item->name = name;
        item->type = type;
        *module_put(r->module, &r->module->aliases, name) = item;
    } else {
        const Attr *attr = read_attr(r, true);
        if (!attr)
            return r->failed ? false : fail(r, r->p, "expected an attribute");
        Item *item = add_item(r, ITEM_ATTR_ALIAS, offset_of(r, start));
        item->name = name;
        item->attr = attr;
        *module_put(r->module, &r->module->aliases, name) = item;
    }
    return true;
}

/* {-# dialect_resources: ... #-} is kept as it is. */
static bool read_metadata(MlirReader *r) {
    const char *start = r->p, *close = memmem(start, (size_t)(r->end - start), "#-}", 3);
    if (!close) {
        r->p = r->end;
        return fail(r, start, "this file metadata is never closed");
    }
    r->p = close + 3;
    add_item(r, ITEM_METADATA, offset_of(r, start))->text = str_between(start, r->p);
    return true;
}

/* In a pass log: on to the next line that starts IR. */
static void skip_noise(MlirReader *r) {
    while (r->p < r->end) {
        const char *line_end = memchr(r->p, '\n', (size_t)(r->end - r->p));
        if (starts_ir(str_between(r->p, line_end ? line_end : r->end)))
            return;
        if (looks_like_results(r->p))
            note(r, r->p, "this is outside all modules of the log, and is ignored");
        r->p = line_end ? line_end : r->end;
        while (r->p < r->end && is_class(*r->p, CLASS_SPACE))
            r->p++;
    }
}

static void read_items(MlirReader *r) {
    for (;;) {
        skip_space(r);
        if (r->options.dump)
            skip_noise(r);
        if (r->p >= r->end)
            return;
        const char *start = r->p;
        r->failed = false;
        bool good;
        if (*start == '#' || *start == '!')
            good = read_alias(r);
        else if (*start == '{' && start[1] == '-' && start[2] == '#')
            good = read_metadata(r);
        else if (*start == 0)
            good = fail_at_zero(r, start);
        else if (*start == '}')
            good = r->brackets_broken || fail(r, start, "this '}' closes nothing");
        else
            good = read_op(r, NULL);
        if (*start == '}' && r->p == start)
            r->p++;
        if (good)
            continue;
        if (*start == '#' || *start == '!') { /* goes as far as an op would */
            r->quiet = true;
            const char *end = op_extent(r, start);
            r->quiet = false;
            r->p = end > r->p ? end : r->p;
        }
        if (r->diagnostics->errors > DIAGNOSTICS_KEPT)
            return; /* it is not read on */
    }
}

static void check_aliases(MlirReader *r) {
    for (uint32_t i = 0; i < r->alias_keys.count; i++) {
        Str name = r->alias_keys.items[i];
        if (map_get(&r->module->aliases, name))
            continue;
        size_t offset = (uintptr_t)map_get(&r->alias_uses, name) - 1;
        diagnostics_add(r->diagnostics, SEVERITY_ERROR, r->source, offset, "alias '%.*s' is not defined",
                        STR_ARG(name));
    }
}

enum { DEEPEST_ALIAS = 32 }; /* as many as canonical types follow (ir.c) */

/* How many aliases an alias goes through, itself included and those of locations aside; more than DEEPEST_ALIAS if that
 * is too many, as it is where it refers to itself. `depths` keeps what is known; `level` bounds the search. */
static uintptr_t alias_depth(MlirReader *r, Map *depths, const Item *item, unsigned level) {
    void **known = map_put(depths, item->name);
    if (!known || *known)
        return known ? (uintptr_t)*known : 0;
    uintptr_t deepest = 0;
    Str text = item->kind == ITEM_TYPE_ALIAS ? item->type->text : item->attr->text;
    const char *end = text.data + text.size;
    for (const char *at = text.data; at < end && deepest < DEEPEST_ALIAS; at++) {
        if (*at == '"') {
            for (at++; at < end && *at != '"';)
                at += *at == '\\' ? 2 : 1;
        } else if (*at == '#' || *at == '!') {
            const char *start = at;
            while (at + 1 < end && is_class(at[1], CLASS_SUFFIX))
                at++;
            const Item *other = map_get(&r->module->aliases, str_between(start, at + 1));
            bool location = other && other->kind == ITEM_ATTR_ALIAS && other->attr->kind == ATTR_LOCATION;
            if (!other || other->kind == ITEM_METADATA || location)
                continue;
            uintptr_t depth = level < DEEPEST_ALIAS ? alias_depth(r, depths, other, level + 1) : DEEPEST_ALIAS;
            deepest = depth > deepest ? depth : deepest;
        }
    }
    known = map_put(depths, item->name); /* the map may have moved */
    if (known && deepest < DEEPEST_ALIAS)
        *known = (void *)(deepest + 1);
    return deepest + 1;
}

static void check_alias_depths(MlirReader *r) {
    Map depths = {0};
    for (const Item *item = r->module->first; item; item = item->next) {
        bool location = item->kind == ITEM_ATTR_ALIAS && item->attr->kind == ATTR_LOCATION;
        bool alias = item->kind == ITEM_TYPE_ALIAS || item->kind == ITEM_ATTR_ALIAS;
        if (alias && !location && alias_depth(r, &depths, item, 1) > DEEPEST_ALIAS) {
            fail(r, text_at(r, item->offset), "alias '%.*s' refers to itself, or is more than %d aliases deep",
                 STR_ARG(item->name), DEEPEST_ALIAS);
            break; /* those that go through it would all say the same */
        }
    }
    map_free(&depths);
}

/* Stacks start with some room, so that there is always an item to point at. */
static void prepare_stacks(MlirReader *r) {
#define STACK(T, name) r->name.items = arena_grown(&r->stacks, NULL, 0, &r->name.capacity, sizeof(T));
    READER_STACKS(STACK)
#undef STACK
}

static void free_reader(MlirReader *r) {
    map_free(&r->alias_uses);
    arena_free(&r->stacks);
    free(r);
}

bool read_unit(Module *module, Source *source, const Unit *unit, ReadOptions options, Diagnostics *diagnostics) {
    size_t size = unit->end - unit->begin;
    size_t budget = options.budget ? options.budget : BUDGET_BASE + size * BUDGET_PER_BYTE;
    module_init(module, source, budget);
    module->dumped = (Dumped){unit->argument.size ? unit->argument : unit->pass, unit->named, unit->synced};
    size_t errors = diagnostics->errors;
    MlirReader *r = calloc(1, sizeof *r);
    jmp_buf exhausted;
    if (!r || setjmp(exhausted)) {
        diagnostics_add(diagnostics, SEVERITY_ERROR, source, unit->begin,
                        "this module needs more than the limit of %zu MiB", budget >> 20);
        if (r)
            free_reader(r);
        return false;
    }
    module->arena.exhausted = &exhausted;
    *r = (MlirReader){.module = module,
                      .source = source,
                      .diagnostics = diagnostics,
                      .options = options,
                      .base_offset = unit->begin,
                      .scope = 1,
                      .last_scope = 1,
                      .labels = 1,
                      .last_labels = 1,
                      .stacks = {.budget = budget, .exhausted = &exhausted}};
    prepare_stacks(r);
    r->base = source->data + unit->begin;
    if (unit->end != source->size) { /* the text must end in a zero byte */
        char *copy = arena_zalloc(&module->arena, size + READ_AHEAD);
        r->base = memcpy(copy, r->base, size);
    }
    r->p = r->base;
    r->end = r->base + size;
    read_items(r);
    Region top = {0};
    leave_region(r, &top, 0, 0, true);
    settle_late_checks(r);
    check_aliases(r);
    check_alias_depths(r);
    free_reader(r);
    module->arena.exhausted = NULL;
    return diagnostics->errors == errors;
}
