/* Agents in sentences: what is a partition, and what it does to memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding/agent.h"

static void check_words(const char *name, const char *agent, const char *access) {
    Text words = {0}, does = {0};
    agent_words(&words, str_of(name));
    access_words(&does, STR("write"), str_of(name));
    assert_true(str_is((Str){words.data, words.size}, agent));
    assert_true(str_is((Str){does.data, does.size}, access));
    text_free(&words);
    text_free(&does);
}

static void partitions_are_named_with_their_helpers_and_ctas(void **state) {
    (void)state;
    check_words("default", "partition 'default'", "write by partition 'default'");
    check_words("partition0", "partition0", "write by partition0");
    check_words("partition0.tma", "the TMA of partition0", "TMA write by partition0");
    check_words("cta1.default.tensor", "the tensor core of partition 'default' of cta1",
                "tensor-core write by partition 'default' of cta1");
}

static void other_names_stay(void **state) {
    (void)state;
    check_words("thread 5 of CTA 2", "thread 5 of CTA 2", "write by thread 5 of CTA 2");
    check_words("the asynchronous operation of thread 7", "the asynchronous operation of thread 7",
                "asynchronous write by thread 7");
    check_words("default_kernel.tma", "default_kernel.tma", "write by default_kernel.tma");
    check_words("", "", "write by ");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(partitions_are_named_with_their_helpers_and_ctas),
                                       cmocka_unit_test(other_names_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
