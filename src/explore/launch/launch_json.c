/* Launch files: their JSON.
 *
 * Jansson takes the JSON apart and keeps no places, so where a value stands is found again when there is something to
 * say about it: the path to a value is the positions of its ancestors, and the n-th member of one of Jansson's objects
 * is the n-th in the text, since Jansson keeps their order and no key may come twice. The first fault ends the
 * reading. */
#include "explore/launch/launch_reading.h"

#include <ctype.h>
#include <inttypes.h>

/* What a file may hold. Jansson takes 40 bytes for a number and 300 for an object, so these keep it to about 1 GB. */
enum {
    LARGEST_FILE = 64 << 20,
    MOST_VALUES = 16 << 20,
    MOST_BRACKETS = 64 << 10,
    MOST_NESTED = 64,
};

/* ---- Places ------------------------------------------------------------------------------------- */

static const char *skip_blank(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

/* The JSON is known to be right, so brackets need only be counted. */
static const char *skip_value(const char *at, const char *end) {
    if (*at == '"')
        return skip_string(at, end);
    if (*at != '{' && *at != '[')
        return at + strcspn(at, ",]} \t\r\n");
    size_t open = 0;
    do {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (*at == '{' || *at == '[')
            open++;
        else if (*at == '}' || *at == ']')
            open--;
        at++;
    } while (open);
    return at;
}

static size_t offset_of_value(const Reading *reading) {
    const char *end = reading->source->data + reading->source->size;
    const char *at = skip_blank(reading->source->data);
    for (size_t i = 0; i < reading->depth; i++) {
        bool object = *at == '{';
        for (size_t left = reading->path[i] + 1; left; left--) {
            at = skip_blank(at + 1); /* past the bracket, or the comma */
            if (object)
                at = skip_blank(skip_blank(skip_string(at, end)) + 1);
            if (left > 1)
                at = skip_blank(skip_value(at, end));
        }
    }
    return (size_t)(at - reading->source->data);
}

bool reading_fail(const Reading *reading, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(reading->diagnostics, SEVERITY_ERROR, reading->source, offset_of_value(reading), format,
                     arguments);
    va_end(arguments);
    return false;
}

bool reading_fail_in(const Reading *reading, size_t inside, const char *problem) {
    diagnostics_add(reading->diagnostics, SEVERITY_ERROR, reading->source, offset_of_value(reading) + 1 + inside, "%s",
                    problem);
    return false;
}

json_t *reading_enter(Reading *reading, json_t *object, const char *name) {
    const char *key;
    json_t *value;
    size_t position = 0;
    json_object_foreach(object, key, value) {
        if (strcmp(key, name) == 0) {
            reading->path[reading->depth++] = position;
            return value;
        }
        position++;
    }
    return NULL;
}

bool reading_has_only(Reading *reading, json_t *object, const char *keys) {
    const char *key;
    json_t *value;
    size_t position = 0;
    json_object_foreach(object, key, value) {
        bool known = strcmp(key, "from") == 0 || strncmp(key, "x-", 2) == 0;
        for (const char *at = keys; !known && *at;)
            known = str_is(str_next_word(&at), key);
        if (!known) {
            reading->path[reading->depth++] = position;
            return reading_fail(reading, "there is no '%s' here; there is: %s", key, keys);
        }
        position++;
    }
    return true;
}

/* ---- From text to Jansson ----------------------------------------------------------------------- */

/* Looks for what would make Jansson take too much memory. */
static bool is_within_limits(const Reading *reading) {
    Source *source = reading->source;
    const char *at = source->data, *end = at + source->size, *problem = NULL;
    if (source->size > LARGEST_FILE) {
        diagnostics_add(reading->diagnostics, SEVERITY_ERROR, source, 0, "a launch file has at most %d bytes",
                        LARGEST_FILE);
        return false;
    }
    size_t values = 1, brackets = 0, open = 0;
    int most = 0;
    while (at < end) {
        switch (*at) {
        case '"':
            at = skip_string(at, end);
            continue;
        case ',':
            if (++values > MOST_VALUES)
                problem = "values", most = MOST_VALUES;
            break;
        case '[':
        case '{':
            if (++brackets > MOST_BRACKETS)
                problem = "lists and objects", most = MOST_BRACKETS;
            if (++open > MOST_NESTED)
                problem = "nested lists and objects", most = MOST_NESTED;
            break;
        case ']':
        case '}':
            if (open)
                open--;
            break;
        default:
            break;
        }
        if (problem) {
            diagnostics_add(reading->diagnostics, SEVERITY_ERROR, source, (size_t)(at - source->data),
                            "a launch file has at most %d %s", most, problem);
            return false;
        }
        at++;
    }
    return true;
}

/* Jansson's position is the end of the token that it says it is near. With a caret under it, the token itself need not
 * be named. */
static void report_syntax(const Reading *reading, json_error_t *error) {
    size_t offset = error->position < 0 ? 0 : (size_t)error->position;
    size_t back = offset < reading->source->size ? 1 : 0; /* into a token that is too long for Jansson to name */
    char *near = strstr(error->text, " near '");
    if (near) {
        back = strlen(near) - strlen(" near ''");
        *near = 0;
    }
    diagnostics_add(reading->diagnostics, SEVERITY_ERROR, reading->source, back < offset ? offset - back : 0,
                    "this is not JSON: %s", error->text);
}

/* An unsigned integer that has no signed one of its value. */
bool parse_large_unsigned(Str s, int64_t *same_bits) {
    if (s.size < 19 || s.size > 20 || s.data[0] == '0')
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.size; i++)
        if (s.data[i] < '0' || s.data[i] > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.data[i] - '0'), &value))
            return false;
    *same_bits = (int64_t)value;
    return value > INT64_MAX;
}

