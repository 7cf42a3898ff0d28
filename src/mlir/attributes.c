/* Attributes. Like types, they are found by their text and taken apart once. */
#include "mlir/internal.h"

const Attr *enter_attr(MlirReader *r, const char *start, Attr *attr) {
    Str raw = str_between(start, r->p);
    attr->text = tidy(r, raw);
    attr->sugar = note_aliases(r, raw);
    return attr_enter(r->module, raw, attr);
}

Attr *new_attr(MlirReader *r, AttrKind kind) {
    Attr *attr = ARENA_NEW(&r->module->arena, Attr);
    attr->kind = kind;
    return attr;
}

/* An attribute that a format names: a plain number or word there is not what it is elsewhere. */
const Attr *make_attr(MlirReader *r, AttrKind kind, Str text) {
    const Attr *known = map_get(&r->module->words, text);
    if (known)
        return known;
    Attr *attr = new_attr(r, kind);
    attr->text = text;
    if (kind == ATTR_INTEGER)
        attr->exact = str_to_int(text, &attr->integer);
    *module_put(r->module, &r->module->words, text) = attr;
    return attr;
}

const Attr *make_int_list(MlirReader *r, Text *text, const int64_t *ints, uint32_t count) {
    Attr *attr = new_attr(r, ATTR_INTS);
    attr->text = (Str){arena_copy(&r->module->arena, text->data, text->size), text->size};
    text_free(text);
    int64_t *copy = ARENA_ARRAY(&r->module->arena, int64_t, count + 1);
    if (count)
        memcpy(copy, ints, sizeof *copy * count);
    attr->ints = copy;
    attr->count = count;
    attr->exact = true;
    return attr;
}

const Attr *make_ints(MlirReader *r, const char *type, const int64_t *ints, uint32_t count) {
    Text text = {0};
    text_addf(&text, "array<%s", type);
    for (uint32_t i = 0; i < count; i++)
        text_addf(&text, "%s%lld", i ? ", " : ": ", (long long)ints[i]);
    text_char(&text, '>');
    return make_int_list(r, &text, ints, count);
}

/* ---- Where things end, by their text alone --------------------------------------------------- */

static const char *number_end(const char *at) {
    at += *at == '-';
    if (at[0] == '0' && at[1] == 'x' && (is_class(at[2], CLASS_DIGIT) || (at[2] | 0x20) <= 'f')) {
        const char *q = at + 2;
        while (is_class(*q, CLASS_DIGIT) || ((*q | 0x20) >= 'a' && (*q | 0x20) <= 'f'))
            q++;
        if (q > at + 2)
            return q;
    }
    while (is_class(*at, CLASS_DIGIT))
        at++;
    if (*at == '.' && is_class(at[1], CLASS_DIGIT)) {
        at++;
        while (is_class(*at, CLASS_DIGIT))
            at++;
    } else if (*at == '.') {
        at++;
    }
    if ((*at | 0x20) == 'e' &&
        (is_class(at[1], CLASS_DIGIT) || ((at[1] == '+' || at[1] == '-') && is_class(at[2], CLASS_DIGIT)))) {
        at += 2;
        while (is_class(*at, CLASS_DIGIT))
            at++;
    }
    return at;
}

/* ` : type` after a number, a string or a dense value. */
static bool read_suffix_type(MlirReader *r, Attr *attr, bool typed) {
    const char *before = r->p;
    if (!typed || !take(r, ':') || *r->p == ':') {
        r->p = before;
        return true;
    }
    attr->type = read_type(r);
    return attr->type || r->failed ? attr->type != NULL : fail(r, r->p, "expected a type");
}

