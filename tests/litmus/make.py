#!/usr/bin/env python3
"""Writes the litmus tests of tests.py as PTX, and counts what a GPU makes of them.

    make.py write            NAME.ptx and NAME.launch.json for each test, and cases.tsv; seen.tsv is left as it is
    make.py record [NAME...] runs them on a GPU (libcuda alone is needed), and writes seen.tsv: how often each outcome was seen

On the GPU every CTA, or pair of CTAs, is one run of the test, a thousand of them side by side, again and again, with other
delays each time and with a kernel beside them that keeps the memory busy.
"""

import collections
import ctypes
import json
import os
import random
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tests  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MEM_WORDS = 256
MEM = [1] * 16 + [2] * 16 + [0] * (MEM_WORDS - 32)


def ctas(test):
    return 2 if test["pair"] or test["cluster"] else 1


def block(test):
    if test["group"]:
        return 128
    return 32 if ctas(test) == 2 else 32 * len(test["roles"])


def prologue(test):
    parameters = [".param .u64 .ptr .global .align 16 out", ".param .u64 .ptr .global .align 128 mem", ".param .u32 delay0", ".param .u32 delay1"]
    if test["map"]:
        parameters.append(".param .align 64 .b8 map[128]")
    lines = [".version 8.6", ".target sm_90a", ".address_size 64", "",
             ".visible .entry litmus(" + ",\n                       ".join(parameters) + ")",
             f"    .reqntid {block(test)}, 1, 1" + ("\n    .reqnctapercluster 2, 1, 1" if test["cluster"] else ""), "{"]
    body = [".reg .pred %p<4>;", ".reg .b16 %h<2>;", ".reg .b32 %t<8>, %v<4>, %role, %delay0, %delay1;", ".reg .b64 %out, %mem, %map, %d<4>;",
            ".shared .align 128 .b8 buf[128];", ".shared .align 8 .b64 bar[2];",
            "mov.u32 %t0, %tid.x;"]
    if test["group"]:
        body[3:] = [".reg .b64 %out, %mem, %d<4>;", ".reg .f32 %f<4>;", ".shared .align 128 .b8 tile[2304];", body[-1]]
    else:
        body += ["and.b32 %t1, %t0, 31;", "setp.ne.u32 %p0, %t1, 0;", "@%p0 exit;", "shr.u32 %role, %t0, 5;"]
    body += ["ld.param.u64 %out, [out];", "ld.param.u64 %mem, [mem];", "ld.param.u32 %delay0, [delay0];", "ld.param.u32 %delay1, [delay1];",
            "mov.u32 %t0, %ctaid.x;"]
    if ctas(test) == 2:
        body += ["and.b32 %role, %t0, 1;", "shr.u32 %t0, %t0, 1;"]
    body += ["mul.wide.u32 %d0, %t0, 16;", "add.u64 %out, %out, %d0;", f"mul.wide.u32 %d0, %t0, {MEM_WORDS * 4};", "add.u64 %mem, %mem, %d0;"]
    return lines, body


def copy_map(test):
    """The map, which points to words that are 2, into memory of the test's own; the first role does it."""
    lines = ["add.u64 %map, %mem, 768;"]
    for i in range(16):
        lines += [f"ld.param.b64 %d1, [map+{8 * i}];", f"st.global.b64 [%map+{8 * i}], %d1;"]
    return lines


def start_group():
    """Zeros, by all threads, 16 bytes each; and the descriptors of the two operands."""
    return ["mov.u32 %t0, %tid.x;", "mov.u32 %t1, tile;", "shr.u32 %t3, %t1, 4;", "cvt.u64.u32 %d2, %t3;", f"or.b64 %d2, %d2, {8 << 16 | 16 << 32};",
            "add.u64 %d3, %d2, 128;", "mad.lo.u32 %t1, %t0, 16, %t1;", "setp.lt.u32 %p1, %t0, 16;", "setp.ne.u32 %p2, 0, 0;"] + \
        tests.tile(0) + ["fence.proxy.async;", "bar.sync 0;"]


