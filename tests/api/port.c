/* Ports through the public header: what ops become, a wait that covers too little, and targets that make no sense. */
#include <weir/weir.h>

#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(NUMBER)                                                                        \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n" \
    "#smem = #ttg.shared_memory\n"                                                            \
    "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"                              \
    "!desc = !tt.tensordesc<64x64xf16, #shared>\n"                                            \
    "module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"hip:gfx1250\"} {\n"       \
    "  tt.func public @kernel(%desc: !desc) {\n"                                              \
    "    %a = ttg.local_alloc : () -> !tile\n"                                                \
    "    %t = amdg.async_tdm_copy_global_to_local %desc into %a : !desc -> !tile\n"           \
    "    %w = amdg.async_tdm_intrinsic_wait %t {count = " NUMBER " : i32}\n"                  \
    "    tt.return\n"                                                                         \
    "  }\n"                                                                                   \
    "}\n"

static int add(void *to, const char *data, size_t size) {
    return fwrite(data, 1, size, to) == size ? 0 : -1;
}

/* All that is written about a port, to be freed. */
static char *write_port(const weir_result *port, weir_format format) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    weir_write_options options = {.subject = WEIR_PORTS, .format = format};
    CHECK(stream && weir_result_write(port, &options, add, stream) == 0);
    if (stream)
        fclose(stream);
    return text;
}

static void look(weir_context *weir, const char *kernel, const char *target, weir_verdict verdict, size_t none) {
    weir_file *file = weir_open_buffer(weir, "kernel", kernel, strlen(kernel));
    weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
    weir_result *port = module ? weir_port(module, target, NULL) : NULL;
    CHECK(port);
    if (port) {
        CHECK(weir_result_verdict(port) == verdict);
        CHECK(weir_kernel_at(port, 0).none == none);
        CHECK(weir_kernel_at(port, 0).waits == (verdict != WEIR_VERDICT_ERROR));
        CHECK(weir_result_kernels(port) == (verdict != WEIR_VERDICT_ERROR));
        char *text = write_port(port, WEIR_TEXT), *json = write_port(port, WEIR_JSON);
        CHECK(text && (strstr(text, "tensorcnt") != NULL) == (verdict != WEIR_VERDICT_ERROR));
        CHECK(json && strstr(json, weir_verdict_name(verdict)));
        free(text);
        free(json);
    }
    weir_result_free(port);
    weir_module_free(module);
    weir_close(file);
}

int main(void) {
    weir_context *weir = weir_create();
    look(weir, KERNEL("0"), "gfx1250", WEIR_VERDICT_CLEAN, 0);
    look(weir, KERNEL("1"), "gfx1250", WEIR_VERDICT_FINDINGS, 0);
    look(weir, KERNEL("0"), "gfx942", WEIR_VERDICT_CLEAN, 2);
    look(weir, KERNEL("0"), "sm_100a", WEIR_VERDICT_ERROR, 0);
    look(weir, KERNEL("0"), "gfx7", WEIR_VERDICT_ERROR, 0);
    look(weir, "nonsense", "gfx942", WEIR_VERDICT_ERROR, 0);
    weir_destroy(weir);
    return failures != 0;
}
