"""Memory of the device `cuda` of PyTorch where there is no GPU: host memory that the CPU allocator gives, counted as CUDA's
caching allocator counts it, with a record of which allocations have bytes that were never written."""

import ctypes
import weakref
from collections import deque

from . import program, unwritten

ROUND = 512  # the caching allocator gives multiples of it
SMALL = 1 << 20  # and has a pool of its own for those up to it
DATA, SIZE = 2, 6  # words of a storage of C++
SHARED = 2  # WEIR_MEMORY_SHARED
PEERS = SHARED | 1  # what other processes write is known
CPU, CUDA = 1, 2  # DLPack's numbers of devices


def make_exchange(torch):
    """Two functions that give a tensor's bytes another device: to the CPU, and to the device. DLPack's capsule holds the
    tensor, and says where it is; what it says is changed before PyTorch makes a tensor of the capsule. Each operator of the
    device calls them."""
    export, take, number = torch._C._to_dlpack, torch._C._from_dlpack, ctypes.c_int32.from_address
    locate = ctypes.pythonapi.PyCapsule_GetPointer
    locate.restype, locate.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    def move(tensor, kind):
        try:
            capsule = export(tensor)
        except (RuntimeError, BufferError):  # a type that this release of DLPack does not have
            return move_bytes(tensor, kind)
        at = locate(capsule, b"dltensor")
        number(at + 8).value = kind
        if kind == CUDA:
            number(at + 12).value = program.device_of(program.current.stream)
        return take(capsule)

    def move_bytes(tensor, kind):
        width = tensor.element_size()
        flat = (tensor if tensor.dim() else tensor.reshape(1)).as_strided((0,), (1,)).view(torch.uint8)
        reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
        flat = flat.as_strided((reach * width,), (1,), tensor.storage_offset() * width)
        return move(flat, kind).view(tensor.dtype).as_strided(tensor.shape, tensor.stride(), 0)

    def to_cpu(tensor):
        try:
            capsule = export(tensor)
            number(locate(capsule, b"dltensor") + 8).value = CPU  # of which the number does not count
            made = take(capsule)
        except (RuntimeError, BufferError):
            made = move_bytes(tensor, CPU)
        if tensor.is_conj():
            torch._C._set_conj(made, True)
        return torch._neg_view(made) if tensor.is_neg() else made

    return to_cpu, lambda tensor: move(tensor, CUDA)


class Allocation(weakref.ref):
    """Of the storage that holds the bytes."""

    __slots__ = ("address", "size", "rounded", "kept", "gone", "key")
    # kept: a tensor that has the bytes since the storage was resized; gone: it was freed then


class Pool:
    """Counts of one of the caching allocator's pools, or of all: allocations, their bytes, and the bytes that were asked
    for, each as it is now, at the most, and as much as was freed."""

    __slots__ = ("count", "bytes", "requested", "count_peak", "bytes_peak", "requested_peak", "count_freed", "bytes_freed",
                 "requested_freed")
    KINDS = ("count", "bytes", "requested")

    def __init__(self):
        for name in self.__slots__:
            setattr(self, name, 0)

    def values(self, kind):
        current, freed = getattr(self, kind), getattr(self, f"{kind}_freed")
        return {"current": current, "peak": getattr(self, f"{kind}_peak"), "allocated": current + freed, "freed": freed}


