"""TMA in Gluon, where the kernel itself says when it waits for a copy."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

from cases import Case, Fault, Launch, descriptor, tensor

SIDE = gl.constexpr(16)
SHARED = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=32, rank=2))
REGISTERS = gl.constexpr(gl.BlockedLayout([1, 2], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def places(tile):
    """Where the elements of a tile lie, counted from the begin of a buffer of tiles."""
    rows = gl.arange(0, SIDE, gl.SliceLayout(1, REGISTERS))
    columns = gl.arange(0, SIDE, gl.SliceLayout(0, REGISTERS))
    return (tile * SIDE + rows[:, None]) * SIDE + columns[None, :]


@gluon.jit
def tell(flag, value):
    gl.thread_barrier()
    gl.atomic_xchg(flag, value, sem="release", scope="gpu")


@gluon.jit
def wait_for(flag, value):
    while gl.atomic_add(flag, 0, sem="acquire", scope="gpu") != value:
        pass


@gluon.jit
def wait_until_written(PENDING: gl.constexpr):
    """For all stores but so many to have written; tma.store_wait waits for their sources."""
    gl.inline_asm_elementwise("cp.async.bulk.wait_group " + PENDING + "; // $0", "=r", [], dtype=gl.int32,
                              is_pure=False, pack=1)


@gluon.jit
def tma_store_two(target, tiles, flags, out, VARIANT: gl.constexpr):
    """Even programs store two tiles by TMA and set a flag, odd ones read both."""
    pair = gl.program_id(0) // 2
    if gl.program_id(0) % 2 == 0:
        ring = gl.allocate_shared_memory(gl.float32, [2, SIDE, SIDE], SHARED)
        for i in gl.static_range(2):
            ring.index(i).store(gl.full([SIDE, SIDE], 1.0 + i, gl.float32, REGISTERS))
            fence_async_shared()
            tma.async_copy_shared_to_global(target, [(2 * pair + i) * SIDE, 0], ring.index(i))
        if VARIANT != "no_wait":
            wait_until_written("1" if VARIANT == "one_pending" else "0")
        tell(flags + pair, 1)
        tma.store_wait(0)
    else:
        wait_for(flags + pair, 1)
        for i in gl.static_range(2):
            gl.store(out + places(2 * pair + i), gl.load(tiles + places(2 * pair + i)))


@gluon.jit
def tma_load_then_free(source, tiles, flags, out, VARIANT: gl.constexpr):
    """Even programs load a tile by TMA and set a flag when it is there, odd ones overwrite it then."""
    pair = gl.program_id(0) // 2
    if gl.program_id(0) % 2 == 0:
        tile = gl.allocate_shared_memory(gl.float32, [SIDE, SIDE], SHARED)
        loaded = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
        mbarrier.init(loaded, count=1)
        mbarrier.expect(loaded, SIDE * SIDE * 4)
        tma.async_copy_global_to_shared(source, [pair * SIDE, 0], loaded, tile)
        if VARIANT == "early_flag":
            tell(flags + pair, 1)
        mbarrier.wait(loaded, 0)
        value = tile.load(REGISTERS)
        if VARIANT != "early_flag":
            tell(flags + pair, 1)
        mbarrier.invalidate(loaded)
        gl.store(out + places(pair), value)
    else:
        if VARIANT != "no_wait":
            wait_for(flags + pair, 1)
        gl.store(tiles + places(pair), gl.full([SIDE, SIDE], 0.0, gl.float32, REGISTERS))


PAIRS = 4
BLOCK = [SIDE, SIDE]
TWO = [2 * PAIRS * SIDE, SIDE]
ONE = [PAIRS * SIDE, SIDE]
FLAGS = dict(flags=tensor(PAIRS, dtype="i32", zero=True))


def has_both(torch, memory, before):
    tiles = memory["out"].view(2 * PAIRS, -1)
    return bool((tiles[0::2] == 1).all() and (tiles[1::2] == 2).all())


CASES = [
    Case("Two stores by TMA are complete before the flag is set", [
        Launch(tma_store_two, (2 * PAIRS,), dict(target=descriptor(TWO, BLOCK, buffer="tiles", output=True),
                                                 tiles=tensor(*TWO, buffer="tiles", output=True), **FLAGS,
                                                 out=tensor(*TWO, output=True))),
    ], dict(
        no_wait=Fault("race.raw", "The flag is set while both stores may be under way"),
        one_pending=Fault("race.raw", "The flag is set while the second store may be under way"),
    ), has_both),
    Case("A tile is overwritten after a load by TMA has read it", [
        Launch(tma_load_then_free, (2 * PAIRS,), dict(source=descriptor(ONE, BLOCK, buffer="tiles"),
                                                      tiles=tensor(*ONE, buffer="tiles"), **FLAGS,
                                                      out=tensor(*ONE, output=True))),
    ], dict(
        early_flag=Fault("race.war", "The flag is set while the load may still read"),
        no_wait=Fault("race.war,race.raw", "Nobody waits for the flag"),
    ), lambda torch, memory, before: torch.equal(memory["out"], before["tiles"])),
]
