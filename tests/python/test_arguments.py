"""From what a kernel is called with to what a launch file says; no Triton is needed."""

import math
import unittest

from weir import arguments
from weir.tensors import tensor

FUNCTION = '''module {
  tt.func public @kernel(%s) attributes {noinline = false} {
    tt.return
  }
}
'''
TENSOR = "%x: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(\"x\"(#loc))"


class Descriptor:
    def __init__(self, base, block, padding="zero"):
        self.base, self.shape, self.strides, self.block_shape = base, list(base.shape), list(base.stride()), block
        self.padding, self.round_f32_to_tf32 = padding, False


class Parameters(unittest.TestCase):
    def test_names_and_types(self):
        text = FUNCTION % (TENSOR + ", %d: !tt.tensordesc<tensor<64x64xf16, #ttg.nvmma<{a = 1, b = \"),\"}>>>, %n: i32")
        self.assertEqual([name for name, _ in arguments.parameters(text)], ["x", "d", "n"])
        self.assertEqual(arguments.parameters(text)[0][1], "!tt.ptr<f16>")

    def test_none(self):
        self.assertEqual(arguments.parameters(FUNCTION % ""), [])

    def test_no_function(self):
        with self.assertRaises(arguments.Unmatched):
            arguments.parameters("module {}")


