"""cp.async: copies are waited for in groups, counted from the latest, or report on a barrier."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import async_copy, mbarrier

from tiles import SIDE, new_barriers, new_tiles, places, registers, show


@gluon.jit
def copy_in(data, number, tile):
    async_copy.async_copy_global_to_shared(tile, data + places(number, registers(gl.num_warps())))


@gluon.jit
def copy_group_pending(data, out, BROKEN: gl.constexpr):
    """Two groups, of which the wait leaves one pending; the broken kernel reads the tile of that one."""
    tile = new_tiles(2)
    for i in gl.static_range(2):
        copy_in(data, i, tile.index(i))
        async_copy.commit_group()
    async_copy.wait_group(1)
    value = tile.index(1 if BROKEN else 0).load(registers(gl.num_warps()))
    async_copy.wait_group(0)
    show(out, 0, value)


@gluon.jit
def copy_not_committed(data, out, BROKEN: gl.constexpr):
    """The broken kernel waits for all groups, but its copy is in none."""
    tile = new_tiles(1).index(0)
    copy_in(data, 0, tile)
    if not BROKEN:
        async_copy.commit_group()
    async_copy.wait_group(0)
    value = tile.load(registers(gl.num_warps()))
    async_copy.commit_group()
    async_copy.wait_group(0)
    show(out, 0, value)


@gluon.jit
def copy_over_copy(data, out, BROKEN: gl.constexpr):
    """Two copies into one tile; the broken kernel issues the second while the first is on its way."""
    tile = new_tiles(1).index(0)
    for i in gl.static_range(2):
        copy_in(data, i, tile)
        async_copy.commit_group()
        async_copy.wait_group(1 if BROKEN else 0)
    async_copy.wait_group(0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def copy_ring(data, out, tiles, BROKEN: gl.constexpr):
    """Two slots, the next tile's copy under way while one is read; the broken kernel leaves both groups pending."""
    ring = new_tiles(2)
    copy_in(data, 0, ring.index(0))
    async_copy.commit_group()
    for i in range(tiles):
        copy_in(data, i + 1, ring.index((i + 1) % 2))
        async_copy.commit_group()
        async_copy.wait_group(2 if BROKEN else 1)
        show(out, i, ring.index(i % 2).load(registers(gl.num_warps())))
    async_copy.wait_group(0)


@gluon.jit
def copy_handoff(data, out, BROKEN: gl.constexpr):
    """Two groups, a wait that leaves one pending, an arrival; the broken reader takes the tile that is pending."""
    tile = new_tiles(2)
    ready = new_barriers(1).index(0)
    gl.warp_specialize([
        (copy_and_tell, (data, tile, ready)),
        (read_one, (tile.index(1) if BROKEN else tile.index(0), ready, out)),
    ], [4], [64])


@gluon.jit
def copy_and_tell(data, tile, ready):
    for i in gl.static_range(2):
        copy_in(data, i, tile.index(i))
        async_copy.commit_group()
    async_copy.wait_group(1)
    mbarrier.arrive(ready, count=1)
    async_copy.wait_group(0)


@gluon.jit
def read_one(tile, ready, out):
    mbarrier.wait(ready, 0)
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def copy_own_buffers(data, out, BROKEN: gl.constexpr):
    """Two partitions, each with its tile and its groups; in the broken kernel each waits for its own copy and reads the
    other's tile."""
    tile = new_tiles(2)
    gl.warp_specialize([
        (copy_wait_read, (data, 0, tile.index(0), tile.index(1 if BROKEN else 0), out)),
        (copy_wait_read, (data, 1, tile.index(1), tile.index(0 if BROKEN else 1), out)),
    ], [4], [64])


@gluon.jit
def copy_wait_read(data, number, to, of, out):
    copy_in(data, number, to)
    async_copy.commit_group()
    async_copy.wait_group(0)
    show(out, number, of.load(registers(gl.num_warps())))


@gluon.jit
def copy_arrives(data, out, BROKEN: gl.constexpr):
    """A copy reports on a barrier, one arrival for each of its 128 threads; the broken kernel counts one for all."""
    tile = new_tiles(1).index(0)
    landed = new_barriers(1, 1 if BROKEN else 128).index(0)
    gl.warp_specialize([
        (read_one, (tile, landed, out)),
        (copy_reporting, (data, tile, landed)),
    ], [4], [64])


@gluon.jit
def copy_reporting(data, tile, landed):
    copy_in(data, 0, tile)
    async_copy.mbarrier_arrive(landed, increment_count=False)


@gluon.jit
def copy_halves(data, out, BROKEN: gl.constexpr):
    """A partition fills the lower half of a tile that a copy writes; the broken kernel copies into both halves."""
    tile = new_tiles(1).index(0)
    gl.warp_specialize([
        (copy_half, (data, tile, BROKEN)),
        (fill_lower, (tile,)),
    ], [4], [64])
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def copy_half(data, tile, WHOLE: gl.constexpr):
    if WHOLE:
        copy_in(data, 0, tile)
    else:
        rows = gl.arange(0, SIDE // 2, gl.SliceLayout(1, registers(gl.num_warps())))
        columns = gl.arange(0, SIDE, gl.SliceLayout(0, registers(gl.num_warps())))
        upper = tile.slice(0, SIDE // 2)
        async_copy.async_copy_global_to_shared(upper, data + rows[:, None] * SIDE + columns[None, :])
    async_copy.commit_group()
    async_copy.wait_group(0)


@gluon.jit
def fill_lower(tile):
    lower = tile.slice(SIDE // 2, SIDE // 2)
    lower.store(gl.full([SIDE // 2, SIDE], 1, gl.float16, registers(gl.num_warps())))
