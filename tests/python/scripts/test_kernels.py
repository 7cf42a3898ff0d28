"""For pytest --weir: one test whose kernel has a race, and one whose has none."""

import triton
import triton.language as tl
import weir.triton


@triton.jit
def fill(out, STEP: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(out + tl.program_id(0) * STEP + tl.arange(0, BLOCK), tl.program_id(0))


def test_right():
    fill[(4,)](weir.triton.tensor([512], "int32"), 128, 128)


def test_racy():
    fill[(4,)](weir.triton.tensor([512], "int32"), 64, 128)
