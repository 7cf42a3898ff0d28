/* What kernels that check themselves report becomes findings, with places and words; what was not checked is said. */
#include "shadowed.h"

#include "check/replay/recording.h"
#include "instrument/emit/shadow.h"
#include "trace/file.h"

typedef struct Checked {
    Shadowed run;
    Arena arena;
    Verdict verdict;
    PtxModule module;
    Source *source;
    Diagnostics diagnostics;
    Recording recording;
    uint8_t *file;
} Checked;

static const char head[] = ".version 9.0\n.target sm_90a\n.address_size 64\n";

/* Of the sites that check themselves. */
static void make_table(Str ptx, const uint32_t block[3], Text *to) {
    PtxModule module;
    Sites sites;
    Diagnostics diagnostics = {0};
    const char *problem = NULL;
    Source *source = source_copy("k.ptx", ptx.data, ptx.size);
    assert_true(ptx_read(&module, source, true, &diagnostics));
    assert_true(shadow_as_sites(&sites, &module, &problem));
    instrument_table(&module, recording_entry(&module, &(Recording){.kernel = "k"}), block, &sites, to);
    instrument_sites_free(&sites);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

/* As a file: written, and read again. */
static void keep(Checked *c, const char *text, uint32_t ctas, uint32_t threads) {
    const ShadowedState *left = shadowed_left(&c->run);
    uint32_t count = left->state.report_count;
    Text shadow = {0}, ptx = {0};
    text_add(&shadow, (const char *)&left->state, sizeof left->state);
    text_add(&shadow, (const char *)left->reports, count * sizeof *left->reports);
    text_addf(&ptx, "%s%s", head, text);
    Text table = {0};
    make_table((Str){ptx.data, ptx.size}, (uint32_t[]){threads, 1, 1}, &table);
    RecordingMemory memory = {SHADOWED_REAL, SHADOWED_BYTES};
    Recording recording = {.launch = {.abi = RECORDING_ABI,
                                      .grid = {ctas, 1, 1},
                                      .block = {threads, 1, 1},
                                      .cluster = {1, 1, 1},
                                      .spaces = RECORDING_GLOBAL,
                                      .options = 3,
                                      .chunk = 64,
                                      .tag = 1},
                           .kernel = "k",
                           .device = "a machine",
                           .ptx = {ptx.data, ptx.size},
                           .sites = {table.data, table.size},
                           .parameters = c->run.run.parameters,
                           .parameter_bytes = 12,
                           .memory = &memory,
                           .memory_count = 1,
                           .shadow = {shadow.data, shadow.size}};
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(recording_write(file, &recording));
    long size = ftell(file);
    c->file = malloc((size_t)size);
    rewind(file);
    assert_int_equal(fread(c->file, 1, (size_t)size, file), size);
    fclose(file);
    text_free(&shadow);
    text_free(&ptx);
    text_free(&table);
    const char *problem = NULL;
    if (!recording_read(&c->recording, c->file, (size_t)size, &c->arena, &problem) ||
        !recording_open(&c->recording, &c->arena, &problem))
        fail_msg("%s", problem);
}

static void check(Checked *c, const char *text, uint32_t ctas, uint32_t threads, uint32_t n) {
    static const PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    memset(c, 0, sizeof *c);
    arena_init(&c->arena, SIZE_MAX);
    shadowed_read(&c->run, text, false);
    shadowed_go(&c->run, ctas, threads, n, &eager);
    keep(c, text, ctas, threads);
    c->source = source_copy("k.ptx", c->recording.ptx.data, c->recording.ptx.size);
    assert_true(ptx_read(&c->module, c->source, true, &c->diagnostics));
    c->verdict = (Verdict){.arena = &c->arena, .kernel = "k"};
    ThreadsOptions options = {0};
    recording_check(&c->module, recording_entry(&c->module, &c->recording), &c->recording, &options, &c->verdict);
    verdict_close(&c->verdict);
}

static void end(Checked *c) {
    shadowed_end(&c->run);
    ptx_free(&c->module);
    source_free(c->source);
    diagnostics_free(&c->diagnostics);
    arena_free(&c->arena);
    free(c->file);
}

static void expect_finding(const Checked *c, RuleId rule, const char *message) {
    assert_int_equal(c->verdict.kind, VERDICT_FINDINGS);
    for (size_t i = 0; i < c->verdict.finding_count; i++)
        if (c->verdict.findings[i].rule == rule && !strcmp(c->verdict.findings[i].message, message))
            return;
    fail_msg("%s: %s", rule_of(c->verdict.findings[0].rule)->id, c->verdict.findings[0].message);
}

static void expect_incomplete(const Checked *c, const char *reason) {
    for (size_t i = 0; i < c->verdict.incomplete_count; i++)
        if (strstr(c->verdict.incomplete[i].reason, reason))
            return;
    fail_msg("nothing says: %s", reason);
}

#define WORD "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"

static void races_have_two_places(void **state) {
    (void)state;
    Checked c;
    check(&c,
          SHADOW_KERNEL(WORD
                        "setp.eq.u32 %p1, %r3, 0;\n@%p1 st.global.u32 [%rd3], 1;\n@!%p1 ld.global.u32 %r5, [%rd3];\n"),
          2, 8, 0);
    expect_finding(&c, RULE_RACE_RAW,
                   "unordered accesses to bytes 0-15 of argument 0: read by CTA 1, write by CTA 0 at PTX line 8");
    const Finding *finding = &c.verdict.findings[0];
    assert_int_equal(finding->place_count, 2);
    assert_int_equal(finding->places[0].ir_line, 9);
    assert_int_equal(finding->places[1].ir_line, 8);
    assert_string_equal(finding->places[0].op, "ld.global.u32");
    end(&c);
    check(&c,
          SHADOW_KERNEL(
              WORD "setp.ne.u32 %p1, %r3, 0;\n@%p1 st.global.u32 [%rd3+64], 1;\n@!%p1 ld.global.u32 %r5, [%rd3+64];\n"),
          2, 1, 0);
    expect_finding(&c, RULE_RACE_WAR,
                   "unordered accesses to bytes 64-67 of argument 0: write by CTA 1, read by CTA 0 at PTX line 9");
    end(&c);
    check(&c, SHADOW_KERNEL("st.global.v2.u16 [%rd1+12], {%rs1, %rs1};\n"), 3, 1, 0);
    expect_finding(&c, RULE_RACE_WAW,
                   "unordered accesses to bytes 12-15 of argument 0: write by CTA 1, write by CTA 0 at PTX line 6");
    end(&c);
    /* Two accesses that are checked together are two places. */
    check(&c,
          SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r3, 0;\n@!%p1 bra B;\n"
                        "st.global.v4.u32 [%rd3], {%r1,%r1,%r1,%r1};\nst.global.v4.u32 [%rd3+512], {%r1,%r1,%r1,%r1};\n"
                        "bra C; B:\nld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3+512];\nC:\n"),
          2, 32, 0);
    assert_int_equal(c.verdict.findings[0].places[1].ir_line, 9);
    end(&c);
}

