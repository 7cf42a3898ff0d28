"""A matrix multiplication, C = A x B, whose warps have three jobs, for a GPU with tensor memory (sm_100).

  fetch     one warp; copies tiles of A and B into a ring of SLOTS shared-memory buffers by TMA
  multiply  one warp; feeds the tiles to the tensor cores, which add up in tensor memory
  finish    the default partition; brings the sum back to registers and stores it by TMA

Each slot of the ring has two mbarriers. `filled` completes when both copies into the slot have landed;
multiply waits for it. `emptied` completes when the tensor cores have read the slot, and it is they who arrive
on it; fetch waits for it. `summed` completes once, after the last multiplication; finish waits for it.

Round r of a slot is phase r % 2 of its barriers. A fetch waits for the phase before its own, so that the
first round, with nobody to wait for, passes at once.
"""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    get_tmem_reg_layout,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tma,
)


@gluon.jit
def fetch(a_desc, b_desc, a_ring, b_ring, filled, emptied, row, column, tiles, SLOTS: gl.constexpr):
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    BYTES: gl.constexpr = a_desc.block_type.nbytes + b_desc.block_type.nbytes
    for i in range(tiles):
        slot = i % SLOTS
        phase = i // SLOTS & 1
        mbarrier.wait(emptied.index(slot), phase ^ 1)
        mbarrier.expect(filled.index(slot), BYTES)
        tma.async_copy_global_to_shared(a_desc, [row, i * BLOCK_K], filled.index(slot), a_ring.index(slot))
        tma.async_copy_global_to_shared(b_desc, [i * BLOCK_K, column], filled.index(slot), b_ring.index(slot))


@gluon.jit
def multiply(a_ring, b_ring, sum_, filled, emptied, summed, tiles, SLOTS: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(filled.index(slot), i // SLOTS & 1)
        tcgen05_mma(a_ring.index(slot), b_ring.index(slot), sum_, use_acc=i > 0, mbarriers=[emptied.index(slot)])
    tcgen05_commit(summed)


@gluon.jit
def finish(c_desc, c_tile, sum_, summed, row, column):
    mbarrier.wait(summed, 0)
    layout: gl.constexpr = get_tmem_reg_layout(gl.float32, sum_.shape, sum_.layout, gl.num_warps())
    c_tile.store(sum_.load(layout).to(gl.float16))
    # The store below reads c_tile through the async proxy, which does not see ordinary writes by itself.
    fence_async_shared()
    tma.async_copy_shared_to_global(c_desc, [row, column], c_tile)
    tma.store_wait(0)


@gluon.jit
def matmul_specialized(a_desc, b_desc, c_desc, K, SLOTS: gl.constexpr):
    BLOCK_M: gl.constexpr = c_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = c_desc.block_type.shape[1]
    BLOCK_K: gl.constexpr = a_desc.block_type.shape[1]
    row = gl.program_id(0) * BLOCK_M
    column = gl.program_id(1) * BLOCK_N
    tiles = gl.cdiv(K, BLOCK_K)

    a_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_M, BLOCK_K], a_desc.layout)
    b_ring = gl.allocate_shared_memory(gl.float16, [SLOTS, BLOCK_K, BLOCK_N], b_desc.layout)
    c_tile = gl.allocate_shared_memory(gl.float16, [BLOCK_M, BLOCK_N], c_desc.layout)
    filled = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    emptied = gl.allocate_shared_memory(gl.int64, [SLOTS, 1], mbarrier.MBarrierLayout())
    summed = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(SLOTS):
        mbarrier.init(filled.index(slot), count=1)
        mbarrier.init(emptied.index(slot), count=1)
    mbarrier.init(summed, count=1)
    sum_layout: gl.constexpr = TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1)
    sum_ = allocate_tensor_memory(gl.float32, [BLOCK_M, BLOCK_N], sum_layout)

    gl.warp_specialize([
        (finish, (c_desc, c_tile, sum_, summed, row, column)),
        (fetch, (a_desc, b_desc, a_ring, b_ring, filled, emptied, row, column, tiles, SLOTS)),
        (multiply, (a_ring, b_ring, sum_, filled, emptied, summed, tiles, SLOTS)),
    ], [1, 1], [24, 24])
