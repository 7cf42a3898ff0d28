"""What a program does with PyTorch on a GPU, for the order log that libweir-gpu.so writes there (docs/programs.md): what each
operator and each launch of Triton accesses, with the line of the program. Streams, events, copies that are made elsewhere, and
what the host waits for are calls of the driver, which that library sees; it also knows which launches belong to an operator.

Each operator passes by here as those of the host do without a GPU (device_torch_host), from every thread: a kernel for the key
BackendSelect, which all tensors have, calls the GPU's. Nothing else of PyTorch is changed."""

import bisect
import ctypes
import functools
import re
import sys
import threading
import warnings

from . import _hook, device_torch, device_torch_host, device_torch_memory, device_torch_native, gpu_torch_shared, program, program_processes
from .device_torch import State

OLDEST = 2, 9  # from which on an operator that is replaced can still be called
# Operators that access nothing; and one that accesses memory only if it gives the tensor other memory.
PASSED = ("is_pinned", "set_", "empty_like", "is_set_to", "_pin_memory", "record_stream", "resize_")


STATIC = tuple(f"torch._inductor.runtime.static_{name}_launcher" for name in ("cuda", "triton"))


class Library:
    """Functions of libweir-gpu.so, which the program was started with. None: it was not."""

    functions = None

    @classmethod
    def find(cls):
        library, text, number = ctypes.PyDLL(None), ctypes.c_char_p, ctypes.c_ulonglong
        if not hasattr(library, "weir_order_begin"):
            return None
        for name, kinds in (("lines", [text]), ("operation", [ctypes.c_void_p, text, text]), ("launch", [ctypes.c_void_p, text, text]),
                            ("failed", [ctypes.c_void_p, text]), ("enter", []), ("leave", []),
                            ("allocated", [ctypes.c_void_p, number, number, text]), ("used", [ctypes.c_void_p, number]), ("timed", []),
                            ("shares", []), ("signal", [ctypes.c_void_p, text, ctypes.c_int]), ("waited", [ctypes.c_void_p])):
            function = getattr(library, f"weir_order_{name}")
            function.argtypes, function.restype = kinds, None
            setattr(cls, name, function)
        library.weir_order_thread.restype = number
        library.weir_order_has_key.argtypes = [number]
        cls.thread, cls.has_key, cls.functions = library.weir_order_thread, library.weir_order_has_key, library
        return library if library.weir_order_begin() else None


class Log(program.Log):
    """Lines that the library writes. Streams are those of the driver; what waits for what is seen there."""

    def __init__(self):
        super().__init__(None)
        self.helpers = {}  # threads of autograd's engine that work now: their numbers

    def add(self, *lines, at=None):
        if lines and not program.current.quiet:
            Library.lines("".join(lines).rstrip("\n").encode("utf-8", "replace"))

    def begun(self):
        """A thread that works for another one knows what that one knows."""
        ident = threading.get_ident()
        if self.callers and ident not in self.python_threads and ident not in self.helpers and len(self.callers) == 1:
            self.helpers[ident] = self.number()
            self.add(f"learn {self.callers[0][0]}\n")

    def worked(self):
        for number in list(self.helpers.values()):
            self.add(f"learn {number}\n")
        self.helpers.clear()

    def operation(self, verb, stream, name, touches):
        if program.current.quiet:
            return
        self.operations += 1
        if self.callers:
            self.begun()
        text = f"{program.quoted(name)} {program.quoted(program.where())}\n{''.join(touches)}"
        Library.operation(stream, verb.encode(), text[:-1].encode("utf-8", "replace"))

    def kernel(self, stream, name, dependent, touches, waits=False):
        """A launch of a kernel, of which it is known where it may access memory, or (None) not even that.

        `waits`: a dependent one, for the launch before it, before it does anything.
        """
        self.operations += 1
        self.begun()
        text = f"{program.quoted(name)} {program.quoted(program.where())}\n"
        if touches is None or (dependent and not waits):
            verb, text = b"unknown", f"{int(dependent)} {text}"
        elif dependent:
            verb, text = b"dependent", f"2 {text}{''.join(touches)}"
        else:
            verb, text = b"launch", text + "".join(touches)
        Library.launch(stream, verb, text.rstrip("\n").encode("utf-8", "replace"))

    def allocated(self, address, size, stream):
        if not program.current.quiet:
            self.memory.add(address)
            Library.allocated(stream, address, size, program.quoted(program.where()).encode("utf-8", "replace"))

    def used(self, address, stream):
        Library.used(stream, address)

    def tell(self, count, key):
        Library.timed()
        super().tell(count, key)

    def hear(self, key):
        Library.timed()
        super().hear(key)

    def shared(self, address, size, key, offset=0, total=None):
        Library.shares()
        super().shared(address, size, key, offset, total)

    def hands_over(self, group):
        """Collectives over gloo go by the host; those over NCCL are kernels, of which nothing is known."""
        return State.torch.distributed.get_backend(group) == "gloo"

    def stream_aside(self):
        """The streams of such collectives are the driver's."""

    def copied_out(self):
        Library.waited(stream_here(State.torch.cuda.current_device()))

    def number(self):
        return Library.thread()

    def enter(self, number):
        self.python_threads.add(threading.get_ident())
        self.add(f"learn {number}\n")

    def nothing(self, *values):
        pass

    stream = record = wait = await_event = await_stream = await_all = fork = join = event_gone = delay = flush = close = nothing


