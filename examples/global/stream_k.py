"""Stream-K: the steps of all tiles are dealt out evenly, so that a tile may begin in one program and end in another."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from products import SIDE, elements, is_product, product
from signals import tell, wait_for

TILES, PROGRAMS, STEPS = tl.constexpr(6), tl.constexpr(16), tl.constexpr(8)
# Of the 48 steps, those of each program.
SHARE = tl.constexpr(3)


@triton.jit
def stream_k(a, b, c, parts, flags, VARIANT: tl.constexpr):
    """Who has the first step of a tile stores it. Whoever else has some of its steps leaves the sum of those in a
    workspace and sets a flag; the first one waits for all of them."""
    program = tl.program_id(0)
    SCOPE: tl.constexpr = "cta" if VARIANT == "cta_scope" else "gpu"
    SHIFT: tl.constexpr = 1 if VARIANT == "off_by_one" else 0
    step = program * SHARE
    end = step + SHARE
    while step < end:
        tile = step // STEPS
        tile_end = (tile + 1) * STEPS
        until = min(end, tile_end)
        total = product(a, b, tile, step - tile * STEPS, until - tile * STEPS, STEPS)
        if step == tile * STEPS:
            helper = program + 1
            while helper * SHARE < tile_end:
                if VARIANT != "no_wait":
                    wait_for(flags + (program + 1 if VARIANT == "wrong_flag" else helper), 1,
                             "relaxed" if VARIANT == "no_acquire" else "acquire", SCOPE)
                total += tl.load(parts + (helper + SHIFT) * SIDE * SIDE + elements())
                helper += 1
            tl.store(c + tile * SIDE * SIDE + elements(), total)
        else:
            if VARIANT == "early_flag":
                tell(flags + program, 1)
            tl.store(parts + (program + SHIFT) * SIDE * SIDE + elements(), total)
            if VARIANT != "early_flag":
                tell(flags + program, 1, "relaxed" if VARIANT == "no_release" else "release", SCOPE)
        step = until


CASES = [
    Case("Parts of tiles are handed to whoever finishes the tile", [
        Launch(stream_k, (PROGRAMS,), dict(
            a=tensor(TILES * SIDE, STEPS * SIDE, dtype="f16"),
            b=tensor(STEPS * SIDE, SIDE, dtype="f16"),
            c=tensor(TILES * SIDE, SIDE, output=True),
            parts=tensor(PROGRAMS, SIDE, SIDE, output=True),
            flags=tensor(PROGRAMS, dtype="i32", zero=True))),
    ], dict(
        no_acquire=Fault("race.raw", "Who finishes a tile sees the flag and does not acquire the part"),
        no_release=Fault("race.raw", "The flag is set without a release of the part"),
        cta_scope=Fault("race.raw,race.waw,race.war", "The flags have the scope of a CTA, and are for others",
                        hangs=True),
        no_wait=Fault("race.raw,race.war", "Who finishes a tile does not wait for the parts of others"),
        early_flag=Fault("race.raw,race.war", "The flag is set before the part is stored"),
        wrong_flag=Fault("race.raw,race.war", "Who finishes a tile waits for its first helper's flag, of whichever it "
                         "reads the part"),
        off_by_one=Fault("global.out-of-bounds", "Parts are kept one place too far, the last behind the workspace"),
    ), is_product),
]
