"""Launches of a kernel that requires something of them. `broken`: after many of them, one does not fulfill it."""

import sys

import triton
import triton.language as tl
import weir
import weir.triton


@weir.requires("size % BLOCK == 0", "grid.y == 1")
@triton.jit
@weir.requires("grid.z == 1")
def add(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def launch(size):
    x, y, out = (weir.triton.tensor([size], "float32") for _ in range(3))
    add[(triton.cdiv(size, 128),)](x, y, out, size, BLOCK=128)


for size in range(128, 128 * 151, 128):  # more than are kept
    launch(size)
if "broken" in sys.argv:
    launch(16 * 1001)
