/* The module and its tables: interning, aliases and canonical types, types made from others, walking ops. */
#include "ir/ir.h"

#include "ir/optable.h"

#include <stdlib.h>

void module_init(Module *module, Source *source, size_t budget) {
    *module = (Module){.source = source};
    arena_init(&module->arena, budget);
}

void module_free(Module *module) {
    arena_free(&module->arena);
    map_free(&module->types);
    map_free(&module->attrs);
    map_free(&module->words);
    map_free(&module->values);
    map_free(&module->labels);
    map_free(&module->aliases);
    *module = (Module){0};
}

size_t module_memory(const Module *module) {
    size_t entries = (size_t)module->types.capacity + module->attrs.capacity + module->words.capacity +
                     module->values.capacity + module->labels.capacity + module->aliases.capacity;
    return sizeof *module + module->arena.held + entries * sizeof(MapEntry);
}

/* A map that cannot grow is out of memory like an arena is. */
void **module_put(Module *module, Map *map, Str key) {
    void **place = map_put(map, key);
    if (!place) {
        if (!module->arena.exhausted)
            abort();
        longjmp(*module->arena.exhausted, 1);
    }
    return place;
}

Name *name_intern(Module *module, Map *map, Str text) {
    Name *name = map_get(map, text);
    if (!name) { /* with its text beside it, so that finding and using it touch the same memory */
        name = arena_zalloc(&module->arena, sizeof *name + text.size);
        name->text = (Str){memcpy(name + 1, text.data, text.size), text.size};
        *module_put(module, map, name->text) = name;
    }
    return name;
}

/* ---- Interning ------------------------------------------------------------------------------- */

const Type *type_find(const Module *module, Str text) {
    return map_get(&module->types, text);
}

const Attr *attr_find(const Module *module, Str text) {
    return map_get(&module->attrs, text);
}

const Type *type_enter(Module *module, Str text, Type *type) {
    void **place = module_put(module, &module->types, type->text);
    if (!*place)
        *place = type;
    const Type *entered = *place;
    if (!str_equal(text, type->text))
        *module_put(module, &module->types, text) = (void *)entered;
    return entered;
}

const Attr *attr_enter(Module *module, Str text, Attr *attr) {
    void **place = module_put(module, &module->attrs, attr->text);
    if (!*place)
        *place = attr;
    const Attr *entered = *place;
    if (!str_equal(text, attr->text))
        *module_put(module, &module->attrs, text) = (void *)entered;
    return entered;
}

/* ---- Aliases and canonical types ------------------------------------------------------------- */

enum {
    ALIAS_DEPTH = 32,          /* aliases of aliases; the reader rejects more */
    EXPANSION_LIMIT = 1 << 20, /* of a canonical text, since each alias may double it */
};

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.' || c == '-';
}

static bool expand(Module *module, Str text, Text *out, int depth);

/* Appends what alias `name` (with its '#' or '!') stands for. */
static bool expand_alias(Module *module, Str name, Text *out, int depth) {
    const Item *item = map_get(&module->aliases, name);
    if (!item || depth >= ALIAS_DEPTH || item->kind == ITEM_METADATA || out->size > EXPANSION_LIMIT)
        return false;
    Str text = item->kind == ITEM_TYPE_ALIAS ? item->type->text : item->attr->text;
    return expand(module, text, out, depth + 1);
}

/* The end of the `<...>` at `at`. Brackets of an interned text match. */
static const char *bracket_end(const char *at, const char *end) {
    int depth = 0;
    for (; at < end; at++) {
        if (*at == '-' && at + 1 < end && at[1] == '>')
            at++;
        else if (*at == '<')
            depth++;
        else if (*at == '>' && --depth == 0)
            return at + 1;
    }
    return end;
}

/* !tt.ptr<T, 1> is !tt.ptr<T>: global memory is the address space of a pointer that names none. */
static bool expand_pointer(Module *module, Str params, Text *out, int depth) {
    text_char(out, '<');
    if (!expand(module, params, out, depth))
        return false;
    if (out->size > 2 && out->data[out->size - 1] == '1' && out->data[out->size - 2] == ',')
        out->size -= 2;
    text_char(out, '>');
    return true;
}

