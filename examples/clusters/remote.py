"""Memory of another CTA, by layouts: what a CTA has in registers lies in the memory of others (sm_90)."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import async_store, cluster, mbarrier

from common import cta_rank, kernel

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
    value = tile.load(EACH)
    gl.store(out + cta_rank(), gl.sum(gl.sum(value.to(gl.float32), axis=1), axis=0))


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
