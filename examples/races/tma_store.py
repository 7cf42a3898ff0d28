"""TMA stores: the source belongs to the copy engine until a wait for the store's group says otherwise."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tiles import SIDE, constant, new_barriers, new_tiles


@gluon.jit
def store_source_reused(target, BROKEN: gl.constexpr):
    """Two stores, of which the wait leaves one pending; the broken kernel overwrites the source of that one."""
    tile = new_tiles(2)
    tile.index(0).store(constant(1.0))
    tile.index(1).store(constant(2.0))
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [0, 0], tile.index(0))
    tma.async_copy_shared_to_global(target, [SIDE, 0], tile.index(1))
    tma.store_wait(1)
    tile.index(1 if BROKEN else 0).store(constant(3.0))
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [2 * SIDE, 0], tile.index(1 if BROKEN else 0))
    tma.store_wait(0)


@gluon.jit
def store_ring(target, tiles, BROKEN: gl.constexpr):
    """Two slots of staging, so at most one store may be pending when a slot is filled again; the broken kernel allows
    two."""
    ring = new_tiles(2)
    for i in range(tiles):
        tma.store_wait(2 if BROKEN else 1)
        slot = ring.index(i % 2)
        slot.store(constant(1.0) + i.to(gl.float16))
        fence_async_shared()
        tma.async_copy_shared_to_global(target, [i * SIDE, 0], slot)
    tma.store_wait(0)


@gluon.jit
def store_unfenced(target, BROKEN: gl.constexpr):
    """TMA reads through the async proxy, which sees ordinary writes only after a fence; the broken kernel has
    none."""
    tile = new_tiles(1).index(0)
    tile.store(constant(1.0))
    if not BROKEN:
        fence_async_shared()
    tma.async_copy_shared_to_global(target, [0, 0], tile)
    tma.store_wait(0)


@gluon.jit
def store_fenced_late(target, BROKEN: gl.constexpr):
    """One partition fills a tile, another stores it; in the broken kernel the fence comes after the arrival that hands
    the tile over, which may be after the store."""
    tile = new_tiles(1).index(0)
    ready = new_barriers(1).index(0)
    gl.warp_specialize([
        (fill_and_tell, (tile, ready, BROKEN)),
        (store_when_ready, (target, tile, ready)),
    ], [1], [64])


@gluon.jit
def fill_and_tell(tile, ready, BROKEN: gl.constexpr):
    tile.store(constant(1.0))
    if BROKEN:
        mbarrier.arrive(ready, count=1)
        fence_async_shared()
    else:
        fence_async_shared()
        mbarrier.arrive(ready, count=1)


@gluon.jit
def store_when_ready(target, tile, ready):
    mbarrier.wait(ready, 0)
    tma.async_copy_shared_to_global(target, [0, 0], tile)
    tma.store_wait(0)


@gluon.jit
def store_shared_staging(target, BROKEN: gl.constexpr):
    """Two partitions stage their results; the broken kernel gives both the same tile."""
    staging = new_tiles(2)
    gl.warp_specialize([
        (stage, (target, staging.index(0), 0)),
        (stage, (target, staging.index(0 if BROKEN else 1), 1)),
    ], [4], [64])


@gluon.jit
def stage(target, tile, number):
    tile.store(constant(1.0))
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [number * SIDE, 0], tile)
    tma.store_wait(0)


@gluon.jit
def store_undrained(target, BROKEN: gl.constexpr):
    """A kernel may end when its stores have read their sources; the broken one does not wait for that."""
    tile = new_tiles(1).index(0)
    tile.store(constant(1.0))
    fence_async_shared()
    tma.async_copy_shared_to_global(target, [0, 0], tile)
    if not BROKEN:
        tma.store_wait(0)
