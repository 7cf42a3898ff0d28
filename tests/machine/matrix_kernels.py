#!/usr/bin/env python3
"""Writes the kernels and launches of matrix_*.ptx and .json: MMAs of every family that sm_90a has (README.md).

Each kernel fills its registers or its shared memory from memory as they are, runs one instruction of the family (or a
few), and stores every register that it wrote: what is where in a fragment or in a swizzled tile is held to by that.
Numbers are small integers, or eighths, so that all partial sums are exact in every accumulator."""
import json
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent
HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1,
        "f32": 32, "s32": 32}


class File:
    def __init__(self, name):
        self.name, self.text, self.launches, self.seed = name, [HEAD], [], 1

    def random(self, dtype, count, kind="range", low=-3, high=3, **more):
        self.seed += 1
        return {"tensor": {"shape": [count], "dtype": dtype, "random": [kind, self.seed] + ([low, high] if kind == "range" else []), **more}}

    def elements(self, kind, count):
        """`count` elements of a matrix, or 32-bit words of elements of less than 8 bits."""
        if kind in ("f16", "bf16", "f64"):
            return self.random(kind, count)
        if kind in ("tf32", "f32"):
            return self.random("f32", count)
        if kind == "e4m3":  # 1 to 2 in eighths
            return self.random("u8", count, low=0x38, high=0x40)
        if kind == "e5m2":  # 1 to 2 in quarters
            return self.random("u8", count, low=0x3C, high=0x40)
        if kind in ("s8", "u8"):
            return self.random("u8", count, "bits")
        if kind == "s32":
            return self.random("i32", count, low=-1000, high=1000)
        return self.random("u32", count * BITS[kind] // 32, "bits")

    def launch(self, kernel, args, block=32, name=None, **more):
        self.launches.append({"name": name or kernel, "kernel": kernel, "grid": [1, 1, 1], "block": [block, 1, 1], "args": args, **more})

    def kernel(self, name, parameters, body):
        joined = ",\n".join(f"\t.param .{kind} p{i}" for i, kind in enumerate(parameters))
        self.text.append(f"\n.visible .entry {name}(\n{joined}\n)\n{{\n" + "\n".join("\t" + line if not line.endswith(":") else line for line in body) + "\n}\n")

    def write(self):
        (FOLDER / f"{self.name}.ptx").write_text("".join(self.text))
        (FOLDER / f"{self.name}.json").write_text("[\n" + ",\n".join("  " + json.dumps(x) for x in self.launches) + "\n]\n")


def output(words, dtype="u32"):
    return {"tensor": {"shape": [words], "dtype": dtype, "output": True}}


def pointers(count):
    """%rd1 and so on: where this thread's part of each of the arguments begins is up to the caller."""
    lines = [".reg .b64 %rd<32>;", ".reg .b32 %r<320>;", ".reg .pred %p<4>;", ".reg .b64 %w<64>;", "mov.u32 %r0, %tid.x;"]
    return lines + [f"ld.param.u64 %rd{i}, [p{i}];" for i in range(count)]


def load(base, registers, pointer, wide=False):
    """A thread's `registers` words, one behind the other, thread by thread."""
    size, prefix = (8, "%w") if wide else (4, "%r")
    lines = [f"mul.wide.u32 %rd30, %r0, {registers * size};", f"add.s64 %rd30, %rd30, %rd{pointer};"]
    return lines + [f"ld.global.b{size * 8} {prefix}{base + i}, [%rd30+{i * size}];" for i in range(registers)]


def store(base, registers, pointer, wide=False):
    size, prefix = (8, "%w") if wide else (4, "%r")
    lines = [f"mul.wide.u32 %rd30, %r0, {registers * size};", f"add.s64 %rd30, %rd30, %rd{pointer};"]
    return lines + [f"st.global.b{size * 8} [%rd30+{i * size}], {prefix}{base + i};" for i in range(registers)]


def vector(base, registers, wide=False):
    return "{" + ", ".join(f"{'%w' if wide else '%r'}{base + i}" for i in range(registers)) + "}"


# ---- mma.sync ----

def mma(file, shape, a, b, c, d, layout="row.col", words="", sparse=None, selectors=(0,)):
    m, n, k = (int(x) for x in shape[1:].replace("n", "m").replace("k", "m").split("m"))
    wide, quads = a == "f64", 4 if shape == "m8n8k4" and a == "f16" else 1
    word = 64 if wide else 32
    ka = k // 2 if sparse else k
    ra, rb = m * ka * BITS[a] * quads // 32 // word, n * k * BITS[b] * quads // 32 // word
    rc, rd = (m * n * BITS[x] * quads // 32 // word for x in (c, d))
    for selector in selectors:
        name = "_".join(x for x in ["mma", (sparse or "").replace("::", "_"), shape, layout.replace(".", "_"), d, a, b, c,
                                    words.replace(".", ""), f"sel{selector}" if sparse else ""] if x)
        body = pointers(5 if sparse else 4)
        body += load(10, ra, 0, wide) + load(20, rb, 1, wide) + load(30, rc, 2, wide)
        form = f"mma{'.' + sparse if sparse else ''}.sync.aligned.{shape}.{layout}{'.satfinite' if words == '.satfinite' else ''}.{d}.{a}.{b}.{c}{words if 'popc' in words else ''}"
        rest = ""
        if sparse:
            body += ["mul.wide.u32 %rd30, %r0, 4;", "add.s64 %rd30, %rd30, %rd4;", "ld.global.b32 %r5, [%rd30];"]
            rest = f", %r5, {selector}"
        body += [f"{form} {vector(40, rd, wide)}, {vector(10, ra, wide)}, {vector(20, rb, wide)}, {vector(30, rc, wide)}{rest};"]
        body += store(40, rd, 3, wide) + ["ret;"]
        file.kernel(name, ["u64"] * (5 if sparse else 4), body)
        huge = words == ".satfinite"
        args = [file.elements(a, m * ka * quads), file.elements(b, n * k * quads),
                file.random("i32", m * n, low=0x7fff0000, high=0x7fffffff) if huge else file.elements(c, m * n * quads),
                output(rd * 32, "u64" if wide else "u32")]
        if sparse:
            draw = random.Random(f"{name}{shape}")
            legal = [4, 14] if a == "tf32" else [4, 8, 9, 12, 13, 14]
            data = [sum(draw.choice(legal) << 4 * i for i in range(8)) for _ in range(32)]
            args.append({"tensor": {"shape": [32], "dtype": "u32", "data": "".join(x.to_bytes(4, "little").hex() for x in data)}})
        file.launch(name, args)


def mma_file():
    file = File("matrix_mma")
    for layout in ("row.col", "row.row", "col.col", "col.row"):
        mma(file, "m8n8k4", "f16", "f16", "f32", "f32", layout)
    mma(file, "m8n8k4", "f16", "f16", "f16", "f16")
    mma(file, "m8n8k4", "f16", "f16", "f16", "f32", "col.row")
    for k in (8, 16):
        mma(file, f"m16n8k{k}", "f16", "f16", "f32", "f32")
        mma(file, f"m16n8k{k}", "f16", "f16", "f16", "f16")
        mma(file, f"m16n8k{k}", "bf16", "bf16", "f32", "f32")
    for k in (4, 8):
        mma(file, f"m16n8k{k}", "tf32", "tf32", "f32", "f32")
    mma(file, "m8n8k4", "f64", "f64", "f64", "f64")
    for k in (4, 8, 16):
        mma(file, f"m16n8k{k}", "f64", "f64", "f64", "f64")
    mma(file, "m16n8k32", "e4m3", "e4m3", "f32", "f32")
    mma(file, "m16n8k32", "e4m3", "e5m2", "f32", "f32")
    mma(file, "m16n8k32", "e5m2", "e4m3", "f32", "f32")
    mma(file, "m8n8k16", "s8", "u8", "s32", "s32")
    mma(file, "m16n8k16", "u8", "s8", "s32", "s32")
    mma(file, "m16n8k32", "s8", "s8", "s32", "s32")
    mma(file, "m16n8k32", "u8", "u8", "s32", "s32", words=".satfinite")
    mma(file, "m8n8k32", "s4", "u4", "s32", "s32")
    mma(file, "m16n8k32", "u4", "s4", "s32", "s32")
    mma(file, "m16n8k64", "s4", "s4", "s32", "s32")
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for op in ("xor", "and"):
            mma(file, shape, "b1", "b1", "s32", "s32", words=f".{op}.popc")
    for sparse in ("sp", "sp::ordered_metadata"):
        full = sparse != "sp"
        mma(file, "m16n8k16", "f16", "f16", "f32", "f32", sparse=sparse, selectors=(0, 1, 2, 3) if full else (2,))
        mma(file, "m16n8k32", "f16", "f16", "f32", "f32", sparse=sparse, selectors=(0, 1) if full else (1,))
        mma(file, "m16n8k16", "tf32", "tf32", "f32", "f32", sparse=sparse, selectors=(0, 1) if full else (1,))
    mma(file, "m16n8k16", "bf16", "bf16", "f32", "f32", sparse="sp::ordered_metadata")
    mma(file, "m16n8k32", "f16", "f16", "f16", "f16", sparse="sp::ordered_metadata")
    mma(file, "m16n8k8", "tf32", "tf32", "f32", "f32", sparse="sp::ordered_metadata", selectors=(0, 3))
    mma(file, "m16n8k32", "s8", "u8", "s32", "s32", sparse="sp::ordered_metadata", selectors=(0, 1))
    mma(file, "m16n8k64", "s8", "s8", "s32", "s32", sparse="sp::ordered_metadata")
    mma(file, "m16n8k64", "u4", "s4", "s32", "s32", sparse="sp::ordered_metadata", selectors=(0, 1))
    mma(file, "m16n8k128", "s4", "s4", "s32", "s32", sparse="sp::ordered_metadata")
    mma(file, "m16n8k64", "e4m3", "e5m2", "f32", "f32", sparse="sp::ordered_metadata")
    file.write()


# ---- ldmatrix, stmatrix, movmatrix ----

def shared_rows(file, name, form, registers, stores):
    """Rows of 16 bytes whose places the lanes read from memory."""
    body = [".shared .align 128 .b8 rows[1024];"] + pointers(3)
    body += ["mov.u32 %r1, rows;", "mul.wide.u32 %rd30, %r0, 4;", "add.s64 %rd31, %rd30, %rd1;", "ld.global.b32 %r2, [%rd31];", "add.u32 %r2, %r2, %r1;",
             "shl.b32 %r3, %r0, 5;", "add.u32 %r3, %r3, %r1;", "mul.wide.u32 %rd30, %r0, 32;", "add.s64 %rd30, %rd30, %rd0;"]
    body += [line for i in range(0, 32, 4) for line in (f"ld.global.b32 %r4, [%rd30+{i}];", f"st.shared.b32 [%r3+{i}], %r4;")]
    body += ["bar.sync 0;"]
    if stores:
        body += [f"xor.b32 %r{10 + i}, %r0, {i * 0x01020304 + 0x11223344};" for i in range(registers)]
        body += [f"{form} [%r2], {vector(10, registers)};", "bar.sync 0;", "mul.wide.u32 %rd30, %r0, 32;", "add.s64 %rd30, %rd30, %rd2;"]
        body += [line for i in range(0, 32, 4) for line in (f"ld.shared.b32 %r4, [%r3+{i}];", f"st.global.b32 [%rd30+{i}], %r4;")]
    else:
        body += [f"{form} {vector(10, registers)}, [%r2];"] + store(10, registers, 2)
    file.kernel(name, ["u64"] * 3, body + ["ret;"])
    places = list(range(64))
    random.Random(name).shuffle(places)
    data = "".join((16 * x).to_bytes(4, "little").hex() for x in places[:32])
    file.launch(name, [file.random("u32", 256, "bits"), {"tensor": {"shape": [32], "dtype": "u32", "data": data}}, output(256 if stores else 32 * registers)])


def rows_file():
    file = File("matrix_rows")
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            shared_rows(file, f"ldmatrix_x{count}{trans.replace('.', '_')}", f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16", count, False)
            shared_rows(file, f"stmatrix_x{count}{trans.replace('.', '_')}", f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16", count, True)
    body = pointers(2) + load(10, 1, 0) + ["movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;"] + store(11, 1, 1) + ["ret;"]
    file.kernel("movmatrix", ["u64"] * 2, body)
    file.launch("movmatrix", [file.random("u32", 32, "bits"), output(32)])
    file.write()


# ---- wmma ----

def wmma(file, shape, a, b, c, d, layouts=("row", "col"), store_layout="row", form=None, registers=(8, 8, 8, 8), shared=False):
    m, n, k = (int(x) for x in shape[1:].replace("n", "m").replace("k", "m").split("m"))
    wide = a == "f64"
    pad = 32 if BITS[a] < 8 else 16
    strides = [(k if layouts[0] == "row" else m) + (128 if a == "b1" else pad), (n if layouts[1] == "row" else k) + (128 if a == "b1" else pad)]
    c_stride = n + 8
    d_stride = (n if store_layout == "row" else m) + 4
    lines = [m if layouts[0] == "row" else k, k if layouts[1] == "row" else n]
    name = f"wmma_{shape}_{layouts[0]}_{layouts[1]}_{d}_{a}_{b}_{c}{'_' + store_layout if store_layout != 'row' else ''}{'_shared' if shared else ''}"
    if form and "popc" in form:
        name += "_" + form.split(".")[2]
    if form and "satfinite" in form:
        name += "_satfinite"
    body = pointers(4)
    space, where = "global", ["%rd0", "%rd1", "%rd2", "%rd3"]
    if shared:
        size = lines[0] * strides[0] * BITS[a] // 8
        body.insert(0, f".shared .align 128 .b8 tile[{size}];")
        body += ["mov.u32 %r1, tile;", "mov.u32 %r2, %r0;", "copy:", "shl.b32 %r3, %r2, 2;", "cvt.u64.u32 %rd30, %r3;", "add.s64 %rd30, %rd30, %rd0;",
                 "ld.global.b32 %r4, [%rd30];", "add.u32 %r3, %r3, %r1;", "st.shared.b32 [%r3], %r4;", "add.u32 %r2, %r2, 32;",
                 f"setp.lt.u32 %p1, %r2, {size // 4};", "@%p1 bra copy;", "bar.sync 0;"]
        where[0] = "%r1"
    at = [10, 20, 30, 40]
    body += [f"wmma.load.a.sync.aligned.{layouts[0]}.{shape}.{'shared' if shared else space}.{a} {vector(at[0], registers[0], wide)}, [{where[0]}], {strides[0]};",
             f"wmma.load.b.sync.aligned.{layouts[1]}.{shape}.{space}.{b} {vector(at[1], registers[1], wide)}, [%rd1], {strides[1]};",
             f"wmma.load.c.sync.aligned.row.{shape}.{space}.{c} {vector(at[2], registers[2], wide)}, [%rd2], {c_stride};"]
    form = form or f"wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{d}.{a}.{b}.{c}"
    body += [f"{form} {vector(at[3], registers[3], wide)}, {vector(at[0], registers[0], wide)}, {vector(at[1], registers[1], wide)}, {vector(at[2], registers[2], wide)};",
             f"wmma.store.d.sync.aligned.{store_layout}.{shape}.{space}.{d} [%rd3], {vector(at[3], registers[3], wide)}, {d_stride};", "ret;"]
    file.kernel(name, ["u64"] * 4, body)
    dtype = {"f16": "f16", "f32": "f32", "s32": "i32", "f64": "f64"}
    d_size = (m if store_layout == "row" else n) * d_stride
    file.launch(name, [file.elements(a, lines[0] * strides[0]), file.elements(b, lines[1] * strides[1]), file.random(dtype[c], m * c_stride),
                       {"tensor": {"shape": [d_size], "dtype": dtype[d], "zero": True, "check": True}}])


def wmma_file():
    file = File("matrix_wmma")
    for shape in ("m16n16k16", "m8n32k16", "m32n8k16"):
        base = f"wmma.mma.sync.aligned.row.col.{shape}"
        wmma(file, shape, "f16", "f16", "f32", "f32", form=f"{base}.f32.f32")
        wmma(file, shape, "f16", "f16", "f16", "f16", form=f"{base}.f16.f16", registers=(8, 8, 4, 4))
        ra, rb = {"m16n16k16": (4, 4), "m8n32k16": (2, 8), "m32n8k16": (8, 2)}[shape]
        wmma(file, shape, "bf16", "bf16", "f32", "f32", registers=(ra, rb, 8, 8))
        wmma(file, shape, "s8", "s8", "s32", "s32", registers=(ra // 2, rb // 2, 8, 8))
        wmma(file, shape, "u8", "u8", "s32", "s32", registers=(ra // 2, rb // 2, 8, 8), layouts=("col", "row"))
    for layouts in (("row", "row"), ("col", "col"), ("col", "row")):
        wmma(file, "m16n16k16", "f16", "f16", "f32", "f32", layouts, form=f"wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.m16n16k16.f32.f32")
    wmma(file, "m16n16k16", "f16", "f16", "f32", "f32", store_layout="col", form="wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32")
    wmma(file, "m16n16k16", "f16", "f16", "f32", "f32", form="wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", shared=True)
    wmma(file, "m16n16k16", "f16", "f16", "f16", "f32", form="wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", registers=(8, 8, 4, 8))
    wmma(file, "m16n16k16", "s8", "s8", "s32", "s32", registers=(2, 2, 8, 8), form="wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite")
    wmma(file, "m16n16k8", "tf32", "tf32", "f32", "f32", registers=(4, 4, 8, 8))
    wmma(file, "m8n8k4", "f64", "f64", "f64", "f64", registers=(1, 1, 2, 2))
    wmma(file, "m8n8k32", "s4", "s4", "s32", "s32", registers=(1, 1, 2, 2))
    wmma(file, "m8n8k32", "u4", "u4", "s32", "s32", registers=(1, 1, 2, 2))
    for op in ("xor", "and"):
        wmma(file, "m8n8k128", "b1", "b1", "s32", "s32", registers=(1, 1, 2, 2), form=f"wmma.mma.{op}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32")
    file.write()


# ---- wgmma ----

SWIZZLE = {0: 0, 32: 3, 64: 2, 128: 1}


def tile(rows, k_bytes, bits, swizzle, trans, base=0):
    """Bytes of shared memory that a tile takes, and its descriptor without the address."""
    width = swizzle or 16  # bytes of a line of the atom
    if not trans:
        lbo, sbo = (8 * 16 * (rows // 8), 128) if not swizzle else (16, 8 * width)
        size = max(rows // 8 * sbo, (k_bytes // 16) * lbo if not swizzle else 0)
    else:
        k, per_line = k_bytes * 8 // bits, width * 8 // bits
        repeats = (rows + per_line - 1) // per_line
        if swizzle:
            lbo, sbo = 8 * width * (k // 8), 8 * width
            size = repeats * lbo
        else:
            lbo, sbo = 128 * repeats, 128
            size = lbo * (k // 8)
    bits = lbo >> 4 << 16 | sbo >> 4 << 32 | base << 49 | SWIZZLE[swizzle] << 62
    return size, bits - (bits >> 63 << 64)  # as JSON's integers go


def fill(body, words, pointer, symbol):
    """Copies `words` words of memory to shared memory, 128 threads together."""
    label = f"fill_{symbol}"
    body += [f"mov.u32 %r1, {symbol};", "mov.u32 %r2, %r0;", f"{label}:", "shl.b32 %r3, %r2, 2;", "cvt.u64.u32 %rd30, %r3;",
             f"add.s64 %rd30, %rd30, %rd{pointer};", "ld.global.b32 %r4, [%rd30];", "add.u32 %r3, %r3, %r1;", "st.shared.b32 [%r3], %r4;",
             "add.u32 %r2, %r2, 128;", f"setp.lt.u32 %p1, %r2, {words};", f"@%p1 bra {label};"]


def wgmma(file, n, a, b, d, swizzle=128, swizzle_a=None, trans=(0, 0), scales=(1, 1), scaled=1, registers=False, steps=1, groups=1, words="", sparse=False,
          selector=0, base=0, skew=0):
    """steps: so many of them along k, in the same accumulator. groups: so many accumulators, each in a group of its own."""
    swizzle_a = swizzle if swizzle_a is None else swizzle_a
    k_bytes = 32
    k = k_bytes * 8 // BITS[a] * (2 if sparse else 1)
    size_a, desc_a = tile(64, k_bytes * steps if swizzle_a else k_bytes, BITS[a], swizzle_a, trans[0], base)
    size_b, desc_b = tile(n, (k_bytes * (2 if sparse else 1)) * (steps if swizzle else 1), BITS[b], swizzle, trans[1], base)
    if not swizzle_a and steps > 1 or not swizzle and steps > 1:
        raise ValueError("steps along k are made within a swizzle atom")
    rd = n * BITS[d] // 64 if d == "f16" else n // 2
    ra = 4
    name = "_".join(str(x) for x in ["wgmma_sp" if sparse else "wgmma", f"n{n}k{k}", d, a, b, f"sw{swizzle}", f"a{swizzle_a}" if swizzle_a != swizzle else "",
                                     f"t{trans[0]}{trans[1]}" if any(trans) else "", "neg" if -1 in scales else "", "" if scaled else "zero",
                                     "ra" if registers else "", f"steps{steps}" if steps > 1 else "", f"groups{groups}" if groups > 1 else "",
                                     f"sel{selector}" if sparse else "", f"base{base}" if base else "", words.replace(".", "")] if x != "")
    body = [f".shared .align 1024 .b8 b_{name}[{size_b + skew}];"]
    if not registers:
        body.insert(0, f".shared .align 1024 .b8 a_{name}[{size_a + skew}];")
    body += pointers(7 if sparse else 6)
    if not registers:
        fill(body, (size_a + skew) // 4, 0, f"a_{name}")
        body += [f"add.u32 %r5, %r1, {skew};"] if skew else ["mov.u32 %r5, %r1;"]
    else:
        body += load(10, ra, 0)
    fill(body, (size_b + skew) // 4, 1, f"b_{name}")
    body += [f"add.u32 %r6, %r1, {skew};"] if skew else ["mov.u32 %r6, %r1;"]
    body += ["fence.proxy.async.shared::cta;", "bar.sync 0;"]
    # descriptors: %rd20 of a, %rd21 of b
    for register, address, pointer in ((20, 5, 4), (21, 6, 5)):
        if registers and register == 20:
            continue
        body += [f"and.b32 %r7, %r{address}, 262143;", "shr.u32 %r7, %r7, 4;", f"cvt.u64.u32 %rd{register}, %r7;", f"or.b64 %rd{register}, %rd{register}, %rd{pointer};"]
    if sparse:
        body += ["mul.wide.u32 %rd30, %r0, 4;", "add.s64 %rd30, %rd30, %rd6;", "ld.global.b32 %r8, [%rd30];"]
    for g in range(groups):
        body += load(20 + g * rd, rd, 2)
    body += [f"mov.u32 %r9, {scaled};", "setp.ne.u32 %p2, %r9, 0;", "wgmma.fence.sync.aligned;"]
    form = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.m64n{n}k{k}{'.satfinite' if words == '.satfinite' else ''}.{d}.{a}.{b}{words if 'popc' in words else ''}"
    integer = a in ("s8", "u8", "b1")
    half = a in ("f16", "bf16")
    for g in range(groups):
        for step in range(steps):
            if step:
                body += ([] if registers else ["add.s64 %rd20, %rd20, 2;"]) + [f"add.s64 %rd21, %rd21, {4 if sparse else 2};"]
            rest = [f"%r8, {selector}"] if sparse else []
            rest += ["%p2"] + ([] if integer else [str(scales[0]), str(scales[1])])
            if half:
                rest += [str(trans[1])] if registers else [str(trans[0]), str(trans[1])]
            body += [f"{form} {vector(20 + g * rd, rd)}, {vector(10, ra) if registers else '%rd20'}, %rd21, {', '.join(rest)};"]
        body += ["wgmma.commit_group.sync.aligned;"]
        if steps > 1 and g + 1 < groups:
            body += ([] if registers else [f"sub.s64 %rd20, %rd20, {2 * (steps - 1)};"]) + [f"sub.s64 %rd21, %rd21, {2 * (steps - 1)};"]
    for g in range(groups):
        body += [f"wgmma.wait_group.sync.aligned {groups - 1 - g};"]
        body += [f"add.s64 %rd29, %rd3, {g * rd * 4 * 128};"] + store(20 + g * rd, rd, 29)
    file.kernel(name, ["u64"] * (7 if sparse else 6), body + ["ret;"])
    count_a = 64 * k_bytes * 8 // BITS[a] if registers else (size_a + skew) * 8 // BITS[a]
    args = [file.elements(a, count_a), file.elements(b, (size_b + skew) * 8 // BITS[b]), file.elements(d, 64 * n), output(rd * 128 * groups), desc_a, desc_b]
    if sparse:
        draw = random.Random(name)
        legal = [4, 14] if a == "tf32" else [4, 8, 9, 12, 13, 14]
        data = [sum(draw.choice(legal) << 4 * i for i in range(8)) for _ in range(128)]
        args.append({"tensor": {"shape": [128], "dtype": "u32", "data": "".join(x.to_bytes(4, "little").hex() for x in data)}})
    file.launch(name, args, block=128)


def wgmma_file():
    file = File("matrix_wgmma")
    for swizzle in (0, 32, 64, 128):
        wgmma(file, 64, "f16", "f16", "f32", swizzle)
        wgmma(file, 64, "f16", "f16", "f32", swizzle, trans=(1, 1))
        wgmma(file, 32, "tf32", "tf32", "f32", swizzle)
        wgmma(file, 16, "s8", "u8", "s32", swizzle)
    wgmma(file, 128, "bf16", "bf16", "f32", 64, trans=(0, 1))
    wgmma(file, 128, "bf16", "bf16", "f32", 128, trans=(1, 0))
    wgmma(file, 8, "f16", "f16", "f16", 128)
    wgmma(file, 24, "f16", "f16", "f16", 32)
    wgmma(file, 96, "f16", "f16", "f32", 128, swizzle_a=64)
    wgmma(file, 256, "f16", "f16", "f32", 128)
    wgmma(file, 256, "bf16", "bf16", "f32", 128, trans=(0, 1))
    wgmma(file, 40, "bf16", "bf16", "f32", 0)
    wgmma(file, 64, "e4m3", "e4m3", "f32", 128)
    wgmma(file, 64, "e4m3", "e5m2", "f32", 64)
    wgmma(file, 32, "e5m2", "e4m3", "f16", 32)
    wgmma(file, 8, "u8", "u8", "s32", 128)
    wgmma(file, 48, "u8", "s8", "s32", 64)
    wgmma(file, 32, "s8", "s8", "s32", 128, words=".satfinite")
    wgmma(file, 32, "b1", "b1", "s32", 128, words=".and.popc")
    wgmma(file, 64, "f16", "f16", "f32", 128, scales=(-1, 1))
    wgmma(file, 64, "bf16", "bf16", "f32", 128, scales=(-1, -1))
    wgmma(file, 64, "f16", "f16", "f32", 128, scaled=0)
    wgmma(file, 64, "f16", "f16", "f32", 128, registers=True)
    wgmma(file, 64, "f16", "f16", "f32", 128, trans=(0, 1), registers=True)
    wgmma(file, 32, "tf32", "tf32", "f32", 64, registers=True)
    wgmma(file, 32, "e5m2", "e5m2", "f32", 64, registers=True)
    wgmma(file, 32, "s8", "s8", "s32", 64, registers=True)
    wgmma(file, 16, "b1", "b1", "s32", 32, registers=True, words=".and.popc")
    wgmma(file, 64, "f16", "f16", "f32", 128, steps=4)
    wgmma(file, 64, "f16", "f16", "f32", 64, steps=2)
    wgmma(file, 64, "tf32", "tf32", "f32", 128, steps=4)
    wgmma(file, 64, "f16", "f16", "f32", 128, steps=4, groups=2)
    wgmma(file, 64, "f16", "f16", "f32", 128, base=1, skew=128)
    wgmma(file, 64, "f16", "f16", "f32", 64, base=2, skew=256)
    for swizzle in (64, 128):
        wgmma(file, 64, "f16", "f16", "f32", swizzle, sparse=True)
    wgmma(file, 32, "f16", "f16", "f32", 128, sparse=True, selector=1)
    wgmma(file, 32, "f16", "f16", "f32", 0, sparse=True)
    wgmma(file, 32, "tf32", "tf32", "f32", 128, sparse=True)
    wgmma(file, 32, "tf32", "tf32", "f32", 128, sparse=True, selector=1)
    wgmma(file, 32, "s8", "s8", "s32", 128, sparse=True)
    wgmma(file, 32, "e4m3", "e5m2", "f32", 128, sparse=True)
    wgmma(file, 32, "bf16", "bf16", "f32", 128, sparse=True, registers=True)
    file.write()


if __name__ == "__main__":
    mma_file()
    rows_file()
    wmma_file()
    wgmma_file()
