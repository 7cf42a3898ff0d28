/* Any bytes as PTX. Of a module without errors every kernel is run at launches that Weir chooses, in both gears, within
 * its budget and without a fault; its verdict can be put into words and into JSON. */
#include "analyze/threads/check.h"
#include "ptx/reader.h"
#include "render/json.h"
#include "render/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 16 << 10, BUDGET = 256 << 20, INSTRUCTIONS = 1000 };

static void check_kernel(PtxModule *module, uint32_t kernel, PtxGear gear) {
    Arena arena;
    arena_init(&arena, BUDGET);
    Verdict verdict = {.arena = &arena, .kernel = "fuzz"};
    ThreadsOptions options = {.gear = gear, .budget = INSTRUCTIONS, .orders = ORDERS_EAGER};
    Text text = {0}, object = {0};
    threads_check(module, kernel, &options, &verdict);
    verdict_close(&verdict);
    render_text(&verdict, module->source, (TextOptions){.launches = true}, &text);
    JsonSeries report = render_json_begin(&object, "0", "inputs", false);
    render_json_input(&report, "fuzz", &verdict, NULL);
    render_json_end(&report, NULL, NULL);
    text_free(&text);
    text_free(&object);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Source *source = source_copy("fuzz", (const char *)data, size);
    PtxModule module;
    Diagnostics diagnostics = {0};
    if (!source)
        abort();
    if (ptx_read(&module, source, false, &diagnostics))
        for (uint32_t i = 0; i < module.functions_count; i++)
            if (module.functions[i].body && module.functions[i].entry) {
                check_kernel(&module, i, GEAR_DATA);
                check_kernel(&module, i, GEAR_SLICE);
            }
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return 0;
}
