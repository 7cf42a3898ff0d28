"""Persistent programs that take tiles from a counter until there are none left."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row


@triton.jit
def take(following, VARIANT: tl.constexpr):
    """The next tile. Its number is all that programs learn from each other, so that no order is needed."""
    if VARIANT == "plain":
        tile = tl.load(following)
        tl.debug_barrier()
        tl.store(following, tile + 1)
    else:
        tile = tl.atomic_add(following, 1, sem="relaxed", scope="cta" if VARIANT == "cta_scope" else "gpu")
    return tile


@triton.jit
def persistent(source, out, following, tiles, VARIANT: tl.constexpr):
    """Each program takes a tile, doubles it, and comes back for another one."""
    tile = take(following, VARIANT)
    last = tiles if VARIANT == "one_too_many" else tiles - 1
    while tile <= last:
        tl.store(out + row(tile), 2 * tl.load(source + row(tile)))
        tile = take(following, VARIANT)


CASES = [
    Case("Programs take tiles from a counter, by relaxed atomics", [
        Launch(persistent, (8,), dict(source=tensor(24, WIDTH), out=tensor(24, WIDTH, output=True),
                                      following=tensor(1, dtype="i32", zero=True), tiles=24)),
    ], dict(
        plain=Fault("race.raw,race.war,race.waw", "The counter is read and written like any memory"),
        cta_scope=Fault("race.raw,race.war,race.waw", "The counter has the scope of a CTA, and is shared by all"),
        one_too_many=Fault("global.out-of-bounds", "One program works on a tile behind the last"),
    ), lambda torch, memory, before: torch.equal(memory["out"], 2 * before["source"])),
]
