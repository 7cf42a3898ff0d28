"""Triton kernels on tensors of the device cuda, run by Weir's device. Run by test_device_torch.py, in a process of its own."""

import os
import sys
import tempfile
import unittest

CACHE = tempfile.TemporaryDirectory()
os.environ.update(TORCHINDUCTOR_CACHE_DIR=CACHE.name, TRITON_CACHE_DIR=CACHE.name)

import torch  # noqa: E402

try:
    import triton
    import triton.language as tl
except ImportError:
    sys.exit(0)  # nothing to run
from weir import device, unwritten  # noqa: E402

device.use("sm_90")
torch.manual_seed(0)


@triton.jit
def scale_kernel(x, y, n, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * by, mask=at < n)


@triton.jit
def through_table_kernel(table, out, BLOCK: tl.constexpr):
    x = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * BLOCK + at, tl.load(x + at))


def scaled(x, by):
    made = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, made, x.numel(), by, BLOCK=64)
    return made


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.by = by
        return scaled(x, by)

    @staticmethod
    def backward(ctx, grad):
        return scaled(grad.contiguous(), ctx.by), None


class Kernels(unittest.TestCase):
    def setUp(self):
        device.State.verdicts = {}

    def test_results(self):
        x = torch.randn(100, device="cuda")
        y = scaled(x, 3.0)
        self.assertTrue(y.is_cuda)
        torch.testing.assert_close(y, x * 3)
        self.assertFalse(unwritten.is_unknown(y))
        self.assertFalse(unwritten.is_unknown(y + 1))
        self.assertEqual(device.State.verdicts, {"clean": 1})

    def test_bytes_that_no_kernel_writes(self):
        x, y = torch.ones(128, device="cuda"), torch.empty(128, device="cuda")
        scale_kernel[(1,)](x, y, 64, 2.0, BLOCK=64)
        self.assertFalse(unwritten.is_unknown(y[:64]))
        self.assertTrue(unwritten.is_unknown(y[64:]))
        self.assertTrue(unwritten.is_unknown(y * 2))
        self.assertFalse(unwritten.is_unknown(y[:64] * 2))

    def test_arguments_of_a_compiled_kernel(self):
        x, y = torch.ones(64, device="cuda"), torch.zeros(64, device="cuda")
        compiled = scale_kernel[(1,)](x, y, 64, 2.0, BLOCK=64)
        compiled[(1, 1, 1)](x, y, 64, 3.0, 64)
        self.assertEqual(y.tolist(), [3.0] * 64)
        compiled[(1, 1, 1)](x, y, 64, 4.0)  # without the constant
        self.assertEqual(y.tolist(), [4.0] * 64)
        with self.assertRaisesRegex(TypeError, "5 parameters, and 3 arguments"):
            compiled[(1, 1, 1)](x, y, 64)

    def test_gradients(self):
        x = torch.randn(70, device="cuda", requires_grad=True)
        Scale.apply(Scale.apply(x, 2.0), 5.0).sum().backward()
        torch.testing.assert_close(x.grad, torch.full((70,), 10.0, device="cuda"))

    def test_a_graph(self):
        x, graph = torch.zeros(64, device="cuda"), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = scaled(x + 1, 4.0)
            total = y.sum()
        for value in (1., 2.):
            x.fill_(value)
            graph.replay()
            self.assertEqual(total.item(), 64 * 4 * (value + 1))

    def test_pointers_in_memory(self):
        parts = [torch.full((16,), float(i), device="cuda") for i in range(3)]
        table = torch.tensor([part.data_ptr() for part in parts], device="cuda")
        out = torch.empty(3, 16, device="cuda")
        through_table_kernel[(3,)](table, out, BLOCK=16)
        self.assertEqual(out[:, 0].tolist(), [0, 1, 2])

    def test_a_tensor_that_is_elsewhere(self):
        x = torch.ones(64)
        with self.assertRaisesRegex(ValueError, "cannot be accessed from Triton"):
            scale_kernel[(1,)](x, torch.empty(64, device="cuda"), 64, 1.0, BLOCK=64)
        with self.assertRaisesRegex(RuntimeError, "CUDA error"):
            y = torch.ones(64, device="cuda")
            scale_kernel[(4,)](y, torch.empty(64, device="cuda"), 256, 1.0, BLOCK=64)

    def test_compiled(self):
        if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 9):
            self.skipTest("PyTorch's compiler takes the Triton of its own release only")

        def work(x, w):
            return torch.softmax(torch.relu(x * 2 + w), dim=1)

        x, w = torch.randn(4, 8, device="cuda", requires_grad=True), torch.randn(4, 8, device="cuda")
        made = torch.compile(work)(x, w)
        torch.testing.assert_close(made, work(x, w))
        grad, = torch.autograd.grad(made[:, 0].sum(), x)
        torch.testing.assert_close(grad, torch.autograd.grad(work(x, w)[:, 0].sum(), x)[0])


if __name__ == "__main__":
    unittest.main()
