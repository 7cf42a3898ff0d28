/* Tests of instrumented PTX: which instructions are sites, what is told of them where, and what instrumented kernels
 * leave behind in the machine. That records say what happened is tests/record/play. */
#include "ptx_launched.h"

#include "instrument/instrument.h"
#include "trace/record.h"
#include "trace/shapes.h"

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n"
#define OPEN                                                                                                        \
    ".visible .entry k(.param .u64 block, .param .u64 first, .param .u64 more, .param .u64 unread, .param .u64 x, " \
    ".param .u32 n)\n"
#define SHAPED ".reqntid 64\n{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n"
#define FREE   "{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n"
#define INDEX  "mov.u32 %r1, %tid.x;\nld.param.u32 %r2, [n];\nadd.s32 %r3, %r1, %r2;\nld.param.u64 %rd1, [x];\n"

/* ---- Sites ---- */

typedef struct Found {
    Source *source;
    PtxModule module;
    Sites sites;
    Diagnostics diagnostics;
} Found;

static void find(Found *found, const char *text, uint32_t spaces) {
    InstrumentOptions options = {.spaces = spaces, .keep_registers = true};
    const char *problem = NULL;
    *found = (Found){.source = source_copy("test.ptx", text, strlen(text))};
    if (!ptx_read(&found->module, found->source, true, &found->diagnostics))
        fail_msg("%s\n%s", found->diagnostics.items[0].message, text);
    if (!instrument_sites(&found->sites, &found->module, &options, &problem))
        fail_msg("%s", problem);
}

static void found_free(Found *found) {
    instrument_sites_free(&found->sites);
    ptx_free(&found->module);
    diagnostics_free(&found->diagnostics);
    source_free(found->source);
}

/* The instrumented text, or why there is none; both are the caller's. */
static char *instrumented(const char *text, bool keep_registers, char *why, size_t size) {
    Found found;
    Text to = {0};
    const char *problem = NULL;
    InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = keep_registers};
    found = (Found){.source = source_copy("test.ptx", text, strlen(text))};
    if (!ptx_read(&found.module, found.source, true, &found.diagnostics))
        fail_msg("%s\n%s", found.diagnostics.items[0].message, text);
    bool good = instrument(&found.module, &options, &to, &problem);
    snprintf(why, size, "%s", good ? "" : problem);
    assert_true(good || !to.size);
    text_char(&to, 0);
    ptx_free(&found.module);
    diagnostics_free(&found.diagnostics);
    source_free(found.source);
    return to.data;
}

/* Sites at which lanes hand registers to each other. */
static uint32_t forwarded_in(const char *text) {
    Found found;
    uint32_t forwarded = 0;
    find(&found, text, RECORDING_EVERYWHERE);
    for (uint32_t i = 0; i < found.sites.count; i++)
        forwarded += found.sites.items[i].hands;
    found_free(&found);
    return forwarded;
}

/* Lanes that hand registers to each other are recorded where a part of a warp may come, with the mask alone. What all
 * of the warp comes to costs nothing, up to where lanes may wait elsewhere. */