/* Appends `text` with aliases replaced and with no spaces but those that part two words. */
static bool expand(Module *module, Str text, Text *out, int depth) {
    const char *at = text.data, *end = text.data + text.size;
    while (at < end) {
        if (*at == '"') {
            const char *start = at++;
            while (at < end && *at != '"')
                at += *at == '\\' ? 2 : 1;
            at = at < end ? at + 1 : end;
            text_str(out, str_between(start, at));
        } else if (*at == '#' || *at == '!') {
            const char *start = at++;
            while (at < end && is_name_char(*at))
                at++;
            Str name = str_between(start, at);
            bool alias = name.size > 1 && !memchr(name.data, '.', name.size) && !(at < end && *at == '<');
            if (alias && !expand_alias(module, name, out, depth))
                return false;
            if (!alias)
                text_str(out, name);
            if (at < end && *at == '<' && str_is(name, "!tt.ptr") && depth < ALIAS_DEPTH) {
                const char *close = bracket_end(at, end);
                if (!expand_pointer(module, str_between(at + 1, close - 1), out, depth + 1))
                    return false;
                at = close;
            }
        } else if (*at == ' ') {
            at++;
            if (at < end && is_name_char(*at) && out->size && is_name_char(out->data[out->size - 1]))
                text_char(out, ' ');
        } else {
            text_char(out, *at++);
        }
    }
    return true;
}

const Type *type_resolve(Module *module, const Type *type) {
    for (int depth = 0; type && type->kind == TYPE_ALIAS; depth++) {
        const Item *item = map_get(&module->aliases, type->text);
        type = item && item->kind == ITEM_TYPE_ALIAS && depth < ALIAS_DEPTH ? item->type : NULL;
    }
    return type;
}

const Attr *attr_resolve(Module *module, const Attr *attr) {
    for (int depth = 0; attr && attr->kind == ATTR_ALIAS; depth++) {
        const Item *item = map_get(&module->aliases, attr->text);
        attr = item && item->kind == ITEM_ATTR_ALIAS && depth < ALIAS_DEPTH ? item->attr : NULL;
    }
    return attr;
}

/* A memory descriptor says the shape of its allocation only where it is not its own; `text` ends in it. */
static void drop_same_allocation(const Type *type, Text *text) {
    if (!type_is(type, STR("ttg.memdesc")) || type->param_count < 2)
        return;
    Text shape = {0};
    for (unsigned i = 0; i < type->dim_count; i++)
        text_addf(&shape, "%s%lld", i ? "x" : "", (long long)type->dims[i]);
    if (str_equal(type->params[type->param_count - 1], (Str){shape.data, shape.size})) {
        text->size -= shape.size + 2; /* ",SHAPE>" */
        text_char(text, '>');
    }
    text_free(&shape);
}

const Type *type_canonical(Module *module, const Type *type) {
    if (type->canonical)
        return type->canonical;
    const Type *resolved = type_resolve(module, type);
    if (!resolved)
        return NULL;
    Text out = {0};
    if (resolved->bare) {
        text_char(&out, '!');
        text_str(&out, resolved->name);
    }
    const Type *canonical = NULL;
    if (expand(module, resolved->text, &out, 0) && !out.failed) {
        drop_same_allocation(resolved, &out);
        canonical = type_find(module, (Str){out.data, out.size});
        if (!canonical) {
            Type *copy = ARENA_NEW(&module->arena, Type);
            *copy = *resolved;
            copy->text = (Str){arena_copy(&module->arena, out.data, out.size), out.size};
            copy->sugar = copy->bare = false;
            copy->canonical = copy;
            canonical = type_enter(module, copy->text, copy);
        }
        /* Filling in what is a function of the type does not change the type. */
        ((Type *)type)->canonical = canonical;
    }
    text_free(&out);
    return canonical;
}

