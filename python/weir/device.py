"""A device for Triton without a GPU: compiled kernels run on the CPU, on the program's own memory, with the results that a
GPU gives, and are checked.

    import weir.device
    weir.device.use("sm_90")

docs/device.md tells what runs and what is checked."""

import ctypes
import hashlib
import json
import os
import struct
import sys
import threading
import time
import weakref

from . import Finding, _library, arguments, device_torch, program, standin, tensors

ENDS = ("done", "invalid", "address", "trap", "fault", "hang", "unsupported", "limit", "alignment",
        "assertion")  # weir_device_end
CUDA_ERRORS = {"invalid": "invalid argument", "address": "an illegal memory access was encountered",
               "trap": "unspecified launch failure", "fault": "unspecified launch failure",
               "hang": "the launch timed out and was terminated", "unsupported": "operation not supported",
               "limit": "out of memory", "alignment": "misaligned address", "assertion": "device-side assert triggered"}
TENSORMAP_BYTES = 128
WEIR_MEMORY_SHARED = WEIR_WATCH_THREADS = 2
FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d", "f64": "<d"}


class Launch(ctypes.Structure):
    """weir_device_launch."""

    _fields_ = [("kernel", ctypes.c_char_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
                ("cluster", ctypes.c_uint * 3), ("shared", ctypes.c_size_t), ("parameters", ctypes.POINTER(ctypes.c_void_p)),
                ("parameter_count", ctypes.c_size_t), ("timeout", ctypes.c_uint), ("dependent", ctypes.c_int), ("print", _library.WRITE),
                ("print_to", ctypes.c_void_p), ("print_error", _library.WRITE)]


class Touch(ctypes.Structure):
    """weir_device_touch."""

    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("stride", ctypes.c_uint64), ("count", ctypes.c_uint64),
                ("how", ctypes.c_uint)]


