"""Partitions that hand tiles to each other: who is done with one arrives on a barrier, who comes next waits for it."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

from tiles import constant, new_barriers, new_tiles, registers, show


@gluon.jit
def write(tile, written, value):
    tile.store(constant(value))
    mbarrier.arrive(written, count=1)


@gluon.jit
def read(tile, read_, out, number):
    value = tile.load(registers(gl.num_warps()))
    mbarrier.arrive(read_, count=1)
    show(out, number, value)


@gluon.jit
def handoff_written(out, BROKEN: gl.constexpr):
    """A partition writes a tile, the default one reads it; the broken reader does not wait."""
    tile = new_tiles(1).index(0)
    written = new_barriers(1).index(0)
    gl.warp_specialize([
        (read_after, (tile, written, out, 0, BROKEN)),
        (write, (tile, written, 1.0)),
    ], [4], [64])


@gluon.jit
def read_after(tile, written, out, number, BROKEN: gl.constexpr):
    mbarrier.wait(written, 0, pred=not BROKEN)
    show(out, number, tile.load(registers(gl.num_warps())))


@gluon.jit
def handoff_read(out, BROKEN: gl.constexpr):
    """A partition reads a tile, the default one overwrites it; the broken writer does not wait."""
    tile = new_tiles(1).index(0)
    read_ = new_barriers(1).index(0)
    tile.store(constant(1.0))
    gl.warp_specialize([
        (overwrite_after, (tile, read_, BROKEN)),
        (read, (tile, read_, out, 0)),
    ], [4], [64])
    show(out, 1, tile.load(registers(gl.num_warps())))


@gluon.jit
def overwrite_after(tile, read_, BROKEN: gl.constexpr):
    mbarrier.wait(read_, 0, pred=not BROKEN)
    tile.store(constant(2.0))


@gluon.jit
def handoff_two_readers(out, BROKEN: gl.constexpr):
    """Two partitions read a tile and each has a barrier to say so; the broken writer waits for the first only."""
    tile = new_tiles(1).index(0)
    read_ = new_barriers(2)
    tile.store(constant(1.0))
    gl.warp_specialize([
        (overwrite_after_two, (tile, read_, BROKEN)),
        (read, (tile, read_.index(0), out, 0)),
        (read, (tile, read_.index(1), out, 1)),
    ], [4, 4], [64, 64])
    show(out, 2, tile.load(registers(gl.num_warps())))


@gluon.jit
def overwrite_after_two(tile, read_, BROKEN: gl.constexpr):
    mbarrier.wait(read_.index(0), 0)
    mbarrier.wait(read_.index(1), 0, pred=not BROKEN)
    tile.store(constant(2.0))


@gluon.jit
def handoff_reader_count(out, BROKEN: gl.constexpr):
    """Two partitions read a tile and tell it on one barrier, which counts both; the broken one counts one, so that the
    first to be done lets the writer in."""
    tile = new_tiles(1).index(0)
    read_ = new_barriers(1, 1 if BROKEN else 2).index(0)
    tile.store(constant(1.0))
    gl.warp_specialize([
        (overwrite_after, (tile, read_, False)),
        (read, (tile, read_, out, 0)),
        (read, (tile, read_, out, 1)),
    ], [4, 4], [64, 64])
    show(out, 2, tile.load(registers(gl.num_warps())))


@gluon.jit
def handoff_order(out, BROKEN: gl.constexpr):
    """A partition writes two tiles and tells of each; the broken reader waits for the first and reads the second."""
    tile = new_tiles(2)
    written = new_barriers(2)
    gl.warp_specialize([
        (read_after, (tile.index(1 if BROKEN else 0), written.index(0), out, 0, False)),
        (write_two, (tile, written)),
    ], [4], [64])


@gluon.jit
def write_two(tile, written):
    for i in gl.static_range(2):
        write(tile.index(i), written.index(i), 1.0 + i)


@gluon.jit
def handoff_two_by_two(out, BROKEN: gl.constexpr):
    """Two partitions each write a tile, two others read both; one barrier counts both writers. One of the broken
    kernel's readers does not wait."""
    tile = new_tiles(2)
    written = new_barriers(1, 2).index(0)
    gl.warp_specialize([
        (read_two, (tile, written, out, 0, False)),
        (read_two, (tile, written, out, 2, BROKEN)),
        (write, (tile.index(0), written, 1.0)),
        (write, (tile.index(1), written, 2.0)),
    ], [4, 4, 4], [64, 64, 64])


@gluon.jit
def read_two(tile, written, out, number, BROKEN: gl.constexpr):
    mbarrier.wait(written, 0, pred=not BROKEN)
    show(out, number, tile.index(0).load(registers(gl.num_warps())))
    show(out, number + 1, tile.index(1).load(registers(gl.num_warps())))


@gluon.jit
def handoff_warp_counts(out, BROKEN: gl.constexpr):
    """Readers of two and of eight warps; the broken writer does not wait for the larger one."""
    tile = new_tiles(1).index(0)
    read_ = new_barriers(2)
    tile.store(constant(1.0))
    gl.warp_specialize([
        (overwrite_after_two, (tile, read_, BROKEN)),
        (read, (tile, read_.index(0), out, 0)),
        (read, (tile, read_.index(1), out, 1)),
    ], [2, 8], [96, 64])
    show(out, 2, tile.load(registers(gl.num_warps())))


@gluon.jit
def handoff_join(out, BROKEN: gl.constexpr):
    """What a partition wrote is there after the join, and needs no barrier; the broken kernel reads it in the partition
    beside."""
    tile = new_tiles(1).index(0)
    gl.warp_specialize([
        (read_beside, (tile, out, BROKEN)),
        (write_alone, (tile,)),
    ], [4], [64])
    show(out, 0, tile.load(registers(gl.num_warps())))


@gluon.jit
def read_beside(tile, out, BROKEN: gl.constexpr):
    if BROKEN:
        show(out, 1, tile.load(registers(gl.num_warps())))


@gluon.jit
def write_alone(tile):
    tile.store(constant(1.0))


@gluon.jit
def handoff_relay(out, BROKEN: gl.constexpr):
    """The order may go through a third partition, which sees nothing of the tile; the broken one does not wait before
    it passes the word on."""
    tile = new_tiles(1).index(0)
    told = new_barriers(2)
    gl.warp_specialize([
        (read_after, (tile, told.index(1), out, 0, False)),
        (write, (tile, told.index(0), 1.0)),
        (pass_on, (told, BROKEN)),
    ], [4, 1], [64, 64])


@gluon.jit
def pass_on(told, BROKEN: gl.constexpr):
    mbarrier.wait(told.index(0), 0, pred=not BROKEN)
    mbarrier.arrive(told.index(1), count=1)
