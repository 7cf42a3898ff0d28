/* Any bytes as IR. Whatever they are, reading them ends without a fault; and of a module without errors holds:
 *
 *   - printed as written it has the tokens of the input, reads again without errors, and prints the same bytes
 *   - printed in the generic form it reads again without errors, if the op table knows all its ops (an op it does not
 *     know has operands and results whose types cannot be told; the generic form must write some type for them)
 *
 * A module that breaks one of these is printed to standard error before the target aborts. */
#include "weir/weir.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, MOST_MODULES = 64 };

/* ---- What was printed -------------------------------------------------------------------------- */

typedef struct Printed {
    char *data;
    size_t size, capacity;
} Printed;

static int append(void *to, const char *data, size_t size) {
    Printed *printed = to;
    if (printed->capacity - printed->size < size) {
        printed->capacity = printed->capacity * 2 + size;
        printed->data = realloc(printed->data, printed->capacity);
        if (!printed->data)
            abort();
    }
    memcpy(printed->data + printed->size, data, size);
    printed->size += size;
    return 0;
}

static Printed print(weir_module *module, weir_form form) {
    Printed printed = {.data = malloc(4096), .capacity = 4096};
    if (!printed.data || weir_print(module, form, append, &printed) != 0)
        abort();
    return printed;
}

static void give_up(const char *why, const char *before, size_t before_size, Printed after, const weir_module *again) {
    fprintf(stderr, "%s\n---- before\n", why);
    fwrite(before, 1, before_size, stderr);
    fprintf(stderr, "\n---- after\n");
    fwrite(after.data, 1, after.size, stderr);
    fprintf(stderr, "\n----\n");
    for (size_t i = 0; again && i < weir_diagnostic_count(again); i++) {
        weir_diagnostic diagnostic = weir_diagnostic_at(again, i);
        fprintf(stderr, "%u:%u: %s\n%s", diagnostic.line, diagnostic.column, diagnostic.message, diagnostic.excerpt);
    }
    abort();
}

/* ---- Tokens ------------------------------------------------------------------------------------ */

typedef struct Cursor {
    const char *at, *end;
    char last; /* what `next_char` gave */
} Cursor;

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next character of a token, with one space between two words; -1 at the end. */
static int next_char(Cursor *cursor, bool *in_string) {
    bool blank = false;
    while (!*in_string && cursor->at < cursor->end) {
        char c = *cursor->at;
        if (c == '/' && cursor->at + 1 < cursor->end && cursor->at[1] == '/')
            while (cursor->at < cursor->end && *cursor->at != '\n')
                cursor->at++;
        else if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            cursor->at++;
        else
            break;
        blank = true;
    }
    if (cursor->at == cursor->end)
        return -1;
    char c = *cursor->at;
    if (blank && is_word(c) && is_word(cursor->last)) {
        cursor->last = ' ';
        return ' ';
    }
    cursor->at++;
    if (c == '"')
        *in_string = !*in_string;
    else if (c == '\\' && *in_string && cursor->at < cursor->end)
        cursor->at++; /* what is escaped is no end of the string */
    cursor->last = c;
    return (unsigned char)c;
}

static bool same_tokens(const char *a, size_t a_size, const char *b, size_t b_size) {
    Cursor x = {a, a + a_size, 0}, y = {b, b + b_size, 0};
    bool x_string = false, y_string = false;
    for (;;) {
        int c = next_char(&x, &x_string), d = next_char(&y, &y_string);
        if (c != d)
            return false;
        if (c < 0)
            return true;
    }
}

/* ---- The target -------------------------------------------------------------------------------- */

/* Reads the only module of a text that was printed; NULL if there is none, as in an empty text. */
static weir_module *read_again(weir_context *weir, weir_file **file, Printed text) {
    *file = weir_open_buffer(weir, "again", text.data, text.size);
    if (!*file)
        abort();
    return weir_parse(*file, 0, 0);
}

static void check_module(weir_context *weir, weir_module *module, const char *source, size_t source_size) {
    Printed written = print(module, WEIR_AS_WRITTEN), generic = print(module, WEIR_GENERIC);
    if (source && !same_tokens(source, source_size, written.data, written.size))
        give_up("the tokens printed are not those read", source, source_size, written, NULL);

    weir_file *file;
    weir_module *again = read_again(weir, &file, written);
    if (!again || !weir_module_ok(again))
        give_up("what was printed as written has errors", written.data, written.size, generic, again);
    Printed twice = print(again, WEIR_AS_WRITTEN);
    if (twice.size != written.size || memcmp(twice.data, written.data, written.size) != 0)
        give_up("what was printed as written prints differently", written.data, written.size, twice, NULL);
    free(twice.data);
    weir_module_free(again);
    weir_close(file);

    again = read_again(weir, &file, generic);
    if (!again || (!weir_module_ok(again) && weir_module_unknown_ops(module) == 0))
        give_up("the generic form has errors", written.data, written.size, generic, again);
    weir_module_free(again);
    weir_close(file);
    free(written.data);
    free(generic.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    weir_context *weir = weir_create();
    weir_file *file = weir ? weir_open_buffer(weir, "fuzz", (const char *)data, size) : NULL;
    if (!file)
        abort();
    size_t count = weir_module_count(file);
    bool whole = count == 1 && !weir_file_is_pass_log(file); /* then the module is all of the text */
    for (size_t i = 0; i < count && i < MOST_MODULES; i++) {
        weir_module *module = weir_parse(file, i, 0);
        if (!module)
            abort();
        if (weir_module_ok(module))
            check_module(weir, module, whole ? (const char *)data : NULL, size);
        weir_module_free(module);
    }
    weir_close(file);
    weir_destroy(weir);
    return 0;
}