def start(test):
    """Zeros, mbarriers, and what makes them visible: by the first role of each CTA."""
    lines = []
    if test["group"]:
        return start_group()
    if ctas(test) == 1 and len(test["roles"]) > 1:
        lines += ["setp.ne.u32 %p0, %role, 0;", "@%p0 bra START;"]
    lines += ["mov.b64 %d1, 0;"] + [f"st.shared.v2.b64 [buf+{16 * i}], {{%d1, %d1}};" for i in range(8)]
    lines += [f"mbarrier.init.shared::cta.b64 [bar+{8 * i}], {n};" for i, n in enumerate(test["bars"])]
    lines += ["fence.mbarrier_init.release.cluster;"] if test["bars"] else []
    lines += ["fence.proxy.async;"]
    if test["map"]:
        lines += ["add.u64 %map, %mem, 768;"]
        skip = ["setp.ne.u32 %p0, %role, 0;", "@%p0 bra MAPPED;"] if ctas(test) == 2 else []
        lines += skip + copy_map(test)[1:] + (["MAPPED:"] if skip else [])
    if ctas(test) == 1 and len(test["roles"]) > 1:
        lines += ["START:", "bar.sync 0;"]
    if test["cluster"]:
        lines += ["barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"]
    return lines


def body(test):
    tests.LABEL[0] = 0
    lines = start(test)
    for i in range(1, len(test["roles"])):
        lines += [f"setp.eq.u32 %p0, %role, {i};", f"@%p0 bra ROLE{i};"]
    for i, role in enumerate(test["roles"]):
        delay = [f"nanosleep.u32 %delay{i % 2};"] if len(test["roles"]) > 1 else []
        lines += ([f"ROLE{i}:"] if i else []) + delay + list(role)
        if test["cluster"]:
            lines += ["barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"]
        lines += ["ret;"]
    return lines


def ptx(test):
    head, lines = prologue(test)
    comment = f"// {test['name']}: {test['verdict']}" + (f"; {test['why']}." if test["why"] else ".")
    text = [comment] + head
    for line in lines + body(test):
        text.append(line if line.endswith(":") else "    " + line)
    return "\n".join(text + ["}", ""])


def launch(test):
    args = {"out": {"tensor": {"shape": [4], "dtype": "i32", "data": [-1] * 4}}, "mem": {"tensor": {"shape": [MEM_WORDS], "dtype": "i32", "data": MEM}},
            "delay0": 0, "delay1": 0}
    if test["map"]:
        args["map"] = {"descriptor": {"shape": [4], "block": [4], "dtype": "i32", "buffer": "other", "offset": 0}}
    made = {"kernel": "litmus", "grid": [ctas(test), 1, 1], "block": [block(test), 1, 1]}
    if test["cluster"]:
        made["cluster"] = [2, 1, 1]
    return json.dumps({**made, "args": args})


def write():
    rows = ["# test\tverdict\toutcomes that the model allows (behind |: because there is a race)\twhy"]
    for test in tests.TESTS:
        with open(os.path.join(HERE, test["name"] + ".ptx"), "w") as file:
            file.write(ptx(test))
        with open(os.path.join(HERE, test["name"] + ".launch.json"), "w") as file:
            file.write(launch(test) + "\n")
        rows.append("\t".join([test["name"], test["verdict"], test["outcomes"], test["why"]]))
    with open(os.path.join(HERE, "cases.tsv"), "w") as file:
        file.write("\n".join(rows) + "\n")
    print(f"{len(tests.TESTS)} tests, {sum(t['verdict'] == 'race' for t in tests.TESTS)} with a race")


# ---- On a GPU ----