class Memory:
    """All allocations that live. The device that runs kernels on them, if there is one, is unwritten.State.listener: here
    it learns of allocated(address, size, written) and freed(address). No lock: each change is one step of the interpreter,
    and a weak reference can call back within any step of any thread, so that it does no more than append to a queue."""

    def __init__(self):
        self.live, self.dead = {}, deque()
        self.all, self.small, self.large = Pool(), Pool(), Pool()
        self.pinned = {}
        self.resized = {}  # by the address of a storage: the allocation that it was made with
        self.shared = {}  # address and size of memory that other processes have, too: its key, and where it was before
        self.tables = set()  # address and size of memory that holds its addresses

    # ---- Allocations -----------------------------------------------------------------------------

    def settle(self):
        """What was freed since."""
        while self.dead:
            try:
                allocation = self.dead.popleft()
            except IndexError:  # another thread was faster
                return
            if allocation.gone:
                self.resized.pop(allocation.gone, None)
                allocation.kept = None
                continue
            for pool in (self.all, self.small if allocation.rounded <= SMALL else self.large):
                pool.count -= 1
                pool.bytes -= allocation.rounded
                pool.requested -= allocation.size
                pool.count_freed += 1
                pool.bytes_freed += allocation.rounded
                pool.requested_freed += allocation.size
            if self.live.get(allocation.address) is allocation:
                del self.live[allocation.address]
                unwritten.State.storages.discard(allocation.address)
                if program.State.log is not None:
                    program.State.log.freed(allocation.address)
                    before = self.shared.get((allocation.address, allocation.size), (None, None))[1]
                    if before is not None:
                        program.State.log.freed(before)
                self.shared.pop((allocation.address, allocation.size), None)
                if unwritten.State.listener:
                    unwritten.State.listener.freed(allocation.address)

    def add(self, storage, written):
        """Of a storage on the CPU that a tensor on the device now has."""
        size = storage.nbytes()
        if not size:
            return
        if self.dead:
            self.settle()
        address = storage.data_ptr()
        if address in self.live:
            return
        allocation = Allocation(storage, self.dead.append)
        allocation.address, allocation.size, allocation.kept, allocation.gone = address, size, None, None
        allocation.rounded = rounded = (size + ROUND - 1) // ROUND * ROUND
        self.live[address] = allocation
        shared = self.shared.get((address, size))
        if program.State.log is not None and shared is None:
            program.State.log.allocated(address, size, None if program.State.captures else program.current.stream)
        for pool in (self.all, self.small if rounded <= SMALL else self.large):
            pool.count += 1
            pool.bytes += rounded
            pool.requested += size
            if pool.bytes > pool.bytes_peak:
                pool.bytes_peak = pool.bytes
            if pool.count > pool.count_peak:
                pool.count_peak = pool.count
            if pool.requested > pool.requested_peak:
                pool.requested_peak = pool.requested
        (unwritten.State.storages.discard if written else unwritten.State.storages.add)(address)
        if unwritten.State.listener:
            unwritten.State.listener.allocated(address, size, written | (PEERS if shared else SHARED if program.State.devices > 1 else 0))

    def share(self, address, size, key, mine):
        """Other processes have the memory there, too, by that key; `mine`: it is new."""
        if (address, size) in self.shared:
            return
        self.shared[address, size] = key, None
        self.tell_shared()
        if program.State.log is not None:
            if mine:
                program.State.log.pinned(address, size)
            program.State.log.shared(address, size, key)

    @staticmethod
    def tell_shared():
        for tell in unwritten.State.when_shared:
            tell()

    def move(self, address, to, size, key):
        """What was in memory of this process alone is in memory that others have."""
        allocation = self.live.pop(address)
        allocation.address = to
        self.live[to], self.shared[to, size] = allocation, (key, address)
        self.tell_shared()
        if program.State.log is not None:
            program.State.log.shared(address, size, key)
            program.State.log.shared(to, size, key)
        if address in unwritten.State.storages:
            unwritten.State.storages.discard(address)
        if unwritten.State.listener:
            unwritten.State.listener.freed(address)
            unwritten.State.listener.allocated(to, size, PEERS)

    def resize(self, storage, size, fresh):
        """The bytes of a storage are those of another tensor of the device, `fresh`, from now on; None: it has none. C++ holds their
        address and their number in the storage."""
        cells = (ctypes.c_uint64 * (SIZE + 1)).from_address(storage._cdata)
        first = self.resized.get(storage._cdata) or self.live.get(storage.data_ptr())
        if first is None or cells[DATA] != storage.data_ptr() or cells[SIZE] != storage.nbytes():
            raise NotImplementedError("Weir's device cuda cannot resize this storage")
        cells[DATA], cells[SIZE] = fresh.data_ptr() if fresh is not None else 0, size
        if not first.gone:
            self.dead.append(first)
            self.settle()
            first.gone = storage._cdata
            self.resized[first.gone] = first
        first.kept = fresh

    def allocations(self):
        """Address and bytes of each, in the order of their addresses."""
        self.settle()
        return sorted((one.address, one.size) for one in list(self.live.values()))

    def all_memory(self):
        """As program.State.memory."""
        pinned = [(address, storage()) for address, storage in list(self.pinned.items())]
        return [(address, size, False) for address, size in self.allocations()] + [
            (address, storage.nbytes(), True) for address, storage in pinned if storage is not None and storage.nbytes()]

    def reach(self):
        """(begin, end) of memory that other processes have, and of tables of its addresses."""
        return [(address, address + size) for address, size in (*self.shared, *self.tables)]

    def all_shared(self):
        """As program.State.shared."""
        return [(address, size, key) for (address, size), (key, _) in list(self.shared.items()) if address in self.live]

    def listen(self, listener):
        """From now on; what lives is reported at once."""
        if unwritten.State.listener is listener:
            return
        self.settle()
        unwritten.State.listener = listener
        for one in list(self.live.values()):
            peers = PEERS if (one.address, one.size) in self.shared else SHARED if program.State.devices > 1 else 0
            listener.allocated(one.address, one.size, (one.address not in unwritten.State.storages) | peers)

    # ---- Memory of the host that is pinned ---------------------------------------------------------

    def pin(self, storage):
        address = storage.data_ptr()
        self.pinned[address] = weakref.ref(storage, lambda reference: self.unpin(address))
        if program.State.log is not None and storage.nbytes():
            program.State.log.pinned(address, storage.nbytes())
            from . import device_torch_host

            device_torch_host.watch_views()

    def unpin(self, address):
        self.pinned.pop(address, None)
        if program.State.log is not None:
            program.State.log.freed(address)

    def is_pinned(self, storage):
        return storage.data_ptr() in self.pinned

    # ---- Statistics ------------------------------------------------------------------------------

    def statistics(self):
        """As torch._C._cuda_memoryStats. Nothing is kept in reserve: what is freed is the host's again."""
        self.settle()
        pools = {"all": self.all, "small_pool": self.small, "large_pool": self.large}
        counts, sizes, requested = ({name: pool.values(kind) for name, pool in pools.items()} for kind in Pool.KINDS)
        none = {name: Pool().values("count") for name in pools}
        return {"allocation": counts, "segment": counts, "active": counts, "inactive_split": none, "allocated_bytes": sizes,
                "reserved_bytes": sizes, "active_bytes": sizes, "inactive_split_bytes": none, "requested_bytes": requested,
                "oversize_allocations": none["all"], "oversize_segments": none["all"], "num_alloc_retries": 0, "num_ooms": 0,
                "num_sync_all_streams": 0, "num_device_alloc": counts["all"]["allocated"], "num_device_free": counts["all"]["freed"],
                "max_split_size": -1}

    def allocated(self):
        self.settle()
        return self.all.bytes

    def reset_peaks(self):
        self.settle()
        for pool in (self.all, self.small, self.large):
            pool.count_peak, pool.bytes_peak, pool.requested_peak = pool.count, pool.bytes, pool.requested

    def reset_accumulated(self):
        self.settle()
        for pool in (self.all, self.small, self.large):
            pool.count_freed = pool.bytes_freed = pool.requested_freed = 0
