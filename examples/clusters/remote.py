"""Memory of another CTA, by layouts: what a CTA has in registers lies in the memory of others (sm_90)."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import async_store, cluster, mbarrier

from common import cta_rank, kernel, show

ALL = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), )))
EACH = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((1, 0), )))
PARTS = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=((1, 0), )))


@kernel(90, 2, ok="The first CTA stores the parts of both, with a barrier in each that counts its bytes",
        bytes=("deadlock.bytes", "The barriers wait for the bytes of both parts; one comes to each"),
        no_wait=("race.war", "The second CTA reads its part without waiting"),
        both_store=("race.waw", "Both store the parts of both, with twice the bytes"))
@gluon.jit
def async_store_parts(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [128, 64], PARTS)
    stored = mbarrier.allocate_mbarrier()
    mbarrier.init(stored, count=1)
    mbarrier.expect(stored, 64 * 64 * 4 * (2 if VARIANT == "bytes" else 1))
    if VARIANT == "both_store":
        async_store(tile, gl.full([128, 64], 1, gl.int32, ALL), stored)
    elif cta_rank() == 0:
        async_store(tile, gl.full([128, 64], 1, gl.int32, ALL), stored)
    mbarrier.wait(stored, 0, pred=(cta_rank() == 0) if VARIANT == "no_wait" else True)
    show(out, tile.load(EACH))


@kernel(90, 2, ok="Each CTA stores its part; the first reads both once they have met",
        not_met=("race.war", "They do not meet before"),
        not_met_after=("race.raw", "The second stores anew while the first may still read"))
@gluon.jit
def load_parts(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [128, 64], PARTS)
    tile.store(gl.full([128, 64], 1, gl.int32, EACH))
    if VARIANT != "not_met":
        cluster.barrier()
    if cta_rank() == 0:
        value = tile.load(ALL)
        gl.store(out, gl.sum(gl.sum(value.to(gl.float32), axis=1), axis=0))
    if VARIANT != "not_met_after":
        cluster.barrier()
    tile.store(gl.full([128, 64], 2, gl.int32, EACH))


SAME = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), )))


@kernel(90, 2, ok="Both read a view that lies in the second CTA, once they have met",
        not_met=("race.raw", "They do not meet before: the first may read what the second has yet to store"),
        not_met_after=("race.war", "They do not meet after: the second stores anew while the first may still read"))
@gluon.jit
def view_of_second(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [128, 64], PARTS)
    value = gl.zeros([64, 64], gl.int32, SAME)
    for k in range(3):
        tile.store(gl.full([128, 64], k + 1, gl.int32, EACH))
        if VARIANT != "not_met":
            cluster.barrier()
        value += tile.slice(64, 64).load(SAME)
        if VARIANT != "not_met_after":
            cluster.barrier()
    show(out, value)


@kernel(90, 2, ok="Each CTA stores half of a view that lies in the second one; both read all of it once they have met",
        own_half="Each reads the half that it has stored itself: they need not meet",
        not_met=("race.raw", "They do not meet before they read"))
@gluon.jit
def halves_of_view(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [128, 64], PARTS)
    view = tile.slice(64, 64)
    view.store(gl.full([64, 64], 1, gl.int32, EACH))
    if VARIANT == "ok":
        cluster.barrier()
    show(out, view.load(EACH if VARIANT == "own_half" else SAME))


LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0], cga_layout=((1, ), )))
IN_LINE = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=((1, ), )))


@kernel(90, 2, ok="Each CTA stores its half of a line; both gather from the other's half once they have met",
        not_met=("race.raw", "They do not meet before they gather"),
        not_met_after=("race.war", "They do not meet again before the line is stored anew"))
@gluon.jit
def gather_halves(out, VARIANT: gl.constexpr):
    line = gl.allocate_shared_memory(gl.int32, [256], IN_LINE)
    place = gl.arange(0, 256, LINE)
    value = gl.zeros([256], gl.int32, LINE)
    for k in range(3):
        line.store(place + k)
        if VARIANT != "not_met":
            cluster.barrier()
        value += line.gather(255 - place, 0)
        if VARIANT != "not_met_after":
            cluster.barrier()
    gl.store(out + place, value.to(gl.float32))


@kernel(90, 2, ok="Each CTA scatters into the other's half of a line, which reads it once they have met",
        own="Each scatters into its own half: nobody has to meet",
        not_met=("race.war", "They do not meet before they read"),
        not_met_after=("race.raw", "They do not meet again before they scatter anew"))
@gluon.jit
def scatter_halves(out, VARIANT: gl.constexpr):
    line = gl.allocate_shared_memory(gl.int32, [256], IN_LINE)
    place = gl.arange(0, 256, LINE)
    value = gl.zeros([256], gl.int32, LINE)
    for k in range(3):
        line.scatter(place + k, place ^ 127 if VARIANT == "own" else 255 - place, 0)
        if VARIANT == "own":
            gl.barrier()
        elif VARIANT != "not_met":
            cluster.barrier()
        value += line.load(LINE)
        if VARIANT == "own":
            gl.barrier()
        elif VARIANT != "not_met_after":
            cluster.barrier()
    gl.store(out + place, value.to(gl.float32))