static void test_lanes_that_hand_on(void **state) {
    (void)state;
#define SHUFFLE "shfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;\n"
#define SOME    "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra S;\nbra T;\nS:\n"
    assert_int_equal(forwarded_in(HEAD OPEN SHAPED INDEX SHUFFLE
                                  "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra S;\nbra T;\nS:\n" SHUFFLE "T:\n" SHUFFLE
                                  "ret;\n}\n"),
                     0); /* a warp or none */
    assert_int_equal(forwarded_in(HEAD OPEN FREE INDEX SHUFFLE "vote.sync.ballot.b32 %r8, %p1, -1;\nret;\n}\n"), 0);
    assert_int_equal(forwarded_in(HEAD OPEN SHAPED INDEX SOME SHUFFLE "T:\nret;\n}\n"), 1);
    assert_int_equal(forwarded_in(HEAD OPEN SHAPED INDEX "setp.lt.u32 %p1, %r1, 7;\n@%p1 " SHUFFLE "ret;\n}\n"), 1);
    /* Behind it others come apart, up to where all of them meet. */
    assert_int_equal(
        forwarded_in(HEAD OPEN SHAPED INDEX SOME SHUFFLE "T:\n" SHUFFLE "bra U;\nU:\n" SHUFFLE "ret;\n}\n"), 2);
    assert_int_equal(
        forwarded_in(HEAD OPEN SHAPED INDEX SOME SHUFFLE "T:\nbar.sync 0;\nbra U;\nU:\n" SHUFFLE "ret;\n}\n"), 1);
    assert_int_equal(
        forwarded_in(HEAD OPEN SHAPED INDEX SOME SHUFFLE "T:\nbar.sync 1, 64;\nbra U;\nU:\n" SHUFFLE "ret;\n}\n"), 2);
    Found found;
    find(&found, HEAD OPEN SHAPED INDEX SOME "shfl.sync.idx.b32 %r8, %r7, %r6, %r5, %r2;\nT:\nret;\n}\n",
         RECORDING_EVERYWHERE);
    assert_int_equal(found.sites.items[0].part_count, 1);
    assert_true(found.sites.items[0].parts[0].proven);
    assert_int_equal(found.sites.items[0].parts[0].shape, PART_UNIFORM);
    found_free(&found);
}

static void test_sites(void **state) {
    (void)state;
    Found found;
    find(&found,
         HEAD ".const .b32 c[4];\n" OPEN SHAPED INDEX ".local .b32 here[4];\n.shared .b32 there[64];\n"
              "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.const.b32 %r4, [c];\nst.local.b32 [here], %r4;\n"         /* nothing else sees these */
              "ld.global.b32 %r5, [%rd3+4];\nst.shared.b32 [there], %r5;\n" /* 0, 1 */
              "atom.global.add.u32 %r6, [%rd1], 1;\nld.acquire.gpu.global.b32 %r7, [%rd1];\n" /* 2, 3 */
              "bar.sync 0;\nfence.acq_rel.gpu;\nshfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;\n"    /* 4, 5 */
              "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.b32 [%rd1], %r8;\nret;\n}\n",         /* 6, 7 */
         RECORDING_EVERYWHERE);
    const Site *sites = found.sites.items;
    assert_int_equal(found.sites.count, 8);
    assert_int_equal(sites[0].part_count, 1);
    assert_int_equal(sites[0].parts[0].bits, 64);
    assert_int_equal(sites[0].parts[0].shape, PART_STRIDE);
    assert_int_equal(sites[0].parts[0].stride, 4);
    assert_true(sites[0].parts[0].proven);
    assert_int_equal(site_offset(&sites[0].parts[0], 33), 4);
    assert_int_equal(sites[1].part_count, 1); /* a symbol: all threads write there, and what is told */
    assert_true(sites[1].parts[0].data && sites[1].parts[0].shape == PART_EVERY);
    assert_true(sites[2].strong && sites[2].each && sites[3].strong);
    assert_false(sites[0].strong);
    assert_int_equal(sites[6].parts[0].shape, PART_UNIFORM);
    assert_true(sites[7].ends);
    assert_int_equal(found.sites.chunk & (found.sites.chunk - 1), 0);
    found_free(&found);
}

/* Whether what a store to shared memory stores is told. */
static bool reports_stored(const char *shape, const char *store) {
    Found found;
    char text[2000];
    snprintf(text, sizeof text, "%s%s%s%s%s\nret;\n}\n", HEAD OPEN, shape, INDEX,
             ".shared .align 16 .b8 there[1024];\nld.global.b32 %r4, [%rd1];\nmov.b32 %r5, there;\n", store);
    find(&found, text, RECORDING_EVERYWHERE);
    const Site *site = &found.sites.items[1];
    bool data = site->part_count && site->parts[site->part_count - 1].data;
    found_free(&found);
    return data;
}

