"""Asynchronous wgmma: the tensor cores read their operands in shared memory until a wait says that they are done."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from tiles import SHARED, SIDE, TILE_BYTES, constant, new_barriers, new_tiles, show

SUM = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))


@gluon.jit
def no_sum():
    return gl.zeros([SIDE, SIDE], gl.float32, SUM)


@gluon.jit
def new_operands(N: gl.constexpr):
    tile = new_tiles(N)
    for i in gl.static_range(N):
        tile.index(i).store(constant(1.0 + i))
    fence_async_shared()
    return tile


@gluon.jit
def wgmma_operand_stored(sums, BROKEN: gl.constexpr):
    """The broken kernel overwrites an operand before the wait for the product."""
    tile = new_operands(2)
    total = warpgroup_mma(tile.index(0), tile.index(1), no_sum(), is_async=True)
    if BROKEN:
        tile.index(0).store(constant(5.0))
        total = warpgroup_mma_wait(0, deps=[total])
    else:
        total = warpgroup_mma_wait(0, deps=[total])
        tile.index(0).store(constant(5.0))
    show(sums, 0, total)


@gluon.jit
def wgmma_second_pending(sums, BROKEN: gl.constexpr):
    """Two products, of which the wait leaves one pending; the broken kernel overwrites an operand of that one."""
    tile = new_operands(3)
    total = warpgroup_mma(tile.index(0), tile.index(2), no_sum(), is_async=True)
    total = warpgroup_mma(tile.index(1), tile.index(2), total, is_async=True)
    total = warpgroup_mma_wait(1, deps=[total])
    tile.index(1 if BROKEN else 0).store(constant(5.0))
    total = warpgroup_mma_wait(0, deps=[total])
    show(sums, 0, total)


@gluon.jit
def wgmma_ring(source, sums, tiles, BROKEN: gl.constexpr):
    """A product is pending while the tile after the next is loaded: that takes three slots; the broken ring has two."""
    SLOTS: gl.constexpr = 2 if BROKEN else 3
    ring = new_tiles(SLOTS)
    landed = new_barriers(SLOTS)
    for i in gl.static_range(2):
        mbarrier.expect(landed.index(i), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed.index(i), ring.index(i))
    total = no_sum()
    for i in range(tiles):
        slot = ring.index(i % SLOTS)
        mbarrier.wait(landed.index(i % SLOTS), i // SLOTS & 1)
        total = warpgroup_mma(slot, slot, total, is_async=True)
        total = warpgroup_mma_wait(1, deps=[total])
        ahead = i + 2
        mbarrier.expect(landed.index(ahead % SLOTS), TILE_BYTES, pred=ahead < tiles)
        tma.async_copy_global_to_shared(source, [ahead * SIDE, 0], landed.index(ahead % SLOTS),
                                        ring.index(ahead % SLOTS), pred=ahead < tiles)
    total = warpgroup_mma_wait(0, deps=[total])
    show(sums, 0, total)


@gluon.jit
def wgmma_handoff(sums, BROKEN: gl.constexpr):
    """Two products, a wait that leaves one pending, an arrival; the broken partition overwrites what is pending."""
    tile = new_operands(3)
    done = new_barriers(1).index(0)
    gl.warp_specialize([
        (multiply_and_tell, (tile, done, sums)),
        (overwrite_one, (tile.index(1) if BROKEN else tile.index(0), done)),
    ], [4], [64])


@gluon.jit
def multiply_and_tell(tile, done, sums):
    total = warpgroup_mma(tile.index(0), tile.index(2), no_sum(), is_async=True)
    total = warpgroup_mma(tile.index(1), tile.index(2), total, is_async=True)
    total = warpgroup_mma_wait(1, deps=[total])
    mbarrier.arrive(done, count=1)
    total = warpgroup_mma_wait(0, deps=[total])
    show(sums, 0, total)


@gluon.jit
def overwrite_one(tile, done):
    mbarrier.wait(done, 0)
    tile.store(constant(5.0))


@gluon.jit
def wgmma_operand_allocated(sums, tiles, BROKEN: gl.constexpr):
    """Each round allocates its operand, at the same place; the broken kernel does not wait for the round before."""
    other = new_operands(1).index(0)
    total = no_sum()
    for i in range(tiles):
        operand = gl.allocate_shared_memory(gl.float16, [SIDE, SIDE], SHARED, constant(1.0) + i.to(gl.float16))
        fence_async_shared()
        total = warpgroup_mma(operand, other, total, is_async=True)
        total = warpgroup_mma_wait(1 if BROKEN else 0, deps=[total])
    total = warpgroup_mma_wait(0, deps=[total])
    show(sums, 0, total)


@gluon.jit
def wgmma_unfenced(sums, BROKEN: gl.constexpr):
    """The tensor cores read through the async proxy, which sees ordinary writes after a fence; the broken kernel has
    none."""
    tile = new_tiles(1).index(0)
    tile.store(constant(1.0))
    if not BROKEN:
        fence_async_shared()
    total = warpgroup_mma(tile, tile, no_sum(), is_async=True)
    total = warpgroup_mma_wait(0, deps=[total])
    show(sums, 0, total)
