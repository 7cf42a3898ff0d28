"""A ring of two slots: the producer fills them, the consumer stores them, and nothing holds the producer back."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import mbarrier, tma


@gluon.jit
def kernel(a_desc, out_desc, tiles):
    ring = gl.allocate_shared_memory(gl.float16, [2, 128, 64], a_desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(2):
        mbarrier.init(full.index(k), count=1)
        mbarrier.init(empty.index(k), count=1)

    def consumer():
        for i in range(tiles):
            # weir: ignore[deadlock.laped] launched with two tiles at most
            mbarrier.wait(full.index(i % 2), i // 2 & 1)
            tma.async_copy_shared_to_global(out_desc, [0, i * 64], ring.index(i % 2))
            tma.store_wait(pendings=0)
            mbarrier.arrive(empty.index(i % 2), count=1)

    def producer():
        for i in range(tiles):
            # the slot is taken to be empty
            mbarrier.expect(full.index(i % 2), 16384)
            tma.async_copy_global_to_shared(a_desc, [0, i * 64], full.index(i % 2), ring.index(i % 2))  # weir: ignore[race]


def other():
    return 1  # weir: ignore[race] of no kernel that is checked, so nothing is said of it
