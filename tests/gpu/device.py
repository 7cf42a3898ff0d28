"""Kernels on a GPU, plain and recorded: what scripts/gpu/bench and scripts/gpu/examples share. Nothing is needed but Python, the driver and ptxas.

A kernel that was instrumented (`weir instrument`) has one more parameter: the block of src/trace/record.h. `Recorder` gives it one,
and writes what the kernel leaves behind as a file that `weir check` reads (src/trace/file.h)."""
import ctypes
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import time

for folder in (pathlib.Path(__file__).parent, pathlib.Path(__file__).parent.parent / "machine"):
    sys.path.insert(0, str(folder))
import record  # noqa: E402 (tests/machine/record.py)

MARK = b"weir_instrumented"
BLOCK = struct.Struct("<QQ4IQ2I4Q4I104s24x")  # RecordLaunch of trace/record.h; tests/python/test_gpu_block.py holds it against that
ALL_CTAS = (0, 0, 0, 0xffffffff)  # RecordSample: no sample
FIELDS = ("first", "more", "more_count", "next", "dropped", "tag", "packed", "spin_timeout", "hurries", "host", "shared_window", "local_window", "param_window",
          *(f"sample.{word}" for word in ("factor", "shift", "stride", "run")), "places")
LAUNCH = struct.Struct("<20I7Q")
SECTIONS = {"end": 0, "launch": 1, "ptx": 2, "parameters": 3, "memory": 4, "first": 5, "more": 6, "order": 10, "places": 11}
ORDER, KNOWN = struct.Struct("<Q6I"), struct.Struct("<2I3Q")
HUNG, CUT, DEPENDENT = 1, 2, 4
ATTRIBUTES = {"cluster": 4, "cooperative": 2, "dependent": 6}


def spin_timeout(nanoseconds):
    """record_spin_timeout of trace/record.h."""
    return max(1, min(nanoseconds >> 16, 0xffffffff)) if nanoseconds else 0xffffffff


def ptxas():
    """The program that assembles: the toolkit's."""
    return shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def assembled(ptx, cubin):
    """Assembles a file as Triton does. (seconds, {registers, stack, spills: bytes})"""
    target = re.search(r"^\.target (\w+)", ptx.read_text(), re.M).group(1)
    begin = time.monotonic()
    run = subprocess.run([ptxas(), "-lineinfo", "-v", f"--gpu-name={target}", ptx, "-o", cubin], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if run.returncode:
        raise RuntimeError(f"ptxas: {run.stderr.strip()[:400]}")
    said = [int(n) for n in re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", run.stderr)[0]]
    return seconds, {"registers": int(re.search(r"Used (\d+) registers", run.stderr).group(1)), "stack": said[0], "spill_stores": said[1],
                     "spill_loads": said[2]}


def filled(dtype, count, kind):
    """So many numbers of a dtype, of a short stream that is said again and again: its period is no power of two."""
    period = min(count, 16381)
    if kind == "unit":
        data = record.random_bytes(dtype, period, "unit", 7)
    else:
        assert kind == "small", kind
        data = record.random_bytes(dtype, period, "range", 7, -2, 2)
    return (data * (count // period + 1))[:count * record.size_of(dtype)]


def contents(tensor):
    """What a tensor's memory holds before the launch. Without a word on it, zeros."""
    count = 1
    for n in tensor["shape"]:
        count *= n
    return filled(tensor["dtype"], count, tensor["pattern"]) if "pattern" in tensor else record.contents(tensor)


class Device(record.Gpu):
    def __init__(self):
        super().__init__()
        self.libc = ctypes.CDLL(None)
        self.libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        self.streams = {}
        self.blocks = []
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, 128, 0)
        self.label = text.value.decode()

    def stream(self, number):
        if number not in self.streams:
            self.streams[number] = ctypes.c_void_p()
            self.call("cuStreamCreate", ctypes.byref(self.streams[number]), 1)
        return self.streams[number]

    def module(self, image):
        """A module of a cubin's bytes."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def mark(self, module):
        """What an instrumented module says of itself: {abi, chunk, spaces, options, hash, fingerprint}; None of one that is not."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        if self.cuda.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, MARK):
            return None
        return dict(zip(("abi", "chunk", "spaces", "options", "hash", "fingerprint"), struct.unpack_from("<4I2Q", self.read(address.value, size.value))))

    def room(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 256)))
        self.blocks.append((address.value, max(size, 256)))
        return address.value

    def allocate(self, data):
        address = self.room(len(data))
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))
        return address

    def free_all(self):
        for address, _ in self.blocks:
            self.call("cuMemFree_v2", ctypes.c_uint64(address))
        self.blocks = []

    def pinned(self, size):
        at = ctypes.c_void_p()
        self.call("cuMemHostAlloc", ctypes.byref(at), ctypes.c_size_t(size), 2)  # the device can reach it
        return at.value

    def unpin(self, *addresses):
        for address in addresses:
            self.call("cuMemFreeHost", ctypes.c_void_p(address))

    def attribute(self, function, number):
        value = ctypes.c_int()
        self.call("cuFuncGetAttribute", ctypes.byref(value), number, function)
        return value.value

    def occupancy(self, function, threads, shared):
        """CTAs that an SM has room for."""
        value = ctypes.c_int()
        self.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(value), function, threads, ctypes.c_size_t(shared))
        return value.value


