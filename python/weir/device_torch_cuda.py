"""What torch.cuda asks of PyTorch's C module, answered for the device without a GPU: devices, properties, streams, events,
generators, memory statistics. Builds with CUDA have these functions, and they find no driver; builds without have none.
torch.cuda's own Python stands on them as ever: its modules that make classes of C ones are executed again."""

import functools
import importlib
import itertools
import os
import re
import struct
import sys
import time
import types
import zlib

from . import _hook, device_torch, device_torch_native, program, standin
from .device_torch import check_device

GiB = 1 << 30
# Of the GPU that stands for a target: its name, bytes of memory, of the L2 cache, and of shared memory on a multiprocessor.
GPUS = {"sm_80": ("NVIDIA A100-SXM4-80GB", 80 * GiB, 40 << 20, 167936), "sm_86": ("NVIDIA A40", 48 * GiB, 6 << 20, 102400),
        "sm_89": ("NVIDIA L40S", 48 * GiB, 96 << 20, 102400), "sm_90": ("NVIDIA H200", 150109880320, 60 << 20, 233472),
        "sm_100": ("NVIDIA B200", 180 * GiB, 126 << 20, 233472), "sm_103": ("NVIDIA B300", 270 * GiB, 126 << 20, 233472),
        "sm_120": ("NVIDIA RTX PRO 6000 Blackwell Server Edition", 96 * GiB, 128 << 20, 102400),
        "gfx90a": ("AMD Instinct MI250X", 64 * GiB, 8 << 20, 65536), "gfx942": ("AMD Instinct MI300X", 192 * GiB, 4 << 20, 65536),
        "gfx950": ("AMD Instinct MI350X", 288 * GiB, 4 << 20, 163840), "gfx1250": ("AMD gfx1250", 432 * GiB, 4 << 20, 327680)}
WORD = (1 << 64) - 1
CUDA_TYPE = 1  # c10::DeviceType::CUDA
FIRST_HANDLE = 0x10000  # of streams and events: no addresses


class Properties:
    """As torch.cuda.get_device_properties gives them."""

    def __init__(self, target):
        backend, architecture, warp_size = standin.parse_target(target)
        known = standin.Utils(target, warp_size).properties
        plain = re.sub(r"[af]$", "", target)
        gpu = GPUS.get(plain, GPUS[standin.USUAL_TARGET])
        self.name, self.total_memory, self.L2_cache_size, self.shared_memory_per_multiprocessor = gpu
        self.major, self.minor = divmod(architecture, 10) if backend == "cuda" else (9, 4)
        self.multi_processor_count, self.warp_size = known["multiprocessor_count"], warp_size
        self.shared_memory_per_block, self.shared_memory_per_block_optin = 49152, known["max_shared_mem"]
        self.max_threads_per_multi_processor = 1536 if architecture in (86, 89, 120) else 2048
        self.max_threads_per_block, self.regs_per_multiprocessor = 1024, known["max_num_regs"]
        self.clock_rate, self.memory_clock_rate, self.memory_bus_width = (known["sm_clock_rate"], known["mem_clock_rate"],
                                                                          known["mem_bus_width"])
        self.is_multi_gpu_board = self.is_integrated = 0
        self.pci_bus_id, self.pci_device_id, self.pci_domain_id = 0, 0, 0
        self.uuid = "00000000-0000-0000-0000-000000000000"
        self.gcnArchName = target if backend == "hip" else ""

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count}, uuid={self.uuid}, "
                f"pci_bus_id=0, pci_device_id=0, pci_domain_id=0, L2_cache_size={self.L2_cache_size >> 20}MB)")