static const Attr *read_number(MlirReader *r, bool typed) {
    const char *start = r->p, *end = number_end(start);
    Str digits = str_between(start, end);
    if (end == start || (end == start + 1 && *start == '-')) {
        mismatch(r, "a number");
        return NULL;
    }
    bool hex = memchr(digits.data, 'x', digits.size) != NULL;
    bool real = !hex && (memchr(digits.data, '.', digits.size) || memchr(digits.data, 'e', digits.size) ||
                         memchr(digits.data, 'E', digits.size));
    r->p = end;
    if (!typed)
        return make_attr(r, real ? ATTR_FLOAT : ATTR_INTEGER, digits);
    /* Most numbers have been seen, type and all. */
    if (next_is(r, ':') && r->p[1] == ' ' && is_class(r->p[2], CLASS_LETTER)) {
        const char *word = r->p + 2;
        while (is_class(*word, CLASS_ID))
            word++;
        const Attr *known = *word == '<' ? NULL : attr_find(r->module, str_between(start, word));
        if (known) {
            r->p = word;
            return known;
        }
    }
    r->p = end;
    Attr *attr = new_attr(r, real ? ATTR_FLOAT : ATTR_INTEGER);
    if (!read_suffix_type(r, attr, typed))
        return NULL;
    const Attr *known = attr_find(r->module, str_between(start, r->p));
    if (known)
        return known;
    const Type *type = type_resolve(r->module, attr->type);
    if (type && real && (type->kind == TYPE_INTEGER || type->kind == TYPE_INDEX)) {
        fail(r, start, "%.*s is not a number of type %.*s", STR_ARG(digits), STR_ARG(type->text));
        return NULL;
    }
    if (type && type->kind == TYPE_FLOAT && !real && !hex) {
        fail(r, start, "a number of type %.*s needs a '.' in it", STR_ARG(type->text));
        return NULL;
    }
    if (type && type->kind == TYPE_FLOAT)
        attr->kind = ATTR_FLOAT; /* maybe as the bits of one, in hex */
    if (attr->kind == ATTR_INTEGER)
        attr->exact = str_to_int(digits, &attr->integer);
    if (!attr->type) /* what MLIR takes a number without a type for */
        attr->type = type_named(r->module, attr->kind == ATTR_INTEGER ? "i64" : "f64");
    return enter_attr(r, start, attr);
}

static const Attr *read_string(MlirReader *r, bool typed) {
    const char *start = r->p, *end = string_end(r, start);
    if (!end)
        return NULL;
    Attr *attr = new_attr(r, ATTR_STRING);
    r->p = end;
    if (!read_suffix_type(r, attr, typed))
        return NULL;
    const Attr *known = attr_find(r->module, str_between(start, r->p));
    return known ? known : enter_attr(r, start, attr);
}

static const Attr *read_symbol(MlirReader *r) {
    const char *start = r->p;
    for (;;) {
        if (*r->p != '@') {
            fail(r, r->p, "expected '@' and a symbol's name");
            return NULL;
        }
        r->p++;
        if (*r->p == '"') {
            const char *end = string_end(r, r->p);
            if (!end)
                return NULL;
            r->p = end;
        } else if (!take_suffix(r).size) {
            fail(r, start, "expected a symbol's name after '@'");
            return NULL;
        }
        if (r->p[0] != ':' || r->p[1] != ':')
            break;
        r->p += 2;
    }
    const Attr *known = attr_find(r->module, str_between(start, r->p));
    return known ? known : enter_attr(r, start, new_attr(r, ATTR_SYMBOL));
}

static const Attr *read_array(MlirReader *r) {
    const char *start = r->p++;
    uint32_t mark = r->attrs.count;
    if (!next_is(r, ']')) {
        do {
            const Attr *item = read_attr(r, true);
            if (!item) {
                if (!r->failed)
                    fail(r, r->p, "expected an attribute");
                return NULL;
            }
            PUSH(r, r->attrs) = item;
        } while (take(r, ','));
    }
    if (!take(r, ']')) {
        r->brackets_broken |= !r->quiet;
        fail(r, r->p, "expected ',' or ']' in a list of attributes");
        return NULL;
    }
    Attr *attr = new_attr(r, ATTR_ARRAY);
    attr->count = r->attrs.count - mark;
    attr->items = KEEP(r, r->attrs, mark);
    return enter_attr(r, start, attr);
}

/* One `key`, `key = value` of a dictionary. */
static bool read_entry(MlirReader *r, NamedAttr *entry) {
    if (next_is(r, '"')) {
        const char *end = string_end(r, r->p);
        if (!end)
            return false;
        entry->name = str_between(r->p + 1, end - 1);
        r->p = end;
    } else {
        entry->name = take_id(r);
    }
    if (!entry->name.size)
        return fail(r, r->p, "expected an attribute's name");
    if (!take(r, '=')) {
        entry->value = make_attr(r, ATTR_UNIT, (Str){"", 0});
        return true;
    }
    entry->value = read_attr(r, true);
    if (!entry->value && !r->failed)
        fail(r, r->p, "expected a value for attribute '%.*s'", STR_ARG(entry->name));
    return entry->value != NULL;
}

