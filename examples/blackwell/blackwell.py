#!/usr/bin/env python3
"""Kernels for sm_100 that gather and scatter rows with TMA, and multiply scaled numbers, correct and with faults.

Run this file after a change; it needs Triton 3.9 and no GPU, and writes NAME-FAULT.ttgir with its launch:
python3 examples/blackwell/blackwell.py
"""

import json
import pathlib

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout, TensorMemoryScalesLayout, allocate_tensor_memory, fence_async_shared, mbarrier, tcgen05_commit,
    tcgen05_mma_scaled, tma)

HERE = pathlib.Path(__file__).resolve().parent
ROWS = gl.constexpr(32)


@gluon.jit
def gather_rows(src_desc, index, out_desc, FAULT: gl.constexpr):
    """Rows whose numbers are in memory, gathered by TMA and stored in a row of tiles."""
    rows_layout: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    tile = gl.allocate_shared_memory(gl.float16, [ROWS, 64], src_desc.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    first = gl.program_id(0) * 2 * ROWS
    for turn in range(2):
        places = first + turn * ROWS + gl.arange(0, ROWS, rows_layout)
        rows = gl.load(index + places)
        if FAULT == "bytes":  # those of one row
            mbarrier.expect(full, 64 * 2)
        else:
            mbarrier.expect(full, ROWS * 64 * 2)
        tma.async_gather(src_desc, rows, 0, full, tile)
        if FAULT != "no_wait":
            mbarrier.wait(full, turn)
        tma.async_store(out_desc, [first + turn * ROWS, 0], tile)
        if FAULT != "reused_early":
            tma.store_wait(pendings=0)
    tma.store_wait(pendings=0)


@gluon.jit
def scatter_rows(src, index, out_desc, FAULT: gl.constexpr):
    """Rows that are made in registers, scattered by TMA to the places that are in memory."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0])
    rows_layout: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    tile = gl.allocate_shared_memory(gl.float16, [ROWS, 64], out_desc.layout)
    first = gl.program_id(0) * 2 * ROWS
    for turn in range(2):
        own = first + turn * ROWS + gl.arange(0, ROWS, gl.SliceLayout(1, layout))
        columns = gl.arange(0, 64, gl.SliceLayout(0, layout))
        values = gl.load(src + own[:, None] * 64 + columns[None, :])
        if FAULT != "reused_early":
            tma.store_wait(pendings=0)
        tile.store(values)
        fence_async_shared()
        rows = gl.load(index + first + turn * ROWS + gl.arange(0, ROWS, rows_layout))
        tma.async_scatter(out_desc, rows, 0, tile)
    if FAULT != "not_drained":
        tma.store_wait(pendings=0)


@gluon.jit
def scaled_product(a_desc, b_desc, scales, out, FAULT: gl.constexpr):
    """One tile of a product of 8-bit numbers with a scale for every 32 of them."""
    a = gl.allocate_shared_memory(gl.float8e5, [128, 128], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float8e5, [128, 128], b_desc.layout)
    acc_layout: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    acc = allocate_tensor_memory(gl.float32, [128, 128], acc_layout)
    a_scale = allocate_tensor_memory(gl.int8, [128, 4], TensorMemoryScalesLayout())
    b_scale = allocate_tensor_memory(gl.int8, [128, 4], TensorMemoryScalesLayout())
    scale_layout: gl.constexpr = a_scale.get_reg_layout(num_warps=4)
    full = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    row = gl.arange(0, 128, gl.SliceLayout(1, scale_layout))
    column = gl.arange(0, 4, gl.SliceLayout(0, scale_layout))
    scale = gl.load(scales + row[:, None] * 4 + column[None, :])
    a_scale.store(scale)
    b_scale.store(scale)
    for turn in range(2):
        mbarrier.expect(full, 2 * 128 * 128)
        tma.async_load(a_desc, [gl.program_id(0) * 128, turn * 128], full, a)
        tma.async_load(b_desc, [0, turn * 128], full, b)
        if FAULT != "operands_early":
            mbarrier.wait(full, turn)
        tcgen05_mma_scaled(a, b.permute((1, 0)), acc, a_scale, b_scale, "e5m2", "e5m2", use_acc=turn > 0)
        tcgen05_commit(done)
        if FAULT == "scales_overwritten":
            a_scale.store(scale)
        if FAULT != "operands_reused":
            mbarrier.wait(done, turn)
    if FAULT == "operands_reused":
        mbarrier.wait(done, 1)
    c_layout: gl.constexpr = acc.get_reg_layout(num_warps=4)
    c = acc.load(c_layout)
    row = gl.program_id(0) * 128 + gl.arange(0, 128, gl.SliceLayout(1, c_layout))
    column = gl.arange(0, 128, gl.SliceLayout(0, c_layout))
    gl.store(out + row[:, None] * 128 + column[None, :], c)


def layout(block, dtype):
    return gl.NVMMASharedLayout.get_default_for(block, dtype)


def descriptor(block, name, dtype, tile=None):
    return f"tensordesc<{name}{list(block)},{layout(tile or block, dtype)!r}>"


def tensor(shape, dtype, **more):
    return {"tensor": {"shape": shape, "dtype": dtype, **more}}


def tensor_map(shape, block, dtype):
    return {"descriptor": {"shape": shape, "block": block, "dtype": dtype}}


ORDER = list(reversed(range(128)))
KERNELS = [
    (gather_rows, ["ok", "bytes", "no_wait", "reused_early"],
     dict(src_desc=descriptor([1, 64], "fp16", gl.float16, [32, 64]), index="*i32",
          out_desc=descriptor([32, 64], "fp16", gl.float16)),
     dict(src_desc=tensor_map([128, 64], [1, 64], "f16"), index=tensor([128], "i32", data=ORDER),
          out_desc=tensor_map([128, 64], [32, 64], "f16"))),
    (scatter_rows, ["ok", "reused_early", "not_drained"],
     dict(src="*fp16", index="*i32", out_desc=descriptor([1, 64], "fp16", gl.float16, [32, 64])),
     dict(src=tensor([128, 64], "f16"), index=tensor([128], "i32", data=ORDER),
          out_desc=tensor_map([128, 64], [1, 64], "f16"))),
    (scaled_product, ["ok", "operands_early", "operands_reused", "scales_overwritten"],
     dict(a_desc=descriptor([128, 128], "fp8e5", gl.float8e5), b_desc=descriptor([128, 128], "fp8e5", gl.float8e5),
          scales="*i8", out="*fp32"),
     dict(a_desc=tensor_map([256, 256], [128, 128], "i8"), b_desc=tensor_map([128, 256], [128, 128], "i8"),
          scales=tensor([128, 4], "i8"), out=tensor([256, 128], "f32"))),
]


def compile_kernel(kernel, fault, signature, arguments):
    names = kernel.arg_names
    source = GluonASTSource(fn=kernel, signature={name: signature.get(name, "constexpr") for name in names},
                            constexprs={(names.index("FAULT"), ): fault},
                            attrs={(names.index(name), ): [["tt.divisibility", 16]]
                                   for name, kind in signature.items() if kind[0] == "*"})
    text = triton.compile(source, target=GPUTarget("cuda", 100, 32), options=dict(num_warps=4)).asm["ttgir"]
    path = HERE / f"{kernel.__name__}-{fault}.ttgir"
    path.write_text(text.replace(f'"{HERE}/', '"').replace(f'"{pathlib.Path(triton.__file__).parent.parent}/', '"'))
    launch = {"kernel": kernel.__name__, "grid": [2, 1, 1], "args": arguments}
    path.with_suffix(".launch.json").write_text(json.dumps(launch) + "\n")


if __name__ == "__main__":
    for kernel, faults, signature, arguments in KERNELS:
        for fault in faults:
            compile_kernel(kernel, fault, signature, arguments)
