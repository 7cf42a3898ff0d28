"""A spin lock around memory that all programs add to."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row, tell


@triton.jit
def spin_lock(source, total, lock, VARIANT: tl.constexpr):
    """Every program takes the lock, adds its row to the sum of all, and gives the lock back."""
    program = tl.program_id(0)
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_scope" else "gpu"
    value = tl.load(source + row(program))
    if VARIANT != "no_lock":
        while tl.atomic_cas(lock, 0, 1, sem="relaxed" if VARIANT == "no_acquire" else "acquire", scope=SCOPE) != 0:
            pass
    if VARIANT == "early_unlock":
        tell(lock, 0)
    tl.store(total + row(0), tl.load(total + row(0)) + value)
    if VARIANT == "plain_unlock":
        tl.debug_barrier()
        tl.store(lock, 0)
    elif VARIANT != "early_unlock" and VARIANT != "no_lock":
        if VARIANT != "not_unlocked" or program != 3:
            tell(lock, 0, "relaxed" if VARIANT == "no_release" else "release", SCOPE)


CASES = [
    Case("A lock is taken by an acquire and given back by a release", [
        Launch(spin_lock, (32,), dict(source=tensor(32, WIDTH), total=tensor(1, WIDTH, zero=True),
                                      lock=tensor(1, dtype="i32", zero=True))),
    ], dict(
        no_acquire=Fault("race.raw", "Taking the lock does not acquire"),
        no_release=Fault("race.raw", "Giving it back does not release"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The lock has the scope of a CTA, and is for all"),
        no_lock=Fault("race.raw,race.waw,race.war", "Nobody takes the lock"),
        early_unlock=Fault("race.raw,race.waw,race.war", "The lock is given back before the sum is stored"),
        plain_unlock=Fault("race.raw,race.waw,race.war", "The lock is given back by a plain store"),
        not_unlocked=Fault("deadlock.grid", "One program keeps the lock"),
    ), lambda torch, memory, before: torch.equal(memory["total"][0], before["source"].sum(0))),
]
