#!/usr/bin/env python3
"""Compiles the kernels of this folder with Triton, each once for each of its variants, as NAME-VARIANT.ttgir, and writes
expected.tsv. Needs Triton 3.9, and no GPU: python3 examples/clusters/compile.py [NAME...]"""

import importlib
import pathlib
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.experimental.gluon._runtime import GluonASTSource

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ["pairs", "multicast", "remote"]


def compiled(function, target, ctas, variant, signature):
    arguments = function.arg_names
    ast = GluonASTSource(
        fn=function,
        signature={a: signature.get(a, "constexpr") for a in arguments},
        constexprs={(arguments.index("VARIANT"),): variant},
        attrs={(arguments.index(a),): [["tt.divisibility", 16]] for a in arguments
               if signature.get(a, "").startswith("*")},
    )
    text = triton.compile(ast, target=GPUTarget("cuda", target, 32), options=dict(num_warps=4, num_ctas=ctas)).asm["ttgir"]
    # Locations name files by where they lay on the machine that compiled them; the bare name is enough here.
    for folder in HERE, pathlib.Path(triton.__file__).parent.parent:
        text = text.replace(f'"{folder}/', '"')
    return text


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    CUDABackend.make_cubin = lambda self, *arguments: b""  # the IR is enough
    common = importlib.import_module("common")
    for module in MODULES:
        importlib.import_module(module)
    lines = ["file\tverdict\trule\twhat it shows\n"]
    for function, target, ctas, variants in common.KERNELS:
        for variant, (rule, words) in {k: (None, v) if isinstance(v, str) else v for k, v in variants.items()}.items():
            path = HERE / f"{function.__name__}-{variant}.ttgir"
            if not sys.argv[1:] or function.__name__ in sys.argv[1:]:
                path.write_text(compiled(function, target, ctas, variant, common.SIGNATURE))
            lines.append(f"{path.name}\t{'findings' if rule else 'clean'}\t{rule or '-'}\t{words}\n")
    (HERE / "expected.tsv").write_text("".join(lines))
