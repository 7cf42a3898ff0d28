"""Memory of the device `cuda` that several processes have, where there is no GPU: files that are mapped into each of them.
Tensors that multiprocessing hands over (CUDA's IPC handles), and symmetric memory (torch.distributed._symmetric_memory) with
its barriers and signals. In the order log such memory has a key, which is the name of its file."""

import atexit
import ctypes
import fcntl
import functools
import itertools
import mmap
import os
import sys
import tempfile
import time

from . import _hook, program, program_processes
from .device_torch import State, check_device, to_cuda
from .device_torch_memory import DATA

HANDLE = 64  # bytes of an IPC handle of CUDA
SIGNAL = 4  # bytes of a signal
ALIGN = 16
counter = itertools.count()


def folder():
    """Of memory and of the lock, the same in all processes of a program."""
    given = os.environ.get("WEIR_CAPTURE")
    return given or ("/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir())


def lock_path():
    return os.path.join(folder(), ".weir-lock" if os.environ.get("WEIR_CAPTURE") else f"weir-{os.getuid()}.lock")


class Lock:
    """Of processes that access the memory that they share: kernels and signals take turns."""

    file = None

    @classmethod
    def held(cls):
        """Takes it; for `with`, which gives it back."""
        if cls.file is None:
            cls.file = os.open(lock_path(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return cls()

    def __enter__(self):
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *error):
        fcntl.flock(self.file, fcntl.LOCK_UN)
        return False


class Segment:
    """Memory of a file. The process that makes it removes the file at its end."""

    opened = {}  # by name

    def __init__(self, name, size=None):
        self.name, path = name, os.path.join(folder(), name)
        file = os.open(path, os.O_RDWR | (os.O_CREAT | os.O_EXCL if size is not None else 0), 0o600)
        try:
            if size is not None:
                os.ftruncate(file, size)
                atexit.register(remove, path, os.getpid())
            self.size = os.fstat(file).st_size
            self.map = mmap.mmap(file, self.size)
        finally:
            os.close(file)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        Segment.opened[name] = self

    @classmethod
    def make(cls, size):
        return cls(f"weir-{os.getpid()}-{next(counter)}-{time.time_ns():x}", max(size, 1))

    @classmethod
    def get(cls, name):
        return cls.opened.get(name) or cls(name)

    def tensor(self, mine):
        """All of it, as bytes on the device. The process that makes it has allocated it."""
        torch = State.torch
        with torch._C.DisableTorchFunction():
            low = torch.frombuffer(self.map, dtype=torch.uint8)
        State.memory.share(self.address, self.size, self.name, mine)
        return to_cuda(low)


def remove(path, process):
    if os.getpid() == process:
        try:
            os.unlink(path)
        except OSError:
            pass


# ---- Tensors that multiprocessing hands over ------------------------------------------------------------


def repoint(storage, address):
    """The storage has its bytes there from now on, and so have all tensors that are views of it."""
    cell = ctypes.c_uint64.from_address(storage._cdata + 8 * DATA)
    if cell.value != storage.data_ptr():
        raise NotImplementedError("Weir's device cuda cannot share a tensor with another process in this release of PyTorch")
    cell.value = address


def moved(storage):
    """Its segment: bytes that no other process can have yet are moved to one."""
    address, size = storage.data_ptr(), storage.nbytes()
    for segment in Segment.opened.values():
        if segment.address <= address < segment.address + segment.size:
            return segment
    segment = Segment.make(size)
    ctypes.memmove(segment.address, address, size)
    repoint(storage, segment.address)
    State.memory.move(address, segment.address, size, segment.name)
    return segment


def share(self, *args, **named):
    """As UntypedStorage._share_cuda_: device, handle, bytes, offset, reference counter, event, and whether that is waited for."""
    if not self.nbytes():
        return 0, None, 0, 0, b"", 0, b"", False
    segment, event = moved(self), f"event-{os.getpid()}-{next(counter)}"
    log = program.State.log
    if log is not None:
        number = log.event()
        log.record(number, program.current.stream)
        log.shared_event(number, event)
    offset = self.data_ptr() - segment.address
    return 0, segment.name.encode().ljust(HANDLE, b"\0"), self.nbytes(), offset, b"", 0, event.encode().ljust(HANDLE, b"\0"), True


def take(cls, device, handle, size, offset, reference, reference_offset, event, waits):
    """As UntypedStorage._new_shared_cuda. The current stream waits for what the sender's had done."""
    segment = Segment.get(handle.rstrip(b"\0").decode())
    made = segment.tensor(False)
    log = program.State.log
    if log is not None and waits:
        number = log.event()
        log.shared_event(number, event.rstrip(b"\0").decode())
        log.wait(number, program.current.stream)
        log.event_gone(number)
    made = made[offset:offset + size].untyped_storage() if (offset, size) == (0, segment.size) else to_cuda(
        State.torch.frombuffer(segment.map, dtype=State.torch.uint8, count=size, offset=offset)).untyped_storage()
    return made


# ---- Symmetric memory -------------------------------------------------------------------------------------


class Block:
    """What empty_strided_p2p has allocated: data, and signals behind it."""

    made = {}  # by address

    def __init__(self, size):
        self.size = -(-max(size, 1) // ALIGN) * ALIGN
        self.segment = Segment.make(self.size + SymmetricMemory.signal_pad_size)
        self.handles = {}  # by group
        Block.made[self.segment.address] = self


class Kind(type):
    """signal_pad_size is a property of the class."""

    pad = 2048

    @property
    def signal_pad_size(cls):
        return Kind.pad

    @signal_pad_size.setter
    def signal_pad_size(cls, size):
        Kind.pad = size


class SymmetricMemory(metaclass=Kind):
    """As torch._C._distributed_c10d._SymmetricMemory: memory of all processes of a group."""

    def __init__(self, block, group, names):
        self.group, self.block, self.closed = group, block, False
        self.rank, self.world_size = group.rank(), group.size()
        self.segments = [Segment.get(name) for name in names]
        self.whole = [segment.tensor(rank == self.rank) for rank, segment in enumerate(self.segments)]
        self.buffer_size, self.offset = block.size, 0
        self.buffer_ptrs = [segment.address for segment in self.segments]
        self.signal_pad_ptrs = [address + block.size for address in self.buffer_ptrs]
        self.signal_pad_size = self.segments[0].size - block.size
        self.tables = [State.torch.tensor(addresses, dtype=State.torch.int64).cuda() for addresses in (self.buffer_ptrs, self.signal_pad_ptrs)]
        State.memory.tables.update((table.data_ptr(), table.nbytes) for table in self.tables)
        self.buffer_ptrs_dev, self.signal_pad_ptrs_dev = (table.data_ptr() for table in self.tables)
        self.multicast_ptr, self.device = 0, State.torch.device("cuda", 0)
        self.key, self.counts, self.kept = "/".join(names), {}, {}

    # ---- What the class does ----

    @staticmethod
    def empty_strided_p2p(size, stride, dtype, device, group_name=None, alloc_id=None):
        torch = State.torch
        check_device(torch.device(device).index)
        reach = 1 + sum((extent - 1) * step for extent, step in zip(size, stride)) if all(size) else 0
        block = Block(reach * torch.empty((), dtype=dtype, device="meta").element_size())
        whole = block.segment.tensor(True)
        return whole[:block.size].view(dtype).as_strided(tuple(size), tuple(stride), 0)

    @staticmethod
    def rendezvous(tensor, group_name=None):
        import torch.distributed as distributed

        core = distributed.distributed_c10d
        block = Block.made.get(tensor.untyped_storage().data_ptr())
        if block is None:
            raise RuntimeError("rendezvous: the tensor was not allocated by torch.distributed._symmetric_memory.empty")
        group = core._resolve_process_group(group_name) if group_name else core._get_default_group()
        handle = block.handles.get(group.group_name)
        if handle is None:
            names = [None] * group.size()
            distributed.all_gather_object(names, block.segment.name, group=group)
            handle = block.handles[group.group_name] = SymmetricMemory(block, group, names)
        return handle

    @staticmethod
    def set_group_info(*args, **named):
        pass

    @staticmethod
    def set_backend(name):
        pass

    @staticmethod
    def get_backend(device):
        return "CUDA"

    @staticmethod
    def has_multicast_support(*args):
        return False

    # ---- Memory ----

    def part(self, rank, begin, sizes, dtype, offset):
        sizes, count = tuple(sizes), 1
        for extent in sizes:
            count *= extent
        width = State.torch.empty((), dtype=dtype, device="meta").element_size()
        end = begin + (offset + count) * width
        if end > (self.buffer_size if begin < self.buffer_size else self.segments[rank].size):
            raise RuntimeError(f"SymmetricMemory: {end - begin} bytes are asked for, which is more than there are")
        return self.whole[rank][begin:].view(State.torch.uint8)[offset * width:end - begin].view(dtype).view(sizes)

    def get_buffer(self, rank, sizes, dtype, storage_offset=0):
        return self.part(rank, 0, sizes, dtype, storage_offset)

    def get_signal_pad(self, rank, sizes=(), dtype=None, storage_offset=0):
        dtype = dtype or State.torch.uint32
        width = State.torch.empty((), dtype=dtype, device="meta").element_size()
        return self.part(rank, self.buffer_size, sizes or (self.signal_pad_size // width - storage_offset,), dtype, storage_offset)

    def get_remote_tensor(self, peer, sizes, dtype):
        return self.get_buffer(peer, sizes, dtype)

    # ---- Signals: 0 and 1, which one process sets and another one takes ----

    def signal(self, rank, channel, source):
        if not 0 <= channel < self.signal_pad_size // SIGNAL // self.world_size:
            raise RuntimeError(f"SymmetricMemory: there is no channel {channel}")
        return self.signal_pad_ptrs[rank] + SIGNAL * (channel * self.world_size + source)

    @staticmethod
    def exchange(address, old, new, timeout):
        """Waits until the signal has a value, and sets another."""
        cell, until = ctypes.c_uint32.from_address(address), time.monotonic() + (timeout / 1000 if timeout else 300)
        while True:
            with Lock.held():
                if cell.value == old:
                    cell.value = new
                    return
            if time.monotonic() > until:
                raise RuntimeError("SymmetricMemory: the other process has not come in time")
            time.sleep(0.0005)

    def put(self, rank, channel, timeout):
        """What this stream has done goes with it."""
        key, log = self.number("put", rank, channel, self.rank), program.State.log
        if log is not None:
            event = self.kept.pop((rank, channel), None)
            if event is not None:
                log.event_gone(event)  # that one was received before the signal could be set again
            event = self.kept[rank, channel] = log.event()
            log.record(event, program.current.stream)
            log.shared_event(event, key)
        self.exchange(self.signal(rank, channel, self.rank), 0, 1, timeout)

    def take(self, rank, channel, timeout):
        key = self.number("take", self.rank, channel, rank)
        self.exchange(self.signal(self.rank, channel, rank), 1, 0, timeout)
        log = program.State.log
        if log is not None:
            event = log.event()
            log.shared_event(event, key)
            log.wait(event, program.current.stream)
            log.event_gone(event)

    def number(self, what, to, channel, source):
        """The key of a signal: both sides count them."""
        at = what, to, channel, source
        self.counts[at] = count = self.counts.get(at, 0) + 1
        return f"{self.key}:{to}:{channel}:{source}:{count}"

    def operation(self, name, sets, takes):
        """In the log: of which signals."""
        if State.graph is not None:
            raise NotImplementedError("Weir's device cuda has no symmetric memory in graphs")
        log = program.State.log
        if log is not None:
            lines = [f"{letter} {address} {SIGNAL}\n" for letter, address in (*(("W", one) for one in sets), *(("R", one) for one in takes),
                                                                              *(("W", one) for one in takes))]
            log.operation("launch", program.current.stream, name, lines)

    def barrier(self, channel=0, timeout_ms=0):
        others = [rank for rank in range(self.world_size) if rank != self.rank]
        self.operation("symm_mem::barrier", [self.signal(rank, channel, self.rank) for rank in others],
                       [self.signal(self.rank, channel, rank) for rank in others])
        for rank in others:
            self.put(rank, channel, timeout_ms)
        for rank in others:
            self.take(rank, channel, timeout_ms)

    def put_signal(self, dst_rank, channel=0, timeout_ms=0):
        self.operation("symm_mem::put_signal", [self.signal(dst_rank, channel, self.rank)], [])
        self.put(dst_rank, channel, timeout_ms)

    def wait_signal(self, src_rank, channel=0, timeout_ms=0):
        self.operation("symm_mem::wait_signal", [], [self.signal(self.rank, channel, src_rank)])
        self.take(src_rank, channel, timeout_ms)


def lacking(name):
    def call(*args, **named):
        raise NotImplementedError(f"Weir's device cuda has no symmetric memory with {name}")

    return staticmethod(call)


for lacked in ("memset32", "stream_write_value32", "get_mempool_allocator"):
    setattr(SymmetricMemory, lacked, lacking(lacked))


def give_symmetric_memory():
    """In place of the class of C++, which knows no device here."""
    import torch._C._distributed_c10d as core

    core._SymmetricMemory = SymmetricMemory
    there = sys.modules.get("torch.distributed._symmetric_memory")
    if there is not None:
        there._SymmetricMemory = SymmetricMemory


def without_nccl(core):
    """Groups over NCCL are groups over gloo, with the order of NCCL: program_processes.STREAMED."""
    plain = core._new_process_group_helper

    @functools.wraps(plain)
    def make(size, rank, ranks, backend, *args, **named):
        asked = str(backend or "").lower()
        if "nccl" in asked or asked in ("", "undefined"):
            named.update(backend_options=None, device_id=None)
            made = plain(size, rank, ranks, core.Backend("gloo"), *args, **named)
            if made[0] is not None and hasattr(made[0], "group_name"):
                program_processes.STREAMED.add(made[0].group_name)
            return made
        return plain(size, rank, ranks, backend, *args, **named)

    core._new_process_group_helper = make


def install(torch):
    storage = torch.UntypedStorage
    storage._share_cuda_, storage._new_shared_cuda = share, classmethod(take)
    storage._release_ipc_counter_cuda = classmethod(lambda cls, *args, **named: None)
    if hasattr(torch._C, "_distributed_c10d"):
        give_symmetric_memory()
        core = "torch.distributed.distributed_c10d"
        _hook.after(core, lambda: without_nccl(sys.modules[core]))
