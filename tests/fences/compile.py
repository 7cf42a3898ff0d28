#!/usr/bin/env python3
"""Compiles kernels.py with the Triton that Python finds, without a GPU: compile.py OUT

Writes OUT/NAME.smT.ttgir and .ptx, NAME-fenced.smT.ttgir and .ptx, and OUT/kernels.tsv: file, fences in its source,
whether its PTX is in the order in which it runs. What cannot be compiled is said, and is no failure: not every release has
every op."""
import os
import pathlib
import sys

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_CACHE_DIR", str(pathlib.Path(sys.argv[1]) / "cache"))

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.backends.nvidia.compiler import CUDABackend  # noqa: E402
from triton.experimental.gluon._runtime import GluonASTSource  # noqa: E402

import kernels  # noqa: E402

CUDABackend.make_cubin = lambda self, *rest: b""  # PTX is enough
DESCRIPTOR = f"tensordesc<fp16[64, 64],{kernels.TILE.value!r}>"
SIGNATURE = dict(numbers="*fp16", out="*fp16", here=DESCRIPTOR, there=DESCRIPTOR, turns="i32")


def compiled(function, target, fenced):
    names = function.arg_names
    signature = {name: SIGNATURE.get(name, "constexpr") for name in names}
    source = GluonASTSource(
        fn=function, signature=signature, constexprs={(names.index("FENCED"), ): fenced},
        attrs={(names.index(name), ): [["tt.divisibility", 16]] for name in names if signature[name].startswith("*")})
    return triton.compile(source, target=GPUTarget("cuda", target, 32), options=dict(num_warps=4)).asm


def main(out):
    lines = []
    for entry in kernels.KERNELS:
        function = entry["function"]
        for target in entry["targets"]:
            for fenced in False, True:
                name = f"{function.__name__}{'-fenced' * fenced}.sm{target}"
                try:
                    texts = compiled(function, target, fenced)
                except Exception as error:  # of any kind: the compiler's own
                    print(f"{name}: not compiled: {' '.join(str(error).split())[-200:]}")
                    continue
                for kind in "ttgir", "ptx":
                    (out / f"{name}.{kind}").write_text(texts[kind])
                lines.append(f"{name}\t{entry['given']}\t{int(entry['straight'])}\t{int(fenced)}\n")
    (out / "kernels.tsv").write_text("".join(lines))


main(pathlib.Path(sys.argv[1]))
