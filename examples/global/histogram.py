"""A histogram by atomics, which need no other synchronization."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row

BINS = tl.constexpr(16)


@triton.jit
def histogram(values, bins, VARIANT: tl.constexpr):
    """Every program counts one of four rows of values, of which some are too large for the bins."""
    value = tl.load(values + row(tl.program_id(0) % 4))
    inside = value < (BINS + 1 if VARIANT == "one_too_many" else BINS)
    if VARIANT == "plain":
        tl.store(bins + value, tl.load(bins + value, inside) + 1, inside)
    else:
        tl.atomic_add(bins + value, 1, inside, sem="relaxed", scope="cta" if VARIANT == "cta_scope" else "gpu")


PROGRAMS, ROWS = 132, 4
VALUES = [(7 * i + i // 11) % 18 for i in range(ROWS * WIDTH.value)]


def is_counted(torch, memory, before):
    counts = torch.bincount(before["values"].flatten(), minlength=18)[:BINS.value]
    return torch.equal(memory["bins"], (PROGRAMS // ROWS * counts).int())


CASES = [
    Case("Programs count values in bins that all share", [
        Launch(histogram, (PROGRAMS,), dict(values=tensor(ROWS, WIDTH, dtype="i32", data=VALUES),
                                            bins=tensor(BINS, dtype="i32", zero=True))),
    ], dict(
        plain=Fault("race.raw,race.waw,race.war", "The bins are read and written like any memory"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The atomics have the scope of a CTA, and the bins are for all"),
        one_too_many=Fault("global.out-of-bounds", "A value is counted that has no bin"),
    ), is_counted),
]