class Step(ctypes.Structure):
    """weir_device_step."""

    _fields_ = [("time", ctypes.c_uint64), ("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("warp", ctypes.c_uint),
                ("what", ctypes.c_uint), ("kind", ctypes.c_uint), ("order", ctypes.c_uint), ("scope", ctypes.c_uint),
                ("file", ctypes.c_void_p), ("file_size", ctypes.c_size_t), ("line", ctypes.c_uint)]


class TensorMap(ctypes.Structure):
    """weir_tensormap."""

    _fields_ = [("type", ctypes.c_uint), ("rank", ctypes.c_uint), ("address", ctypes.c_uint64),
                ("sizes", ctypes.c_uint64 * 5), ("strides", ctypes.c_uint64 * 5), ("box", ctypes.c_uint32 * 5),
                ("steps", ctypes.c_uint32 * 5), ("interleave", ctypes.c_uint), ("swizzle", ctypes.c_uint),
                ("fill", ctypes.c_uint)]


class DeviceError(RuntimeError):
    """A launch that did not end well; `end` is one of ENDS."""

    def __init__(self, kernel, end, sentence):
        super().__init__(f"CUDA error: {CUDA_ERRORS[end]} (kernel {kernel}: {sentence})")
        self.end = end


class NoMemory(TypeError):
    """An argument is a tensor that has no memory of this process behind it."""

    end = "unsupported"


# ---- The library ---------------------------------------------------------------------------------


class Device:
    """The one device of this process."""

    made = None

    def __init__(self):
        library = self.library = _library.Library.get()
        loaded = library.loaded_library
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        for name, result, parameters in (
                ("create", pointer, []), ("error", text, [pointer]), ("jobs", None, [pointer, ctypes.c_uint]),
                ("memory", ctypes.c_int, [pointer, pointer, size, text, ctypes.c_int]), ("remove", None, [pointer, pointer]),
                ("written", None, [pointer, pointer, size]), ("known", ctypes.c_int, [pointer, pointer, size]),
                ("parameters", size, [pointer, pointer, text, ctypes.POINTER(size), size]),
                ("tensormap", ctypes.c_int, [ctypes.POINTER(TensorMap), ctypes.c_char_p]),
                ("run", ctypes.c_int, [pointer, pointer, ctypes.POINTER(Launch)]),
                ("check", pointer, [pointer, pointer, ctypes.POINTER(Launch), ctypes.POINTER(_library.RunOptions)]),
                ("watch", None, [pointer, ctypes.c_int]),
                ("touches", ctypes.POINTER(Touch), [pointer, ctypes.POINTER(size), ctypes.POINTER(ctypes.c_int)]),
                ("others", ctypes.c_int, [pointer, text]), ("threads", text, [pointer]),
                ("steps", ctypes.POINTER(Step), [pointer, ctypes.POINTER(size), ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(text)]),
                ("forget", None, [pointer, pointer])):
            function = getattr(loaded, "weir_device_" + name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)
        self.handle = self.create()
        self.jobs(self.handle, int(os.environ.get("WEIR_DEVICE_JOBS") or 0))
        self.context = library.weir_create()
        self.lock = threading.RLock()
        self.print = _library.WRITE(self.printed)
        self.print_error = _library.WRITE(self.printed_error)
        self.has_others = False  # processes with which launches take turns
        self.named = {}  # address and size of memory that is there until it is freed

    @classmethod
    def get(cls):
        if cls.made is None:
            cls.made = cls()
        return cls.made

    def allocated(self, address, size, written):
        """There is memory for kernels until `freed`; `written` False: its bytes are not known before something writes them;
        WEIR_MEMORY_SHARED: other processes access it, too."""
        with self.lock:
            self.named[address] = size
            if written & WEIR_MEMORY_SHARED and not self.has_others:
                from . import device_torch_shared

                self.has_others = self.others(self.handle, device_torch_shared.lock_path().encode()) == 0
            self.memory(self.handle, address, size, b"memory", int(written))

    def freed(self, address):
        with self.lock:
            if self.named.pop(address, None) is not None:
                self.remove(self.handle, address)

    def leads_to_others(self, parameters):
        """Whether one of a launch's parameters, as bytes, is an address of memory that other processes access, too, or that holds
        such addresses: what the launch does is then not decided by this process alone."""
        if not self.has_others:
            return False
        ranges = device_torch.State.memory.reach()
        return any(low <= value < high for value in (int.from_bytes(one, "little") for one in parameters if len(one) == 8)
                   for low, high in ranges)

    def wrote(self, address, size):
        """The program has written bytes by itself, not by a kernel that ran here."""
        with self.lock:
            self.written(self.handle, address, size)

    def is_known(self, address, size):
        """Whether all of these bytes were written."""
        with self.lock:
            return bool(self.known(self.handle, address, size))

    @staticmethod
    def printed(_, data, size):
        sys.stdout.flush()
        os.write(1, ctypes.string_at(data, size))
        return 0

    @staticmethod
    def printed_error(_, data, size):
        os.write(2, ctypes.string_at(data, size))
        return 0


class Loaded:
    """A kernel of a module of PTX."""

    def __init__(self, ptx, name):
        self.device, self.name, self.ptx = Device.get(), name, ptx
        library, data = self.device.library, ptx.encode()
        self.file = library.weir_open_buffer(self.device.context, f"{name}.ptx".encode(), data, len(data))
        self.module = library.weir_parse(self.file, 0, 0)
        most = self.device.parameters(self.device.handle, self.module, name.encode(), None, 0)
        sizes = (ctypes.c_size_t * most)()
        self.device.parameters(self.device.handle, self.module, name.encode(), sizes, most)
        self.sizes = list(sizes)
        weakref.finalize(self, self.free, self.device, self.file, self.module).atexit = False

    @staticmethod
    def free(device, file, module):
        with device.lock:
            device.forget(device.handle, module)
            device.library.weir_module_free(module)
            device.library.weir_close(file)

    def launch(self, grid, block, cluster, shared, parameters, ranges, dependent=False, judge=None, scratch=()):
        """Parameters are their bytes; ranges are (address, bytes) of memory that the launch may access, and `scratch` the addresses of
        those that are there for it alone. `judge`, if there is
        one, takes the verdict of the launch, the findings that are more than notes, what is written of it, and the time that it took."""
        device, log, begun = self.device, program.State.log, time.monotonic_ns()
        kept = [ctypes.create_string_buffer(value, len(value)) for value in parameters]
        pointers = (ctypes.c_void_p * len(kept))(*[ctypes.addressof(value) for value in kept])
        launch = Launch(self.name.encode(), tuple(grid), tuple(block), tuple(cluster), shared,
                        ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p)), len(kept), 0, int(dependent), device.print, None,
                        device.print_error)
        with device.lock:
            ranges = [(address, size) for address, size in ranges if address not in device.named]
            for address, size in ranges:
                device.memory(device.handle, address, size, b"memory", 1)
            try:
                together = device.leads_to_others(parameters)
                if (State.checks or judge) and not together:
                    self.check(launch, judge)
                if log is not None or together:
                    device.watch(device.handle, WEIR_WATCH_THREADS if together and judge else 1)
                end = ENDS[device.run(device.handle, self.module, ctypes.byref(launch))]
                if log is not None and end == "done":
                    self.log(log, dependent, ranges, scratch, begun)
                if judge and together and end == "done":
                    judge.together(device.threads(device.handle).decode())
                elif State.checks and together:
                    self.check_nothing()
            finally:
                for address, _ in ranges:
                    device.remove(device.handle, address)
        if end != "done":
            raise DeviceError(self.name, end, device.error(device.handle).decode())

    def log(self, log, dependent, ranges, scratch, begun):
        """What the launch has accessed. Memory that is there for it alone is allocated and freed with it; how long other memory
        lives that PyTorch does not know is not known."""
        device, count, waits = self.device, ctypes.c_size_t(), ctypes.c_int()
        touches = device.touches(device.handle, ctypes.byref(count), ctypes.byref(waits))
        for address, size in ranges:
            if address in scratch:
                log.allocated(address, size, program.current.stream)
            elif address not in log.memory:
                log.pinned(address, size)
        log.launch(program.current.stream, self.name, dependent, waits.value, touches[:count.value] if touches else None, begun,
                   self.steps(log) if device.has_others else ())
        for address in scratch:
            log.freed(address)

    def steps(self, log):
        """Lines of what its warps have done that other processes may notice."""
        device, count, shape, problem = self.device, ctypes.c_size_t(), (ctypes.c_uint * 3)(), ctypes.c_char_p()
        steps = device.steps(device.handle, ctypes.byref(count), shape, ctypes.byref(problem))
        if problem.value:
            log.missing(f"{self.name}: {problem.value.decode()}: races with other processes were not checked")
        if not steps or not count.value:
            return ()
        return [f"grid {shape[0]} {shape[1]} {shape[2]} {standin.device_number(program.device_of(program.current.stream))}\n", *program.step_lines(steps[:count.value])]

    def check_nothing(self):
        """Of a launch that is to be checked, and takes turns with other processes."""
        text = f"{self.name}: incomplete: it accesses memory that other processes have: `weir exec` checks what they do together\n"
        State.verdicts["incomplete"] = State.verdicts.get("incomplete", 0) + 1
        if State.is_new(text):
            State.report(text)

    def check(self, launch, judge):
        device, library = self.device, self.device.library
        options, started = ctypes.byref(_library.RunOptions(timeout=judge.seconds)) if judge else None, time.process_time()
        result = device.check(device.handle, self.module, ctypes.byref(launch), options)
        if not result:
            raise MemoryError("there is not enough memory")
        verdict = _library.VERDICTS[library.weir_result_verdict(result)]
        if judge:
            written = _library.written(library, result, _library.FORMAT_JSON) if verdict == "findings" else '{"inputs": []}'
            findings = [Finding(words, self.name) for kernel in json.loads(written)["inputs"] for words in kernel["findings"]]
            judge(verdict, [finding for finding in findings if finding.severity != "note"], written, time.process_time() - started)
            library.weir_result_free(result)
            return
        State.verdicts[verdict] = State.verdicts.get(verdict, 0) + 1
        if verdict != "clean" and State.is_new(_library.written(library, result, _library.FORMAT_TEXT)):
            if State.witnesses:
                self.keep_witnesses(result)
            State.report(_library.written(library, result, _library.FORMAT_TEXT))
        library.weir_result_free(result)

    def keep_witnesses(self, result):
        """Of each finding a trail, with the launch and its data, beside the PTX: for `weir run --replay TRAIL PTX`."""
        library = self.device.library
        os.makedirs(State.witnesses, exist_ok=True)
        stem = os.path.join(State.witnesses, f"{self.name}-{hashlib.sha256(self.ptx.encode()).hexdigest()[:12]}")
        with open(stem + ".ptx", "w", encoding="utf-8") as file:
            file.write(self.ptx)
        kernels = json.loads(_library.written(library, result, _library.FORMAT_JSON))["inputs"]
        for index, finding in enumerate(finding for kernel in kernels for finding in kernel["findings"]):
            if finding.get("witness"):
                path = f"{stem}-{len(State.reports)}-{index + 1}.trail"
                with open(path, "w", encoding="utf-8") as file:
                    file.write(finding["witness"])
                library.weir_keep_witness(result, index, path.encode())


