"""One copy into several CTAs, and how they say that they are done with it (sm_90)."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import cluster, fence_async_shared, mbarrier, tma

from common import cta_rank, kernel, show

SAME2 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), )))
SAME4 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), (0, 0))))
HALF4 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), (1, 0))))
ONE2 = gl.constexpr(mbarrier.MBarrierLayout([[0]]))


@gluon.jit
def one_barrier():
    """One for both CTAs, in the first."""
    return gl.allocate_shared_memory(gl.int64, [1], ONE2)


@kernel(90, 2, ok="One CTA loads a tile for both; each waits for its own barrier",
        peer_reads_early=("race.war", "The peer reads the tile without waiting: the copy is none of its own"),
        peer_not_told=("deadlock.no-producer", "Only the first CTA says that bytes come; at the peer's barrier an arrival is missing"),
        bytes=("deadlock.bytes", "The barriers wait for the bytes of two tiles; the copy brings one to each"))
@gluon.jit
def multicast_load(same2, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same2.dtype, same2.block_shape, same2.layout)
    loaded = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.expect(loaded, same2.nbytes_per_cta * (2 if VARIANT == "bytes" else 1),
                    pred=(cta_rank() == 0) if VARIANT == "peer_not_told" else True)
    tma.async_load(same2, [0, 0], loaded, tile, multicast=True)
    mbarrier.wait(loaded, 0, pred=(cta_rank() == 0) if VARIANT == "peer_reads_early" else True)
    show(out, tile.load(SAME2))


@kernel(90, 2, ok="A tile is loaded for both CTAs again and again, after both have said that they have read it",
        own_release=("race.war", "Each says so to its own barrier: the first CTA does not know of the peer"),
        no_release=("race.war", "Nobody says so"),
        count=("deadlock.bytes", "The barrier counts four arrivals; two come"))
@gluon.jit
def multicast_release(same2, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same2.dtype, same2.block_shape, same2.layout)
    loaded = mbarrier.allocate_mbarrier()
    if VARIANT == "own_release":
        free = mbarrier.allocate_mbarrier()
    else:
        free = one_barrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(free, count=2 if VARIANT == "count" else 1)
    value = gl.zeros([64, 64], gl.float32, SAME2)
    for k in range(3):
        mbarrier.expect(loaded, same2.nbytes_per_cta)
        tma.async_load(same2, [k * 64, 0], loaded, tile, multicast=True)
        mbarrier.wait(loaded, k & 1)
        value += tile.load(SAME2).to(gl.float32)
        fence_async_shared(cluster=True)
        if VARIANT != "no_release":
            mbarrier.arrive(free)
            mbarrier.wait(free, k & 1)
    show(out, value)


@kernel(90, 2, ok="The CTAs meet before the tile is loaded for both anew",
        met_relaxed=("race.war", "A relaxed cluster barrier orders no memory"))
@gluon.jit
def multicast_met(same2, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same2.dtype, same2.block_shape, same2.layout)
    loaded = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    value = gl.zeros([64, 64], gl.float32, SAME2)
    for k in range(3):
        mbarrier.expect(loaded, same2.nbytes_per_cta)
        tma.async_load(same2, [k * 64, 0], loaded, tile, multicast=True)
        mbarrier.wait(loaded, k & 1)
        value += tile.load(SAME2).to(gl.float32)
        fence_async_shared(cluster=True)
        cluster.barrier(relaxed=VARIANT == "met_relaxed")
    show(out, value)


@kernel(90, 4, ok="Four CTAs in two halves: the first of each loads for its half, with a barrier for each CTA",
        firsts_wait=("race.raw", "Only the first CTA of each half waits"))
@gluon.jit
def multicast_halves(half4, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(half4.dtype, half4.block_shape, half4.layout)
    loaded = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.expect(loaded, half4.nbytes_per_cta)
    tma.async_load(half4, [0, 0], loaded, tile, multicast=True)
    mbarrier.wait(loaded, 0, pred=((cta_rank() & 1) == 0) if VARIANT == "firsts_wait" else True)
    show(out, tile.load(HALF4))


@kernel(90, 4, ok="The first of four CTAs says for all how many bytes come, and loads the tile for all",
        twice=("barrier.underflow", "Each CTA says so, too: two arrivals for a count of one"),
        to_half=("deadlock.no-producer", "The first CTA says so for itself and one other: nobody does for the other two"))
@gluon.jit
def expect_from_first(same4, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same4.dtype, same4.block_shape, same4.layout)
    loaded = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    if VARIANT == "twice":
        mbarrier.expect(loaded, same4.nbytes_per_cta)
    if VARIANT == "to_half":
        mbarrier.expect(loaded, same4.nbytes_per_cta, from_cta=2, pred=cta_rank() == 0)
    else:
        mbarrier.expect(loaded, same4.nbytes_per_cta, from_cta=0)
    tma.async_load(same4, [0, 0], loaded, tile, multicast=True)
    mbarrier.wait(loaded, 0)
    show(out, tile.load(SAME4))


@kernel(90, 4, ok="The first of four CTAs waits for all, then tells all to go on",
        own_go=("race.war", "Each CTA tells itself to go on: it has not waited for the others"))
@gluon.jit
def arrive_from_first(same4, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same4.dtype, same4.block_shape, same4.layout)
    loaded = mbarrier.allocate_mbarrier()
    read = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout([[0], [0]]))
    go = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(read, count=1)
    mbarrier.init(go, count=1)
    mbarrier.expect(loaded, same4.nbytes_per_cta)
    tma.async_load(same4, [0, 0], loaded, tile, multicast=True)
    mbarrier.wait(loaded, 0)
    value = tile.load(SAME4).to(gl.float32)
    fence_async_shared(cluster=True)
    mbarrier.arrive(read, pred=(cta_rank() != 3) if VARIANT == "own_go" else True)
    if VARIANT == "own_go":
        mbarrier.arrive(go)
    else:
        mbarrier.wait(read, 0)
        mbarrier.arrive(go, from_cta=0)
    mbarrier.wait(go, 0)
    mbarrier.expect(loaded, same4.nbytes_per_cta)
    tma.async_load(same4, [64, 0], loaded, tile, multicast=True)
    mbarrier.wait(loaded, 1)
    show(out, value + tile.load(SAME4).to(gl.float32))
