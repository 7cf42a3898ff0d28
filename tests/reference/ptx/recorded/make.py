#!/usr/bin/env python3
"""Writes PTX that runs every instruction of a family on many operands, and records what a GPU makes of it.

    make.py write              integer.ptx, lanes.ptx, real.ptx: one kernel each, one form of an instruction after the other
    make.py record [FILE...]   runs them on a GPU (libcuda alone is needed), and writes FILE.tsv: a form, and a hash of the
                               results of all threads, in each line

Thread t of form i stores 8 bytes at out + (i * THREADS + t) * 8. Operands a, b and c are made in the kernel: of the first
threads numbers at the edges, of the others random ones. The interpreter runs the same kernels, and has to come to the
same hashes (recorded_test.c).
"""

import ctypes
import os
import sys

THREADS = 256
HERE = os.path.dirname(os.path.abspath(__file__))
EDGES = [0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**31, 2**31 - 1, 2**32 - 1, 2**32, 31, 32, 33, 63, 64, 2**15, 2**16 - 1, 0x80000000FFFFFFFF,
         0xFFFFFFFF7FFFFFFF, 7, 0xFF, 0x100, 0x8000000080000000, 0x00FF00FF00FF00FF, 5]
REAL_EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.4e38, -3.4e38, 1.2e-38, 1e-40, -1e-45, 65504.0, 7.9, 2147483648.0, -2147483648.0,
              4294967296.0, 9.3e18, 1e300, 1e-310, 0.1]

INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def bits(kind):
    return 1 if kind == "pred" else int("".join(c for c in kind if c.isdigit()).replace("162", "32")[:3] or 32)


class Kernel:
    def __init__(self, name, real=False):
        self.name, self.real, self.forms, self.text = name, real, [], []

    def form(self, name, lines, result, kind):
        """One form: `lines` compute `result`, which is of that kind, from a64, b64, c64 and what `take` makes of them."""
        index = len(self.forms)
        self.forms.append(name)
        out = ["{", "    .reg .pred p, q; .reg .b16 h, x16, y16, z16; .reg .b32 w, u, v, x32, y32, z32; .reg .b64 d, x64, y64, z64;",
               "    .reg .f32 fx, fy, fz, fd; .reg .f64 gx, gy, gz, gd; .reg .b64 o;"]
        out += ["    " + line for line in lines]
        if kind == "pred":
            out.append(f"    selp.b64 o, 1, 0, {result};")
        elif kind == "b16":
            out.append(f"    cvt.u64.u16 o, {result};")
        elif kind == "b32":
            out.append(f"    cvt.u64.u32 o, {result};")
        elif kind == "f32":
            out += [f"    mov.b32 u, {result};", "    cvt.u64.u32 o, u;"]
        elif kind == "f64":
            out.append(f"    mov.b64 o, {result};")
        else:
            out.append(f"    mov.b64 o, {result};")
        out += [f"    st.global.b64 [place + {index * THREADS * 8}], o;", "}"]
        self.text += out

    def module(self):
        edges = REAL_EDGES if self.real else EDGES
        if self.real:
            import struct
            table = ", ".join(str(struct.unpack("<Q", struct.pack("<d", value))[0]) for value in edges)
        else:
            table = ", ".join(str(value) for value in edges)
        head = f""".version 8.0
.target sm_90a
.address_size 64

.const .align 8 .u64 edges[{len(edges)}] = {{{table}}};

.visible .entry {self.name}(.param .u64 .ptr .global .align 8 out)
.reqntid {THREADS}
{{
    .reg .pred few; .reg .b32 t, i; .reg .b64 place, at, s, m, a64, b64, c64;
    .reg .b32 a32, b32, c32; .reg .b16 a16, b16, c16; .reg .f32 af, bf, cf; .reg .f64 ad, bd, cd;
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
    shr.u64 m, s, 31; xor.b64 {name}64, s, m;
    mad.lo.u32 i, t, {[1, 5, 7][number]}, {number};
    shr.u32 i, i, {[0, 1, 2][number]};
    rem.u32 i, i, {len(edges)};
    mul.wide.u32 at, i, 8;
    mov.u64 m, edges; add.u64 m, m, at;
    ld.const.u64 m, [m];
    setp.lt.u32 few, t, 96;
"""
            if self.real:  # exponents near 0, so that sums and products stay numbers
                head += f"""    and.b64 {name}64, {name}64, 0x801FFFFFFFFFFFFF; add.u64 {name}64, {name}64, 0x3FE0000000000000;
"""
            head += f"""    selp.b64 {name}64, m, {name}64, few;
    cvt.u32.u64 {name}32, {name}64; cvt.u16.u64 {name}16, {name}64;
"""
            if self.real:
                head += f"    mov.b64 {name}d, {name}64; cvt.rn.f32.f64 {name}f, {name}d;\n"
        return head + "\n".join("    " + line for line in self.text) + "\n    ret;\n}\n"


