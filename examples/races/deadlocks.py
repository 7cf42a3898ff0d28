"""Waits that nobody ends: counts, parities, bytes and orders that do not fit."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tiles import SHARED, SIDE, TILE_BYTES, new_barriers, new_tiles, nothing, registers, show


@gluon.jit
def wait_for(barrier):
    mbarrier.wait(barrier, 0)


@gluon.jit
def tell(barrier):
    mbarrier.arrive(barrier, count=1)


@gluon.jit
def tell_and_wait(mine, yours):
    mbarrier.arrive(mine, count=1)
    mbarrier.wait(yours, 0)


@gluon.jit
def wait_and_tell(mine, yours):
    mbarrier.wait(yours, 0)
    mbarrier.arrive(mine, count=1)


@gluon.jit
def hang_no_arrival(BROKEN: gl.constexpr):
    """Two partitions wait for a barrier each; nobody arrives on those of the broken kernel."""
    barriers = new_barriers(2)
    for i in gl.static_range(2):
        mbarrier.arrive(barriers.index(i), count=1, pred=not BROKEN)
    gl.warp_specialize([
        (wait_for, (barriers.index(0),)),
        (wait_for, (barriers.index(1),)),
    ], [4], [64])


@gluon.jit
def hang_crossed(BROKEN: gl.constexpr):
    """Two partitions tell each other that they are there; in the broken kernel both wait first."""
    barriers = new_barriers(2)
    gl.warp_specialize([
        (wait_and_tell, (barriers.index(0), barriers.index(1))),
        (wait_and_tell if BROKEN else tell_and_wait, (barriers.index(1), barriers.index(0))),
    ], [4], [64])


@gluon.jit
def hang_idle_default(BROKEN: gl.constexpr):
    """The default partition has nothing to do, three others of one warp wait for it; the broken one tells them
    nothing."""
    barrier = new_barriers(1).index(0)
    gl.warp_specialize([
        (nothing if BROKEN else tell, () if BROKEN else (barrier,)),
        (wait_for, (barrier,)),
        (wait_for, (barrier,)),
        (wait_for, (barrier,)),
    ], [1, 1, 1], [64, 64, 64])


@gluon.jit
def hang_over_arrival(BROKEN: gl.constexpr):
    """A barrier that counts one is arrived on twice, which completes two phases: the wait for the first of them comes
    too late."""
    barrier = new_barriers(1).index(0)
    mbarrier.arrive(barrier, count=1)
    mbarrier.arrive(barrier, count=1, pred=BROKEN)
    mbarrier.wait(barrier, 0)


@gluon.jit
def hang_under_arrival(BROKEN: gl.constexpr):
    """A barrier counts two partitions, of which one arrives; the broken one counts one too many."""
    barriers = new_barriers(2, 2 if BROKEN else 1)
    gl.warp_specialize([
        (tell_and_wait, (barriers.index(0), barriers.index(1))),
        (tell_and_wait, (barriers.index(1), barriers.index(0))),
    ], [4], [64])


@gluon.jit
def hang_phases(BROKEN: gl.constexpr):
    """Two partitions wait for the two phases of a barrier, of which the default one completes the second; in the broken
    kernel it waits for that phase before it arrives."""
    barrier = new_barriers(1).index(0)
    mbarrier.arrive(barrier, count=1)
    gl.warp_specialize([
        (wait_then_tell, (barrier, BROKEN)),
        (wait_second, (barrier,)),
    ], [4], [64])


@gluon.jit
def wait_then_tell(barrier, BROKEN: gl.constexpr):
    mbarrier.wait(barrier, 0)
    mbarrier.wait(barrier, 1, pred=BROKEN)
    mbarrier.arrive(barrier, count=1)


@gluon.jit
def wait_second(barrier):
    mbarrier.wait(barrier, 1)


@gluon.jit
def hang_bytes_short(source, out, BROKEN: gl.constexpr):
    """The broken kernel expects 16 bytes more than its load brings."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, TILE_BYTES + 16 if BROKEN else TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def hang_bytes_over(source, out, BROKEN: gl.constexpr):
    """The broken kernel expects 16 bytes less than its load brings."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, TILE_BYTES - 16 if BROKEN else TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def hang_constant_parity(tiles, BROKEN: gl.constexpr):
    """Two partitions take turns, round by round; the broken one asks for the same parity in every round."""
    turns = new_barriers(2)
    gl.warp_specialize([
        (ping, (turns.index(0), turns.index(1), tiles)),
        (pong, (turns.index(0), turns.index(1), tiles, BROKEN)),
    ], [4], [64])


@gluon.jit
def ping(mine, yours, tiles):
    for i in range(tiles):
        mbarrier.arrive(mine, count=1)
        mbarrier.wait(yours, i & 1)


@gluon.jit
def pong(yours, mine, tiles, CONSTANT: gl.constexpr):
    for i in range(tiles):
        mbarrier.wait(yours, 0 if CONSTANT else i & 1)
        mbarrier.arrive(mine, count=1)


@gluon.jit
def hang_no_rounds(source, out, no_tiles, BROKEN: gl.constexpr):
    """What a loop loads last is waited for after it, if there was a round at all; the broken kernel always waits. The
    launch has no tiles."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, TILE_BYTES, pred=no_tiles > 0)
    for i in range(no_tiles):
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], landed, tile, pred=i == 0)
    mbarrier.wait(landed, 0, pred=BROKEN or no_tiles > 0)
    if no_tiles > 0:
        show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def hang_order(source, out, BROKEN: gl.constexpr):
    """One slot for two tiles: they must be drained in the order in which they come; the broken consumer waits for the
    second first."""
    tile = new_tiles(1).index(0)
    full = new_barriers(2)
    empty = new_barriers(2)
    gl.warp_specialize([
        (drain_two, (tile, full, empty, out, BROKEN)),
        (fill_two, (source, tile, full, empty)),
    ], [1], [64])


@gluon.jit
def fill_two(source, tile, full, empty):
    for i in gl.static_range(2):
        if i == 1:
            mbarrier.wait(empty.index(0), 0)
        mbarrier.expect(full.index(i), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], full.index(i), tile)


@gluon.jit
def drain_two(tile, full, empty, out, BACKWARDS: gl.constexpr):
    for i in gl.static_range(2):
        which = 1 - i if BACKWARDS else i
        mbarrier.wait(full.index(which), 0)
        value = tile.load(registers(gl.num_warps()))
        fence_async_shared()
        mbarrier.arrive(empty.index(which), count=1)
        show(out, which, value)


@gluon.jit
def hang_box(data, out, BROKEN: gl.constexpr):
    """A descriptor made in the kernel; the box of the broken one is twice as high as the tile, so that a load brings
    twice the bytes that are expected, past the end of the tile."""
    ROWS: gl.constexpr = 2 * SIDE if BROKEN else SIDE
    source = tma.make_tensor_descriptor(data, [16 * SIDE, SIDE], [SIDE, 1], [ROWS, SIDE], SHARED)
    tile = new_tiles(1).index(0)
    landed = new_barriers(1).index(0)
    mbarrier.expect(landed, TILE_BYTES)
    tma.async_copy_global_to_shared(source, [0, 0], landed, tile)
    mbarrier.wait(landed, 0)
    show(out, 0, tile.load(registers(gl.num_warps())))
