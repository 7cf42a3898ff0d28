/* PTX that is instrumented through the public header: the text has one more parameter and a mark with the hash of what
 * it was made from, and what is no PTX is refused with a sentence. */
#include "expect.h"

#include <weir/ptx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry set(.param .u64 to) {\n"
                          "  .reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                          "  ld.param.u64 %rd1, [to];\n"
                          "  ld.global.u64 %rd2, [%rd1];\n"
                          "  st.global.u32 [%rd2], 1;\n"
                          "  ret;\n"
                          "}\n";
static const char ir[] = "module {\n  tt.func public @nothing() {\n    tt.return\n  }\n}\n";

typedef struct Output {
    char *data;
    size_t size;
} Output;

static int keep(void *to, const char *data, size_t size) {
    Output *output = to;
    output->data = realloc(output->data, output->size + size + 1);
    memcpy(output->data + output->size, data, size);
    output->size += size;
    output->data[output->size] = 0;
    return 0;
}

static int stop(void *to, const char *data, size_t size) {
    (void)to, (void)data, (void)size;
    return -1;
}

int main(void) {
    weir_context *context = weir_create();
    weir_file *file = weir_open_buffer(context, "set.ptx", ptx, strlen(ptx));
    weir_module *module = weir_parse(file, 0, 0);
    const char *problem = "";
    Output out = {0}, free_of_it = {0};
    CHECK(weir_ptx_instrument(module, &(weir_instrument_options){0}, keep, &out, &problem) == 0 && !problem);
    CHECK(out.data && strstr(out.data, ".param .u64 weir_launch") && strstr(out.data, "weir_instrumented"));
    CHECK(weir_ptx_instrument(module, &(weir_instrument_options){.spaces = 2}, keep, &free_of_it, &problem) == 0);
    CHECK(free_of_it.size < out.size); /* global memory is not recorded */
    CHECK(weir_ptx_instrument(module, &(weir_instrument_options){0}, stop, NULL, &problem) == -1 && !problem);

    weir_file *other = weir_open_buffer(context, "nothing.ttgir", ir, strlen(ir));
    weir_module *mlir = weir_parse(other, 0, 0);
    CHECK(weir_ptx_instrument(mlir, &(weir_instrument_options){0}, keep, &out, &problem) == -1);
    CHECK(problem && strcmp(problem, "it is not PTX") == 0);
    weir_module_free(mlir);
    weir_close(other);
    weir_module_free(module);
    weir_close(file);
    weir_destroy(context);
    free(out.data);
    free(free_of_it.data);
    return failures != 0;
}
