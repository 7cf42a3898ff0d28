#!/usr/bin/env python3
"""As make.py, for what the interpreter does not have and the machine (src/machine/simt) does: rounding modes, what is no number,
the narrow formats, packed and video instructions, approximations.

    more.py write              single.ptx, double.ptx, half.ptx, brain.ptx, whole.ptx, near.ptx
    more.py record [FILE...]   runs them on a GPU, and writes FILE.tsv: a form and a hash of the results of all threads in each
                               line; of near.ptx, whose forms are approximations, the results of every third thread

Thread t of form i stores 8 bytes at out + (i * THREADS + t) * 8. The first EDGED threads have operands from a list of edges, those
after them random ones of like size, and the last ones random bits.
"""

import os
import struct
import sys

import make

THREADS, EDGED, SIZED = 1024, 704, 896
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = ("rn", "rz", "rm", "rp")
TO_WHOLE = ("rni", "rzi", "rmi", "rpi")
WHOLE = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
COMPARES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
TESTS = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, -7.9, 65504.0, 65519.99, 65520.0, -70000.0, 448.0, 464.0, 479.0, -480.0,
           57344.0, 61440.0, 2.0**-24, 2.0**-25, 3 * 2.0**-25, -2.0**-14, 2.0**-9, 2.0**-10, 3 * 2.0**-17, 255.5, -128.5, 32767.5, 2147483648.0,
           -2147483648.0, 4294967295.0, 9.223372036854775807e18, -9.3e18, 1.8446744073709552e19, 0.99999994, 1.0000001, 1 + 2.0**-11, 1 + 3 * 2.0**-11,
           1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-12, 16777217.0, 3.141592653589793]
SINGLES = [struct.unpack("<I", struct.pack("<f", x))[0] for x in NUMBERS] + [
    0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000, 0x80800000, 0x007FFFFF, 0x80400000,
    0x00000001, 0x80000001, 0x3F7FE000, 0x3F801000, 0x3F803000, 0x477FF000, 0x7F7FF000, 0x00ffffff, 0x34000000]
DOUBLES = [struct.unpack("<Q", struct.pack("<d", x))[0] for x in NUMBERS + [1e300, -1e300, 1e-310, 3.5e38, -3.4028235677973366e38, 1.1754943508222875e-38,
           1.401298464324817e-45, 7e-46, 1e-40, 1 + 2.0**-52, 1 + 2.0**-24, 1 + 3 * 2.0**-24]] + [
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000012345678, 0x7FFFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF,
    0x0010000000000000, 0x000FFFFFFFFFFFFF, 0x8000000000000001, 0x0000000000000001]
# Products, quotients and sums about the least normal number.
TINY = [0x00800000, 0x80800000, 0x00800001, 0x00FFFFFF, 0x007FFFFF, 0x807FFFFF, 0x3F7FFFFF, 0xBF7FFFFF, 0x3F800000, 0x3F800001, 0x40000000, 0x3F000000,
        0xBF000001, 0x20000000, 0x1FFFFFFF, 0x5F000000, 0x5EFFFFFF, 0x7E800000, 0x7E7FFFFF, 0x7F000000, 0x7EFFFFFF, 0xFE800001, 0x01000000, 0x00000001,
        0x80000001, 0x00C00000, 0x3F400000, 0x80000000, 0x00000000]
HALVES = [0x0000, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0x4100, 0xC100, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE12, 0x7FFF, 0x0400, 0x8400,
          0x03FF, 0x83FF, 0x0001, 0x8001, 0x0200, 0x3C01, 0x3BFF, 0x5BFF, 0x5F00, 0x5F40, 0x7B00, 0x7B80, 0x1400, 0x1401, 0x1000, 0x2C00, 0x4248, 0x5800]
BRAINS = [0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F00, 0x3FC0, 0x4020, 0xC020, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFC1, 0x7FFF, 0x0080, 0x8080,
          0x007F, 0x807F, 0x0001, 0x8001, 0x0040, 0x3F81, 0x3F7F, 0x43E0, 0x4780, 0x4F00, 0xCF00, 0x5F00, 0x0100, 0x4049, 0x42FE, 0x437F]


