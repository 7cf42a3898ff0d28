"""Clusters of AMD's gfx1250: each CTA asks for its tile itself, and one that several ask for comes to all of them at once
if they ask at about the same time. The cluster barrier keeps them together; it orders no memory."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd.cdna5 import async_copy, cluster, tdm

from common import kernel

SAME4 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=[[0, 0]] * 2))
SAME16 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=[[0, 0]] * 4))
IN_SAME4 = gl.constexpr(gl.PaddedSharedLayout.with_identity_for([[64, 8]], [64, 64], [1, 0], [[0, 0]] * 2))
IN_SAME16 = gl.constexpr(gl.PaddedSharedLayout.with_identity_for([[64, 8]], [64, 64], [1, 0], [[0, 0]] * 4))
FLAT4 = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[0, 0]] * 2))


@gluon.jit
def meet(VARIANT: gl.constexpr):
    if VARIANT != "no_arrive":
        cluster.arrive()
    if VARIANT != "no_wait":
        cluster.wait()


@gluon.jit
def tiles_added(source, LAYOUT: gl.constexpr, IN_LAYOUT: gl.constexpr, VARIANT: gl.constexpr):
    """A ring of two slots, loaded one tile ahead, with the CTAs within a turn of each other."""
    rows = tdm.make_tensor_descriptor(source, [512, 64], [64, 1], [64, 64], IN_LAYOUT)
    tiles = gl.allocate_shared_memory(gl.float16, [2, 64, 64], IN_LAYOUT)
    value = gl.zeros([64, 64], gl.float32, LAYOUT)
    tdm.async_load(rows, [0, 0], tiles.index(0))
    for k in range(6):
        meet(VARIANT)
        if VARIANT == "loads_early":
            tdm.async_load(rows, [(k + 2) * 64, 0], tiles.index(k % 2))
        else:
            tdm.async_load(rows, [(k + 1) * 64, 0], tiles.index((k + 1) % 2))
        tdm.async_wait(2 if VARIANT == "waits_for_none" else 1)
        value += tiles.index(k % 2).load(LAYOUT).to(gl.float32)
    tdm.async_wait(0)
    return value


@gluon.jit
def show_tile(out, value, LAYOUT: gl.constexpr):
    rows = gl.arange(0, 64, gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, 64, gl.SliceLayout(0, LAYOUT))
    gl.store(out + rows[:, None] * 64 + columns[None, :], value)


@kernel("gfx1250", 4, ok="Four CTAs load the same tiles, a turn ahead, and meet in each turn",
        no_wait=("amd.cluster-barrier", "They arrive at the cluster barrier, and never wait"),
        no_arrive=("amd.cluster-barrier", "They wait at the cluster barrier, and nobody has arrived"),
        waits_for_none=("race.inflight", "The wait leaves both loads in flight"),
        loads_early=("race.inflight", "A slot is loaded while the tile that is there is yet to be read"))
@gluon.jit
def cdna5_tiles_of_4(source, out, VARIANT: gl.constexpr):
    show_tile(out, tiles_added(source, SAME4, IN_SAME4, VARIANT), SAME4)


@kernel("gfx1250", 16, ok="Sixteen CTAs load the same tiles, a turn ahead, and meet in each turn",
        no_wait=("amd.cluster-barrier", "They arrive at the cluster barrier, and never wait"),
        waits_for_none=("race.inflight", "The wait leaves both loads in flight"))
@gluon.jit
def cdna5_tiles_of_16(source, out, VARIANT: gl.constexpr):
    show_tile(out, tiles_added(source, SAME16, IN_SAME16, VARIANT), SAME16)


@kernel("gfx1250", 4, ok="Four CTAs copy the same tile, each with its own lanes",
        no_wait=("race.inflight", "They do not wait for their copies"))
@gluon.jit
def cdna5_copy_of_4(source, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], FLAT4)
    rows = gl.arange(0, 64, gl.SliceLayout(1, SAME4))
    columns = gl.arange(0, 64, gl.SliceLayout(0, SAME4))
    cluster.arrive()
    cluster.wait()
    async_copy.global_to_shared(tile, source + rows[:, None] * 64 + columns[None, :])
    async_copy.commit_group()
    if VARIANT == "ok":
        async_copy.wait_group(0)
    show_tile(out, tile.load(SAME4).to(gl.float32), SAME4)
