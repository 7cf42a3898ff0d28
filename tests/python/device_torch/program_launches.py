"""Programs with bugs: dependent launches."""

from program_cases import EARLY, NO_WAIT, bug, zeros
import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

# ---- Dependent launches -------------------------------------------------------------------------------------


@triton.jit
def produce(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(x + at, 1.0)


@triton.jit
def consume(x, y, BLOCK: tl.constexpr, WAIT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WAIT == 1:
        gdc_wait()
    value = tl.load(x + at)
    if WAIT == 2:
        gdc_wait()
    tl.store(y + at, value)


@bug(EARLY, "gdc_wait")
def load_before_the_wait(fixed):
    """flashinfer#5081: a residual is read before the wait."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    consume[(8,)](x, y, 128, 1 if fixed else 2, launch_pdl=True)  # <- 1


@bug(EARLY, "gdc_wait", also=NO_WAIT)
def no_wait(fixed):
    """flashinfer#2708, llama.cpp#23690: launched as dependent, and the wait is missing."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    consume[(8,)](x, y, 128, 1 if fixed else 0, launch_pdl=True)  # <- 1


@triton.jit
def read(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(y + at, tl.load(x + at))


@triton.jit
def overwrite(x, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if FIRST:
        gdc_wait()
    tl.store(x + at, 2.0)
    if not FIRST:
        gdc_wait()


@bug(EARLY, "gdc_wait")
def store_before_the_wait(fixed):
    """Class only (as NVIDIA/cutlass#2760): the dependent launch overwrites what the one before it reads."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    read[(8,)](x, y, 128)  # <- 2
    overwrite[(8,)](x, 128, fixed, launch_pdl=True)  # <- 1


@triton.jit
def wait_in_some(x, y, BLOCK: tl.constexpr, ALL: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if ALL or tl.program_id(0) == 0:
        gdc_wait()
    tl.store(y + at, tl.load(x + at))


@bug(EARLY, "gdc_wait", also=NO_WAIT)
def wait_in_some_programs(fixed):
    """flashinfer#4685: some of what reads has waited, and the rest has not."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    wait_in_some[(8,)](x, y, 128, fixed, launch_pdl=True)  # <- 1


@triton.jit
def scaled(x, scale, y, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if FIRST:
        gdc_wait()
    factor = tl.load(scale)
    if not FIRST:
        gdc_wait()
    tl.store(y + at, tl.load(x + at) * factor)


@triton.jit
def quantize(x, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(x + at, 1.0)
    if tl.program_id(0) == 0:
        tl.store(scale, 0.5)


@bug(EARLY, "gdc_wait")
def scale_before_the_wait(fixed):
    """Dao-AILab/flash-attention#2498: a small operand of the launch before it is read ahead of the wait."""
    x, scale, y = zeros(), zeros(1), zeros()
    torch.cuda.synchronize()
    quantize[(8,)](x, scale, 128)  # <- 2
    scaled[(8,)](x, scale, y, 128, fixed, launch_pdl=True)  # <- 1


@triton.jit
def dot_loop(a, b, out, K: tl.constexpr, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    if FIRST:
        gdc_wait()
    for k in range(0, K, BLOCK):
        if not FIRST:
            gdc_wait()
        left = tl.load(a + at[:, None] * K + k + at[None, :])
        right = tl.load(b + (k + at[:, None]) * BLOCK + at[None, :])
        total += tl.dot(left, right)
    tl.store(out + at[:, None] * BLOCK + at[None, :], total)


@triton.jit
def fill_half(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(x + at, tl.full((BLOCK,), 1, tl.float16))


@bug(EARLY, "gdc_wait")
def pipelined_load(fixed):
    """triton#11905: the compiler loads ahead of a wait that is inside the loop."""
    a, b = (torch.zeros(16 * 64, device="cuda", dtype=torch.float16) for _ in range(2))
    out = zeros(256)
    torch.cuda.synchronize()
    fill_half[(8,)](a, 128)  # <- 2
    dot_loop[(1,)](a, b, out, 64, 16, fixed, num_stages=2, launch_pdl=True)  # <- 1


@triton.jit
def trigger_and_go(z, BLOCK: tl.constexpr, WAIT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    if WAIT:
        gdc_wait()
    tl.store(z + at, 3.0)


@bug(NO_WAIT, "gdc_wait")
def never_waits(fixed):
    """NVIDIA/cccl#9134: launched as dependent although the code that waits was compiled out."""
    x, z = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)
    trigger_and_go[(8,)](z, 128, fixed, launch_pdl=True)  # <- 1


@bug(EARLY, "gdc_wait")
def launch_before_the_last(fixed):
    """Class only (as NVIDIA/TensorRT-LLM#14668): the launch in between triggers before it waits, and so orders nothing."""
    x, y, z = zeros(), zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    trigger_and_go[(8,)](z, 128, True, launch_pdl=True)
    consume[(8,)](x, y, 128, 1 if fixed else 2, launch_pdl=True)  # <- 1