def table_of(width, kind):
    return {"tiny": TINY, "oob": HALVES, "single": SINGLES, "near": SINGLES, "double": DOUBLES, "half": HALVES, "brain": BRAINS, "whole": make.EDGES}[kind]


# Random bits of like size: what is kept of them, and what is added.
SIZES = {"single": (0x80FFFFFF, 0x3F000000), "tiny": (0x80FFFFFF, 0x00400000), "oob": (0x8FFF, 0x3400), "near": (0x80FFFFFF, 0x3F000000), "double": (0x801FFFFFFFFFFFFF, 0x3FE0000000000000),
         "half": (0x8FFF, 0x3400), "brain": (0x81FF, 0x3F00), "whole": (0xFFFFFFFF, 0)}
WIDTHS = {"single": 32, "tiny": 32, "oob": 16, "near": 32, "double": 64, "half": 16, "brain": 16, "whole": 64}


class Kernel(make.Kernel):
    def form(self, name, lines, result, kind):
        index = len(self.forms)
        super().form(name, lines, result, kind)
        self.text[-2] = f"    st.global.b64 [place + {index * THREADS * 8}], o;"

    def module(self):
        edges, width = table_of(None, self.name), WIDTHS[self.name]
        keep, add = SIZES[self.name]
        mask = 2**width - 1
        head = f""".version 8.6
.target sm_90a
.address_size 64

.const .align 8 .u64 edges[{len(edges)}] = {{{", ".join(str(value) for value in edges)}}};

.visible .entry {self.name}(.param .u64 .ptr .global .align 8 out)
.reqntid {THREADS}
{{
    .reg .pred few, some; .reg .b32 t, i; .reg .b64 place, at, s, m, k, a64, b64, c64;
    .reg .b32 a32, b32, c32, ah, bh, ch; .reg .b16 a16, b16, c16; .reg .f32 af, bf, cf; .reg .f64 ad, bd, cd;
    mov.u32 t, %tid.x;
    ld.param.u64 place, [out];
    mul.wide.u32 at, t, 8;
    add.u64 place, place, at;
"""
        for number, name in enumerate("abc"):
            head += f"""    cvt.u64.u32 s, t;
    mad.lo.u64 s, s, 3, {number * 7919 + 11};
    mul.lo.u64 s, s, 0x9E3779B97F4A7C15;
    shr.u64 m, s, 30; xor.b64 s, s, m; mul.lo.u64 s, s, 0xBF58476D1CE4E5B9;
    shr.u64 m, s, 27; xor.b64 s, s, m; mul.lo.u64 s, s, 0x94D049BB133111EB;
    shr.u64 m, s, 31; xor.b64 s, s, m;
    and.b64 s, s, {mask:#x};
    mad.lo.u32 i, t, {[1, 5, 7][number]}, {number};
    shr.u32 i, i, {[0, 4, 2][number]};
    rem.u32 i, i, {len(edges)};
    mul.wide.u32 at, i, 8;
    mov.u64 m, edges; add.u64 m, m, at;
    ld.const.u64 m, [m];
    and.b64 k, s, {keep:#x}; add.u64 k, k, {add:#x}; and.b64 k, k, {mask:#x};
    setp.lt.u32 few, t, {EDGED}; setp.lt.u32 some, t, {SIZED};
    selp.b64 s, k, s, some; selp.b64 {name}64, m, s, few;
    cvt.u32.u64 {name}32, {name}64; cvt.u16.u64 {name}16, {name}64;
    mov.b32 {name}f, {name}32; mov.b64 {name}d, {name}64;
"""
        head += "    mov.b32 ah, {a16, b16}; mov.b32 bh, {b16, c16}; mov.b32 ch, {c16, a16};\n"
        return head + "\n".join("    " + line for line in self.text) + "\n    ret;\n}\n"


def flags(*choices):
    """Every way to take some of the modifiers, in order."""
    ways = [""]
    for choice in choices:
        ways = [way + more for way in ways for more in ("", "." + choice)]
    return ways


def whole_register(kind):
    return {16: "h", 32: "w", 64: "d"}[max(16, make.bits(kind))]


