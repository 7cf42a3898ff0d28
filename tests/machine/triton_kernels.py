#!/usr/bin/env python3
"""Kernels of Triton for the machine of PTX: writes triton_NAME.ptx and triton_NAME.json (README.md).

Needs Triton 3.6, and no GPU: python3 triton_kernels.py [NAME...]"""
import json
import pathlib
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = pathlib.Path(__file__).resolve().parent
BY_16 = [["tt.divisibility", 16]]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + at, values / tl.sum(values, 0), mask=at < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    values = tl.load(x + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(values, 0) / columns
    centered = tl.where(mask, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centered * centered, 0) / columns + epsilon)
    tl.store(out + row * columns + at, centered * scale * tl.load(weight + at, mask=mask) + tl.load(bias + at, mask=mask), mask=mask)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=OUT)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :], mask=(rows[:, None] < M) & ((k + inner)[None, :] < K), other=0)
        right = tl.load(b + (k + inner)[:, None] * N + columns[None, :], mask=((k + inner)[:, None] < K) & (columns[None, :] < N), other=0)
        total = tl.dot(left, right, total, out_dtype=OUT)
    tl.store(c + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def argmax(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tl.store(out + rows, tl.argmax(tl.load(x + rows[:, None] * COLUMNS + columns[None, :]), 1))


@triton.jit
def transpose(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tile = tl.load(x + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(out + columns[:, None] * ROWS + rows[None, :], tl.trans(tile))


@triton.jit
def locked(lock, total, x, BLOCK: tl.constexpr):
    part = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def numbers(x, y, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    b = tl.where(b == 0, 7, b)
    tl.store(out + at, (a // b) ^ (a % b) + (a << (b & 15)) - (a >> 3))


@triton.jit
def converted(x, out, BLOCK: tl.constexpr, VIA: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(VIA).to(tl.float32))


@triton.jit
def philox(out, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randint(seed, at))


@triton.jit
def last_block(x, parts, counter, out, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    tl.store(parts + block, tl.sum(tl.load(x + block * BLOCK + tl.arange(0, BLOCK)), 0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1, sem="acq_rel") == tl.num_programs(0) - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, 8), cache_modifier=".cg"), 0))


@triton.jit
def gathered(x, index, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 0))


def tensor(count, dtype, random=None, **more):
    inner = {"shape": [count], "dtype": dtype, **more}
    if random:
        inner["random"] = random
    return {"tensor": inner}


def out(count, dtype):
    return tensor(count, dtype, output=True)


def product(name, element, dtype, accumulator, accumulator_name, m, n, k, tile, **options):
    return dict(name=name, kernel=matmul, signature=dict(a=f"*{element}", b=f"*{element}", c=f"*{accumulator_name}", M="i32", N="i32", K="i32"),
                constants=dict(BM=tile[0], BN=tile[1], BK=tile[2], OUT=accumulator), aligned=["a", "b", "c", "K", "N"],
                grid=[-(-m // tile[0]), -(-n // tile[1]), 1], options=options,
                args=[tensor(m * k, dtype, ["range", 1, -4, 4]), tensor(k * n, dtype, ["range", 2, -4, 4]),
                      out(m * n, {"fp32": "f32", "i32": "i32", "fp16": "f16"}[accumulator_name]), m, n, k])


NEAR = {"relative": 2e-6, "absolute": 1e-7}
KERNELS = [
    dict(name="add", kernel=add, signature=dict(x="*fp32", y="*fp32", out="*fp32", n="i32"), constants=dict(BLOCK=256), aligned=["x", "y", "out"],
         grid=[4, 1, 1], args=[tensor(1000, "f32", ["unit", 1]), tensor(1000, "f32", ["unit", 2]), out(1000, "f32"), 1000]),
    dict(name="softmax", kernel=softmax, signature=dict(x="*fp32", out="*fp32", columns="i32"), constants=dict(BLOCK=128), aligned=["x", "out"],
         grid=[6, 1, 1], args=[tensor(6 * 100, "f32", ["unit", 3]), out(6 * 100, "f32"), 100], tolerance={"1": NEAR}),
    dict(name="layer_norm", kernel=layer_norm, signature=dict(x="*fp32", weight="*fp32", bias="*fp32", out="*fp32", columns="i32", epsilon="fp32"),
         constants=dict(BLOCK=256), aligned=["x", "out"], grid=[4, 1, 1],
         args=[tensor(4 * 200, "f32", ["unit", 4]), tensor(200, "f32", ["unit", 5]), tensor(200, "f32", ["unit", 6]), out(4 * 200, "f32"), 200, 1e-5],
         tolerance={"3": {"relative": 5e-6, "absolute": 1e-6}}),
    product("matmul_f16", "fp16", "f16", tl.float32, "fp32", 100, 72, 96, (64, 64, 32), num_warps=4, num_stages=3),
    product("matmul_bf16", "bf16", "bf16", tl.float32, "fp32", 128, 64, 64, (128, 64, 32), num_warps=8, num_stages=2),
    product("matmul_tf32", "fp32", "f32", tl.float32, "fp32", 64, 64, 64, (64, 64, 32), num_warps=4, num_stages=2),
    product("matmul_i8", "i8", "i8", tl.int32, "i32", 64, 64, 64, (64, 64, 32), num_warps=4, num_stages=2),
    product("matmul_small", "fp16", "f16", tl.float32, "fp32", 32, 32, 64, (32, 32, 32), num_warps=4, num_stages=3),
    dict(name="histogram", kernel=histogram, signature=dict(x="*i32", bins="*i32", n="i32"), constants=dict(BLOCK=128), aligned=[], grid=[5, 1, 1],
         args=[tensor(600, "i32", ["range", 7, 0, 15]), tensor(16, "i32", zero=True, check=True), 600]),
    dict(name="scan", kernel=scan, signature=dict(x="*i32", out="*i32"), constants=dict(BLOCK=512), aligned=[], grid=[2, 1, 1],
         args=[tensor(1024, "i32", ["range", 8, -100, 100]), out(1024, "i32")]),
    dict(name="sort", kernel=sort, signature=dict(x="*i32", out="*i32"), constants=dict(BLOCK=128), aligned=[], grid=[1, 1, 1],
         args=[tensor(128, "i32", ["range", 9, -1000, 1000]), out(128, "i32")]),
    dict(name="argmax", kernel=argmax, signature=dict(x="*i32", out="*i32"), constants=dict(ROWS=16, COLUMNS=64), aligned=[], grid=[1, 1, 1],
         args=[tensor(1024, "i32", ["range", 10, -50, 50]), out(16, "i32")]),
    dict(name="transpose", kernel=transpose, signature=dict(x="*i16", out="*i16"), constants=dict(ROWS=64, COLUMNS=32), aligned=["x", "out"],
         grid=[1, 1, 1], args=[tensor(2048, "i16", ["bits", 11]), out(2048, "i16")]),
    dict(name="locked", kernel=locked, signature=dict(lock="*i32", total="*i32", x="*i32"), constants=dict(BLOCK=128), aligned=[], grid=[6, 1, 1],
         args=[tensor(1, "i32", zero=True, check=True), tensor(1, "i32", zero=True, check=True), tensor(768, "i32", ["range", 12, 0, 1000])]),
    dict(name="numbers", kernel=numbers, signature=dict(x="*i32", y="*i32", out="*i32"), constants=dict(BLOCK=256), aligned=[], grid=[2, 1, 1],
         args=[tensor(512, "i32", ["bits", 13]), tensor(512, "i32", ["range", 14, -99, 99]), out(512, "i32")]),
    dict(name="to_bf16", kernel=converted, signature=dict(x="*fp32", out="*fp32"), constants=dict(BLOCK=256, VIA=tl.bfloat16), aligned=[],
         grid=[2, 1, 1], args=[tensor(512, "f32", ["unit", 15]), out(512, "f32")]),
    dict(name="to_f8", kernel=converted, signature=dict(x="*fp32", out="*fp32"), constants=dict(BLOCK=256, VIA=tl.float8e4nv), aligned=[],
         grid=[2, 1, 1], args=[tensor(512, "f32", ["unit", 16]), out(512, "f32")]),
    dict(name="philox", kernel=philox, signature=dict(out="*i32", seed="i32"), constants=dict(BLOCK=256), aligned=[], grid=[2, 1, 1],
         args=[out(512, "i32"), 42]),
    dict(name="last_block", kernel=last_block, signature=dict(x="*i32", parts="*i32", counter="*i32", out="*i32"), constants=dict(BLOCK=128),
         aligned=[], grid=[8, 1, 1], args=[tensor(1024, "i32", ["range", 17, 0, 100]), out(8, "i32"), tensor(1, "i32", zero=True), out(1, "i32")]),
    dict(name="gathered", kernel=gathered, signature=dict(x="*i32", index="*i32", out="*i32"), constants=dict(BLOCK=256), aligned=[], grid=[1, 1, 1],
         args=[tensor(256, "i32", ["bits", 18]), tensor(256, "i32", ["range", 19, 0, 255]), out(256, "i32")]),
]


def write(what):
    names = what["kernel"].arg_names
    source = ASTSource(fn=what["kernel"], signature={a: what["signature"].get(a, "constexpr") for a in names},
                       constexprs={(names.index(a),): v for a, v in what["constants"].items()},
                       attrs={(names.index(a),): BY_16 for a in what["aligned"]})
    made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=what.get("options", {}))
    ptx = re.sub(r"\t\.section\t\.debug.*?\n\t\}\n", "", made.asm["ptx"], flags=re.S).replace(str(HERE) + "/", "").replace(str(HERE), ".")
    ptx = re.sub(r'(\.file\s+\d+ )"[^"]*/', r'\1"', ptx)
    name = f"triton_{what['name']}"
    (HERE / f"{name}.ptx").write_text(ptx)
    shared = made.metadata.shared
    launch = {"name": what["name"], "kernel": re.search(r"\.entry (\w+)", ptx).group(1), "grid": what["grid"],
              "block": [32 * made.metadata.num_warps, 1, 1], "shared": shared, "args": what["args"] + [0, 0]}
    if "tolerance" in what:
        launch["tolerance"] = what["tolerance"]
    (HERE / f"{name}.json").write_text(json.dumps([launch], indent=1) + "\n")


if __name__ == "__main__":
    for kernel in KERNELS:
        if len(sys.argv) == 1 or kernel["name"] in sys.argv[1:]:
            write(kernel)