const Type *type_bare(Module *module, const Type *type) {
    if (!type->bare_form) {
        Type *bare = ARENA_NEW(&module->arena, Type);
        *bare = *type;
        bare->text = (Str){type->text.data + 1 + type->name.size, type->text.size - 1 - type->name.size};
        bare->bare = bare->sugar = true;
        bare->canonical = bare->bare_form = NULL;
        ((Type *)type)->bare_form = bare;
    }
    return type->bare_form;
}

Agreement type_agree(Module *module, const Type *a, const Type *b) {
    if (a == b || !a || !b)
        return AGREE;
    const Type *x = type_canonical(module, a), *y = type_canonical(module, b);
    if (!x || !y)
        return LATER;
    return x == y || str_is(x->name, UNKNOWN_TYPE) || str_is(y->name, UNKNOWN_TYPE) ? AGREE : DIFFER;
}

/* ---- Types made from others ------------------------------------------------------------------ */

const Type *type_named(Module *module, const char *text) {
    const Type *known = type_find(module, str_of(text));
    if (known)
        return known;
    Type *type = ARENA_NEW(&module->arena, Type);
    type->text = str_of(text);
    if (text[0] == '!') {
        type->kind = TYPE_DIALECT;
        type->name = (Str){text + 1, strcspn(text + 1, "<")};
    } else if (strcmp(text, "index") == 0) {
        type->kind = TYPE_INDEX;
    } else {
        type->kind = text[0] == 'i' ? TYPE_INTEGER : TYPE_FLOAT;
        type->width = (uint16_t)atoi(text + 1);
    }
    return type_enter(module, type->text, type);
}

const Type *type_with_element(Module *module, const Type *shaped, const Type *element) {
    shaped = type_resolve(module, shaped);
    if (!shaped || !element || (shaped->kind != TYPE_TENSOR && shaped->kind != TYPE_VECTOR))
        return NULL;
    Text out = {0};
    text_addf(&out, shaped->kind == TYPE_TENSOR ? "tensor<" : "vector<");
    if (shaped->unranked)
        text_addf(&out, "*x");
    for (unsigned i = 0; i < shaped->dim_count; i++)
        if (shaped->dims[i] == DIM_DYNAMIC)
            text_addf(&out, "?x");
        else
            text_addf(&out, "%lldx", (long long)shaped->dims[i]);
    text_str(&out, element->text);
    if (shaped->encoding) {
        text_addf(&out, ", ");
        text_str(&out, shaped->encoding->text);
    }
    text_char(&out, '>');
    const Type *type = NULL;
    if (!out.failed && !(type = type_find(module, (Str){out.data, out.size}))) {
        Type *made = ARENA_NEW(&module->arena, Type);
        *made = *shaped;
        made->text = (Str){arena_copy(&module->arena, out.data, out.size), out.size};
        made->element = element;
        made->sugar = element->sugar || (shaped->encoding && shaped->encoding->sugar);
        made->canonical = made->bare_form = made->as_i1 = made->as_i32 = made->pointee = NULL;
        type = type_enter(module, made->text, made);
    }
    text_free(&out);
    return type;
}

/* A tensor of that shape, or the scalar itself for a scalar. */
static const Type *like(Module *module, const Type *type, const char *element) {
    const Type *resolved = type_resolve(module, type);
    if (!resolved)
        return NULL;
    switch (resolved->kind) {
    case TYPE_TENSOR:
    case TYPE_VECTOR:
        return type_with_element(module, resolved, type_named(module, element));
    case TYPE_INTEGER:
    case TYPE_FLOAT:
    case TYPE_INDEX:
        return type_named(module, element);
    case TYPE_DIALECT:
        if (type_is(resolved, STR("tt.ptr")) && resolved->element && resolved->element->kind != TYPE_TENSOR)
            return type_named(module, element);
        return NULL;
    default:
        return NULL;
    }
}

const Type *type_i1_like(Module *module, const Type *type) {
    if (!type->as_i1)
        ((Type *)type)->as_i1 = like(module, type, "i1");
    return type->as_i1;
}

const Type *type_i32_like(Module *module, const Type *type) {
    if (!type->as_i32)
        ((Type *)type)->as_i32 = like(module, type, "i32");
    return type->as_i32;
}

