"""A barrier for all programs of a grid: everybody counts, and spins until all have."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, count, fence, row


@triton.jit
def meet(counter, goal, VARIANT: tl.constexpr):
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_scope" else "gpu"
    count(counter, "relaxed" if VARIANT == "no_release" else "release", SCOPE)
    while tl.atomic_add(counter, 0, sem="relaxed" if VARIANT == "no_acquire" else "acquire", scope=SCOPE) < goal:
        pass


@triton.jit
def grid_barrier(rows, counter, steps, VARIANT: tl.constexpr):
    """Every program takes over the next one's row, step by step: all read, all meet, all write, all meet. Who leaves
    last sets the counters back to 0."""
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    expected = programs + (1 if VARIANT == "too_many" else -1 if VARIANT == "too_few" else 0)
    goal = expected
    for _ in range(steps):
        value = tl.load(rows + row((program + 1) % programs))
        meet(counter, goal, VARIANT)
        goal += expected
        tl.store(rows + row(program), value)
        if VARIANT != "one_meeting":
            meet(counter, goal, VARIANT)
            goal += expected
    if VARIANT != "not_reset":
        if count(counter + 1) == programs - 1:
            tl.store(counter, 0)
            tl.store(counter + 1, 0)


@triton.jit
def meet_fenced(counter, goal, VARIANT: tl.constexpr):
    """The same with relaxed accesses between fences; every thread spins for itself."""
    tl.debug_barrier()
    if VARIANT != "no_fence_before":
        fence("cta" if VARIANT == "cta_fence" else "gpu")
    tl.atomic_add(counter, 1, sem="relaxed")
    while tl.load(counter, volatile=True) < goal:
        pass
    if VARIANT != "no_fence_after":
        fence("cta" if VARIANT == "cta_fence" else "gpu")


@triton.jit
def grid_barrier_fenced(source, rows, out, counter, VARIANT: tl.constexpr):
    """Every program writes a row, all meet, every program reads all rows."""
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    tl.store(rows + row(program), tl.load(source + row(program)))
    meet_fenced(counter, programs + (1 if VARIANT == "too_many" else 0), VARIANT)
    total = tl.zeros([WIDTH], tl.float32)
    for other in range(programs):
        total += tl.load(rows + row(other))
    tl.store(out + row(program), total)


PROGRAMS, STEPS = 64, 2

CASES = [
    Case("All programs meet between reading and writing", [
        Launch(grid_barrier, (PROGRAMS,), dict(
            rows=tensor(PROGRAMS, WIDTH, buffer="rows"),
            counter=tensor(2, dtype="i32", buffer="counter", zero=True), steps=STEPS)),
    ], dict(
        no_release=Fault("race.raw,race.war", "Counting does not release"),
        no_acquire=Fault("race.raw,race.war", "Spinning does not acquire"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The counter has the scope of a CTA, and is for the grid",
                        hangs=True),
        too_many=Fault("deadlock.grid", "The barrier waits for one program more than there are"),
        too_few=Fault("race.raw,race.war", "The barrier lets go when one program is still to come"),
        one_meeting=Fault("race.raw,race.war", "The next step's reading does not wait for the writing"),
        not_reset=Fault("race.raw,race.war", "The second of two launches finds the counter full and waits for nobody"),
    ), lambda torch, memory, before: torch.equal(memory["rows"], before["rows"].roll(-2 * STEPS, 0)), times=2),
    Case("A barrier by relaxed atomics and volatile loads, between fences", [
        Launch(grid_barrier_fenced, (16,), dict(
            source=tensor(16, WIDTH), rows=tensor(16, WIDTH, output=True), out=tensor(16, WIDTH, output=True),
            counter=tensor(1, dtype="i32", zero=True))),
    ], dict(
        no_fence_before=Fault("race.raw", "There is no fence between the row and the counting"),
        no_fence_after=Fault("race.raw", "There is no fence between the spinning and the reading"),
        cta_fence=Fault("race.raw", "The fences have the scope of a CTA"),
        too_many=Fault("deadlock.grid", "The barrier waits for one program more than there are"),
    ), lambda torch, memory, before: torch.equal(memory["out"], before["source"].sum(0).expand(16, -1))),
]
