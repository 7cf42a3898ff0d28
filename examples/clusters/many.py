"""Clusters of 8 and of 16 CTAs, the most that there are (sm_90)."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import async_store, cluster, fence_async_shared, mbarrier, tma

from common import cta_rank, kernel, show

SAME8 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), ) * 3))
SAME16 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 0), ) * 4))
ONE8 = gl.constexpr(mbarrier.MBarrierLayout([[0]] * 3))
ONE16 = gl.constexpr(mbarrier.MBarrierLayout([[0]] * 4))
ROWS16 = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((1, 0), (2, 0), (4, 0), (8, 0))))
ROWS8 = gl.constexpr(gl.BlockedLayout([1, 2], [4, 8], [4, 1], [1, 0], cga_layout=((1, 0), (2, 0), (4, 0))))
COLUMNS8 = gl.constexpr(gl.BlockedLayout([1, 2], [8, 4], [4, 1], [1, 0], cga_layout=((0, 1), (0, 2), (0, 4))))
IN_ROWS16 = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=((1, 0), (2, 0), (4, 0), (8, 0))))
IN_ROWS8 = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=((1, 0), (2, 0), (4, 0))))


@gluon.jit
def load_for_all(tile, loaded, source, VARIANT: gl.constexpr, LAST: gl.constexpr):
    mbarrier.init(loaded, count=1)
    if VARIANT == "last_not_told":
        mbarrier.expect(loaded, source.nbytes_per_cta, pred=cta_rank() != LAST)
    else:
        mbarrier.expect(loaded, source.nbytes_per_cta)
    tma.async_load(source, [0, 0], loaded, tile, multicast=True)
    mbarrier.wait(loaded, 0, pred=(cta_rank() != LAST) if VARIANT == "last_reads_early" else True)


@kernel(90, 8, ok="One CTA loads a tile for eight; each waits for its own barrier",
        last_reads_early=("race.war", "The last CTA reads the tile without waiting"),
        last_not_told=("deadlock.no-producer", "Nobody says at the last CTA's barrier that bytes come"))
@gluon.jit
def multicast_to_8(same8, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same8.dtype, same8.block_shape, same8.layout)
    loaded = mbarrier.allocate_mbarrier()
    load_for_all(tile, loaded, same8, VARIANT, 7)
    show(out, tile.load(SAME8))


@kernel(90, 16, ok="One CTA loads a tile for sixteen; each waits for its own barrier",
        last_reads_early=("race.war", "The last CTA reads the tile without waiting"),
        last_not_told=("deadlock.no-producer", "Nobody says at the last CTA's barrier that bytes come"))
@gluon.jit
def multicast_to_16(same16, out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(same16.dtype, same16.block_shape, same16.layout)
    loaded = mbarrier.allocate_mbarrier()
    load_for_all(tile, loaded, same16, VARIANT, 15)
    show(out, tile.load(SAME16))


@gluon.jit
def ring_load(source, tiles, loaded, free, VARIANT: gl.constexpr):
    """For all CTAs, by the first: it waits until all have read the slot, says at each barrier what comes, and loads."""
    for k in range(6):
        slot = k % 2
        if VARIANT != "no_wait":
            mbarrier.wait(free.index(slot), (k // 2 & 1) ^ 1)
        mbarrier.expect(loaded.index(slot), source.nbytes_per_cta, from_cta=0)
        tma.async_load(source, [k * 64, 0], loaded.index(slot), tiles.index(slot), multicast=True)


@gluon.jit
def ring_add(out, tiles, loaded, free, SAME: gl.constexpr, VARIANT: gl.constexpr):
    value = gl.zeros([64, 64], gl.float32, SAME)
    for k in range(6):
        slot = k % 2
        mbarrier.wait(loaded.index(slot), k // 2 & 1)
        value += tiles.index(slot).load(SAME).to(gl.float32)
        fence_async_shared(cluster=True)
        mbarrier.arrive(free.index(slot), pred=(cta_rank() != 5) if VARIANT == "one_missing" else True)
    show(out, value)


@gluon.jit
def ring(source, out, ONE: gl.constexpr, SAME: gl.constexpr, VARIANT: gl.constexpr):
    tiles = gl.allocate_shared_memory(source.dtype, [2] + source.block_shape, source.layout)
    loaded = mbarrier.allocate_mbarrier(batch=2)
    if VARIANT == "own_release":
        free = mbarrier.allocate_mbarrier(batch=2)
    else:
        free = gl.allocate_shared_memory(gl.int64, [2, 1], ONE)
    for i in gl.static_range(2):
        mbarrier.init(loaded.index(i), count=1)
        mbarrier.init(free.index(i), count=2 if VARIANT == "count" else 1)
    gl.warp_specialize([(ring_add, (out, tiles, loaded, free, SAME, VARIANT)),
                        (ring_load, (source, tiles, loaded, free, VARIANT))], [1], [24])
    cluster.barrier()


@kernel(90, 8, ok="A ring of two slots for eight CTAs: the first loads, all tell it when they have read",
        own_release=("race.war", "Each tells itself: the first does not know of the others"),
        no_wait=("race.war", "The first does not wait until a slot was read"),
        one_missing=("deadlock.no-producer", "One of the eight never says that it has read"),
        count=("deadlock.no-producer", "The barriers count two arrivals of each CTA; one comes"))
@gluon.jit
def ring_of_8(same8, out, VARIANT: gl.constexpr):
    ring(same8, out, ONE8, SAME8, VARIANT)


@kernel(90, 16, ok="A ring of two slots for sixteen CTAs: the first loads, all tell it when they have read",
        own_release=("race.war", "Each tells itself: the first does not know of the others"),
        one_missing=("deadlock.no-producer", "One of the sixteen never says that it has read"))
@gluon.jit
def ring_of_16(same16, out, VARIANT: gl.constexpr):
    ring(same16, out, ONE16, SAME16, VARIANT)


@kernel(90, 16, ok="Each of sixteen CTAs stores its part; all read all parts once they have met",
        not_met=("race.raw", "They do not meet before they read"),
        met_relaxed=("race.raw", "They meet at a relaxed cluster barrier, which orders no memory"),
        not_met_after=("race.war", "They do not meet again before the parts are stored anew"))
@gluon.jit
def parts_of_16(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [256, 64], IN_ROWS16)
    value = gl.zeros([256, 64], gl.int32, SAME16)
    for k in range(3):
        tile.store(gl.full([256, 64], k + 1, gl.int32, ROWS16))
        if VARIANT != "not_met":
            cluster.barrier(relaxed=VARIANT == "met_relaxed")
        value += tile.load(SAME16)
        if VARIANT != "not_met_after":
            cluster.barrier()
    show(out, value)


@kernel(90, 8, ok="Eight CTAs store rows, meet, and read columns: an eighth of each other's memory",
        not_met=("race.raw", "They do not meet before they read"),
        not_met_after=("race.war", "They do not meet again before the rows are stored anew"))
@gluon.jit
def exchange_of_8(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [128, 128], IN_ROWS8)
    value = gl.zeros([128, 128], gl.int32, COLUMNS8)
    for k in range(3):
        tile.store(gl.full([128, 128], k + 1, gl.int32, ROWS8))
        if VARIANT != "not_met":
            cluster.barrier()
        value += tile.load(COLUMNS8)
        if VARIANT != "not_met_after":
            cluster.barrier()
    show(out, value)


@kernel(90, 8, ok="Each of eight CTAs stores a column of its own into all, with a barrier in each that counts the bytes",
        bytes=("deadlock.bytes", "The barriers wait for the bytes of two such tiles"),
        no_wait=("race.war", "The last CTA reads its rows without waiting"))
@gluon.jit
def columns_of_8(out, VARIANT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.int32, [128, 128], IN_ROWS8)
    stored = mbarrier.allocate_mbarrier()
    mbarrier.init(stored, count=1)
    mbarrier.expect(stored, 16 * 128 * 4 * (2 if VARIANT == "bytes" else 1))
    async_store(tile, gl.full([128, 128], 1, gl.int32, COLUMNS8), stored)
    mbarrier.wait(stored, 0, pred=(cta_rank() != 7) if VARIANT == "no_wait" else True)
    show(out, tile.load(ROWS8))
    cluster.barrier()