const Type *type_pointee(Module *module, const Type *type) {
    if (type->pointee)
        return type->pointee;
    const Type *resolved = type_resolve(module, type), *pointee = NULL;
    if (resolved && resolved->kind == TYPE_TENSOR && resolved->element) {
        const Type *element = type_pointee(module, resolved->element);
        pointee = element ? type_with_element(module, resolved, element) : NULL;
    } else if (resolved && type_is(resolved, STR("tt.ptr"))) {
        pointee = resolved->element;
    }
    ((Type *)type)->pointee = pointee;
    return pointee;
}

const Type *type_element(Module *module, const Type *type) {
    const Type *resolved = type_resolve(module, type);
    return resolved ? resolved->element : NULL;
}

bool type_is(const Type *type, Str name) {
    if (type->kind != TYPE_DIALECT)
        return false;
    if (str_equal(type->name, name))
        return true;
    /* memdesc was triton_gpu's, and before that tt's */
    return str_is(name, "ttg.memdesc") &&
           (str_is(type->name, "tt.memdesc") || str_is(type->name, "triton_gpu.memdesc"));
}

bool type_is_descriptor(const Type *type) {
    return type_is(type, STR("tt.tensordesc")) || type_is(type, STR("ttng.tensordesc_im2col"));
}

/* ---- Looking at ops -------------------------------------------------------------------------- */

OpExtra *op_extra(Module *module, Op *op) {
    if (!op->extra)
        op->extra = ARENA_NEW(&module->arena, OpExtra);
    return op->extra;
}

const Attr *dict_get(const Attr *dict, Str name) {
    for (uint32_t i = 0; dict && i < dict->count; i++)
        if (str_equal(dict->entries[i].name, name))
            return dict->entries[i].value;
    return NULL;
}

const Attr *op_attr(const Op *op, const char *name) {
    if (op->attrs && op->row) {
        int slot = op_slot(op->row->attrs, op->row->attr_count, str_of(name));
        if (slot >= 0 && op->attrs[slot])
            return op->attrs[slot];
    }
    const Attr *attr = dict_get(op->dict, str_of(name));
    return attr ? attr : dict_get(op->properties, str_of(name));
}

Value **op_operands_at(const Op *op, unsigned slot, uint32_t *count) {
    uint32_t first = 0;
    if (!op->operand_count) {
        *count = 0;
        return op->operands;
    }
    if (!op->segments) { /* one operand an entry */
        *count = slot < op->operand_count;
        return op->operands + slot;
    }
    for (unsigned i = 0; i < slot; i++)
        first += op->segments[i];
    *count = op->segments[slot];
    return op->operands + first;
}

Op *op_parent(const Op *op) {
    return op->block ? op->block->region->op : NULL;
}

/* The first op in a region of `op` from number `region` on, block by block. */
static Op *first_inside(const Op *op, uint32_t region) {
    for (; region < op->region_count; region++)
        for (Block *block = op->regions[region].first; block; block = block->next)
            if (block->first)
                return block->first;
    return NULL;
}

Str op_symbol(const Op *op) {
    const Attr *symbol = op_attr(op, "sym_name");
    Str name = symbol ? symbol->text : STR("");
    if (name.size && name.data[0] == '@')
        name = (Str){name.data + 1, name.size - 1};
    if (name.size > 1 && name.data[0] == '"')
        name = (Str){name.data + 1, name.size - 2};
    return name;
}

Op *module_first_op(const Module *module) {
    const Item *item = module->first;
    while (item && item->kind != ITEM_OP)
        item = item->next;
    return item ? item->op : NULL;
}

Op *op_next_in_walk(const Op *op, const Op *root) {
    Op *inside = first_inside(op, 0);
    if (inside)
        return inside;
    for (; op != root; op = op_parent(op)) {
        if (op->next)
            return op->next;
        if (!op->block)
            return NULL;
        for (Block *block = op->block->next; block; block = block->next)
            if (block->first)
                return block->first;
        Op *parent = op->block->region->op;
        inside = first_inside(parent, (uint32_t)(op->block->region - parent->regions) + 1);
        if (inside)
            return inside;
    }
    return NULL;
}
