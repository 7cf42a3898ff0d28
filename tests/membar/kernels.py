"""Kernels for scripts/oracle/membar-triton: what Triton's pass and Weir place thread barriers in.

compiled() gives pairs of a name and the .ttgir, for NVIDIA and for AMD. Nothing runs on a GPU."""
import os
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction
from triton.experimental.gluon.language.amd.cdna4 import async_copy as amd_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

CUDABackend.make_cubin = lambda self, *rest: b""  # .ttgir is enough

# ---- Plain Triton -----------------------------------------------------------------------------------------------------


@triton.jit
def product(a, b, out, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        x = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        y = tl.load(b + (k + inner)[:, None] * N + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(out + rows[:, None] * N + columns[None, :], acc.to(tl.float16))


@triton.jit
def row_sums(a, out, K, M: tl.constexpr, BLOCK: tl.constexpr):
    rows, inner = tl.arange(0, M), tl.arange(0, BLOCK)
    total = tl.zeros((M, ), tl.float32)
    for k in range(0, K, BLOCK):
        total += tl.sum(tl.load(a + rows[:, None] * K + (k + inner)[None, :]).to(tl.float32), axis=1)
    tl.store(out + rows, total.to(tl.float16))


@triton.jit
def running_sums(a, out, M: tl.constexpr, N: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + places, tl.cumsum(tl.cumsum(tl.load(a + places), axis=0), axis=1))


@triton.jit
def sorted_and_turned(a, out, M: tl.constexpr, N: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    turned = tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :]
    tl.store(out + turned, tl.trans(tl.sort(tl.load(a + places))))


@triton.jit
def counted(a, out, sums, N: tl.constexpr, BINS: tl.constexpr):
    places = tl.arange(0, N)
    bins = tl.histogram((tl.load(a + places) * BINS).to(tl.int32), BINS)
    before = tl.atomic_add(sums, 1.0)
    tl.store(out + tl.arange(0, BINS), (bins + before).to(tl.float16))


@triton.jit
def attention(q, k, v, out, K, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    rows, keys, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    queries = tl.load(q + rows[:, None] * D + depth[None, :])
    most, total = tl.full((M, ), float("-inf"), tl.float32), tl.zeros((M, ), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for at in range(0, K, N):
        places = (at + keys)[:, None] * D + depth[None, :]
        scores = tl.dot(queries, tl.trans(tl.load(k + places)))
        higher = tl.maximum(most, tl.max(scores, 1))
        weights, scale = tl.exp(scores - higher[:, None]), tl.exp(most - higher)
        total = total * scale + tl.sum(weights, 1)
        acc = tl.dot(weights.to(tl.float16), tl.load(v + places), acc * scale[:, None])
        most = higher
    tl.store(out + rows[:, None] * D + depth[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def product_by_descriptor(source, target, K, BLOCK: tl.constexpr):
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, BLOCK):
        acc = tl.dot(source.load([0, k]), source.load([64, k]).T, acc)
    target.store([0, 0], acc.to(tl.float16))


@triton.jit
def product_in_partitions(source, target, K, tiles, BLOCK: tl.constexpr):
    for tile in tl.range(0, tiles, warp_specialize=True):
        acc = tl.zeros((64, 64), tl.float32)
        for k in range(0, K, BLOCK):
            acc = tl.dot(source.load([tile * 64, k]), source.load([64, k]).T, acc)
        target.store([tile * 64, 0], acc.to(tl.float16))


# ---- Gluon, NVIDIA ----------------------------------------------------------------------------------------------------

SHARED = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
WIDE = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
TALL = gl.constexpr(gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1]))


@gluon.jit
def tile_places(tile, LAYOUT: gl.constexpr):
    rows = gl.arange(0, 64, gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, 64, gl.SliceLayout(0, LAYOUT))
    return (tile * 64 + rows[:, None]) * 64 + columns[None, :]


@gluon.jit
def ring_in_a_loop(data, out, tiles):
    ring = gl.allocate_shared_memory(gl.float16, [3, 64, 64], PLAIN)
    for tile in range(tiles):
        ring.index((tile + 1) % 3).store(gl.load(data + tile_places(tile, WIDE)))
        gl.store(out + tile_places(tile, TALL), ring.index(tile % 3).load(TALL))


@gluon.jit
def branch_writes(data, out, tiles):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], PLAIN)
    tile.store(gl.load(data + tile_places(0, WIDE)))
    if tiles > 3:
        tile.store(gl.load(data + tile_places(1, WIDE)))
    gl.store(out + tile_places(0, TALL), tile.load(TALL))


@gluon.jit
def copy_through_tma(source, target, tiles):
    ring = gl.allocate_shared_memory(gl.float16, [2, 64, 64], SHARED)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), count=1)
    for tile in range(tiles):
        mbarrier.expect(full.index(tile % 2), 64 * 64 * 2)
        tma.async_load(source, [tile * 64, 0], full.index(tile % 2), ring.index(tile % 2))
        mbarrier.wait(full.index(tile % 2), tile // 2 & 1)
        value = ring.index(tile % 2).load(WIDE)
        ring.index(tile % 2).store(value + value)
        fence_async_shared()
        tma.async_store(target, [tile * 64, 0], ring.index(tile % 2))
        tma.store_wait(0)
    for i in gl.static_range(2):
        mbarrier.invalidate(full.index(i))


@gluon.jit
def gives(data, tile, full, empty, tiles):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    for i in range(tiles):
        mbarrier.wait(empty, (i + 1) & 1)
        tile.store(gl.load(data + tile_places(i, LAYOUT)))
        mbarrier.arrive(full, count=1)


@gluon.jit
def takes(out, tile, full, empty, tiles):
    for i in range(tiles):
        mbarrier.wait(full, i & 1)
        gl.store(out + tile_places(i, TALL), tile.load(TALL))
        mbarrier.arrive(empty, count=1)


@gluon.jit
def from_hand_to_hand(data, out, tiles):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], PLAIN)
    tile.store(gl.load(data + tile_places(0, WIDE)))
    bars = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    mbarrier.init(bars.index(0), count=1)
    mbarrier.init(bars.index(1), count=1)
    gl.warp_specialize([(takes, (out, tile, bars.index(0), bars.index(1), tiles)),
                        (gives, (data, tile, bars.index(0), bars.index(1), tiles))], [4], [64])


