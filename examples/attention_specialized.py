"""Attention, O = softmax(Q x K^T) x V, whose warps have four jobs, for a GPU with tensor memory (sm_100).

A job of work is one block of query rows of one head against all of the head's keys and values, one block of
those after the other. The kernel is persistent: a program takes every gl.num_programs(0)th block of rows.

  fetch     one warp; copies Q, and blocks of K and V into rings of shared-memory buffers, by TMA
  multiply  one warp; scores = Q x K^T, then out += weights x V, on the tensor cores
  weigh     four warps; the running softmax: turns scores into weights, and tells finish how to rescale
  finish    the default partition; rescales `out` as the maximum of a row grows, divides it at the end, and stores it

Tensor memory holds two buffers of scores, so that the next scores are computed while these are weighed, and the
sum `out`. Weights take the place of the scores that they are made of. No barrier says that a buffer of scores is
free again: its next scores are issued after the product that reads its weights, and the tensor cores keep that order.

  q_filled, k_filled, v_filled     copies have landed             fetch (TMA)  -> multiply
  q_emptied, k_emptied, v_emptied  the tensor cores have read it  multiply     -> fetch
  scored                           a buffer holds scores          multiply     -> weigh
  weighed                          it holds weights               weigh        -> multiply
  told, heard                      a column of factors; taken     weigh       <-> finish
  added                            a product is in `out`          multiply     -> finish
  scaled                           `out` is ready for the next    finish       -> multiply

Everything is counted from the first block to the last, over all jobs: number i of a ring is in slot i % SLOTS, and
its round i // SLOTS is phase 0 or 1 in turn. Whoever fills a slot waits for the phase before its own.
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
def initialize(ring, SLOTS: gl.constexpr):
    for slot in gl.static_range(SLOTS):
        mbarrier.init(ring.index(slot), count=1)


@gluon.jit
def await_number(ring, i, SLOTS: gl.constexpr):
    """Waits until number i of a ring is there."""
    mbarrier.wait(ring.index(i % SLOTS), i // SLOTS & 1)


@gluon.jit
def await_room(ring, i, SLOTS: gl.constexpr):
    """Waits until the slot of number i is free: the first round passes at once."""
    mbarrier.wait(ring.index(i % SLOTS), i // SLOTS & 1 ^ 1)


@gluon.jit
def copy_in(desc, row, ring, filled, emptied, i, SLOTS: gl.constexpr):
    slot = i % SLOTS
    await_room(emptied, i, SLOTS)
    mbarrier.expect(filled.index(slot), desc.block_type.nbytes)
    tma.async_copy_global_to_shared(desc, [row, 0], filled.index(slot), ring.index(slot))


@gluon.jit
def fetch(q_desc, k_desc, v_desc, q_ring, k_ring, v_ring, q_filled, q_emptied, k_filled, k_emptied, v_filled, v_emptied,
          heads, context, Q_SLOTS: gl.constexpr, KV_SLOTS: gl.constexpr):
    BLOCK_M: gl.constexpr = q_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = k_desc.block_type.shape[0]
    row_blocks = gl.cdiv(context, BLOCK_M)
    job = 0
    block = 0
    for index in range(gl.program_id(0), heads * row_blocks, gl.num_programs(0)):
        head_row = index // row_blocks * context
        copy_in(q_desc, head_row + index % row_blocks * BLOCK_M, q_ring, q_filled, q_emptied, job, Q_SLOTS)
        job += 1
        for key in range(0, context, BLOCK_N):
            copy_in(k_desc, head_row + key, k_ring, k_filled, k_emptied, block, KV_SLOTS)
            copy_in(v_desc, head_row + key, v_ring, v_filled, v_emptied, block, KV_SLOTS)
            block += 1


@gluon.jit
def score(q_tile, k_ring, scores, k_filled, k_emptied, scored, i, KV_SLOTS: gl.constexpr):
    slot = i % KV_SLOTS
    await_number(k_filled, i, KV_SLOTS)
    tcgen05_mma(q_tile, k_ring.index(slot).permute((1, 0)), scores.index(i % 2), use_acc=False,
                mbarriers=[k_emptied.index(slot), scored.index(i % 2)])


@gluon.jit
def multiply(q_ring, k_ring, v_ring, scores, out, q_filled, q_emptied, k_filled, k_emptied, v_filled, v_emptied, scored,
             weighed, added, scaled, heads, context, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
             Q_SLOTS: gl.constexpr, KV_SLOTS: gl.constexpr):
    row_blocks = gl.cdiv(context, BLOCK_M)
    blocks = gl.cdiv(context, BLOCK_N)
    job = 0
    block = 0
    for index in range(gl.program_id(0), heads * row_blocks, gl.num_programs(0)):
        await_number(q_filled, job, Q_SLOTS)
        q_tile = q_ring.index(job % Q_SLOTS)
        score(q_tile, k_ring, scores, k_filled, k_emptied, scored, block, KV_SLOTS)
        for i in range(blocks):
            if i + 1 < blocks:
                score(q_tile, k_ring, scores, k_filled, k_emptied, scored, block + 1, KV_SLOTS)
            else:
                tcgen05_commit(q_emptied.index(job % Q_SLOTS))
            slot = block % KV_SLOTS
            await_number(v_filled, block, KV_SLOTS)
            await_number(weighed, block, 2)
            await_number(scaled, block, 1)
            tcgen05_mma(weights_of(scores.index(block % 2)), v_ring.index(slot), out, use_acc=i > 0,
                        mbarriers=[v_emptied.index(slot), added.index(0)])
            block += 1
        job += 1


@gluon.jit
def weights_of(scores):
    """The weights' view of a buffer of scores: half as wide."""
    layout: gl.constexpr = TensorMemoryLayout(scores.layout.block, col_stride=1)
    return scores.slice(0, scores.shape[1] // 2)._reinterpret(gl.float16, scores.shape, layout)


@gluon.jit
def tell(column, columns, told, heard, i):
    await_room(heard, i, 2)
    columns.index(i % 2).store(column)
    mbarrier.arrive(told.index(i % 2))


@gluon.jit
def hear(columns, told, heard, i, layout: gl.constexpr):
    await_number(told, i, 2)
    column = columns.index(i % 2).load(layout)
    mbarrier.arrive(heard.index(i % 2))
    return column


@gluon.jit
def weigh(scores, columns, scored, weighed, told, heard, heads, context, scale, BLOCK_M: gl.constexpr,
          BLOCK_N: gl.constexpr):
    layout: gl.constexpr = get_tmem_reg_layout(gl.float32, (BLOCK_M, BLOCK_N), scores.layout, gl.num_warps())
    rows: gl.constexpr = gl.SliceLayout(1, layout)
    row_blocks = gl.cdiv(context, BLOCK_M)
    blocks = gl.cdiv(context, BLOCK_N)
    block = 0
    for index in range(gl.program_id(0), heads * row_blocks, gl.num_programs(0)):
        largest = gl.full([BLOCK_M], float("-inf"), gl.float32, rows)
        total = gl.full([BLOCK_M], 0.0, gl.float32, rows)
        for i in range(blocks):
            await_number(scored, block, 2)
            these = scores.index(block % 2)
            values = these.load(layout) * scale
            larger = gl.maximum(largest, gl.max(values, 1))
            factor = gl.exp2(largest - larger)
            # The first block of a job has nothing before it to rescale.
            if i > 0:
                tell(factor, columns, told, heard, block - 1)
            weights = gl.exp2(values - larger[:, None])
            weights_of(these).store(weights.to(gl.float16))
            mbarrier.arrive(weighed.index(block % 2))
            total = total * factor + gl.sum(weights, 1)
            largest = larger
            block += 1
        # What finish is told last is not a factor, but what to divide by.
        tell(total, columns, told, heard, block - 1)


@gluon.jit
def finish(o_desc, o_tile, out, columns, told, heard, added, scaled, heads, context, BLOCK_N: gl.constexpr):
    BLOCK_M: gl.constexpr = o_desc.block_type.shape[0]
    layout: gl.constexpr = get_tmem_reg_layout(gl.float32, out.shape, out.layout, gl.num_warps())
    rows: gl.constexpr = gl.SliceLayout(1, layout)
    row_blocks = gl.cdiv(context, BLOCK_M)
    blocks = gl.cdiv(context, BLOCK_N)
    block = 0
    for index in range(gl.program_id(0), heads * row_blocks, gl.num_programs(0)):
        # The first product of a job overwrites what the job before left.
        mbarrier.arrive(scaled.index(0))
        for _ in range(1, blocks):
            factor = hear(columns, told, heard, block, rows)
            await_number(added, block, 1)
            out.store(out.load(layout) * factor[:, None])
            mbarrier.arrive(scaled.index(0))
            block += 1
        total = hear(columns, told, heard, block, rows)
        await_number(added, block, 1)
        block += 1
        result = (out.load(layout) / total[:, None]).to(gl.float16)
        tma.store_wait(0)
        o_tile.store(result)
        # The store below reads o_tile through the async proxy, which does not see ordinary writes by itself.
        fence_async_shared()
        tma.async_copy_shared_to_global(o_desc, [index * BLOCK_M, 0], o_tile)
    tma.store_wait(0)


@gluon.jit
def attention_specialized(q_desc, k_desc, v_desc, o_desc, heads, context, scale, Q_SLOTS: gl.constexpr,
                          KV_SLOTS: gl.constexpr):
    BLOCK_M: gl.constexpr = q_desc.block_type.shape[0]
    BLOCK_N: gl.constexpr = k_desc.block_type.shape[0]
    WIDTH: gl.constexpr = q_desc.block_type.shape[1]

    q_ring = gl.allocate_shared_memory(gl.float16, [Q_SLOTS, BLOCK_M, WIDTH], q_desc.layout)
    k_ring = gl.allocate_shared_memory(gl.float16, [KV_SLOTS, BLOCK_N, WIDTH], k_desc.layout)
    v_ring = gl.allocate_shared_memory(gl.float16, [KV_SLOTS, BLOCK_N, WIDTH], v_desc.layout)
    o_tile = gl.allocate_shared_memory(gl.float16, [BLOCK_M, WIDTH], o_desc.layout)
    columns = gl.allocate_shared_memory(gl.float32, [2, BLOCK_M], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    scores_layout: gl.constexpr = TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1)
    scores = allocate_tensor_memory(gl.float32, [2, BLOCK_M, BLOCK_N], scores_layout)
    out_layout: gl.constexpr = TensorMemoryLayout([BLOCK_M, WIDTH], col_stride=1)
    out = allocate_tensor_memory(gl.float32, [BLOCK_M, WIDTH], out_layout)

    barrier: gl.constexpr = mbarrier.MBarrierLayout()
    q_filled = gl.allocate_shared_memory(gl.int64, [Q_SLOTS, 1], barrier)
    q_emptied = gl.allocate_shared_memory(gl.int64, [Q_SLOTS, 1], barrier)
    k_filled = gl.allocate_shared_memory(gl.int64, [KV_SLOTS, 1], barrier)
    k_emptied = gl.allocate_shared_memory(gl.int64, [KV_SLOTS, 1], barrier)
    v_filled = gl.allocate_shared_memory(gl.int64, [KV_SLOTS, 1], barrier)
    v_emptied = gl.allocate_shared_memory(gl.int64, [KV_SLOTS, 1], barrier)
    scored = gl.allocate_shared_memory(gl.int64, [2, 1], barrier)
    weighed = gl.allocate_shared_memory(gl.int64, [2, 1], barrier)
    told = gl.allocate_shared_memory(gl.int64, [2, 1], barrier)
    heard = gl.allocate_shared_memory(gl.int64, [2, 1], barrier)
    added = gl.allocate_shared_memory(gl.int64, [1, 1], barrier)
    scaled = gl.allocate_shared_memory(gl.int64, [1, 1], barrier)
    initialize(q_filled, Q_SLOTS)
    initialize(q_emptied, Q_SLOTS)
    initialize(k_filled, KV_SLOTS)
    initialize(k_emptied, KV_SLOTS)
    initialize(v_filled, KV_SLOTS)
    initialize(v_emptied, KV_SLOTS)
    initialize(scored, 2)
    initialize(weighed, 2)
    initialize(told, 2)
    initialize(heard, 2)
    initialize(added, 1)
    initialize(scaled, 1)

    gl.warp_specialize([
        (finish, (o_desc, o_tile, out, columns, told, heard, added, scaled, heads, context, BLOCK_N)),
        (fetch, (q_desc, k_desc, v_desc, q_ring, k_ring, v_ring, q_filled, q_emptied, k_filled, k_emptied, v_filled,
                 v_emptied, heads, context, Q_SLOTS, KV_SLOTS)),
        (multiply, (q_ring, k_ring, v_ring, scores, out, q_filled, q_emptied, k_filled, k_emptied, v_filled, v_emptied,
                    scored, weighed, added, scaled, heads, context, BLOCK_M, BLOCK_N, Q_SLOTS, KV_SLOTS)),
        (weigh, (scores, columns, scored, weighed, told, heard, heads, context, scale, BLOCK_M, BLOCK_N)),
    ], [1, 1, 4], [24, 24, 192])