STRESS = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry stress(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
LOOP:
    mad.lo.u32 %r4, %r4, 1664525, 1013904223;
    shr.u32 %r5, %r4, 8; and.b32 %r5, %r5, 1048575;
    mul.wide.u32 %d1, %r5, 4; add.u64 %d2, %d0, %d1;
    ld.volatile.global.u32 %r6, [%d2]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%d2], %r6;
    sub.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra LOOP;
    ret;
}
"""


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.streams = []
        for _ in range(2):
            stream = ctypes.c_void_p()
            self.call("cuStreamCreate", ctypes.byref(stream), 1)
            self.streams.append(stream)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: {status}")

    def memory(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def function(self, text, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(text.encode()))
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def launch(self, function, grid, threads, stream, *arguments):
        values = (ctypes.c_void_p * len(arguments))(*[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments])
        self.call("cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, 0, stream, values, None)

    def map_of(self, address):
        """A tensor map of 4 words at that address."""
        size, box, step = (ctypes.c_uint64 * 1)(4), (ctypes.c_uint32 * 1)(4), (ctypes.c_uint32 * 1)(1)
        strides = (ctypes.c_uint64 * 1)(16)
        raw = (ctypes.c_uint8 * 256)()
        at = (ctypes.addressof(raw) + 63) // 64 * 64 - ctypes.addressof(raw)
        made = (ctypes.c_uint8 * 128).from_buffer(raw, at)
        self.call("cuTensorMapEncodeTiled", made, 2, 1, ctypes.c_void_p(address), size, strides, box, step, 0, 0, 0, 0)
        return made


def outcomes_of(test, data, instances):
    words = max(1, len(test["outcomes"].split()[0].split(",")))
    counts = collections.Counter()
    for i in range(instances):
        counts[struct.unpack_from(f"<{words}i", data, 16 * i)] += 1
    return counts


def run(gpu, test, seconds, instances, buffers, stress):
    out, mem, fresh, other, busy = buffers
    function = gpu.function(ptx(test), "litmus")
    counts, host = collections.Counter(), (ctypes.c_uint8 * (16 * instances))()
    until, launches = time.time() + seconds, 0
    generator = random.Random(test["name"])
    arguments = [out, mem]
    extra = [gpu.map_of(other.value)] if test["map"] else []
    while time.time() < until:
        gpu.call("cuMemcpyDtoDAsync_v2", mem, fresh, ctypes.c_size_t(MEM_WORDS * 4 * instances), gpu.streams[0])
        gpu.call("cuMemsetD32Async", out, ctypes.c_uint32(0xFFFFFFFF), ctypes.c_size_t(4 * instances), gpu.streams[0])
        if launches % 2:
            gpu.launch(stress, 264, 128, gpu.streams[1], busy, ctypes.c_uint32(200))
        delays = [ctypes.c_uint32(generator.choice([0, 0, 20, 50, 100, 300, 1000])) for _ in range(2)]
        gpu.launch(function, instances * ctas(test), block(test), gpu.streams[0], *arguments, *delays, *extra)
        gpu.call("cuMemcpyDtoHAsync_v2", host, out, ctypes.c_size_t(16 * instances), gpu.streams[0])
        gpu.call("cuStreamSynchronize", gpu.streams[0])
        counts += outcomes_of(test, bytes(host), instances)
        launches += 1
    gpu.call("cuCtxSynchronize")
    return counts


def memory_of(gpu, test, instances, other):
    """What each run's memory begins with; a tensor map that is in it points to words that are 2."""
    one = struct.pack(f"<{MEM_WORDS}i", *MEM)
    if test["map"]:
        one = one[:768] + bytes(gpu.map_of(other.value)) + one[768 + 128:]
    return one * instances


def keep(path, rows):
    """Rows of this run take the place of older ones; the order is that of the tests."""
    old = {}
    if os.path.exists(path):
        with open(path) as file:
            old = {line.split("\t")[0]: line for line in file.read().splitlines() if not line.startswith("#")}
    old.update({row.split("\t")[0]: row for row in rows})
    with open(path, "w") as file:
        file.write("# test\truns on an H200\toutcome:how often ...\n")
        file.writelines(old[test["name"]] + "\n" for test in tests.TESTS if test["name"] in old)


def record(names, seconds=1.1, instances=1024):
    gpu = Gpu()
    size = MEM_WORDS * 4 * instances
    out, mem, fresh, other, busy = gpu.memory(16 * instances), gpu.memory(size), gpu.memory(size), gpu.memory(4096), gpu.memory(4 << 20)
    gpu.call("cuMemsetD32_v2", other, ctypes.c_uint32(2), ctypes.c_size_t(1024))
    stress = gpu.function(STRESS, "stress")
    rows, bad = [], 0
    for test in tests.TESTS:
        if names and test["name"] not in names:
            continue
        gpu.call("cuMemcpyHtoD_v2", fresh, memory_of(gpu, test, instances, other), ctypes.c_size_t(size))
        counts = run(gpu, test, seconds, instances, (out, mem, fresh, other, busy), stress)
        allowed = set(test["outcomes"].replace("|", " ").split())
        seen = {",".join(map(str, k)): n for k, n in sorted(counts.items())}
        wrong = [k for k in seen if k not in allowed]
        bad += bool(wrong)
        rows.append("\t".join([test["name"], str(sum(seen.values())), " ".join(f"{k}:{n}" for k, n in seen.items())]))
        print(rows[-1], "NOT ALLOWED: " + " ".join(wrong) if wrong else "", flush=True)
        keep(os.path.join(os.environ.get("RECORD_TO", HERE), "seen.tsv"), rows)
    print(f"{len(rows)} tests, {bad} with outcomes that are not allowed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write()
    elif sys.argv[1:2] == ["record"]:
        record(set(sys.argv[2:]))
    else:
        sys.exit(__doc__)