# ---- Memory ----------------------------------------------------------------------------------------------


class Memory(device_torch_memory.Memory):
    """Storages of the device, from the first operator on that has them; those that this one sees made are in its stream."""

    def __init__(self):
        super().__init__()
        self.kept = []  # (begin, end) of memory that graphs use, sorted

    def add(self, storage, written, key=None):
        """`written`: an operator has it, that has not made it: whose memory that was is not known. `key`: another process has made it."""
        size = storage.nbytes()
        if not size:
            return
        if self.dead:
            self.settle()
        address = storage.data_ptr()
        known = self.live.get(address)
        if known is not None:
            if known.kept == storage._cdata and known.size == size:
                return
            self.forget(known)
        allocation = device_torch_memory.Allocation(storage, self.dead.append)
        allocation.address, allocation.size, allocation.kept, allocation.gone = address, size, storage._cdata, None
        self.live[address] = allocation
        if key is not None:
            program.State.log.shared(address, size, key)
            return
        if Library.has_key(address):
            allocation.gone = True  # the log has it
            return
        if State.torch._C._cuda_isCurrentStreamCapturing():
            allocation.gone = True
            self.keep(address, address + size)
            return
        self.kept = [one for one in self.kept if one[1] <= address or address + size <= one[0]]  # a graph's that is gone
        if written:
            program.State.log.pinned(address, size)
        else:
            program.State.log.allocated(address, size, program.current.stream)

    def share(self, storage, key, taken=False):
        """Other processes know it by the key."""
        known = self.live.get(storage.data_ptr())
        if known is not None and known.kept == storage._cdata and getattr(known, "key", None) == key:
            return
        self.add(storage, True, key if taken else None)
        if not taken:
            program.State.log.shared(storage.data_ptr(), storage.nbytes(), key)
        self.live[storage.data_ptr()].key = key

    def keep(self, begin, end):
        """A graph uses the memory from now on, whatever becomes of the tensor that has it: what of it is not in the log yet."""
        for first, last in [*self.kept, (end, end)]:
            if begin < first:
                program.State.log.pinned(begin, min(first, end) - begin)
                bisect.insort(self.kept, (begin, min(first, end)))
            begin = max(begin, last)
            if begin >= end:
                break

    def forget(self, allocation):
        """Its storage has other memory."""
        if self.live.get(allocation.address) is allocation:
            del self.live[allocation.address]
            if not allocation.gone and not Library.has_key(allocation.address):
                program.State.log.freed(allocation.address)

    def settle(self):
        while self.dead:
            try:
                self.forget(self.dead.popleft())
            except IndexError:  # another thread was faster
                return

    def see(self, value, made):
        if isinstance(value, State.torch.Tensor):
            if value.is_cuda:
                self.add(value.untyped_storage(), not made)
        elif isinstance(value, (list, tuple)):
            for one in value:
                self.see(one, made)

    def pin_once(self, tensor):
        """Memory of the host that an operator has."""
        storage = tensor.untyped_storage()
        known = self.pinned.get(storage.data_ptr())
        if (known is None or known() is None) and storage.nbytes() and tensor.is_pinned():
            self.pin(storage)


