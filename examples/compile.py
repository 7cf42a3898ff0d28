#!/usr/bin/env python3
"""Compiles the kernels of this folder with Triton and writes what the compiler made of each as NAME.ttgir.

Needs Triton 3.6, and no GPU. Run it after a change to a kernel: python3 examples/compile.py
"""

import importlib
import pathlib
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language import NVMMASharedLayout, float16

HERE = pathlib.Path(__file__).resolve().parent


def descriptor(rows, columns):
    """The type of a tensor descriptor, as a Triton kernel's signature writes it."""
    return f"tensordesc<fp16[{rows}, {columns}]>"


def laid_out_descriptor(rows, columns):
    """The same for a Gluon kernel, where the layout in shared memory is part of the type."""
    return f"tensordesc<fp16[{rows}, {columns}],{NVMMASharedLayout.get_default_for([rows, columns], float16)!r}>"


# Arguments known to be multiples of 16 are marked as such, as a launch with real tensors would mark them.
BY_16 = [["tt.divisibility", 16]]

KERNELS = [
    dict(
        name="matmul_tma", source=ASTSource, target=90, options=dict(num_warps=8, num_stages=3),
        signature=dict(a_desc=descriptor(128, 64), b_desc=descriptor(64, 256), c_desc=descriptor(128, 256), K="i32"),
        constants=dict(BLOCK_M=128, BLOCK_N=256, BLOCK_K=64), aligned=["K"],
    ),
    dict(
        name="matmul_specialized", source=GluonASTSource, target=100, options=dict(num_warps=4),
        signature=dict(a_desc=laid_out_descriptor(128, 64), b_desc=laid_out_descriptor(64, 128),
                       c_desc=laid_out_descriptor(128, 128), K="i32"),
        constants=dict(SLOTS=4), aligned=["K"],
    ),
    dict(
        name="softmax_rows", source=ASTSource, target=90, options=dict(num_warps=4),
        signature=dict(out="*fp32", src="*fp32", columns="i32", src_stride="i32", out_stride="i32"),
        constants=dict(BLOCK=1024), aligned=["out", "src", "src_stride", "out_stride"],
    ),
]


def compiled(name, source, target, options, signature, constants, aligned):
    kernel = getattr(importlib.import_module(name), name)
    arguments = kernel.arg_names
    ast = source(
        fn=kernel,
        signature={a: signature.get(a, "constexpr") for a in arguments},
        constexprs={(arguments.index(a),): value for a, value in constants.items()},
        attrs={(arguments.index(a),): BY_16 for a in aligned},
    )
    text = triton.compile(ast, target=GPUTarget("cuda", target, 32), options=options).asm["ttgir"]
    # Locations name files by where they lay on the machine that compiled them; the bare name is enough here.
    for folder in HERE, pathlib.Path(triton.__file__).parent.parent:
        text = text.replace(f'"{folder}/', '"')
    return text


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    for kernel in KERNELS:
        (HERE / f"{kernel['name']}.ttgir").write_text(compiled(**kernel))
