"""Kernels in Gluon in which threads write shared memory and an asynchronous operation then touches it. FENCED: the author
has put a proxy fence between the two; without it, it is up to the compiler. Compiled by compile.py, with any release from
3.5 on; scripts/oracle/fences holds what Weir says of them against their PTX."""
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_mma)
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)

RELEASE = tuple(int(part) for part in triton.__version__.split("+")[0].split(".")[:2])
OLDEST = gl.constexpr(RELEASE < (3, 6))

# What has other names in other releases.
send = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
receive = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
bring = getattr(async_copy, "async_load", None) or async_copy.async_copy_global_to_shared

M, N = gl.constexpr(64), gl.constexpr(64)
TILE = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2))
LANES = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
SUM = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))
if RELEASE >= (3, 6):
    TENSOR_SUM = gl.constexpr(TensorMemoryLayout([64, 64], col_stride=1))
else:
    TENSOR_SUM = gl.constexpr(TensorMemoryLayout([64, 64], unpacked=True))

KERNELS = []


def kernel(targets=(90, 100), given=0, straight=False):
    """A kernel of the list. given: fences that it has in any case; straight: its PTX is in the order in which it runs."""

    def add(function):
        KERNELS.append(dict(function=function, targets=targets, given=given, straight=straight))
        return function

    return add


@gluon.jit
def spots(ordinal):
    rows = gl.arange(0, M, gl.SliceLayout(1, LANES)) + ordinal * M
    return rows[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, LANES))[None, :]


@gluon.jit
def read(numbers, ordinal):
    return gl.load(numbers + spots(ordinal))


@gluon.jit
def buffers(COUNT: gl.constexpr):
    return gl.allocate_shared_memory(gl.float16, [COUNT, M, N], TILE)


@gluon.jit
def barrier():
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    return bar


# ---- One partition --------------------------------------------------------------------------------------------------