def is_real(value):
    """Whether a tensor of the GPU has memory: those that compilers trace with have none."""
    if type(value) in State.plain:
        return not State.torch._is_functional_tensor(value)
    fake = sys.modules.get("torch._subclasses.fake_tensor")
    return not (fake and isinstance(value, fake.FakeTensor)) and not State.torch._is_functional_tensor(value)


def stream_here(device):
    return State.torch._C._cuda_getCurrentRawStream(device)


# ---- Operators -----------------------------------------------------------------------------------------------


class Operator(device_torch_host.Operator):
    """Of the GPU, and of the host where that has such memory."""

    def __init__(self, op):
        super().__init__(op)
        self.tells = self.name not in PASSED and not self.is_view
        self.copies, self.pins = self.name == "copy_", self.name == "_pin_memory"

    def __call__(self, keys, *args, **named):
        if not keys.has(State.cuda_key) or program.State.log is None or program.current.quiet:
            made = super().__call__(keys, *args, **named)
            if self.pins and program.State.log is not None:
                State.memory.pin_once(made)
            return made
        Library.enter()
        try:
            return self.on_device(keys & device_torch_host.Host.after, args, named)
        finally:
            Library.leave()

    def on_device(self, keys, args, named):
        passed = self.touched(args, named)
        home = next((one for _, one in passed if one.is_cuda), None)
        if home is None or not is_real(home):
            return self.pass_on(keys, args, named)
        before = ()
        try:
            program.current.stream = stream_here(home.get_device())
            for _, one in passed:
                if one.is_cuda:
                    State.memory.add(one.untyped_storage(), True)
                elif self.copies:
                    State.memory.pin_once(one)
            if self.name == "resize_":
                before = [program.touch_line("r", home)]
            elif self.waits(args):  # the driver tells the library that the host does, before the operator is over
                self.tell_before(passed, args, named)
        except Exception as error:
            self.lost(error)
        try:
            made = self.pass_on(keys, args, named)
        except BaseException:
            Library.failed(program.current.stream, f"{program.quoted(self.schema_name)} {program.quoted(program.where())}".encode("utf-8", "replace"))
            raise
        try:
            if self.fresh:
                State.memory.see(made, True)
            if self.waits(args) and (self.copies or not self.fresh or not device_torch.tensors_in(made)):
                pass  # all of it is told
            elif self.tells and not self.copies and not self.is_empty:
                self.tell(passed, made)
            else:
                self.tell_other(home, before, args, named, made)
        except Exception as error:
            self.lost(error)
        return made

    def waits(self, args):
        """Whether the host may wait for it, and then for what it has read."""
        return self.copies and args[0].is_cuda != args[1].is_cuda or self.name in device_torch.WAITS

    def tell_before(self, passed, args, named):
        if self.copies:
            device_torch.log_copy(args[0], args[1], self.argument(2, args, named))
        else:
            device_torch.log_operation("launch", self.schema_name, [program.touch_line(letter, one) for letter, one in passed if one.is_cuda])

    def tell(self, passed, made):
        """As device_torch.Kernel.log, which every operator comes to."""
        touch_line = program.touch_line
        lines = [touch_line(letter, one) for letter, one in passed if one.is_cuda]
        if self.fresh:
            if type(made) in State.plain:
                lines.append(touch_line("w", made))
            else:
                lines += [touch_line("w", one) for one in device_torch.tensors_in(made) if one.is_cuda]
        device_torch.log_operation("launch", self.schema_name, lines)

    def tell_other(self, home, before, args, named, made):
        if self.name == "resize_":
            self.resized(home, before)
        elif self.name == "record_stream":
            stream = args[1] if len(args) > 1 else named["s"]
            program.State.log.used(args[0].untyped_storage().data_ptr(), handle_of(stream))
        elif self.copies and args[0].is_cuda and args[1].is_cuda and args[0].get_device() != args[1].get_device():
            program.current.stream = stream_here(args[1].get_device())  # the devices wait for each other by events
            device_torch.log_operation("copy", "copy between devices", [program.touch_line("r", args[1]), program.touch_line("w", args[0])])
        elif self.tells:
            self.log(args, named, made)

    def resized(self, tensor, before):
        """If it has other memory now, what it held was copied."""
        storage = tensor.untyped_storage()
        if storage.nbytes() and storage.data_ptr() not in State.memory.live:
            old = [one for one in State.memory.live.values() if one.kept == storage._cdata]
            State.memory.add(storage, False)
            device_torch.log_operation("launch", self.schema_name, [*before, program.touch_line("w", tensor)])
            for one in old:
                State.memory.forget(one)

    def lost(self, error):
        log = program.State.log
        if log is not None:
            log.missing(f"{self.schema_name}: what it accesses could not be found out ({type(error).__name__}: {error}): its races were not checked")