static void test_stored(void **state) {
    (void)state;
    static const char own[] = "mad.lo.u32 %r6, %r1, 4, %r5;\nst.shared.b32 [%r6], %r4;",
                      overlaps[] = "mad.lo.u32 %r6, %r1, 4, %r5;\nst.shared.v2.b32 [%r6], {%r4, %r4};",
                      masked[] = "and.b32 %r6, %r1, 31;\nmad.lo.u32 %r6, %r6, 4, %r5;\nst.shared.b32 [%r6], %r4;",
                      elected[] = "shr.u32 %r6, %r1, 5;\nmad.lo.u32 %r6, %r6, 4, %r5;\nand.b32 %r7, %r1, 31;\n"
                                  "setp.eq.u32 %p1, %r7, 0;\n@%p1 st.shared.b32 [%r6], %r4;",
                      others[] = "shr.u32 %r6, %r1, 5;\nmad.lo.u32 %r6, %r6, 4, %r5;\nand.b32 %r7, %r1, 31;\n"
                                 "setp.eq.u32 %p1, %r7, 0;\n@!%p1 st.shared.b32 [%r6], %r4;",
                      number[] = "st.shared.b32 [%r5], 5;", global[] = "st.global.b32 [%rd1], %r4;";
    assert_false(reports_stored(SHAPED, own));
    assert_true(reports_stored(FREE, own)); /* how many rows of threads there are is not known */
    assert_true(reports_stored(SHAPED, overlaps) && reports_stored(SHAPED, masked));
    assert_false(reports_stored(SHAPED, elected));
    assert_true(reports_stored(SHAPED, others));
    assert_false(reports_stored(SHAPED, number) || reports_stored(SHAPED, global));
}

/* One number says whether two builds would read records alike. */
static uint64_t fingerprint_of(const char *text, uint32_t spaces) {
    Found found;
    find(&found, text, spaces);
    uint64_t fingerprint = instrument_fingerprint(&found.sites);
    found_free(&found);
    return fingerprint;
}

static void test_fingerprint(void **state) {
    (void)state;
#define TEXT(stride)                                                                          \
    HEAD OPEN SHAPED INDEX "mul.wide.u32 %rd2, %r1, " stride ";\nadd.s64 %rd3, %rd1, %rd2;\n" \
                           ".shared .b32 there[64];\nst.shared.b32 [there], 1;\nld.global.b32 %r4, [%rd3];\nret;\n}\n"
    uint64_t one = fingerprint_of(TEXT("4"), RECORDING_EVERYWHERE);
    assert_true(one && one == fingerprint_of(TEXT("4"), RECORDING_EVERYWHERE));
    assert_true(one != fingerprint_of(TEXT("8"), RECORDING_EVERYWHERE));
    assert_true(one != fingerprint_of(TEXT("4"), RECORDING_GLOBAL));
#undef TEXT
}

static void test_spaces(void **state) {
    (void)state;
    static const char text[] =
        HEAD OPEN SHAPED INDEX ".shared .b32 there[64];\nld.global.b32 %r4, [%rd1];\nst.shared.b32 [there], %r4;\n"
                               "red.shared.add.u32 [there], 1;\nbar.sync 0;\nret;\n}\n";
    static const struct {
        uint32_t spaces, count;
    } cases[] = {{RECORDING_EVERYWHERE, 5}, {RECORDING_GLOBAL, 4}, {RECORDING_SHARED, 4}, {RECORDING_TENSOR, 3}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        Found found;
        find(&found, text, cases[i].spaces);
        assert_int_equal(found.sites.count, cases[i].count); /* what synchronizes is always recorded */
        found_free(&found);
    }
}

