"""The kernels that are timed on a GPU, plain and recorded (scripts/gpu/bench, docs/gpu.md).

Each is one that people write: element by element, rows that are reduced, tiles with tl.dot, locks, a barrier of the whole grid; and, in
Gluon, rings of TMA copies and asynchronous MMAs, a persistent grid, warps that are specialized. `CASES` says how each is compiled and launched."""
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_init, warpgroup_mma_wait


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + at, values / tl.sum(values, 0), mask=at < columns)


@triton.jit
def tile_of(number, M, N, BM: tl.constexpr, BN: tl.constexpr, ROWS: tl.constexpr):
    """Which tile of the result a program makes: ROWS rows of tiles are gone through column by column, so that neighbors share their operands."""
    across = tl.cdiv(N, BN)
    stripe = number // (ROWS * across)
    high = tl.minimum(tl.cdiv(M, BM) - stripe * ROWS, ROWS)
    inside = number % (ROWS * across)
    return stripe * ROWS + inside % high, inside // high


@triton.jit
def multiplied(a, b, rows, columns, N, K, begin, end, BK: tl.constexpr):
    """The tile of a @ b at these rows and columns, with the inner index from begin to end."""
    inner = begin + tl.arange(0, BK)
    left = a + rows[:, None] * K + inner[None, :]
    right = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((rows.shape[0], columns.shape[0]), dtype=tl.float32)
    for _ in range(begin, end, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK * N
    return total


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tile_of(tl.program_id(0), M, N, BM, BN, 8)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    total = multiplied(a, b, rows, columns, N, K, 0, K, BK)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def split_k(a, b, c, locks, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLITS: tl.constexpr):
    """Each split of a tile adds its part to the result while it holds the tile's lock."""
    tile, split = tl.program_id(0), tl.program_id(1)
    row, column = tile_of(tile, M, N, BM, BN, 8)
    rows, columns = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    part = multiplied(a, b, rows, columns, N, K, split * (K // SPLITS), (split + 1) * (K // SPLITS), BK)
    at = c + rows[:, None] * N + columns[None, :]
    while tl.atomic_cas(locks + tile, 0, 1, sem="acquire") == 1:
        pass
    tl.store(at, tl.load(at) + part)
    tl.debug_barrier()
    tl.atomic_xchg(locks + tile, 0, sem="release")


@triton.jit
def layer_norm(x, weight, bias, out, means, scales, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(values, 0) / columns
    centered = tl.where(mask, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, 0) / columns + epsilon)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    tl.store(out + row * columns + at, centered * scale * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask), mask=mask)


@triton.jit
def layer_norm_backward(x, weight, means, scales, d_out, d_x, d_weight, d_bias, locks, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
                        LOCKED: tl.constexpr):
    """The gradient of one row; those of weight and bias are added up in one of GROUPS rows, which a lock guards."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    mean, scale = tl.load(means + row), tl.load(scales + row)
    normal = tl.where(mask, (tl.load(x + row * columns + at, mask=mask, other=0.0) - mean) * scale, 0.0)
    slope = tl.load(d_out + row * columns + at, mask=mask, other=0.0)
    weighted = tl.where(mask, slope * tl.load(weight + at, mask=mask, other=0.0), 0.0)
    along, flat = tl.sum(weighted * normal, 0) / columns, tl.sum(weighted, 0) / columns
    tl.store(d_x + row * columns + at, (weighted - normal * along - flat) * scale, mask=mask)
    group = row % GROUPS
    if LOCKED:
        while tl.atomic_cas(locks + group, 0, 1, sem="acquire") == 1:
            pass
    d_weight += group * columns + at
    d_bias += group * columns + at
    tl.store(d_weight, tl.load(d_weight, mask=mask) + slope * normal, mask=mask)
    tl.store(d_bias, tl.load(d_bias, mask=mask) + slope, mask=mask)
    if LOCKED:
        tl.debug_barrier()
        tl.atomic_xchg(locks + group, 0, sem="release")


@triton.jit
def column_sums(parts, out, rows, columns, BR: tl.constexpr, BC: tl.constexpr):
    """What the groups of layer_norm_backward have added up, added up."""
    at = tl.program_id(0) * BC + tl.arange(0, BC)
    total = tl.zeros((BR, BC), dtype=tl.float32)
    for first in range(0, rows, BR):
        row = first + tl.arange(0, BR)
        total += tl.load(parts + row[:, None] * columns + at[None, :], mask=(row[:, None] < rows) & (at[None, :] < columns), other=0.0)
    tl.store(out + at, tl.sum(total, 0), mask=at < columns)


@triton.jit
def grid_rounds(data, arrived, rounds, BLOCK: tl.constexpr):
    """In each round a program adds what its neighbor has made in the round before; between rounds all wait for all."""
    me, all_ = tl.program_id(0), tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    for i in range(rounds):
        here, there = data + (i & 1) * all_ * BLOCK, data + (1 - (i & 1)) * all_ * BLOCK
        sum_ = tl.load(here + me * BLOCK + at) + tl.load(here + (me + 1) % all_ * BLOCK + at)
        tl.store(there + me * BLOCK + at, sum_)
        tl.debug_barrier()
        tl.atomic_add(arrived, 1, sem="release")
        while tl.atomic_add(arrived, 0, sem="acquire") < (i + 1) * all_:
            pass


@triton.jit
def attention(q, k, v, out, sums, context, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """Attention with the softmax taken block by block. q, k, v and out are descriptors of all heads, one under the other."""
    first, head = tl.program_id(0) * BM, tl.program_id(1)
    rows = first + tl.arange(0, BM)
    scaled = scale * 1.4426950408889634
    largest = tl.full((BM,), -float("inf"), tl.float32)
    weights = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    query = q.load([head * context + first, 0])
    end = context
    if CAUSAL:
        end = first + BM
    for begin in range(0, end, BN):
        score = tl.dot(query, k.load([head * context + begin, 0]).T) * scaled
        if CAUSAL:
            score = tl.where(rows[:, None] >= (begin + tl.arange(0, BN))[None, :], score, -float("inf"))
        new = tl.maximum(largest, tl.max(score, 1))
        part = tl.exp2(score - new[:, None])
        fade = tl.exp2(largest - new)
        weights = weights * fade + tl.sum(part, 1)
        total = tl.dot(part.to(tl.float16), v.load([head * context + begin, 0]), total * fade[:, None])
        largest = new
    tl.store(sums + head * context + rows, largest + tl.log2(weights))
    out.store([head * context + first, 0], (total / weights[:, None]).to(tl.float16))


@gluon.jit
def load_operands(a, b, row, column, k, number, landed, a_ring, b_ring, pred):
    """Has TMA bring both operands of step `number` into their slot of the ring."""
    SLOTS: gl.constexpr = a_ring.type.shape[0]
    slot = number % SLOTS
    mbarrier.expect(landed.index(slot), a.block_type.nbytes + b.block_type.nbytes, pred=pred)
    tma.async_copy_global_to_shared(a, [row, k], landed.index(slot), a_ring.index(slot), pred=pred)
    tma.async_copy_global_to_shared(b, [k, column], landed.index(slot), b_ring.index(slot), pred=pred)


@gluon.jit
def new_barriers(N: gl.constexpr, COUNT: gl.constexpr = 1):
    barriers = gl.allocate_shared_memory(gl.int64, [N, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(N):
        mbarrier.init(barriers.index(i), count=COUNT)
    return barriers


@gluon.jit
def store_tile(c, total, staging, row, column):
    staging.store(total.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [row, column], staging)


@gluon.jit
def pipelined_matmul(a, b, c, M, N, K, SLOTS: gl.constexpr):
    """One tile of the result a program: a ring of operands that TMA fills, one asynchronous MMA in flight."""
    BM: gl.constexpr = c.block_type.shape[0]
    BN: gl.constexpr = c.block_type.shape[1]
    BK: gl.constexpr = a.block_type.shape[1]
    ACC: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, BN, 16])
    row, column = gl.program_id(0) * BM, gl.program_id(1) * BN
    a_ring = gl.allocate_shared_memory(a.dtype, [SLOTS] + a.block_type.shape, a.layout)
    b_ring = gl.allocate_shared_memory(b.dtype, [SLOTS] + b.block_type.shape, b.layout)
    landed = new_barriers(SLOTS)
    steps = gl.cdiv(K, BK)
    for i in gl.static_range(SLOTS - 1):
        load_operands(a, b, row, column, i * BK, i, landed, a_ring, b_ring, i < steps)
    total = warpgroup_mma_init(gl.zeros((BM, BN), gl.float32, ACC))
    for i in range(steps):
        mbarrier.wait(landed.index(i % SLOTS), i // SLOTS & 1)
        total = warpgroup_mma(a_ring.index(i % SLOTS), b_ring.index(i % SLOTS), total, is_async=True)
        total = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(total,)))
        ahead = i + SLOTS - 1
        load_operands(a, b, row, column, ahead * BK, ahead, landed, a_ring, b_ring, ahead < steps)
    total = warpgroup_mma_wait(0, deps=(total,))
    for i in gl.static_range(SLOTS):
        mbarrier.invalidate(landed.index(i))
    staging = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    store_tile(c, total, staging, row, column)
    tma.store_wait(0)


@gluon.jit
def persistent_matmul(a, b, c, M, N, K, SLOTS: gl.constexpr):
    """As many programs as there are SMs, each with tile after tile; the ring runs on from one tile into the next."""
    BM: gl.constexpr = c.block_type.shape[0]
    BN: gl.constexpr = c.block_type.shape[1]
    BK: gl.constexpr = a.block_type.shape[1]
    ACC: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1], instr_shape=[16, BN, 16])
    a_ring = gl.allocate_shared_memory(a.dtype, [SLOTS] + a.block_type.shape, a.layout)
    b_ring = gl.allocate_shared_memory(b.dtype, [SLOTS] + b.block_type.shape, b.layout)
    staging = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    landed = new_barriers(SLOTS)
    steps = gl.cdiv(K, BK)
    high = gl.cdiv(M, BM)
    tiles = high * gl.cdiv(N, BN)
    mine = gl.cdiv(tiles - gl.program_id(0), gl.num_programs(0))
    done = 0
    for i in gl.static_range(SLOTS - 1):
        tile = gl.program_id(0) + i // steps * gl.num_programs(0)
        load_operands(a, b, tile % high * BM, tile // high * BN, i % steps * BK, i, landed, a_ring, b_ring, i < mine * steps)
    for number in range(mine):
        tile = gl.program_id(0) + number * gl.num_programs(0)
        total = warpgroup_mma_init(gl.zeros((BM, BN), gl.float32, ACC))
        for _ in range(steps):
            mbarrier.wait(landed.index(done % SLOTS), done // SLOTS & 1)
            total = warpgroup_mma(a_ring.index(done % SLOTS), b_ring.index(done % SLOTS), total, is_async=True)
            total = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(total,)))
            ahead = done + SLOTS - 1
            far = gl.program_id(0) + ahead // steps * gl.num_programs(0)
            load_operands(a, b, far % high * BM, far // high * BN, ahead % steps * BK, ahead, landed, a_ring, b_ring, ahead < mine * steps)
            done += 1
        total = warpgroup_mma_wait(0, deps=(total,))
        tma.store_wait(0)
        store_tile(c, total, staging, tile % high * BM, tile // high * BN)
    tma.store_wait(0)


@gluon.jit
def bring(x, y, z, rings, barriers, row, steps):
    """The warp that loads."""
    x_ring, y_ring, _ = rings
    free, landed, _, _ = barriers
    SLOTS: gl.constexpr = x_ring.type.shape[0]
    for i in range(steps):
        slot = i % SLOTS
        mbarrier.wait(free.index(slot), (i // SLOTS & 1) ^ 1)
        mbarrier.expect(landed.index(slot), x.block_type.nbytes + y.block_type.nbytes)
        tma.async_copy_global_to_shared(x, [row, i * x.block_type.shape[1]], landed.index(slot), x_ring.index(slot))
        tma.async_copy_global_to_shared(y, [row, i * x.block_type.shape[1]], landed.index(slot), y_ring.index(slot))


@gluon.jit
def take_away(x, y, z, rings, barriers, row, steps):
    """The warp that stores; it leaves one store in flight."""
    _, _, z_ring = rings
    _, _, empty, filled = barriers
    SLOTS: gl.constexpr = z_ring.type.shape[0]
    for i in range(steps):
        mbarrier.wait(filled.index(i % SLOTS), i // SLOTS & 1)
        tma.async_copy_shared_to_global(z, [row, i * z.block_type.shape[1]], z_ring.index(i % SLOTS))
        tma.store_wait(SLOTS - 1)
        mbarrier.arrive(empty.index((i + 1) % SLOTS), count=1, pred=i >= SLOTS - 1)
    tma.store_wait(0)


@gluon.jit
def add_up(rings, barriers, steps):
    """The warps that add."""
    x_ring, y_ring, z_ring = rings
    free, landed, empty, filled = barriers
    SLOTS: gl.constexpr = x_ring.type.shape[0]
    OUT: gl.constexpr = z_ring.type.shape[0]
    HELD: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, gl.num_warps()], [1, 0])
    for i in range(steps):
        mbarrier.wait(landed.index(i % SLOTS), i // SLOTS & 1)
        left, right = x_ring.index(i % SLOTS).load(HELD), y_ring.index(i % SLOTS).load(HELD)
        fence_async_shared()
        mbarrier.arrive(free.index(i % SLOTS), count=1)
        mbarrier.wait(empty.index(i % OUT), (i // OUT & 1) ^ 1)
        z_ring.index(i % OUT).store(left + right)
        fence_async_shared()
        mbarrier.arrive(filled.index(i % OUT), count=1)


@gluon.jit
def specialized_add(x, y, z, columns, SLOTS: gl.constexpr, OUT: gl.constexpr):
    """z = x + y with a warp that loads, warps that add and a warp that stores."""
    rings = (gl.allocate_shared_memory(x.dtype, [SLOTS] + x.block_type.shape, x.layout),
             gl.allocate_shared_memory(y.dtype, [SLOTS] + y.block_type.shape, y.layout),
             gl.allocate_shared_memory(z.dtype, [OUT] + z.block_type.shape, z.layout))
    barriers = (new_barriers(SLOTS), new_barriers(SLOTS), new_barriers(OUT), new_barriers(OUT))
    fence_async_shared()
    row, steps = gl.program_id(0) * x.block_type.shape[0], gl.cdiv(columns, x.block_type.shape[1])
    gl.warp_specialize([
        (add_up, (rings, barriers, steps)),
        (bring, (x, y, z, rings, barriers, row, steps)),
        (take_away, (x, y, z, rings, barriers, row, steps)),
    ], [1, 1], [24, 24])


# --- how each is compiled and launched

def tensor(dtype, count, **words):
    return {"tensor": {"shape": [count], "dtype": dtype, **words}}


def unit(dtype, count):
    """Reals between -1 and 1."""
    return tensor(dtype, count, pattern="unit")


def small(dtype, count):
    """Whole numbers of few bits, of which sums are exact in any order."""
    return tensor(dtype, count, pattern="small")


def out(dtype, count, **words):
    return tensor(dtype, count, output=True, **words)


def matrix(rows, columns, dtype="f16", **words):
    """A tensor descriptor; its block and swizzle are the compiler's to say."""
    return {"descriptor": {"shape": [rows, columns], "dtype": dtype, **words}}


def cdiv(a, b):
    return -(-a // b)


FLOAT, HALF = "*fp32", "*fp16"
MATMUL = dict(BM=128, BN=256, BK=64)
SPLIT = dict(BM=128, BN=128, BK=64, SPLITS=4)
BLOCKS = dict(a=[128, 64], b=[64, 256], c=[128, 256])
SMS = 132  # of an H200


# A launch: its grid and arguments, and how many elements of global memory it accesses, by instructions and by TMA copies.

def add_at(n):
    return dict(elements=3 * n, grid=[cdiv(n, 1024), 1, 1], args=[unit("f32", n), unit("f32", n), out("f32", n), n])


def softmax_at(rows, columns):
    return dict(elements=2 * rows * columns, grid=[rows, 1, 1], args=[unit("f32", rows * columns), out("f32", rows * columns), columns])


def tiles_elements(n, high, wide):
    """Of a matrix multiplication by tiles of that size: both operands are read for each tile, the result is written."""
    return cdiv(n, high) * cdiv(n, wide) * n * (high + wide) + n * n


def matmul_at(n):
    return dict(elements=tiles_elements(n, 128, 256), grid=[cdiv(n, 128) * cdiv(n, 256), 1, 1], args=[unit("f16", n * n), unit("f16", n * n), out("f16", n * n), n, n, n])


def split_k_at(n):
    tiles = cdiv(n, 128) ** 2
    return dict(elements=tiles_elements(n, 128, 128) + 7 * n * n, grid=[tiles, 4, 1], args=[small("f16", n * n), small("f16", n * n), out("f32", n * n, reset=True), tensor("i32", tiles, zero=True), n, n, n])


def layer_norm_at(rows, columns):
    n = rows * columns
    return dict(elements=4 * n + 2 * rows, grid=[rows, 1, 1], args=[unit("f32", n), unit("f32", columns), unit("f32", columns), out("f32", n), out("f32", rows), out("f32", rows),
                                         columns, 1e-5])


def layer_norm_backward_at(rows, columns, groups=64):
    n = rows * columns
    sums = [out("f32", groups * columns, reset=True, order="any") for _ in range(2)]
    return dict(elements=8 * n + 2 * rows, grid=[rows, 1, 1], args=[unit("f32", n), unit("f32", columns), unit("f32", rows), unit("f32", rows), unit("f32", n), out("f32", n), *sums,
                                         tensor("i32", groups, zero=True), columns])


def column_sums_at(rows, columns):
    return dict(elements=rows * columns + columns, grid=[cdiv(columns, 128), 1, 1], args=[unit("f32", rows * columns), out("f32", columns), rows, columns])


def grid_rounds_at(programs, rounds):
    return dict(elements=3 * programs * rounds * 1024, grid=[programs, 1, 1], cooperative=True, args=[tensor("f32", 2 * programs * 1024, pattern="small", output=True, reset=True),
                                                               tensor("i32", 1, reset=True), rounds])


def attention_at(heads, context, depth=64, causal=False):
    keys = (context + 128) / 2 if causal else context  # that a block of queries meets, on average
    q, k, v = (matrix(heads * context, depth, pattern="unit") for _ in range(3))
    blocks = cdiv(context, 128) * heads
    return dict(elements=blocks * (2 * 128 * depth + 2 * keys * depth) + heads * context, grid=[cdiv(context, 128), heads, 1], args=[q, k, v, matrix(heads * context, depth, output=True), out("f32", heads * context), context, 0.125])


def gluon_matmul_at(n, persistent):
    tiles = [cdiv(n, 128), cdiv(n, 256), 1]
    return dict(elements=tiles_elements(n, 128, 256), grid=[min(SMS, tiles[0] * tiles[1]), 1, 1] if persistent else tiles,
                args=[matrix(n, n, pattern="unit"), matrix(n, n, pattern="unit"), matrix(n, n, output=True), n, n, n])


def specialized_add_at(n):
    x, y = (matrix(n, n, "f32", pattern="unit") for _ in range(2))
    return dict(elements=3 * n * n, grid=[cdiv(n, 32), 1, 1], args=[x, y, matrix(n, n, "f32", output=True), n])


# name: kernel, types of the arguments, constants, options of the compiler, and a launch for each size. A file is made for each kernel, and, where
# constants differ, for each size.
CASES = {
    "add": dict(kernel=add, signature=dict(x=FLOAT, y=FLOAT, z=FLOAT, n="i32"), constants=dict(BLOCK=1024), options=dict(num_warps=4),
                sizes={"16M": add_at(16 << 20), "256M": add_at(256 << 20)}),
    "softmax": dict(kernel=softmax, signature=dict(x=FLOAT, out=FLOAT, columns="i32"), constants=dict(BLOCK=4096), options=dict(num_warps=8),
                    sizes={"4096x4096": softmax_at(4096, 4096)}),
    "softmax_wide": dict(kernel=softmax, signature=dict(x=FLOAT, out=FLOAT, columns="i32"), constants=dict(BLOCK=8192), options=dict(num_warps=8),
                         sizes={"16384x8192": softmax_at(16384, 8192)}),
    "matmul": dict(kernel=matmul, signature=dict(a=HALF, b=HALF, c=HALF, M="i32", N="i32", K="i32"), constants=MATMUL,
                   options=dict(num_warps=8, num_stages=3), sizes={"2048": matmul_at(2048), "8192": matmul_at(8192)}),
    "split_k": dict(kernel=split_k, signature=dict(a=HALF, b=HALF, c=FLOAT, locks="*i32", M="i32", N="i32", K="i32"), constants=SPLIT,
                    options=dict(num_warps=8, num_stages=3), sizes={"1024": split_k_at(1024), "4096": split_k_at(4096)}),
    "layer_norm": dict(kernel=layer_norm, signature=dict(x=FLOAT, weight=FLOAT, bias=FLOAT, out=FLOAT, means=FLOAT, scales=FLOAT, columns="i32", epsilon="fp32"),
                       constants=dict(BLOCK=4096), options=dict(num_warps=8),
                       sizes={"4096x4096": layer_norm_at(4096, 4096), "32768x4096": layer_norm_at(32768, 4096)}),
    "layer_norm_backward": dict(kernel=layer_norm_backward,
                                signature=dict(x=FLOAT, weight=FLOAT, means=FLOAT, scales=FLOAT, d_out=FLOAT, d_x=FLOAT, d_weight=FLOAT, d_bias=FLOAT,
                                               locks="*i32", columns="i32"),
                                constants=dict(GROUPS=64, BLOCK=4096, LOCKED=True), options=dict(num_warps=8),
                                sizes={"4096x4096": layer_norm_backward_at(4096, 4096), "32768x4096": layer_norm_backward_at(32768, 4096)}),
    "column_sums": dict(kernel=column_sums, signature=dict(parts=FLOAT, out=FLOAT, rows="i32", columns="i32"), constants=dict(BR=32, BC=128),
                        options=dict(num_warps=4), sizes={"64x4096": column_sums_at(64, 4096)}),
    "grid_rounds": dict(kernel=grid_rounds, signature=dict(data=FLOAT, arrived="*i32", rounds="i32"), constants=dict(BLOCK=1024), options=dict(num_warps=4),
                        sizes={"132x10": grid_rounds_at(SMS, 10), "528x50": grid_rounds_at(4 * SMS, 50)}),
    "attention": dict(kernel=attention, signature=dict(q=[128, 64], k=[64, 64], v=[64, 64], out=[128, 64], sums=FLOAT, context="i32", scale="fp32"),
                      constants=dict(BM=128, BN=64, D=64, CAUSAL=False), options=dict(num_warps=8, num_stages=3),
                      sizes={"32x2048": attention_at(32, 2048), "32x8192": attention_at(32, 8192)}),
    "attention_causal": dict(kernel=attention, signature=dict(q=[128, 64], k=[64, 64], v=[64, 64], out=[128, 64], sums=FLOAT, context="i32", scale="fp32"),
                             constants=dict(BM=128, BN=64, D=64, CAUSAL=True), options=dict(num_warps=8, num_stages=3),
                             sizes={"32x2048": attention_at(32, 2048, causal=True)}),
    "pipelined_matmul": dict(kernel=pipelined_matmul, signature=dict(**BLOCKS, M="i32", N="i32", K="i32"), constants=dict(SLOTS=4), options=dict(num_warps=8),
                             sizes={"2048": gluon_matmul_at(2048, False), "8192": gluon_matmul_at(8192, False)}),
    "persistent_matmul": dict(kernel=persistent_matmul, signature=dict(**{**BLOCKS, "a": [128, 64]}, M="i32", N="i32", K="i32"), constants=dict(SLOTS=3),
                              options=dict(num_warps=8), sizes={"2048": gluon_matmul_at(2048, True), "8192": gluon_matmul_at(8192, True)}),
    "specialized_add": dict(kernel=specialized_add, signature=dict(x=[32, 64], y=[32, 64], z=[32, 64], columns="i32"), constants=dict(SLOTS=2, OUT=2),
                            options=dict(num_warps=4, maxnreg=128), dtype="fp32",
                            sizes={"2048": specialized_add_at(2048), "8192": specialized_add_at(8192)}),
}
