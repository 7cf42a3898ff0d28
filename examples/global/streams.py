"""Two launches side by side, on two streams: what one makes and the other needs."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row, tell, wait_for


@triton.jit
def streams_produce(source, box, flags, VARIANT: tl.constexpr):
    """Stores rows, and sets a flag for each."""
    program = tl.program_id(0)
    if VARIANT == "early_flag":
        tell(flags + program, 1)
    tl.store(box + row(program), tl.load(source + row(program)))
    if VARIANT != "early_flag":
        tell(flags + program, 1, "relaxed" if VARIANT == "no_release" else "release")


@triton.jit
def streams_consume(box, flags, out, VARIANT: tl.constexpr):
    """Waits for the flags, and reads the rows."""
    program = tl.program_id(0)
    if VARIANT != "no_wait":
        wait_for(flags + program, 2 if VARIANT == "wrong_value" else 1,
                 "relaxed" if VARIANT == "no_acquire" else "acquire")
    tl.store(out + row(program), tl.load(box + row(program)))


@triton.jit
def events_produce(source, box, VARIANT: tl.constexpr):
    """Stores rows."""
    tl.store(box + row(tl.program_id(0)), tl.load(source + row(tl.program_id(0))))


@triton.jit
def events_consume(box, out, VARIANT: tl.constexpr):
    """Reads the rows, and has nothing to wait for: its launch has."""
    tl.store(out + row(tl.program_id(0)), tl.load(box + row(tl.program_id(0))))


@triton.jit
def events_clear(box, VARIANT: tl.constexpr):
    """Overwrites the rows."""
    tl.store(box + row(tl.program_id(0)), tl.zeros([WIDTH], tl.float32))


ROWS = 4
SOURCE = dict(source=tensor(ROWS, WIDTH))
BOX = dict(box=tensor(ROWS, WIDTH, buffer="box", output=True))
FLAGS = dict(flags=tensor(ROWS, dtype="i32", buffer="flags", zero=True))
OUT = dict(out=tensor(ROWS, WIDTH, output=True))


def is_copied(torch, memory, before):
    return torch.equal(memory["out"], before["source"])


CASES = [
    Case("One launch waits for the flags of another that runs beside it", [
        Launch(streams_produce, (ROWS,), SOURCE | BOX | FLAGS),
        Launch(streams_consume, (ROWS,), BOX | FLAGS | OUT, dict(stream=1)),
    ], dict(
        no_release=Fault("race.raw", "The flags are set without a release"),
        no_acquire=Fault("race.raw", "The flags are seen without an acquire"),
        early_flag=Fault("race.raw,race.war", "The flags are set before the rows are stored"),
        no_wait=Fault("race.raw,race.war", "Nobody waits for the flags, and streams do not wait for each other"),
        wrong_value=Fault("deadlock.grid", "The second launch waits for a value that no flag ever has"),
    ), is_copied, name="streams"),
    Case("Events make launches wait for those on another stream", [
        Launch(events_produce, (ROWS,), SOURCE | BOX),
        Launch(events_consume, (ROWS,), BOX | OUT, dict(stream=1, after=["events_produce"])),
        Launch(events_clear, (ROWS,), BOX, dict(after=["events_consume"])),
    ], dict(
        no_event=Fault("race.raw,race.war", "The launch that reads does not wait for the one that writes",
                       dict(events_consume=dict(after=None))),
        no_event_back=Fault("race.raw,race.war", "The launch that overwrites does not wait for the one that reads",
                            dict(events_clear=dict(after=None))),
    ), is_copied, name="events"),
]