/* Addresses that differ by parameters alone are one value. */
/* Lanes of full warps that are known are not told: all of them, or those of a guard on the thread's number. */
static void test_lanes(void **state) {
    (void)state;
    Found found;
    char text[] =
        HEAD OPEN SHAPED INDEX "setp.eq.u32 %p1, %r1, 33;\nsetp.eq.u32 %p2, %r2, 7;\n.shared .b64 there[4];\n"
                               "bar.sync 0;\n@%p1 st.shared.b32 [there], 1;\nfence.acq_rel.cta;\n"
                               "@%p2 st.shared.b32 [there+8], 1;\n@%p2 st.shared.b32 [there+16], 1;\nret;\n}\n";
    find(&found, text, RECORDING_EVERYWHERE);
    const Site *sites = found.sites.items;
    assert_int_equal(found.sites.count, 6);
    assert_true(sites[0].bare && sites[0].all && !sites[0].masked);
    assert_true(sites[1].of && !sites[1].all && !sites[1].masked);
    assert_int_equal(sites[1].of_count, 2);
    assert_int_equal(sites[1].of[0], 0);
    assert_int_equal(sites[1].of[1], 2);
    assert_true(sites[2].all);
    assert_true(!sites[3].of && sites[3].masked);
    assert_true(!sites[4].of && !sites[4].masked && !sites[4].all); /* the same as before it */
    found_free(&found);
    char *known = strstr(text, ".reqntid 64");
    memcpy(known, ".reqntid 60", 11); /* there is a warp that is not full */
    find(&found, text, RECORDING_EVERYWHERE);
    for (uint32_t i = 0; i < found.sites.count; i++)
        assert_true(!found.sites.items[i].bare && !found.sites.items[i].all && !found.sites.items[i].of);
    found_free(&found);
}

static void test_derived(void **state) {
    (void)state;
    Found found;
    find(&found,
         HEAD OPEN SHAPED INDEX "ld.param.u64 %rd9, [more];\nmul.wide.u32 %rd2, %r3, 4;\n"
                                "add.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd4, %rd9, %rd2;\nadd.s64 %rd5, %rd4, 128;\n"
                                "ld.global.b32 %r5, [%rd3];\nld.global.b32 %r6, [%rd4];\nst.global.b32 [%rd5], %r6;\n"
                                "st.global.b32 [%rd9], %r5;\nret;\n}\n",
         RECORDING_EVERYWHERE);
    const Site *sites = found.sites.items;
    assert_int_equal(sites[0].run, 5);
    assert_true(sites[0].parts[0].reported);
    assert_false(sites[1].parts[0].reported || sites[2].parts[0].reported || sites[3].parts[0].reported);
    assert_int_equal(sites[2].parts[0].place, sites[0].parts[0].place);
    assert_int_equal(sites[2].parts[0].apart->constant, 128);
    assert_int_equal(sites[2].parts[0].apart->term_count, 2);
    assert_int_equal(sites[3].parts[0].from, RECORD_FROM_LAUNCH);
    found_free(&found);
}

/* What a loop goes through in equal steps is told before it. */
static void test_loop(void **state) {
    (void)state;
    Found found;
    find(&found,
         HEAD OPEN SHAPED INDEX "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.b32 %r4, 0;\n"
                                "L:\nld.global.b32 %r5, [%rd3];\nst.global.b32 [%rd3+4], %r5;\n"
                                "add.s64 %rd3, %rd3, 512;\nadd.s32 %r4, %r4, 1;\nsetp.lt.s32 %p1, %r4, %r2;\n"
                                "@%p1 bra L;\nret;\n}\n",
         RECORDING_EVERYWHERE);
    const Site *sites = found.sites.items;
    assert_int_equal(found.sites.found, 3);
    assert_int_equal(found.sites.count, 4);
    assert_true(sites[3].only_emits);
    assert_int_equal(sites[3].slot_count, 1);
    assert_int_equal(sites[0].advance_count, 1);
    assert_int_equal(sites[0].advances[0].apart->constant, 512);
    assert_int_equal(sites[0].parts[0].from, RECORD_FROM_SLOT);
    assert_int_equal(sites[1].parts[0].from, RECORD_FROM_SLOT);
    found_free(&found);
}

/* ---- The text ---- */

