/* Which accesses of a kernel that checks itself are checked together, and where. */
#include "shadowed.h"

typedef struct Case {
    const char *body;
    const char *groups; /* how many sites each; of several: before the first of them '<', behind the last '>' */
} Case;

static const Case cases[] = {
    /* Loads alone, before any of them. */
    {"ld.global.u32 %r5, [%rd1]; ld.global.u32 %r6, [%rd1+128];\n", "<2"},
    {"ld.global.u32 %r5, [%rd1]; add.s64 %rd2, %rd1, 128; ld.global.u32 %r6, [%rd2];\n", "1 1"},
    /* With a store it is behind that: addresses may be computed meanwhile. */
    {"ld.global.u32 %r5, [%rd1]; add.s64 %rd2, %rd1, 128; st.global.u32 [%rd2], %r5;\n", ">2"},
    {"st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+128], %r2; ld.global.u32 %r5, [%rd1];\n", ">3"},
    /* Not if they are not there anymore, or the guard. */
    {"st.global.u32 [%rd1], %r2; add.s64 %rd1, %rd1, 128; st.global.u32 [%rd1], %r2;\n", "1 1"},
    {"ld.global.u64 %rd1, [%rd1]; st.global.u64 [%rd1], %rd1;\n", "1 1"},
    {"st.global.u64 [%rd2], %rd1; ld.global.u64 %rd1, [%rd1]; st.global.u64 [%rd2+8], %rd1;\n", "1 1 1"},
    {"setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd1], %r2; setp.eq.u32 %p1, %r2, 1;\n"
     "@%p1 st.global.u32 [%rd1+4], %r2;\n",
     "1 1"},
    /* Not across what orders, or jumps; not with others that are of more bytes. */
    {"st.global.u32 [%rd1], %r2; bar.sync 0; st.global.u32 [%rd1+128], %r2;\n", "1 1"},
    {"st.global.u32 [%rd1], %r2; fence.acq_rel.gpu; st.global.u32 [%rd1+128], %r2;\n", "1 1"},
    {"st.global.u32 [%rd1], %r2; @%p1 bra NEXT; NEXT: st.global.u32 [%rd1+128], %r2;\n", "1 1"},
    {"st.global.u32 [%rd1], %r2; st.global.u64 [%rd1+128], %rd1;\n", "1 1"},
    /* Copies bring nothing into registers. */
    {"cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.ca.shared.global [%r1+16], [%rd1+16], 16;\n", ">2"},
    {"st.global.u8 [%rd1], %r2; st.global.u8 [%rd1+1], %r2; st.global.u8 [%rd1+2], %r2; st.global.u8 [%rd1+3], %r2;\n"
     "st.global.u8 [%rd1+4], %r2; st.global.u8 [%rd1+5], %r2; st.global.u8 [%rd1+6], %r2; st.global.u8 [%rd1+7], %r2;\n"
     "st.global.u8 [%rd1+8], %r2;\n",
     ">8 1"},
};

static bool is_weak(const ShadowSite *site) {
    return site->kind == SHADOW_SITE_ACCESS;
}

static void what_is_checked_together(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text kernel = {0}, groups = {0};
        text_addf(&kernel, "%s%s%s",
                  ".visible .entry k(.param .u64 p, .param .u32 n)"
                  "{ .reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n"
                  "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n",
                  cases[i].body, "ret; }");
        text_add(&kernel, "", 1);
        PtxRunning plain;
        ptx_running_read(&plain, "sm_90a", kernel.data);
        ShadowSites sites;
        const char *problem = NULL;
        assert_true(shadow_sites(&sites, &plain.module, &problem));
        for (uint32_t at = 0; at < sites.count;) {
            ShadowGroup group = shadow_group(&sites, &plain.module, at);
            const char *place = group.count == 1 ? "" : group.before ? "<" : ">";
            if (is_weak(&sites.items[at]))
                text_addf(&groups, "%s%s%u", groups.size ? " " : "", place, group.count);
            at += group.count;
        }
        text_add(&groups, "", 1);
        assert_string_equal(groups.data, cases[i].groups);
        shadow_sites_free(&sites);
        ptx_running_end(&plain);
        text_free(&kernel);
        text_free(&groups);
    }
}

/* All CTAs read and write the same lines: both the load and the store are told of, though one look is at both. */
static void both_are_reported(void **state) {
    (void)state;
    Shadowed s;
    shadowed_read(&s,
                  SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2;\n"
                                "ld.global.v4.u32 {%r6,%r7,%r8,%r9}, [%rd3];\n"
                                "st.global.v4.u32 [%rd3], {%r9,%r8,%r7,%r6};\n"),
                  false);
    shadowed_go(&s, 2, 32, 0, &(PtxSchedule){.kind = SCHEDULE_EAGER});
    const ShadowedState *left = shadowed_left(&s);
    uint32_t reported = 0;
    for (uint32_t i = 0; i < left->state.report_count; i++)
        reported |= 1u << left->reports[i].site;
    assert_int_equal(reported, 3);
    shadowed_end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_checked_together),
        cmocka_unit_test(both_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
