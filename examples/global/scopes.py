"""Atomics at each scope: how far one reaches must cover everybody who touches the same place."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row, tell, wait_for


@triton.jit
def add(cell, value, SCOPE: tl.constexpr, VARIANT: tl.constexpr):
    if VARIANT == "plain":
        tl.store(cell, tl.load(cell) + value)
    else:
        tl.atomic_add(cell, value, sem="relaxed", scope=SCOPE)


@triton.jit
def scope_cta(cells, VARIANT: tl.constexpr):
    """Every program adds to a cell of its own, for which the scope of a CTA is enough."""
    program = tl.program_id(0)
    cell = cells + (0 if VARIANT == "one_cell" else program // 2 if VARIANT == "cell_for_two" else program)
    for i in range(4):
        add(cell, i, "cta", VARIANT)


@triton.jit
def scope_gpu(cells, VARIANT: tl.constexpr):
    """All programs of a device add to one cell."""
    add(cells, tl.program_id(0), "cta" if VARIANT == "cta_scope" else "gpu", VARIANT)


@triton.jit
def scope_sys(cells, rank, VARIANT: tl.constexpr):
    """The programs of all devices add to a cell on the first one."""
    add(cells, tl.program_id(0) + rank, "gpu" if VARIANT == "gpu_scope" else "sys", VARIANT)


@triton.jit
def scope_flag(source, box, flags, out, rank, VARIANT: tl.constexpr):
    """Device 0 stores rows in the memory of device 1, and sets flags there."""
    program = tl.program_id(0)
    if rank == 0:
        tl.store(box + row(program), tl.load(source + row(program)))
        tell(flags + program, 1, "release", "gpu" if VARIANT == "gpu_release" or VARIANT == "gpu_scope" else "sys")
    else:
        wait_for(flags + program, 1, "acquire", "gpu" if VARIANT == "gpu_acquire" or VARIANT == "gpu_scope" else "sys")
        tl.store(out + row(program), tl.load(box + row(program)))


ANY = "race.raw,race.waw,race.war"

CASES = [
    Case("Atomics of the scope of a CTA, each program on its own cell", [
        Launch(scope_cta, (8,), dict(cells=tensor(8, dtype="i32", zero=True))),
    ], dict(
        one_cell=Fault(ANY, "All programs use the same cell"),
        cell_for_two=Fault(ANY, "Two programs each share a cell"),
    ), lambda torch, memory, before: bool((memory["cells"] == 6).all())),
    Case("Atomics of the scope of a device, all programs on one cell", [
        Launch(scope_gpu, (8,), dict(cells=tensor(1, dtype="i32", zero=True))),
    ], dict(
        cta_scope=Fault(ANY, "The atomics have the scope of a CTA"),
        plain=Fault(ANY, "The cell is read and written like any memory"),
    ), lambda torch, memory, before: int(memory["cells"][0]) == 28),
    Case("Atomics of the scope of the system, from two devices on one cell", [
        Launch(scope_sys, (4,), dict(cells=tensor(1, dtype="i32", buffer="cells", device=0, zero=True),
                                     rank=dict(rank=True))),
    ], dict(
        gpu_scope=Fault(ANY, "The atomics have the scope of a device, and come from two"),
        plain=Fault(ANY, "The cell is read and written like any memory"),
    ), None, devices=2),
    Case("A flag of the scope of the system between two devices", [
        Launch(scope_flag, (4,), dict(
            source=tensor(4, WIDTH), box=tensor(4, WIDTH, buffer="box", device=1, output=True),
            flags=tensor(4, dtype="i32", buffer="flags", device=1, zero=True), out=tensor(4, WIDTH, output=True),
            rank=dict(rank=True))),
    ], dict(
        gpu_scope=Fault(ANY, "The flag has the scope of a device, and is for another one"),
        gpu_release=Fault(ANY, "The flag is set with the scope of a device"),
        gpu_acquire=Fault(ANY, "The flag is seen with the scope of a device"),
    ), None, devices=2),
]