def to_whole(k, source, register, ftz):
    brain = source == "bf16"  # from which there is nothing of 8 bits, and .sat is not taken
    for round_ in TO_WHOLE:
        for f in flags("ftz") if ftz else ("",):
            for kind in WHOLE[2:] if brain else WHOLE:
                for sat in ("",) if brain else ("", ".sat"):
                    to = whole_register(kind)
                    k.form(f"cvt.{round_}{f}{sat}.{kind}.{source}", [f"cvt.{round_}{f}{sat}.{kind}.{source} {to}, {register};"], to,
                           f"b{max(16, make.bits(kind))}")


def extremes(k, kind, a, b, to, result, ftz=True, sign=True):
    for op in ("min", "max"):
        for f in flags("ftz", "NaN") if ftz else flags("NaN"):
            for s in ("", ".xorsign.abs") if sign else ("",):
                k.form(f"{op}{f}{s}.{kind}", [f"{op}{f}{s}.{kind} {to}, {a}, {b};"], to, result)


def single():
    k = Kernel("single")
    for r in ROUNDS:
        for f in flags("ftz", "sat"):
            for op in ("add", "sub", "mul"):
                k.form(f"{op}.{r}{f}.f32", [f"{op}.{r}{f}.f32 fd, af, bf;"], "fd", "f32")
            k.form(f"fma.{r}{f}.f32", [f"fma.{r}{f}.f32 fd, af, bf, cf;"], "fd", "f32")
        for f in flags("ftz"):
            k.form(f"div.{r}{f}.f32", [f"div.{r}{f}.f32 fd, af, bf;"], "fd", "f32")
            k.form(f"rcp.{r}{f}.f32", [f"rcp.{r}{f}.f32 fd, af;"], "fd", "f32")
            k.form(f"sqrt.{r}{f}.f32", [f"sqrt.{r}{f}.f32 fd, af;"], "fd", "f32")
    k.form("mad.rz.f32", ["mad.rz.f32 fd, af, bf, cf;"], "fd", "f32")
    k.form("add.f32", ["add.f32 fd, af, bf;"], "fd", "f32")
    k.form("mul.ftz.f32", ["mul.ftz.f32 fd, af, bf;"], "fd", "f32")
    extremes(k, "f32", "af", "bf", "fd", "f32")
    for f in flags("ftz"):
        for op in ("abs", "neg"):
            k.form(f"{op}{f}.f32", [f"{op}{f}.f32 fd, af;"], "fd", "f32")
        for compare in COMPARES:
            k.form(f"setp.{compare}{f}.f32", [f"setp.{compare}{f}.f32 p, af, bf;"], "p", "pred")
            k.form(f"set.{compare}{f}.u32.f32", [f"set.{compare}{f}.u32.f32 w, af, bf;"], "w", "b32")
        if f:  # without .ftz ptxas 13.0 has 1 in place of 1.0
            k.form(f"set.lt{f}.f32.f32", [f"set.lt{f}.f32.f32 fd, af, bf;"], "fd", "f32")
        k.form(f"setp.lt.and{f}.f32 p|q", ["setp.ne.b32 q, c32, 0;", f"setp.lt.and{f}.f32 p|q, af, bf, q;", "selp.b32 w, 1, 0, p;", "@q add.u32 w, w, 2;"],
               "w", "b32")
        k.form(f"slct{f}.f32.f32", [f"slct{f}.f32.f32 fd, af, bf, cf;"], "fd", "f32")
        k.form(f"cvt.sat{f}.f32.f32", [f"cvt{f}.sat.f32.f32 fd, af;"], "fd", "f32")
        k.form(f"cvt{f}.f64.f32", [f"cvt{f}.f64.f32 gd, af;"], "gd", "f64")
        k.form(f"cvt{f}.sat.f64.f32", [f"cvt{f}.sat.f64.f32 gd, af;"], "gd", "f64")
        for r in TO_WHOLE:
            for sat in ("", ".sat"):
                k.form(f"cvt.{r}{f}{sat}.f32.f32", [f"cvt.{r}{f}{sat}.f32.f32 fd, af;"], "fd", "f32")
    k.form("copysign.f32", ["copysign.f32 fd, af, bf;"], "fd", "f32")
    for test in TESTS:
        k.form(f"testp.{test}.f32", [f"testp.{test}.f32 p, af;"], "p", "pred")
    to_whole(k, "f32", "af", True)
    for r in ("rn", "rz"):
        for f in ("", ".ftz", ".sat", ".relu", ".satfinite", ".relu.satfinite"):
            k.form(f"cvt.{r}{f}.f16.f32", [f"cvt.{r}{f}.f16.f32 h, af;"], "h", "b16")
        for f in ("", ".relu", ".satfinite", ".relu.satfinite"):
            k.form(f"cvt.{r}{f}.bf16.f32", [f"cvt.{r}{f}.bf16.f32 h, af;"], "h", "b16")
            k.form(f"cvt.{r}{f}.f16x2.f32", [f"cvt.{r}{f}.f16x2.f32 w, af, bf;"], "w", "b32")
            k.form(f"cvt.{r}{f}.bf16x2.f32", [f"cvt.{r}{f}.bf16x2.f32 w, af, bf;"], "w", "b32")
            if "satfinite" not in f:
                k.form(f"cvt.{r}{f}.tf32.f32", [f"cvt.{r}{f}.tf32.f32 w, af;"], "w", "b32")
    for r in ("rm", "rp"):
        k.form(f"cvt.{r}.f16.f32", [f"cvt.{r}.f16.f32 h, af;"], "h", "b16")
        k.form(f"cvt.{r}.bf16.f32", [f"cvt.{r}.bf16.f32 h, af;"], "h", "b16")
    for f in ("", ".satfinite"):
        k.form(f"cvt.rna{f}.tf32.f32", [f"cvt.rna{f}.tf32.f32 w, af;"], "w", "b32")
    for f in flags("relu"):
        for kind in ("e4m3x2", "e5m2x2"):
            k.form(f"cvt.rn.satfinite{f}.{kind}.f32", [f"cvt.rn.satfinite{f}.{kind}.f32 h, af, bf;"], "h", "b16")
    return k


