#!/usr/bin/env python3
"""Lowers TTGIR with the Triton that Python finds, without a GPU: lower.py OUT FILE...

Writes OUT/N.ptx for the Nth FILE, counted from 0, if it can be lowered."""
import os
import pathlib
import re
import sys

OUT = pathlib.Path(sys.argv[1])
os.environ.update(TRITON_ALWAYS_COMPILE="1", TRITON_CACHE_DIR=str(OUT / "cache"))

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.backends.nvidia.compiler import CUDABackend  # noqa: E402

CUDABackend.make_cubin = lambda self, *rest: b""  # PTX is enough

for number, path in enumerate(sys.argv[2:]):
    target = re.search(r'ttg.target = "cuda:(\d+)"', pathlib.Path(path).read_text())
    try:
        ptx = triton.compile(path, target=GPUTarget("cuda", int(target[1]), 32)).asm["ptx"]
        (OUT / f"{number}.ptx").write_text(ptx)
    except Exception as error:  # of any kind: the compiler's own
        print(f"{path}: not lowered: {error}")
