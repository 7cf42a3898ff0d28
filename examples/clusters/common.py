"""What the kernels of this folder share: layouts of a cluster's CTAs, and the table of the kernels."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

KERNELS = []


def kernel(target, ctas, **variants):
    """Enters a kernel into the table. A variant is a rule that it breaks (None: it is right), and what it shows."""

    def enter(function):
        KERNELS.append((function, target, ctas, variants))
        return function

    return enter


SIDE = gl.constexpr(64)


def memory_layout(rows, columns, bases):
    return gl.NVMMASharedLayout.get_default_for([rows, columns], gl.float16, cga_layout=bases)


def descriptor(rows, columns, bases):
    return f"tensordesc<fp16[{rows}, {columns}],{memory_layout(rows, columns, bases)!r}>"


SIGNATURE = dict(
    out="*fp32", source="*fp16",
    # The operands of an MMA of two CTAs, and of two such pairs that have B in common.
    a_pair=descriptor(256, 64, [(1, 0)]), b_pair=descriptor(64, 128, [(0, 1)]),
    a_pairs=descriptor(512, 64, [(1, 0), (2, 0)]), b_pairs=descriptor(64, 128, [(0, 1), (0, 0)]),
    # A tile that all CTAs have, and one that each has a part of.
    same2=descriptor(64, 64, [(0, 0)]), same4=descriptor(64, 64, [(0, 0), (0, 0)]),
    same8=descriptor(64, 64, [(0, 0)] * 3), same16=descriptor(64, 64, [(0, 0)] * 4),
    each2=descriptor(128, 64, [(1, 0)]),
    half4=descriptor(128, 64, [(0, 0), (1, 0)]),
)


@gluon.jit
def cta_rank():
    return gl.inline_asm_elementwise("mov.u32 $0, %cluster_ctarank;", "=r", [], dtype=gl.int32, is_pure=True, pack=1)


@gluon.constexpr_function
def line_layout(ctas):
    """128 numbers of each CTA, one after the other."""
    bases = [(1 << i, ) for i in range(ctas.bit_length() - 1)]
    return gl.BlockedLayout([1], [32], [4], [0], cga_layout=bases)


@gluon.jit
def show(out, value):
    """Each CTA stores a number that depends on all of a tile as it has seen it. A scalar would be stored by the first
    CTA alone."""
    LINE: gl.constexpr = line_layout(gl.num_ctas())
    number = gl.sum(gl.sum(value.to(gl.float32), axis=1), axis=0)
    gl.store(out + gl.arange(0, 128 * gl.num_ctas(), LINE), gl.full([128 * gl.num_ctas()], number, gl.float32, LINE))
