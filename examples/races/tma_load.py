"""TMA loads: a tile is there when its barrier's phase is over, and not before."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tiles import SIDE, TILE_BYTES, new_barriers, new_tiles, nothing, registers, show


@gluon.jit
def load_read_early(source, out, BROKEN: gl.constexpr):
    """The tile is read before the wait for it."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    if BROKEN:
        value = tile.load(registers(gl.num_warps()))
        mbarrier.wait(landed, 0)
    else:
        mbarrier.wait(landed, 0)
        value = tile.load(registers(gl.num_warps()))
    show(out, 0, value)


@gluon.jit
def load_two_one_barrier(source, out, BROKEN: gl.constexpr):
    """Two loads report on one barrier, which covers both; the broken kernel reads the second tile ahead of it."""
    tile = new_tiles(2)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, 2 * TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile.index(0))
    tma.async_copy_global_to_shared(source, [SIDE, 0], landed, tile.index(1))
    mbarrier.wait(landed, 0, pred=not BROKEN)
    second = tile.index(1).load(registers(gl.num_warps()))
    mbarrier.wait(landed, 0)
    show(out, 0, tile.index(0).load(registers(gl.num_warps())))
    show(out, 1, second)


@gluon.jit
def load_wrong_barrier(source, out, BROKEN: gl.constexpr):
    """Two loads, each with its own barrier; the broken kernel waits for the one and reads the other."""
    tile = new_tiles(2)
    landed = new_barriers(2)
    for i in gl.static_range(2):
        mbarrier.expect(landed.index(i), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed.index(i), tile.index(i))
    for i in gl.static_range(2):
        mbarrier.wait(landed.index(1 - i if BROKEN else i), 0)
        show(out, i, tile.index(i).load(registers(gl.num_warps())))


@gluon.jit
def load_one_wait_for_two(source, out, BROKEN: gl.constexpr):
    """Two loads, each with its own barrier; the broken kernel waits for the first and takes both as landed."""
    tile = new_tiles(2)
    landed = new_barriers(2)
    for i in gl.static_range(2):
        mbarrier.expect(landed.index(i), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed.index(i), tile.index(i))
    mbarrier.wait(landed.index(0), 0)
    mbarrier.wait(landed.index(1), 0, pred=not BROKEN)
    for i in gl.static_range(2):
        show(out, i, tile.index(i).load(registers(gl.num_warps())))


@gluon.jit
def load_wrong_phase(source, out, tiles, BROKEN: gl.constexpr):
    """A barrier used again and again; the broken kernel waits for the parity of the first phase each time."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    for i in range(tiles):
        mbarrier.expect(landed, TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed, tile)
        if BROKEN:
            mbarrier.wait(landed, 0)
        else:
            mbarrier.wait(landed, i & 1)
        show(out, i, tile.load(registers(gl.num_warps())))
        fence_async_shared()


@gluon.jit
def load_stale_wait(source, out, BROKEN: gl.constexpr):
    """A tile is loaded twice, with two barriers; the broken kernel waits once more for the first load's barrier."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(2)
    mbarrier.expect(landed.index(0), TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed.index(0), tile)
    mbarrier.wait(landed.index(0), 0)
    mbarrier.expect(landed.index(1), TILE_BYTES)
    tma.async_copy_global_to_shared(source, [SIDE, 0], landed.index(1), tile)
    mbarrier.wait(landed.index(0 if BROKEN else 1), 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def load_over_load(source, out, BROKEN: gl.constexpr):
    """Two loads into one tile; the broken kernel issues the second while the first is on its way."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(2)
    for i in gl.static_range(2):
        mbarrier.expect(landed.index(i), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed.index(i), tile)
        mbarrier.wait(landed.index(i), 0, pred=not BROKEN)
    mbarrier.wait(landed.index(0), 0)
    mbarrier.wait(landed.index(1), 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def store_over_load(source, target, BROKEN: gl.constexpr):
    """A tile goes from matrix to matrix through shared memory; the broken kernel stores it before it has landed."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0, pred=not BROKEN)
    tma.async_copy_shared_to_global(target, [0, 0], tile)
    tma.store_wait(0)
    mbarrier.wait(landed, 0)


@gluon.jit
def load_into_read(source, out, BROKEN: gl.constexpr):
    """A partition reads a tile that the main thread loads anew; the broken kernel does not ask whether it is done."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(2)
    read = new_barriers(1).index(0)
    mbarrier.expect(landed.index(0), TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed.index(0), tile)
    mbarrier.wait(landed.index(0), 0)
    gl.warp_specialize([
        (load_again, (source, tile, landed.index(1), read, out, BROKEN)),
        (read_and_tell, (tile, read, out)),
    ], [4], [64])


@gluon.jit
def load_again(source, tile, landed, read, out, BROKEN: gl.constexpr):
    mbarrier.wait(read, 0, pred=not BROKEN)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [SIDE, 0], landed, tile)
    mbarrier.wait(landed, 0)
    show(out, 1, tile.load(registers(gl.num_warps())))


@gluon.jit
def read_and_tell(tile, read, out):
    value = tile.load(registers(gl.num_warps()))
    fence_async_shared()
    mbarrier.arrive(read, count=1)
    show(out, 0, value)


@gluon.jit
def load_past_join(source, out, BROKEN: gl.constexpr):
    """A partition loads a tile that is read after the join; the broken one ends without waiting for its load."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    gl.warp_specialize([
        (nothing, ()),
        (load_and_wait, (source, tile, landed, BROKEN)),
    ], [1], [64])
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def load_and_wait(source, tile, landed, BROKEN: gl.constexpr):
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0, pred=not BROKEN)