def reg(name, kind):
    return f"{name}{bits(kind)}"


RESULT = {16: "h", 32: "w", 64: "d"}


def plain(kernel, form, kind, operands, result=None, before=()):
    """form d, operands: of the width of `kind`, or as written."""
    result = result or kind
    width = bits(result) if result != "pred" else 1
    to = "p" if width == 1 else RESULT[width]
    names = [reg(name, kind) if name in "abc" else name for name in operands]
    kernel.form(form, list(before) + [f"{form} {to}, {', '.join(names)};"], to, "pred" if width == 1 else f"b{width}")


def integer():
    k = Kernel("integer")
    for kind in INTEGERS:
        low = bits(kind)
        for op in ("add", "sub", "min", "max"):
            plain(k, f"{op}.{kind}", kind, "ab")
        plain(k, f"mul.lo.{kind}", kind, "ab")
        plain(k, f"mul.hi.{kind}", kind, "ab")
        plain(k, f"mad.lo.{kind}", kind, "abc")
        plain(k, f"mad.hi.{kind}", kind, "abc")
        plain(k, f"sad.{kind}", kind, "abc")
        if kind in WIDE:
            plain(k, f"mul.wide.{kind}", kind, "ab", WIDE[kind])
            plain(k, f"mad.wide.{kind}", kind, ["a", "b", reg("c", WIDE[kind])], WIDE[kind])
        odd = [f"or.b{low} y{low}, b{low}, 2;", f"and.b{low} y{low}, y{low}, {2 ** (low - 1) - 1};"]
        plain(k, f"div.{kind}", kind, ["a", f"y{low}"], before=odd)
        plain(k, f"rem.{kind}", kind, ["a", f"y{low}"], before=odd)
        if kind[0] == "s":
            plain(k, f"abs.{kind}", kind, "a")
            plain(k, f"neg.{kind}", kind, "a")
        plain(k, f"shr.{kind}", kind, ["a", "b32"])
        k.form(f"shr.{kind} in range", ["and.b32 y32, b32, 63;", f"shr.{kind} {RESULT[low]}, a{low}, y32;"], RESULT[low], f"b{low}")
        for compare in ("eq", "ne", "lt", "le", "gt", "ge") + (("lo", "ls", "hi", "hs") if kind[0] == "u" else ()):
            plain(k, f"setp.{compare}.{kind}", kind, "ab", "pred")
            plain(k, f"set.{compare}.u32.{kind}", kind, "ab", "u32")
        for combine in ("and", "or", "xor"):
            k.form(f"setp.lt.{combine}.{kind} p|q", [f"setp.ne.b32 q, c32, 5;", f"setp.lt.{combine}.{kind} p|q, a{low}, b{low}, !q;",
                                                     "selp.b32 w, 1, 0, p;", "@q add.u32 w, w, 2;"], "w", "b32")
        plain(k, f"selp.{kind}", kind, ["a", "b", "p"], before=["setp.lt.s32 p, c32, 9;"])
        plain(k, f"slct.{kind}.s32", kind, ["a", "b", "c32"])
    for kind in ("s32",):
        plain(k, "add.sat.s32", kind, "ab")
        plain(k, "sub.sat.s32", kind, "ab")
        plain(k, "mad.hi.sat.s32", kind, "abc")
    for kind in ("u32", "s32"):
        for part in ("lo", "hi"):
            plain(k, f"mul24.{part}.{kind}", kind, "ab")
            plain(k, f"mad24.{part}.{kind}", kind, "abc")
        plain(k, f"bfind.{kind}", kind, "a", "u32")
        plain(k, f"bfind.shiftamt.{kind}", kind, "a", "u32")
        plain(k, f"bfe.{kind}", kind, ["a", "b32", "c32"])
        k.form(f"bfe.{kind} in range", ["and.b32 y32, c32, 31;", "and.b32 z32, b32, 31;", f"bfe.{kind} {RESULT[bits(kind)]}, a{bits(kind)}, y32, z32;"],
               RESULT[bits(kind)], f"b{bits(kind)}")
        plain(k, f"szext.clamp.{kind}", kind, ["a", "b32"])
        plain(k, f"szext.wrap.{kind}", kind, ["a", "b32"])
        for other in ("u32", "s32"):
            plain(k, f"dp4a.{kind}.{other}", kind, "abc")
            plain(k, f"dp2a.lo.{kind}.{other}", kind, "abc")
            plain(k, f"dp2a.hi.{kind}.{other}", kind, "abc")
    # Of 64 bits ptxas looks at all bits of the position and the length, and the ISA at eight: only those are tried.
    eight = ["and.b32 y32, b32, 255;", "and.b32 z32, c32, 255;"]
    for kind in ("u64", "s64"):
        plain(k, f"bfind.{kind}", kind, "a", "u32")
        plain(k, f"bfind.shiftamt.{kind}", kind, "a", "u32")
        plain(k, f"bfe.{kind}", kind, ["a", "y32", "z32"], before=eight)
        k.form(f"bfe.{kind} in range", ["and.b32 y32, c32, 31;", "and.b32 z32, b32, 31;", f"bfe.{kind} {RESULT[bits(kind)]}, a{bits(kind)}, y32, z32;"],
               RESULT[bits(kind)], f"b{bits(kind)}")
    for kind in ("u32", "u64"):
        low = bits(kind)
        to = RESULT[low]
        for name, lines in {
            f"add.cc.{kind} addc": [f"add.cc.{kind} x{low}, a{low}, b{low};", f"addc.{kind} {to}, c{low}, 0;"],
            f"addc.cc.{kind} addc": [f"add.cc.{kind} x{low}, a{low}, b{low};", f"addc.cc.{kind} x{low}, x{low}, c{low};", f"addc.{kind} {to}, 0, 0;"],
            f"sub.cc.{kind} subc": [f"sub.cc.{kind} x{low}, a{low}, b{low};", f"subc.{kind} {to}, c{low}, 3;"],
            f"subc.cc.{kind} subc": [f"sub.cc.{kind} x{low}, a{low}, b{low};", f"subc.cc.{kind} x{low}, x{low}, c{low};", f"subc.{kind} {to}, 0, 0;"],
            f"mad.lo.cc.{kind} madc.hi": [f"mad.lo.cc.{kind} x{low}, a{low}, b{low}, c{low};", f"madc.hi.{kind} {to}, a{low}, b{low}, 7;"],
            f"madc.lo.cc.{kind} addc": [f"add.cc.{kind} x{low}, a{low}, c{low};", f"madc.lo.cc.{kind} x{low}, a{low}, b{low}, x{low};",
                                        f"addc.{kind} {to}, x{low}, 0;"],
            f"mad.hi.cc.{kind} addc": [f"mad.hi.cc.{kind} x{low}, a{low}, b{low}, c{low};", f"addc.{kind} {to}, x{low}, 0;"],
        }.items():
            k.form(name, lines, to, f"b{low}")
    for kind in ("b16", "b32", "b64"):
        low = bits(kind)
        for op in ("and", "or", "xor"):
            plain(k, f"{op}.{kind}", kind, "ab")
        plain(k, f"not.{kind}", kind, "a")
        plain(k, f"cnot.{kind}", kind, "a")
        plain(k, f"shl.{kind}", kind, ["a", "b32"])
        k.form(f"shl.{kind} in range", ["and.b32 y32, b32, 63;", f"shl.{kind} {RESULT[low]}, a{low}, y32;"], RESULT[low], f"b{low}")
        plain(k, f"shr.{kind}", kind, ["a", "b32"])
        k.form(f"shr.{kind} in range", ["and.b32 y32, b32, 63;", f"shr.{kind} {RESULT[low]}, a{low}, y32;"], RESULT[low], f"b{low}")
        plain(k, f"setp.eq.{kind}", kind, "ab", "pred")
        plain(k, f"selp.{kind}", kind, ["a", "b", "p"], before=["setp.lt.s32 p, c32, 9;"])
    for kind in ("b32", "b64"):
        low = bits(kind)
        plain(k, f"popc.{kind}", kind, "a", "u32")
        plain(k, f"clz.{kind}", kind, "a", "u32")
        plain(k, f"brev.{kind}", kind, "a")
        plain(k, f"bfi.{kind}", kind, ["a", "b", "z32", "y32"], before=eight)
        k.form(f"bfi.{kind} in range", ["and.b32 y32, c32, 31;", "and.b32 z32, b32, 31;", f"bfi.{kind} {RESULT[low]}, a{low}, b{low}, y32, z32;"],
               RESULT[low], kind)
    for table in (0x00, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1B, 0x55):
        k.form(f"lop3.b32 {table}", [f"lop3.b32 w, a32, b32, c32, {table};"], "w", "b32")
    for way in ("l", "r"):
        for how in ("clamp", "wrap"):
            plain(k, f"shf.{way}.{how}.b32", "b32", "abc")
    plain(k, "prmt.b32", "b32", "abc")
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        plain(k, f"prmt.b32.{mode}", "b32", "abc")
    plain(k, "bmsk.clamp.b32", "b32", "ab")
    plain(k, "bmsk.wrap.b32", "b32", "ab")
    k.form("fns.b32", ["and.b32 y32, b32, 31;", "and.b32 z32, c32, 15; sub.s32 z32, z32, 7;", "fns.b32 w, a32, y32, z32;"], "w", "b32")
    k.form("mov.b64 {}", ["mov.b64 d, {a32, b32};"], "d", "b64")
    k.form("mov.b64 {} apart", ["mov.b64 {u, v}, a64;", "xor.b32 w, u, v;"], "w", "b32")
    k.form("mov.b32 {}", ["mov.b32 w, {a16, b16};"], "w", "b32")
    k.form("mov.b64 {,,,}", ["mov.b64 d, {a16, b16, c16, a16};"], "d", "b64")
    narrow = ("u8", "s8") + tuple(INTEGERS)
    hold = lambda kind: max(16, bits(kind))
    for to in narrow:
        for of in narrow:
            fits = (to[0] == of[0] and bits(to) >= bits(of)) or (to[0] == "s" and of[0] == "u" and bits(to) > bits(of))
            for sat in ("",) if fits else ("", ".sat"):
                form = f"cvt{sat}.{to}.{of}"
                result = RESULT[hold(to)]
                k.form(form, [f"{form} {result}, a{hold(of)};"], result, f"b{hold(to)}")
    for kind in ("u16x2", "s16x2"):
        for op in ("add", "min", "max"):
            k.form(f"{op}.{kind}", [f"{op}.{kind} w, a32, b32;"], "w", "b32")
    return k


