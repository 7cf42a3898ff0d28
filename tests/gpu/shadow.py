#!/usr/bin/env python3
"""Kernels that check themselves (`weir instrument --mode shadow`) on a GPU, beside the plain ones: how long they take, whether they
compute the same, and what they report. Nothing is needed but Python, the driver, ptxas, and src/runtime/shadow/gpu_shadow.c as a library.

    shadow.py --library LIBRARY --folder FOLDER [--rounds N] [--layout compact|gsan] [--keep FOLDER] NAME.launch.json...

FOLDER has plain/NAME.ptx, compact/NAME.ptx and gsan/NAME.ptx; NAME@SIZE.launch.json is a launch of NAME. A line of JSON each.
scripts/gpu/shadow makes such a folder, and a table of what this prints."""
import argparse
import concurrent.futures
import ctypes
import json
import pathlib
import statistics
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import device  # noqa: E402
import record  # noqa: E402

REPORTS = 4096
STATE = 192 + 16 * 104 + 48
LAUNCH = struct.Struct("<20I7Q")
REPORT = struct.Struct("<QIIIIIBBBBBBH24x")
TROUBLE = ["epochs over", "reports full", "cell busy", "map unknown", "flags lost"]


class Shape(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("cluster", ctypes.c_uint32 * 3), ("resident", ctypes.c_uint32),
                ("maps", ctypes.c_void_p), ("map_count", ctypes.c_uint32), ("dependent", ctypes.c_bool), ("about", ctypes.c_void_p), ("beside", ctypes.c_void_p)]


class Options(ctypes.Structure):
    _fields_ = [("seed_layout", ctypes.c_bool), ("range", ctypes.c_uint64), ("row_bytes", ctypes.c_uint64), ("over", ctypes.c_void_p)]


class ShadowDevice(device.Device):
    """Memory comes from the range that has cells."""

    def __init__(self, library, seed):
        super().__init__()
        self.lib = ctypes.CDLL(library)
        resolver = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
        self.resolve = resolver(lambda name: ctypes.cast(getattr(self.cuda, name.decode()), ctypes.c_void_p).value)
        self.lib.gpu_shadow_open.restype = ctypes.c_void_p
        problem = ctypes.c_char_p()
        self.shadow = ctypes.c_void_p(self.lib.gpu_shadow_open(self.resolve, 0, ctypes.byref(Options(seed, 0, 0, None)), ctypes.byref(problem)))
        if not self.shadow:
            raise RuntimeError(problem.value.decode())
        count = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(count), 16, 0)
        self.multiprocessors = count.value

    def room(self, size):
        address = ctypes.c_uint64()
        status = self.lib.gpu_shadow_allocate(self.shadow, ctypes.c_uint64(max(size, 256)), ctypes.byref(address))
        if status:
            raise RuntimeError(f"gpu_shadow_allocate: {status}")
        self.blocks.append((address.value, max(size, 256)))
        return address.value

    def free_all(self):
        for address, _ in self.blocks:
            self.lib.gpu_shadow_release(self.shadow, ctypes.c_uint64(address))
        self.blocks = []

    def close(self):
        self.lib.gpu_shadow_close(self.shadow)


def shadow_map(index, descriptor, address):
    """A ShadowMap of src/trace/shadow.h."""
    shape, block, size = descriptor["shape"], descriptor["block"], record.size_of(descriptor["dtype"])
    strides = [s * size for s in descriptor["strides"]]
    rank, pad = len(shape), [0] * (5 - len(shape))
    return struct.pack("<4IQ10I5Q", index + 1, rank, size, 0, address, *reversed(shape), *pad, *reversed(block), *pad, *reversed(strides), *pad)


