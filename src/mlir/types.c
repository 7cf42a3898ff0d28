/* Types. A type is first found by its text alone; only a text that was not seen before is taken apart. */
#include "mlir/internal.h"

static const Type *enter(MlirReader *r, const char *start, Type *type) {
    Str raw = str_between(start, r->p);
    type->text = tidy(r, raw);
    type->sugar = note_aliases(r, raw);
    return type_enter(r->module, raw, type);
}

/* ---- Builtin types --------------------------------------------------------------------------- */

/* f8E4M3FN and its kin: f, width, E, exponent bits, M, mantissa bits, letters. */
static bool is_small_float(Str name, int64_t *width) {
    const char *e = memchr(name.data, 'E', name.size);
    return e && name.data[0] == 'f' && memchr(e, 'M', (size_t)(name.data + name.size - e)) &&
           str_to_int(str_between(name.data + 1, e), width) && *width >= 4 && *width <= 8;
}

/* A type that is one word; false if the word is none. */
static bool scalar(Str name, Type *type) {
    static const struct {
        const char *name;
        TypeKind kind;
        uint16_t width;
    } words[] = {{"index", TYPE_INDEX, 64}, {"none", TYPE_NONE, 0},  {"f16", TYPE_FLOAT, 16},
                 {"bf16", TYPE_FLOAT, 16},  {"f32", TYPE_FLOAT, 32}, {"f64", TYPE_FLOAT, 64},
                 {"tf32", TYPE_FLOAT, 32},  {"f80", TYPE_FLOAT, 80}, {"f128", TYPE_FLOAT, 128}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(name, words[i].name)) {
            type->kind = words[i].kind;
            type->width = words[i].width;
            return true;
        }
    size_t sign = name.size && (name.data[0] == 's' || name.data[0] == 'u');
    int64_t width;
    if (name.size > sign + 1 && name.data[sign] == 'i' && is_class(name.data[sign + 1], CLASS_DIGIT) &&
        str_to_int((Str){name.data + sign + 1, name.size - sign - 1}, &width) && width < (1 << 16)) {
        type->kind = TYPE_INTEGER;
        type->sign = sign ? name.data[0] : 0;
        type->width = (uint16_t)width;
        return true;
    }
    if (name.size && is_small_float(name, &width)) {
        type->kind = TYPE_FLOAT;
        type->width = (uint16_t)width;
        return true;
    }
    return false;
}

/* i3z, f33: what can only have been meant as a type. */
static bool looks_like_scalar(Str name) {
    size_t sign = name.size > 1 && (name.data[0] == 's' || name.data[0] == 'u' || name.data[0] == 'b');
    return name.size > sign + 1 && (name.data[sign] == 'i' || name.data[sign] == 'f') &&
           is_class(name.data[sign + 1], CLASS_DIGIT);
}

/* `128x64x` before an element type. */
static bool read_dims(MlirReader *r, Type *type) {
    uint32_t mark = r->ints.count;
    if (next_is(r, '*') && r->p[1] == 'x') {
        type->unranked = true;
        r->p += 2;
    }
    for (;; r->p++) {
        skip_space(r);
        const char *start = r->p;
        bool scalable = *r->p == '[';
        int64_t size = DIM_DYNAMIC;
        r->p += scalable;
        if (*r->p == '?')
            r->p++;
        else if (is_class(*r->p, CLASS_DIGIT)) {
            const char *digits = r->p;
            while (is_class(*r->p, CLASS_DIGIT))
                r->p++;
            if (!str_to_int(str_between(digits, r->p), &size))
                return fail(r, digits, "this dimension does not fit 64 bits");
        } else {
            r->p = start;
            break;
        }
        if (scalable && *r->p++ != ']')
            return fail(r, start, "expected ']' after a scalable dimension");
        if (*r->p != 'x')
            return fail(r, r->p, "expected 'x' after a dimension");
        if (r->ints.count - mark >= LIMIT_COUNT)
            return fail(r, start, "more than %d dimensions", LIMIT_COUNT);
        PUSH(r, r->ints) = size;
    }
    type->dim_count = (uint16_t)(r->ints.count - mark);
    type->dims = KEEP(r, r->ints, mark);
    return true;
}

/* A type where one must stand. */
static const Type *demand_type(MlirReader *r) {
    const Type *type = read_type(r);
    if (!type && !r->failed)
        fail(r, r->p, "expected a type");
    return type;
}