# ---- Gluon, AMD -------------------------------------------------------------------------------------------------------

WAVES = gl.constexpr(gl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0]))
CROSS = gl.constexpr(gl.BlockedLayout([8, 1], [8, 8], [1, 4], [0, 1]))


@gluon.jit
def copies_in_two_slots(data, out, tiles):
    ring = gl.allocate_shared_memory(gl.float16, [2, 64, 64], PLAIN)
    amd_copy.buffer_load_to_shared(ring.index(0), data, tile_places(0, WAVES))
    amd_copy.commit_group()
    for tile in range(tiles):
        amd_copy.buffer_load_to_shared(ring.index((tile + 1) % 2), data, tile_places(tile + 1, WAVES))
        amd_copy.commit_group()
        amd_copy.wait_group(1)
        gl.store(out + tile_places(tile, CROSS), amd_copy.load_shared_relaxed(ring.index(tile % 2), CROSS))


@gluon.jit
def reads_then_copies_into_the_slot(data, out, tiles):
    tile = gl.allocate_shared_memory(gl.float16, [64, 64], PLAIN)
    amd_copy.buffer_load_to_shared(tile, data, tile_places(0, WAVES))
    amd_copy.commit_group()
    amd_copy.wait_group(0)
    first = amd_copy.load_shared_relaxed(tile, CROSS)
    amd_copy.buffer_load_to_shared(tile, data, tile_places(1, WAVES))
    amd_copy.commit_group()
    amd_copy.wait_group(0)
    gl.store(out + tile_places(0, CROSS), first + amd_copy.load_shared_relaxed(tile, CROSS))


# ---- Compiling --------------------------------------------------------------------------------------------------------

NVIDIA = (("cuda", 90, 32), ("cuda", 100, 32))
AMD = (("hip", "gfx942", 64), ("hip", "gfx950", 64))
SIZES = dict(product=dict(M=64, N=64, BLOCK=64), row_sums=dict(M=64, BLOCK=64), running_sums=dict(M=64, N=64),
             sorted_and_turned=dict(M=32, N=64), counted=dict(N=1024, BINS=64), attention=dict(M=64, N=64, D=64),
             product_by_descriptor=dict(BLOCK=64), product_in_partitions=dict(BLOCK=64))
EVERYWHERE = (product, row_sums, running_sums, sorted_and_turned, counted, attention)
ON_NVIDIA = (product_by_descriptor, product_in_partitions, ring_in_a_loop, branch_writes, copy_through_tma,
             from_hand_to_hand)
ON_GFX950 = (copies_in_two_slots, reads_then_copies_into_the_slot)
KINDS = dict(K="i32", tiles="i32", sums="*fp32", source="tensordesc<fp16[64, 64]>", target="tensordesc<fp16[64, 64]>")


def ttgir_of(function, target):
    in_gluon, sizes = isinstance(function, GluonJITFunction), SIZES.get(function.__name__, {})
    names = function.arg_names
    kinds = dict(KINDS)
    if in_gluon:
        kinds["source"] = kinds["target"] = f"tensordesc<fp16[64, 64],{SHARED.value!r}>"
    signature = {name: "constexpr" if name in sizes else kinds.get(name, "*fp16") for name in names}
    constants = {(names.index(name), ): value for name, value in sizes.items()}
    aligned = {(names.index(name), ): [["tt.divisibility", 16]] for name in names
               if signature[name].startswith("*") or name == "K"}
    source = (GluonASTSource if in_gluon else ASTSource)(fn=function, signature=signature, constexprs=constants,
                                                         attrs=aligned)
    return triton.compile(source, target=GPUTarget(*target), options=dict(num_warps=4)).asm["ttgir"]


def compiled():
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        wanted = [(function, target) for target in NVIDIA for function in EVERYWHERE + ON_NVIDIA]
        wanted += [(function, target) for target in AMD for function in EVERYWHERE]
        wanted += [(function, AMD[1]) for function in ON_GFX950]
        return [(f"{function.__name__}.{target[1]}", ttgir_of(function, target)) for function, target in wanted]