class Checked:
    """Launches of an instrumented kernel."""

    def __init__(self, gpu, launch, module):
        self.gpu, self.launch = gpu, launch
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        gpu.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, b"weir_shadow")
        self.mark = gpu.read(address.value, 16)
        words = launch.words
        maps = b""
        for index, value in enumerate(words["args"]):
            if isinstance(value, dict) and "descriptor" in value:
                maps += shadow_map(index, value["descriptor"], launch.memory.buffers[value["descriptor"].get("buffer", str(index))][0])
        self.maps = ctypes.create_string_buffer(maps, len(maps) + 8)
        threads = words["block"][0] * words["block"][1] * words["block"][2]
        resident = gpu.occupancy(launch.function, threads, words.get("shared", 0)) * gpu.multiprocessors
        self.shape = Shape((ctypes.c_uint32 * 3)(*words["grid"]), (ctypes.c_uint32 * 3)(*words["block"]),
                           (ctypes.c_uint32 * 3)(*words.get("cluster", [1, 1, 1])), resident, ctypes.addressof(self.maps), len(maps) // 104, False, None, None)
        self.block = (ctypes.c_uint8 * 256)()
        self.at = (ctypes.addressof(self.block) + 127) & ~127
        self.result = ctypes.create_string_buffer(STATE + 8 + 64 * REPORTS)

    def prepare(self):
        problem = ctypes.c_char_p()
        self.gpu.lib.gpu_shadow_prepare.restype = ctypes.c_bool
        if not self.gpu.lib.gpu_shadow_prepare(self.gpu.shadow, self.mark, ctypes.byref(self.shape), ctypes.c_void_p(self.at), ctypes.byref(problem)):
            raise RuntimeError(problem.value.decode())

    def run(self, stream):
        pointers = [*self.launch.pointers, self.at]
        config = (ctypes.c_uint8 * 56)()
        words, launch = self.launch.words, self.launch
        struct.pack_into("<7I4xQQI4x", config, 0, *words["grid"], *words["block"], words.get("shared", 0), stream.value or 0,
                         launch.attributes if launch.attribute_count else 0, launch.attribute_count)
        self.gpu.call("cuLaunchKernelEx", config, launch.function, (ctypes.c_void_p * len(pointers))(*pointers), None)
        self.gpu.lib.gpu_shadow_made(self.gpu.shadow, stream)

    def collect(self, stream):
        status = self.gpu.lib.gpu_shadow_collect(self.gpu.shadow, stream, self.result)
        if status:
            raise RuntimeError(f"gpu_shadow_collect: {status}")
        trouble, _, asked, outside_site, outside, _, races = struct.unpack_from("<IIIIQQQ", self.result.raw, 128)
        (count,) = struct.unpack_from("<I", self.result.raw, STATE + 64 * REPORTS)
        names = ("address", "mask", "site", "cta", "earlier_site", "earlier", "kind", "scope", "earlier_kind", "earlier_scope", "in_flight", "order", "written")
        reports = [dict(zip(names, REPORT.unpack_from(self.result.raw, STATE + 64 * i))) for i in range(min(count, 8))]
        slots, stride, rows, threads, shift, tag = struct.unpack_from("<6I", self.result.raw, 72)
        return {"races": races, "reported": asked, "outside": outside, "outside_site": outside_site,
                "trouble": [name for i, name in enumerate(TROUBLE) if trouble >> i & 1], "reports": reports, "slots": slots, "rows": rows, "tag": tag}


    def write(self, path, layout):
        """What the last launch has reported, as a recording (src/trace/file.h)."""
        words = self.launch.words
        (count,) = struct.unpack_from("<I", self.result.raw, STATE + 64 * REPORTS)
        options = 3 | (4 if layout == "gsan" else 0)
        head = LAUNCH.pack(2, 0, *words["grid"], *words["block"], *words.get("cluster", [1, 1, 1]), words.get("shared", 0), 1, options, 64, 1, *[0] * 11)
        names = words["kernel"].encode() + b"\0" + self.gpu.label.encode() + b"\0"
        memory = b"".join(struct.pack("<QQ", address, max(size, 1)) for address, size, _ in self.launch.memory.buffers.values())
        with open(path, "wb") as file:
            file.write(b"weirrec1")
            for kind, data in ((1, head + names), (2, self.launch.ptx.encode()), (3, self.launch.parameters), (4, memory),
                               (8, self.result.raw[:STATE + 64 * count]), (0, b"")):
                file.write(struct.pack("<IIQ", kind, 0, len(data)) + data + bytes(-len(data) % 8))


def times(gpu, stream, rounds, before, launch):
    """Milliseconds of each launch but the first two."""
    events = [ctypes.c_void_p() for _ in range(2)]
    for event in events:
        gpu.call("cuEventCreate", ctypes.byref(event), 0)
    found = []
    for _ in range(rounds + 2):
        before()
        gpu.call("cuEventRecord", events[0], stream)
        launch()
        gpu.call("cuEventRecord", events[1], stream)
        gpu.call("cuStreamSynchronize", stream)
        elapsed = ctypes.c_float()
        gpu.call("cuEventElapsedTime", ctypes.byref(elapsed), events[0], events[1])
        found.append(elapsed.value)
    return found[2:]


def name_of(path):
    """The kernel's, of a launch."""
    return path.name.split("@")[0].split(".")[0]


def assembled(ptx):
    """A cubin beside it, and what ptxas says of it, or why there is none."""
    try:
        return device.assembled(ptx, ptx.with_suffix(".cubin"))
    except RuntimeError as error:
        return error


def assemble(folder, layout, launches):
    """All kernels of the launches, plain and checked, several at a time: by path."""
    paths = sorted({folder / build / f"{name_of(path)}.ptx" for path in launches for build in ("plain", layout)})
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return dict(zip(paths, pool.map(assembled, paths)))


def measure(gpu, made, folder, layout, path, rounds, keep):
    name = name_of(path)
    words, stream = json.loads(path.read_text()), gpu.stream(0)
    plain = (folder / "plain" / f"{name}.ptx").read_text()
    line = {"name": path.name.removesuffix(".launch.json"), "layout": layout, "expect": words.pop("expect", None)}
    try:
        for build in ("plain", layout):
            if isinstance(made[folder / build / f"{name}.ptx"], RuntimeError):
                raise made[folder / build / f"{name}.ptx"]
        line["plain"] = made[folder / "plain" / f"{name}.ptx"][1]
        seconds, line["checked"] = made[folder / layout / f"{name}.ptx"]
        line["assembled_s"] = round(seconds, 2)
        module = gpu.module((folder / "plain" / f"{name}.cubin").read_bytes())
        memory = device.Memory(gpu)
        launch = device.Launch(gpu, gpu.function(module, words["kernel"]), plain, words, memory)
        line["plain_ms"] = statistics.median(times(gpu, stream, rounds, lambda: memory.reset(stream), lambda: launch.run(stream)))
        expected = memory.outputs()
        image = gpu.module((folder / layout / f"{name}.cubin").read_bytes())
        again = device.Launch(gpu, gpu.function(image, words["kernel"]), plain, words, memory)
        checked = Checked(gpu, again, image)

        def before():
            memory.reset(stream)
            checked.prepare()

        line["checked_ms"] = statistics.median(times(gpu, stream, rounds, before, lambda: checked.run(stream)))
        line["ratio"] = round(line["checked_ms"] / line["plain_ms"], 2)
        line.update(checked.collect(stream))
        if keep:
            checked.write(keep / f"{line['name']}.{layout}.weirrec", layout)
        line["same"] = all(data == expected[key][0] or tensor.get("order") == "any" for key, (data, tensor) in memory.outputs().items())
    except RuntimeError as error:
        line["problem"] = str(error)
    gpu.free_all()
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--layout", default="compact", choices=["compact", "gsan"])
    parser.add_argument("--keep", type=pathlib.Path, help="write what was reported to this folder, for weir check")
    parser.add_argument("launches", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    gpu = ShadowDevice(arguments.library, arguments.layout == "gsan")
    made = assemble(arguments.folder, arguments.layout, arguments.launches)
    for path in arguments.launches:
        print(json.dumps(measure(gpu, made, arguments.folder, arguments.layout, path, arguments.rounds, arguments.keep)), flush=True)
    gpu.close()


if __name__ == "__main__":
    main()
