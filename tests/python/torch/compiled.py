"""The device cuda of PyTorch without a GPU: functions that PyTorch compiles with Triton. Launches are recorded, and computed by
PyTorch instead: what runs them is tested elsewhere. Run by test_device_torch.py, in a process of its own."""

import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
CACHE = tempfile.TemporaryDirectory()
os.environ.update(TORCHINDUCTOR_CACHE_DIR=CACHE.name, TRITON_CACHE_DIR=CACHE.name)

import torch  # noqa: E402

from weir import device_torch, standin  # noqa: E402

device_torch.install("sm_90")
launched = []


class Launcher:
    def __init__(self, source, metadata):
        pass

    def __call__(self, *arguments, **named):
        launched.append([argument for argument in arguments if isinstance(argument, torch.Tensor)])


@unittest.skipUnless(importlib.util.find_spec("triton"), "there is no Triton")
class Compiled(unittest.TestCase):
    def setUp(self):
        import triton

        self.kept, standin.Launcher = standin.Launcher, Launcher
        driver = standin.make_driver("sm_90")
        standin.take_place(driver)
        triton.runtime.driver.set_active(driver)
        launched.clear()

    def tearDown(self):
        standin.Launcher = self.kept
        torch._dynamo.reset()

    def test_forward_and_backward(self):
        if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 9):
            self.skipTest("PyTorch's compiler takes the Triton of its own release only")

        @torch.compile
        def work(x, w):
            return torch.relu(x * 2 + w).sum(dim=1) + torch.zeros(4, device="cuda")

        x = torch.randn(4, 8, device="cuda", requires_grad=True)
        made = work(x, torch.randn(4, 8, device="cuda"))
        self.assertEqual((made.device.type, made.shape), ("cuda", (4,)))
        self.assertTrue(launched and all(tensor.is_cuda for tensors in launched for tensor in tensors))
        self.assertIn(x.data_ptr(), [tensor.data_ptr() for tensor in launched[0]])
        forward = len(launched)
        made.sum().backward()
        self.assertGreater(len(launched), forward)
        self.assertTrue(x.grad.is_cuda)


if __name__ == "__main__":
    unittest.main()
