"""CUDA graphs on the device without a GPU: while one records, launches of kernels and operators that write to memory that
is there are kept and not made, as on a GPU; an operator that makes a tensor has to say how large that is, so it is run, and
what it computes counts for nothing. A replay does all of them again, in order, on the same memory."""

import ctypes
import itertools
import weakref

from . import device_torch, program
from .device_torch import State

pools = itertools.count(1)
users = {}  # of each pool: the recordings that live and have memory of it
scratch = {}  # of each pool that several use: a byte that stands for its memory


def log(what, *values):
    if program.State.log is not None:
        getattr(program.State.log, what)(*values)


def pool_handle():
    return 0, next(pools)


class Recording:
    """What a graph does: functions without arguments. Only operators of the thread that records, and of those that work for
    it (autograd's), come here: torch.cuda.graph lets no other work be done at the time."""

    def __init__(self, pool=None):
        self.steps, self.inside, self.pool = [], False, pool
        self.streams = {}  # of those that it was captured from: the stream that a replay has for each
        self.events = {}  # of those that were recorded meanwhile: their numbers in the order log

    def add(self, work):
        """Work of the stream that is captured; work() does it."""
        self.steps.append((program.current.stream, program.where(), work))

    def event(self, what, event, stream):
        """An event that is recorded, or waited for, by a stream that is captured."""
        if what == "record":
            self.events[id(event)] = event, None if program.State.log is None else program.State.log.event()
        if id(event) in self.events and what in ("record", "wait"):
            number = self.events[id(event)][1]
            self.steps.append((stream, None, lambda: log(what, number, program.current.stream)))

    def replay(self):
        """Each stream of the graph begins after what the replay's stream has, and that goes on after all of them."""
        begun, site = program.current.stream, program.current.site
        for stream in {stream for stream, _, _ in self.steps} - set(self.streams):
            self.streams[stream] = self.graph_stream(stream)
        for stream in self.streams.values():
            log("fork", begun, stream)
        self.use_pool()
        try:
            for stream, where, work in list(self.steps):
                program.current.stream, program.current.site = self.streams[stream], where
                work()
        finally:
            program.current.stream, program.current.site = begun, site
        for stream in self.streams.values():
            log("join", begun, stream)

    def use_pool(self):
        """Graphs that share a pool may have the same memory for what they compute in between."""
        now = program.State.log
        if now is None or len(users.get(self.pool, ())) < 2:
            return
        known, byte = scratch.get(self.pool, (None, None))
        if known is not now:
            known, byte = scratch[self.pool] = now, ctypes.c_byte()
            now.pinned(ctypes.addressof(byte), 1)
        stream = next(iter(self.streams.values()), None)
        if stream is not None:
            now.operation("copy", stream, "a graph, in its memory pool", [f"w {ctypes.addressof(byte)} 1\n"])

    @staticmethod
    def graph_stream(captured):
        from . import device_torch_cuda

        stream = next(device_torch_cuda.numbers)
        log("stream", stream, captured)
        return stream

    def takes(self):
        return not self.inside

    def launch(self, work):
        """Of a kernel: called at each replay."""
        self.add(work)

    def operator(self, kernel, args, named):
        """Of PyTorch. Tensors that it makes belong to the graph: a replay puts its results there."""
        if kernel.name in device_torch.WAITS or self.waits(kernel, args, named):
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing: "
                               f"{kernel.schema.name} makes the host wait for the device")
        self.inside = True
        try:
            if kernel.written and not kernel.fresh:
                self.add(lambda: kernel.compute(args, named))
                made = kernel.finished(args, named, [None] * len(kernel.returns))
                if any(number is None for number in kernel.returns):
                    made = kernel.compute(args, named)
                return made
            made = self.made(kernel, args, named)
            users.setdefault(self.pool, weakref.WeakSet()).add(self)
        finally:
            self.inside = False
        if kernel.written:  # and it returns nothing of that
            self.add(lambda: kernel.compute(args, named))
        elif not kernel.is_empty:
            self.add(lambda: self.again(kernel, args, named, made))
        return made

    def waits(self, kernel, args, named):
        """A copy from the device to memory of the host that is not pinned."""
        if kernel.name == "_to_copy":
            device = named.get("device")
            return device is not None and device.type == "cpu" and not named.get("non_blocking")
        return kernel.name == "copy_" and not args[0].is_cuda and not args[0].is_pinned()

    def made(self, kernel, args, named):
        if kernel.written:
            return None
        try:
            return kernel.compute(args, named)
        except (IndexError, RuntimeError):
            return self.sized(kernel, args, named)

    def sized(self, kernel, args, named):
        """What the operator would make, where it cannot compute it of what memory holds now."""
        torch = State.torch

        def abstract(value):
            if isinstance(value, torch.Tensor):
                return value.to("meta")
            if isinstance(value, (list, tuple)):
                return [abstract(part) for part in value]
            return torch.device("meta") if isinstance(value, torch.device) else value

        def real(value):
            if isinstance(value, torch.Tensor):
                return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda")
            return type(value)(map(real, value)) if isinstance(value, (list, tuple)) else value

        return real(kernel.op(*map(abstract, args), **{name: abstract(value) for name, value in named.items()}))

    def again(self, kernel, args, named, made):
        """The CPU's kernel on what memory holds at the replay; its results go where those of the recording are."""
        torch = State.torch

        def put(old, new):
            if isinstance(old, torch.Tensor):
                device_torch.to_cpu(old).copy_(device_torch.to_cpu(new))
            elif isinstance(old, (list, tuple)):
                for one, other in zip(old, new):
                    put(one, other)

        with program.quiet():
            computed = kernel.compute(args, named)
            put(made, computed)
        if program.State.log is not None:
            kernel.log(args, named, made)


def make_base():
    """As torch._C._CUDAGraph."""

    class CUDAGraph:
        def __new__(cls, *args, **named):
            return object.__new__(cls)

        def __init__(self, keep_graph=False):
            self._weir, self._pool, self._keep = None, None, keep_graph

        def capture_begin(self, pool=None, capture_error_mode="global", *args, **named):
            if State.graph is not None:
                raise RuntimeError("CUDA error: operation not permitted when stream is capturing: another graph records")
            self._pool = pool or pool_handle()
            self._weir = State.graph = Recording(self._pool)
            program.State.captures = True

        def capture_end(self):
            self.capture_end_pre()

        def capture_end_pre(self):
            if State.graph is None or State.graph is not self._weir:
                raise RuntimeError("CUDA error: the graph does not record (torch.cuda.CUDAGraph.capture_end)")
            State.graph = None
            program.State.captures = False

        def capture_end_post(self):
            pass

        def instantiate(self):
            pass

        @property
        def _has_graph_exec(self):
            """Whether it need not be instantiated before a replay."""
            return True

        def replay(self):
            if self._weir is None or State.graph is self._weir:
                raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
            self._weir.replay()

        def reset(self):
            self._weir = None

        def pool(self):
            if self._pool is None:
                raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
            return self._pool

        def pools(self):
            return [self.pool()]

        def _retain_pool(self, pool):
            pass

        def register_generator_state(self, generator):
            pass

        def enable_debug_mode(self):
            pass

        def debug_dump(self, path):
            raise NotImplementedError("Weir's device cuda has no torch.cuda.CUDAGraph.debug_dump")

        def raw_cuda_graph(self):
            raise NotImplementedError("Weir's device cuda has no torch.cuda.CUDAGraph.raw_cuda_graph")

    return CUDAGraph
