"""Rings of tiles: a producer loads by TMA, a consumer reads, and each slot has a barrier for full and one for empty."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from tiles import SIDE, TILE_BYTES, new_barriers, new_tiles, registers, show

SLOTS = gl.constexpr(2)


@gluon.jit
def produce(source, ring, full, empty, tiles, WAIT: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(empty.index(slot), i // SLOTS & 1 ^ 1, pred=WAIT)
        mbarrier.expect(full.index(slot), TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], full.index(slot), ring.index(slot))


@gluon.jit
def consume(out, ring, full, empty, tiles):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), i // SLOTS & 1)
        value = ring.index(slot).load(registers(gl.num_warps()))
        # The next load writes through the async proxy, which must not overtake this read.
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        show(out, i, value)


@gluon.jit
def ring_no_back_edge(source, out, tiles, BROKEN: gl.constexpr):
    """The broken producer does not wait for a slot to be empty, and laps the consumer."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume, (out, ring, full, empty, tiles)),
        (produce, (source, ring, full, empty, tiles, not BROKEN)),
    ], [1], [64])


@gluon.jit
def ring_no_forward_wait(source, out, tiles, BROKEN: gl.constexpr):
    """The broken consumer does not wait for a slot to be full."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume_waiting, (out, ring, full, empty, tiles, not BROKEN)),
        (produce, (source, ring, full, empty, tiles, True)),
    ], [1], [64])


@gluon.jit
def consume_waiting(out, ring, full, empty, tiles, WAIT: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), i // SLOTS & 1, pred=WAIT)
        value = ring.index(slot).load(registers(gl.num_warps()))
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        show(out, i, value)


@gluon.jit
def ring_released_early(source, out, tiles, BROKEN: gl.constexpr):
    """The broken consumer says that a slot is empty, and then reads it."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume_releasing, (out, ring, full, empty, tiles, BROKEN)),
        (produce, (source, ring, full, empty, tiles, True)),
    ], [1], [64])


@gluon.jit
def consume_releasing(out, ring, full, empty, tiles, EARLY: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), i // SLOTS & 1)
        mbarrier.arrive(empty.index(slot), count=1, pred=EARLY)
        value = ring.index(slot).load(registers(gl.num_warps()))
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1, pred=not EARLY)
        show(out, i, value)


@gluon.jit
def ring_released_each_round(source, out, tiles, BROKEN: gl.constexpr):
    """A tile is loaded once for two rounds of the inner loop and released after the second; the broken consumer
    releases it in each."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume_twice, (out, ring, full, empty, tiles, BROKEN)),
        (produce, (source, ring, full, empty, tiles, True)),
    ], [1], [64])


@gluon.jit
def consume_twice(out, ring, full, empty, tiles, EACH: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), i // SLOTS & 1)
        for round_ in range(2):
            value = ring.index(slot).load(registers(gl.num_warps()))
            fence_async_shared()
            if EACH:
                mbarrier.arrive(empty.index(slot), count=1)
            else:
                mbarrier.arrive(empty.index(slot), count=1, pred=round_ == 1)
            show(out, 2 * i + round_, value)


@gluon.jit
def ring_wrong_slot(source, out, tiles, BROKEN: gl.constexpr):
    """The broken consumer takes the slot of the data from another count than the slot of the barrier."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume_slot, (out, ring, full, empty, tiles, 1 if BROKEN else 0)),
        (produce, (source, ring, full, empty, tiles, True)),
    ], [1], [64])


@gluon.jit
def consume_slot(out, ring, full, empty, tiles, OFF: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), i // SLOTS & 1)
        value = ring.index((i + OFF) % SLOTS).load(registers(gl.num_warps()))
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        show(out, i, value)


@gluon.jit
def ring_wrong_generation(source, out, tiles, BROKEN: gl.constexpr):
    """The broken consumer asks for the parity of the round before its own: waits and arrivals balance, but each wait is
    over a round too early."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume_generation, (out, ring, full, empty, tiles, 1 if BROKEN else 0)),
        (produce, (source, ring, full, empty, tiles, True)),
    ], [1], [64])


@gluon.jit
def consume_generation(out, ring, full, empty, tiles, OFF: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), (i // SLOTS + OFF) & 1)
        value = ring.index(slot).load(registers(gl.num_warps()))
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        show(out, i, value)


@gluon.jit
def ring_two_consumers(source, out, tiles, BROKEN: gl.constexpr):
    """Two partitions read every tile, and a slot is empty when both have; the broken kernel counts one of them."""
    ring = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS, 1 if BROKEN else 2)
    gl.warp_specialize([
        (consume, (out, ring, full, empty, tiles)),
        (consume_above, (out, ring, full, empty, tiles)),
        (produce, (source, ring, full, empty, tiles, True)),
    ], [4, 1], [64, 64])


@gluon.jit
def consume_above(out, ring, full, empty, tiles):
    consume(out + tiles * SIDE * SIDE, ring, full, empty, tiles)


@gluon.jit
def ring_merged_expect(source, out, tiles, BROKEN: gl.constexpr):
    """Two loads fill a slot and one expect announces both; the broken producer makes an expect for each, which are two
    arrivals where one is counted."""
    first = new_tiles(SLOTS)
    second = new_tiles(SLOTS)
    full = new_barriers(SLOTS)
    empty = new_barriers(SLOTS)
    gl.warp_specialize([
        (consume_sum, (out, first, second, full, empty, tiles)),
        (produce_two, (source, first, second, full, empty, tiles, BROKEN)),
    ], [1], [64])


@gluon.jit
def consume_sum(out, first, second, full, empty, tiles):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(full.index(slot), i // SLOTS & 1)
        value = first.index(slot).load(registers(gl.num_warps())) + second.index(slot).load(registers(gl.num_warps()))
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        show(out, i, value)


@gluon.jit
def produce_two(source, first, second, full, empty, tiles, SPLIT: gl.constexpr):
    for i in range(tiles):
        slot = i % SLOTS
        mbarrier.wait(empty.index(slot), i // SLOTS & 1 ^ 1)
        mbarrier.expect(full.index(slot), TILE_BYTES if SPLIT else 2 * TILE_BYTES)
        tma.async_copy_global_to_shared(source, [i * SIDE, 0], full.index(slot), first.index(slot))
        mbarrier.expect(full.index(slot), TILE_BYTES, pred=SPLIT)
        tma.async_copy_global_to_shared(source, [(tiles + i) * SIDE, 0], full.index(slot), second.index(slot))
