"""A reduction in two stages, as normalizing layers needs it: programs sum up some rows each, the last one the sums.

The counter is relaxed; fences around it order what it tells of.
"""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, fence, row


@triton.jit
def norm_last(source, parts, done, out, rows_each, VARIANT: tl.constexpr):
    """A program stores the sum of its rows and counts; who comes last adds up these sums."""
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    part = tl.zeros([WIDTH], tl.float32)
    for i in range(rows_each):
        part += tl.load(source + row(program * rows_each + i))
    tl.store(parts + row(program), part)
    tl.debug_barrier()
    if VARIANT != "no_fence_before":
        fence("cta" if VARIANT == "cta_fence" else "gpu")
    before = tl.atomic_add(done, 1, sem="relaxed")
    if before == programs - (2 if VARIANT == "too_early" else 1):
        if VARIANT != "no_fence_after":
            fence("cta" if VARIANT == "cta_fence" else "gpu")
        tl.debug_barrier()
        total = tl.zeros([WIDTH], tl.float32)
        for other in range(programs + (1 if VARIANT == "one_too_many" else 0)):
            total += tl.load(parts + row(other))
        tl.store(out + row(0), total)
        tl.store(done, 0)


ROOM = 17
PROGRAMS = 16

CASES = [
    Case("The last program adds up what all have stored, a fence before and after the counter", [
        Launch(norm_last, (PROGRAMS,), dict(
            source=tensor(3 * PROGRAMS, WIDTH), parts=tensor(ROOM, WIDTH, output=True),
            done=tensor(1, dtype="i32", zero=True), out=tensor(1, WIDTH, output=True), rows_each=3)),
    ], dict(
        no_fence_before=Fault("race.raw", "There is no fence between the sum and the counting"),
        no_fence_after=Fault("race.raw", "There is no fence between the counting and the reading"),
        cta_fence=Fault("race.raw", "The fences have the scope of a CTA"),
        too_early=Fault("race.raw,race.war", "The last but one takes itself for the last"),
        one_too_many=Fault("global.uninitialized", "The workspace has more room than there are programs, and all of it "
                           "is read"),
    ), lambda torch, memory, before: torch.equal(memory["out"][0], before["source"].sum(0))),
]
