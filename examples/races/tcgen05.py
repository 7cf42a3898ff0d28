"""The fifth generation's tensor cores: products and copies that run on their own, and tensor memory (sm_100)."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    async_copy,
    fence_async_shared,
    get_tmem_reg_layout,
    mbarrier,
    tcgen05_commit,
    tcgen05_copy,
    tcgen05_mma,
    tma,
)

from tiles import SHARED, SIDE, TILE_BYTES, constant, new_barriers, new_tiles, places, registers, show

ROWS = gl.constexpr(128)
SUM = gl.constexpr(TensorMemoryLayout([64, 64], col_stride=1))


@gluon.jit
def new_operands(N: gl.constexpr):
    tile = new_tiles(N)
    for i in gl.static_range(N):
        tile.index(i).store(constant(1.0 + i))
    fence_async_shared()
    return tile


@gluon.jit
def new_sums(N: gl.constexpr):
    return allocate_tensor_memory(gl.float32, [N, SIDE, SIDE], SUM)


@gluon.jit
def load_sum(sum_):
    LAYOUT: gl.constexpr = get_tmem_reg_layout(gl.float32, sum_.shape, sum_.layout, gl.num_warps())
    return sum_.load(LAYOUT)


@gluon.jit
def store_sum(sum_, value):
    LAYOUT: gl.constexpr = get_tmem_reg_layout(gl.float32, sum_.shape, sum_.layout, gl.num_warps())
    sum_.store(gl.full(sum_.shape, value, gl.float32, LAYOUT))


@gluon.jit
def mma_sum_read_early(sums, BROKEN: gl.constexpr):
    """The broken kernel reads the sum before the product is done."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    done = new_barriers(1).index(0)
    tcgen05_mma(tile.index(0), tile.index(1), sum_, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0, pred=not BROKEN)
    value = load_sum(sum_)
    mbarrier.wait(done, 0)
    show(sums, 0, value)


@gluon.jit
def mma_sum_stored(sums, BROKEN: gl.constexpr):
    """The broken kernel zeroes the sum before the product is done."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    done = new_barriers(1).index(0)
    tcgen05_mma(tile.index(0), tile.index(1), sum_, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0, pred=not BROKEN)
    store_sum(sum_, 0.0)
    mbarrier.wait(done, 0)
    show(sums, 0, load_sum(sum_))


@gluon.jit
def mma_operand_loaded(source, sums, BROKEN: gl.constexpr):
    """The broken kernel loads an operand anew, by TMA, before the product is done."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    done = new_barriers(1).index(0)
    landed = new_barriers(1).index(0)
    tcgen05_mma(tile.index(0), tile.index(1), sum_, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0, pred=not BROKEN)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile.index(0))
    mbarrier.wait(landed, 0)
    mbarrier.wait(done, 0)
    show(sums, 0, load_sum(sum_))


@gluon.jit
def mma_operand_stored(sums, BROKEN: gl.constexpr):
    """The broken kernel overwrites an operand, by a plain store, before the product is done."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    done = new_barriers(1).index(0)
    tcgen05_mma(tile.index(0), tile.index(1), sum_, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0, pred=not BROKEN)
    tile.index(0).store(constant(5.0))
    mbarrier.wait(done, 0)
    show(sums, 0, load_sum(sum_))


@gluon.jit
def mma_operand_copied(data, sums, BROKEN: gl.constexpr):
    """The broken kernel overwrites an operand, by cp.async, before the product is done."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    done = new_barriers(1).index(0)
    tcgen05_mma(tile.index(0), tile.index(1), sum_, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0, pred=not BROKEN)
    async_copy.async_copy_global_to_shared(tile.index(0), data + places(0, registers(gl.num_warps())))
    async_copy.commit_group()
    async_copy.wait_group(0)
    mbarrier.wait(done, 0)
    show(sums, 0, load_sum(sum_))


@gluon.jit
def mma_which_barrier(sums, BROKEN: gl.constexpr):
    """Two products with a barrier each: the second's covers both, the first's only itself; the broken kernel waits for
    the first and reads the second sum."""
    tile = new_operands(2)
    sum_ = new_sums(2)
    done = new_barriers(2)
    tcgen05_mma(tile.index(0), tile.index(1), sum_.index(0), use_acc=False, mbarriers=[done.index(0)])
    tcgen05_mma(tile.index(1), tile.index(0), sum_.index(1), use_acc=False, mbarriers=[done.index(1)])
    mbarrier.wait(done.index(0 if BROKEN else 1), 0)
    value = load_sum(sum_.index(1))
    mbarrier.wait(done.index(1), 0)
    show(sums, 0, value)


