"""Sums over devices, in memory that each of them sees: buffers with the same layout on all of them."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row, tell, wait_for


@triton.jit
def meet(peers, signals, rank, devices, VARIANT: tl.constexpr):
    """Meets with the same program of all devices. A flag is for one device's word to another: who says something
    sets it when it is down, who was told takes it down again."""
    program = tl.program_id(0)
    SCOPE: tl.constexpr = "gpu" if VARIANT == "gpu_scope" else "sys"
    tl.debug_barrier()
    for peer in range(devices):
        theirs = tl.load(peers + peer).to(tl.pointer_type(tl.int32))
        while tl.atomic_cas(theirs + program * devices + rank, 0, 1,
                            sem="relaxed" if VARIANT == "no_release" else "release", scope=SCOPE) != 0:
            pass
    for peer in range(devices - 1 if VARIANT == "one_too_few" else devices):
        while tl.atomic_cas(signals + program * devices + peer, 1, 0,
                            sem="relaxed" if VARIANT == "no_acquire" else "acquire", scope=SCOPE) != 1:
            pass


@triton.jit
def all_reduce_one_shot(source, staged, staged_of, signals, signals_of, out, rank, devices, VARIANT: tl.constexpr):
    """Every device puts its rows where all can read them; all meet; every device adds up the rows of all; all meet
    again, so that the next launch may overwrite what was read."""
    at = row(tl.program_id(0))
    if VARIANT == "early_meeting":
        meet(signals_of, signals, rank, devices, VARIANT)
    tl.store(staged + at, tl.load(source + at))
    if VARIANT != "early_meeting" and VARIANT != "no_meeting":
        meet(signals_of, signals, rank, devices, VARIANT)
    total = tl.zeros([WIDTH], tl.float32)
    for peer in range(devices):
        total += tl.load(tl.load(staged_of + peer).to(tl.pointer_type(tl.float32)) + at)
    tl.store(out + at, total)
    if VARIANT != "no_last_meeting":
        meet(signals_of, signals, rank, devices, VARIANT)


@triton.jit
def send(inbox_of_next, flags_of_next, slot, value, VARIANT: tl.constexpr):
    SCOPE: tl.constexpr = "gpu" if VARIANT == "gpu_scope" else "sys"
    if VARIANT == "early_flag":
        tell(flags_of_next + slot, 1, "release", SCOPE)
    tl.store(inbox_of_next + row(slot), value)
    if VARIANT != "early_flag":
        tell(flags_of_next + slot, 1, "relaxed" if VARIANT == "no_release" else "release", SCOPE)


@triton.jit
def receive(inbox, flags, slot, VARIANT: tl.constexpr):
    wait_for(flags + (tl.program_id(0) if VARIANT == "wrong_flag" else slot), 2 if VARIANT == "wrong_value" else 1,
             "relaxed" if VARIANT == "no_acquire" else "acquire", "gpu" if VARIANT == "gpu_scope" else "sys")
    return tl.load(inbox + row(slot))


@triton.jit
def all_reduce_ring(data, inbox, inbox_of_next, flags, flags_of_next, rank, devices, VARIANT: tl.constexpr):
    """Chunks go round the ring of devices twice: once to be added up, once to tell everybody the sums. Each message has
    a slot of its own in the receiver's inbox, and a flag."""
    program = tl.program_id(0)
    programs = tl.num_programs(0)
    theirs = flags if VARIANT == "own_flag" else flags_of_next
    for step in range(devices - 1):
        slot = step * programs + program
        sent = (rank - step + devices) % devices
        received = (rank - step - 1 + devices) % devices
        send(inbox_of_next, theirs, slot, tl.load(data + row(sent * programs + program)), VARIANT)
        at = data + row(received * programs + program)
        tl.store(at, tl.load(at) + receive(inbox, flags, slot, VARIANT))
    for step in range(devices - 1):
        slot = (devices - 1 + step) * programs + program
        sent = (rank + 1 - step + devices) % devices
        received = (rank - step + devices) % devices
        send(inbox_of_next, theirs, slot, tl.load(data + row(sent * programs + program)), VARIANT)
        tl.store(data + row(received * programs + program), receive(inbox, flags, slot, VARIANT))


DEVICES, PROGRAMS = 2, 4
MESSAGES = 2 * (DEVICES - 1) * PROGRAMS
ANY = "race.raw,race.waw,race.war"

CASES = [
    Case("Every device reads the rows of all, between two meetings", [
        Launch(all_reduce_one_shot, (PROGRAMS,), dict(
            source=tensor(PROGRAMS, WIDTH), staged=tensor(PROGRAMS, WIDTH, buffer="staged", output=True),
            staged_of=dict(pointers="staged"),
            signals=tensor(PROGRAMS, DEVICES, dtype="i32", buffer="signals", zero=True),
            signals_of=dict(pointers="signals"), out=tensor(PROGRAMS, WIDTH, output=True),
            rank=dict(rank=True), devices=dict(devices=True))),
    ], dict(
        gpu_scope=Fault(ANY, "The flags have the scope of a device, and are for another one"),
        no_release=Fault("race.raw", "The flags are set without a release"),
        no_acquire=Fault("race.raw", "The flags are taken down without an acquire"),
        early_meeting=Fault("race.raw,race.war", "The devices meet before the rows are stored"),
        no_meeting=Fault("race.raw,race.war", "The devices do not meet between storing and reading"),
        one_too_few=Fault("race.raw,race.war,deadlock.grid", "The devices do not wait for the last of them"),
        no_last_meeting=Fault("race.war,race.raw", "The second of two launches overwrites rows that the other device "
                              "may still read"),
    ), None, devices=DEVICES, times=2),
    Case("Chunks go round a ring of devices, each message with a flag", [
        Launch(all_reduce_ring, (PROGRAMS,), dict(
            data=tensor(DEVICES * PROGRAMS, WIDTH), inbox=tensor(MESSAGES, WIDTH, buffer="inbox", output=True),
            inbox_of_next=tensor(MESSAGES, WIDTH, buffer="inbox", device="next", output=True),
            flags=tensor(MESSAGES, dtype="i32", buffer="flags", zero=True),
            flags_of_next=tensor(MESSAGES, dtype="i32", buffer="flags", device="next", zero=True),
            rank=dict(rank=True), devices=dict(devices=True))),
    ], dict(
        gpu_scope=Fault(ANY, "The flags have the scope of a device, and are for another one"),
        no_release=Fault("race.raw", "The flags are set without a release"),
        no_acquire=Fault("race.raw", "The flags are seen without an acquire"),
        early_flag=Fault("race.raw,race.war", "A flag is set before its message is stored"),
        own_flag=Fault("race.raw,race.war", "A device sets its own flags and not those of the next one"),
        wrong_flag=Fault("race.raw,race.war", "A device waits for the first message's flag, whichever it reads"),
        wrong_value=Fault("deadlock.grid", "A device waits for a value that no flag ever has"),
    ), None, devices=DEVICES),
]