def tiny():
    """What is flushed: before it is rounded, or after."""
    k = Kernel("tiny")
    for r in ROUNDS:
        for f in flags("ftz"):
            for op in ("add", "sub", "mul", "div"):
                k.form(f"{op}.{r}{f}.f32", [f"{op}.{r}{f}.f32 fd, af, bf;"], "fd", "f32")
            k.form(f"fma.{r}{f}.f32", [f"fma.{r}{f}.f32 fd, af, bf, cf;"], "fd", "f32")
            k.form(f"fma.{r}{f}.f32 small", ["mul.rn.f32 fx, cf, 0f1f800000;", f"fma.{r}{f}.f32 fd, af, bf, fx;"], "fd", "f32")
            k.form(f"rcp.{r}{f}.f32", [f"rcp.{r}{f}.f32 fd, af;"], "fd", "f32")
            k.form(f"sqrt.{r}{f}.f32", [f"sqrt.{r}{f}.f32 fd, af;"], "fd", "f32")
            k.form(f"cvt.{r}{f}.f32.f64", ["cvt.f64.f32 gx, af;", "cvt.f64.f32 gy, bf;", "mul.f64 gx, gx, gy;", f"cvt.{r}{f}.f32.f64 fd, gx;"], "fd", "f32")
    for f in flags("ftz"):
        k.form(f"cvt{f}.f32.bf16", ["cvt.u16.u32 x16, a32;", f"cvt{f}.f32.bf16 fd, x16;"], "fd", "f32")
    return k


