/* JSON, member after member. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes that are no UTF-8 become U+FFFD each. */
static void add_string(const Json *json, Str text) {
    Text *to = json->to;
    text_char(to, '"');
    for (size_t i = 0, size; i < text.size; i += size ? size : 1) {
        char c = text.data[i];
        uint32_t character = 0;
        size = utf8_size((Str){text.data + i, text.size - i}, &character);
        bool markup = json->in_page && c && strchr("<>&'\n\t", c);
        if (!size || (json->in_page && utf8_deceives(character)))
            text_str(to, STR("\xef\xbf\xbd"));
        else if (c == '"' || c == '\\')
            text_addf(to, "\\%c", c);
        else if (c == '\n' && !markup)
            text_str(to, STR("\\n"));
        else if (markup || character < 0x20 || character == 0x7f)
            text_addf(to, "\\u%04x", (unsigned)character);
        else
            text_add(to, text.data + i, size);
    }
    text_char(to, '"');
}

void json_line(Json *json, int indent) {
    json->line = true;
    json->indent = indent;
}

static void start(Json *json, const char *key) {
    Str name = key ? str_of(key) : json->key;
    if (json->more)
        text_char(json->to, ',');
    if (json->line)
        text_addf(json->to, "\n%*s", json->indent, "");
    else if (json->more && !json->in_page)
        text_char(json->to, ' ');
    json->more = true;
    json->line = false;
    json->key = (Str){0};
    if (!name.data)
        return;
    add_string(json, name);
    text_str(json->to, json->in_page ? STR(":") : STR(": "));
}

void json_key(Json *json, Str key) {
    json->key = key.data ? key : STR("");
}

static void begin(Json *json, const char *key, char bracket) {
    start(json, key);
    text_char(json->to, bracket);
    json->more = false;
}

static void end(Json *json, char bracket) {
    text_char(json->to, bracket);
    json->more = true;
    json->line = false;
}

void json_begin(Json *json, const char *key) {
    begin(json, key, '{');
}

void json_end(Json *json) {
    end(json, '}');
}

void json_begin_list(Json *json, const char *key) {
    begin(json, key, '[');
}

void json_end_list(Json *json) {
    end(json, ']');
}

void json_str(Json *json, const char *key, Str text) {
    start(json, key);
    add_string(json, text);
}

void json_text(Json *json, const char *key, const char *text) {
    json_str(json, key, str_of(text ? text : ""));
}

void json_take(Json *json, const char *key, Text *text) {
    json_str(json, key, (Str){text->data, text->size});
    json->to->failed |= text->failed;
    text_free(text);
}

/* Tensors have millions of them. */
static void add_digits(Text *to, uint64_t number, bool negative) {
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    if (negative)
        digits[--at] = '-';
    text_str(to, (Str){digits + at, sizeof digits - at});
}

void json_number(Json *json, const char *key, uint64_t number) {
    start(json, key);
    add_digits(json->to, number, false);
}

void json_signed(Json *json, const char *key, int64_t number) {
    start(json, key);
    add_digits(json->to, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0);
}

void json_integers(Json *json, const char *key, const int64_t *numbers, size_t count) {
    json_begin_list(json, key);
    for (size_t i = 0; i < count; i++)
        json_signed(json, NULL, numbers[i]);
    json_end_list(json);
}

void json_truth(Json *json, const char *key, bool truth) {
    start(json, key);
    text_addf(json->to, "%s", truth ? "true" : "false");
}

void json_nothing(Json *json, const char *key) {
    start(json, key);
    text_str(json->to, STR("null"));
}

void json_float(Json *json, const char *key, double number) {
    start(json, key);
    json_add_float(json->to, number);
}

/* As few digits as will do, but a point or an exponent, whose plus and zeros are left out. */
void json_add_float(Text *to, double number) {
    char digits[32];
    if (!isfinite(number)) {
        to->failed = true;
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    size_t mantissa = strcspn(digits, "e");
    text_add(to, digits, mantissa);
    if (!digits[mantissa]) {
        text_addf(to, "%s", strchr(digits, '.') ? "" : ".0");
        return;
    }
    const char *exponent = digits + mantissa + 1;
    bool negative = *exponent == '-';
    text_addf(to, "e%s%s", negative ? "-" : "", exponent + negative + strspn(exponent + negative, "+0"));
}

/* ---- Structures -------------------------------------------------------------------------------- */

static void add_list(Json *json, const JsonField *field, const void *object) {
    const void *elements = *(const void *const *)((const char *)object + field->offset);
    size_t count = *(const size_t *)((const char *)object + field->count_offset);
    json_begin_list(json, field->key);
    for (size_t i = 0; i < count; i++) {
        const char *element = (const char *)elements + i * field->size;
        if (field->each)
            json_line(json, field->each);
        if (field->kind == FIELD_TEXTS)
            json_text(json, NULL, *(const char *const *)element);
        else
            json_object_of(json, NULL, field->fields, element);
    }
    json_end_list(json);
}

static void add_integer(Json *json, const JsonField *field, const char *at) {
    int64_t number = field->kind == FIELD_INT ? *(const int *)at : *(const int64_t *)at;
    if (field->known && number == -1)
        json_nothing(json, field->key);
    else
        json_signed(json, field->key, number);
}

static void add_field(Json *json, const JsonField *field, const void *object) {
    const char *at = (const char *)object + field->offset;
    if (field->indent)
        json_line(json, field->indent);
    if (field->kind == FIELD_TEXT)
        json_text(json, field->key, *(const char *const *)at);
    else if (field->kind == FIELD_TRUTH)
        json_truth(json, field->key, *(const bool *)at);
    else if (field->kind == FIELD_INT || field->kind == FIELD_INT64)
        add_integer(json, field, at);
    else if (field->kind == FIELD_UINT32)
        json_number(json, field->key, *(const uint32_t *)at);
    else if (field->kind == FIELD_UINT64)
        json_number(json, field->key, *(const uint64_t *)at);
    else if (field->kind == FIELD_OBJECT)
        json_object_of(json, field->key, field->fields, at);
    else if (field->kind == FIELD_MEMBERS)
        json_members(json, field->fields, at);
    else if (field->kind == FIELD_WRITTEN)
        field->write(json, field->key, object);
    else
        add_list(json, field, object);
}

void json_members(Json *json, const JsonField *fields, const void *object) {
    for (; fields->key; fields++)
        add_field(json, fields, object);
}

void json_object_of(Json *json, const char *key, const JsonField *fields, const void *object) {
    json_begin(json, key);
    json_members(json, fields, object);
    json_end(json);
}
