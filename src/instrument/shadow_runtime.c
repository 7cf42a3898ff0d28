/* The assembler reads what make compiled for the device; empty if there was no compiler for it. */
#include "instrument/shadow_runtime.h"

#include "instrument/shadow.h"

#include <stdio.h>

#ifndef DEVICE_FOLDER
#define DEVICE_FOLDER "build/device"
#endif

#define FILE_AS_BYTES(name, path)                                   \
    __asm__(".pushsection .rodata\n" #name ":\n"                    \
            ".incbin \"" path "\"\n" #name "_end:\n"                \
            ".byte 0\n"                                             \
            ".popsection\n");                                       \
    extern const char name[] __attribute__((visibility("hidden"))); \
    extern const char name##_end[] __attribute__((visibility("hidden")))

FILE_AS_BYTES(device_compact, DEVICE_FOLDER "/compact.ptx");
FILE_AS_BYTES(device_seed, DEVICE_FOLDER "/seed.ptx");

static Str runtime_text(bool seed_layout) {
    return seed_layout ? str_between(device_seed, device_seed_end) : str_between(device_compact, device_compact_end);
}

bool shadow_is_built(bool seed_layout) {
    return runtime_text(seed_layout).size > 0;
}

void runtime_use(RuntimeUse *use, const char *name) {
    for (uint32_t i = 0; i < use->count; i++)
        if (!strcmp(use->names[i], name))
            return;
    if (use->count < RUNTIME_MOST)
        snprintf(use->names[use->count++], sizeof use->names[0], "%s", name);
}

/* The next function of the text from `*at` on: its head, from ".func" on, up to the brace that closes it. Declarations,
 * which end with a semicolon, are none. */
static bool next_function(Str text, size_t *at, Str *function) {
    static const char mark[] = "\n.func", visible[] = "\n.visible .func";
    while (*at < text.size) {
        const char *from = text.data + *at, *end = text.data + text.size;
        const char *plain = memmem(from, (size_t)(end - from), mark, sizeof mark - 1);
        const char *shown = memmem(from, (size_t)(end - from), visible, sizeof visible - 1);
        const char *begin = !plain ? shown : !shown ? plain : plain < shown ? plain : shown;
        if (!begin)
            return false;
        begin += begin == shown ? strlen("\n.visible ") : 1;
        const char *close = memmem(begin, (size_t)(end - begin), "\n}", 2);
        const char *semicolon = memmem(begin, (size_t)(end - begin), ";", 1);
        const char *brace = memmem(begin, (size_t)(end - begin), "{", 1);
        *at = (size_t)(begin - text.data);
        if (!close || !brace)
            return false;
        if (semicolon && semicolon < brace)
            continue;
        *function = str_between(begin, close + 2);
        *at = (size_t)(close + 2 - text.data);
        return true;
    }
    return false;
}

/* "weir_read" of ".func weir_read(" and of ".func (.param .b32 func_retval0) weir_enter(". */
static Str function_name(Str function) {
    const char *at = memmem(function.data, function.size, "weir_", 5), *end = at;
    while (end && end < function.data + function.size && (*end == '_' || (*end >= 'a' && *end <= 'z')))
        end++;
    return at ? str_between(at, end) : (Str){"", 0};
}

static bool is_used(const RuntimeUse *use, Str name) {
    for (uint32_t i = 0; i < use->count; i++)
        if (str_equal(name, str_of(use->names[i])))
            return true;
    return false;
}

/* Whether a text has a name, and not as the beginning of another one. */
static bool mentions(Str text, Str name) {
    const char *at = text.data, *end = text.data + text.size;
    while ((at = memmem(at, (size_t)(end - at), name.data, name.size))) {
        at += name.size;
        if (at == end || !(*at == '_' || (*at >= 'a' && *at <= 'z')))
            return true;
    }
    return false;
}

/* What the functions that are used call is used, too; they call nothing that is defined behind them. */
static void close_use(RuntimeUse *use, Str text) {
    for (uint32_t i = 0; i < use->count; i++) {
        Str function, called, body = {"", 0};
        for (size_t at = 0; next_function(text, &at, &function);)
            if (str_equal(function_name(function), str_of(use->names[i])))
                body = function;
        for (size_t at = 0; next_function(text, &at, &called);) {
            char name[sizeof use->names[0]];
            snprintf(name, sizeof name, "%.*s", STR_ARG(function_name(called)));
            if (mentions(body, function_name(called)))
                runtime_use(use, name);
        }
    }
}

void runtime_print(const RuntimeUse *use, bool seed_layout, Text *to) {
    Str text = runtime_text(seed_layout), function;
    RuntimeUse all = *use;
    close_use(&all, text);
    /* What they call has to be known before, whatever the order of the text. */
    for (int layer = 0; layer < 4; layer++)
        for (size_t at = 0; next_function(text, &at, &function);) {
            Str name = function_name(function);
            int own = str_equal(name, STR("weir_tell_pair")) ? 0
                      : str_starts(name, STR("weir_tell_"))  ? 1
                      : str_starts(name, STR("weir_slow_"))  ? 2
                                                             : 3;
            if (own != layer || !is_used(&all, name))
                continue;
            text_str(to, function);
            text_str(to, STR("\n"));
        }
}