class Runtime:
    """As torch.cuda.cudart(): of the CUDA runtime what Python sees."""

    class cudaError(int):
        success = 0

    def __init__(self, properties):
        self.properties = properties

    def cudaGetErrorString(self, code):
        return "no error" if int(code) == 0 else f"CUDA error {int(code)}"

    def cudaMemGetInfo(self, device=0):
        """Free memory is no more than the host has."""
        total = self.properties.total_memory
        free = total - device_torch.State.memory.allocated()
        try:
            free = min(free, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (ValueError, OSError):
            pass
        return max(0, free), total

    def cudaProfilerStart(self):
        return 0

    def cudaProfilerStop(self):
        return 0

    def cudaHostRegister(self, pointer, size, flags):
        log("missing", "cudaHostRegister: how the host accesses that memory while it is copied was not checked")
        return 0

    def cudaHostUnregister(self, pointer):
        return 0

    def cudaStreamCreate(self, pointer):
        log("missing", "cudaStreamCreate: what is in that stream was not checked")
        return 0

    def cudaStreamDestroy(self, stream):
        return 0

    def __getattr__(self, name):
        raise AttributeError(f"Weir's device cuda has no function {name} of the CUDA runtime")


# ---- Streams, events and generators ------------------------------------------------------------------


current = program.current
POOL, PRIORITIES = 32, 4  # streams that torch.cuda.Stream takes in turn, of each priority
numbers = itertools.count(1 + POOL * PRIORITIES)  # of events, and of streams that graphs have
taken = [0] * PRIORITIES


def next_of_pool(priority):
    """As PyTorch has them: of more streams than the pool has, two are one."""
    kind = min(max(-priority, 0), PRIORITIES - 1)
    taken[kind] += 1
    return 1 + kind * POOL + (taken[kind] - 1) % POOL


def pool_stream(priority, device=None):
    """A new one, as the program sees it."""
    if not any(taken):
        device_torch_native.answer_streams(sys.modules[__name__], device_torch_native.FREQUENT)
    number = program.default_stream(program.device_of(current.stream) if device is None else device) | next_of_pool(priority)
    log("stream", number)
    return number


def split(number):
    """A stream as PyTorch has it: its number on its device, and that."""
    return number & (1 << program.DEVICE_BITS) - 1, program.device_of(number)


def number_of(stream):
    return program.default_stream(stream.device_index) | stream.stream_id


class EventOrder:
    """What the order log has of an event."""

    logged_in = logged = None  # the order log that has it, and its number there
    recorded = None  # how often the host had waited then; None: never, or it has been asked since
    key = None  # by which processes know it

    def logs(self, what, *stream):
        """An event that was never recorded orders nothing."""
        if device_torch.State.graph is not None and stream:
            return device_torch.State.graph.event(what, self, *stream)
        now = program.State.log
        if now is None or (what != "record" and self.logged_in is not now):
            return
        self.enter(now)
        log(what, self.logged, *stream)
        if what == "record":
            self.recorded = now.awaited

    def is_busy(self):
        """An event is over when it is asked the second time, as on a GPU, or if the host has waited meanwhile."""
        now, recorded = program.State.log, self.recorded
        self.recorded = None
        return now is not None and self.logged_in is now and recorded == now.awaited

    def enter(self, now):
        if self.logged_in is not now:
            self.logged_in, self.logged = now, now.event()
            if self.key is not None:
                now.shared_event(self.logged, self.key)

    def shares(self):
        """Other processes have it, too."""
        now = program.State.log
        if now is None:
            return
        known = self.logged_in is now
        self.enter(now)
        if known:
            now.shared_event(self.logged, self.key)

    def __del__(self):
        now = self.logged_in
        if now is not None and now is program.State.log:
            now.event_gone(self.logged)


def external(handle):
    """The stream of that handle; one that is not of the pool is another library's."""
    number = (handle - FIRST_HANDLE) // 64
    if handle_of(number) == handle and 0 < split(number)[0] <= POOL * PRIORITIES:
        return number
    log("missing", f"torch.cuda.ExternalStream: of the stream {handle:#x} it is not known what it waits for")
    return handle


def make_classes(torch):
    """Bases for torch.cuda.Stream, torch.cuda.Event, and what torch.Generator makes for the device. All that is put into a
    stream is done when the call returns, so that every stream is idle, and events are over when they are recorded."""
    here = torch.device("cuda", 0)

    class CudaStreamBase(torch.Stream):
        def __new__(cls, priority=0, stream_id=0, device_index=None, device_type=0, stream_ptr=0):
            check_device(device_index)
            device_index = device_index if device_index is not None else program.device_of(current.stream)
            if not device_type and stream_ptr:
                stream_id, device_index = external(stream_ptr), 0
            elif not device_type:
                stream_id, device_index = split(pool_stream(priority))
            self = torch.Stream.__new__(cls, stream_id=stream_id, device_index=device_index, device_type=CUDA_TYPE)
            self.priority = min(0, max(-5, priority))
            return self

        def __init__(self, *args, **named):
            pass

        @property
        def cuda_stream(self):
            return handle_of(number_of(self))

        @property
        def native_handle(self):
            return handle_of(number_of(self))

        @property
        def device(self):
            return torch.device("cuda", self.device_index)

        @staticmethod
        def priority_range():
            return 0, -5

        def query(self):
            now = program.State.log
            if now is not None and not now.asked(number_of(self)):
                return False
            log("await_stream", number_of(self))
            return True

        def synchronize(self):
            log("await_stream", number_of(self))

        def __eq__(self, other):
            return isinstance(other, torch.Stream) and number_of(other) == number_of(self) and other.device_type == CUDA_TYPE

        def __hash__(self):
            return hash((self.stream_id, self.device_index))

        def __enter__(self):
            before, own = program.set_device(self.device_index), current.stream
            self.__dict__.setdefault("entered", []).append((before, own))
            current.stream = number_of(self)
            return self

        def __exit__(self, *error):
            before, own = self.entered.pop()
            program.set_device(self.device_index)
            current.stream = own
            program.set_device(before)
            return False

    class CudaEventBase(torch.Event, EventOrder):
        def __new__(cls, enable_timing=False, blocking=False, interprocess=False, external=False):
            return torch.Event.__new__(cls, device=here)

        def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
            self.timing, self.at, self.number, self.interprocess = enable_timing, None, 0, interprocess

        device = property(lambda self: here)

        @property
        def cuda_event(self):
            return self.number and FIRST_HANDLE + 64 * self.number

        event_id = cuda_event

        def record(self, stream=None):
            self.number = self.number or next(numbers)
            self.at = time.perf_counter()
            self.logs("record", current.stream if stream is None else number_of(stream))

        def wait(self, stream=None):
            self.logs("wait", current.stream if stream is None else number_of(stream))

        def query(self):
            if self.is_busy():
                return False
            self.logs("await_event")
            return True

        def synchronize(self):
            self.logs("await_event")

        def elapsed_time(self, end):
            if not self.timing or not end.timing:
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            if self.at is None or end.at is None:
                raise ValueError("Both events must be recorded before calculating elapsed time.")
            return standin.Event.elapsed_time(self, end)

        def ipc_handle(self):
            """Processes know the event by it, from now on."""
            if not self.interprocess:
                raise RuntimeError("CUDA error: invalid argument (torch.cuda.Event.ipc_handle: it needs interprocess=True)")
            self.number = self.number or next(numbers)
            self.key = self.key or f"event-{os.getpid()}-{self.number}"
            self.shares()
            return self.key.encode().ljust(64, b"\0")

        @classmethod
        def from_ipc_handle(cls, device, handle):
            made = cls(interprocess=True)
            made.number, made.key = next(numbers), bytes(handle).rstrip(b"\0").decode()
            made.shares()
            return made

    plain = torch.Generator

    class CudaGenerator(plain):
        """Its state is a GPU's: a seed, and how far it has come. Each operator draws as the CPU's generators do, from a seed that is
        made of both: the numbers are not those of a GPU, and no less reproducible."""

        def __new__(cls, device="cuda"):
            return plain.__new__(cls, "cpu")

        def __init__(self, device="cuda"):
            self.manual_seed(plain.initial_seed(self))

        device = property(lambda self: here)

        def manual_seed(self, seed):
            self.number, self.offset = int(seed) & WORD, 0
            return self

        def seed(self):
            return self.manual_seed(plain.seed(self)).number

        def initial_seed(self):
            return self.number

        def get_offset(self):
            return self.offset

        def set_offset(self, offset):
            if offset % 4:
                raise RuntimeError("offset must be a multiple of 4")
            self.offset = offset

        def get_state(self):
            return torch.frombuffer(bytearray(struct.pack("<QQ", self.number, self.offset)), dtype=torch.uint8)

        def set_state(self, state):
            if not isinstance(state, torch.Tensor) or state.dtype != torch.uint8 or state.device.type != "cpu":
                raise TypeError("expected a torch.ByteTensor, but got " + (state.type() if isinstance(state, torch.Tensor) else type(state).__name__))
            if state.numel() not in (8, 16):
                raise RuntimeError("RNG state is wrong size")
            self.number, self.offset = struct.unpack("<QQ", bytes(state.tolist()).ljust(16, b"\0"))
            return self

        def advance(self):
            """For the next operator, which draws from what the CPU has of it."""
            plain.manual_seed(self, zlib.crc32(struct.pack("<QQ", self.number, self.offset)))
            self.offset += 4
            return plain.get_state(self)

        def clone_state(self):
            return CudaGenerator().set_state(self.get_state())

        def graphsafe_get_state(self):
            return self.clone_state()

        def graphsafe_set_state(self, other):
            self.set_state(other.get_state())

        def __reduce__(self):
            return restore_generator, (self.initial_seed(), self.get_state())

    class GeneratorKind(type):
        def __instancecheck__(self, value):
            return isinstance(value, plain)

        def __subclasscheck__(self, kind):
            return issubclass(kind, plain)

    class Generator(metaclass=GeneratorKind):
        __doc__ = plain.__doc__

        def __new__(cls, device="cpu"):
            device = torch.device(device)
            if device.type != "cuda":
                return plain(device)
            check_device(device.index or 0)
            return CudaGenerator()

    Generator.__name__, Generator.__qualname__, Generator.__module__ = "Generator", "Generator", "torch"
    return CudaStreamBase, CudaEventBase, CudaGenerator, Generator


def log(what, *values):
    if program.State.log is not None:
        getattr(program.State.log, what)(*values)


def restore_generator(seed, state):
    made = device_torch.State.torch.Generator("cuda")
    made.manual_seed(seed)
    made.set_state(state)
    return made


def handle_of(stream):
    """As cudaStream_t: 0 is the default stream."""
    return stream and (stream if stream >= FIRST_HANDLE else FIRST_HANDLE + 64 * stream)


# ---- Functions of torch._C ---------------------------------------------------------------------------


def functions(torch, properties):
    """By name. No two names have one function: torch.compile keeps a table by function, and takes each only once."""
    memory = device_torch.State.memory

    def always(value):
        return lambda *args, **named: value

    def set_device(index):
        check_device(index)
        program.set_device(max(index, 0))

    def exchange(index):
        if index < 0:
            return -1
        check_device(index)
        return program.set_device(index)

    def maybe_exchange(index):
        return exchange(index)

    def set_stream(stream_id=0, device_index=0, device_type=CUDA_TYPE):
        check_device(device_index)
        program.set_device(max(device_index, 0))
        current.stream = program.default_stream(max(device_index, 0)) | stream_id

    def init():
        torch.cuda.default_generators = (device_torch.State.generator,) * program.State.devices
        torch.cuda._get_device_properties = torch._C._cuda_getDeviceProperties

    def statistics(device=0):
        check_device(device)
        return memory.statistics()

    def capturing(*args):
        return device_torch.State.graph is not None

    def snapshot(*args):
        return {"segments": [{"device": 0, "address": address, "total_size": size, "allocated_size": size, "active_size": size,
                              "requested_size": size, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
                              "is_expandable": False, "frames": [], "blocks": [{"address": address, "size": size, "requested_size": size,
                                                        "state": "active_allocated", "frames": []}]}
                             for address, size in memory.allocations()], "device_traces": [[]], "allocator_settings": {}}

    forked = []

    def after_fork():
        """As CUDA: a process that has used the device leaves its children none."""
        if torch.cuda._initialized:
            forked.append(True)

    os.register_at_fork(after_in_child=after_fork)
    arch = f"sm_{properties.major}{properties.minor}"
    return dict(
        _cuda_getDeviceCount=always(program.State.devices), _cuda_getDevice=lambda: program.device_of(current.stream), _cuda_setDevice=set_device, _cuda_exchangeDevice=exchange,
        _cuda_maybeExchangeDevice=maybe_exchange, _cuda_init=init, _cuda_isInBadFork=lambda: bool(forked),
        _cuda_getDeviceProperties=always(properties), _cuda_getArchFlags=always(f"{arch} compute_{arch[3:]}"),
        _cuda_canDeviceAccessPeer=always(False), _cuda_hasPrimaryContext=always(True), _cuda_synchronize=lambda: log("await_all"),
        _cuda_sleep=always(None), _cuda_set_sync_debug_mode=always(None), _cuda_get_sync_debug_mode=always(0),
        _cuda_getCurrentStream=lambda device=0: (*split(program.stream_on(max(device, 0))), CUDA_TYPE),
        _cuda_getDefaultStream=lambda device=0: (0, max(device, 0), CUDA_TYPE),
        _cuda_getCurrentRawStream=lambda device=0: handle_of(program.stream_on(max(device, 0))),
        _cuda_getStreamFromExternal=lambda pointer, device=0: (pointer, 0, CUDA_TYPE), _cuda_setStream=set_stream,
        _cuda_isCurrentStreamCapturing=capturing, _cuda_memoryStats=statistics, _cuda_emptyCache=always(None),
        _cuda_resetPeakMemoryStats=lambda device=0: memory.reset_peaks(),
        _cuda_resetAccumulatedMemoryStats=lambda device=0: memory.reset_accumulated(), _cuda_ipc_collect=always(None),
        _cuda_setMemoryFraction=always(None), _cuda_getMemoryFraction=always(1.0), _cuda_memorySnapshot=snapshot,
        _cuda_getAllocatorBackend=always("native"), _cuda_clearCublasWorkspaces=always(None),
        _cuda_getCurrentBlasHandle=always(FIRST_HANDLE),
        _cuda_getCompiledVersion=always(12080), _cuda_record_memory_history=always(None), _cuda_isHistoryEnabled=always(False),
        _cuda_record_memory_history_legacy=always(None), _cuda_lock_mutex=always(None), _cuda_unlock_mutex=always(None),
        _cuda_cudaCachingAllocator_is_enabled=always(True), _cuda_attach_out_of_memory_observer=always(None))


def accelerator(torch):
    """Of torch.accelerator, as far as this release has it."""
    memory = device_torch.State.memory

    def always(value):
        return lambda *args, **named: value

    return dict(
        _accelerator_getAccelerator=always(torch.device("cuda")), _accelerator_deviceCount=always(program.State.devices),
        _accelerator_getDeviceIndex=lambda: program.device_of(current.stream),
        _accelerator_setDeviceIndex=lambda index: (check_device(index), program.set_device(index)) and None,
        _accelerator_exchangeDevice=lambda index: program.set_device(index) if index >= 0 else -1,
        _accelerator_maybeExchangeDevice=lambda index: program.set_device(index) if index >= 0 else -1,
        _accelerator_synchronizeDevice=lambda *args: log("await_all", *args), _accelerator_emptyCache=always(None),
        _accelerator_getStream=lambda index=0: torch.cuda.current_stream(), _accelerator_isAllocatorInitialized=always(True),
        _accelerator_setStream=lambda stream: torch.cuda.set_stream(stream),
        _accelerator_getDeviceStats=lambda index=0: memory.statistics(), _accelerator_resetPeakStats=lambda index=0: memory.reset_peaks(),
        _accelerator_resetAccumulatedStats=lambda index=0: memory.reset_accumulated(),
        _accelerator_getMemoryInfo=lambda index=0: torch.cuda.cudart().cudaMemGetInfo(0))


# Functions of builds with CUDA that need no driver.
KEPT = re.compile(r"_cuda_(tunableop|record_untuned|getCompiledVersion|get_cudnn|set_cudnn|get_conv|CUDAAllocator|getHipblaslt|"
                  r"getCublas|setCublas|resetCublas|memoryMetadataSupported|customAllocator)")


# Names of those that builds without CUDA have not, and that are not there.
LACKING = ("_cuda_cudaCachingAllocator_raw_alloc _cuda_cudaCachingAllocator_raw_delete _cuda_cudaCachingAllocator_set_allocator_settings "
           "_cuda_getCheckpointState _cuda_setCheckpointPoolState _cuda_getAllocator _cuda_changeCurrentAllocator _cuda_cudaHostAllocator "
           "_cuda_jiterator_compile_and_launch_kernel _cuda_getCurrentSolverHandle _cuda_hostMemoryStats "
           "_cuda_resetPeakHostMemoryStats _cuda_resetAccumulatedHostMemoryStats").split()


def lacks(name):
    def raise_it(*args, **named):
        raise NotImplementedError(f"Weir's device cuda has no torch._C.{name}")

    raise_it.__name__ = name
    return raise_it


class Marks:
    """As torch.cuda.nvtx's C module: ranges go nowhere."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return {"rangePushA": lambda *args: 0, "rangePop": lambda *args: 0}.get(name, lambda *args: 0)


def execute_again(torch, name, places):
    """A module of torch.cuda that has made classes of C ones; the others that have them get the new ones."""
    module = sys.modules.get(name)
    if module is None:
        return
    old = dict(vars(module))
    importlib.reload(module)
    for place in places:
        for key, value in list(vars(place).items()):
            if key in old and value is old[key] and vars(module)[key] is not value and getattr(value, "__module__", None) == name:
                setattr(place, key, vars(module)[key])


def hold_storages(torch):
    """torch.UntypedStorage(size, device="cuda") is memory of the device."""
    plain = torch._C.StorageBase.__new__

    def new(cls, *args, device=None, **named):
        if device is None or torch.device(device).type != "cuda":
            return plain(cls, *args, **({} if device is None else {"device": device}), **named)
        check_device(torch.device(device).index)
        data = bytes(args[0]) if args and not isinstance(args[0], int) else None
        made = torch.empty((len(data) if data is not None else args[0] if args else 0,), dtype=torch.uint8, device="cuda")
        if data:
            made.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        return made.untyped_storage()

    torch.UntypedStorage.__new__ = new


def resize_storages(torch):
    """UntypedStorage.resize_: of the device it gets other memory, with the same bytes. All views have that."""
    plain = torch._C.StorageBase.resize_

    def resize_(self, size):
        if self.device.type != "cuda":
            return plain(self, size)
        before, memory = self.nbytes(), device_torch.State.memory
        if size == before:
            return self
        if any(begin <= self.data_ptr() < begin + bytes_ for begin, bytes_ in memory.shared):
            raise NotImplementedError("Weir's device cuda cannot resize a storage that other processes have")
        with program.on_device(max(self.device.index or 0, 0)):
            fresh = torch.empty((size,), dtype=torch.uint8, device="cuda") if size else None
            if size and before:
                old = torch.empty(0, dtype=torch.uint8, device="cuda").set_(self)[:size]
                fresh[:old.numel()].copy_(old)
                del old
        memory.resize(self, size, fresh)
        return self

    torch.UntypedStorage.resize_ = resize_


class TensorKind(type):
    """As the type of torch.cuda.FloatTensor, which builds without CUDA have, and refuse to use."""

    def __instancecheck__(self, value):
        torch = device_torch.State.torch
        return isinstance(value, torch.Tensor) and value.is_cuda and value.dtype == self.dtype

    def __call__(self, *args, **named):
        return self.host(*args, **named).cuda()


def make_types(torch):
    for name, value in list(vars(torch.cuda).items()):
        if name.endswith("Tensor") and hasattr(torch, name) and hasattr(value, "dtype"):
            made = TensorKind(name, (), {"dtype": value.dtype, "host": getattr(torch, name), "is_cuda": True, "is_sparse": False,
                                         "layout": torch.strided, "__module__": "torch.cuda"})
            setattr(torch.cuda, name, made)


PINNING = ("empty", "zeros", "ones", "full", "rand", "randn", "randint", "randperm", "arange", "tensor", "eye", "linspace", "empty_strided",
           "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like")


def pin_what_is_made(torch):
    """Functions that make tensors in pinned memory ask the driver for it."""
    from torch.utils import _device

    _device._device_constructors()  # keeps the functions as they are, which it is called with
    for name in PINNING:
        setattr(torch, name, pinning(torch, name, getattr(torch, name)))


def pinning(torch, name, function):
    @functools.wraps(function)
    def make(*args, pin_memory=False, **named):
        made = function(*args, **named)
        return made.pin_memory() if pin_memory and not made.is_cuda else made

    make.__module__ = "torch"
    return make


def time_no_reducer(torch):
    """Data-parallel training takes times of its first passes with CUDA's events, in C++: it is not asked to."""
    distributed = sys.modules.get("torch.distributed")
    plain = getattr(distributed, "Reducer", None)
    if plain is None:
        return

    class Reducer(plain):
        __doc__ = plain.__doc__

        def prepare_for_forward(self):
            pass

    Reducer.__module__ = plain.__module__
    distributed.Reducer = Reducer


def compile_here(torch):
    """PyTorch's compiler (Inductor) has Triton compile in processes of its own, which would look for a GPU, and launches
    with the driver's functions."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ["TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER"] = "0"
    config = sys.modules.get("torch._inductor.config")
    if config is not None:
        config.compile_threads = 1
        if hasattr(config, "use_static_cuda_launcher"):
            config.use_static_cuda_launcher = False
    if "torch._inductor.compile_fx" in sys.modules:
        graph_here()
    else:
        sys.meta_path.insert(0, _hook.Finder({"torch._inductor.compile_fx": graph_here}))
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    if hasattr(guards, "_empty_strided_cuda"):
        guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype, device="cuda")


def graph_here():
    """Its trees of graphs share memory of the caching allocator, which is not here. Without gradients it has a graph for each
    function, as before; a forward pass with a backward pass to come is not captured: its results are kept until then."""
    inductor = sys.modules["torch._inductor.compile_fx"]
    plain = getattr(inductor, "cudagraphify", None)
    if plain is None:
        return

    @functools.wraps(plain)
    def cudagraphify(model, *args, is_inference=False, **named):
        if not is_inference:
            return model
        with inductor.config.patch("triton.cudagraph_trees", False):
            return plain(model, *args, is_inference=is_inference, **named)

    inductor.cudagraphify = cudagraphify
    kind = getattr(sys.modules.get("torch._inductor.output_code"), "CompiledFxGraph", None)
    if kind is not None:
        from . import device_torch_host

        kind.__call__ = device_torch_host.calling(kind.__call__)


def install(target):
    from . import device_torch_graph

    torch = device_torch.State.torch
    properties = Properties(target)
    stream, event, generator, any_generator = make_classes(torch)
    device_torch.State.generator = generator()
    answers = functions(torch, properties)
    built = torch.version.cuda is not None
    there = [name for name in dir(torch._C) if name.startswith("_cuda_") and not KEPT.match(name) and callable(getattr(torch._C, name))]
    answers.update({name: lacks(name) for name in there + LACKING if name not in answers})
    answers.update({name: value for name, value in accelerator(torch).items() if hasattr(torch._C, name)})
    if built:
        del answers["_cuda_getCompiledVersion"]
    answers.update(_CudaStreamBase=stream, _CudaEventBase=event, _CudaDeviceProperties=Properties, Generator=any_generator,
                   _CUDAGraph=device_torch_graph.make_base(), _graph_pool_handle=device_torch_graph.pool_handle)
    for name, value in answers.items():
        setattr(torch._C, name, value)
    torch.Generator = any_generator
    if not built:
        torch.version.cuda, torch._C._has_cuda = "12.8", True
        make_types(torch)
    # Names that modules have taken from torch._C.
    cuda = torch.cuda
    parts = [module for name, module in list(sys.modules.items()) if name.startswith("torch.cuda") and isinstance(module, types.ModuleType)]
    for part in parts:
        for key, value in list(vars(part).items()):
            if key in answers and key != "Generator":
                setattr(part, key, answers[key])
    cuda._exchange_device, cuda._maybe_exchange_device = answers["_cuda_exchangeDevice"], answers["_cuda_maybeExchangeDevice"]
    cuda._is_in_bad_fork = answers["_cuda_isInBadFork"]
    cuda._CudaDeviceProperties, cuda._cudart = Properties, Runtime(properties)
    cuda.default_generators = (device_torch.State.generator,) * program.State.devices
    cuda._get_device_properties = answers["_cuda_getDeviceProperties"]
    cuda.nvtx._nvtx = Marks()
    execute_again(torch, "torch.cuda.streams", parts)
    execute_again(torch, "torch.cuda.graphs", parts)
    torch._C._set_cudnn_enabled(False)
    hold_storages(torch)
    resize_storages(torch)
    device_torch_native.answer_streams(sys.modules[__name__], device_torch_native.ANSWERED - device_torch_native.FREQUENT)
    device_torch_native.watch_backward(torch)
    pin_what_is_made(torch)
    time_no_reducer(torch)
    compile_here(torch)
