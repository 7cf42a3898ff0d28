/* A text, read: what the tests of the IR, the reader and the printer start from. */
#ifndef TESTS_UNIT_READING_H
#define TESTS_UNIT_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/optable.h"
#include "ir/print.h"
#include "mlir/reader.h"

typedef struct Reading {
    Source *source;
    Module module;
    Diagnostics diagnostics;
    bool ok;
} Reading;

/* The whole text as one unit. What is wrong with it is in `diagnostics`. */
static inline Reading *read_text_with(const char *text, ReadOptions options) {
    Reading *reading = calloc(1, sizeof *reading);
    assert_non_null(reading);
    reading->source = source_copy("test.mlir", text, strlen(text));
    assert_non_null(reading->source);
    Unit unit = {.begin = 0, .end = reading->source->size};
    reading->ok = read_unit(&reading->module, reading->source, &unit, options, &reading->diagnostics);
    return reading;
}

static inline Reading *read_text(const char *text) {
    return read_text_with(text, (ReadOptions){0});
}

/* A text that must read without errors and without notes. */
static inline Reading *read_good(const char *text) {
    Reading *reading = read_text(text);
    for (size_t i = 0; i < reading->diagnostics.count; i++) {
        const Diagnostic *diagnostic = &reading->diagnostics.items[i];
        print_error("%u:%u: %s\n%s", diagnostic->place.line, diagnostic->place.column, diagnostic->message,
                    diagnostic->excerpt);
    }
    assert_true(reading->ok);
    assert_int_equal(reading->diagnostics.notes, 0);
    return reading;
}

static inline void done(Reading *reading) {
    module_free(&reading->module);
    diagnostics_free(&reading->diagnostics);
    source_free(reading->source);
    free(reading);
}

/* The first op of the text. */
static inline Op *first_op(const Reading *reading) {
    const Item *item = reading->module.first;
    while (item && item->kind != ITEM_OP)
        item = item->next;
    assert_non_null(item);
    return item->op;
}

/* The number `index`, from 0, of the ops of that name, in the order of the text; NULL if there are fewer. */
static inline Op *find_op(const Reading *reading, const char *name, unsigned index) {
    for (const Item *item = reading->module.first; item; item = item->next)
        for (Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op))
            if (str_is(op->name, name) && index-- == 0)
                return op;
    return NULL;
}

/* The printed module; the caller frees it. */
static inline char *printed(Reading *reading, PrintForm form) {
    Text text = {0};
    print_module(&reading->module, form, &text);
    assert_false(text.failed);
    text_char(&text, 0);
    return text.data;
}

#define assert_str_equal(s, expected) assert_str_equal_at((s), (expected), __FILE__, __LINE__)
static inline void assert_str_equal_at(Str s, const char *expected, const char *file, int line) {
    if (!str_is(s, expected)) {
        print_error("\"%.*s\" != \"%s\"\n", (int)s.size, s.data, expected);
        _fail(file, line);
    }
}

/* Reads `text` and compares what it prints. */
static inline void assert_prints(const char *text, PrintForm form, const char *expected) {
    Reading *reading = read_good(text);
    char *found = printed(reading, form);
    assert_string_equal(found, expected);
    free(found);
    done(reading);
}

/* A text with errors, and the first of them. */
typedef struct WrongText {
    const char *text;
    uint32_t line, column;
    const char *message;
} WrongText;

/* Whether reading gives that error first; says what it gave if not. */
static inline bool gives_error(const WrongText *wrong) {
    Reading *reading = read_text(wrong->text);
    const Diagnostic *first = NULL;
    for (size_t i = 0; i < reading->diagnostics.count && !first; i++)
        if (reading->diagnostics.items[i].severity == SEVERITY_ERROR)
            first = &reading->diagnostics.items[i];
    bool given = !reading->ok && first && strcmp(first->message, wrong->message) == 0 &&
                 first->place.line == wrong->line && first->place.column == wrong->column;
    if (!given) {
        print_error("%s\nexpected %u:%u: %s\n", wrong->text, wrong->line, wrong->column, wrong->message);
        if (first)
            print_error("found    %u:%u: %s\n", first->place.line, first->place.column, first->message);
    }
    done(reading);
    return given;
}

#define assert_errors(cases) assert_int_equal(count_wrong(cases, sizeof(cases) / sizeof *(cases)), 0)
static inline size_t count_wrong(const WrongText *cases, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += !gives_error(&cases[i]);
    return wrong;
}

#define assert_error(...) assert_true(gives_error(&(WrongText){__VA_ARGS__}))

#endif
