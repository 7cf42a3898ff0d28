/* Tests of kernels in images of their own beside that of the program: which variables are those of the other image, and
 * what cannot be done. That they are the same bytes is tests/exec. */
#include "ptx_launched.h"

#include "instrument/instrument.h"

#define OPEN ".version 8.7\n.target sm_90\n.address_size 64\n"

static PtxModule *read_text(const char *text, size_t size, Source **source) {
    Diagnostics diagnostics = {0};
    PtxModule *module = calloc(1, sizeof *module);
    *source = source_copy("test.ptx", text, size);
    if (!ptx_read(module, *source, true, &diagnostics))
        fail_msg("%s\n%.*s", diagnostics.items[0].message, (int)size, text);
    diagnostics_free(&diagnostics);
    return module;
}

static void free_text(PtxModule *module, Source *source) {
    ptx_free(module);
    free(module);
    source_free(source);
}

/* The text of kernel k beside that; NULL, with the problem. It can be read. */
static char *beside(const char *text, const char **problem) {
    InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = true};
    Source *sources[3];
    Text with = {0}, to = {0};
    PtxModule *plain = read_text(text, strlen(text), &sources[0]);
    if (!instrument(plain, &options, &with, problem))
        fail_msg("%s", *problem);
    PtxModule *module = read_text(with.data, with.size, &sources[1]);
    bool good = instrument_beside(plain, module, STR("k"), &to, problem);
    if (good) {
        PtxModule *again = read_text(to.data, to.size, &sources[2]);
        free_text(again, sources[2]);
        text_char(&to, 0);
    }
    free_text(plain, sources[0]);
    free_text(module, sources[1]);
    text_free(&with);
    return good ? to.data : NULL;
}

static void test_variables(void **state) {
    (void)state;
    const char *problem;
    char *text = beside(OPEN ".visible .global .align 4 .u32 a[4] = {1, 2};\n.const .align 4 .f32 c[4];\n"
                             ".global .align 1 .b8 $str[3] = {104, 105};\n.global .u32 other;\n"
                             ".visible .entry k() {\n.reg .b32 %r<4>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<4>;\n"
                             "mov.u64 %rd1, a+8;\nld.global.u32 %r1, [a+4];\nld.const.f32 %f1, [c+4];\n"
                             "mov.u64 %rd2, c;\nld.const.f32 %f2, [%rd2];\ncvta.const.u64 %rd3, %rd2;\n"
                             "mov.u64 %rd3, $str;\nst.global.u32 [a], %r1;\nret;\n}\n"
                             ".visible .entry l() {\n.reg .b32 %r<4>;\nld.global.u32 %r1, [other];\nret;\n}\n",
                        &problem);
    assert_non_null(text);
    assert_non_null(strstr(text, INSTRUMENT_MARK));
    assert_non_null(strstr(text, ".visible .const .align 8 .u64 weir_at_a;"));
    assert_non_null(strstr(text, ".visible .const .align 8 .u64 weir_at_c;"));
    assert_non_null(strstr(text, "weir_at_$str = generic($str);"));
    assert_null(strstr(text, ".u32 a[4]"));
    assert_null(strstr(text, "ld.const.f32"));
    assert_null(strstr(text, "cvta.const"));
    assert_non_null(strstr(text, "cvta.global.u64"));
    assert_null(strstr(text, "other"));
    assert_null(strstr(text, ".entry l"));
    free(text);
}

static void refuses(const char *text, const char *because) {
    const char *problem = NULL;
    assert_null(beside(text, &problem));
    assert_non_null(problem);
    assert_non_null(strstr(problem, because));
}

static void test_one_image(void **state) {
    (void)state;
    refuses(OPEN ".global .texref t;\n.visible .entry k() {\n.reg .f32 %f<6>;\n"
                 "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f5}];\nret;\n}\n",
            "references to textures");
    refuses(OPEN ".func f() { ret; }\n.visible .entry k() {\n.reg .b64 %rd1;\nmov.u64 %rd1, f;\n"
                 "{ p: .callprototype _ (); call %rd1, (), p; }\nret;\n}\n",
            "by their addresses");
    refuses(OPEN ".func f() { ret; }\n.global .u64 table[1] = {f};\n.visible .entry k() {\n.reg .b64 %rd1;\n"
                 "ld.global.u64 %rd1, [table];\nret;\n}\n",
            "by their addresses");
    refuses(OPEN ".const .u32 c;\n.visible .entry k() {\n.reg .b64 %rd1;\n.reg .pred %p1;\nmov.u64 %rd1, c;\n"
                 "isspacep.const %p1, %rd1;\nret;\n}\n",
            "constant memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variables), cmocka_unit_test(test_one_image)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
