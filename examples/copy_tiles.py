"""Copies tiles through shared memory by TMA, and has a bug: the next copy overwrites the tile while threads may still read
it. `copy_tiles.py right` waits for them first."""

import sys

import weir.triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# Releases have their own names for one thing.
load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared


@gluon.jit
def read(tile, out, full, empty, tiles, RIGHT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, 64, gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, gl.SliceLayout(0, layout))
    for i in range(tiles):
        mbarrier.wait(full, i & 1)
        value = tile.load(layout)
        if RIGHT:
            mbarrier.arrive(empty, count=1)
        gl.store(out + (i * 64 + rows[:, None]) * 64 + columns[None, :], value)


@gluon.jit
def fill(source, tile, full, empty, tiles, RIGHT: gl.constexpr):
    for i in range(tiles):
        if RIGHT:
            mbarrier.wait(empty, i & 1 ^ 1)
        mbarrier.expect(full, 64 * 64 * 2)
        load(source, [i * 64, 0], full, tile)


@gluon.jit
def copy_tiles(source, out, tiles, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], source.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize([
        (read, (tile, out, full, empty, tiles, RIGHT)),
        (fill, (source, tile, full, empty, tiles, RIGHT)),
    ], [1], [24])


SHAPE = [512, 64]
layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
source = TensorDescriptor.from_tensor(weir.triton.tensor(SHAPE, "float16"), [64, 64], layout)
copy_tiles[(1,)](source, weir.triton.tensor(SHAPE, "float16"), 8, "right" in sys.argv, num_warps=4)
