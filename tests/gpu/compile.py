#!/usr/bin/env python3
"""Compiles the kernels of kernels.py with Triton 3.6 to PTX, without a GPU: compile.py FOLDER [NAME...]

For each kernel FOLDER/NAME.ptx, and for each of its sizes FOLDER/NAME@SIZE.launch.json, a launch as docs/launch.md has it with arguments by number."""
import json
import pathlib
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource, GluonJITFunction

from kernels import CASES

BY_16 = [["tt.divisibility", 16]]
SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}


def type_of(kind, dtype, gluon):
    """A type as the compiler writes it; a list is the block of a tensor descriptor."""
    if isinstance(kind, str):
        return kind
    layout = gl.NVMMASharedLayout.get_default_for(kind, {"fp16": gl.float16, "fp32": gl.float32}[dtype])
    return f"tensordesc<{dtype}[{kind[0]}, {kind[1]}]{f',{layout!r}' if gluon else ''}>"


def made(case, target=90):
    """The case's kernel, compiled."""
    kernel, gluon = case["kernel"], isinstance(case["kernel"], GluonJITFunction)
    names = kernel.arg_names
    signature = {name: type_of(kind, case.get("dtype", "fp16"), gluon) for name, kind in case["signature"].items()}
    aligned = [name for name, kind in signature.items() if kind[0] == "*" or kind == "i32"]
    source = (GluonASTSource if gluon else ASTSource)(
        fn=kernel, signature={name: signature.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in case["constants"].items()},
        attrs={(names.index(name),): BY_16 for name in aligned if name not in case.get("any", ("rounds",))})
    return triton.compile(source, target=GPUTarget("cuda", target, 32), options=case["options"])


def argument(value, descriptors):
    """One argument as the kernel's parameters: a descriptor is followed by its sizes and strides."""
    if not isinstance(value, dict) or "descriptor" not in value:
        return [value]
    about, words = descriptors.pop(0), dict(value["descriptor"])
    rows, columns = words["shape"]
    words["block"], words["swizzle"], words["strides"] = about["block_size"], SWIZZLES[about["swizzle"]], [columns, 1]
    return [{"descriptor": words}, rows, columns, columns, 1]


def launch_of(kernel, size):
    """The launch of a compiled kernel at one of its sizes."""
    about = kernel.metadata
    descriptors = [dict(d) for d in about.tensordesc_meta or []]
    values = [part for value in size["args"] for part in argument(value, descriptors)]
    assert not about.global_scratch_size, "scratch memory is not given to it"
    # Partitions have warps of their own, which the compiler counts.
    threads = int(re.search(r"\.reqntid (\d+)", kernel.asm["ptx"]).group(1))
    return {"kernel": about.name, "grid": size["grid"], "block": [threads, 1, 1], "shared": about.shared, "elements": int(size["elements"]),
            **({"cooperative": True} if size.get("cooperative") else {}), "args": values + [0, 0]}


def main(folder, only):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in CASES.items():
        if only and name not in only:
            continue
        kernel = made(case)
        # Files are named by where they lay on the machine that compiled them; the bare name is enough.
        (folder / f"{name}.ptx").write_text(kernel.asm["ptx"].replace(str(pathlib.Path(__file__).resolve().parent) + "/", ""))
        (folder / f"{name}.ttgir").write_text(kernel.asm["ttgir"])
        for label, size in case["sizes"].items():
            (folder / f"{name}@{label}.launch.json").write_text(json.dumps(launch_of(kernel, size)) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