/* tensor<128x64xf16, #enc>, vector<4xf32>, memref<4xf32, layout, space> */
static bool read_shaped(MlirReader *r, Type *type) {
    if (!read_dims(r, type) || !(type->element = demand_type(r)))
        return false;
    while (take(r, ',')) {
        const Attr *attr = read_attr(r, true);
        if (!attr)
            return r->failed ? false : fail(r, r->p, "expected an attribute");
        if (type->kind == TYPE_TENSOR && !type->encoding)
            type->encoding = attr;
        else if (type->kind != TYPE_MEMREF)
            return fail(r, r->p, "expected '>'");
    }
    return take(r, '>') || fail(r, r->p, "expected '>'");
}

static bool read_parts(MlirReader *r, Type *type, char close, uint16_t *count) {
    uint32_t mark = r->types.count;
    if (!next_is(r, close)) {
        do {
            const Type *part = demand_type(r);
            if (!part)
                return false;
            PUSH(r, r->types) = part;
        } while (take(r, ','));
    }
    if (!take(r, close))
        return fail(r, r->p, "expected '%c'", close);
    uint32_t added = r->types.count - mark;
    if (type->part_count + added > LIMIT_COUNT)
        return fail(r, r->p, "a type has more than %d parts", LIMIT_COUNT);
    const Type **parts = ARENA_ARRAY(&r->module->arena, const Type *, type->part_count + added + 1);
    if (type->part_count)
        memcpy(parts, type->parts, sizeof *parts * type->part_count);
    if (added)
        memcpy(parts + type->part_count, r->types.items + mark, sizeof *parts * added);
    r->types.count = mark;
    type->parts = parts;
    type->part_count = (uint16_t)(type->part_count + added);
    *count = (uint16_t)added;
    return true;
}

static const Type *read_function_type(MlirReader *r) {
    const char *start = r->p++;
    if (++r->depth > LIMIT_REGION_DEPTH) {
        fail(r, start, "types nested more than %d deep", LIMIT_REGION_DEPTH);
        r->depth--;
        return NULL;
    }
    Type *type = ARENA_NEW(&r->module->arena, Type);
    type->kind = TYPE_FUNCTION;
    uint16_t results;
    bool good = read_parts(r, type, ')', &type->input_count);
    if (good && !take_text(r, STR("->")))
        good = fail(r, r->p, "expected '->' in a function type");
    if (good && take(r, '(')) {
        good = read_parts(r, type, ')', &results);
    } else if (good) {
        const Type *result = demand_type(r);
        const Type **parts = ARENA_ARRAY(&r->module->arena, const Type *, type->part_count + 1);
        if (type->part_count)
            memcpy(parts, type->parts, sizeof *parts * type->part_count);
        parts[type->part_count++] = result;
        type->parts = parts;
        good = result != NULL;
    }
    r->depth--;
    return good ? enter(r, start, type) : NULL;
}

/* ---- Dialect types --------------------------------------------------------------------------- */

/* Whose parameters start with a shape and an element type. */
static bool has_shape(Str name) {
    static const char *const shaped[] = {"tt.ptr",        "ttg.memdesc",           "tt.memdesc", "triton_gpu.memdesc",
                                         "tt.tensordesc", "ttng.tensordesc_im2col"};
    for (size_t i = 0; i < sizeof shaped / sizeof *shaped; i++)
        if (str_is(name, shaped[i]))
            return true;
    return false;
}

/* The texts between the commas of `<...>`, from just after '<' to just before '>'. */
static void split_params(MlirReader *r, Type *type, const char *at, const char *end) {
    uint32_t mark = r->slices.count;
    const char *start = at;
    for (; at <= end; at++) {
        if (at == end || *at == ',') {
            const char *first = start, *last = at;
            while (first < last && is_class(*first, CLASS_SPACE))
                first++;
            while (last > first && is_class(last[-1], CLASS_SPACE))
                last--;
            if (last > first || at < end)
                PUSH(r, r->slices) = str_between(first, last);
            start = at + 1;
        } else if (*at == '/' && at[1] == '/') {
            const char *line_end = memchr(at, '\n', (size_t)(end - at));
            at = line_end ? line_end : end - 1;
        } else if (*at == '"') {
            at = string_end(r, at) - 1;
        } else if (*at == '<' || *at == '(' || *at == '[' || *at == '{') {
            at = balanced_end(r, at) - 1; /* they match, since those around them do */
        }
    }
    uint32_t count = r->slices.count - mark;
    type->params = KEEP(r, r->slices, mark);
    type->param_count = (uint16_t)(count > LIMIT_COUNT ? LIMIT_COUNT : count);
}

/* At the '<' of !name<...>, whose brackets are known to match up to `end`. */
static bool read_dialect_params(MlirReader *r, Type *type, const char *end) {
    const char *open = r->p++;
    if (has_shape(type->name)) {
        if (!read_dims(r, type) || !(type->element = demand_type(r)))
            return false;
        if (!next_is(r, ',') && r->p != end - 1)
            return fail(r, r->p, "expected ',' or '>' in !%.*s", STR_ARG(type->name));
    }
    split_params(r, type, open + 1, end - 1);
    r->p = end;
    return true;
}

