/* Thread barriers through the public header: what is needed, the IR with it, which needs nothing more, and options that
 * make no sense. */
#include <weir/weir.h>

#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL(ATTRIBUTES)                                                                                 \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                 \
    "#smem = #ttg.shared_memory\n"                                                                         \
    "#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" \
    "!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>\n"                                             \
    "!row = tensor<128xf32, #line>\n"                                                                      \
    "module attributes {" ATTRIBUTES "\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, "           \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                             \
    "  tt.func public @kernel(%in: !row) -> !row {\n"                                                      \
    "    %tile = ttg.local_alloc : () -> !tile\n"                                                          \
    "    ttg.local_store %in, %tile : !row -> !tile\n"                                                     \
    "    %out = ttg.local_load %tile : !tile -> !row\n"                                                    \
    "    tt.return %out : !row\n"                                                                          \
    "  }\n"                                                                                                \
    "}\n"

static int add(void *to, const char *data, size_t size) {
    return fwrite(data, 1, size, to) == size ? 0 : -1;
}

/* What is said of one text, and the IR with its barriers, to be freed. */
static char *look(weir_context *weir, const char *text, const weir_membar_options *options, weir_verdict verdict,
                  size_t needed) {
    weir_file *file = weir_open_buffer(weir, "kernel", text, strlen(text));
    weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
    weir_result *result = module ? weir_membar(module, options) : NULL;
    char *emitted = NULL;
    size_t size;
    FILE *stream = open_memstream(&emitted, &size);
    CHECK(result && stream);
    if (result && stream) {
        CHECK(weir_result_verdict(result) == verdict);
        CHECK(weir_kernel_at(result, 0).needed == needed);
        CHECK((weir_emit(result, 0, add, stream) == 0) == (verdict != WEIR_VERDICT_ERROR));
        weir_item need = weir_item_at(result, WEIR_ITEM_BARRIER, 0);
        CHECK(weir_item_count(result, WEIR_ITEM_BARRIER) == needed);
        CHECK(strcmp(need.op, needed ? "ttg.local_load" : "") == 0);
        CHECK(need.ir_line == (needed ? 10 : 0));
    }
    if (stream)
        fclose(stream);
    weir_result_free(result);
    weir_module_free(module);
    weir_close(file);
    return emitted;
}

int main(void) {
    weir_context *weir = weir_create();
    weir_membar_options near = {.model = "near", .function = "@kernel"}, ignored = {.function = "absent"},
                        nothing = {.model = "nothing"}, never = {.stage = "never"}, placed = {.stage = "inserted"};
    if (!weir)
        return 1;
    char *with = look(weir, KERNEL(""), NULL, WEIR_VERDICT_CLEAN, 1);
    if (with)
        free(look(weir, with, &near, WEIR_VERDICT_CLEAN, 0));
    free(with);
    free(look(weir, KERNEL("ttg.profile_scratch_memory_size = 0 : i32, ttg.shared = 512 : i32, "), NULL,
              WEIR_VERDICT_FINDINGS, 1));
    free(look(weir, KERNEL(""), &placed, WEIR_VERDICT_FINDINGS, 1));
    free(look(weir, KERNEL(""), &ignored, WEIR_VERDICT_ERROR, 0));
    free(look(weir, KERNEL(""), &nothing, WEIR_VERDICT_ERROR, 0));
    free(look(weir, KERNEL(""), &never, WEIR_VERDICT_ERROR, 0));
    free(look(weir, "module {}", NULL, WEIR_VERDICT_CLEAN, 0));
    free(look(weir, "module {", NULL, WEIR_VERDICT_ERROR, 0));
    weir_destroy(weir);
    return failures != 0;
}