/* Where brackets that do not match are found by what stands in them, with a better message. */
static const char *quiet_end(MlirReader *r, const char *at) {
    bool quiet = r->quiet, failed = r->failed, broken = r->brackets_broken;
    r->quiet = true;
    const char *end = balanced_end(r, at);
    r->quiet = quiet;
    r->failed = failed;
    r->brackets_broken = broken || (!end && !quiet);
    if (r->too_deep) /* there is no better message, and no going deeper */
        fail(r, r->too_deep, "brackets nested more than %d deep", LIMIT_NESTING);
    return end;
}

/* No name may be given twice among the entries since the mark. */
static bool names_differ(MlirReader *r, uint32_t mark) {
    Map seen = {0};
    bool good = true;
    bool many = r->entries.count - mark > 16; /* few are compared pair by pair */
    for (uint32_t i = mark; good && i < r->entries.count; i++) {
        Str name = r->entries.items[i].name;
        bool again = false;
        for (uint32_t k = mark; !many && k < i; k++)
            again |= str_equal(r->entries.items[k].name, name);
        void **place = many ? map_put(&seen, name) : NULL;
        if (place) {
            again = *place != NULL;
            *place = r;
        }
        if (again) {
            const char *at = name.data[-1] == '"' ? name.data - 1 : name.data;
            good = fail(r, at, "attribute '%.*s' is given twice", STR_ARG(name));
        }
    }
    map_free(&seen);
    return good;
}

const Attr *read_dict(MlirReader *r) {
    if (!next_is(r, '{')) {
        mismatch(r, "'{'");
        return NULL;
    }
    const char *start = r->p, *end = quiet_end(r, start);
    if (r->too_deep)
        return NULL;
    const Attr *known = end ? attr_find(r->module, str_between(start, end)) : NULL;
    if (known) {
        r->p = end;
        return known;
    }
    r->p++;
    uint32_t mark = r->entries.count;
    if (!next_is(r, '}')) {
        do {
            NamedAttr entry;
            if (!read_entry(r, &entry))
                return NULL;
            PUSH(r, r->entries) = entry;
        } while (take(r, ','));
    }
    if (!take(r, '}')) {
        r->brackets_broken |= !r->quiet;
        fail(r, r->p, "expected ',' or '}' after an attribute");
        return NULL;
    }
    if (!names_differ(r, mark))
        return NULL;
    Attr *attr = new_attr(r, ATTR_DICT);
    attr->count = r->entries.count - mark;
    attr->entries = KEEP(r, r->entries, mark);
    return enter_attr(r, start, attr);
}

const Attr *read_dict_of(MlirReader *r, const Op *op) {
    if (!op->row)
        return read_dict(r);
    const Attr **guess = &r->dict_guess[op->row->id];
    skip_space(r);
    if (*guess && (*guess)->text.size <= (size_t)(r->end - r->p) &&
        bytes_equal((*guess)->text.data, r->p, (*guess)->text.size)) {
        r->p += (*guess)->text.size; /* a closed brace ends it: it can be no other */
        return *guess;
    }
    const Attr *dict = read_dict(r);
    if (dict)
        *guess = dict;
    return dict;
}

/* `#alias`, `#dialect.name`, `#dialect.name<...>`, `#dialect<...>` */
static const Attr *read_hash(MlirReader *r) {
    const char *start = r->p++;
    Str name = take_suffix(r);
    if (!name.size || is_class(*name.data, CLASS_DIGIT)) {
        fail(r, start, "expected an attribute's name after '#'");
        return NULL;
    }
    const char *body = r->p, *end = body;
    if (*body == '<' && !(end = balanced_end(r, body)))
        return NULL;
    r->p = end;
    const Attr *known = attr_find(r->module, str_between(start, end));
    if (known)
        return known;
    bool dialect = end > body || memchr(name.data, '.', name.size);
    Attr *attr = new_attr(r, dialect ? ATTR_DIALECT : ATTR_ALIAS);
    attr->name = name;
    if (end > body)
        attr->body = str_between(body + 1, end - 1);
    return enter_attr(r, start, attr);
}

/* array<i32: 0, 1> */
static void read_dense_array(MlirReader *r, Attr *attr, const char *open, const char *end) {
    const char *at = memchr(open, ':', (size_t)(end - open));
    r->p = open + 1;
    attr->type = read_type(r); /* of the elements */
    attr->kind = ATTR_INTS;
    attr->exact = true;
    uint32_t mark = r->ints.count;
    r->p = at ? at + 1 : end - 1;
    while (r->p < end - 1) {
        int64_t value = 0;
        if (take_text(r, STR("true")))
            value = 1;
        else if (!take_text(r, STR("false")) && !take_number(r, &value)) {
            if (attr->type && attr->type->kind == TYPE_INTEGER) {
                fail(r, r->p, "expected a number");
                return;
            }
            attr->exact = false; /* floats keep only their text */
            break;
        }
        PUSH(r, r->ints) = value;
        if (!take(r, ','))
            break;
    }
    attr->count = r->ints.count - mark;
    attr->ints = KEEP(r, r->ints, mark);
}

