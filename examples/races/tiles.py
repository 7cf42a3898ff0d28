"""What the kernels of this folder share: tiles of 64 x 64 half floats, barriers, and what a parameter's name means.

A kernel's parameters say by their names what they are, so that compiling, launching and describing it need no table:

  source, target   descriptors of a matrix of 64 x 64 tiles, one tile under the other, to load from and to store to
  data, out        pointers to such tiles
  sums             a pointer to tiles of 32-bit floats
  tiles            how many there are to work on; no_tiles: the same, and there are none
  BROKEN           False makes the correct kernel, True the one with the fault that the kernel's text tells of
"""

import importlib

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonJITFunction
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

SIDE = gl.constexpr(64)
TILE_BYTES = gl.constexpr(64 * 64 * 2)
SHARED = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2))

# What the parameters are to the compiler, and what a launch gives for them.
MATRIX_TILES = 16
DESCRIPTOR = f"tensordesc<fp16[{SIDE.value}, {SIDE.value}],{SHARED.value!r}>"
SIGNATURE = dict(source=DESCRIPTOR, target=DESCRIPTOR, data="*fp16", out="*fp16", sums="*fp32", tiles="i32",
                 no_tiles="i32")
SHAPE = [MATRIX_TILES * SIDE.value, SIDE.value]
LAUNCH = dict(
    source=dict(descriptor=dict(shape=SHAPE, block=[SIDE.value, SIDE.value], dtype="f16")),
    target=dict(descriptor=dict(shape=SHAPE, block=[SIDE.value, SIDE.value], dtype="f16")),
    data=dict(tensor=dict(shape=SHAPE, dtype="f16")),
    out=dict(tensor=dict(shape=SHAPE, dtype="f16")),
    sums=dict(tensor=dict(shape=SHAPE, dtype="f32")),
    tiles=7,
    no_tiles=0,
)

# The files with kernels in them, and what they are compiled for.
FILES = dict(tma_load=90, cp_async=90, tma_store=90, wgmma=90, handoff=90, rings=90, aliases=90, barriers=90,
             deadlocks=90, tcgen05=100)


def pairs():
    """All kernels that have a broken variant, each with the target to compile it for."""
    for file, target in FILES.items():
        for kernel in vars(importlib.import_module(file)).values():
            if isinstance(kernel, GluonJITFunction) and kernel.__module__ == file and "BROKEN" in kernel.arg_names:
                if kernel.arg_names[-1] == "BROKEN" and kernel.__doc__:
                    yield kernel, target


@gluon.constexpr_function
def registers(warps):
    """How the threads of so many warps hold a tile."""
    return gl.BlockedLayout([1, 8], [4, 8], [warps, 1], [1, 0])


@gluon.jit
def new_tiles(N: gl.constexpr):
    return gl.allocate_shared_memory(gl.float16, [N, SIDE, SIDE], SHARED)


@gluon.jit
def new_barriers(N: gl.constexpr, COUNT: gl.constexpr = 1):
    barriers = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(N):
        mbarrier.init(barriers.index(i), count=COUNT)
    return barriers


@gluon.jit
def places(tile, LAYOUT: gl.constexpr):
    """Where the elements of tile number `tile` lie in memory, counted from a matrix's begin."""
    rows = gl.arange(0, SIDE, gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, SIDE, gl.SliceLayout(0, LAYOUT))
    return (tile * SIDE + rows[:, None]) * SIDE + columns[None, :]


@gluon.jit
def show(out, tile, value):
    """Writes a tile that is in registers to global memory, so that it is of use to somebody."""
    LAYOUT: gl.constexpr = value.type.layout
    gl.store(out + places(tile, LAYOUT), value)


@gluon.jit
def constant(value):
    return gl.full([SIDE, SIDE], value, gl.float16, registers(gl.num_warps()))


@gluon.jit
def nothing():
    """A partition that has nothing to do."""
    pass
