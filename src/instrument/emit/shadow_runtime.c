/* The assembler reads what make compiled for the device; empty if there was no compiler for it. */
#include "instrument/emit/shadow_runtime.h"

#include "instrument/emit/shadow.h"

#include <assert.h>
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
    const char *end = text.data + text.size;
    for (const char *line = text.data + *at; (line = memmem(line, (size_t)(end - line), "\n.", 2));) {
        Str head = str_between(++line, end);
        if (str_starts(head, STR(".visible ")))
            line += strlen(".visible ");
        if (!str_starts(str_between(line, end), STR(".func")))
            continue;
        const char *first = line;
        while (first < end && *first != ';' && *first != '{')
            first++;
        const char *close = first < end && *first == '{' ? memmem(first, (size_t)(end - first), "\n}", 2) : NULL;
        if (!close)
            continue;
        *function = str_between(line, close + 2);
        *at = (size_t)(close + 2 - text.data);
        return true;
    }
    return false;
}

/* The first name in a text that is one of ours: "weir_read" of ".func weir_read(" and of ".func (.param .b32
 * func_retval0) weir_read(". */
static Str next_name(Str text) {
    const char *at = memmem(text.data, text.size, "weir_", 5), *end = at;
    while (end && end < text.data + text.size && (*end == '_' || (*end >= 'a' && *end <= 'z')))
        end++;
    return at ? str_between(at, end) : (Str){"", 0};
}

typedef struct ShadowRuntimeFunction {
    Str text, name;
    bool used;
} ShadowRuntimeFunction;

enum { FUNCTIONS_MOST = 64 };

/* The text is a megabyte: it is gone through once. */
static uint32_t list_functions(Str text, ShadowRuntimeFunction *functions) {
    uint32_t count = 0;
    Str function;
    for (size_t at = 0; next_function(text, &at, &function);) {
        assert(count < FUNCTIONS_MOST);
        functions[count++] = (ShadowRuntimeFunction){function, next_name(function), false};
    }
    return count;
}

/* What a function calls is used, too. */
static void use_function(ShadowRuntimeFunction *functions, uint32_t count, Str name) {
    ShadowRuntimeFunction *used = functions;
    while (used < functions + count && !str_equal(used->name, name))
        used++;
    if (used == functions + count || used->used)
        return;
    used->used = true;
    const char *end = used->text.data + used->text.size;
    for (Str rest = used->text, called; (called = next_name(rest)).size;
         rest = str_between(called.data + called.size, end))
        use_function(functions, count, called);
}

void runtime_print(const RuntimeUse *use, bool seed_layout, Text *to) {
    ShadowRuntimeFunction functions[FUNCTIONS_MOST];
    uint32_t count = list_functions(runtime_text(seed_layout), functions);
    for (uint32_t i = 0; i < use->count; i++)
        use_function(functions, count, str_of(use->names[i]));
    /* What they call has to be known before, whatever the order of the text. */
    for (int layer = 0; layer < 4; layer++)
        for (const ShadowRuntimeFunction *function = functions; function < functions + count; function++) {
            int own = str_equal(function->name, STR("weir_tell_pair")) ? 0
                      : str_starts(function->name, STR("weir_tell_"))  ? 1
                      : str_starts(function->name, STR("weir_slow_"))  ? 2
                                                                       : 3;
            if (own != layer || !function->used)
                continue;
            text_str(to, function->text);
            text_str(to, STR("\n"));
        }
}