def lanes():
    k = Kernel("lanes")
    full = "0xffffffff"
    for mode in ("up", "down", "bfly", "idx"):
        for clamp in ("0x1f", "0", "0x1807", "0x1c1f", "0x0f0f"):
            k.form(f"shfl.sync.{mode}.b32 {clamp}", [f"and.b32 y32, c32, 31;", f"shfl.sync.{mode}.b32 w|p, a32, y32, {clamp}, {full};",
                                                     "@!p xor.b32 w, w, 0x55;"], "w", "b32")
        k.form(f"shfl.sync.{mode}.b32 3", [f"shfl.sync.{mode}.b32 w, a32, 3, 0x1f, {full};"], "w", "b32")
    for what in ("all", "any", "uni"):
        k.form(f"vote.sync.{what}.pred", ["setp.lt.u32 q, a32, 0xf0000000;", f"vote.sync.{what}.pred p, q, {full};"], "p", "pred")
        k.form(f"vote.sync.{what}.pred !", ["setp.gt.u64 q, a64, 0;", f"vote.sync.{what}.pred p, !q, {full};"], "p", "pred")
    k.form("vote.sync.ballot.b32", ["setp.lt.u32 q, a32, b32;", f"vote.sync.ballot.b32 w, q, {full};"], "w", "b32")
    k.form("match.any.sync.b32", ["and.b32 y32, a32, 3;", f"match.any.sync.b32 w, y32, {full};"], "w", "b32")
    k.form("match.any.sync.b64", ["and.b64 y64, a64, 3;", f"match.any.sync.b64 w, y64, {full};"], "w", "b32")
    k.form("match.all.sync.b32", ["and.b32 y32, t, 32;", f"match.all.sync.b32 w|p, y32, {full};", "@p xor.b32 w, w, 9;"], "w", "b32")
    k.form("match.all.sync.b32 different", [f"match.all.sync.b32 w|p, a32, {full};", "@p xor.b32 w, w, 9;"], "w", "b32")
    for op in ("add", "min", "max"):
        for kind in ("u32", "s32"):
            k.form(f"redux.sync.{op}.{kind}", [f"redux.sync.{op}.{kind} w, a32, {full};"], "w", "b32")
    for op in ("and", "or", "xor"):
        k.form(f"redux.sync.{op}.b32", [f"redux.sync.{op}.b32 w, a32, {full};"], "w", "b32")
    k.form("activemask.b32", ["activemask.b32 w;"], "w", "b32")
    for special in ("laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "tid.y", "ntid.x", "ctaid.x", "nctaid.x",
                    "cluster_ctarank", "cluster_nctarank", "cluster_ctaid.x", "clusterid.x", "nclusterid.x", "is_explicit_cluster"):
        if special == "is_explicit_cluster":
            k.form("%is_explicit_cluster", ["mov.pred p, %is_explicit_cluster;"], "p", "pred")
        else:
            k.form(f"%{special}", [f"mov.u32 w, %{special};"], "w", "b32")
    k.form("shfl among some", ["and.b32 y32, t, 1;", "setp.eq.u32 q, y32, 0;", "mov.u32 w, 77;",
                               "@q shfl.sync.idx.b32 w, a32, 30, 0x1f, 0x55555555;"], "w", "b32")
    k.form("redux among some", ["and.b32 y32, t, 3;", "setp.ne.u32 q, y32, 0;", "mov.u32 w, 77;", "@q redux.sync.add.s32 w, a32, 0xeeeeeeee;"], "w", "b32")
    return k