def handle_of(stream):
    """The driver's, of a stream as PyTorch has it."""
    torch = State.torch
    return torch.cuda.Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type).cuda_stream


def lazily(name, kind):
    made = None

    def call(keys, *args, **named):
        nonlocal made
        if made is None:
            made = kind(device_torch.find_op(name))
        return made(keys, *args, **named)

    return call


def making(name, key):
    """An operator that allocates memory, and nothing else."""
    plain = State.torch.library.get_kernel(device_torch.find_op(name), key)

    def call(keys, *args, **named):
        if program.State.log is None or program.current.quiet:
            return plain.call_boxed(keys, *args, **named)
        Library.enter()
        try:
            made = plain.call_boxed(keys, *args, **named)
        finally:
            Library.leave()
        try:
            if made.is_cuda:
                program.current.stream = stream_here(made.get_device())
                State.memory.add(made.untyped_storage(), False)
            elif named.get("pin_memory"):
                State.memory.pin_once(made)
        except Exception as error:
            program.State.log.missing(f"memory that PyTorch allocates was not seen ({type(error).__name__}: {error})")
        return made

    return call


def register():
    torch = State.torch
    device_torch_host.Host.after = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)
    State.plain = (torch.Tensor, torch.nn.Parameter)
    State.cuda_key, State.watches_host = torch._C.DispatchKey.CUDA, True
    taken = set(torch._C._dispatch_get_registrations_for_dispatch_key("BackendSelect"))
    names = {*torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"), *torch._C._dispatch_get_registrations_for_dispatch_key("CPU"),
             "aten::copy_", "aten::_pin_memory"}
    for name in sorted(names):
        op = device_torch.find_op(name) if name.startswith("aten::") and name not in taken else None
        if op is not None and (device_torch_host.touches_memory(op._schema) or name in ("aten::resize_", "aten::_pin_memory")):
            device_torch.library("aten").m.impl(name.partition("::")[2], "BackendSelect", lazily(name, Operator), True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("aten::empty.memory_format", "aten::empty_strided"):
            for key in ("CUDA", "CPU"):
                device_torch.library("aten").m.impl(name.partition("::")[2], key, making(name, key), True)


# ---- Triton ----------------------------------------------------------------------------------------------------


COMPUTES = set(
    "abs add and bfe bfi bfind brev clz cnot copysign cvt cvta div fma lop3 mad max min mov mul mul24 neg not or "
    "popc prmt rem sad selp set setp shf shl shr slct sub xor".split()
)


def waits_first(ptx, name):
    """Whether all threads of a kernel execute griddepcontrol.wait before they do anything but compute: by its text, as far as that goes straight on."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\n\s*\.loc[^\n]*", "", ptx or "", flags=re.S)
    _, _, body = text.partition(f".entry {name}(")[2].partition("{")
    for statement in re.split(r"[;{}]|[\w$]+:\s", body.partition("\n}")[0]):
        word = "".join(statement.split()[:1])
        if word == "griddepcontrol.wait":
            return True
        if word and not word.startswith((".", "ld.param.")) and word.partition(".")[0] not in COMPUTES:
            return False
    return False


class Launcher:
    """Launches of a compiled kernel: what it may access is all memory behind its arguments."""

    def __init__(self, compiled):
        from . import arguments, unwritten

        self.name = getattr(compiled, "name", None) or compiled.metadata.name
        self.dependent = bool(getattr(compiled.metadata, "launch_pdl", False))
        self.waits = self.dependent and waits_first(compiled.asm.get("ptx"), self.name)
        self.types = list(getattr(compiled.src, "signature", {}).values())
        text = compiled.asm.get("ttgir")
        self.known = bool(text) and "int_to_ptr" not in text and "!tt.ptr<!tt.ptr" not in text
        self.letters = []
        if self.known:
            written = unwritten.written_parameters(text)
            for number, (_, kind) in enumerate(arguments.parameters(text)):
                if kind.startswith(("!tt.ptr", "!tt.tensordesc")):
                    self.letters.append("mw" if written is None or number in written else "mr")

    def memories(self, values):
        """Tensors that are passed, each with a letter; None where memory is passed otherwise."""
        from . import arguments

        found = list(arguments.memories(self.types, arguments.with_constants(self.types, values))) if self.known else ()
        return list(zip(self.letters, found)) if self.known and len(found) == len(self.letters) else None

    def launch(self, inner):
        def call(*args, **named):
            return launching(self.name, self.dependent, lambda: self.memories(args[9:]), args[3], lambda: inner(*args, **named), self.waits)

        return call


def launching(name, dependent, memories, stream, go, waits=False):
    """A kernel is launched, which may access all memory that the tensors are of."""
    log = program.State.log
    if log is None or program.current.quiet:
        return go()
    Library.enter()
    try:
        made = go()
        try:
            program.current.stream = stream
            found = memories()
            lines = None if found is None else list(map(may_touch, found))
            log.kernel(stream, name, dependent, None if lines is None or None in lines else lines, waits)
        except Exception as error:
            log.missing(f"{name}: what it accesses could not be found out ({type(error).__name__}: {error}): its races were not checked")
        return made
    finally:
        Library.leave()


def may_touch(passed):
    letter, value = passed
    if not isinstance(value, State.torch.Tensor) or not (value.is_cuda or value.is_pinned()):
        return None
    storage = value.untyped_storage()
    if value.is_cuda:
        State.memory.add(storage, True)
    else:
        State.memory.pin_once(value)
    return f"{letter} {storage.data_ptr()} {storage.nbytes()}\n"


def watch_triton():
    from triton.compiler.compiler import CompiledKernel

    run = CompiledKernel.run

    def watched(self):
        inner = run.fget(self)
        known = self.__dict__.get("_weir_order")
        if known is None or known[0] is not inner:
            known = self.__dict__["_weir_order"] = inner, Launcher(self).launch(inner)
        return known[1]

    if isinstance(run, property):
        CompiledKernel.run = property(watched)


def watch_compiled():
    """PyTorch's compiler launches kernels of Triton by a launcher of its own."""
    for name in STATIC:
        for kind in list(vars(sys.modules.get(name, State)).values()):
            if isinstance(kind, type) and kind.__module__ == name and "run" in vars(kind) and hasattr(kind, "load_kernel"):
                kind.run = running(kind.run)


def running(plain):
    @functools.wraps(plain)
    def run(self, grid_x, grid_y, grid_z, stream, *args):
        def memories():
            kinds = getattr(self, "arg_tys", "")
            if any((kind == "O") != isinstance(value, State.torch.Tensor) and value is not None for kind, value in zip(kinds, args)):
                return None
            return [("mw", value) for value in args if isinstance(value, State.torch.Tensor)]

        return launching(self.name, False, memories, stream, lambda: plain(self, grid_x, grid_y, grid_z, stream, *args))

    return run


# ---- The program -------------------------------------------------------------------------------------------------


def begin():
    """CUDA is there: from now on, operators are in the log."""
    if program.State.log is None:
        return
    register()
    device_torch_native.watch_backward(State.torch)


def install():
    """PyTorch was imported, and libweir-gpu.so is there."""
    import torch

    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if release < OLDEST or not hasattr(torch._C, "_cuda_getCurrentRawStream") or Library.find() is None:
        return
    State.torch, State.memory = torch, Memory()
    program.State.log = Log()
    program.State.watches = True
    program.watch_threads()
    program_processes.watch()
    gpu_torch_shared.install(Library)
    torch.cuda._lazy_call(begin)
    then = {"triton.compiler.compiler": watch_triton, **{name: watch_compiled for name in STATIC}}
    for name in [name for name in then if name in sys.modules]:
        then.pop(name)()
    sys.meta_path.insert(0, _hook.Finder(then))