/* All lines of a kernel are there, in their order. */
static void test_text(void **state) {
    (void)state;
    static const char text[] = HEAD OPEN SHAPED INDEX
        "L: ld.global.b32 %r5, [%rd1];\n\tsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra L;\nst.global.b32 [%rd1], %r3;\nret;\n}\n";
    char why[200], *made = instrumented(text, true, why, sizeof why), *at = made;
    assert_string_equal(why, "");
    assert_non_null(strstr(made, ".visible .global .align 8 .b32 " INSTRUMENT_MARK "[8] = {6, "));
    assert_non_null(strstr(made, ".param .u64 weir_launch"));
    static const char *const kept[] = {"ld.param.u32 %r2, [n];",     "L:",  "ld.global.b32 %r5, [%rd1];", "@%p1 bra L;",
                                       "st.global.b32 [%rd1], %r3;", "ret;"};
    for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++) {
        at = strstr(at, kept[i]);
        assert_non_null(at);
        at++;
    }
    free(made);
}

static void test_registers(void **state) {
    (void)state;
    static const char text[] = HEAD ".visible .entry k()\n.reqntid 256\n.maxnreg 128\n{\n"
                                    "setmaxnreg.dec.sync.aligned.u32 24;\nret;\n}\n";
    char why[200], *kept = instrumented(text, true, why, sizeof why),
                   *freed = instrumented(text, false, why, sizeof why);
    assert_non_null(strstr(kept, "setmaxnreg"));
    assert_non_null(strstr(kept, ".maxnreg"));
    assert_null(strstr(freed, "setmaxnreg"));
    assert_null(strstr(freed, ".maxnreg"));
    free(kept);
    free(freed);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {".version 8.0\n.target sm_60\n.address_size 64\n.entry k() { ret; }\n", "sm_70"},
        {HEAD ".visible .entry other() { ret; }\n.visible .entry k() { .reg .b64 %d; mov.u64 %d, other; ret; }\n",
         "launched by the device"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[200], *made = instrumented(cases[i].text, true, why, sizeof why);
        assert_non_null(strstr(why, cases[i].why));
        free(made);
    }
}

/* ptxas refuses a kernel that asks for the address of a texture and also names it. */
static void test_places(void **state) {
    (void)state;
    char why[200];
    char *text =
        instrumented(".version 8.7\n.target sm_90a\n.address_size 64\n.global .texref tex;\n.global .u32 count;\n"
                     ".visible .entry k() .reqntid 32 { .reg .f32 %f<5>; .reg .b32 %r<2>;\n"
                     "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex, {%r1}];\n"
                     "st.global.u32 [count], %r1;\n ret; }\n",
                     true, why, sizeof why);
    assert_string_equal(why, "");
    assert_non_null(strstr(text, ", count;"));
    assert_null(strstr(text, ", tex;"));
    free(text);
}

static void test_options(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        InstrumentOptions options = {.mode = i & 1 ? INSTRUMENT_SHADOW : INSTRUMENT_RECORD,
                                     .spaces = RECORDING_GLOBAL,
                                     .keep_registers = i & 2,
                                     .seed_layout = i & 4};
        InstrumentOptions back = instrument_options_of(options.spaces, instrument_options_number(&options));
        assert_int_equal(back.mode, options.mode);
        assert_int_equal(back.spaces, options.spaces);
        assert_int_equal(back.keep_registers, options.keep_registers);
        assert_int_equal(back.seed_layout, options.seed_layout);
    }
    assert_true(instrument_hash(STR("a")) != instrument_hash(STR("b")));
}

/* ---- Runs in the machine: of the block that the launch leaves, word 5 is `next` and word 6 `dropped` ---- */

enum { NEXT = 5, DROPPED = 6, SHARED_WINDOW = 14 };

static Ran record_in(const char *text, uint32_t n, uint32_t x, uint32_t y, uint32_t more) {
    char why[200], *made = instrumented(text, true, why, sizeof why), launch[4000], hex[2 * sizeof(RecordLaunch) + 1];
    RecordLaunch block = {.first = PTX_BUFFERS_FIRST + 2 * PTX_BUFFERS_APART,
                          .more = PTX_BUFFERS_FIRST + 4 * PTX_BUFFERS_APART,
                          .more_count = more,
                          .tag = 7u << 24,
                          .spin_timeout = record_spin_timeout(0),
                          .sample = {.run = UINT32_MAX}};
    assert_string_equal(why, "");
    for (unsigned i = 0; i < sizeof block; i++)
        snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)&block)[i]);
