/* Which threads use what a load gives them, by the guards of what is done with it. */
#include "ptx_running.h"

#include "machine/simt/decode/unused.h"

/* %r2 is loaded; %r1 is the thread's number, %r39 an argument, %r6 its bit 5: 0 in the first warp, 32 in the second. */
static const struct {
    const char *body;
    uint32_t unused[2]; /* of each warp */
} rows[] = {
    {"st.global.u32 [%rd3], %r2;", {0, 0}},
    {"setp.ne.u32 %p1, %r6, 0; @%p1 st.global.u32 [%rd3], %r2;", {UINT32_MAX, 0}},
    {"setp.eq.u32 %p1, %r6, 0; @%p1 st.global.u32 [%rd3], %r2;", {0, UINT32_MAX}},
    {"setp.eq.u32 %p1, %r6, 0; @!%p1 st.global.u32 [%rd3], %r2;", {UINT32_MAX, 0}},
    {"setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd3], %r2;", {~1U, UINT32_MAX}},
    /* of what is compared with an argument nothing is known, and with another constant what its numbers say */
    {"setp.eq.u32 %p1, %r6, %r39; @%p1 st.global.u32 [%rd3], %r2;", {0, 0}},
    {"setp.lt.u32 %p1, %r39, 7; @%p1 st.global.u32 [%rd3], %r2;", {0, 0}},
    {"add.u32 %r7, %r39, 1; setp.eq.u32 %p1, %r7, 5; @%p1 st.global.u32 [%rd3], %r2;", {0, 0}},
    {"setp.ne.u32 %p1, %r6, 0; selp.u32 %r7, %r39, 0, %p1; setp.eq.u32 %p2, %r7, 5; @%p2 st.global.u32 [%rd3], %r2;",
     {0, 0}},
    {"setp.ne.u32 %p1, %r6, 0; selp.u32 %r7, %r39, 0, %p1; setp.ne.u32 %p2, %r7, 0; @%p2 st.global.u32 [%rd3], %r2;",
     {UINT32_MAX, 0}},
    {"setp.ne.u32 %p1, %r6, 0; setp.gt.u32 %p2, %r39, 3; and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%rd3], %r2;",
     {UINT32_MAX, 0}},
    {"setp.ne.u32 %p1, %r6, 0; setp.gt.u32 %p2, %r39, 3; or.pred %p3, %p1, %p2; @%p3 st.global.u32 [%rd3], %r2;",
     {0, 0}},
    {"setp.ne.u32 %p1, %r6, 0; setp.gt.u32 %p2, %r39, 3; setp.ne.and.u32 %p3, %r39, 0, %p1;"
     "@%p3 st.global.u32 [%rd3], %r2;",
     {UINT32_MAX, 0}},
    /* what others of the warp may have, all of its lanes use */
    {"setp.eq.u32 %p1, %r1, 3; shfl.sync.bfly.b32 %r7, %r2, 1, 31, -1; @%p1 st.global.u32 [%rd3], %r7;",
     {0, UINT32_MAX}},
    {"setp.eq.u32 %p1, %r1, 3; add.u32 %r7, %r2, %r2; @%p1 st.global.u32 [%rd3], %r7;", {~8U, UINT32_MAX}},
};

static void threads_that_use_a_load(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PtxRunning r;
        Text text = {0};
        text_addf(
            &text,
            ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) .reqntid 64 { .reg .pred %%p<4>;"
            ".reg .b32 %%r<40>; .reg .b64 %%rd<20>; %s and.b32 %%r6, %%r1, 32; ld.global.u32 %%r2, [%%rd5]; %s ret; }",
            OWN, rows[i].body);
        text_char(&text, 0);
        ptx_running_read(&r, "sm_90", text.data);
        ptx_unused(r.program, (size_t)1 << 24);
        const PtxCode *load = NULL;
        for (uint32_t k = 0; k < r.program->code_count; k++)
            if (ptx_form_has(r.program->code[k].form->text, STR("global")) && r.program->code[k].form->writes & 1)
                load = &r.program->code[k];
        assert_non_null(load);
        for (uint32_t warp = 0; warp < 2; warp++)
            if (code_unused(load, warp) != rows[i].unused[warp])
                fail_msg("%s: warp %u: %x, not %x", rows[i].body, warp, code_unused(load, warp), rows[i].unused[warp]);
        r.launch.block[0] = 64;
        ptx_running_expect(&r, PTX_END_COMPLETE);
        ptx_running_end(&r);
        text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_use_a_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
