"""Copies and reductions by TMA: what they write is there when their group is complete, not when its source is free."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, descriptor, tensor
from products import SIDE, elements
from signals import assembly, count, tell, wait_for


@triton.jit
def wait_until_written():
    """Triton waits for the sources of its stores; others may read the result after this."""
    assembly("cp.async.bulk.wait_group 0;")


@triton.jit
def tma_store(source, target, tiles, flags, out, VARIANT: tl.constexpr):
    """Even programs store a tile by TMA and set a flag, odd ones read it."""
    pair = tl.program_id(0) // 2
    place = pair * SIDE * SIDE + elements()
    if tl.program_id(0) % 2 == 0:
        if VARIANT == "early_flag":
            tell(flags + pair, 1)
        target.store([pair * SIDE, 0], tl.load(source + place))
        if VARIANT != "sources_only":
            wait_until_written()
        if VARIANT != "early_flag":
            tell(flags + pair, 1, "relaxed" if VARIANT == "no_release" else "release")
    else:
        wait_for(flags + pair, 1, "relaxed" if VARIANT == "no_acquire" else "acquire")
        tl.store(out + place, tl.load(tiles + place))


@triton.jit
def tma_load(source, tiles, target, flags, out, VARIANT: tl.constexpr):
    """Even programs store a tile and set a flag, odd ones load it by TMA, which has a proxy of its own: a fence on
    either side lets one see what the other did."""
    pair = tl.program_id(0) // 2
    place = pair * SIDE * SIDE + elements()
    if tl.program_id(0) % 2 == 0:
        if VARIANT == "early_flag":
            tell(flags + pair, 1)
        tl.store(tiles + place, tl.load(source + place))
        assembly("fence.proxy.async.global;")
        if VARIANT != "early_flag":
            tell(flags + pair, 1, "relaxed" if VARIANT == "no_release" else "release")
    else:
        wait_for(flags + pair, 1, "relaxed" if VARIANT == "no_acquire" else "acquire")
        assembly("fence.proxy.async.global;")
        tl.store(out + place, target.load([pair * SIDE, 0]))


@triton.jit
def tma_reduce(source, target, tiles, done, out, VARIANT: tl.constexpr):
    """All programs add a tile to the same one by TMA and count; the last one reads the sum."""
    program = tl.program_id(0)
    value = tl.load(source + program * SIDE * SIDE + elements())
    if VARIANT == "one_stores":
        if program == 0:
            target.store([0, 0], value)
        else:
            target.atomic_add([0, 0], value)
    else:
        target.atomic_add([0, 0], value)
    if VARIANT != "sources_only":
        wait_until_written()
    if count(done, "relaxed" if VARIANT == "relaxed" else "acq_rel") == tl.num_programs(0) - 1:
        tl.store(out + elements(), tl.load(tiles + elements()))


PAIRS, PROGRAMS = 4, 8
TILES = [PAIRS * SIDE, SIDE]
BLOCK = [SIDE, SIDE]
COPY = dict(source=tensor(*TILES), target=descriptor(TILES, BLOCK, buffer="tiles", output=True),
            tiles=tensor(*TILES, buffer="tiles", output=True), flags=tensor(PAIRS, dtype="i32", zero=True),
            out=tensor(*TILES, output=True))


def is_copied(torch, memory, before):
    return torch.equal(memory["out"], before["source"])


CASES = [
    Case("A tile stored by TMA is complete before its flag is set", [Launch(tma_store, (2 * PAIRS,), COPY)], dict(
        sources_only=Fault("race.raw", "The flag is set when the store has read its source, not when it has written"),
        early_flag=Fault("race.raw,race.war", "The flag is set before the store"),
        no_acquire=Fault("race.raw", "The flag is seen without an acquire"),
        no_release=Fault("race.raw", "The flag is set without a release"),
    ), is_copied),
    Case("A tile loaded by TMA after its flag was seen", [Launch(tma_load, (2 * PAIRS,), COPY)], dict(
        early_flag=Fault("race.raw,race.war", "The flag is set before the tile is stored"),
        no_acquire=Fault("race.raw", "The flag is seen without an acquire"),
        no_release=Fault("race.raw", "The flag is set without a release"),
    ), is_copied),
    Case("Programs add to one tile by TMA, the last one reads it", [
        Launch(tma_reduce, (PROGRAMS,), dict(
            source=tensor(PROGRAMS * SIDE, SIDE), target=descriptor(BLOCK, BLOCK, buffer="tiles", zero=True),
            tiles=tensor(*BLOCK, buffer="tiles", zero=True), done=tensor(1, dtype="i32", zero=True),
            out=tensor(*BLOCK, output=True))),
    ], dict(
        sources_only=Fault("race.raw", "A program counts when its sum was read, not when it was added"),
        relaxed=Fault("race.raw", "The counter is relaxed"),
        one_stores=Fault("race.waw,race.raw", "One program stores where the others add"),
    ), lambda torch, memory, before: torch.equal(
        memory["out"], before["source"].view(PROGRAMS, *memory["out"].shape).sum(0))),
]