class Matching(unittest.TestCase):
    def match(self, params, types, values):
        return arguments.match(params, types, values)

    def test_numbers_constants_and_tuples(self):
        params = [("n", "i32"), ("t", "i64"), ("t_0", "f32"), ("flag", "i1")]
        args, said = self.match(params, ["i32", "constexpr", ("i64", "fp32", "constexpr"), "u1"],
                                [3, 64, (1 << 63, 0.5, None), True])
        self.assertEqual(args, {"n": 3, "t": -(1 << 63), "t_0": 0.5, "flag": True})
        self.assertEqual(said, [])

    def test_what_json_cannot_say(self):
        args, _ = self.match([("a", "f32"), ("b", "f32")], ["fp32", "fp32"], [float("inf"), float("nan")])
        self.assertEqual(args, {})

    def test_memory(self):
        params = [("x", "!tt.ptr<f16>"), ("rows", "!tt.ptr<i32>")]
        args, _ = self.match(params, ["*fp16", "*i32"],
                             [tensor([4, 8], "float16", strides=[16, 1]), tensor([2], "int32", data=[5, 6])])
        self.assertEqual(args["x"]["tensor"], {"shape": [4, 8], "strides": [16, 1], "dtype": "fp16", "storage": [0, 56]})
        self.assertEqual(args["rows"]["tensor"]["data"], [5, 6])

    def test_addresses_in_memory(self):
        """Those of tensors that there are; two of one tensor are one memory, also where it is an argument itself."""
        a, b = tensor([64, 32], "float16"), tensor([8], "float32")
        table = tensor([5], "int64", data=[a.data_ptr(), 7, b.data_ptr(), a.data_ptr(), 1 << 62])
        args, said = self.match([("table", "!tt.ptr<i64>"), ("b", "!tt.ptr<f32>")], ["*i64", "*fp32"], [table, b])
        table = args["table"]["tensor"]
        self.assertEqual(table["data"], [0, 7, 0, 0, 1 << 62])
        first, second, third = (table["pointers"][at]["tensor"] for at in ("0", "16", "24"))
        self.assertEqual((first["shape"], first["strides"], first["dtype"]), ([64, 32], [32, 1], "float16"))
        self.assertEqual((first["buffer"], third["buffer"]), ("table[0]", "table[0]"))
        self.assertEqual((second["shape"], second["buffer"], args["b"]["tensor"]["buffer"]), ([8], "b", "b"))
        self.assertEqual((sorted(table["pointers"]), said), (["0", "16", "24"], []))
        numbers = tensor([1], "int32", data=[5])
        args, _ = self.match([("n", "!tt.ptr<i32>")], ["*i32"], [numbers])
        self.assertNotIn("pointers", args["n"]["tensor"])

    def test_expanded_integers(self):
        """Elements in one place are recorded once."""

        class Expanded:
            dtype, element_size = "torch.int32", staticmethod(lambda: 4)

            def __init__(self, shape, strides):
                self.shape, self.strides = shape, strides

            def stride(self):
                return self.strides

            def select(self, dimension, _):
                left = [i for i in range(len(self.shape)) if i != dimension]
                return Expanded([self.shape[i] for i in left], [self.strides[i] for i in left])

            def reshape(self, _):
                return self

            def tolist(self):
                return list(range(math.prod(self.shape)))

        self.assertEqual(arguments.integer_data("*i32", Expanded([2, 3, 64], [3, 1, 0])), list(range(6)))
        self.assertIsNone(arguments.integer_data("*i32", Expanded([2, 3], [4, 1])))

    def test_integers_of_another_type(self):
        """What triton.reinterpret shows as integers is copied only if it is such."""
        def seen_as(base):
            shown = tensor(base.shape, base.dtype)
            shown.base, shown.integers = base, None
            return shown

        def data(kind, value):
            args, _ = self.match([("x", f"!tt.ptr<{kind}>")], [f"*{kind}"], [value])
            return args["x"]["tensor"].get("data")

        self.assertIsNone(data("i32", seen_as(tensor([2], "float32", data=[1, 2]))))
        self.assertIsNone(data("i8", seen_as(tensor([2], "int32", data=[1, 2]))))
        self.assertEqual(data("u32", seen_as(tensor([2], "int32", data=[1, 2]))), [1, 2])
        self.assertEqual(data("u64", tensor([1], "uint64", data=[(1 << 63) + 5])), [5 - (1 << 63)])
        self.assertIsNone(data("i8", tensor([40000], "int8", data=[0] * 40000)))

    def test_descriptor(self):
        params = [("d", "!tt.tensordesc<tensor<64x64xf16>>"), ("d_0", "i32"), ("d_1", "i32"), ("d_2", "i64"),
                  ("d_3", "i64"), ("n", "i32")]
        args, _ = self.match(params, ["tensordesc<fp16[64, 64]>", "i32"], [Descriptor(tensor([128, 64], "float16"),
                                                                                     [64, 64]), 9])
        self.assertEqual(args, {"n": 9, "d": {"descriptor": {
            "shape": [128, 64], "strides": [64, 1], "dtype": "float16", "block": [64, 64]}}})

    def test_descriptor_taken_apart(self):
        for flags in 1, 2:
            params = ([("d", "!tt.ptr<f16>")] + [(f"s{i}", "i64") for i in range(4)]
                      + [(f"f{i}", "i1") for i in range(flags)] + [("a", "i32"), ("b", "i32"), ("c", "i64"), ("e", "i64")])
            args, _ = self.match(params, ["tensordesc<fp16[64, 64]>"],
                                 [Descriptor(tensor([128, 64], "float16"), [64, 64], padding="nan")])
            self.assertEqual([args[f"s{i}"] for i in range(4)], [128, 64, 64, 1])
            self.assertEqual((args["f0"], args.get("f1", False), args["a"], args["e"]), (True, False, 128, 1))

    def test_too_few_and_too_many(self):
        for params in [("a", "i32")], [("a", "i32"), ("b", "i32"), ("c", "i32")]:
            with self.assertRaises(arguments.Unmatched):
                self.match(params, ["i32", "i32"], [1, 2])


