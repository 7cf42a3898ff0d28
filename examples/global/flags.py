"""Flags between the programs of one grid, in the ways in which they are written."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, fence, load_by, row, store_by, tell, wait_for


@triton.jit
def flags_pairs(source, box, flags, out, VARIANT: tl.constexpr):
    """Even programs leave a row for the odd ones beside them, and set a flag."""
    pair = tl.program_id(0) // 2
    pairs = tl.num_programs(0) // 2
    flag = flags + pair
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_scope" else "gpu"
    if tl.program_id(0) % 2 == 0:
        if VARIANT == "early_flag":
            tell(flag, 1)
        tl.store(box + row(pair), tl.load(source + row(pair)))
        if VARIANT == "plain_flag":
            tl.debug_barrier()
            tl.store(flag, 1)
        elif VARIANT != "early_flag":
            tell(flag, 1, "relaxed" if VARIANT == "no_release" else "release", SCOPE)
    else:
        if VARIANT == "wrong_flag":
            flag = flags + (pair + 1) % pairs
        if VARIANT == "plain_wait":
            while tl.load(flag) != 1:
                pass
        elif VARIANT != "no_wait":
            while tl.atomic_cas(flag, 1, 1, sem="relaxed" if VARIANT == "no_acquire" else "acquire", scope=SCOPE) != 1:
                pass
        tl.store(out + row(pair), tl.load(box + row(pair)))


@triton.jit
def flags_relay(source, box, flags, out, VARIANT: tl.constexpr):
    """Of each three programs the first stores a row and tells the second, which tells the third, which reads it."""
    group = tl.program_id(0) // 3
    part = tl.program_id(0) % 3
    if part == 0:
        tl.store(box + row(group), tl.load(source + row(group)))
        tell(flags + 2 * group, 1)
    elif part == 1:
        wait_for(flags + 2 * group, 1, "relaxed" if VARIANT == "no_acquire_between" else "acquire")
        tell(flags + 2 * group + 1, 1, "relaxed" if VARIANT == "no_release_between" else "release")
    else:
        wait_for(flags + 2 * group + 1, 1)
        tl.store(out + row(group), tl.load(box + row(group)))


@triton.jit
def flags_fences(source, box, flags, out, VARIANT: tl.constexpr):
    """Relaxed atomics, with a fence before the flag is set and one after it was seen. Who sees it is one thread, so the
    others meet with it once more behind the fence."""
    pair = tl.program_id(0) // 2
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_fence" else "gpu"
    if tl.program_id(0) % 2 == 0:
        tl.store(box + row(pair), tl.load(source + row(pair)))
        tl.debug_barrier()
        if VARIANT != "no_fence_before":
            fence(SCOPE)
        tl.atomic_xchg(flags + pair, 1, sem="relaxed")
    else:
        wait_for(flags + pair, 1, "relaxed")
        if VARIANT != "no_fence_after":
            fence(SCOPE)
        tl.debug_barrier()
        tl.store(out + row(pair), tl.load(box + row(pair)))


@triton.jit
def flags_assembly(source, box, flags, out, VARIANT: tl.constexpr):
    """The flag is stored and loaded by instructions of which each has its order, on every thread."""
    pair = tl.program_id(0) // 2
    STORE: tl.constexpr = ("st.global.b32" if VARIANT == "weak_store" else "st.relaxed.gpu.global.b32"
                           if VARIANT == "relaxed_store" else "st.release.gpu.global.b32")
    LOAD: tl.constexpr = ("ld.relaxed.gpu.global.b32" if VARIANT == "relaxed_load" else "ld.acquire.cta.global.b32"
                          if VARIANT == "cta_load" else "ld.acquire.gpu.global.b32")
    if tl.program_id(0) % 2 == 0:
        tl.store(box + row(pair), tl.load(source + row(pair)))
        tl.debug_barrier()
        store_by(STORE, flags + pair, 1)
    else:
        while load_by(LOAD, flags + pair) != 1:
            pass
        tl.store(out + row(pair), tl.load(box + row(pair)))


@triton.jit
def flags_red(source, box, counter, out, VARIANT: tl.constexpr):
    """All programs but the first store a row, and every one of their 128 threads adds 1 to a counter; the first program
    waits for all of these, and adds up the rows."""
    program = tl.program_id(0)
    others = tl.num_programs(0) - 1
    RED: tl.constexpr = "red.relaxed.gpu.global.add.s32" if VARIANT == "relaxed" else "red.release.gpu.global.add.s32"
    if program != 0:
        tl.store(box + row(program - 1), tl.load(source + row(program - 1)))
        ones = tl.full([WIDTH], 1, tl.int32)
        store_by(RED, counter + tl.zeros([WIDTH], tl.int32), ones)
    else:
        expected = others + (1 if VARIANT == "too_many" else -1 if VARIANT == "too_few" else 0)
        while load_by("ld.acquire.gpu.global.b32", counter) < expected * WIDTH:
            pass
        total = tl.zeros([WIDTH], tl.float32)
        for other in range(others):
            total += tl.load(box + row(other))
        tl.store(out + row(0), total)


PAIRS = 4
BOXES = dict(source=tensor(PAIRS, WIDTH), box=tensor(PAIRS, WIDTH, output=True),
             flags=tensor(PAIRS, dtype="i32", zero=True), out=tensor(PAIRS, WIDTH, output=True))


def is_copied(torch, memory, before):
    return torch.equal(memory["out"], before["source"])


CASES = [
    Case("Rows are handed over by a release and an acquire of a flag", [Launch(flags_pairs, (2 * PAIRS,), BOXES)], dict(
        no_release=Fault("race.raw", "The flag is set without a release"),
        no_acquire=Fault("race.raw", "The flag is seen without an acquire"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The flag has the scope of a CTA, and is for another"),
        early_flag=Fault("race.raw,race.war", "The flag is set before the row is stored"),
        plain_flag=Fault("race.raw,race.waw,race.war", "The flag is stored like any memory"),
        plain_wait=Fault("race.raw,race.war", "The loop reads the flag like any memory, and the compiler leaves it "
                         "out, since it does nothing"),
        wrong_flag=Fault("race.raw,race.war", "The reader waits for the flag of another pair"),
        no_wait=Fault("race.raw,race.war", "The reader does not wait"),
    ), is_copied),
    Case("The order goes through a third program, which sees nothing of the row", [
        Launch(flags_relay, (3 * PAIRS,), dict(BOXES, flags=tensor(2 * PAIRS, dtype="i32", zero=True))),
    ], dict(
        no_acquire_between=Fault("race.raw", "The program between does not acquire what it passes on"),
        no_release_between=Fault("race.raw", "The program between does not release what it has acquired"),
    ), is_copied),
    Case("Relaxed atomics between fences", [Launch(flags_fences, (2 * PAIRS,), BOXES)], dict(
        no_fence_before=Fault("race.raw", "There is no fence between the row and its flag"),
        no_fence_after=Fault("race.raw", "There is no fence between the flag and the row"),
        cta_fence=Fault("race.raw", "The fences have the scope of a CTA"),
    ), is_copied),
    Case("A flag by st.release and ld.acquire", [Launch(flags_assembly, (2 * PAIRS,), BOXES)], dict(
        relaxed_store=Fault("race.raw", "The flag is set by st.relaxed"),
        relaxed_load=Fault("race.raw", "The flag is seen by ld.relaxed"),
        weak_store=Fault("race.raw,race.war", "The flag is set by a plain st"),
        cta_load=Fault("race.raw,race.war", "The flag is seen by ld.acquire.cta, and set by another CTA", hangs=True),
    ), is_copied),
    Case("Every thread counts by red.release", [
        Launch(flags_red, (PAIRS + 1,), dict(
            source=tensor(PAIRS, WIDTH), box=tensor(PAIRS, WIDTH, output=True),
            counter=tensor(1, dtype="i32", zero=True), out=tensor(1, WIDTH, output=True))),
    ], dict(
        relaxed=Fault("race.raw", "Counting is relaxed"),
        too_few=Fault("race.raw,race.war", "The first program goes on when one of the others is still to come"),
        too_many=Fault("deadlock.grid", "The first program waits for one more than there are"),
    ), lambda torch, memory, before: torch.equal(memory["out"][0], before["source"].sum(0))),
]