def oob():
    """Which numbers .oob takes for what lies out of bounds: all of 16 bits."""
    k = Kernel("oob")
    for kind, one in (("f16", 0x3C00), ("bf16", 0x3F80)):
        for high in range(64):
            lines = ["cvt.u16.u32 h, t;", f"or.b16 x16, h, {high << 10};", f"mov.u16 y16, {one};"]
            k.form(f"fma.rn.oob.{kind} {high}", lines + [f"fma.rn.oob.{kind} h, x16, y16, y16;"], "h", "b16")
        k.form(f"fma.rn.oob.{kind} b", ["cvt.u16.u32 h, t;", f"or.b16 x16, h, {31 << 10};", f"mov.u16 y16, {one};", f"fma.rn.oob.{kind} h, y16, x16, y16;"], "h", "b16")
        k.form(f"fma.rn.oob.{kind} c", ["cvt.u16.u32 h, t;", f"or.b16 x16, h, {31 << 10};", f"mov.u16 y16, {one};", f"fma.rn.oob.{kind} h, y16, y16, x16;"], "h", "b16")
    return k


def double():
    k = Kernel("double")
    for r in ROUNDS:
        for op in ("add", "sub", "mul", "div"):
            k.form(f"{op}.{r}.f64", [f"{op}.{r}.f64 gd, ad, bd;"], "gd", "f64")
        k.form(f"fma.{r}.f64", [f"fma.{r}.f64 gd, ad, bd, cd;"], "gd", "f64")
        k.form(f"rcp.{r}.f64", [f"rcp.{r}.f64 gd, ad;"], "gd", "f64")
        k.form(f"sqrt.{r}.f64", [f"sqrt.{r}.f64 gd, ad;"], "gd", "f64")
        for f in flags("ftz", "sat"):
            k.form(f"cvt.{r}{f}.f32.f64", [f"cvt.{r}{f}.f32.f64 fd, ad;"], "fd", "f32")
        k.form(f"cvt.{r}.f16.f64", [f"cvt.{r}.f16.f64 h, ad;"], "h", "b16")
        k.form(f"cvt.{r}.bf16.f64", [f"cvt.{r}.bf16.f64 h, ad;"], "h", "b16")
    for op in ("min", "max"):
        k.form(f"{op}.f64", [f"{op}.f64 gd, ad, bd;"], "gd", "f64")
    for op in ("abs", "neg"):
        k.form(f"{op}.f64", [f"{op}.f64 gd, ad;"], "gd", "f64")
    k.form("copysign.f64", ["copysign.f64 gd, ad, bd;"], "gd", "f64")
    k.form("cvt.sat.f64.f64", ["cvt.sat.f64.f64 gd, ad;"], "gd", "f64")
    for compare in COMPARES:
        k.form(f"setp.{compare}.f64", [f"setp.{compare}.f64 p, ad, bd;"], "p", "pred")
        k.form(f"set.{compare}.u32.f64", [f"set.{compare}.u32.f64 w, ad, bd;"], "w", "b32")
    for test in TESTS:
        k.form(f"testp.{test}.f64", [f"testp.{test}.f64 p, ad;"], "p", "pred")
    for r in TO_WHOLE:
        k.form(f"cvt.{r}.f64.f64", [f"cvt.{r}.f64.f64 gd, ad;"], "gd", "f64")
    to_whole(k, "f64", "ad", False)
    return k