class Sharing(unittest.TestCase):
    def told(self, *tensors):
        params = [(f"p{i}", "!tt.ptr<f32>") for i in range(len(tensors))]
        return arguments.match(params, ["*fp32"] * len(tensors), tensors)

    def test_apart(self):
        args, said = self.told(tensor([4]), tensor([4]))
        self.assertNotIn("buffer", str(args))
        self.assertEqual(said, [])

    def test_the_same(self):
        x = tensor([4])
        args, said = self.told(x, tensor([4]), x)
        self.assertEqual(args["p0"]["tensor"]["buffer"], args["p2"]["tensor"]["buffer"])
        self.assertNotIn("buffer", args["p1"]["tensor"])
        self.assertEqual(said, [])

    def test_beside_each_other(self):
        x = tensor([8])
        args, said = self.told(x.view(0, [4]), x.view(4, [4]))
        self.assertNotIn("buffer", str(args))
        self.assertEqual(said, [])

    def test_views(self):
        x = tensor([16])
        args, said = self.told(x.view(4, [8]), x.view(2, [4]), x)
        self.assertEqual([args[f"p{i}"]["tensor"].get("offset") for i in range(3)], [4, 2, None])
        self.assertEqual({args[f"p{i}"]["tensor"]["buffer"] for i in range(3)}, {"p2"})
        self.assertEqual(said, [])

    def test_other_elements(self):
        x = tensor([16])
        narrow = type(x)([16], "float16", address=x.data_ptr())
        _, said = arguments.match([("a", "!tt.ptr<f32>"), ("b", "!tt.ptr<f16>")], ["*fp32", "*fp16"], [x, narrow])
        self.assertEqual(len(said), 1)

    def test_storage_of_a_view(self):
        x = tensor([5, 512])
        args, said = self.told(x.view(0, [5, 17], [512, 1]), tensor([4]), x.view(2, [1, 8]))
        self.assertEqual(args["p0"]["tensor"]["storage"], [0, 2560])
        self.assertEqual(args["p2"]["tensor"]["storage"], [2, 2558])
        self.assertEqual(args["p2"]["tensor"]["offset"], 2)
        self.assertNotIn("storage", args["p1"]["tensor"])
        self.assertEqual(said, [])

    def test_storage_ends_where_another_argument_begins(self):
        x = tensor([100])
        args, _ = self.told(x.view(40, [10]), x.view(60, [5]), x.view(0, [10]))
        self.assertEqual([args[f"p{i}"]["tensor"]["storage"] for i in range(3)], [[30, 20], [10, 40], [0, 40]])
        self.assertNotIn("buffer", str(args))

    def test_whole_storage(self):
        x = tensor([8, 4])
        args, _ = self.told(x.view(0, [4, 8], [1, 4]))
        self.assertNotIn("storage", str(args))

    def test_descriptor_past_its_storage(self):
        """Those of ragged tensors reach over all addresses, and over no other argument."""
        x, other = tensor([512, 64], "float16"), tensor([512, 64], "float16")
        ragged = Descriptor(x, [1, 1, 64, 64])
        ragged.shape, ragged.strides = [2147418112, 2147418112, 1 << 30, 64], [(1 << 34) - 64, 64, 64, 1]
        params = [("d", "!tt.tensordesc<tensor<1x1x64x64xf16>>")] + [(f"d{i}", "i64") for i in range(8)]
        args, said = arguments.match(params + [("p", "!tt.ptr<f16>")], ["tensordesc<fp16[1, 1, 64, 64]>", "*fp16"],
                                     [ragged, other])
        self.assertEqual(args["d"]["descriptor"]["storage"], [0, 512 * 64])
        self.assertNotIn("buffer", str(args))
        self.assertEqual(said, [])

    def test_other_storage_is_another_launch(self):
        x, y = tensor([16]), tensor([17])
        self.assertNotEqual(arguments.sharing([("*fp32", x.view(0, [8]))]), arguments.sharing([("*fp32", y.view(0, [8]))]))

    def test_key_has_no_addresses(self):
        pairs = [("*fp32", tensor([4])), ("*fp32", tensor([4]))]
        others = [("*fp32", tensor([4])), ("*fp32", tensor([4]))]
        self.assertEqual(arguments.sharing(pairs), arguments.sharing(others))
        self.assertNotEqual(arguments.sharing(pairs), arguments.sharing([pairs[0], pairs[0]]))


if __name__ == "__main__":
    unittest.main()