static Type *new_dialect_type(MlirReader *r, Str name) {
    Type *type = ARENA_NEW(&r->module->arena, Type);
    type->kind = memchr(name.data, '.', name.size) ? TYPE_DIALECT : TYPE_ALIAS;
    type->name = name;
    return type;
}

static const Type *read_bang_type(MlirReader *r) {
    const char *start = r->p++;
    Str name = take_suffix(r);
    const char *end = r->p;
    if (!name.size || is_class(*name.data, CLASS_DIGIT)) {
        fail(r, start, "expected a type's name after '!'");
        return NULL;
    }
    if (*r->p == '<' && !(end = balanced_end(r, r->p)))
        return NULL;
    const Type *known = type_find(r->module, str_between(start, end));
    if (known) {
        r->p = end;
        return known;
    }
    Type *type = new_dialect_type(r, name);
    if (*r->p == '<') {
        type->kind = TYPE_DIALECT; /* !dialect<"..."> */
        if (!read_dialect_params(r, type, end))
            return NULL;
    }
    return enter(r, start, type);
}

const Type *read_type_of(MlirReader *r, Str name) {
    if (!next_is(r, '<'))
        return read_type(r);
    const char *start = r->p, *end = balanced_end(r, start);
    if (!end)
        return NULL;
    Str body = str_between(start, end);
    char *full = arena_alloc(&r->module->arena, name.size + body.size + 1);
    full[0] = '!';
    memcpy(full + 1, name.data, name.size);
    memcpy(full + 1 + name.size, body.data, body.size);
    Str text = tidy(r, (Str){full, name.size + body.size + 1});
    const Type *known = type_find(r->module, text);
    if (!known) {
        Type *type = new_dialect_type(r, name);
        if (!read_dialect_params(r, type, end))
            return NULL;
        type->text = text;
        type->sugar = note_aliases(r, body);
        known = type_enter(r->module, text, type);
    }
    r->p = end;
    return type_bare(r->module, known);
}

const Type *read_type(MlirReader *r) {
    skip_space(r);
    if (*r->p == '!')
        return read_bang_type(r);
    if (*r->p == '(')
        return read_function_type(r);
    const char *start = r->p;
    Str name = take_id(r);
    if (!name.size) {
        mismatch(r, "a type");
        return NULL;
    }
    const char *end = r->p;
    if (*end == ' ' && (str_is(name, "tensor") || str_is(name, "vector") || str_is(name, "memref"))) {
        skip_space(r);
        end = r->p;
    }
    bool bracket = *end == '<';
    if (bracket && !(end = balanced_end(r, end)))
        return NULL;
    const Type *known = type_find(r->module, str_between(start, end));
    if (known) {
        r->p = end;
        return known;
    }
    Type *type = ARENA_NEW(&r->module->arena, Type);
    bool good;
    if (!bracket) {
        good = scalar(name, type);
    } else {
        static const struct {
            const char *name;
            TypeKind kind;
        } heads[] = {{"tensor", TYPE_TENSOR},
                     {"vector", TYPE_VECTOR},
                     {"memref", TYPE_MEMREF},
                     {"complex", TYPE_COMPLEX},
                     {"tuple", TYPE_TUPLE}};
        good = false;
        for (size_t i = 0; !good && i < sizeof heads / sizeof *heads; i++)
            if (str_is(name, heads[i].name)) {
                type->kind = heads[i].kind;
                good = true;
            }
        r->p += good;
        uint16_t count;
        if (good && !(type->kind == TYPE_TUPLE ? read_parts(r, type, '>', &count) : read_shaped(r, type)))
            return NULL;
    }
    if (!good) {
        r->p = start;
        if (looks_like_scalar(name))
            fail(r, start, "there is no type '%.*s'", STR_ARG(name));
        else
            mismatch(r, "a type");
        return NULL;
    }
    return enter(r, start, type);
}

const Type *read_type_like(MlirReader *r, const Type *guess) {
    skip_space(r);
    if (guess) {
        const Type *form = *r->p == '<' ? guess->bare_form : guess;
        if (form && form->text.size <= (size_t)(r->end - r->p) && str_equal(form->text, (Str){r->p, form->text.size})) {
            /* A closed bracket ends a type; a word may go on. */
            const char *end = r->p + form->text.size;
            if (end[-1] == '>' || !(is_class(*end, CLASS_SUFFIX) || *end == '<')) {
                r->p = end;
                return form;
            }
        }
    }
    return read_type(r);
}
