"""Softmax along the rows of a matrix, one program a row, each row in one block.

Both reductions, the largest value and the sum, go across the warps of the program. The shared memory they go
through is added further down in the compiler: in the IR each is one tt.reduce.
"""

import triton
import triton.language as tl


@triton.jit
def softmax_rows(out, src, columns, src_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(src + row * src_stride + column, mask=inside, other=float("-inf"))
    weight = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * out_stride + column, weight / tl.sum(weight, axis=0), mask=inside)
