"""Programmatic dependent launch: a kernel begins before the one before it has ended, and waits for it by itself."""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row


@triton.jit
def dependent_first(source, box, VARIANT: tl.constexpr):
    """Lets the next kernel begin before it stores what that needs: it is the end of this one that is waited for."""
    program = tl.program_id(0)
    gdc_launch_dependents()
    tl.store(box + row(program), 2 * tl.load(source + row(program)))


@triton.jit
def dependent_second(box, out, VARIANT: tl.constexpr):
    """Waits for the kernel before, and reads what another program of that stored."""
    program = tl.program_id(0)
    at = box + row((program + 1) % tl.num_programs(0))
    if VARIANT == "late_wait":
        value = tl.load(at)
        gdc_wait()
    else:
        if VARIANT != "no_wait":
            gdc_wait()
        value = tl.load(at)
    tl.store(out + row(program), value)


@triton.jit
def reuse_first(source, out, VARIANT: tl.constexpr):
    """Reads its source after it has let the next kernel begin."""
    program = tl.program_id(0)
    gdc_launch_dependents()
    tl.store(out + row(program), tl.load(source + row(program)))


@triton.jit
def reuse_second(source, VARIANT: tl.constexpr):
    """Overwrites that source, once the kernel before is through with it."""
    program = tl.program_id(0)
    if VARIANT == "early_store":
        tl.store(source + row(program), tl.zeros([WIDTH], tl.float32))
        gdc_wait()
    else:
        if VARIANT != "no_wait":
            gdc_wait()
        tl.store(source + row(program), tl.zeros([WIDTH], tl.float32))


ROWS = 8
BOX = dict(box=tensor(ROWS, WIDTH, buffer="box", output=True))
SOURCE = dict(source=tensor(ROWS, WIDTH, buffer="source"))
OUT = dict(out=tensor(ROWS, WIDTH, output=True))

CASES = [
    Case("A dependent kernel waits before it reads", [
        Launch(dependent_first, (ROWS,), dict(source=tensor(ROWS, WIDTH)) | BOX),
        Launch(dependent_second, (ROWS,), BOX | OUT, dict(dependent=True)),
    ], dict(
        no_wait=Fault("race.raw,race.war", "The dependent kernel does not wait"),
        late_wait=Fault("race.raw,race.war", "The dependent kernel waits after it has read"),
    ), lambda torch, memory, before: torch.equal(memory["out"], 2 * before["source"].roll(-1, 0)), name="dependent"),
    Case("A dependent kernel waits before it overwrites", [
        Launch(reuse_first, (ROWS,), SOURCE | OUT),
        Launch(reuse_second, (ROWS,), SOURCE, dict(dependent=True)),
    ], dict(
        early_store=Fault("race.raw,race.war", "The dependent kernel waits after it has overwritten the source"),
        no_wait=Fault("race.raw,race.war", "The dependent kernel overwrites without waiting"),
    ), lambda torch, memory, before: torch.equal(memory["out"], before["source"]), name="reuse"),
]
