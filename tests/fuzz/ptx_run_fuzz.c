/* Any bytes as PTX. Of a module without errors every kernel is run at launches that Weir chooses, in both modes of
 * --values, within its budget and without a fault; its verdict can be put into words and into JSON. In one mode it is
 * as `weir check
 * --no-launch` does it, with other orders, for so many seconds. */
#include "base/deadline.h"
#include "check/simt/check.h"
#include "ptx_functions.h"
#include "said.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 16 << 10, BUDGET = 256 << 20, INSTRUCTIONS = 1000, SECONDS = 1 };

static void check_kernel(PtxModule *module, uint32_t kernel, PtxComputes computes) {
    Arena arena;
    arena_init(&arena, BUDGET);
    Verdict verdict = {.arena = &arena, .kernel = "fuzz"};
    ThreadsOptions options = {.computes = computes, .budget = INSTRUCTIONS};
    options.orders = computes == COMPUTES_ALL ? ORDERS_DIRECTED : ORDERS_EAGER;
    deadline_start(SECONDS, NULL, NULL);
    threads_check(module, kernel, &options, &verdict);
    (void)deadline_end();
    verdict_close(&verdict);
    say_verdict(&verdict, module->source);
    arena_free(&arena);
}

static void check_gears(PtxModule *module, uint32_t kernel, uint32_t before) {
    (void)before;
    check_kernel(module, kernel, COMPUTES_ALL);
    check_kernel(module, kernel, COMPUTES_NEEDED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size <= LARGEST_INPUT)
        each_function(data, size, true, check_gears);
    return 0;
}