@gluon.jit
def mma_committed_early(sums, BROKEN: gl.constexpr):
    """A commit covers the products issued before it; the broken kernel commits after the first of two."""
    tile = new_operands(2)
    sum_ = new_sums(2)
    unused = new_barriers(2)
    done = new_barriers(1).index(0)
    tcgen05_mma(tile.index(0), tile.index(1), sum_.index(0), use_acc=False, mbarriers=[unused.index(0)])
    if BROKEN:
        tcgen05_commit(done)
    tcgen05_mma(tile.index(1), tile.index(0), sum_.index(1), use_acc=False, mbarriers=[unused.index(1)])
    if not BROKEN:
        tcgen05_commit(done)
    mbarrier.wait(done, 0)
    show(sums, 0, load_sum(sum_.index(0)))
    show(sums, 1, load_sum(sum_.index(1)))


@gluon.jit
def mma_ring(source, sums, tiles, BROKEN: gl.constexpr):
    """A product is pending while the tile after the next is loaded: that takes three slots; the broken ring has two."""
    SLOTS: gl.constexpr = 2 if BROKEN else 3
    ring = new_tiles(SLOTS)
    landed = new_barriers(SLOTS)
    done = new_barriers(2)
    sum_ = new_sums(1).index(0)
    store_sum(sum_, 0.0)
    for i in gl.static_range(2):
        mbarrier.expect(landed.index(i), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed.index(i), ring.index(i))
    for i in range(tiles):
        slot = ring.index(i % SLOTS)
        mbarrier.wait(landed.index(i % SLOTS), i // SLOTS & 1)
        tcgen05_mma(slot, slot, sum_, mbarriers=[done.index(i % 2)])
        before = i + 1
        mbarrier.wait(done.index(before % 2), before // 2 & 1 ^ 1)
        ahead = i + 2
        mbarrier.expect(landed.index(ahead % SLOTS), TILE_BYTES, pred=ahead < tiles)
        tma.async_copy_global_to_shared(source, [ahead * SIDE, 0], landed.index(ahead % SLOTS),
                                        ring.index(ahead % SLOTS), pred=ahead < tiles)
    last = tiles - 1
    mbarrier.wait(done.index(last % 2), last // 2 & 1)
    show(sums, 0, load_sum(sum_))


COPIED = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=32, rank=2))
COPY = gl.constexpr(TensorMemoryLayout([128, 32], col_stride=1))


@gluon.jit
def words(value):
    return gl.full([ROWS, 32], value, gl.float32, gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def new_copy():
    """A piece of shared memory to copy from and one of tensor memory to copy to."""
    source = gl.allocate_shared_memory(gl.float32, [ROWS, 32], COPIED)
    source.store(words(1.0))
    fence_async_shared()
    return source, allocate_tensor_memory(gl.float32, [ROWS, 32], COPY)


@gluon.jit
def show_copy(sums, value):
    LAYOUT: gl.constexpr = value.type.layout
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, 32, gl.SliceLayout(0, LAYOUT))
    gl.store(sums + rows[:, None] * 32 + columns[None, :], value)


@gluon.jit
def tensor_copy_read_early(sums, BROKEN: gl.constexpr):
    """Shared memory is copied to tensor memory, which the broken kernel reads before the copy is done."""
    source, copy = new_copy()
    done = new_barriers(1).index(0)
    tcgen05_copy(source, copy)
    tcgen05_commit(done)
    mbarrier.wait(done, 0, pred=not BROKEN)
    value = load_sum(copy)
    mbarrier.wait(done, 0)
    show_copy(sums, value)


@gluon.jit
def tensor_copy_source_stored(sums, BROKEN: gl.constexpr):
    """Shared memory is copied to tensor memory; the broken kernel overwrites it before the copy is done."""
    source, copy = new_copy()
    done = new_barriers(1).index(0)
    tcgen05_copy(source, copy)
    tcgen05_commit(done)
    mbarrier.wait(done, 0, pred=not BROKEN)
    source.store(words(2.0))
    mbarrier.wait(done, 0)
    show_copy(sums, load_sum(copy))


@gluon.jit
def tensor_copy_after_commit(sums, BROKEN: gl.constexpr):
    """Two copies of one source; the broken kernel waits for the first of them alone before it overwrites the source."""
    source, copy = new_copy()
    done = new_barriers(2)
    tcgen05_copy(source, copy)
    tcgen05_commit(done.index(0))
    tcgen05_copy(source, copy)
    tcgen05_commit(done.index(1))
    mbarrier.wait(done.index(0), 0)
    mbarrier.wait(done.index(1), 0, pred=not BROKEN)
    source.store(words(2.0))
    mbarrier.wait(done.index(1), 0)
    show_copy(sums, load_sum(copy))


@gluon.jit
def tensor_copy_told_by_arrive(sums, BROKEN: gl.constexpr):
    """A partition copies, and another overwrites the source when it is told that it may; the broken partition tells it
    by an arrival of its own, which says nothing about the tensor cores, and not by a commit."""
    source, copy = new_copy()
    done = new_barriers(1).index(0)
    over = new_barriers(1).index(0)
    gl.warp_specialize([
        (overwrite_words, (source, done)),
        (copy_and_tell, (source, copy, done, over, BROKEN)),
    ], [1], [64])
    show_copy(sums, load_sum(copy))


@gluon.jit
def overwrite_words(source, done):
    mbarrier.wait(done, 0)
    source.store(words(2.0))


@gluon.jit
def copy_and_tell(source, copy, done, over, BROKEN: gl.constexpr):
    tcgen05_copy(source, copy)
    if BROKEN:
        mbarrier.arrive(done, count=1)
    else:
        tcgen05_commit(done)
    tcgen05_commit(over)
    mbarrier.wait(over, 0)


@gluon.jit
def tensor_columns(sums, BROKEN: gl.constexpr):
    """A partition reads the left columns of a sum while another writes the right ones; the broken one writes some of
    the left."""
    both = allocate_tensor_memory(gl.float32, [SIDE, 2 * SIDE], TensorMemoryLayout([64, 128], col_stride=1))
    store_sum(both, 1.0)
    gl.warp_specialize([
        (read_columns, (both.slice(0, SIDE), sums)),
        (write_columns, (both.slice(SIDE // 2 if BROKEN else SIDE, SIDE),)),
    ], [4], [64])


@gluon.jit
def read_columns(columns, sums):
    show(sums, 0, load_sum(columns))


@gluon.jit
def write_columns(columns):
    store_sum(columns, 2.0)


@gluon.jit
def packed_columns(sums, tiles, BROKEN: gl.constexpr):
    """A product of 128 columns is read, and then its right columns hold a factor for another partition, until the next
    product overwrites all of it; the broken multiplier waits for the reader of the product alone."""
    tile = new_operands(1).index(0)
    wide = gl.allocate_shared_memory(gl.float16, [SIDE, 2 * SIDE], SHARED)
    wide.store(gl.full([SIDE, 2 * SIDE], 1, gl.float16, registers(gl.num_warps())))
    fence_async_shared()
    both = allocate_tensor_memory(gl.float32, [SIDE, 2 * SIDE], TensorMemoryLayout([64, 128], col_stride=1))
    factor = both.slice(SIDE, SIDE)
    product_full = new_barriers(1).index(0)
    product_empty = new_barriers(1).index(0)
    factor_full = new_barriers(1).index(0)
    factor_empty = new_barriers(1).index(0)
    gl.warp_specialize([
        (make_factor, (both, factor, product_full, product_empty, factor_full, factor_empty, tiles)),
        (use_factor, (factor, factor_full, factor_empty, sums, tiles)),
        (multiply_again, (tile, wide, both, product_full, product_empty, factor_empty, tiles, BROKEN)),
    ], [4, 1], [64, 64])


@gluon.jit
def make_factor(both, factor, product_full, product_empty, factor_full, factor_empty, tiles):
    LAYOUT: gl.constexpr = get_tmem_reg_layout(gl.float32, factor.shape, factor.layout, gl.num_warps())
    for i in range(tiles):
        mbarrier.wait(product_full, i & 1)
        value = both.slice(0, SIDE).load(LAYOUT)
        mbarrier.wait(factor_empty, i & 1 ^ 1)
        factor.store(value)
        mbarrier.arrive(factor_full, count=1)
        mbarrier.arrive(product_empty, count=1)


@gluon.jit
def use_factor(factor, factor_full, factor_empty, sums, tiles):
    for i in range(tiles):
        mbarrier.wait(factor_full, i & 1)
        value = load_sum(factor)
        mbarrier.arrive(factor_empty, count=1)
        show(sums, i, value)


@gluon.jit
def multiply_again(tile, wide, both, product_full, product_empty, factor_empty, tiles, BROKEN: gl.constexpr):
    for i in range(tiles):
        mbarrier.wait(product_empty, i & 1 ^ 1)
        mbarrier.wait(factor_empty, i & 1 ^ 1, pred=not BROKEN)
        tcgen05_mma(tile, wide, both, use_acc=False, mbarriers=[product_full])


@gluon.jit
def sum_rescaled(sums, tiles, BROKEN: gl.constexpr):
    """A sum is brought to registers, scaled and put back between two products; the broken kernel waits for the product
    before it puts the sum back, but not before it takes it."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    done = new_barriers(1).index(0)
    scaled = new_barriers(1).index(0)
    store_sum(sum_, 0.0)
    gl.warp_specialize([
        (scale, (sum_, done, scaled, tiles, BROKEN)),
        (multiply_scaled, (tile, sum_, done, scaled, tiles)),
    ], [1], [64])
    show(sums, 0, load_sum(sum_))


@gluon.jit
def scale(sum_, done, scaled, tiles, BROKEN: gl.constexpr):
    for i in range(tiles):
        mbarrier.wait(done, i & 1 ^ 1, pred=not BROKEN)
        value = load_sum(sum_)
        mbarrier.wait(done, i & 1 ^ 1)
        sum_.store(value * 0.5)
        mbarrier.arrive(scaled, count=1)
    mbarrier.wait(done, tiles & 1 ^ 1)


@gluon.jit
def multiply_scaled(tile, sum_, done, scaled, tiles):
    for i in range(tiles):
        mbarrier.wait(scaled, i & 1)
        tcgen05_mma(tile.index(0), tile.index(1), sum_, mbarriers=[done])


@gluon.jit
def sum_zeroed(sums, tiles, BROKEN: gl.constexpr):
    """One partition zeroes a sum for the next tile, another has to have read it; the broken one takes the end of the
    product for a sign of that."""
    tile = new_operands(2)
    sum_ = new_sums(1).index(0)
    zeroed = new_barriers(1).index(0)
    done = new_barriers(1).index(0)
    read = new_barriers(1).index(0)
    gl.warp_specialize([
        (read_sums, (sum_, done, read, sums, tiles)),
        (zero, (sum_, zeroed, done, read, tiles, BROKEN)),
        (multiply_zeroed, (tile, sum_, zeroed, done, tiles)),
    ], [4, 1], [64, 64])


@gluon.jit
def zero(sum_, zeroed, done, read, tiles, BROKEN: gl.constexpr):
    for i in range(tiles):
        mbarrier.wait(done, i & 1 ^ 1, pred=BROKEN)
        mbarrier.wait(read, i & 1 ^ 1, pred=not BROKEN)
        store_sum(sum_, 0.0)
        mbarrier.wait(read, i & 1 ^ 1, pred=BROKEN)
        mbarrier.arrive(zeroed, count=1)


@gluon.jit
def multiply_zeroed(tile, sum_, zeroed, done, tiles):
    for i in range(tiles):
        mbarrier.wait(zeroed, i & 1)
        tcgen05_mma(tile.index(0), tile.index(1), sum_, mbarriers=[done])


@gluon.jit
def read_sums(sum_, done, read, sums, tiles):
    for i in range(tiles):
        mbarrier.wait(done, i & 1)
        value = load_sum(sum_)
        mbarrier.arrive(read, count=1)
        show(sums, i, value)


@gluon.jit
def tensor_operand_stored(sums, tiles, BROKEN: gl.constexpr):
    """An operand in tensor memory is stored for each product by the partition that also multiplies; the broken kernel
    takes the order of the program for the order in which things happen."""
    tile = new_operands(1).index(0)
    sum_ = allocate_tensor_memory(gl.float32, [ROWS, SIDE], TensorMemoryLayout([128, 64], col_stride=1))
    operand = allocate_tensor_memory(gl.float16, [ROWS, SIDE], TensorMemoryLayout([128, 64], col_stride=1))
    LAYOUT: gl.constexpr = get_tmem_reg_layout(gl.float16, operand.shape, operand.layout, gl.num_warps())
    done = new_barriers(1).index(0)
    for i in range(tiles):
        mbarrier.wait(done, i & 1 ^ 1, pred=not BROKEN)
        operand.store(gl.full([ROWS, SIDE], 1.0, gl.float16, LAYOUT))
        mbarrier.wait(done, i & 1 ^ 1)
        tcgen05_mma(operand, tile, sum_, use_acc=i > 0, mbarriers=[done])
    mbarrier.wait(done, tiles & 1 ^ 1)
    value = load_sum(sum_)
    RESULT: gl.constexpr = value.type.layout
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, RESULT))
    columns = gl.arange(0, SIDE, gl.SliceLayout(0, RESULT))
    gl.store(sums + rows[:, None] * SIDE + columns[None, :], value)