def narrow(name, kind, other):
    """f16 or bf16, single and packed."""
    k = Kernel(name)
    half = kind == "f16"
    for of, a, b, c, to, result in ((kind, "a16", "b16", "c16", "h", "b16"), (kind + "x2", "ah", "bh", "ch", "w", "b32")):
        for f in flags("ftz", "sat") if half else ("",):
            for op in ("add", "sub", "mul"):
                k.form(f"{op}.rn{f}.{of}", [f"{op}.rn{f}.{of} {to}, {a}, {b};"], to, result)
            k.form(f"fma.rn{f}.{of}", [f"fma.rn{f}.{of} {to}, {a}, {b}, {c};"], to, result)
        for f in (".relu", ".ftz.relu") if half else (".relu",):
            k.form(f"fma.rn{f}.{of}", [f"fma.rn{f}.{of} {to}, {a}, {b}, {c};"], to, result)
        extremes(k, of, a, b, to, result, ftz=half)
        for f in flags("ftz") if half else ("",):
            for op in ("abs", "neg"):
                k.form(f"{op}{f}.{of}", [f"{op}{f}.{of} {to}, {a};"], to, result)
            for compare in COMPARES:
                if of == kind:
                    k.form(f"setp.{compare}{f}.{of}", [f"setp.{compare}{f}.{of} p, {a}, {b};"], "p", "pred")
                else:
                    k.form(f"setp.{compare}{f}.{of}", [f"setp.{compare}{f}.{of} p|q, {a}, {b};", "selp.b32 w, 1, 0, p;", "@q add.u32 w, w, 2;"], "w", "b32")
                    k.form(f"set.{compare}{f}.{of}.{of}", [f"set.{compare}{f}.{of}.{of} w, {a}, {b};"], "w", "b32")
                    k.form(f"set.{compare}{f}.u32.{of}", [f"set.{compare}{f}.u32.{of} w, {a}, {b};"], "w", "b32")
    k.form(f"set.lt.u16.{kind}", [f"set.lt.u16.{kind} h, a16, b16;"], "h", "b16")
    k.form(f"set.ge.u32.{kind}", [f"set.ge.u32.{kind} w, a16, b16;"], "w", "b32")
    k.form(f"set.ne.{kind}.{kind}", [f"set.ne.{kind}.{kind} h, a16, b16;"], "h", "b16")
    k.form(f"cvt.f32.{kind}", [f"cvt.f32.{kind} fd, a16;"], "fd", "f32")
    k.form(f"cvt.f64.{kind}", [f"cvt.f64.{kind} gd, a16;"], "gd", "f64")
    if half:
        k.form("cvt.ftz.sat.f32.f16", ["cvt.ftz.sat.f32.f16 fd, a16;"], "fd", "f32")
        k.form("cvt.sat.f16.f16", ["cvt.sat.f16.f16 h, a16;"], "h", "b16")
    for r in TO_WHOLE:
        k.form(f"cvt.{r}.{kind}.{kind}", [f"cvt.{r}.{kind}.{kind} h, a16;"], "h", "b16")
    for r in ROUNDS:
        k.form(f"cvt.{r}.{other}.{kind}", [f"cvt.{r}.{other}.{kind} h, a16;"], "h", "b16")
    k.form(f"cvt.{other}.{kind}", [f"cvt.{other}.{kind} h, a16;"], "h", "b16")
    to_whole(k, kind, "a16", False)
    if half:
        for f in flags("relu"):
            for eight in ("e4m3x2", "e5m2x2"):
                k.form(f"cvt.rn.satfinite{f}.{eight}.f16x2", [f"cvt.rn.satfinite{f}.{eight}.f16x2 h, ah;"], "h", "b16")
                k.form(f"cvt.rn{f}.f16x2.{eight}", [f"cvt.rn{f}.f16x2.{eight} w, a16;"], "w", "b32")
                for at in range(2):  # all bytes
                    k.form(f"cvt.rn{f}.f16x2.{eight} {at}", ["cvt.u16.u32 h, t;", f"add.u16 x16, h, {at};", "mad.lo.u16 h, x16, 771, h;",
                                                            f"cvt.rn{f}.f16x2.{eight} w, h;"], "w", "b32")
    return k