def real():
    """f32 and f64, rounded to the nearest: what the interpreter has of real numbers."""
    k = Kernel("real", real=True)
    for kind, a, to in (("f32", "f", "fd"), ("f64", "d", "gd")):
        for round_ in ("rn",):
            for op in ("add", "sub", "mul"):
                k.form(f"{op}.{round_}.{kind}", [f"{op}.{round_}.{kind} {to}, a{a}, b{a};"], to, kind)
            k.form(f"fma.{round_}.{kind}", [f"fma.{round_}.{kind} {to}, a{a}, b{a}, c{a};"], to, kind)
            for op in ("div",):
                k.form(f"{op}.{round_}.{kind}", [f"{op}.{round_}.{kind} {to}, a{a}, b{a};"], to, kind)
            for op in ("rcp", "sqrt"):
                k.form(f"{op}.{round_}.{kind}", [f"{op}.{round_}.{kind} {to}, a{a};"], to, kind)
        for op in ("min", "max"):
            k.form(f"{op}.{kind}", [f"{op}.{kind} {to}, a{a}, b{a};"], to, kind)
        for op in ("abs", "neg"):
            k.form(f"{op}.{kind}", [f"{op}.{kind} {to}, a{a};"], to, kind)
        k.form(f"copysign.{kind}", [f"copysign.{kind} {to}, a{a}, b{a};"], to, kind)
        for compare in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            k.form(f"setp.{compare}.{kind}", [f"setp.{compare}.{kind} p, a{a}, b{a};"], "p", "pred")
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            k.form(f"testp.{test}.{kind}", [f"testp.{test}.{kind} p, a{a};"], "p", "pred")
        for round_ in ("rni", "rzi", "rmi", "rpi"):
            for whole in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
                low = max(16, bits(whole))
                k.form(f"cvt.{round_}.{whole}.{kind}", [f"cvt.{round_}.{whole}.{kind} {RESULT[low]}, a{a};"], RESULT[low], f"b{low}")
            k.form(f"cvt.{round_}.{kind}.{kind}", [f"cvt.{round_}.{kind}.{kind} {to}, a{a};"], to, kind)
        for round_ in ("rn",):
            for whole in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
                low = max(16, bits(whole))
                k.form(f"cvt.{round_}.{kind}.{whole}", [f"cvt.{round_}.{kind}.{whole} {to}, a{low};"], to, kind)
    for round_ in ("rn",):
        k.form(f"cvt.{round_}.f32.f64", [f"cvt.{round_}.f32.f64 fd, ad;"], "fd", "f32")
        k.form(f"cvt.{round_}.ftz.f32.f64", [f"cvt.{round_}.ftz.f32.f64 fd, ad;"], "fd", "f32")
        for op in ("add", "mul"):
            k.form(f"{op}.{round_}.ftz.f32", [f"{op}.{round_}.ftz.f32 fd, af, bf;"], "fd", "f32")
            k.form(f"{op}.{round_}.sat.f32", [f"{op}.{round_}.sat.f32 fd, af, bf;"], "fd", "f32")
        k.form(f"fma.{round_}.ftz.f32", [f"fma.{round_}.ftz.f32 fd, af, bf, cf;"], "fd", "f32")
    k.form("cvt.f64.f32", ["cvt.f64.f32 gd, af;"], "gd", "f64")
    k.form("cvt.sat.f32.f32", ["cvt.sat.f32.f32 fd, af;"], "fd", "f32")
    return k


