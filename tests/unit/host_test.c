/* machine/simt/host/memory: the memory of a device, at random, beside one that is kept byte by byte. */
#include "boxes.h"

#include "machine/simt/host/host.h"

enum { BYTES = 96, ROUNDS = 4000 };

static uint8_t memory[BYTES];
static uint32_t owners[BYTES]; /* by byte: the number of its memory, from 1 */
static bool known[BYTES];

static void forget(uint32_t owner) {
    for (unsigned i = 0; i < BYTES; i++)
        if (owner && owners[i] == owner) {
            owners[i] = 0;
            known[i] = false;
        }
}

static void memory_is_known_byte_by_byte(void **state) {
    (void)state;
    PtxDevice device = {0};
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        unsigned begin = (unsigned)roll(0, BYTES - 1),
                 end = begin + (unsigned)roll(0, BYTES - begin < 12 ? BYTES - begin : 12);
        bool written = roll(0, 1), all = true;
        switch (roll(0, 3)) {
        case 0:
            assert_true(host_add(&device, memory + begin, end - begin, round % 2 ? "some" : NULL, written));
            for (unsigned i = begin; i < end; i++)
                forget(owners[i]);
            for (unsigned i = begin; i < end; i++) {
                owners[i] = round;
                known[i] = written;
            }
            break;
        case 1:
            host_remove(&device, memory + begin);
            if (!begin || owners[begin - 1] != owners[begin])
                forget(owners[begin]);
            break;
        case 2:
            host_written(&device, memory + begin, end - begin);
            for (unsigned i = begin; i < end; i++)
                known[i] = owners[i] != 0;
            break;
        default:
            for (unsigned i = begin; i < end; i++)
                all &= known[i];
            assert_int_equal(host_known(&device, memory + begin, end - begin), all);
        }
    }
    host_free(&device);
    assert_false(host_known(&device, memory, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_known_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
