/* Recordings of kernels that do not say how large their CTAs are: which launches of them cannot be told. */
#include "check/replay/recording.h"
#include "instrument/instrument.h"
#include "ptx/reader.h"
#include "trace/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x)\n"
#define BODY(place)                                                                              \
    "{\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [x];\nmov.u32 %r1, " place ";\n" \
    "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.b32 %r2, [%rd3];\nret;\n}\n"

/* Whether it is said of a recording, without any records, that its CTAs do not fit. */
static bool is_reported(const char *text, uint32_t x, uint32_t y) {
    static const uint8_t parameters[8] = {0}, chunks[8 * 4096] = {0};
    Arena arena;
    PtxModule module;
    Sites sites;
    Diagnostics diagnostics = {0};
    const char *problem = NULL;
    bool reported = false;
    InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = true};
    Source *source = source_copy("k.ptx", text, strlen(text));
    arena_init(&arena, SIZE_MAX);
    assert_true(ptx_read(&module, source, true, &diagnostics));
    assert_true(instrument_sites(&sites, &module, &options, &problem));
    Text table = {0};
    instrument_table(&module, 0, (uint32_t[]){x, y, 1}, &sites, &table);
    Recording recording = {.launch = {.abi = RECORDING_ABI,
                                      .grid = {1, 1, 1},
                                      .block = {x, y, 1},
                                      .cluster = {1, 1, 1},
                                      .spaces = options.spaces,
                                      .options = instrument_options_number(&options),
                                      .chunk = sites.chunk,
                                      .tag = 1},
                           .kernel = "k",
                           .device = "a machine",
                           .ptx = {text, strlen(text)},
                           .sites = {table.data, table.size},
                           .parameters = parameters,
                           .parameter_bytes = sizeof parameters,
                           .first = chunks,
                           .first_count = (x * y + 31) / 32};
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    recording_check(&module, 0, &recording, &(ThreadsOptions){0}, &verdict);
    verdict_close(&verdict);
    assert_int_equal(verdict.kind, VERDICT_INCOMPLETE);
    for (size_t i = 0; i < verdict.incomplete_count; i++)
        reported |= strstr(verdict.incomplete[i].reason, "whose warps span several rows") != NULL;
    text_free(&table);
    instrument_sites_free(&sites);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    arena_free(&arena);
    return reported;
}

static void test_rows(void **state) {
    (void)state;
    assert_true(is_reported(HEAD BODY("%tid.x"), 16, 4));
    assert_true(is_reported(HEAD BODY("%tid.x"), 48, 2));
    assert_false(is_reported(HEAD BODY("%tid.x"), 64, 2));
    assert_false(is_reported(HEAD BODY("%tid.x"), 48, 1));
    assert_false(is_reported(HEAD BODY("%tid.y"), 16, 4));
    assert_false(is_reported(HEAD ".reqntid 16, 4\n" BODY("%tid.x"), 16, 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
