/* The PTX machine: control, memory, calls, schedules, on small kernels. */
#include "ptx_running.h"

#define KERNEL(body)                                                    \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)" \
    "{ .reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %rs<8>;\n" body "}"
#define POINTERS "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
/* %rd3: where this thread's word of "out" is */
#define OWN POINTERS "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;\n"

static void copies_each_word(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(&r, "sm_90", KERNEL(OWN "ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd3], %r2; ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(&r, i, i);
    ptx_running_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_each_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
