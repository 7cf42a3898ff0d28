#!/usr/bin/env python3
"""Compiles small Triton kernels to PTX, in many variants and for several targets: tests/ptx/kernels.py FOLDER.

Also every kernel in examples/ that this release of Triton compiles. Needs no GPU, and no ptxas: the last stage is left
out. What scripts/oracle/ptx runs.
"""

import glob
import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource

CUDABackend.make_cubin = lambda self, source, *rest: b""


@triton.jit
def matmul(a, b, c, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        left = tl.load(a + rows[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * 512 + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * 512 + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def rows(out, src, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(src + row * columns + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    scanned = tl.cumsum(e, axis=0)
    tl.store(out + row * columns + i, (e / tl.sum(e, axis=0) + scanned).to(out.dtype.element_ty), mask=i < columns)


@triton.jit
def counts(out, src, lock, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src + i, mask=i < n, other=0)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    tl.atomic_add(out + x % 64, x, mask=i < n, sem="relaxed")
    tl.atomic_max(out + 64, tl.max(x, axis=0), scope="sys")
    tl.atomic_xchg(lock, 0, sem="release")
    tl.device_assert(tl.sum(x, axis=0) >= 0, "negative")
    tl.device_print("sum", tl.sum(x, axis=0))


def variants():
    for kind in "fp16", "bf16", "fp32":
        for warps, stages, tile in (4, 2, (64, 64, 32)), (4, 3, (128, 64, 64)), (8, 4, (128, 128, 32)):
            yield (f"matmul-{kind}-{warps}-{stages}", matmul, dict(a=f"*{kind}", b=f"*{kind}", c="*fp16", K="i32"),
                   dict(BLOCK_M=tile[0], BLOCK_N=tile[1], BLOCK_K=tile[2]), dict(num_warps=warps, num_stages=stages))
        for block in 128, 2048:
            yield f"rows-{kind}-{block}", rows, dict(out=f"*{kind}", src=f"*{kind}", columns="i32"), dict(BLOCK=block), {}
    for kind in "i32", "i64":
        yield (f"counts-{kind}", counts, dict(out=f"*{kind}", src=f"*{kind}", lock="*i32", n="i32"), dict(BLOCK=256),
               dict(num_warps=2))


def write(folder, name, compiled):
    with open(os.path.join(folder, name + ".ptx"), "w", encoding="ascii") as file:
        file.write(compiled.asm["ptx"])


def main(folder):
    for target in 80, 90, 100:
        for name, kernel, signature, constants, options in variants():
            signature = {**signature, **{constant: "constexpr" for constant in constants}}
            attributes = {(i, ): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind[0] == "*"}
            source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
            write(folder, f"{name}-{target}", triton.compile(source, GPUTarget("cuda", target, 32), options=options))
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sorted(glob.glob(os.path.join(here, "../../examples/**/*.ttgir"), recursive=True)):
        target = 100 if "cuda:100" in open(path, encoding="utf-8").read() else 90
        try:
            compiled = triton.compile(path, GPUTarget("cuda", target, 32))
        except Exception as problem:  # IR of another release
            print(f"{path}: {str(problem)[:80]}", file=sys.stderr)
            continue
        write(folder, os.path.basename(path), compiled)


if __name__ == "__main__":
    main(sys.argv[1])
