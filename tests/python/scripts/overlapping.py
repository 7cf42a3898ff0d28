"""Reads one half of a tensor and writes the other, and one element more: a race. `overlapping.py apart` keeps to the rows of
each, which lie between each other."""

import sys

import triton
import triton.language as tl
import weir.triton


@triton.jit
def copy(source, target, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(target + row * stride + at, tl.load(source + row * stride + at))


whole = weir.triton.tensor([1024], "float32")
if "apart" in sys.argv:
    copy[(4,)](whole.view(0, [4, 128], [256, 1]), whole.view(128, [4, 128], [256, 1]), 256, 128)
else:
    copy[(4,)](whole.view(0, [512]), whole.view(511, [512]), 128, 128)
