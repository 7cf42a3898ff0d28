/* IR ops in texts as calls: with their arguments, where the table has one, and nothing else changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "check/explain/calls.h"
#include "ir/optable.h"

static void ops_become_calls(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"Insert `ttng.fence_async_shared {bCluster = false}` in default after IR line 16.",
         "Call `fence_async_shared()` (ttng.fence_async_shared {bCluster = false}) in default after IR line 16."},
        {"Move the fence: `ttng.fence_async_shared {bCluster = true}`.",
         "Move the fence: `fence_async_shared(cluster=True)` (ttng.fence_async_shared {bCluster = true})."},
        {"Execute `ttng.async_tma_store_wait {pendings = 0 : i32}` before the end.",
         "Execute `tma.store_wait(0)` (ttng.async_tma_store_wait {pendings = 0 : i32}) before the end."},
        {"Add the `ttng.arrive_barrier`.", "Add the `mbarrier.arrive(...)` (ttng.arrive_barrier)."},
        {"Insert `ttg.barrier local` here.", "Call `tl.debug_barrier()` or `gl.barrier()` (ttg.barrier local) here."},
        {"Insert `ttng.cluster_barrier`.", "Call `gl.barrier(cluster=True)` (ttng.cluster_barrier)."},
        /* no call, no op, no backquotes, one that is not closed */
        {"Insert `fence.proxy.async.global` after the stores.", "Insert `fence.proxy.async.global` after the stores."},
        {"Insert `ttng.tensormap_fenceproxy_acquire`.", "Insert `ttng.tensormap_fenceproxy_acquire`."},
        {"ttng.arrive_barrier", "ttng.arrive_barrier"},
        {"Insert `ttng.arrive_barrier", "Insert `ttng.arrive_barrier"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        text_add_calls(&text, cases[i][0]);
        text_add(&text, "", 1);
        assert_string_equal(text.data, cases[i][1]);
        text_free(&text);
    }
}

/* What stands in the parentheses of a row's call is `...`, True, or an attribute of the op. */
static void calls_are_well_formed(void **state) {
    (void)state;
    size_t calls = 0;
    for (unsigned id = 0; id < op_row_count(); id++) {
        const OpRow *row = op_row_by_id(id);
        for (const char *at = row->python; *at; calls++) {
            const char *open = strchr(at, '('), *close = open ? strchr(open, ')') : NULL;
            assert_non_null(close);
            for (const char *argument = open + 1; argument < close;) {
                size_t size = strcspn(argument, ",)");
                const char *equals = memchr(argument, '=', size);
                Str name = str_between(equals ? equals + 1 : argument, argument + size);
                assert_true(str_is(name, "...") || str_is(name, "True") ||
                            op_slot(row->attrs, row->attr_count, name) >= 0);
                argument += size + 1 + (argument[size] == ',');
            }
            at = close + 1 + strspn(close + 1, " or");
        }
    }
    assert_true(calls >= 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_become_calls),
        cmocka_unit_test(calls_are_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