/* A word: true, unit, dense<...>, affine_map<...>, loc(...), a type. */
static const Attr *read_worded(MlirReader *r, bool typed) {
    static const struct {
        const char *word;
        AttrKind kind;
    } heads[] = {{"array", ATTR_INTS},    {"dense", ATTR_DENSE},      {"dense_resource", ATTR_DENSE},
                 {"sparse", ATTR_DENSE},  {"affine_map", ATTR_OTHER}, {"affine_set", ATTR_OTHER},
                 {"strided", ATTR_OTHER}, {"opaque", ATTR_OTHER}};
    const char *start = r->p;
    if (location_follows(r))
        return read_location(r);
    Str word = take_id(r);
    const char *open = r->p;
    if (str_is(word, "true") || str_is(word, "false") || str_is(word, "unit")) {
        const Attr *known = attr_find(r->module, word);
        if (known && known->kind != ATTR_KEYWORD)
            return known;
        Attr *attr = new_attr(r, word.data[0] == 'u' ? ATTR_UNIT : ATTR_BOOL);
        attr->integer = word.data[0] == 't';
        attr->exact = true;
        if (attr->kind == ATTR_BOOL)
            attr->type = type_named(r->module, "i1");
        return enter_attr(r, start, attr);
    }
    if (str_is(word, "distinct") && *open == '[') { /* distinct[0]<...> */
        const char *end = balanced_end(r, open);
        if (end && *end == '<')
            end = balanced_end(r, end);
        if (!end)
            return NULL;
        r->p = end;
        return enter_attr(r, start, new_attr(r, ATTR_OTHER));
    }
    for (size_t i = 0; *open == '<' && i < sizeof heads / sizeof *heads; i++) {
        if (!str_is(word, heads[i].word))
            continue;
        const char *end = balanced_end(r, open);
        if (!end)
            return NULL;
        Attr *attr = new_attr(r, heads[i].kind);
        if (attr->kind == ATTR_INTS) {
            read_dense_array(r, attr, open, end);
            if (r->failed)
                return NULL;
        }
        r->p = end;
        attr->body = str_between(open + 1, end - 1);
        if (attr->kind == ATTR_DENSE && !read_suffix_type(r, attr, typed))
            return NULL;
        if (attr->kind == ATTR_DENSE && typed && !attr->type) {
            fail(r, r->p, "expected ':' and a type");
            return NULL;
        }
        const Attr *known = attr_find(r->module, str_between(start, r->p));
        return known ? known : enter_attr(r, start, attr);
    }
    r->p = start;
    return NULL;
}

const Attr *read_attr(MlirReader *r, bool typed) {
    skip_space(r);
    const char *start = r->p;
    switch (*start) {
    case '"':
        return read_string(r, typed);
    case '{':
        return read_dict(r);
    case '[': {
        const char *end = quiet_end(r, start);
        if (r->too_deep)
            return NULL;
        const Attr *known = end ? attr_find(r->module, str_between(start, end)) : NULL;
        if (known && known->kind == ATTR_ARRAY) {
            r->p = end;
            return known;
        }
        return read_array(r);
    }
    case '#':
        return read_hash(r);
    case '@':
        return read_symbol(r);
    default:
        break;
    }
    if (*start == '-' || is_class(*start, CLASS_DIGIT))
        return read_number(r, typed);
    if (is_class(*start, CLASS_LETTER)) {
        const Attr *attr = read_worded(r, typed);
        if (attr || r->failed)
            return attr;
    }
    const Type *type = read_type(r);
    if (!type)
        return NULL;
    const Attr *known = attr_find(r->module, str_between(start, r->p));
    if (known && known->kind == ATTR_TYPE)
        return known;
    Attr *attr = new_attr(r, ATTR_TYPE);
    attr->type = type;
    return enter_attr(r, start, attr);
}

/* ---- Attributes where a format names them ---------------------------------------------------- */

/* "one of eq, ne, ..." for messages. */
static const char *words_of(MlirReader *r, const EnumRow *row) {
    Text text = {0};
    text_str(&text, STR("one of "));
    for (const char *at = row->words; *at; at++) {
        if (*at == '=')
            at += strcspn(at, " ");
        if (*at == ' ')
            text_str(&text, STR(", "));
        else if (*at)
            text_char(&text, *at);
        else
            break;
    }
    const char *kept = arena_copy(&r->module->arena, text.data, text.size);
    text_free(&text);
    return kept;
}