def whole():
    """From whole numbers, and what is packed in words."""
    k = Kernel("whole")
    for kind in WHOLE:
        low = max(16, make.bits(kind))
        for r in ROUNDS:
            for to, result, width in (("f16", "h", "b16"), ("bf16", "h", "b16"), ("f32", "fd", "f32"), ("f64", "gd", "f64")):
                if to != "bf16" or make.bits(kind) > 8:
                    k.form(f"cvt.{r}.{to}.{kind}", [f"cvt.{r}.{to}.{kind} {result}, a{low};"], result, width)
        k.form(f"cvt.rn.sat.f32.{kind}", [f"cvt.rn.sat.f32.{kind} fd, a{low};"], "fd", "f32")
        k.form(f"cvt.rn.sat.f16.{kind}", [f"cvt.rn.sat.f16.{kind} h, a{low};"], "h", "b16")
    for op in ("min", "max"):
        k.form(f"{op}.relu.s32", [f"{op}.relu.s32 w, a32, b32;"], "w", "b32")
        k.form(f"{op}.relu.s16x2", [f"{op}.relu.s16x2 w, a32, b32;"], "w", "b32")
        for kind in ("u16x2", "s16x2"):
            k.form(f"{op}.{kind}", [f"{op}.{kind} w, ah, bh;"], "w", "b32")
    for kind in ("u16", "s16"):
        k.form(f"cvt.pack.sat.{kind}.s32", [f"cvt.pack.sat.{kind}.s32 w, a32, b32;"], "w", "b32")
    for kind in ("u8", "s8", "u4", "s4", "u2", "s2"):
        k.form(f"cvt.pack.sat.{kind}.s32.b32", [f"cvt.pack.sat.{kind}.s32.b32 w, a32, b32, c32;"], "w", "b32")
    kinds = [f"{d}32.{a}32.{b}32" for d in "us" for a in "us" for b in "us"]
    # Of scalar ones no part of c as the result, no .min and .max with c, no .sat of more than 32 bits: what ptxas 13.0 makes of them
    # is not what the ISA says.
    parts = [("", ""), (".b0", ".b3"), (".b2", ".h1"), (".h0", "")]
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for i, kind in enumerate(kinds):
            x, y = parts[i % 4]
            for sat in ("",) if (op, kind) == ("vadd", "u32.u32.u32") else ("", ".sat"):
                k.form(f"{op}.{kind}{sat} {x}{y}", [f"{op}.{kind}{sat} w, a32{x}, b32{y};"], "w", "b32")
                k.form(f"{op}.{kind}{sat}.add {x}{y}", [f"{op}.{kind}{sat}.add w, a32{x}, b32{y}, c32;"], "w", "b32")
    for op in ("vshl", "vshr"):
        for kind in ("u32.u32.u32", "s32.s32.u32", "u32.s32.u32", "s32.u32.u32"):
            for how in ("clamp", "wrap"):
                for sat in ("",) if op == "vshl" else ("", ".sat"):
                    k.form(f"{op}.{kind}{sat}.{how}", [f"{op}.{kind}{sat}.{how} w, a32, b32;"], "w", "b32")
    for kind in kinds:
        for scale in ("", ".shr7", ".shr15"):
            for sat in ("",) if scale and kind.endswith("u32.u32") else ("", ".sat"):
                k.form(f"vmad.{kind}{sat}{scale}", [f"vmad.{kind}{sat}{scale} w, a32.h0, b32.h1, c32;"], "w", "b32")
        k.form(f"vmad.{kind}.po", [f"vmad.{kind}.po w, a32.b0, b32.b1, c32;"], "w", "b32")
    for kind in ("u32.u32", "s32.u32", "u32.s32", "s32.s32"):
        for compare in ("eq", "ne", "lt", "le", "gt", "ge"):
            k.form(f"vset.{kind}.{compare}", [f"vset.{kind}.{compare} w, a32.b0, b32.b1;"], "w", "b32")
            k.form(f"vset.{kind}.{compare}.add", [f"vset.{kind}.{compare}.add w, a32, b32, c32;"], "w", "b32")
            for n in (2, 4):
                k.form(f"vset{n}.{kind}.{compare}", [f"vset{n}.{kind}.{compare} w, a32, b32, c32;"], "w", "b32")
                k.form(f"vset{n}.{kind}.{compare}.add", [f"vset{n}.{kind}.{compare}.add w, a32, b32, c32;"], "w", "b32")
    for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
        for n in (2, 4):
            for kind in kinds:
                for sat in ("", ".sat"):
                    k.form(f"{op}{n}.{kind}{sat}", [f"{op}{n}.{kind}{sat} w, a32, b32, c32;"], "w", "b32")
                k.form(f"{op}{n}.{kind}.add", [f"{op}{n}.{kind}.add w, a32, b32, c32;"], "w", "b32")
    for way in ("and", "or"):
        k.form(f"lop3.{way}.b32", ["setp.lt.u32 q, c32, 0x80000000;", f"lop3.{way}.b32 w|p, a32, b32, c32, 0x80, q;", "@p xor.b32 w, w, 0x5555;"], "w", "b32")
    for kind in ("s32", "s64"):
        low = make.bits(kind)
        k.form(f"div.{kind} by -1", [f"div.{kind} {make.RESULT[low]}, a{low}, -1;"], make.RESULT[low], f"b{low}")
        k.form(f"rem.{kind} by -1", [f"rem.{kind} {make.RESULT[low]}, a{low}, -1;"], make.RESULT[low], f"b{low}")
        k.form(f"div.{kind}", [f"or.b{low} y{low}, b{low}, 1;", f"div.{kind} {make.RESULT[low]}, a{low}, y{low};"], make.RESULT[low], f"b{low}")
        k.form(f"rem.{kind}", [f"or.b{low} y{low}, b{low}, 1;", f"rem.{kind} {make.RESULT[low]}, a{low}, y{low};"], make.RESULT[low], f"b{low}")
    for size in ("16", "8"):
        k.form(f"cvt.s{size} of a wider one", [f"cvt.s{size}.s64 h, a64;"], "h", "b16")
    k.form("mov.b128", [".reg .b128 wide;", "mov.b128 wide, {a64, b64};", "mov.b128 {x64, y64}, wide;", "sub.u64 d, x64, y64;"], "d", "b64")
    return k


