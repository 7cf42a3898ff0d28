"""Launches a kernel in a process of its own."""

import multiprocessing
import sys

import triton
import triton.language as tl
import weir.triton


@triton.jit
def fill(out, BLOCK: tl.constexpr):
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 1.0)


def work():
    fill[(2,)](weir.triton.tensor([256], "float32"), 128)


if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[1]).Process(target=work)
    process.start()
    process.join()
    sys.exit(process.exitcode)
