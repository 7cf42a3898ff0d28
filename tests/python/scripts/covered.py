"""Launches that a proof covers, and one that it does not: two programs along y write the same."""

import triton
import triton.language as tl
import weir.triton


@triton.jit
def add(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


tensor = weir.triton.tensor
for size in range(1001, 1121):  # more than are kept
    x, y, out = (tensor([size], "float32") for _ in range(3))
    for _ in range(2):
        add[(triton.cdiv(size, 128),)](x, y, out, size, BLOCK=128)
add[(8,)](out, out, out, 1002, BLOCK=128)  # in place
add[(8, 2)](x, y, out, 1003, BLOCK=128)
