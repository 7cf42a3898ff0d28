/* What the files that read launches share: the JSON with its places, in pieces. */
#ifndef EXPLORE_LAUNCH_LAUNCH_READING_H
#define EXPLORE_LAUNCH_LAUNCH_READING_H

#include "explore/launch/launch_internal.h"

#include <jansson.h>

enum { LAUNCH_LONGEST_PATH = 32 };

typedef struct Reading {
    Arena *arena;
    Source *source;
    Diagnostics *diagnostics;
    json_t *root;
    size_t path[LAUNCH_LONGEST_PATH]; /* to the value being read: positions among the members or items */
    size_t depth;
    unsigned nested; /* arguments within arguments */
    bool threads;    /* it says how many: it is a launch of PTX */
} Reading;

/* ---- launch_json.c ---- */
/* The whole of it; NULL: it is none, or too large. */
json_t *reading_parse(const Reading *reading);
/* Reports what is wrong with the value being read; returns false. */
bool reading_fail(const Reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a string, from that character on. */
bool reading_fail_in(const Reading *reading, size_t inside, const char *problem);
/* Down to a member; NULL, and nowhere, if there is none. And up again. */
json_t *reading_enter(Reading *reading, json_t *object, const char *name);
static inline void reading_leave(Reading *reading) {
    reading->depth--;
}
/* A member that means nothing is a slip of the finger, and silence about it would make another launch of this one. What
 * begins with x- is the writer's own, and so is `from`, who made the file. */
bool reading_has_only(Reading *reading, json_t *object, const char *keys);
/* Names all that a template leaves open and nothing has filled in. The writer's own keys may hold anything. */
bool reading_is_filled(Reading *reading, json_t *value, const char *name);
bool reading_integers(Reading *reading, json_t *list, const char *name, int64_t low, int64_t high,
                      int64_t values[ARGUMENT_MOST_DIMS]);
/* Members of that key; nothing happens if there is none. */
bool reading_name(Reading *reading, json_t *object, const char *key, Str *name);
bool reading_flag(Reading *reading, json_t *object, const char *key, bool *flag);
bool reading_number(Reading *reading, json_t *object, const char *key, int64_t high, int64_t *number);
/* Bytes as a text of two hexadecimal digits each, blanks between them as one likes. */
bool reading_hex(Reading *reading, const char *text, const uint8_t **bytes, size_t *count);

/* ---- launch_types.c ---- */
/* The type of that name; 0 bits: there is none. */
uint16_t element_named(const char *name, NumberKind *kind);

/* ---- launch_memory.c ---- */
/* What follows "tensor" or "descriptor", which is its kind. */
bool reading_memory(Reading *reading, json_t *memory, Argument *argument, const char *kind);

/* ---- launch_read.c ---- */
bool reading_argument(Reading *reading, json_t *value, Argument *argument);
/* {"8": argument, ...}: pointers and tensor maps in the bytes of another one. */
bool reading_parts(Reading *reading, json_t *object, Argument *argument);

#endif
