/* share.h: how much runs under the address sanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "share.h"

#ifdef __SANITIZE_ADDRESS__
enum { OF_TEN = 2, OF_ONE = 1 };
#else
enum { OF_TEN = 10, OF_ONE = 1 };
#endif

static void all_of_it_is_asked_for(void **state) {
    (void)state;
    assert_int_equal(setenv("COMPLETE", "1", 1), 0);
    assert_int_equal(share_of(10), 10);
}

static void else_it_is_a_share(void **state) {
    (void)state;
    assert_int_equal(setenv("COMPLETE", "", 1), 0);
    assert_int_equal(share_of(10), OF_TEN);
    assert_int_equal(share_of(1), OF_ONE);
    assert_int_equal(unsetenv("COMPLETE"), 0);
    assert_int_equal(share_of(10), OF_TEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_asked_for),
        cmocka_unit_test(else_it_is_a_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
