"""Memory of the device `cuda` of PyTorch where there is no GPU: host memory that the CPU allocator gives, counted as CUDA's
caching allocator counts it, with a record of which allocations have bytes that were never written."""

import ctypes
import threading
import weakref
from collections import deque

from . import unwritten

ROUND = 512  # the caching allocator gives multiples of it
SMALL = 1 << 20  # and has a pool of its own for those up to it
CPU, CUDA = 1, 2  # DLPack's numbers of devices


class Exchange:
    """A tensor's bytes under another device. DLPack's capsule holds the tensor, and says where it is; what it says is
    changed before PyTorch makes a tensor of the capsule."""

    def __init__(self, torch):
        self.export, self.take = torch._C._to_dlpack, torch._C._from_dlpack
        self.locate = ctypes.pythonapi.PyCapsule_GetPointer
        self.locate.restype, self.locate.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self.bytes, self.set_conjugate = torch.uint8, torch._C._set_conj
        self.torch = torch

    def move(self, tensor, kind):
        try:
            capsule = self.export(tensor)
        except (RuntimeError, BufferError):  # a type that this release of DLPack does not have
            return self.move_bytes(tensor, kind)
        ctypes.c_int32.from_address(self.locate(capsule, b"dltensor") + 8).value = kind
        return self.take(capsule)

    def move_bytes(self, tensor, kind):
        torch, width = self.torch, tensor.element_size()
        start = torch.as_strided(tensor.view(torch.uint8) if tensor.dim() else tensor.reshape(1).view(torch.uint8), (0,), (1,))
        reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
        flat = torch.as_strided(start, (reach * width,), (1,), tensor.storage_offset() * width)
        return torch.as_strided(self.move(flat, kind).view(tensor.dtype), tensor.shape, tensor.stride(), 0)

    def to_cpu(self, tensor):
        """A tensor on the CPU with the same bytes: it keeps them, too."""
        made = self.move(tensor, CPU)
        if tensor.is_conj():
            self.set_conjugate(made, True)
        return self.torch._neg_view(made) if tensor.is_neg() else made


class Allocation(weakref.ref):
    """Of the storage that holds the bytes."""

    __slots__ = ("address", "size", "rounded")


class Counter:
    """As the caching allocator's: of allocations, or of their bytes."""

    def __init__(self):
        self.current = self.peak = self.allocated = self.freed = 0

    def add(self, amount):
        self.current += amount
        self.allocated += amount
        self.peak = max(self.peak, self.current)

    def remove(self, amount):
        self.current -= amount
        self.freed += amount

    def values(self):
        return {"current": self.current, "peak": self.peak, "allocated": self.allocated, "freed": self.freed}


class Memory:
    """All allocations that live. The device that runs kernels on them, if there is one, is unwritten.State.listener: here
    it learns of allocated(address, size, written) and freed(address)."""

    def __init__(self):
        self.live, self.dead, self.lock = {}, deque(), threading.Lock()
        self.counters = {(kind, pool): Counter() for kind in ("allocation", "bytes", "requested") for pool in ("all", "small", "large")}
        self.pinned = {}

    # ---- Allocations -----------------------------------------------------------------------------

    def count(self, allocation, change):
        pools = ("all", "small" if allocation.rounded <= SMALL else "large")
        for pool in pools:
            change(self.counters["allocation", pool], 1)
            change(self.counters["bytes", pool], allocation.rounded)
            change(self.counters["requested", pool], allocation.size)

    def settle(self):
        """What was freed since. Called with the lock: a weak reference can call back within any step of any thread."""
        while self.dead:
            allocation = self.dead.popleft()
            self.count(allocation, Counter.remove)
            if self.live.get(allocation.address) is allocation:
                del self.live[allocation.address]
                unwritten.State.storages.discard(allocation.address)
                if unwritten.State.listener:
                    unwritten.State.listener.freed(allocation.address)

    def add(self, storage, written):
        """Of a storage on the CPU that a tensor on the device now has."""
        size, address = storage.nbytes(), storage.data_ptr()
        if not size:
            return
        with self.lock:
            self.settle()
            if address in self.live:
                return
            allocation = Allocation(storage, self.dead.append)
            allocation.address, allocation.size = address, size
            allocation.rounded = (size + ROUND - 1) // ROUND * ROUND
            self.live[address] = allocation
            self.count(allocation, Counter.add)
            (unwritten.State.storages.discard if written else unwritten.State.storages.add)(address)
            if unwritten.State.listener:
                unwritten.State.listener.allocated(address, size, written)

    def allocations(self):
        """Address and bytes of each, in the order of their addresses."""
        with self.lock:
            self.settle()
            return sorted((one.address, one.size) for one in self.live.values())

    def listen(self, listener):
        """From now on; what lives is reported at once."""
        with self.lock:
            self.settle()
            unwritten.State.listener = listener
            for one in self.live.values():
                listener.allocated(one.address, one.size, one.address not in unwritten.State.storages)

    # ---- Memory of the host that is pinned ---------------------------------------------------------

    def pin(self, storage):
        address = storage.data_ptr()
        self.pinned[address] = weakref.ref(storage, lambda reference: self.pinned.pop(address, None))

    def is_pinned(self, storage):
        return storage.data_ptr() in self.pinned

    # ---- Statistics ------------------------------------------------------------------------------

    def statistics(self):
        """As torch._C._cuda_memoryStats."""
        with self.lock:
            self.settle()

        def group(kind):
            return {pool + ("" if pool == "all" else "_pool"): self.counters[kind, pool].values() for pool in ("all", "small", "large")}

        none = {pool: Counter().values() for pool in ("all", "small_pool", "large_pool")}
        return {"allocation": group("allocation"), "segment": group("allocation"), "active": group("allocation"), "inactive_split": none,
                "allocated_bytes": group("bytes"), "reserved_bytes": group("bytes"), "active_bytes": group("bytes"),
                "inactive_split_bytes": none, "requested_bytes": group("requested"), "oversize_allocations": Counter().values(),
                "oversize_segments": Counter().values(), "num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0,
                "num_device_alloc": self.counters["allocation", "all"].allocated,
                "num_device_free": self.counters["allocation", "all"].freed, "max_split_size": -1}

    def allocated(self):
        with self.lock:
            self.settle()
            return self.counters["bytes", "all"].current

    def reset_peaks(self):
        with self.lock:
            self.settle()
            for counter in self.counters.values():
                counter.peak = counter.current

    def reset_accumulated(self):
        with self.lock:
            self.settle()
            for counter in self.counters.values():
                counter.allocated, counter.freed = counter.current, 0
