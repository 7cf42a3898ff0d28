#!/usr/bin/env python3
"""Compiles the kernels of this folder with Triton and writes what the compiler made of each as NAME.ttgir.

Those in races/ are compiled twice, correct and broken, as NAME-ok.ttgir and NAME-broken.ttgir, each with a launch;
those in global/ once for each of their faults, as NAME-FAULT.ttgir, and global/expected.tsv is made of what they say.
Needs Triton 3.6, and no GPU. Run it after a change to a kernel: python3 examples/compile.py [NAME...]
"""

import importlib
import json
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction
from triton.experimental.gluon.language import NVMMASharedLayout, float16, float32

HERE = pathlib.Path(__file__).resolve().parent
RACES = HERE / "races"
GLOBAL = HERE / "global"


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
        name="attention_specialized", source=GluonASTSource, target=100, options=dict(num_warps=4),
        signature={**{f"{x}_desc": laid_out_descriptor(128, 64) for x in "qkvo"},
                   "heads": "i32", "context": "i32", "scale": "fp32"},
        constants=dict(Q_SLOTS=2, KV_SLOTS=3), aligned=["heads", "context"],
    ),
    dict(
        name="softmax_rows", source=ASTSource, target=90, options=dict(num_warps=4),
        signature=dict(out="*fp32", src="*fp32", columns="i32", src_stride="i32", out_stride="i32"),
        constants=dict(BLOCK=1024), aligned=["out", "src", "src_stride", "out_stride"],
    ),
]


def compiled(kernel, source, target, options, signature, constants, aligned):
    arguments = kernel.arg_names
    ast = source(
        fn=kernel,
        signature={a: signature.get(a, "constexpr") for a in arguments},
        constexprs={(arguments.index(a),): value for a, value in constants.items()},
        attrs={(arguments.index(a),): BY_16 for a in aligned},
    )
    text = triton.compile(ast, target=GPUTarget("cuda", target, 32), options=options).asm["ttgir"]
    # Locations name files by where they lay on the machine that compiled them; the bare name is enough here.
    for folder in RACES, GLOBAL, HERE, pathlib.Path(triton.__file__).parent.parent:
        text = text.replace(f'"{folder}/', '"')
    return text


def compile_pair(kernel, target):
    """Compiles the two variants of a kernel of races/, and writes their launches."""
    tiles = importlib.import_module("tiles")
    parameters = [a for a in kernel.arg_names if a != "BROKEN"]
    launch = dict(kernel=kernel.__name__, triton=triton.__version__, grid=[1, 1, 1],
                  args={a: tiles.LAUNCH[a] for a in parameters})
    for variant, broken in ("ok", False), ("broken", True):
        path = RACES / f"{kernel.__name__}-{variant}.ttgir"
        path.write_text(compiled(
            kernel, GluonASTSource, target, dict(num_warps=4), {a: tiles.SIGNATURE[a] for a in parameters},
            dict(BROKEN=broken), [a for a in parameters if tiles.SIGNATURE[a].startswith("*")]))
        if parameters:
            path.with_suffix(".launch.json").write_text(json.dumps(launch, indent=2) + "\n")


def compile_variant(launch, variant):
    """A kernel of global/ with one of its faults, or with none."""
    is_gluon = isinstance(launch.kernel, GluonJITFunction)
    signature = launch.signature(
        lambda words: f",{NVMMASharedLayout.get_default_for(words['block'], float32)!r}" if is_gluon else "")
    text = compiled(launch.kernel, GluonASTSource if is_gluon else ASTSource, 90, dict(num_warps=4), signature,
                    dict(VARIANT=variant), [name for name, kind in signature.items() if kind.startswith("*")])
    # Triton 3.6 waits for the sources of stores alone (cp.async.bulk.wait_group.read); later ones can do more, and say
    # which they mean.
    return re.sub(r"(ttng.async_tma_store_wait {pendings = \d+ : i32)}", r"\1, read_only}", text)


def launch_text(words):
    """A launch file, an argument a line."""
    arguments = ",\n".join(f"    {json.dumps(name)}: {json.dumps(value)}" for name, value in words["args"].items())
    rest = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in words.items() if key != "args")
    return f"{{\n{rest}  \"args\": {{\n{arguments}\n  }}\n}}\n"


def compile_case(case):
    """Compiles all variants of a case of global/, and writes their launches. Of a fault in one kernel of several, the
    others' files are NAME-ok. Gives the case's lines of expected.tsv."""
    correct = {}
    for variant, fault in case.variants():
        files = []
        for launch in case.launches:
            texts = compile_variant(launch, variant), launch_text(launch.written(fault.changes))
            if correct.setdefault(launch.name, texts) == texts:
                path = GLOBAL / f"{launch.name}-ok.ttgir"
            else:
                path = GLOBAL / f"{launch.name}-{variant}.ttgir"
            path.write_text(texts[0])
            path.with_suffix(".launch.json").write_text(texts[1])
            files.append(path.name)
        if variant != "ok" and all(name.endswith("-ok.ttgir") for name in files):
            raise SystemExit(f"{case.name}-{variant} is no other than the correct one")
        options = f"--devices {case.devices}" if case.devices > 1 else "-"
        yield "\t".join([f"{case.name}-{variant}", " ".join(files * case.times), options, fault.verdict, fault.rules,
                         fault.words]) + "\n"


def compile_global(only):
    lines = []
    for case in importlib.import_module("cases").cases():
        if not only or case.name in only:
            lines += compile_case(case)
    if not only:
        head = "name\tfiles\toptions\tverdict\trule\twhat it shows\n"
        (GLOBAL / "expected.tsv").write_text(head + "".join(lines))


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(RACES), str(GLOBAL)]
    only = sys.argv[1:]
    for row in KERNELS:
        name = row.pop("name")
        if not only or name in only:
            kernel = getattr(importlib.import_module(name), name)
            (HERE / f"{name}.ttgir").write_text(compiled(kernel, **row))
    for kernel, target in importlib.import_module("tiles").pairs():
        if not only or kernel.__name__ in only or kernel.__module__ in only:
            compile_pair(kernel, target)
    compile_global(only)
