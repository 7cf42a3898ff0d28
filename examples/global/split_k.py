"""Split-K: several programs multiply a part of K each for one tile of the result, and add up what they have."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from products import SIDE, elements, is_product, product
from signals import count, tell, wait_for

TILES, SPLITS = tl.constexpr(2), tl.constexpr(4)
# Of K: of each split, and in all.
SHARE, STEPS = tl.constexpr(2), tl.constexpr(8)


@triton.jit
def split_k_turns(a, b, c, turns, VARIANT: tl.constexpr):
    """The splits of a tile add to the result one after the other, each when it is its turn; the last one turns the
    counter back to 0 for the next launch."""
    tile = tl.program_id(0)
    split = tl.program_id(1)
    part = product(a, b, tile, split * SHARE, (split + 1) * SHARE, STEPS)
    turn = turns + tile
    at = c + tile * SIDE * SIDE + elements()
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_scope" else "gpu"
    following = split + 1 if VARIANT == "not_reset" else (split + 1) % SPLITS
    wait_for(turn, split + 1 if VARIANT == "wrong_turn" else split,
             "relaxed" if VARIANT == "no_acquire" else "acquire", SCOPE)
    if VARIANT == "early_turn":
        tell(turn, following)
    if split != 0:
        part += tl.load(at)
    tl.store(at, part)
    if VARIANT != "early_turn":
        tell(turn, following, "relaxed" if VARIANT == "no_release" else "release", SCOPE)


@triton.jit
def split_k_last(a, b, c, parts, done, VARIANT: tl.constexpr):
    """The splits of a tile leave their parts in a workspace and count; the one that comes last adds them up, and sets
    the counter back to 0."""
    tile = tl.program_id(0)
    split = tl.program_id(1)
    part = product(a, b, tile, split * SHARE, (split + 1) * SHARE, STEPS)
    at = parts + (tile * SPLITS + split) * SIDE * SIDE + elements()
    SEM: tl.constexpr = ("relaxed" if VARIANT == "relaxed" else "acquire" if VARIANT == "no_release" else
                         "release" if VARIANT == "no_acquire" else "acq_rel")
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_scope" else "gpu"
    if VARIANT == "early_count":
        before = count(done + tile, SEM, SCOPE)
        tl.store(at, part)
    else:
        if VARIANT != "unwritten" or split != 1:
            tl.store(at, part)
        before = count(done + tile, SEM, SCOPE)
    if before == (SPLITS - 2 if VARIANT == "too_early" else SPLITS - 1):
        total = tl.zeros([SIDE, SIDE], tl.float32)
        for other in range(SPLITS + 1 if VARIANT == "one_too_many" else SPLITS):
            total += tl.load(parts + (tile * SPLITS + other) * SIDE * SIDE + elements())
        tl.store(c + tile * SIDE * SIDE + elements(), total)
        tl.store(done + tile, 0)


MATRICES = dict(a=tensor(TILES * SIDE, STEPS * SIDE, dtype="f16"),
                b=tensor(STEPS * SIDE, SIDE, dtype="f16"),
                c=tensor(TILES * SIDE, SIDE, buffer="c", output=True))
GRID = (TILES, SPLITS)

CASES = [
    Case("The splits of a tile add to the result in turns", [
        Launch(split_k_turns, GRID, dict(MATRICES, turns=tensor(TILES, dtype="i32", buffer="turns", zero=True))),
    ], dict(
        no_acquire=Fault("race.raw", "Who waits for its turn does not acquire what the one before it stored"),
        no_release=Fault("race.raw", "Who hands on the turn does not release what it stored"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The turns have the scope of a CTA, and are handed to others",
                        hangs=True),
        early_turn=Fault("race.raw,race.waw,race.war", "The turn is handed on before the result is stored"),
        wrong_turn=Fault("deadlock.grid", "Each split waits for the turn of the one after it, so that none begins"),
        not_reset=Fault("deadlock.grid", "The second of two launches waits for turn 0, and the first has left another"),
    ), is_product, times=2),
    Case("The last split of a tile adds up the parts of all", [
        Launch(split_k_last, GRID, dict(
            MATRICES, parts=tensor(TILES, SPLITS, SIDE, SIDE, buffer="parts", output=True),
            done=tensor(TILES, dtype="i32", buffer="done", zero=True))),
    ], dict(
        relaxed=Fault("race.raw", "The counter is relaxed, so that it orders nothing"),
        no_release=Fault("race.raw", "Counting acquires and does not release"),
        no_acquire=Fault("race.raw", "Counting releases and does not acquire"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The counter has the scope of a CTA, and is shared by others"),
        early_count=Fault("race.raw,race.war", "A split counts before it stores its part"),
        too_early=Fault("race.raw,race.war", "The last but one adds up the parts, one of which is still to come"),
        one_too_many=Fault("global.out-of-bounds,race.raw", "One part more is read than there are"),
        unwritten=Fault("global.uninitialized", "One split counts without storing its part, which is still read"),
    ), is_product),
]
