#!/usr/bin/env python3
"""Compiles the kernels of this folder with Triton, each once for each of its variants, as NAME-VARIANT.ttgir, and writes
expected.tsv. Needs Triton 3.9, and no GPU:

    python3 examples/clusters/compile.py [--gpu FOLDER] [NAME...]

With --gpu it writes what on_gpu.py runs instead: those for sm_90 as machine code, and index.json, into FOLDER."""

import argparse
import importlib
import json
import pathlib
import re
import subprocess
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend, get_ptxas
from triton.experimental.gluon._runtime import GluonASTSource

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ["pairs", "multicast", "remote", "many", "cdna5"]


def compiled(function, target, ctas, variant, signature):
    arguments = function.arg_names
    ast = GluonASTSource(
        fn=function,
        signature={a: signature.get(a, "constexpr") for a in arguments},
        constexprs={(arguments.index("VARIANT"),): variant},
        attrs={(arguments.index(a),): [["tt.divisibility", 16]] for a in arguments
               if signature.get(a, "").startswith("*")},
    )
    maker = "cuda" if isinstance(target, int) else "hip"
    return triton.compile(ast, target=GPUTarget(maker, target, 32), options=dict(num_warps=4, num_ctas=ctas))


def ir_text(kernel):
    text = kernel.asm["ttgir"]
    # Locations name files by where they lay on the machine that compiled them; the bare name is enough here.
    for folder in HERE, pathlib.Path(triton.__file__).parent.parent:
        text = text.replace(f'"{folder}/', '"')
    return text


def gpu_entry(kernel, function, path, rule, ctas):
    """What on_gpu.py has to know of it."""
    ptx = kernel.asm["ptx"]
    return dict(
        file=path.name, kernel=function.__name__, variant=path.stem.split("-")[1], rule=rule or "-", ctas=ctas,
        threads=int(re.search(r"\.reqntid\s+(\d+)", ptx).group(1)), shared=kernel.metadata.shared,
        arguments=[a for a in function.arg_names if a != "VARIANT"],
        # The types of the parameters, as the assembly declares them: a tensor map is bytes.
        parameters=re.findall(r"\.param (?:\.align \d+ )?\.(\w+) (?:\.ptr [.\w ]+ )?" + function.__name__, ptx),
        maps=[dict(box=meta["block_size"], swizzle=meta["swizzle"]) for meta in kernel.metadata.tensordesc_meta],
    )


def all_variants(only):
    common = importlib.import_module("common")
    for module in MODULES:
        importlib.import_module(module)
    for function, target, ctas, variants in common.KERNELS:
        for variant, what in variants.items():
            rule, words = (None, what) if isinstance(what, str) else what
            chosen = not only or function.__name__ in only
            yield (function, target, ctas, variant, rule, words,
                   lambda: compiled(function, target, ctas, variant, common.SIGNATURE) if chosen else None)


def write_ir(only):
    CUDABackend.make_cubin = lambda self, *arguments: b""  # the IR is enough
    lines = ["file\tverdict\trule\twhat it shows\n"]
    for function, _, _, variant, rule, words, make in all_variants(only):
        path = HERE / f"{function.__name__}-{variant}.ttgir"
        kernel = make()
        if kernel:
            path.write_text(ir_text(kernel))
        lines.append(f"{path.name}\t{'findings' if rule else 'clean'}\t{rule or '-'}\t{words}\n")
    (HERE / "expected.tsv").write_text("".join(lines))


def write_gpu(only, folder):
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for function, target, ctas, variant, rule, _, make in all_variants(only):
        kernel = make() if target == 90 else None
        if kernel:
            path = folder / f"{function.__name__}-{variant}.cubin"
            path.write_bytes(kernel.asm["cubin"])
            index.append(gpu_entry(kernel, function, path, rule, ctas))
    subprocess.run([get_ptxas(90).path, "-arch=sm_90a", HERE / "poison.ptx", "-o", folder / "poison.cubin"], check=True)
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", type=pathlib.Path, metavar="FOLDER", help="write machine code for on_gpu.py there")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these kernels")
    given = parser.parse_args()
    if given.gpu:
        write_gpu(given.names, given.gpu)
    else:
        write_ir(given.names)