def near():
    k = Kernel("near")
    for f in flags("ftz"):
        for op in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
            k.form(f"{op}.approx{f}.f32", [f"{op}.approx{f}.f32 fd, af;"], "fd", "f32")
        for op in ("sin", "cos", "ex2"):
            k.form(f"{op}.approx{f}.f32 8", ["mul.f32 fx, af, 0f41000000;", f"{op}.approx{f}.f32 fd, fx;"], "fd", "f32")
        for op in ("div.approx", "div.full"):
            k.form(f"{op}{f}.f32", [f"{op}{f}.f32 fd, af, bf;"], "fd", "f32")
    k.form("tanh.approx.f32", ["tanh.approx.f32 fd, af;"], "fd", "f32")
    for kind, f in (("f16", ""), ("bf16", ".ftz")):
        k.form(f"ex2.approx{f}.{kind}", [f"cvt.rn.{kind}.f32 x16, af;", f"ex2.approx{f}.{kind} h, x16;"], "h", "b16")
        k.form(f"tanh.approx.{kind}", [f"cvt.rn.{kind}.f32 x16, af;", f"tanh.approx.{kind} h, x16;"], "h", "b16")
    k.form("rcp.approx.ftz.f64", ["cvt.f64.f32 gx, af;", "rcp.approx.ftz.f64 gd, gx;"], "gd", "f64")
    k.form("rsqrt.approx.ftz.f64", ["cvt.f64.f32 gx, af;", "rsqrt.approx.ftz.f64 gd, gx;"], "gd", "f64")
    k.form("rsqrt.approx.f64", ["cvt.f64.f32 gx, af;", "rsqrt.approx.f64 gd, gx;"], "gd", "f64")
    return k


KERNELS = {"single": single, "tiny": tiny, "oob": oob, "double": double, "half": lambda: narrow("half", "f16", "bf16"), "brain": lambda: narrow("brain", "bf16", "f16"),
           "whole": whole, "near": near}


def main():
    what, names = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:] or sorted(KERNELS)
    if what not in ("write", "record"):
        sys.exit(__doc__)
    make.THREADS = THREADS
    for name in names:
        kernel = KERNELS[name]()
        if what == "write":
            with open(os.path.join(HERE, name + ".ptx"), "w") as file:
                file.write(kernel.module())
            continue
        words = make.run_on_gpu(name, kernel.forms)
        where = os.environ.get("RECORD_TO", HERE)
        with open(os.path.join(where, name + ".tsv"), "w") as file:
            for index, form in enumerate(kernel.forms):
                mine = words[index * THREADS:(index + 1) * THREADS]
                file.write(f"{form}\t{' '.join(f'{word:x}' for word in mine[::3]) if name == 'near' else f'{make.hashed(mine):016x}'}\n")
        if "RECORD_ALL" in os.environ:
            with open(os.path.join(where, name + ".bin"), "wb") as file:
                file.write(bytes(words))


if __name__ == "__main__":
    main()
