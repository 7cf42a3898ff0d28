/* The assembler reads the files; make says that this object depends on them. */
#include "render/html/page.h"

#define FILE_AS_BYTES(name, path)                                   \
    __asm__(".pushsection .rodata\n" #name ":\n"                    \
            ".incbin \"" path "\"\n" #name "_end:\n"                \
            ".byte 0\n"                                             \
            ".popsection\n");                                       \
    extern const char name[] __attribute__((visibility("hidden"))); \
    extern const char name##_end[] __attribute__((visibility("hidden")))

FILE_AS_BYTES(page_css, "src/render/html/page.css");
FILE_AS_BYTES(page_js, "src/render/html/page.js");
FILE_AS_BYTES(code_js, "src/render/html/code.js");
FILE_AS_BYTES(lanes_js, "src/render/html/lanes.js");
FILE_AS_BYTES(find_js, "src/render/html/find.js");

Str page_style(void) {
    return str_between(page_css, page_css_end);
}

Str page_script(void) {
    return str_between(page_js, page_js_end);
}

Str page_code_script(void) {
    return str_between(code_js, code_js_end);
}

Str page_lanes_script(void) {
    return str_between(lanes_js, lanes_js_end);
}

Str page_find_script(void) {
    return str_between(find_js, find_js_end);
}