#define ZERO(words) "{\"tensor\": {\"shape\": [" words "], \"dtype\": \"i32\", \"zero\": true}}"
#define BLOCK       "{\"tensor\": {\"shape\": [224], \"dtype\": \"i8\", \"data\": \"%s\", \"buffer\": \"block\"}}"
    snprintf(launch, sizeof launch,
             "{\"kernel\": \"k\", \"grid\": [1, 1, 1], \"block\": [%u, %u, 1], \"args\": [" BLOCK
             ", " ZERO("262144") ", " ZERO("262144") ", " ZERO("131072") ", " ZERO("65536") ", %u, " BLOCK "]}",
             x, y, hex, n, hex);
    PtxSchedule schedule = {.kind = SCHEDULE_RANDOM};
    Ran ran = run_ptx(made, launch, &schedule);
    if (ran.end != PTX_END_COMPLETE)
        fail_msg("%d: %s\n%s", ran.end, ran.what, made);
    free(made);
    return ran;
}

static Ran record(const char *text, uint32_t n, uint32_t threads, uint32_t more) {
    return record_in(text, n, threads, 1, more);
}

/* An index that wraps between the lanes of a warp is told; one that is large, and does not, is not. */
static void test_wraps(void **state) {
    (void)state;
    static const char text[] =
        HEAD OPEN SHAPED INDEX "mul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 "
                               "st.global.b32 [%rd3], %r1;\n"
                               "ret;\n}\n";
    assert_int_equal(record(text, 0, 64, 4).out[DROPPED], 0);
    assert_int_equal(record(text, 0x50000000, 64, 4).out[DROPPED], 0);
    assert_int_equal(record(text, 0x7ffffff0, 64, 4).out[DROPPED], RECORD_DROPPED_WRAP);
    assert_int_equal(record(text, 0x7fffffc0, 64, 4).out[DROPPED], 0); /* between warps */
}

/* Further chunks, and none left. */
static void test_room(void **state) {
    (void)state;
    static const char text[] =
        HEAD OPEN SHAPED INDEX "mov.b32 %r4, 0;\nL:\nand.b32 %r5, %r4, 7;\nmul.wide.u32 %rd2, %r5, 4;\nadd.s64 %rd3, "
                               "%rd1, %rd2;\nld.global.b32 %r6, [%rd3];\n"
                               "bar.sync 0;\nadd.s32 %r4, %r4, 1;\nsetp.lt.s32 %p1, %r4, %r2;\n@%p1 bra L;\nret;\n}\n";
    Ran few = record(text, 10, 64, 8), many = record(text, 500, 64, 8), none = record(text, 500, 64, 1);
    assert_int_equal(few.out[NEXT], 0);
    assert_in_range(many.out[NEXT], 2, 8);
    assert_int_equal(many.out[DROPPED], 0);
    assert_in_range(none.out[NEXT], 2, 8); /* there is one: record_dropped */
    /* Where shared memory is, is noted if an address may be in it. */
    Ran generic = record(HEAD OPEN SHAPED INDEX "ld.b32 %r6, [%rd1];\nret;\n}\n", 10, 64, 8);
    assert_true(generic.out[SHARED_WINDOW] || generic.out[SHARED_WINDOW + 1]);
    assert_false(few.out[SHARED_WINDOW] || few.out[SHARED_WINDOW + 1]);
}

/* Lanes that lead apart, of CTAs whose shape is not given, have chunks of their own. */
static void test_apart(void **state) {
    (void)state;
    static const char text[] = HEAD OPEN FREE INDEX
        "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "@%p1 bra EVEN;\nst.global.b32 [%rd3], %r1;\nbra.uni END;\nEVEN:\nld.global.b32 %r5, [%rd3];\nEND:\nret;\n}\n";
    Ran ran = record(text, 0, 40, 8);
    assert_in_range(ran.out[NEXT], 2, 8); /* lane 1 of each warp, at least */
    assert_int_equal(ran.out[DROPPED], 0);
    /* Of a lane that finds no chunk to begin with nothing else is left. */
    assert_int_equal(record(text, 0, 40, 0).out[DROPPED], RECORD_DROPPED_FIRST);
}