# ---- Arguments -----------------------------------------------------------------------------------


def memory_of(value):
    """Address and size of the allocation behind a pointer argument."""
    if isinstance(value, tensors.Tensor) or arguments.is_mock(value):
        raise NoMemory("a tensor that holds nothing has no memory")
    if getattr(getattr(value, "device", None), "type", "cpu") != "cpu" and not device_torch.State.installed:
        raise NoMemory("a tensor in the memory of a GPU is not there for the CPU")
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface:
        import numpy

        low, high = numpy.lib.array_utils.byte_bounds(numpy.asarray(value))
        return low, high - low
    base = getattr(value, "base", None)  # Triton's reinterpreted tensors
    if base is not None and hasattr(base, "data_ptr"):
        return memory_of(base)
    return value.data_ptr(), value.numel() * value.element_size()


def bfloat16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF).to_bytes(2, "little")


class Packer:
    """The bytes of a launch's parameters, and the memory that it may access."""

    def __init__(self, sizes):
        self.sizes, self.parameters, self.ranges = sizes, [], {}

    def size(self):
        if len(self.parameters) >= len(self.sizes):
            raise TypeError(f"the kernel has {len(self.sizes)} parameters, and the launch has more")
        return self.sizes[len(self.parameters)]

    def number(self, value):
        size = self.size()
        self.parameters.append((int(value) & (1 << 8 * size) - 1).to_bytes(size, "little"))

    def pointer(self, value):
        if value is None or isinstance(value, int):
            return self.number(value or 0)
        if device_torch.is_elsewhere(value):  # as Triton's launchers say it
            raise ValueError(f"Pointer argument (at {len(self.parameters)}) cannot be accessed from Triton (cpu tensor?)")
        address, size = memory_of(value)
        if size:
            self.ranges[address] = max(size, self.ranges.get(address, 0))
        return self.number(value.data_ptr())

    def real(self, kind, value):
        self.size()
        self.parameters.append(bfloat16(float(value)) if kind == "bf16" else struct.pack(FLOATS[kind], float(value)))

    def descriptor(self, value, meta):
        """As Triton's launchers take one apart: a tensor map, or its parts; then shape and strides."""
        shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
        if meta is None:
            self.pointer(value.base)
            for number in (*shape, *strides, value.padding == "nan"):
                self.number(number)
        else:
            if meta["fp4_padded"]:
                shape[-1] *= 2
            self.pointer(value.base)
            self.parameters[-1] = tensormap(value, shape, strides, meta)
        for number in (*shape, *strides):
            self.number(number)

    def argument(self, kind, value, metas):
        if kind.startswith("tensordesc"):
            self.descriptor(value, metas.pop(0) if metas else None)
        elif kind.startswith("*") or kind == "nvTmaDesc":
            self.pointer(value)
        elif kind in FLOATS or kind == "bf16":
            self.real(kind, value)
        else:
            self.number(value)