class Memory:
    """The memory of a launch's arguments, by the names of its buffers: launches that name the same one share it."""

    def __init__(self, device):
        self.device, self.buffers, self.resets = device, {}, []

    def address(self, tensor, name):
        key = tensor.get("buffer", name)
        if key not in self.buffers:
            data = contents(tensor)
            self.buffers[key] = (self.device.allocate(data), len(data), tensor)
            if tensor.get("reset"):
                # What it held at first is kept beside it.
                self.resets.append((self.buffers[key][0], self.device.allocate(data), len(data)))
        return self.buffers[key][0] + tensor.get("offset", 0)

    def reset(self, stream):
        for to, source, size in self.resets:
            self.device.call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(size), stream)

    def outputs(self):
        """(bytes, tensor) of each buffer that is written, by name."""
        found = {}
        for name, (address, size, tensor) in self.buffers.items():
            if tensor.get("output"):
                found[name] = (self.device.read(address, size), tensor)
        return found


class Launch:
    """A kernel with its arguments, ready to be launched any number of times."""

    def __init__(self, device, function, ptx, words, memory, name=""):
        """`ptx`: the text before it was instrumented."""
        self.device, self.function, self.ptx, self.words, self.memory = device, function, ptx, words, memory
        self.keep, self.pointers, self.parameters = [], [], b""
        for index, ((size, align, kind), value) in enumerate(zip(record.parameters_of(ptx, words["kernel"]), words["args"], strict=True)):
            data = self.argument(value, size, kind, f"{name}{index}")
            self.parameters += bytes(-len(self.parameters) % align) + data
            self.pointers.append(self.kept(data))
        shared = words.get("shared", 0)
        if shared > 48 * 1024:
            device.call("cuFuncSetAttribute", function, 8, shared)
        if words.get("cluster", [1, 1, 1]) != [1, 1, 1]:
            device.call("cuFuncSetAttribute", function, 14, 1)  # clusters of a size that is not portable
        self.attributes, self.attribute_count = self.launch_attributes()

    def kept(self, data):
        room = (ctypes.c_uint8 * (len(data) + 128))()
        at = (ctypes.addressof(room) + 127) & ~127
        ctypes.memmove(at, data, len(data))
        self.keep.append(room)
        return at

    def argument(self, value, size, kind, name):
        if isinstance(value, dict) and "tensor" in value:
            return struct.pack("<Q", self.memory.address(value["tensor"], name))
        if isinstance(value, dict) and "descriptor" in value:
            return self.device.tensor_map(value["descriptor"], self.memory.address(value["descriptor"], name))
        return record.argument_bytes(self.device, value, size, kind, {}, name)

    def launch_attributes(self):
        words, made = self.words, []
        required = re.search(r"\.entry\s+" + re.escape(words["kernel"]) + r"\s*\([^)]*\)[^{]*\.reqnctapercluster", self.ptx)
        if words.get("cluster", [1, 1, 1]) != [1, 1, 1] and not required:
            made.append(struct.pack("<I4x3I52x", ATTRIBUTES["cluster"], *words["cluster"]))
        made += [struct.pack("<I4xI60x", ATTRIBUTES[what], 1) for what in ("cooperative", "dependent") if words.get(what)]
        data = b"".join(made) or bytes(72)
        room = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        self.keep.append(room)
        return ctypes.addressof(room), len(made)

    def run(self, stream, block=0):
        """Launches it; `block` is the address of the recorder's."""
        pointers = list(self.pointers)
        if block:
            last = ctypes.c_uint64(block)
            pointers.append(ctypes.addressof(last))
        config = (ctypes.c_uint8 * 56)()
        struct.pack_into("<7I4xQQI4x", config, 0, *self.words["grid"], *self.words["block"], self.words.get("shared", 0), stream.value or 0,
                         self.attributes if self.attribute_count else 0, self.attribute_count)
        self.device.call("cuLaunchKernelEx", config, self.function, (ctypes.c_void_p * max(len(pointers), 1))(*pointers), None)

    def warps(self):
        grid, block = self.words["grid"], self.words["block"]
        return grid[0] * grid[1] * grid[2] * -(-block[0] * block[1] * block[2] // 32)


class Order:
    """Which launches are over when another begins, as src/trace/file.h has it: launches on streams that do not wait for each other but by
    events, after a moment at which nothing ran."""

    def __init__(self, process):
        self.process, self.now, self.begun, self.ended = process, {}, {}, {}

    def launch(self, number, words):
        """The section of a launch, which is made now."""
        stream = words.get("stream", 0)
        now = self.now.setdefault(stream, {})
        for name in words.get("after", []):
            for clock in self.ended.get(name, []):
                join(now, clock)
        early = words.get("dependent") and stream in self.begun and not words.get("after")
        begun = dict(self.begun[stream]) if early else dict(now)
        known = [KNOWN.pack(s, 0, begun.get(s, 0), over, over) for s, over in sorted(now.items())]
        self.begun[stream] = begun
        now[stream] = number + 1
        self.ended.setdefault(words["kernel"], []).append(dict(now))
        return ORDER.pack(self.process, 0, stream, 0, len(known), 0, 0) + b"".join(known)


def join(clock, other):
    for stream, over in other.items():
        clock[stream] = max(clock.get(stream, 0), over)


class Recorder:
    """What instrumented launches of one function need. Launches take turns: the records of one are gone when the next begins. With
    `outlives`, records lie in memory of the host, where they are still there after a fault that costs the device's."""

    def __init__(self, device, launch, mark, more_bytes, slots=1, hang_after=0, outlives=False):
        self.device, self.launch, self.mark, self.slots, self.outlives = device, launch, mark, slots, outlives
        self.chunk, self.tag, self.hang_after = mark["chunk"], 0, hang_after
        self.first_bytes = launch.warps() * self.chunk
        self.more_count = more_bytes // self.chunk
        room = device.pinned if outlives else device.room
        # Chunks are aligned to their size; behind the last one is room for what finds no other.
        self.held = [room(self.first_bytes + self.chunk), room((self.more_count + 2) * self.chunk)]
        self.first, self.more = ((at + self.chunk - 1) & -self.chunk for at in self.held)
        self.blocks = room(BLOCK.size * slots)
        self.staging = device.pinned(BLOCK.size * slots)
        self.host = device.pinned(64) if hang_after else 0
        if self.host:
            ctypes.memset(self.host, 0, 64)
        self.dirty = self.more_count * self.chunk  # bytes of further chunks that launches may have written

    def clear(self, stream):
        """What a launch gets is all zero: what an earlier one left could be taken for its own."""
        for address, size in ((self.first, self.first_bytes), (self.more, self.dirty)):
            if size:
                self.device.call("cuMemsetD8Async", ctypes.c_uint64(address), ctypes.c_uint8(0), ctypes.c_size_t(size), stream)

    def block(self, slot, stream):
        """Queues what a launch with this slot needs; the address that it is given."""
        self.tag = self.tag % 255 + 1
        self.clear(stream)
        data = BLOCK.pack(self.first, self.more, self.more_count, 0, 0, self.tag << 24, 0, spin_timeout(self.hang_after), 0, self.host, 0, 0, 0, *ALL_CTAS, bytes(104))
        ctypes.memmove(self.staging + slot * BLOCK.size, data, BLOCK.size)
        at = self.blocks + slot * BLOCK.size
        self.device.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(at), ctypes.c_void_p(self.staging + slot * BLOCK.size), ctypes.c_size_t(BLOCK.size), stream)
        return at

    def read(self, address, size):
        return ctypes.string_at(address, size) if self.outlives else self.device.read(address, size)

    def after(self, slot=0):
        """The block after its launch."""
        return dict(zip(FIELDS, BLOCK.unpack(self.read(self.blocks + slot * BLOCK.size, BLOCK.size))))

    def settle(self):
        """After a launch has ended: others will use about as many further chunks."""
        self.dirty = min(self.more_count * self.chunk, self.used(self.after(0)) * 2 + (1 << 20))

    def used(self, block):
        """Bytes of further chunks that hold something."""
        return min(block["next"], self.more_count) * self.chunk

    def hung(self):
        """Whether a wait of the kernel has given up."""
        return bool(self.host) and ctypes.c_uint32.from_address(self.host).value != 0

    def gave_up(self):
        """How many warps have: RecordHost.gave_up."""
        return ctypes.c_uint32.from_address(self.host + 8).value if self.host else 0

    def let_go(self):
        """Lets those that gave up end: RecordHost.drained."""
        if self.host:
            ctypes.c_uint32.from_address(self.host + 4).value = 1

    def free(self):
        """Of the host's memory; the device's goes with free_all."""
        self.device.unpin(self.staging, *([self.host] if self.host else []), *([*self.held, self.blocks] if self.outlives else []))

    def write(self, path, slot=0, number=0, nanoseconds=0, flags=0, order=b""):
        """The recording as a file; bytes of chunks in it. `order`: when the launch began, among others (Order)."""
        block, words = self.after(slot), self.launch.words
        used = self.used(block)
        flags |= HUNG if self.hung() else 0
        head = LAUNCH.pack(2, flags, *words["grid"], *words["block"], *words.get("cluster", [1, 1, 1]), words.get("shared", 0), self.mark["spaces"],
                           self.mark["options"], self.chunk, self.tag, block["next"], block["dropped"] | (block["next"] > self.more_count), 0, 0, block["shared_window"], block["local_window"],
                           block["param_window"], number, nanoseconds, self.hang_after, self.mark["fingerprint"])
        names = words["kernel"].encode() + b"\0" + self.device.label.encode() + b"\0"
        memory = b"".join(struct.pack("<QQ", address, max(size, 1)) for address, size, _ in self.launch.memory.buffers.values())
        with open(path, "wb") as file:
            file.write(b"weirrec1")
            for kind, data in (("launch", head + names), *([("order", order)] if order else []), ("ptx", self.launch.ptx.encode()), ("parameters", self.launch.parameters), ("memory", memory), ("places", block["places"]),
                               ("first", self.read(self.first, self.first_bytes)), ("more", self.read(self.more, used) if used else b""),
                               ("end", b"")):
                file.write(struct.pack("<IIQ", SECTIONS[kind], 0, len(data)) + data + bytes(-len(data) % 8))
        return self.first_bytes + used
