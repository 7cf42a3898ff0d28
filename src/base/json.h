/* Writing JSON, as it comes.
 *
 *     Json json = {.to = &text};
 *     json_begin(&json, NULL);
 *     json_text(&json, "tool", "weir");
 *     json_begin_list(&json, "lines");
 *     json_number(&json, NULL, 12);
 *     json_end_list(&json);
 *     json_end(&json);
 *
 * gives {"tool": "weir", "lines": [12]}. Members of an object have a key, elements of a list NULL. Commas are the
 * writer's; where a line ends is json_line's. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/text.h"

typedef struct Json {
    Text *to;
    bool in_page; /* no spaces; a text that may stand in a <script> of a page, and shows nothing that it is not */
    bool more;    /* something stands before the next in its object or list */
    bool line;    /* the next is on a line of its own, */
    int indent;   /* so far in */
    Str key;      /* of the next, where json_key has said it */
} Json;

/* The next member or element is on a line of its own. */
void json_line(Json *json, int indent);

void json_begin(Json *json, const char *key);
void json_end(Json *json);
void json_begin_list(Json *json, const char *key);
void json_end_list(Json *json);

/* NULL is written as "". */
void json_text(Json *json, const char *key, const char *text);
void json_str(Json *json, const char *key, Str text);
/* All that was put together there, which is then freed. */
void json_take(Json *json, const char *key, Text *text);
void json_number(Json *json, const char *key, uint64_t number);
void json_signed(Json *json, const char *key, int64_t number);
void json_integers(Json *json, const char *key, const int64_t *numbers, size_t count);
void json_truth(Json *json, const char *key, bool truth);
void json_nothing(Json *json, const char *key);
void json_float(Json *json, const char *key, double number);
/* The key of the next, which is written without one: it need not end in a zero byte, and is good until then. */
void json_key(Json *json, Str key);

/* ---- Structures ----
 *
 * What becomes of a structure is a table of its fields, in the order in which they are written, up to one without a
 * key:
 *
 *     static const JsonField place_fields[] = {JSON(Place, line), JSON_AT(3, Place, column), {0}};
 */
typedef enum JsonFieldKind {
    FIELD_TEXT, /* const char * */
    FIELD_TEXTS,
    FIELD_TRUTH,
    FIELD_INT,
    FIELD_INT64,
    FIELD_UINT32,
    FIELD_UINT64,
    FIELD_OBJECT,  /* a structure */
    FIELD_MEMBERS, /* one whose members are written as if they were the outer one's own */
    FIELD_LIST,    /* many */
    FIELD_WRITTEN, /* by a function, which is given the whole structure */
} JsonFieldKind;

typedef struct JsonField JsonField;
struct JsonField {
    const char *key;
    JsonFieldKind kind;
    bool known;                        /* -1 says that it is not: null */
    int indent;                        /* of a line of its own; 0: it follows what is before it */
    int each;                          /* the same for the elements of a list */
    size_t offset, count_offset, size; /* of an element */
    const JsonField *fields;           /* of what is within */
    void (*write)(Json *json, const char *key, const void *object);
};

#define JSON_KIND(type, field) \
    _Generic(((type *)0)->field,               \
             const char *: FIELD_TEXT,         \
             const char *const *: FIELD_TEXTS, \
             bool: FIELD_TRUTH,                \
             int: FIELD_INT,                   \
             int64_t: FIELD_INT64,             \
             uint32_t: FIELD_UINT32,           \
             uint64_t: FIELD_UINT64)
#define JSON_PLAIN(type, field) .kind = JSON_KIND(type, field), .offset = offsetof(type, field)
#define JSON_MANY(type, field, number) \
    .offset = offsetof(type, field), .count_offset = offsetof(type, number), .size = sizeof *((type *)0)->field

/* The same for each of up to eight fields. */
#define JSON_1(one, type, field)                   one(type, field)
#define JSON_2(one, type, field, ...)              one(type, field), JSON_1(one, type, __VA_ARGS__)
#define JSON_3(one, type, field, ...)              one(type, field), JSON_2(one, type, __VA_ARGS__)
#define JSON_4(one, type, field, ...)              one(type, field), JSON_3(one, type, __VA_ARGS__)
#define JSON_5(one, type, field, ...)              one(type, field), JSON_4(one, type, __VA_ARGS__)
#define JSON_6(one, type, field, ...)              one(type, field), JSON_5(one, type, __VA_ARGS__)
#define JSON_7(one, type, field, ...)              one(type, field), JSON_6(one, type, __VA_ARGS__)
#define JSON_8(one, type, field, ...)              one(type, field), JSON_7(one, type, __VA_ARGS__)
#define JSON_NTH(a, b, c, d, e, f, g, h, nth, ...) nth
#define JSON_ALL(one, type, ...)                                                            \
    JSON_NTH(__VA_ARGS__, JSON_8, JSON_7, JSON_6, JSON_5, JSON_4, JSON_3, JSON_2, JSON_1, ) \
    (one, type, __VA_ARGS__)
#define JSON_FIELD(type, field) \
    { .key = #field, JSON_PLAIN(type, field) }
#define JSON_KNOWN_FIELD(type, field) \
    { .key = #field, .known = true, JSON_PLAIN(type, field) }

/* Fields of plain types; those of which -1 says that they are not known. */
#define JSON(type, ...)       JSON_ALL(JSON_FIELD, type, __VA_ARGS__)
#define JSON_KNOWN(type, ...) JSON_ALL(JSON_KNOWN_FIELD, type, __VA_ARGS__)
/* A field on a line of its own; under another name. */
#define JSON_AT(line, type, field) \
    { .key = #field, .indent = line, JSON_PLAIN(type, field) }
#define JSON_NAMED(name, type, field) \
    { .key = name, JSON_PLAIN(type, field) }
#define JSON_BY(line, name, function) \
    { .key = name, .kind = FIELD_WRITTEN, .indent = line, .write = function }
#define JSON_MEMBERS(type, field, of) \
    { .key = #field, .kind = FIELD_MEMBERS, .offset = offsetof(type, field), .fields = of }
#define JSON_WITHIN(line, type, field, of) \
    { .key = #field, .kind = FIELD_OBJECT, .indent = line, .offset = offsetof(type, field), .fields = of }
/* Fields of the structure itself, as an object within it. */
#define JSON_GROUP(line, name, of) \
    { .key = name, .kind = FIELD_OBJECT, .indent = line, .fields = of }
/* Lists, with what counts their elements. */
#define JSON_TEXTS(line, separate, type, field, number) \
    { .key = #field, .kind = FIELD_TEXTS, .indent = line, .each = separate, JSON_MANY(type, field, number) }
#define JSON_LIST(line, separate, name, type, field, number, of) \
    { .key = name, .kind = FIELD_LIST, .indent = line, .each = separate, .fields = of, JSON_MANY(type, field, number) }

/* The members of an object, or an object that has them. */
void json_members(Json *json, const JsonField *fields, const void *object);
void json_object_of(Json *json, const char *key, const JsonField *fields, const void *object);

/* A number with a point or an exponent, and the fewest digits that give it again: 0.1, not 0.10000000000000001. */
void json_add_float(Text *to, double number);

#endif
