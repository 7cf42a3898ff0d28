/* machine/simt/host/team: which launches run on several threads, and which run again in the order of their CTAs. */
#include "ptx_running.h"

#include "machine/simt/host/host.h"

enum { CTAS = 96, CTA_THREADS = 32, WORDS = CTAS * CTA_THREADS };

static uint32_t in[WORDS], out[WORDS];

/* A device with memory of its own, and a kernel on it. */
typedef struct Teamed {
    PtxRunning read;
    PtxDevice device;
    HostKernel *kernel;
    PtxLaunch launch;
    Arena arena;
    HostRun run;
} Teamed;

static void begin(Teamed *t, const char *text, unsigned jobs) {
    const char *problem = NULL;
    ptx_running_read(&t->read, "sm_90", text);
    t->device = (PtxDevice){.jobs = jobs};
    assert_true(host_add(&t->device, in, sizeof in, "in", true));
    assert_true(host_add(&t->device, out, sizeof out, "out", true));
    t->kernel = host_kernel(&t->device, &t->read.module, t->read.program->entry, &problem);
    assert_non_null(t->kernel);
    for (uint32_t i = 0; i < WORDS; i++) {
        in[i] = i;
        out[i] = 0;
    }
    uint64_t pointers[] = {(uintptr_t)in, (uintptr_t)out};
    memcpy(t->read.parameters, pointers, sizeof pointers);
    t->launch = (PtxLaunch){.grid = {CTAS, 1, 1}, .block = {CTA_THREADS, 1, 1}, .cluster = {1, 1, 1}};
    t->run = (HostRun){0};
    arena_init(&t->arena, SIZE_MAX);
    host_place(&t->device, t->kernel, t->read.parameters, &t->launch, &t->arena);
}

static PtxEnd go(Teamed *t) {
    t->run = (HostRun){.device = &t->device, .kernel = t->kernel, .launch = &t->launch};
    PtxEnd end = host_run(&t->run);
    ptx_machine_free(t->run.machine);
    return end;
}

static void end(Teamed *t) {
    host_free(&t->device);
    arena_free(&t->arena);
    ptx_running_end(&t->read);
}

#define GRID POINTERS "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1;\n"
#define MINE GRID "mul.wide.u32 %rd4, %r3, 4; add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;\n"

static const char own[] = KERNEL(MINE "ld.global.u32 %r4, [%rd5]; mul.lo.u32 %r4, %r4, 3;\n" GIVE("%r4") "ret;");

static void threads_help_where_ctas_do_not_meet(void **state) {
    (void)state;
    for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
        Teamed t;
        begin(&t, own, jobs);
        assert_int_equal(go(&t), PTX_END_COMPLETE);
        assert_int_equal(t.run.threads, jobs);
        assert_false(t.run.again);
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(out[i], 3 * i);
        end(&t);
    }
}

static void threads_help_only_with_what_takes_long(void **state) {
    (void)state;
    Teamed t;
    begin(&t, own, 8);
    t.device.alone_for = 100;
    assert_int_equal(go(&t), PTX_END_COMPLETE);
    assert_int_equal(t.run.threads, 1);
    assert_false(t.run.again);
    end(&t);
}

/* Words that are next to each other, and rows of one word for each CTA. */
static void ctas_that_are_neighbors_do_not_meet(void **state) {
    (void)state;
    Teamed t;
    begin(&t,
          KERNEL(GRID "mad.lo.u32 %r4, %r1, 96, %r2; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd3, %rd2, %rd4;\n" GIVE(
              "%r4") "ret;"),
          4);
    assert_int_equal(go(&t), PTX_END_COMPLETE);
    assert_int_equal(t.run.threads, 4);
    assert_false(t.run.again);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(out[i], i);
    end(&t);
}

/* So long that several threads get some of the CTAs, if not each time. */
enum { TRIES = 2000 };
#define WORK "mov.u32 %r38, 3000; WORK: sub.u32 %r38, %r38, 1; setp.ne.u32 %p9, %r38, 0; @%p9 bra WORK;\n"

/* The later one of two CTAs finds what the other one wrote, in the order of their numbers. */
static void ctas_that_meet_run_in_order(void **state) {
    (void)state;
    static const char *const kernels[] = {
        KERNEL(MINE WORK "atom.global.add.u32 %r4, [%rd2], 1; ret;"),
        KERNEL(MINE WORK "st.global.u32 [%rd2], %r3; ret;"),
        KERNEL(MINE WORK
               "add.u32 %r4, %r3, 512; rem.u32 %r5, %r4, 3072;\n"
               "mul.wide.u32 %rd6, %r5, 4; add.s64 %rd7, %rd2, %rd6; ld.global.u32 %r6, [%rd7];\n" GIVE("%r6") "ret;"),
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Teamed t;
        begin(&t, kernels[i], 4);
        for (unsigned tries = 0; tries < TRIES && !t.run.again; tries++) {
            memset(out, 0, sizeof out);
            assert_int_equal(go(&t), PTX_END_COMPLETE);
            assert_int_equal(t.run.threads, 4);
        }
        assert_true(t.run.again);
        if (i == 0)
            assert_int_equal(out[0], WORDS);
        if (i == 1)
            assert_int_equal(out[0], WORDS - 1);
        /* It is not tried each time. */
        assert_int_equal(go(&t), PTX_END_COMPLETE);
        assert_int_equal(t.run.threads, 1);
        assert_false(t.run.again);
        end(&t);
    }
}

static void what_ctas_hand_on_elsewhere_is_in_order(void **state) {
    (void)state;
    static const char *const kernels[] = {
        KERNEL(MINE "mov.u32 %r4, %clock;\n" GIVE("%r4") "ret;"),
        ".extern .func (.param .b64 r) malloc(.param .b64 a);\n" KERNEL(
            MINE
            "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 64; call (b), malloc, (a); ld.param.b64 %rd6, [b]; }\n"
            "cvt.u32.u64 %r4, %rd6;\n" GIVE("%r4") "ret;"),
    };
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        static uint32_t first[WORDS];
        for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
            Teamed t;
            begin(&t, kernels[i], jobs);
            assert_int_equal(go(&t), PTX_END_COMPLETE);
            assert_int_equal(t.run.again, jobs > 1);
            if (jobs == 1)
                memcpy(first, out, sizeof first);
            assert_memory_equal(first, out, sizeof first);
            end(&t);
        }
    }
}

static void a_fault_of_any_thread_is_that_of_the_first_cta(void **state) {
    (void)state;
    for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
        Teamed t;
        begin(&t, KERNEL(MINE "setp.lt.u32 %p1, %r2, 50;\n" GIVE("%r3") "@!%p1 trap; ret;"), jobs);
        t.run = (HostRun){.device = &t.device, .kernel = t.kernel, .launch = &t.launch};
        assert_int_equal(host_run(&t.run), PTX_END_FAULT);
        assert_int_equal(t.run.machine->fault.warp->cta->number, 50);
        ptx_machine_free(t.run.machine);
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(out[i], 0);
        end(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_help_where_ctas_do_not_meet),
        cmocka_unit_test(threads_help_only_with_what_takes_long),
        cmocka_unit_test(ctas_that_are_neighbors_do_not_meet),
        cmocka_unit_test(ctas_that_meet_run_in_order),
        cmocka_unit_test(what_ctas_hand_on_elsewhere_is_in_order),
        cmocka_unit_test(a_fault_of_any_thread_is_that_of_the_first_cta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
