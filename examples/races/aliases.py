"""Two names for the same bytes: parts of a tile, and buffers that take turns in one place."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tiles import SIDE, TILE_BYTES, constant, new_barriers, new_tiles, registers, show

HALF = gl.constexpr(32)


@gluon.jit
def alias_halves(out, BROKEN: gl.constexpr):
    """A partition writes the upper half of a tile while another reads the lower; the broken one writes all of it."""
    tile = new_tiles(1).index(0)
    tile.store(constant(1.0))
    gl.warp_specialize([
        (read_lower, (tile, out)),
        (write_upper, (tile, BROKEN)),
    ], [4], [64])
    show(out, 1, tile.load(registers(gl.num_warps())))


@gluon.jit
def read_lower(tile, out):
    value = tile.slice(HALF, HALF).load(registers(gl.num_warps()))
    rows = gl.arange(0, HALF, gl.SliceLayout(1, registers(gl.num_warps())))
    columns = gl.arange(0, SIDE, gl.SliceLayout(0, registers(gl.num_warps())))
    gl.store(out + rows[:, None] * SIDE + columns[None, :], value)


@gluon.jit
def write_upper(tile, ALL: gl.constexpr):
    if ALL:
        tile.store(constant(2.0))
    else:
        tile.slice(0, HALF).store(gl.full([HALF, SIDE], 2, gl.float16, registers(gl.num_warps())))


@gluon.jit
def alias_halves_waited(out, BROKEN: gl.constexpr):
    """A partition writes a whole tile, another reads a half of it after a wait, which the broken one leaves out."""
    tile = new_tiles(1).index(0)
    written = new_barriers(1).index(0)
    gl.warp_specialize([
        (read_lower_after, (tile, written, out, BROKEN)),
        (write_all, (tile, written)),
    ], [4], [64])


@gluon.jit
def read_lower_after(tile, written, out, BROKEN: gl.constexpr):
    mbarrier.wait(written, 0, pred=not BROKEN)
    read_lower(tile, out)


@gluon.jit
def write_all(tile, written):
    tile.store(constant(2.0))
    mbarrier.arrive(written, count=1)


@gluon.jit
def alias_staging(source, target, tiles, BROKEN: gl.constexpr):
    """A result is staged in the bytes of the operand it was made from, so that the next load must wait for the store of
    the result; in the broken kernel it waits for the operand to be read."""
    operand = new_tiles(1).index(0)
    staging = operand._reinterpret(gl.float16, [SIDE, SIDE], operand.layout)
    full = new_barriers(1).index(0)
    empty = new_barriers(1).index(0)
    gl.warp_specialize([
        (double, (target, operand, staging, full, empty, tiles, BROKEN)),
        (load_operands, (source, operand, full, empty, tiles)),
    ], [1], [64])


@gluon.jit
def double(target, operand, staging, full, empty, tiles, BROKEN: gl.constexpr):
    for i in range(tiles):
        mbarrier.wait(full, i & 1)
        value = operand.load(registers(gl.num_warps()))
        staging.store(value + value)
        fence_async_shared()
        tma.async_copy_shared_to_global(target, [i * SIDE, 0], staging)
        mbarrier.arrive(empty, count=1, pred=BROKEN)
        tma.store_wait(0)
        mbarrier.arrive(empty, count=1, pred=not BROKEN)


@gluon.jit
def load_operands(source, operand, full, empty, tiles):
    for i in range(tiles):
        mbarrier.wait(empty, i & 1 ^ 1)
        mbarrier.expect(full, TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], full, operand)


@gluon.jit
def alias_turns(out, tiles, BROKEN: gl.constexpr):
    """Two buffers take turns in one place: the first is written and read, then the second, then the first again. The
    broken kernel waits for the second one's reader when it comes to the second one, not when it comes to the place."""
    first = new_tiles(1).index(0)
    second = first._reinterpret(gl.float16, [SIDE, SIDE], first.layout)
    first_full = new_barriers(1).index(0)
    first_empty = new_barriers(1).index(0)
    second_full = new_barriers(1).index(0)
    second_empty = new_barriers(1).index(0)
    gl.warp_specialize([
        (write_in_turn, (first, second, first_full, first_empty, second_full, second_empty, tiles, BROKEN)),
        (read_first, (first, first_full, first_empty, out, tiles)),
        (read_second, (second, second_full, second_empty, out, tiles)),
    ], [4, 4], [64, 64])


@gluon.jit
def write_in_turn(first, second, first_full, first_empty, second_full, second_empty, tiles, BROKEN: gl.constexpr):
    for i in range(tiles):
        mbarrier.wait(second_empty, i & 1 ^ 1, pred=not BROKEN)
        first.store(constant(1.0))
        mbarrier.arrive(first_full, count=1)
        mbarrier.wait(first_empty, i & 1)
        mbarrier.wait(second_empty, i & 1 ^ 1, pred=BROKEN)
        second.store(constant(2.0))
        mbarrier.arrive(second_full, count=1)


@gluon.jit
def read_first(tile, full, empty, out, tiles):
    for i in range(tiles):
        mbarrier.wait(full, i & 1)
        value = tile.load(registers(gl.num_warps()))
        mbarrier.arrive(empty, count=1)
        show(out, i, value)


@gluon.jit
def read_second(tile, full, empty, out, tiles):
    read_first(tile, full, empty, out + tiles * SIDE * SIDE, tiles)