@kernel(straight=True)
@gluon.jit
def written_then_sent(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    buffer.store(read(numbers, 3) * 2)
    if FENCED:
        fence_async_shared()
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@kernel(straight=True)
@gluon.jit
def filled_at_once_then_sent(numbers, there, FENCED: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [M, N], TILE, read(numbers, 1))
    if FENCED:
        fence_async_shared()
    send(there, [M, 0], buffer)
    tma.store_wait(0)


@kernel(straight=True)
@gluon.jit
def brought_then_sent(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    bring(buffer, numbers + spots(2))
    async_copy.commit_group()
    async_copy.wait_group(0)
    if FENCED:
        fence_async_shared()
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@kernel(given=1, straight=True)
@gluon.jit
def written_again_behind_the_fence(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    buffer.store(read(numbers, 0))
    fence_async_shared()
    send(there, [0, 0], buffer)
    tma.store_wait(0)
    buffer.store(read(numbers, 1))
    if FENCED:
        fence_async_shared()
    send(there, [M, 0], buffer)
    tma.store_wait(0)


@kernel()
@gluon.jit
def written_in_turns(numbers, there, turns, FENCED: gl.constexpr):
    ring = buffers(3)
    for turn in range(turns):
        tma.store_wait(2)
        buffer = ring.index(turn % 3)
        buffer.store(read(numbers, turn))
        if FENCED:
            fence_async_shared()
        send(there, [turn * M, 0], buffer)
    tma.store_wait(0)


@kernel()
@gluon.jit
def written_on_one_way(numbers, there, turns, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    buffer.store(read(numbers, 0))
    fence = FENCED
    if turns > 5:
        buffer.store(read(numbers, 4))
    if fence:
        fence_async_shared()
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@kernel()
@gluon.jit
def written_then_received(numbers, here, out, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    full = barrier()
    buffer.store(read(numbers, 0))
    if FENCED:
        fence_async_shared()
    mbarrier.expect(full, M * N * 2)
    receive(here, [0, 0], full, buffer)
    mbarrier.wait(full, 0)
    gl.store(out + spots(0), buffer.load(LANES))


@gluon.jit(noinline=True)
def fill(buffer, numbers):
    buffer.store(read(numbers, 7))


@kernel()
@gluon.jit
def written_in_a_call(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    fill(buffer, numbers)
    if FENCED:
        fence_async_shared()
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@kernel(targets=(90, ), straight=True)
@gluon.jit
def written_then_multiplied(numbers, out, FENCED: gl.constexpr):
    operands = buffers(2)
    operands.index(0).store(read(numbers, 0))
    operands.index(1).store(read(numbers, 1))
    if FENCED:
        fence_async_shared()
    product = warpgroup_mma(operands.index(0), operands.index(1), gl.zeros([M, N], gl.float32, SUM), is_async=True)
    product = warpgroup_mma_wait(0, deps=[product])
    gl.store(out + spots(0), gl.convert_layout(product.to(gl.float16), LANES))


@kernel(targets=(90, ), straight=True)
@gluon.jit
def brought_then_multiplied(numbers, out, FENCED: gl.constexpr):
    operands = buffers(2)
    bring(operands.index(0), numbers + spots(0))
    bring(operands.index(1), numbers + spots(1))
    async_copy.commit_group()
    async_copy.wait_group(0)
    if FENCED:
        fence_async_shared()
    product = warpgroup_mma(operands.index(0), operands.index(1), gl.zeros([M, N], gl.float32, SUM), is_async=True)
    product = warpgroup_mma_wait(0, deps=[product])
    gl.store(out + spots(0), gl.convert_layout(product.to(gl.float16), LANES))


@kernel(targets=(100, ), straight=True)
@gluon.jit
def written_then_multiplied_in_tensor_memory(numbers, FENCED: gl.constexpr):
    operands = buffers(2)
    product = allocate_tensor_memory(gl.float32, [M, N], TENSOR_SUM)
    done = barrier()
    operands.index(0).store(read(numbers, 0))
    operands.index(1).store(read(numbers, 1))
    if FENCED:
        fence_async_shared()
    tcgen05_mma(operands.index(0), operands.index(1), product, use_acc=False)
    tcgen05_commit(done)
    mbarrier.wait(done, 0)


# ---- Two partitions -------------------------------------------------------------------------------------------------


@gluon.jit
def nothing(buffer, full, numbers, there, FENCED: gl.constexpr):
    pass


@gluon.jit
def hand_over(buffer, full, numbers, there, FENCED: gl.constexpr):
    buffer.store(read(numbers, 2))
    if FENCED:
        fence_async_shared()
    mbarrier.arrive(full, count=1)


@gluon.jit
def hand_over_and_fence(buffer, full, numbers, there, FENCED: gl.constexpr):
    buffer.store(read(numbers, 2))
    if FENCED:
        fence_async_shared()
    mbarrier.arrive(full, count=1)
    fence_async_shared()


@gluon.jit
def write(buffer, full, numbers, there, FENCED: gl.constexpr):
    buffer.store(read(numbers, 2))
    if FENCED:
        fence_async_shared()


@gluon.jit
def wait_and_send(buffer, full, numbers, there, FENCED: gl.constexpr):
    mbarrier.wait(full, 0)
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@gluon.jit
def send_at_once(buffer, full, numbers, there, FENCED: gl.constexpr):
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@kernel()
@gluon.jit
def handed_over(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), hand_over, (buffer, full, numbers, there, FENCED),
                           [wait_and_send], [4], [64])
    else:
        gl.warp_specialize([(hand_over, (buffer, full, numbers, there, FENCED)),
                            (wait_and_send, (buffer, full, numbers, there, FENCED))], [4], [64])


@kernel()
@gluon.jit
def handed_over_by_the_other(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), wait_and_send, (buffer, full, numbers, there, FENCED),
                           [hand_over], [4], [64])
    else:
        gl.warp_specialize([(wait_and_send, (buffer, full, numbers, there, FENCED)),
                            (hand_over, (buffer, full, numbers, there, FENCED))], [4], [64])


@kernel(given=1)
@gluon.jit
def handed_over_fenced_late(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), hand_over_and_fence, (buffer, full, numbers, there, FENCED),
                           [wait_and_send], [4], [64])
    else:
        gl.warp_specialize([(hand_over_and_fence, (buffer, full, numbers, there, FENCED)),
                            (wait_and_send, (buffer, full, numbers, there, FENCED))], [4], [64])


@kernel()
@gluon.jit
def handed_over_after_zeros(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    buffer.store(gl.zeros([M, N], gl.float16, LANES))
    if FENCED:
        fence_async_shared()
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), hand_over, (buffer, full, numbers, there, FENCED),
                           [wait_and_send], [4], [64])
    else:
        gl.warp_specialize([(hand_over, (buffer, full, numbers, there, FENCED)),
                            (wait_and_send, (buffer, full, numbers, there, FENCED))], [4], [64])


@kernel()
@gluon.jit
def written_before_partitions(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    buffer.store(read(numbers, 0))
    if FENCED:
        fence_async_shared()
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), nothing, (buffer, full, numbers, there, FENCED),
                           [send_at_once], [4], [64])
    else:
        gl.warp_specialize([(nothing, (buffer, full, numbers, there, FENCED)),
                            (send_at_once, (buffer, full, numbers, there, FENCED))], [4], [64])


@kernel()
@gluon.jit
def written_in_a_partition_sent_behind(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), nothing, (buffer, full, numbers, there, FENCED),
                           [write], [4], [64])
    else:
        gl.warp_specialize([(nothing, (buffer, full, numbers, there, FENCED)),
                            (write, (buffer, full, numbers, there, FENCED))], [4], [64])
    send(there, [0, 0], buffer)
    tma.store_wait(0)


@kernel()
@gluon.jit
def written_in_the_default_sent_behind(numbers, there, FENCED: gl.constexpr):
    buffer = buffers(1).index(0)
    full = barrier()
    if OLDEST:
        gl.warp_specialize((buffer, full, numbers, there, FENCED), write, (buffer, full, numbers, there, FENCED),
                           [nothing], [4], [64])
    else:
        gl.warp_specialize([(write, (buffer, full, numbers, there, FENCED)),
                            (nothing, (buffer, full, numbers, there, FENCED))], [4], [64])
    send(there, [0, 0], buffer)
    tma.store_wait(0)