/* ---- CTAs of a size that is not known ---- */

#define ELEMENT "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"

static void expect_fits(const char *text, uint32_t x, uint32_t y, bool fits) {
    Found found;
    find(&found, text, RECORDING_EVERYWHERE);
    assert_int_equal(instrument_fits(&found.module, 0, (uint32_t[]){x, y, 1}), fits);
    found_free(&found);
}

/* A kernel that looks at %tid.x alone is taken to have rows of whole warps, or a single one. */
static void test_rows(void **state) {
    (void)state;
    static const char lone[] = HEAD OPEN FREE INDEX ELEMENT "st.global.b32 [%rd3], %r1;\nret;\n}\n";
    static const char several[] =
        HEAD OPEN FREE INDEX ELEMENT "mov.u32 %r4, %tid.y;\nst.global.b32 [%rd3], %r4;\nret;\n}\n";
    Found found;
    find(&found, lone, RECORDING_EVERYWHERE);
    assert_true(found.sites.items[0].parts[0].proven);
    assert_int_equal(found.sites.items[0].parts[0].stride, 4);
    assert_int_not_equal(found.sites.items[0].run, 0);
    found_free(&found);
    find(&found, several, RECORDING_EVERYWHERE);
    assert_false(found.sites.items[0].parts[0].proven);
    assert_int_equal(found.sites.items[0].run, 0);
    found_free(&found);
    expect_fits(lone, 100, 1, true);
    expect_fits(lone, 96, 3, true);
    expect_fits(lone, 16, 4, false);
    expect_fits(several, 16, 4, true);
    expect_fits(HEAD OPEN SHAPED INDEX "ret;\n}\n", 16, 4, true);
}

/* In others it runs, too: lanes of a warp that go by different ways do not wait for each other. */
static void test_rows_that_do_not_fit(void **state) {
    (void)state;
    static const char text[] = HEAD OPEN FREE INDEX ELEMENT
        "shr.u32 %r4, %r1, 3;\nsetp.eq.u32 %p1, %r4, 0;\nshr.u32 %r6, %r1, 5;\nsetp.eq.u32 %p2, %r6, 1;\n"
        "@%p1 bra LOW;\nst.global.b32 [%rd3], %r1;\nLOW:\n@!%p2 bra END;\nAGAIN:\nld.global.b32 %r5, [%rd3];\n"
        "add.s32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 4;\n@%p3 bra AGAIN;\nEND:\nbar.sync 0;\nret;\n}\n";
    assert_int_equal(record_in(text, 0, 48, 3, 200).out[DROPPED], 0);
    assert_int_equal(record_in(text, 0, 16, 4, 200).out[DROPPED], 0);
    assert_int_equal(record_in(text, 0, 70, 1, 200).out[DROPPED], 0);
}

static unsigned times_in(const char *text, const char *what) {
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        count++;
    return count;
}

/* A wait reads the clock and, seldom, the limit: what comes then stands once in a function. */
static void test_waits(void **state) {
    (void)state;
    char why[200], *made = instrumented(HEAD OPEN SHAPED INDEX
                                        "A:\nld.acquire.gpu.global.b32 %r4, [%rd1];\nsetp.eq.u32 %p1, %r4, 0;\n"
                                        "@%p1 bra A;\nB:\nld.acquire.gpu.global.b32 %r5, [%rd1+4];\n"
                                        "setp.eq.u32 %p2, %r5, 0;\n@%p2 bra B;\nret;\n}\n",
                                        true, why, sizeof why);
    assert_string_equal(why, "");
    assert_int_equal(times_in(made, "+40];\n"), 2 + 1);
    assert_int_equal(times_in(made, "st.volatile.global.b64"), 1);
    free(made);
}

