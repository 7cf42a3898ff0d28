#!/usr/bin/env python3
"""Runs the launches of NAME.json on a GPU and writes what they leave in memory to NAME.out (README.md).

    record.py [--check] NAME...

Nothing is needed but Python and the driver (libcuda.so.1)."""
import ctypes
import json
import pathlib
import re
import struct
import sys

FOLDER = pathlib.Path(__file__).parent
INTEGERS = {"i1": 1, "u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8, "b8": 1, "b16": 2, "b32": 4, "b64": 8}
REALS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
MASK = (1 << 64) - 1


def size_of(dtype):
    return INTEGERS.get(dtype) or REALS[dtype]


def mixed(seed, index):
    """The index-th number of a stream: splitmix64."""
    z = ((seed << 32) + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def encode(dtype, value):
    """A number as the bytes of a dtype."""
    if dtype == "f32":
        return struct.pack("<f", value)
    if dtype == "f64":
        return struct.pack("<d", value)
    if dtype == "f16":
        return struct.pack("<e", value)
    if dtype == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)
    return (int(value) & ((1 << 8 * size_of(dtype)) - 1)).to_bytes(size_of(dtype), "little")


def random_bytes(dtype, count, kind, seed, low=0, high=0):
    out = bytearray()
    for i in range(count):
        x = mixed(seed, i)
        if kind == "bits":
            out += (x & ((1 << 8 * size_of(dtype)) - 1)).to_bytes(size_of(dtype), "little")
        elif kind == "range":
            out += encode(dtype, low + x % (high - low + 1))
        else:
            assert kind == "unit", kind
            out += encode(dtype, (x >> 43) / 2.0**20 - 1.0)
    return bytes(out)


def contents(tensor):
    """What a tensor's memory holds before the launch."""
    count = 1
    for n in tensor["shape"]:
        count *= n
    size = count * size_of(tensor["dtype"])
    data = b""
    if "random" in tensor:
        data = random_bytes(tensor["dtype"], count, *tensor["random"])
    elif isinstance(tensor.get("data"), str):
        data = bytes.fromhex(tensor["data"])
    elif "data" in tensor:
        data = b"".join(encode(tensor["dtype"], x) for x in tensor["data"])
    return data + bytes(size - len(data))


class Gpu:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {status} {text.value}")

    def load(self, ptx):
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        status = self.cuda.cuModuleLoadDataEx(ctypes.byref(module), ptx + b"\0", 2, options, values)
        if status:
            raise RuntimeError(f"cuModuleLoadDataEx: {status} {log.value.decode()}")
        return module

    def allocate(self, data):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 256)))
        self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address.value

    def read(self, address, size):
        out = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", out, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return out.raw

    def tensor_map(self, descriptor, address):
        types = ["u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16"]
        shape, block, size = descriptor["shape"], descriptor["block"], size_of(descriptor["dtype"])
        strides = descriptor.get("strides")
        if not strides:
            strides = [1]
            for n in reversed(shape[1:]):
                strides.insert(0, strides[0] * n)
        rank = len(shape)
        swizzle = {"none": 0, "32": 1, "64": 2, "128": 3}[str(descriptor.get("swizzle", "none"))]
        interleave = {"none": 0, "16": 1, "32": 2}[str(descriptor.get("interleave", "none"))]
        fill = {"zero": 0, "nan": 1}[descriptor.get("fill", "zero")]
        map_ = (ctypes.c_uint64 * 32)()
        aligned = (ctypes.addressof(map_) + 63) & ~63
        start = (ctypes.c_void_p(aligned), types.index(descriptor["dtype"]), ctypes.c_uint32(rank), ctypes.c_uint64(address),
                 (ctypes.c_uint64 * rank)(*reversed(shape)), (ctypes.c_uint64 * max(rank - 1, 1))(*[s * size for s in reversed(strides[:-1])]))
        end = ((ctypes.c_uint32 * rank)(*reversed(descriptor.get("element_strides", [1] * rank))), interleave, swizzle, 0, fill)
        if "lower" in descriptor:  # im2col: the box is pixels and channels
            corners = [(ctypes.c_int * (rank - 2))(*reversed(descriptor[key])) for key in ("lower", "upper")]
            self.call("cuTensorMapEncodeIm2col", *start, *corners, ctypes.c_uint32(block[1]), ctypes.c_uint32(block[0]), *end)
        else:
            self.call("cuTensorMapEncodeTiled", *start, (ctypes.c_uint32 * rank)(*reversed(block)), *end)
        return ctypes.string_at(aligned, 128)


