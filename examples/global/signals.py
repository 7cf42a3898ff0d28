"""How the programs of this folder tell each other something: flags, fences, and a few instructions as assembly.

Triton runs a scalar atomic on one thread and hands its result to the others, so that all are behind it. What all of
them did before it is not: a program that tells others of its stores meets in a barrier first. Assembly on a scalar runs
on every thread.
"""

import triton
import triton.language as tl

# Of a row, which is what most programs here work on: an element for each thread of four warps.
WIDTH = tl.constexpr(128)


@triton.jit
def tell(flag, value, SEM: tl.constexpr = tl.constexpr("release"), SCOPE: tl.constexpr = tl.constexpr("gpu")):
    """Sets a flag, after everything that the threads of this program have done."""
    tl.debug_barrier()
    tl.atomic_xchg(flag, value, sem=SEM, scope=SCOPE)


@triton.jit
def count(counter, SEM: tl.constexpr = tl.constexpr("acq_rel"), SCOPE: tl.constexpr = tl.constexpr("gpu")):
    """How many programs have come here before."""
    tl.debug_barrier()
    return tl.atomic_add(counter, 1, sem=SEM, scope=SCOPE)


@triton.jit
def wait_for(flag, value, SEM: tl.constexpr = tl.constexpr("acquire"), SCOPE: tl.constexpr = tl.constexpr("gpu")):
    """Spins until a flag has a value."""
    while tl.atomic_add(flag, 0, sem=SEM, scope=SCOPE) != value:
        pass


@triton.jit
def assembly(TEXT: tl.constexpr):
    """Instructions without operands; the language wants a result, which nobody uses."""
    tl.inline_asm_elementwise(TEXT + " // $0", "=r", [], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def fence(SCOPE: tl.constexpr = tl.constexpr("gpu")):
    assembly("fence.acq_rel." + SCOPE + ";")


@triton.jit
def load_by(INSTRUCTION: tl.constexpr, place):
    """A 32-bit integer, loaded by an instruction such as ld.acquire.gpu.global.b32."""
    return tl.inline_asm_elementwise(INSTRUCTION + " $0, [$1];", "=r,l", [place], dtype=tl.int32, is_pure=False, pack=1)


@triton.jit
def store_by(INSTRUCTION: tl.constexpr, place, value):
    """A 32-bit integer, stored or added by an instruction such as st.release.gpu.global.b32."""
    tl.inline_asm_elementwise(INSTRUCTION + " [$1], $2; mov.b32 $0, 0;", "=r,l,r", [place, value], dtype=tl.int32,
                              is_pure=False, pack=1)


@triton.jit
def row(number):
    """Where the elements of a row lie, counted from the begin of a buffer of such rows."""
    return number * WIDTH + tl.arange(0, WIDTH)