KERNELS = {"integer": integer, "lanes": lanes, "real": real}


def hashed(values):
    state = 0xCBF29CE484222325
    for value in values:
        for byte in value.to_bytes(8, "little"):
            state = (state ^ byte) * 0x100000001B3 & 2**64 - 1
    return state


def run_on_gpu(name, forms):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(function, *arguments):
        status = getattr(cuda, function)(*arguments)
        if status:
            sys.exit(f"{function}: error {status}")

    device, context, module, kernel, memory = (ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64())
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    with open(os.path.join(HERE, name + ".ptx"), "rb") as file:
        call("cuModuleLoadData", ctypes.byref(module), file.read() + b"\0")
    call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
    size = len(forms) * THREADS * 8
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(size))
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(memory), ctypes.c_void_p))
    call("cuLaunchKernel", kernel, 1, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")
    words = (ctypes.c_uint64 * (len(forms) * THREADS))()
    call("cuMemcpyDtoH_v2", words, memory, ctypes.c_size_t(size))
    return words


def main():
    what, names = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:] or sorted(KERNELS)
    if what not in ("write", "record"):
        sys.exit(__doc__)
    for name in names:
        kernel = KERNELS[name]()
        if what == "write":
            with open(os.path.join(HERE, name + ".ptx"), "w") as file:
                file.write(kernel.module())
            continue
        words = run_on_gpu(name, kernel.forms)
        where = os.environ.get("RECORD_TO", HERE)
        with open(os.path.join(where, name + ".tsv"), "w") as file:
            for index, form in enumerate(kernel.forms):
                file.write(f"{form}\t{hashed(words[index * THREADS:(index + 1) * THREADS]):016x}\n")
        with open(os.path.join(where, name + ".bin"), "wb") as file:
            file.write(bytes(words))


if __name__ == "__main__":
    main()