/* A keyword, which may also be written as a string. */
static Str take_word(MlirReader *r) {
    if (!next_is(r, '"'))
        return take_id(r);
    const char *start = r->p + 1, *close = memchr(start, '"', (size_t)(r->end - start));
    if (!close)
        return (Str){0};
    r->p = close + 1;
    return str_between(start, close);
}

bool attr_may_start(MlirReader *r, const Slot *slot) {
    skip_space(r);
    char c = *r->p;
    switch (slot->syntax) {
    case SYNTAX_INT:
    case SYNTAX_REAL:
        return c == '-' || is_class(c, CLASS_DIGIT);
    case SYNTAX_STRING:
    case SYNTAX_QUOTED:
        return c == '"';
    case SYNTAX_SYMBOL:
    case SYNTAX_SYMBOL_NAME:
        return c == '@';
    case SYNTAX_INTS:
        return c == '[';
    case SYNTAX_BOOL:
        return next_is_text(r, STR("true")) || next_is_text(r, STR("false"));
    case SYNTAX_ENUM:
    case SYNTAX_FLAGS: {
        const char *start = r->p;
        int64_t value;
        Str word = take_word(r);
        r->p = start;
        return word.size && enum_value(slot->enumeration, word, &value);
    }
    case SYNTAX_UNIT:
        return true;
    case SYNTAX_ANY:
        return c && !strchr("%,:^)]>=", c);
    }
    return false;
}

static const Attr *read_bracketed_ints(MlirReader *r) {
    const char *start = r->p;
    if (!take(r, '[')) {
        mismatch(r, "'['");
        return NULL;
    }
    uint32_t mark = r->ints.count;
    while (!next_is(r, ']')) {
        int64_t value;
        if (!take_number(r, &value)) {
            r->ints.count = mark;
            mismatch(r, "a number");
            return NULL;
        }
        PUSH(r, r->ints) = value;
        if (!take(r, ','))
            break;
    }
    uint32_t count = r->ints.count - mark;
    const int64_t *ints = KEEP(r, r->ints, mark);
    if (!take(r, ']')) {
        mismatch(r, "']'");
        return NULL;
    }
    Attr *attr = new_attr(r, ATTR_INTS); /* not entered: `[0, 1]` elsewhere is a list of attributes */
    attr->text = tidy(r, str_between(start, r->p));
    attr->exact = true;
    attr->count = count;
    attr->ints = ints;
    return attr;
}

/* A word of an enumeration, or several joined by '|' or ','. */
static const Attr *read_words(MlirReader *r, const Slot *slot) {
    const char *start = r->p, *end; /* which is before the space that looking for another word skips */
    do {
        skip_space(r);
        const char *at = r->p;
        int64_t value;
        if (!enum_value(slot->enumeration, take_word(r), &value)) {
            r->p = at;
            mismatch(r, words_of(r, slot->enumeration));
            return NULL;
        }
        end = r->p;
    } while (slot->syntax == SYNTAX_FLAGS && (take(r, '|') || take(r, ',')));
    return make_attr(r, ATTR_KEYWORD, tidy(r, str_between(start, end)));
}

const Attr *read_attr_for(MlirReader *r, const Slot *slot) {
    if (!attr_may_start(r, slot)) {
        mismatch(r, slot->syntax == SYNTAX_ENUM || slot->syntax == SYNTAX_FLAGS ? words_of(r, slot->enumeration)
                                                                                : "an attribute");
        return NULL;
    }
    switch (slot->syntax) {
    case SYNTAX_INT:
    case SYNTAX_REAL:
        return read_number(r, false);
    case SYNTAX_BOOL:
        return read_worded(r, false);
    case SYNTAX_STRING:
    case SYNTAX_QUOTED:
        return read_string(r, false);
    case SYNTAX_SYMBOL:
    case SYNTAX_SYMBOL_NAME:
        return read_symbol(r);
    case SYNTAX_UNIT:
        return make_attr(r, ATTR_UNIT, (Str){"", 0});
    case SYNTAX_INTS:
        return read_bracketed_ints(r);
    case SYNTAX_ENUM:
    case SYNTAX_FLAGS:
        return read_words(r, slot);
    case SYNTAX_ANY:
        return read_attr(r, true);
    }
    return NULL;
}
