/* instrument/emit/patience: which loops are waits, and give up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instrument/instrument.h"
#include "ptx/reader.h"

/* A kernel with this body, instrumented. */
static char *instrumented(const char *body) {
    Text text = {0}, to = {0};
    Diagnostics diagnostics = {0};
    PtxModule module;
    const char *problem = NULL;
    InstrumentOptions options = instrument_options_of(RECORDING_EVERYWHERE, 0);
    text_addf(&text,
              ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n) {\n"
              ".shared .align 8 .b64 full;\n.shared .align 4 .b32 flag;\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<8>;\n.reg "
              ".pred %%p<4>;\n"
              "ld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\n%sret;\n}\n",
              body);
    Source *source = source_copy("k.ptx", text.data, text.size);
    assert_true(ptx_read(&module, source, false, &diagnostics));
    assert_true(instrument(&module, &options, &to, &problem));
    ptx_free(&module);
    source_free(source);
    text_free(&text);
    char *copy = strndup(to.data, to.size);
    text_free(&to);
    return copy;
}

static unsigned count(const char *text, const char *what) {
    unsigned found = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        found++;
    return found;
}

/* Waits that have a limit; all of them give up at one place. */
static void has_waits(const char *body, unsigned waits) {
    char *text = instrumented(body);
    assert_int_equal(count(text, "%globaltimer;\n\tshr.u64"), waits);
    assert_int_equal(count(text, "trap;"), waits > 0);
    free(text);
}

static void waits_for_mbarriers(void **state) {
    (void)state;
    has_waits("L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra L;\n", 1);
    has_waits("L: mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;\n@%p1 bra M;\nbra L;\nM:\n", 1);
    has_waits("L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;\n@!%p1 bra L;\n"
              "M: mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 1;\n@!%p1 bra M;\n",
              2);
}

static void a_look_is_no_wait(void **state) {
    (void)state;
    has_waits("mbarrier.test_wait.parity.shared::cta.b64 %p1, [full], 0;\n@%p1 bra M;\nst.global.u32 [%rd1], 1;\nM:\n",
              0);
    has_waits("ld.acquire.gpu.global.u32 %r2, [%rd1];\n", 0);
}

static void waits_for_memory(void **state) {
    (void)state;
    has_waits("L: ld.acquire.gpu.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n", 1);
    has_waits("L: ld.volatile.global.v2.u32 {%r2, %r3}, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n", 1);
    has_waits("L: atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\n", 1);
    /* One thread looks for all of the CTA. */
    has_waits("setp.eq.u32 %p2, %r1, 0;\nL: bar.sync 0;\n@%p2 ld.acquire.gpu.global.u32 %r2, [%rd1];\n@%p2 "
              "st.shared.u32 [flag], %r2;\n"
              "bar.sync 0;\nld.shared.u32 %r3, [flag];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\n",
              1);
}

static void loops_that_do_more_are_no_waits(void **state) {
    (void)state;
    /* Work until a flag is set. */
    has_waits("L: add.u32 %r4, %r4, 1;\nst.global.u32 [%rd1+64], %r4;\nld.relaxed.gpu.global.u32 %r2, [%rd1];\n"
              "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n",
              0);
    /* Arrivals are progress. */
    has_waits("L: mbarrier.arrive.shared::cta.b64 %rd2, [full];\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [full], "
              "0;\n@!%p1 bra L;\n",
              0);
    /* Nothing that others can change is looked at. */
    has_waits("L: add.u32 %r2, %r2, 1;\nld.global.u32 %r3, [%rd1];\nsetp.lt.u32 %p1, %r2, %r3;\n@%p1 bra L;\n", 0);
    has_waits("L: red.global.add.u32 [%rd1], 1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\n", 0);
}

/* A loop that counts does not wait, whatever it reads; it does if a read decides whether it counts. */
static void loops_that_count_are_no_waits(void **state) {
    (void)state;
#define FIRST "ld.param.u32 %r3, [n];\nmov.u32 %r4, 0;\nL:\n"
#define LOOK  "ld.volatile.shared.u32 %r2, [flag];\n"
#define NEXT  "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra L;\n"
    has_waits(FIRST LOOK NEXT, 0);
    has_waits(FIRST "atom.shared.add.u32 %r2, [flag], 1;\n" NEXT, 0);
    has_waits(FIRST LOOK "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\n" NEXT, 1);
    has_waits(FIRST LOOK "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra M;\nadd.u32 %r4, %r4, 1;\nM: " NEXT, 1);
    has_waits(FIRST LOOK
              "setp.eq.u32 %p2, %r2, 0;\n@!%p2 add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra L;\n",
              1);
    has_waits(FIRST LOOK "add.u32 %r4, %r4, %r2;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra L;\n", 1);
}

/* A limit is at least a unit of the clock; without one, it is never reached. */
static void limits_are_units(void **state) {
    (void)state;
    assert_int_equal(record_spin_timeout(0), UINT32_MAX);
    assert_int_equal(record_spin_timeout(1), 1);
    assert_int_equal(record_spin_timeout(500000000), 7629);
    assert_int_equal(record_spin_timeout(UINT64_MAX), UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_for_mbarriers),
        cmocka_unit_test(a_look_is_no_wait),
        cmocka_unit_test(waits_for_memory),
        cmocka_unit_test(loops_that_do_more_are_no_waits),
        cmocka_unit_test(loops_that_count_are_no_waits),
        cmocka_unit_test(limits_are_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
