"""Two tests that pass, for pytest --weir without a GPU: the kernel of the second has a race. CTAs run in order here, so that
its assert does not see it."""

import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * 2)


@triton.jit
def race_kernel(y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.program_id(0).to(tl.float32) + at)


def test_right():
    x = torch.arange(128., device="cuda")
    y = torch.empty_like(x)
    double_kernel[(2,)](x, y, BLOCK=64)
    torch.testing.assert_close(y, x * 2)


def test_race():
    y = torch.empty(64, device="cuda")
    race_kernel[(2,)](y, BLOCK=64)
    assert y[5].item() == 6
