"""Memory that processes of PyTorch share on a GPU: tensors that multiprocessing hands over, and the barriers and signals of symmetric
memory, whose kernels have no PTX. What the driver's calls show is seen there: physical memory, events (src/runtime/record)."""

import collections
import functools
import os
import sys

from . import _hook, program
from .device_torch import State
from .device_torch_shared import SIGNAL


def own(library, plain):
    """What PyTorch does there with memory of its own is not the program's doing: it clears signals, and copies tables."""

    @functools.wraps(plain)
    def call(*args, **named):
        library.enter()
        try:
            return plain(*args, **named)
        finally:
            library.leave()

    return call


# ---- Tensors that multiprocessing hands over ---------------------------------------------------------------


def key_of(handle, offset):
    """The same for who gives and who takes: a storage is known by where it lies in what CUDA shares."""
    return f"{bytes(handle).hex()}-{offset}"


def sharing(library, plain):
    plain = own(library, plain)

    @functools.wraps(plain)
    def share(self, *args, **named):
        made = plain(self, *args, **named)
        if program.State.log is not None and made[1] is not None and self.nbytes():
            State.memory.share(self, key_of(made[1], made[3]))
        return made

    return share


def taking(library, plain):
    plain = own(library, plain)

    @functools.wraps(plain)
    def take(device, handle, size, offset, *args, **named):
        made = plain(device, handle, size, offset, *args, **named)
        if program.State.log is not None and made.nbytes():
            State.memory.share(made, key_of(handle, offset), True)
        return made

    return staticmethod(take)


# ---- Symmetric memory ----------------------------------------------------------------------------------------


class Signals:
    """Of memory that a group has met at: which signal of a place it is. All count them alike."""

    met = collections.Counter()  # by group
    known = {}  # by the addresses that this process has of all of it

    def __init__(self, group):
        Signals.met[group] += 1
        self.key, self.counts = f"signal-{os.getppid()}-{group}-{Signals.met[group]}", collections.Counter()

    def number(self, to, channel, source, waits):
        self.counts[to, channel, source, waits] += 1
        return f"{self.key}-{to}-{channel}-{source}-{self.counts[to, channel, source, waits]}"


def meeting(plain):
    @functools.wraps(plain)
    def rendezvous(tensor, group_name=None):
        handle = plain(tensor, group_name)
        Signals.known[tuple(handle.buffer_ptrs)] = Signals(group_name)
        return handle

    return staticmethod(rendezvous)


def signaling(library, name, plain, sides):
    """An operation of the stream: `sides` gives the processes that it signals, and those that it waits for."""

    named_too = own(library, plain)

    @functools.wraps(plain)
    def call(self, *args, **named):
        log, signals = program.State.log, Signals.known.get(tuple(self.buffer_ptrs))
        if log is None or signals is None or State.torch.cuda.is_current_stream_capturing():
            return plain(self, *args, **named)
        channel, sets, waits = sides(self, *args, **named)
        named_too(self, *args, **named)

        def place(to, source):
            return self.signal_pad_ptrs[to] + SIGNAL * (self.world_size * channel + source)

        program.current.stream = stream = State.torch._C._cuda_getCurrentRawStream(self.device.index)
        log.operation("launch", stream, f"symm_mem::{name}", [f"W {place(to, self.rank)} {SIGNAL}\n" for to in sets] +
                      [f"{letter} {place(self.rank, source)} {SIGNAL}\n" for source in waits for letter in "RW"])
        for to in sets:
            library.signal(stream, signals.number(to, channel, self.rank, False).encode(), False)
        for source in waits:
            library.signal(stream, signals.number(self.rank, channel, source, True).encode(), True)

    return call


def others(handle):
    return [rank for rank in range(handle.world_size) if rank != handle.rank]


SIDES = {"barrier": lambda handle, channel=0, timeout_ms=0: (channel, others(handle), others(handle)),
         "put_signal": lambda handle, dst_rank, channel=0, timeout_ms=0: (channel, [dst_rank], []),
         "wait_signal": lambda handle, src_rank, channel=0, timeout_ms=0: (channel, [], [src_rank])}


def watch_symmetric_memory(library):
    kind = getattr(sys.modules.get("torch._C._distributed_c10d"), "_SymmetricMemory", None)
    if kind is None:
        return
    kind.rendezvous, kind.empty_strided_p2p = meeting(own(library, kind.rendezvous)), staticmethod(own(library, kind.empty_strided_p2p))
    for name, sides in SIDES.items():
        setattr(kind, name, signaling(library, name, getattr(kind, name), sides))


def install(library):
    storage = State.torch.UntypedStorage
    storage._share_cuda_ = sharing(library, storage._share_cuda_)
    storage._new_shared_cuda = taking(library, storage._new_shared_cuda)
    _hook.after("torch.distributed.distributed_c10d", lambda: watch_symmetric_memory(library))