def parameters_of(ptx, kernel):
    """(size, alignment) of each parameter of a kernel."""
    head = re.search(r"\.entry\s+" + re.escape(kernel) + r"\s*\(([^)]*)\)", ptx)
    found = []
    if not head:
        raise RuntimeError(f"no kernel {kernel}")
    for text in head.group(1).split(","):
        if not text.strip():
            continue
        kind = [w for w in re.findall(r"\.([a-z]+\d+)\b", text) if w[0] in "busf" and w[1:].isdigit()][-1]
        size = int(kind[1:]) // 8
        array = re.search(r"\[(\d+)\]", text)
        align = re.search(r"\.align\s+(\d+)\s+\.b8", text)
        found.append((size * int(array.group(1)) if array else size, int(align.group(1)) if align else size, kind))
    return found


def argument_bytes(gpu, value, size, kind, memory, index):
    if isinstance(value, dict) and "tensor" in value:
        data = contents(value["tensor"])
        memory[index] = (gpu.allocate(data), len(data), value["tensor"])
        return struct.pack("<Q", memory[index][0])
    if isinstance(value, dict) and "descriptor" in value:
        data = contents(value["descriptor"])
        memory[index] = (gpu.allocate(data), len(data), value["descriptor"])
        return gpu.tensor_map(value["descriptor"], memory[index][0])
    if isinstance(value, dict):
        out = bytearray(bytes.fromhex(value["bytes"]))
        for at, inner in value.get("pointers", {}).items():
            out[int(at):int(at) + 8] = argument_bytes(gpu, inner, 8, "u64", memory, f"{index}.{at}")
        return bytes(out)
    if kind[0] == "f":
        return struct.pack("<f" if size == 4 else "<d", value)
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def launch(gpu, module, text, case):
    """Runs it; the memory of each argument behind it."""
    function, memory, keep, pointers = ctypes.c_void_p(), {}, [], []
    gpu.call("cuModuleGetFunction", ctypes.byref(function), module, case["kernel"].encode())
    for index, ((size, align, kind), value) in enumerate(zip(parameters_of(text, case["kernel"]), case["args"], strict=True)):
        data = argument_bytes(gpu, value, size, kind, memory, str(index))
        room = (ctypes.c_uint8 * (size + 128))()
        at = (ctypes.addressof(room) + 127) & ~127
        ctypes.memmove(at, data, size)
        keep.append(room)
        pointers.append(at)
    shared = case.get("shared", 0)
    if shared > 48 * 1024:
        gpu.call("cuFuncSetAttribute", function, 8, shared)
    cluster = case.get("cluster", [1, 1, 1])
    if cluster != [1, 1, 1]:
        gpu.call("cuFuncSetAttribute", function, 14, 1)  # clusters of a size that is not portable
    attributes = (ctypes.c_uint8 * 72)()
    struct.pack_into("<I4x3I", attributes, 0, 4, *cluster)  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    config = (ctypes.c_uint8 * 56)()
    required = re.search(r"\.entry\s+" + re.escape(case["kernel"]) + r"\s*\([^)]*\)[^{]*\.(reqnctapercluster|explicitcluster)", text)
    count = 1 if cluster != [1, 1, 1] and not (required and required.group(1) == "reqnctapercluster") else 0
    struct.pack_into("<7I4xQQI4x", config, 0, *case["grid"], *case["block"], shared, 0, ctypes.addressof(attributes) if count else 0, count)
    gpu.call("cuLaunchKernelEx", config, function, (ctypes.c_void_p * max(len(pointers), 1))(*pointers), None)
    gpu.call("cuCtxSynchronize")
    return {index: (gpu.read(address, size), tensor) for index, (address, size, tensor) in memory.items()}


def record(gpu, name):
    text = (FOLDER / f"{name}.ptx").read_text()
    module = gpu.load(text.encode())
    lines = []
    for case in json.loads((FOLDER / f"{name}.json").read_text()):
        for index, (data, tensor) in launch(gpu, module, text, case).items():
            if tensor.get("output") or tensor.get("check"):
                lines.append(f"{case['name']}\t{index}\t{data.hex()}")
    return "\n".join(lines) + "\n"


def main(arguments):
    check = "--check" in arguments
    gpu, failed = Gpu(), 0
    for name in (a for a in arguments if a != "--check"):
        try:
            out = record(gpu, name)
        except RuntimeError as problem:
            print(f"{name}: {problem}")
            failed += 1
            continue
        path = FOLDER / f"{name}.out"
        if check:
            same = path.read_text() == out
            failed += not same
            print(f"{name}: {'the same' if same else 'differs'}")
        else:
            path.write_text(out)
            print(f"{name}: {out.count(chr(10))} outputs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