def tensormap(value, shape, strides, meta):
    from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST

    rank, element = len(shape), meta["elem_size"]
    made = TensorMap(type=TMA_DTYPE_DEVICE_TO_HOST[meta["elem_type"]], rank=rank, address=value.base.data_ptr(),
                     swizzle=meta["swizzle"], fill=int(value.padding == "nan"))
    for i in range(rank):  # the innermost is the first
        made.sizes[i], made.box[i] = shape[rank - 1 - i], meta["block_size"][rank - 1 - i]
        made.strides[i] = element * strides[rank - 1 - i]
    data = ctypes.create_string_buffer(TENSORMAP_BYTES)
    if Device.get().tensormap(ctypes.byref(made), data):
        raise ValueError("a tensor map of that type and rank cannot be made")
    return data.raw


# ---- Triton --------------------------------------------------------------------------------------


class State:
    """What was launched in this process."""

    installed, checks, verdicts = False, True, {}
    reports = set()
    witnesses = os.environ.get("WEIR_DEVICE_WITNESS")  # a folder

    @classmethod
    def is_new(cls, text):
        new = text not in cls.reports
        cls.reports.add(text)
        return new

    @staticmethod
    def report(text):
        sys.stderr.write(text)


class Kernel:
    """Launches of a compiled kernel."""

    def __init__(self, compiled, watcher):
        metadata = self.metadata = compiled.metadata
        self.ptx, self.ttgir, self.watcher, self.loaded = compiled.asm["ptx"], compiled.asm.get("ttgir"), watcher, None
        self.types = list(compiled.src.signature.values())
        self.dependent = bool(getattr(metadata, "launch_pdl", False))
        self.metas = getattr(metadata, "tensordesc_meta", None)
        self.warps, self.ctas, self.shared = metadata.num_warps, metadata.num_ctas, metadata.shared
        self.scratch = [(metadata.global_scratch_size, metadata.global_scratch_align),
                        (getattr(metadata, "profile_scratch_size", 0), getattr(metadata, "profile_scratch_align", 1))]

    def __call__(self, x, y, z, stream, function, metadata, launch_metadata, enter, leave, *values, judge=None):
        if x * y * z == 0:
            return
        judge = judge or (self.watcher and self.watcher.judge(self))
        graph = device_torch.State.graph
        if graph is not None:
            return graph.launch(lambda: self(x, y, z, stream, function, metadata, launch_metadata, enter, leave, *values, judge=judge))
        if enter:
            enter(launch_metadata)
        try:
            self.launch(x, y, z, values, judge)
        except (NoMemory, DeviceError) as error:
            if self.watcher is None or error.end not in ("unsupported", "limit"):
                raise
            self.watcher.not_run(self, error, values)
            if program.State.log is not None:
                program.State.log.unknown_launch(program.current.stream, self.metadata.name, self.dependent)
        else:
            if self.watcher:
                self.watcher.ran()
        if leave:
            leave(launch_metadata)

    def launch(self, x, y, z, values, judge=None):
        if self.loaded is None:
            self.loaded = Loaded(self.ptx, self.metadata.name)
        try:
            values = arguments.with_constants(self.types, values)
        except arguments.Unmatched as error:
            raise TypeError(f"kernel {self.metadata.name}: {error}") from None
        packer, metas = Packer(self.loaded.sizes), list(self.metas or [])
        for kind, value in arguments.with_types(self.types, values):
            packer.argument(kind, value, metas)
        kept = []
        for size, align in self.scratch[:len(self.loaded.sizes) - len(packer.parameters)]:
            memory = None
            if size:
                size *= x * y * z * self.ctas
                memory = ctypes.create_string_buffer(size + align)
                kept.append(memory)
                packer.ranges[ctypes.addressof(memory)] = size + align
            packer.number((ctypes.addressof(memory) + align - 1) // align * align if memory else 0)
        self.loaded.launch((x * self.ctas, y, z), (0, 0, 0), (0, 0, 0), self.shared, packer.parameters, packer.ranges.items(),
                           self.dependent, judge, [ctypes.addressof(memory) for memory in kept])


def run_kernels(watcher=None):
    """Kernels that Triton compiles from now on run here. A launch that cannot run raises; where there is a watcher, its
    not_run(kernel, error, arguments) is called instead, and the program goes on; ran() is called for those that ran, and judge(kernel) before
    each launch, for what Loaded.launch takes."""
    from triton.compiler.compiler import CompiledKernel

    initialize = CompiledKernel._init_handles

    def initialized(self):
        initialize(self)
        if not isinstance(self._run, Kernel):
            self._run = Kernel(self, watcher)

    CompiledKernel._init_handles = initialized
    if device_torch.State.installed:
        device_torch.State.memory.listen(Device.get())


def use(target=None):
    """From now on, kernels that Triton compiles for that GPU run here."""
    import triton

    chosen = target or standin.USUAL_TARGET
    if State.installed:
        return
    State.installed = True
    State.checks = os.environ.get("WEIR_DEVICE_MODE") != "run"
    driver = standin.make_driver(chosen)
    standin.take_place(driver)
    triton.runtime.driver.set_active(driver)
    try:
        import torch  # noqa: F401

        device_torch.install(chosen)
    except ImportError:
        pass
    run_kernels()
