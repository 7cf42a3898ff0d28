"""The life of a barrier: initialized once, it counts what it was told to count, and is invalidated when all is over."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

from tiles import SIDE, TILE_BYTES, new_barriers, new_tiles, registers, show


@gluon.jit
def bare_barrier():
    return gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())


@gluon.jit
def barrier_underflow(BROKEN: gl.constexpr):
    """Two arrivals at once on a barrier that counts two; the broken one counts one."""
    barrier = new_barriers(1, 1 if BROKEN else 2).index(0)
    mbarrier.arrive(barrier, count=2)
    mbarrier.wait(barrier, 0)


@gluon.jit
def barrier_uninitialized(source, out, BROKEN: gl.constexpr):
    """The broken kernel loads by a barrier that is not initialized."""
    tile = new_tiles(1).index(0)
    landed = bare_barrier()
    if not BROKEN:
        mbarrier.init(landed, count=1)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def barrier_after_invalidate(source, out, BROKEN: gl.constexpr):
    """The broken kernel uses a barrier again that it has invalidated."""
    tile = new_tiles(1).index(0)
    landed = bare_barrier()
    mbarrier.init(landed, count=1)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0)
    mbarrier.invalidate(landed)
    if not BROKEN:
        mbarrier.init(landed, count=1)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [SIDE, 0], landed, tile)
    mbarrier.wait(landed, 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def barrier_initialized_twice(source, out, tiles, BROKEN: gl.constexpr):
    """A barrier is initialized again for each tile; the broken kernel does not invalidate the one before."""
    tile = new_tiles(1).index(0)
    landed = bare_barrier()
    for i in range(tiles):
        mbarrier.init(landed, count=1)
        mbarrier.expect(landed, TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed, tile)
        mbarrier.wait(landed, 0)
        show(out, i, tile.load(registers(gl.num_warps())))
        if not BROKEN:
            mbarrier.invalidate(landed)


@gluon.jit
def barrier_invalidated_in_flight(source, out, BROKEN: gl.constexpr):
    """The broken kernel invalidates a barrier to which a load is still to report."""
    tile = new_tiles(2)
    landed = bare_barrier()
    other = new_barriers(1).index(0)
    mbarrier.init(landed, count=1)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile.index(0))
    mbarrier.wait(landed, 0, pred=not BROKEN)
    mbarrier.invalidate(landed)
    mbarrier.expect(other, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [SIDE, 0], other, tile.index(1))
    mbarrier.wait(other, 0)
    show(out, 0, tile.index(1).load(registers(gl.num_warps())))


@gluon.jit
def barrier_overwritten(source, out, BROKEN: gl.constexpr):
    """A tile takes the place of a barrier that is done with; the broken kernel does not invalidate that first."""
    place = new_tiles(1).index(0)
    landed = place._reinterpret(gl.int64, [1], mbarrier.MBarrierLayout())
    tile = new_tiles(1).index(0)
    mbarrier.init(landed, count=1)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0)
    if not BROKEN:
        mbarrier.invalidate(landed)
    value = tile.load(registers(gl.num_warps()))
    place.store(value + value)
    show(out, 0, place.load(registers(gl.num_warps())))