static void says_what_was_not_checked(void **state) {
    (void)state;
    Checked c;
    check(&c, SHADOW_KERNEL(WORD "st.global.u32 [%rd3], 1;\n"), 1, 8, 0);
    assert_int_equal(c.verdict.kind, VERDICT_INCOMPLETE);
    expect_incomplete(&c, "threads of one CTA, copies of the program and shared memory were not checked");
    end(&c);
    check(&c, ".global .align 4 .u32 g;\n" SHADOW_KERNEL("ld.global.u32 %r5, [g];\n"), 2, 8, 0);
    expect_incomplete(&c, "16 accesses were to memory without shadow memory");
    end(&c);
    check(&c,
          ".func f(.param .u64 a) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], 1; ret; "
          "}\n" SHADOW_KERNEL("{ .param .u64 a; st.param.u64 [a], %rd1; call f, (a); }\n"),
          2, 1, 0);
    expect_incomplete(&c, "what the called function does is not checked");
    end(&c);
}

/* Flags for which there are no rows: who acquires them is taken to know everything, and that is told. */
static void flags_without_room_are_reported(void **state) {
    (void)state;
    Checked c;
    check(&c,
          SHADOW_KERNEL("setp.ne.u32 %p1, %r3, 0; @%p1 bra TAKE; mov.u32 %r4, 0; mov.u64 %rd2, %rd1;\n"
                        "MORE: st.release.gpu.global.u32 [%rd2+2048], 1; add.s64 %rd2, %rd2, 4; add.u32 %r4, %r4, 1;\n"
                        "setp.lt.u32 %p2, %r4, 40; @%p2 bra MORE; st.global.u32 [%rd1], 1;\n"
                        "st.release.gpu.global.u32 [%rd1+1024], 1; bra OVER;\n"
                        "TAKE: ld.acquire.gpu.global.u32 %r6, [%rd1+1024]; setp.eq.u32 %p3, %r6, 0; @%p3 bra TAKE;\n"
                        "ld.global.u32 %r6, [%rd1]; OVER:\n"),
          2, 1, 0);
    expect_incomplete(&c, "there are too many flags");
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(races_have_two_places),
                                       cmocka_unit_test(says_what_was_not_checked),
                                       cmocka_unit_test(flags_without_room_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