/* Jansson has signed integers only, so it gets those of the same bits for the larger unsigned ones. Writes `until`
 * bytes of such a text, or a few more, and returns how far in the source they reach. */
static size_t wrap_unsigned(const Source *source, size_t until, Text *to) {
    const char *at = source->data, *end = at + source->size;
    while (at < end && to->size < until && !to->failed) {
        size_t number = strspn(at, "+-.0123456789eE");
        const char *next = *at == '"' ? skip_string(at, end) : at + (number ? number : 1);
        int64_t same_bits;
        if (parse_large_unsigned(str_between(at, next), &same_bits))
            text_addf(to, "%" PRId64, same_bits);
        else
            text_str(to, str_between(at, next));
        at = next;
    }
    return (size_t)(at - source->data) - (to->size > until ? to->size - until : 0);
}

json_t *reading_parse(const Reading *reading) {
    const Source *source = reading->source;
    if (!is_within_limits(reading))
        return NULL;
    json_error_t error;
    json_t *root = json_loadb(source->data, source->size, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_numeric_overflow) {
        Text wrapped = {0}, before = {0};
        wrap_unsigned(source, SIZE_MAX, &wrapped);
        root = json_loadb(wrapped.data, wrapped.size, JSON_REJECT_DUPLICATES, &error);
        if (!root && error.position > 0)
            error.position = (int)wrap_unsigned(source, (size_t)error.position, &before);
        text_free(&wrapped);
        text_free(&before);
    }
    if (!root)
        report_syntax(reading, &error);
    return root;
}

/* ---- Values ------------------------------------------------------------------------------------- */

bool reading_is_filled(Reading *reading, json_t *value, const char *name) {
    const char *key;
    json_t *member;
    size_t position = 0, index;
    bool filled = true;
    if (json_is_null(value))
        return reading_fail(reading, "'%s' must still be filled in", name);
    if (reading->depth == LAUNCH_LONGEST_PATH)
        return true; /* nothing that is read is as far in */
    json_object_foreach(value, key, member) {
        reading->path[reading->depth++] = position++;
        filled &= strcmp(key, "from") == 0 || strncmp(key, "x-", 2) == 0 || reading_is_filled(reading, member, key);
        reading_leave(reading);
    }
    json_array_foreach(value, index, member) {
        reading->path[reading->depth++] = index;
        bool good = reading_is_filled(reading, member, name);
        reading_leave(reading);
        if (!good)
            return false; /* the list is told of once */
    }
    return filled;
}

bool reading_integers(Reading *reading, json_t *list, const char *name, int64_t low, int64_t high,
                      int64_t values[ARGUMENT_MOST_DIMS]) {
    if (!json_is_array(list) || json_array_size(list) > ARGUMENT_MOST_DIMS)
        return reading_fail(reading, "'%s' must be a list of at most %d integers", name, ARGUMENT_MOST_DIMS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        values[i] = json_integer_value(item);
        if (!json_is_integer(item) || values[i] < low || values[i] > high) {
            reading->path[reading->depth++] = i;
            return reading_fail(reading, "'%s' must have integers from %" PRId64 " to %" PRId64, name, low, high);
        }
    }
    return true;
}

bool reading_name(Reading *reading, json_t *object, const char *key, Str *name) {
    json_t *value = reading_enter(reading, object, key);
    if (!value)
        return true;
    if (!json_is_string(value) || !json_string_length(value))
        return reading_fail(reading, "'%s' must be a name in quotes", key);
    *name = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
    reading_leave(reading);
    return true;
}

bool reading_flag(Reading *reading, json_t *object, const char *key, bool *flag) {
    json_t *value = reading_enter(reading, object, key);
    if (!value)
        return true;
    if (!json_is_boolean(value))
        return reading_fail(reading, "'%s' must be true or false", key);
    *flag = json_is_true(value);
    reading_leave(reading);
    return true;
}

bool reading_number(Reading *reading, json_t *object, const char *key, int64_t high, int64_t *number) {
    json_t *value = reading_enter(reading, object, key);
    if (!value)
        return true;
    *number = json_integer_value(value);
    if (!json_is_integer(value) || *number < 0 || *number > high)
        return reading_fail(reading, "'%s' must be an integer from 0 to %" PRId64, key, high);
    reading_leave(reading);
    return true;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

bool reading_hex(Reading *reading, const char *text, const uint8_t **bytes, size_t *count) {
    uint8_t *room = ARENA_ARRAY(reading->arena, uint8_t, strlen(text) / 2 + 1);
    *bytes = room;
    for (*count = 0; *text; text += 2, ++*count) {
        text += strspn(text, " \t\r\n");
        if (!*text)
            break;
        int high = digit_of(text[0]), low = high < 0 ? -1 : digit_of(text[1]);
        if (low < 0)
            return reading_fail(reading, "bytes are pairs of hexadecimal digits");
        room[*count] = (uint8_t)(high << 4 | low);
    }
    return true;
}
