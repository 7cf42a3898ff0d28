"""Data that is not there where no kernel runs."""

import unittest

from weir import arguments, unwritten

KERNEL = """
  tt.func public @kernel(%x: !tt.ptr<i32>, %y: !tt.ptr<f16>, %d: !tt.tensordesc<64x64xi8, #shared>) {
    %v = tt.load %p : tensor<64x!tt.ptr<i64>, #blocked>
    tt.store %q, %v : tensor<64x!tt.ptr<i32>, #blocked>
    ttng.async_tma_copy_local_to_global %d[%i, %j] %tile : !tt.tensordesc<64x64xi8, #shared>, !ttg.memdesc<64x64xi8, #shared>
"""


class Tensor:
    def __init__(self, place, dtype="torch.int32", data=(1, 2)):
        self.place, self.dtype, self.data, self.shape = place, dtype, list(data), (len(data),)

    def data_ptr(self):
        return self.place

    def stride(self):
        return (1,)

    def element_size(self):
        return 4

    def reshape(self, *shape):
        return self

    def tolist(self):
        return self.data


class Unwritten(unittest.TestCase):
    def setUp(self):
        unwritten.State.nothing_runs, unwritten.State.storages = True, set()

    def tearDown(self):
        unwritten.State.nothing_runs, unwritten.State.storages = False, set()

    def test_elements_that_a_kernel_writes(self):
        self.assertEqual(unwritten.written_elements(KERNEL), {"i32", "i8"})

    def test_an_op_that_is_not_known_may_write(self):
        unknown = "    tt.new_kind_of_store %q, %v : tensor<64x!tt.ptr<i16>, #blocked>"
        self.assertEqual(unwritten.written_elements(KERNEL + unknown), {"i32", "i8", "i16"})
        loaded = "    %w = tt.load_and_clear %q : tensor<64x!tt.ptr<i16>, #blocked>"
        self.assertEqual(unwritten.written_elements(loaded), {"i16"})

    def test_what_only_hands_a_pointer_on(self):
        for line in ("%q = tt.addptr %p, %i : tensor<64x!tt.ptr<i16>, #blocked>, tensor<64xi32, #blocked>",
                     "%r:2 = scf.for %i = %a to %b step %c iter_args(%p = %q) -> (tensor<64x!tt.ptr<i16>, #blocked>, i32) : i32 {",
                     "partition0(%x: !tt.ptr<i16>, %n: i32) num_warps(4) {", "^bb1(%x: !tt.ptr<i16>):"):
            self.assertEqual(unwritten.written_elements("      " + line), set(), line)

    def test_what_a_launch_would_have_written(self):
        params = [("x", "!tt.ptr<i32>"), ("n", "i32"), ("y", "!tt.ptr<f16>"), ("d", "!tt.tensordesc<64x64xi8,")]
        x, y, d = Tensor(16), Tensor(32), Tensor(48)
        unwritten.add_launch(params, {"i32", "i8"}, [x, y, d])
        self.assertTrue(unwritten.is_unknown(x))
        self.assertFalse(unwritten.is_unknown(y))
        self.assertTrue(unwritten.is_unknown(d))
        self.assertIsNone(arguments.integer_data("*i32", x))
        self.assertEqual(arguments.integer_data("*i32", y), [1, 2])

    def test_what_the_script_says_of_a_tensor_stays(self):
        x = Tensor(16)
        x.integers = lambda: [5, 6]
        unwritten.add_launch([("x", "!tt.ptr<i32>")], {"i32"}, [x])
        self.assertEqual(arguments.integer_data("*i32", x), [5, 6])

    def test_what_is_computed_from_it(self):
        a, b, c = Tensor(16), Tensor(32), Tensor(48)
        unwritten.add_result("empty", [], [a])
        unwritten.add_result("cumsum", [a], [b])
        unwritten.add_result("arange", [], [c])
        self.assertEqual([unwritten.is_unknown(tensor) for tensor in (a, b, c)], [True, True, False])
        unwritten.add_result("copy_", [b, c], [b])
        unwritten.add_result("zero_", [a], [a])
        self.assertEqual([unwritten.is_unknown(tensor) for tensor in (a, b)], [False, False])

    def test_an_address_that_is_used_again(self):
        unwritten.add_result("empty", [], [Tensor(16)])
        again = Tensor(16)
        unwritten.add_result("tensor", [], [again])
        self.assertFalse(unwritten.is_unknown(again))

    def test_what_a_kernel_wrote_is_there(self):
        class Runs:
            """A device that ran a kernel which wrote all of it, or nothing."""

            wrote_all = False

            def is_known(self, address, size):
                return self.wrote_all

            def allocated(self, address, size, written):
                pass

        unwritten.State.nothing_runs, unwritten.State.listener = False, Runs()
        try:
            x = Tensor(16)
            unwritten.add_result("empty", [], [x])
            self.assertIsNone(arguments.integer_data("*i32", x))
            Runs.wrote_all = True
            self.assertEqual(arguments.integer_data("*i32", x), [1, 2])
        finally:
            unwritten.State.listener = None


if __name__ == "__main__":
    unittest.main()
