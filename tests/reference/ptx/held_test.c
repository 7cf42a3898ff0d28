/* The machine of PTX against the interpreter, which shares no code with it: random kernels leave the same memory. */
#include "../../unit/share.h"
#include "held.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KERNELS = 80 };

static uint64_t compared, unknown, havocked;

static void compare(const char *text, uint64_t seed, const Held *expected, const Held *given) {
    for (unsigned i = 0; i < HELD_BYTES; i += 4) {
        if (!given->known[i / 4]) {
            unknown++;
            continue;
        }
        compared += expected->bytes[i] || expected->bytes[i + 1] || expected->bytes[i + 2] || expected->bytes[i + 3];
        if (memcmp(expected->bytes + i, given->bytes + i, 4)) {
            uint32_t a, b;
            memcpy(&a, expected->bytes + i, 4);
            memcpy(&b, given->bytes + i, 4);
            puts(text);
            fail_msg("seed %llu: word %u is %u, not %u", (unsigned long long)seed, i / 4, b, a);
        }
    }
}

static void hold(uint64_t seed, void (*write)(uint64_t seed, Text *text), uint32_t threads) {
    static Held expected, given;
    Text text = {0};
    write(seed, &text);
    text_char(&text, 0);
    expected = (Held){.ctas = 2, .threads = threads, .n = (uint32_t)seed, .more = 3};
    held_interpret(text.data, &expected);
    if (expected.problem[0])
        fail_msg("%s\nseed %llu: %s", text.data, (unsigned long long)seed, expected.problem);
    for (uint64_t schedule = 0; schedule < 3; schedule++) {
        given = (Held){.ctas = 2, .threads = threads, .n = (uint32_t)seed, .more = 3};
        held_run(text.data, schedule, &given);
        if (given.problem[0])
            fail_msg("%s\nseed %llu: %s", text.data, (unsigned long long)seed, given.problem);
        havocked += given.havocs != 0;
        if (!given.havocs)
            compare(text.data, seed, &expected, &given);
    }
    text_free(&text);
}

static void values(void **state) {
    (void)state;
    compared = unknown = havocked = 0;
    for (uint64_t seed = 0; seed < share_of(KERNELS); seed++)
        hold(seed, held_values_kernel, seed % 3 ? 64 : 40);
    assert_true(compared > share_of(50000));
    assert_true(unknown < compared / 10); /* x / 0 */
    assert_true(havocked < share_of(KERNELS));
}

static void memory(void **state) {
    (void)state;
    compared = unknown = havocked = 0;
    for (uint64_t seed = 0; seed < share_of(KERNELS); seed++)
        hold(seed, held_memory_kernel, seed % 3 ? 64 : 40);
    assert_true(compared > share_of(50000));
    assert_int_equal(unknown + havocked, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
