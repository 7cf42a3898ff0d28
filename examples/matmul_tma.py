"""A matrix multiplication, C = A x B, that leaves the pipelining to the compiler.

The loop over K reads both tiles through tensor descriptors; with num_stages=3 Triton turns those reads into
TMA copies into a ring of shared-memory buffers, each with an mbarrier, and the dot into asynchronous wgmma.
"""

import triton
import triton.language as tl


@triton.jit
def matmul_tma(a_desc, b_desc, c_desc, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    column = tl.program_id(1) * BLOCK_N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        left = a_desc.load([row, k])
        right = b_desc.load([k, column])
        total = tl.dot(left, right, total)
    c_desc.store([row, column], total.to(tl.float16))
