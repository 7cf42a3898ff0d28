/* TOML, as far as project files need it, and strictly: tables, arrays of tables, inline tables, dotted keys, strings of
 * all four kinds, integers, booleans, arrays and comments.
 *
 * What TOML has beyond that, floating-point numbers and dates, is an error that says so, as is a zero byte in a string,
 * since strings become those of C. The first fault ends the reading. */
#ifndef CONFIG_TOML_H
#define CONFIG_TOML_H

#include "base/diagnostics.h"

/* What a file may hold: enough for any project, too little to take long or much. */
enum { TOML_LARGEST = 1 << 20, TOML_MOST_ENTRIES = 10000, TOML_DEEPEST = 32 };

typedef enum TomlKind { TOML_STRING, TOML_INTEGER, TOML_BOOLEAN, TOML_ARRAY, TOML_TABLE } TomlKind;

typedef struct TomlEntry TomlEntry;

/* How a table came about, which says what may still be added to it. */
typedef enum TomlOrigin {
    TOML_IMPLIED, /* by a header further down, [a.b]: it may still have a header of its own */
    TOML_HEADER,  /* by its own header, or it is an element of an array of tables */
    TOML_DOTTED,  /* by a dotted key: other dotted keys of the same table may add to it */
    TOML_INLINE,  /* in braces: nothing may */
} TomlOrigin;

typedef struct TomlValue {
    TomlKind kind;
    size_t offset; /* where it stands in the source; of a table, its header or its first key */
    Str text;      /* of a string; a zero byte follows it */
    int64_t integer;
    bool truth;
    TomlEntry *first, *last; /* members of a table, elements of an array, in their order */
    size_t count;
    TomlOrigin origin; /* of a table */
    bool of_tables;    /* an array that [[headers]] make */
} TomlValue;

struct TomlEntry {
    Str key;           /* empty in an array */
    size_t key_offset; /* where it stands */
    TomlValue value;
    TomlEntry *next;
};

/* The file's table; NULL, with what is wrong in the diagnostics. The arena must be able to take it (arena.h). */
const TomlValue *toml_read(Arena *arena, Source *source, Diagnostics *diagnostics);

/* "a string", "an array". */
const char *toml_kind_name(TomlKind kind);

#endif
