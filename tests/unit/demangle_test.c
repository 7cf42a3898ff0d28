/* Names that compilers write are printed as c++filt prints them, and bad ones end. */
#include "base/demangle/demangle.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct Row {
    const char *name, *whole, *shown;
} Row;

/* Those of kernels are what nvcc 13.0 writes. */
static const Row rows[] = {
    {"_Z11requires_itIfiEvPT_T0_DTplixfL0p_Li0EfL0p0_E",
     "void requires_it<float, int>(float*, int, decltype (({parm#1}[0])+{parm#2}))", "requires_it<float, int>"},
    {"_Z3opsItEvN5tools3BoxIT_EEPS2_", "void ops<unsigned short>(tools::Box<unsigned short>, unsigned short*)",
     "ops<unsigned short>"},
    {"_Z4packIJEEvPiDpT_", "void pack<>(int*)", "pack<>"},
    {"_Z4packIJPfPPiEEvS1_DpT_", "void pack<float*, int**>(int*, float*, int**)", "pack<float*, int**>"},
    {"_Z4packIJifcEEvPiDpT_", "void pack<int, float, char>(int*, int, float, char)", "pack<int, float, char>"},
    {"_Z5applyI7FunctorEvT_Pf", "void apply<Functor>(Functor, float*)", "apply<Functor>"},
    {"_Z5applyIZ4hostPfPiEUlfE_EvT_S0_",
     "void apply<host(float*, int*)::{lambda(float)#1}>(host(float*, int*)::{lambda(float)#1}, float*)",
     "apply<{lambda(float)#1}>"},
    {"_Z5boxedIN5tools3BoxENS0_4PairEEvT_IT0_EPS4_",
     "void boxed<tools::Box, tools::Pair>(tools::Box<tools::Pair>, tools::Pair*)", "boxed<tools::Box, tools::Pair>"},
    {"_Z5valueILb1EEvPi", "void value<true>(int*)", "value<true>"},
    {"_Z5valueILi7EEvPi", "void value<7>(int*)", "value<7>"},
    {"_Z5valueILj3EEvPi", "void value<3u>(int*)", "value<3u>"},
    {"_Z6arraysILi4EEvRAT__KfPFiiEPVKv6__half13__nv_bfloat16",
     "void arrays<4>(float const (&) [4], int (*)(int), void const volatile*, __half, __nv_bfloat16)", "arrays<4>"},
    {"_Z6nestedIdEvPN4sameIT_E4typeEPKS1_", "void nested<double>(same<double>::type*, double const*)",
     "nested<double>"},
    {"_Z6reducePKfPfi", "reduce(float const*, float*, int)", "reduce"},
    {"_Z8internalPy", "internal(unsigned long long*)", "internal"},
    {"_ZN40_GLOBAL__N__2d53a320_8_names_cu_05d7363a5scaleIfLi64EEEvPT_S1_",
     "void (anonymous namespace)::scale<float, 64>(float*, float)", "scale<float, 64>"},
    {"_ZN40_GLOBAL__N__2d53a320_8_names_cu_05d7363a6hiddenEPi", "(anonymous namespace)::hidden(int*)", "hidden"},
    {"_ZN5tools5kindsILNS_4KindE1ELb1ELc120ELln3EEEvPi",
     "void tools::kinds<(tools::Kind)1, true, (char)120, -3l>(int*)",
     "tools::kinds<(tools::Kind)1, true, (char)120, -3l>"},
    {"_ZZ6reducePKfPfiE4part", "reduce(float const*, float*, int)::part", "part"},
    {"_ZplItET_N5tools3BoxIS0_EES0_",
     "unsigned short operator+<unsigned short>(tools::Box<unsigned short>, unsigned short)",
     "operator+<unsigned short>"},
    {"_ZNSsC1EPKcRKSaIcE",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string(char const*, "
     "std::allocator<char> const&)",
     "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string"},
    {"_ZNKSt6vectorIiSaIiEEixEm", "std::vector<int, std::allocator<int> >::operator[](unsigned long) const",
     "std::vector<int, std::allocator<int> >::operator[]"},
    {"_ZN5tools4Ring4pushERKNS_4PairE", "tools::Ring::push(tools::Pair const&)", "tools::Ring::push"},
    {"_ZZN5tools3runEvENKUlT_E_clIiEEDaS0_", "auto tools::run()::{lambda(auto:1)#1}::operator()<int>(int) const",
     "{lambda(auto:1)#1}::operator()<int>"},
    {"_Z3funIRiEvOT_", "void fun<int&>(int&)", "fun<int&>"},
    {"_ZTIN5tools4PairE", "typeinfo for tools::Pair", "typeinfo for tools::Pair"},
    {"_ZN5tools4PaircvPT_IiEEv", "tools::Pair::operator int*<int>()", "tools::Pair::operator int*<int>"},
    {"_Z4tailILi2ELi1EEvPA3_A2_KfM4PairFivE", "void tail<2, 1>(float const (*) [3][2], int (Pair::*)())", "tail<2, 1>"},
    {"_Z5firstv.isra.0", "first() [clone .isra.0]", "first"},
    {"_Z2atIJicEEvDpRKT_PFvS3_E", "void at<int, char>(int const&, char const&, void (*)(int const&, char const&))",
     "at<int, char>"},
    {"_Z1fB5cxx11v", "f[abi:cxx11]()", "f[abi:cxx11]"},
    {"_ZGVZ5outervE5thing", "guard variable for outer()::thing", "guard variable for thing"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void expect(const char *expected, Text *text) {
    text_char(text, 0);
    assert_string_equal(text->data, expected);
    text_free(text);
}

static void names_are_spelled_as_in_the_source(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        Text text = {0};
        assert_true(demangle(str_of(rows[i].name), &text));
        expect(rows[i].whole, &text);
        text = (Text){0};
        name_shown(str_of(rows[i].name), &text);
        expect(rows[i].shown, &text);
    }
}

/* Where the C++ library is installed, it has the last word. Names that it does not read are left out. */
static void the_library_of_cpp_says_the_same(void **state) {
    typedef char *Oracle(const char *name, char *room, size_t *size, int *status);
    void *library = dlopen("libstdc++.so.6", RTLD_NOW), *found = library ? dlsym(library, "__cxa_demangle") : NULL;
    Oracle *oracle = *(Oracle **)&found;
    (void)state;
    if (!oracle)
        skip();
    for (size_t i = 0; i < ROWS; i++) {
        int status;
        char *said = oracle(rows[i].name, NULL, NULL, &status);
        if (said)
            assert_string_equal(said, rows[i].whole);
        free(said);
    }
    dlclose(library);
}

static void other_names_are_left_as_they_are(void **state) {
    static const char *const names[] = {"add_kernel", "",       "_Z",           "_Z3ab", "_Z99999999999999999999a",
                                        "_ZN",        "_Z1aS_", "_Z1aIT0_EvT_", "main",  "_Z1fv\001",
                                        "__Z1fv",     "_Z1fT_"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Text text = {0};
        assert_false(demangle(str_of(names[i]), &text));
        assert_int_equal(text.size, 0);
        text_free(&text);
    }
    Text text = {0};
    name_shown(STR("_Z9ab\033"), &text);
    expect("_Z9ab?", &text);
}

/* A name that doubles each time, or is deep, is given up. */
static void the_size_of_what_is_printed_is_bounded(void **state) {
    Text name = {0}, text = {0};
    (void)state;
    text_addf(&name, "_Z1f1aIiiE");
    for (char c = '0'; c <= '9'; c++)
        text_addf(&name, "S_IS%c_S%c_S%c_S%c_S%c_S%c_E", c, c, c, c, c, c);
    demangle((Str){name.data, name.size}, &text);
    assert_true(text.size < 1 << 19);
    text_free(&text);
    name.size = 0;
    text_addf(&name, "_Z1f");
    for (int i = 0; i < 5000; i++)
        text_char(&name, 'P');
    text_char(&name, 'i');
    assert_false(demangle((Str){name.data, name.size}, &text));
    text_free(&name);
    text_free(&text);
}

/* Names that were cut off or changed by a byte end, too. */
static void damaged_names_end(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        char copy[200];
        size_t size = strlen(rows[i].name);
        for (size_t k = 0; k < size; k++) {
            Text text = {0};
            memcpy(copy, rows[i].name, size);
            demangle((Str){copy, k}, &text);
            for (const char *to = "_IEJTSZXNLD0pz"; *to; to++) {
                copy[k] = *to;
                demangle((Str){copy, size}, &text);
            }
            text_free(&text);
        }
    }
}

static void users_name_kernels_in_any_form(void **state) {
    static const Str scale = STR("_ZN40_GLOBAL__N__2d53a320_8_names_cu_05d7363a5scaleIfLi64EEEvPT_S1_");
    static const char *const good[] = {"scale",
                                       "scale<float, 64>",
                                       "scale<float,64>",
                                       "(anonymous namespace)::scale",
                                       "(anonymous namespace)::scale<float, 64>",
                                       "(anonymous namespace)::scale<float, 64>(float*, float)",
                                       "void (anonymous namespace)::scale<float, 64>(float *, float)"};
    static const char *const bad[] = {"scal", "scale<float, 32>", "scale(float*, float)", "", "float"};
    (void)state;
    assert_true(name_meant(scale, scale));
    assert_true(name_meant(STR("add_kernel"), STR("add_kernel")));
    assert_false(name_meant(STR("add_kernel"), STR("add")));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(name_meant(scale, str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(name_meant(scale, str_of(bad[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_spelled_as_in_the_source),
                                       cmocka_unit_test(the_library_of_cpp_says_the_same),
                                       cmocka_unit_test(other_names_are_left_as_they_are),
                                       cmocka_unit_test(the_size_of_what_is_printed_is_bounded),
                                       cmocka_unit_test(damaged_names_end),
                                       cmocka_unit_test(users_name_kernels_in_any_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
