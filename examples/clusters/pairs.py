"""Products of two CTAs (sm_100): half of each operand and of the sum lies in the peer."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tma,
)
from triton.experimental.gluon.language.nvidia.hopper import cluster

from common import cta_rank, kernel

SUM = gl.constexpr(TensorMemoryLayout([128, 128], col_stride=1, cga_layout=((1, 0), ), two_ctas=True))
SUMS = gl.constexpr(TensorMemoryLayout([128, 128], col_stride=1, cga_layout=((1, 0), (2, 0)), two_ctas=True))
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((1, 0), )))
COLUMNS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], cga_layout=((0, 1), )))


@gluon.jit
def store_sum(out, sum_):
    value = sum_.load()
    gl.store(out + cta_rank(), gl.sum(gl.sum(value, axis=1), axis=0))


@gluon.jit
def load_operands(a_pair, b_pair, a, b, loaded):
    mbarrier.init(loaded, count=1)
    mbarrier.expect(loaded, a_pair.nbytes_per_cta + b_pair.nbytes_per_cta)
    tma.async_load(a_pair, [0, 0], loaded, a)
    tma.async_load(b_pair, [0, 0], loaded, b)


@kernel(100, 2, ok="An MMA of two CTAs: both load their half, the leader waits for both, both wait for the MMA",
        peer_sum_read_early=("race.war", "The peer reads its half of the sum without waiting for the MMA"),
        peer_sum_stored_early=("race.waw", "The peer zeroes its half of the sum without waiting for the MMA"),
        peer_loads_early=("race.waw", "The peer loads its half of A anew: nobody told it that the first load has come"))
@gluon.jit
def pair_product(a_pair, b_pair, out, VARIANT: gl.constexpr):
    a = gl.allocate_shared_memory(a_pair.dtype, a_pair.block_shape, a_pair.layout)
    b = gl.allocate_shared_memory(b_pair.dtype, b_pair.block_shape, b_pair.layout)
    loaded = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    again = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    mbarrier.init(again, count=1)
    load_operands(a_pair, b_pair, a, b, loaded)
    mbarrier.wait(loaded, 0, deps=[a, b])
    sum_ = allocate_tensor_memory(gl.float32, [256, 128], SUM)
    tcgen05_mma(a, b, sum_, use_acc=False, mbarriers=[done])
    if VARIANT == "peer_sum_read_early":
        mbarrier.wait(done, 0, pred=cta_rank() == 0)
        store_sum(out + 2, sum_)
    elif VARIANT == "peer_sum_stored_early":
        mbarrier.wait(done, 0, pred=cta_rank() == 0)
        sum_.store(gl.zeros([256, 128], gl.float32, sum_.get_reg_layout()))
    elif VARIANT == "peer_loads_early":
        peer = cta_rank() == 1
        mbarrier.expect(again, a_pair.nbytes_per_cta, pred=peer)
        tma.async_load(a_pair, [0, 64], again, a, pred=peer)
        mbarrier.wait(again, 0, pred=peer)
    mbarrier.wait(done, 0)
    store_sum(out, sum_)


@kernel(100, 2, ok="The operands are stored by threads, twice, and the CTAs meet before each MMA",
        not_met=("race.raw", "They do not meet: the peer's half may not have been stored when the second MMA begins"),
        met_relaxed=("race.raw", "They meet at a relaxed cluster barrier, which orders no memory"),
        narrow_fence=("fence.narrow", "A fence for the own CTA, where the leader's tensor core reads the peer's half"),
        peer_stores_early=("race.war", "The peer stores anew while the MMA may still read its half"))
@gluon.jit
def pair_stored(out, VARIANT: gl.constexpr):
    a_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([256, 64], gl.float16, cga_layout=((1, 0), ))
    b_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([64, 128], gl.float16, cga_layout=((0, 1), ))
    a = gl.allocate_shared_memory(gl.float16, [256, 64], a_layout)
    b = gl.allocate_shared_memory(gl.float16, [64, 128], b_layout)
    sum_ = allocate_tensor_memory(gl.float32, [256, 128], SUM)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    for k in range(2):
        a.store(gl.full([256, 64], 1.0, gl.float16, ROWS))
        b.store(gl.full([64, 128], 2.0, gl.float16, COLUMNS))
        fence_async_shared(cluster=VARIANT != "narrow_fence")
        if VARIANT == "met_relaxed":
            cluster.barrier(relaxed=True)
        elif VARIANT != "not_met":
            cluster.barrier()
        tcgen05_mma(a, b, sum_, use_acc=k != 0, mbarriers=[done])
        mbarrier.wait(done, k & 1, pred=(cta_rank() == 0) | (k == 1) if VARIANT == "peer_stores_early" else True,
                      deps=[a, b])
    store_sum(out, sum_)


@kernel(100, 2, ok="The sum is zeroed by threads in both CTAs, which then meet",
        not_met=("race.waw", "The peer may zero its half of the sum while the MMA adds to it"))
@gluon.jit
def pair_sum_zeroed(a_pair, b_pair, out, VARIANT: gl.constexpr):
    a = gl.allocate_shared_memory(a_pair.dtype, a_pair.block_shape, a_pair.layout)
    b = gl.allocate_shared_memory(b_pair.dtype, b_pair.block_shape, b_pair.layout)
    sum_ = allocate_tensor_memory(gl.float32, [256, 128], SUM)
    loaded = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    load_operands(a_pair, b_pair, a, b, loaded)
    sum_.store(gl.zeros([256, 128], gl.float32, sum_.get_reg_layout()))
    if VARIANT == "ok":
        cluster.barrier()
    mbarrier.wait(loaded, 0, deps=[a, b])
    tcgen05_mma(a, b, sum_, use_acc=True, mbarriers=[done])
    mbarrier.wait(done, 0, deps=[a, b])
    store_sum(out, sum_)


@kernel(100, 2, ok="A loop: each CTA loads its half anew once the MMA has read it",
        own_barrier=("race.raw", "Each CTA's loads signal its own barrier: the leader does not know of the peer's half"),
        peer_loads_early=("race.war", "The peer loads its half anew without waiting for the MMA"),
        bytes=("deadlock.bytes", "Each CTA says that the bytes of both come: the leader's barrier waits for twice as many"))
@gluon.jit
def pair_loop(a_pair, b_pair, out, VARIANT: gl.constexpr):
    a = gl.allocate_shared_memory(a_pair.dtype, a_pair.block_shape, a_pair.layout)
    b = gl.allocate_shared_memory(b_pair.dtype, b_pair.block_shape, b_pair.layout)
    sum_ = allocate_tensor_memory(gl.float32, [256, 128], SUM)
    loaded = mbarrier.allocate_mbarrier(two_ctas=VARIANT != "own_barrier")
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    bytes: gl.constexpr = (a_pair.nbytes_per_cta + b_pair.nbytes_per_cta) * (2 if VARIANT == "bytes" else 1)
    for k in range(4):
        mbarrier.expect(loaded, bytes)
        tma.async_load(a_pair, [0, k * 64], loaded, a)
        tma.async_load(b_pair, [k * 64, 0], loaded, b)
        mbarrier.wait(loaded, k & 1, deps=[a, b])
        tcgen05_mma(a, b, sum_, use_acc=k != 0)
        tcgen05_commit(done)
        if VARIANT == "peer_loads_early":
            mbarrier.wait(done, k & 1, pred=(cta_rank() == 0) | (k == 3))
        else:
            mbarrier.wait(done, k & 1)
    store_sum(out, sum_)


@kernel(100, 4, ok="Two pairs have B in common, which is multicast; their MMAs tell all that share an operand",
        commit_to_pair=("race.war", "Each MMA tells its own pair alone: B is loaded anew while the other pair reads it"),
        count=("barrier.underflow", "The barrier counts the pair's own MMA alone: the other's is one arrival too many"))
@gluon.jit
def pairs_multicast(a_pairs, b_pairs, out, VARIANT: gl.constexpr):
    a = gl.allocate_shared_memory(a_pairs.dtype, a_pairs.block_shape, a_pairs.layout)
    b = gl.allocate_shared_memory(b_pairs.dtype, b_pairs.block_shape, b_pairs.layout)
    sum_ = allocate_tensor_memory(gl.float32, [512, 128], SUMS)
    loaded = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    all_: gl.constexpr = VARIANT != "commit_to_pair"
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=tcgen05_mma_barrier_count([a, b], multicast=VARIANT == "ok", two_ctas=True))
    for k in range(3):
        mbarrier.expect(loaded, a_pairs.nbytes_per_cta + b_pairs.nbytes_per_cta)
        tma.async_load(a_pairs, [0, k * 64], loaded, a, multicast=True)
        tma.async_load(b_pairs, [k * 64, 0], loaded, b, multicast=True)
        mbarrier.wait(loaded, k & 1, deps=[a, b])
        tcgen05_mma(a, b, sum_, use_acc=k != 0, multicast=all_, mbarriers=[done])
        mbarrier.wait(done, k & 1, deps=[a, b])
    store_sum(out, sum_)
