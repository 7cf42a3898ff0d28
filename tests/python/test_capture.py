"""weir.capture: which launches are checked. No Triton is needed: a compiled kernel is what its attributes say."""

import types
import unittest
import unittest.mock

from weir import arguments, capture, unwritten
from weir.tensors import Tensor

KERNEL = """
  tt.func public @scatter(%idx: !tt.ptr<i32>, %x: !tt.ptr<f32>, %n: i32) {
    tt.store %q, %v : tensor<64x!tt.ptr<f32>, #blocked>
"""
HEAD = (4, 1, 1, 0, 0, None, None, None, None)


class Store:
    def __init__(self):
        self.launches, self.notes = [], []

    def note(self, *words):
        self.notes.append(words)

    def write_kernel(self, name, ttgir):
        return name

    def write_launch(self, name, launch):
        self.launches.append(launch["args"])


class Indices(Tensor):
    """A tensor of integers whose memory a program changes in place."""

    def write(self, *data):
        self.data = list(data)


class Launches(unittest.TestCase):
    def launcher(self, stand_in, signature):
        store = Store()
        recorder = capture.Recorder(store, "3.6.0")
        compiled = types.SimpleNamespace(asm={"ttgir": KERNEL}, name="scatter", metadata=types.SimpleNamespace(name="scatter"),
                                         src=types.SimpleNamespace(signature=signature))
        kernel = recorder.kernel_of(compiled)
        if stand_in:
            recorder.takes_stand_in("sm_90")
        return store, kernel.launcher(lambda *arguments, **named: None)

    def test_other_data_is_another_launch(self):
        """A kernel that is right with the first indices may race with the next."""
        store, launch = self.launcher(True, {"idx": "*i32", "x": "*fp32", "n": "i32"})
        idx, x = Indices((4,), "int32", [0, 1, 2, 3]), Tensor((64,), "float32")
        for data in ([0, 1, 2, 3], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 2, 3]):
            idx.write(*data)
            launch(*HEAD, idx, x, 4)
        self.assertEqual([args["idx"]["tensor"]["data"] for args in store.launches], [[0, 1, 2, 3], [0, 0, 0, 0]])

    def test_launches_without_integers_are_told_apart_by_shape(self):
        store, launch = self.launcher(True, {"idx": "*fp32", "x": "*fp32", "n": "i32"})
        x = Tensor((64,), "float32")
        for n in (4, 4, 5):
            launch(*HEAD, x, x, n)
        self.assertEqual(len(store.launches), 2)

    def asked(self):
        """A kernel of floats whose proof covers every launch, what it is launched with, and what the proof is asked."""
        store = Store()
        recorder = capture.Recorder(store, "3.6.0", prove_seconds=1)
        self.addCleanup(unwritten.State.when_shared.remove, recorder.forget_addresses)
        compiled = types.SimpleNamespace(asm={"ttgir": KERNEL}, name="scatter", metadata=types.SimpleNamespace(name="scatter"),
                                         src=types.SimpleNamespace(signature={"idx": "*fp32", "x": "*fp32", "n": "i32"}))
        kernel, asked = recorder.kernel_of(compiled), []

        class Proof:
            scope = 2

            def lacks(self, launch):
                asked.append(launch["args"])
                return "others write it" if launch["args"]["x"]["tensor"].get("peers") else None

        recorder.proofs[KERNEL, "scatter"] = Proof()
        return kernel, kernel.launcher(lambda *arguments, **named: None), asked

    def test_addresses_as_numbers_are_not_covered(self):
        kernel, launch, asked = self.asked()
        launch(*HEAD, 1 << 40, 1 << 40, 4)
        self.assertEqual((kernel.launches, kernel.covered, asked), (1, 0, []))

    def test_memory_that_others_get_is_asked_about_again(self):
        kernel, launch, asked = self.asked()
        idx, x, others = Tensor((64,), "float32"), Tensor((64,), "float32"), []
        with unittest.mock.patch.object(arguments.device_torch, "has_peers", lambda tensor: any(tensor is one for one in others)):
            for _ in range(3):
                launch(*HEAD, idx, x, 4)
            self.assertEqual((kernel.covered, len(asked)), (3, 1))
            others.append(x)
            for tell in unwritten.State.when_shared:
                tell()
            launch(*HEAD, idx, x, 4)
            self.assertEqual((kernel.launches, kernel.covered, len(asked)), (4, 3, 2))

    def test_broken_promises_are_kept_beyond_the_others(self):
        kernel, launch, asked = self.asked()
        kernel.requires = ["n < 1000"]
        x, y = Tensor((64,), "float32"), Tensor((64,), "float32")
        for n in range(capture.MOST_LAUNCHES + 20):
            launch(*HEAD, x, y, n)
        self.assertTrue(kernel.beyond)
        kernel.recorder.proofs[KERNEL, "scatter"].lacks = lambda launch: "it breaks what the kernel requires"
        launch(*HEAD, x, y, 1000)
        self.assertEqual(kernel.recorder.store.launches[-1]["n"], 1000)
        self.assertEqual(len(kernel.recorder.store.launches), capture.MOST_LAUNCHES + 1)

    def test_too_many_are_named(self):
        store, launch = self.launcher(True, {"idx": "*i32", "x": "*fp32", "n": "i32"})
        idx, x = Indices((1,), "int32", [0]), Tensor((64,), "float32")
        for i in range(capture.MOST_LAUNCHES + 1):
            idx.write(i)
            launch(*HEAD, idx, x, 4)
        self.assertEqual(len(store.launches), capture.MOST_LAUNCHES)
        self.assertIn("are not checked", store.notes[-1][1])


if __name__ == "__main__":
    unittest.main()