/* Strong accesses look for room for what comes behind them, too: a turn that makes one does not look twice. */
static void test_looks(void **state) {
    (void)state;
    static const char text[] = HEAD OPEN SHAPED INDEX
        "mov.b32 %r8, 0;\nTURN:\nbar.sync 0;\natom.global.add.u32 %r4, [%rd1], 1;\nst.global.b32 [%rd1+4], %r4;\n"
        "add.s32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, 40;\n@%p1 bra TURN;\nret;\n}\n";
    char why[200], *made = instrumented(text, true, why, sizeof why);
    assert_string_equal(why, "");
    assert_int_equal(times_in(made, "atom.global.inc.u32"), 1);
    free(made);
    Ran ran = record(text, 0, 64, 100);
    assert_in_range(ran.out[NEXT], 2 * 40 * 32 * 32 / 4096, 30);
    assert_int_equal(ran.out[DROPPED], 0);
    assert_in_range(record(text, 0, 64, 3).out[NEXT], 4, 30); /* there are three */
}

/* For launches of one kernel with CTAs of one shape: the others are gone, the kernel says the shape, lines stay. */
static void test_launched(void **state) {
    (void)state;
    static const char others[] = HEAD ".visible .entry\nother(\n.param .u64 x)\n{\nret;\n}\n" OPEN
                                      ".maxntid 1024, 1, 1\n" FREE INDEX "mul.wide.u32 %rd2, %r3, 4;\n"
                                      "add.s64 %rd3, %rd1, %rd2;\nst.global.b32 [%rd3], %r2;\nret;\n}\n";
    const uint32_t block[3] = {16, 8, 1};
    Found found;
    Text to = {0};
    find(&found, others, RECORDING_EVERYWHERE);
    instrument_launched(&found.module, 1, block, &to);
    text_char(&to, 0);
    found_free(&found);
    size_t lines = 0, before = 0;
    for (const char *at = to.data; *at; at++)
        lines += *at == '\n';
    for (const char *at = others; *at; at++)
        before += *at == '\n';
    assert_int_equal(lines, before);
    assert_null(strstr(to.data, "other"));
    assert_null(strstr(to.data, ".maxntid"));
    assert_non_null(strstr(to.data, ".reqntid 16, 8, 1 {"));
    find(&found, to.data, RECORDING_EVERYWHERE);
    assert_int_equal(found.module.functions_count, 1);
    assert_int_equal(found.sites.items[0].parts[0].shape, PART_TABLE);
    found_free(&found);
    text_free(&to);
}

/* A strong access of one lane has its place as others have; and turns of a loop that all come to an inner one look
 * there whether there is room. */
static void test_alone(void **state) {
    (void)state;
    static const char text[] = HEAD OPEN SHAPED INDEX
        "setp.eq.u32 %p1, %r1, 0;\nmov.b32 %r4, 0;\nTURN:\nst.global.b32 [%rd1+8], %r4;\nmov.b32 %r5, 0;\nINNER:\n"
        "st.global.b32 [%rd1+12], %r5;\nbar.sync 0;\n@%p1 atom.global.add.u32 %r6, [%rd1], 1;\nadd.s32 %r5, %r5, "
        "1;\nsetp.lt.u32 %p2, %r5, 40;\n"
        "@%p2 bra INNER;\nadd.s32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 20;\n@%p3 bra TURN;\nret;\n}\n";
    char why[200], *made = instrumented(text, true, why, sizeof why);
    assert_string_equal(why, "");
    assert_int_equal(times_in(made, "atom.global.inc.u32"), 1);
    assert_int_equal(times_in(made, "%lanemask_lt"), 0);
    free(made);
    Ran ran = record(text, 0, 64, 100);
    assert_in_range(ran.out[NEXT], 800 * (32 + 16 + 16) / 4096, 30); /* of both warps */
    assert_int_equal(ran.out[DROPPED], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_lanes_that_hand_on),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_spaces),
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_launched),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_wraps),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_rows_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
