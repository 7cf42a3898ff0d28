/* Any bytes as a mangled name: it is printed in bounds, or left as it is; and what it is printed as means it. */
#include "base/demangle/demangle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 8 << 10, LONGEST = 1 << 19 };

static void read_name(Str name) {
    Text text = {0}, shown = {0};
    bool good = demangle(name, &text);
    if (text.size > LONGEST || (!good && text.size))
        abort();
    name_shown(name, &shown);
    if (good && !name_meant(name, (Str){text.data, text.size}))
        abort();
    text_free(&text);
    text_free(&shown);
}

/* A name each line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *at = (const char *)data, *end = at + size;
    while (size <= LARGEST_INPUT && at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        read_name(str_between(at, line ? line : end));
        at = line ? line + 1 : end;
    }
    return 0;
}
