"""The device `cuda` of PyTorch on a machine without a GPU. Tensors are plain torch.Tensors with CUDA's dispatch key, whose
bytes are in the CPU allocator's memory, and every operator that reaches that key runs the CPU's kernel on the same bytes.

How: a DLPack capsule of a CPU tensor, with its device changed, becomes a tensor on cuda:0 that keeps the memory, and the
same backwards (device_torch_memory.Exchange). Kernels are registered for the key CUDA from Python: a fallback for
operators that have none, and in builds with CUDA one for each operator that has, in place of that. What torch.cuda asks of
its C module is answered by device_torch_cuda, so that its Python is as ever.

Why this one of what was tried:
- A wrapper subclass (torch.Tensor._make_wrapper_subclass and __torch_dispatch__) is no plain tensor: torch.save, Parameter,
  torch.compile and DDP treat subclasses apart, its data_ptr() is not there, and an operation in C++ that makes a tensor on
  cuda comes to no subclass.
- Modes are of one thread: the autograd engine's thread for the device has none. Tensors under them are on the CPU, and
  their is_cuda is False.
- A backend in C++ is as faithful as this, and faster, but has to be compiled with the headers of each release, for half a
  minute, by a compiler that need not be there.
An operator costs some 10 to 15 microseconds more than on the CPU; docs/device.md has numbers."""

import glob
import os
import re
import threading

from . import device_torch_memory, program, program_processes, standin, unwritten

OLDEST = 2, 5


class State:
    """`installed` once PyTorch has the device."""

    installed = False
    torch = memory = None
    lower = lift = None  # device_torch_memory.make_exchange
    plain_empty = None  # torch.empty, as it was
    libraries, kernels = {}, {}
    generator = None  # of the device, for operators that are given none
    watches_host = False  # device_torch_host does
    graph = None  # of device_torch_graph, while one records


def has_gpu():
    """Whether the program may have one: CUDA_VISIBLE_DEVICES hides all if it begins with what names none."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip() in ("", "-1"):
        return False
    return bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/dev/kfd") or glob.glob("/dev/dxg"))


# ---- Tensors of the device -----------------------------------------------------------------------


def to_cpu(tensor):
    """A CPU tensor with the same bytes: it keeps them, too."""
    return State.lower(tensor)


def is_elsewhere(value):
    """Whether it is a tensor that kernels on the device cannot access: on the CPU, and not pinned."""
    return State.installed and isinstance(value, State.torch.Tensor) and not value.is_cuda and not value.is_pinned()


def has_peers(value):
    """Whether other processes have the memory of a tensor, too."""
    if not State.installed or not State.memory.shared or not hasattr(value, "untyped_storage"):
        return False
    address = value.untyped_storage().data_ptr()
    return any(begin <= address < begin + size for begin, size in State.memory.shared)


def to_cuda(tensor, written=True):
    """A tensor of the device that has a CPU tensor's memory. It begins where the memory does: that is how the device that
    runs kernels knows it."""
    if tensor.layout is not State.torch.strided:
        raise NotImplementedError(f"Weir's device cuda has no tensors of the layout {tensor.layout}")
    if tensor.storage_offset():
        tensor = tensor.clone()
    State.memory.add(tensor.untyped_storage(), written)
    return State.lift(tensor)


def check_device(index):
    if index is not None and not -1 <= index < program.State.devices:
        raise RuntimeError(f"CUDA error: invalid device ordinal (device {index}: Weir has {program.State.devices}; WEIR_DEVICE_COUNT sets it)")


def host_of(device):
    """Where the CPU's kernel puts what is wanted on a device."""
    if device.type != "cuda":
        return device
    check_device(device.index)
    return State.torch.device("cpu")


# ---- Kernels -------------------------------------------------------------------------------------


# Operators that take tensors of several devices: copies, and those that take indices or lengths from the CPU.
ACROSS = {"copy_", "_copy_from", "_copy_from_and_resize", "index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index",
          "_unsafe_index_put", "record_stream", "set_", "_foreach_copy_", "_foreach_copy", "is_set_to", "_nested_tensor_from_mask",
          "_ctc_loss", "_ctc_loss_backward"}
# Those that cannot be in a graph: the host waits for what they compute, or what they compute decides a size.
WAITS = {"_local_scalar_dense", "item", "nonzero", "equal", "unique_dim", "_unique2", "_unique", "unique_consecutive", "is_nonzero",
         "masked_select", "unique_dim_consecutive"}
# Collectives that write what they read.
IN_PLACE = {"allreduce_", "allreduce_coalesced_", "reduce_", "broadcast_"}


def is_target(name, argument):
    """Of a collective."""
    return argument.startswith("output") or (argument == "tensors" and (name in IN_PLACE or name.startswith("recv_")))


class Kernel:
    """An operator on the device: the CPU's, on the same bytes."""

    def __init__(self, op):
        torch = State.torch
        schema = op._schema
        self.op, self.schema, self.call = op, schema, op._op
        self.schema_name, self.name = schema.name, schema.name.split("::")[1]
        self.across = self.name in ACROSS
        self.names = [argument.name for argument in schema.arguments]
        self.written = {}  # number of each argument that is written: the names of what aliases it
        self.outs = set()  # of those the ones that are only written
        self.targets = set()  # numbers of arguments that a collective writes, which its schema does not say
        self.generator = None
        for number, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.written[number] = frozenset(argument.alias_info.before_set)
                if argument.kwarg_only:
                    self.outs.add(number)
            if self.schema_name.startswith("c10d::") and is_target(self.name, argument.name):
                self.targets.add(number)
            if argument.name == "generator":
                self.generator = number
        # What the CPU's kernel takes otherwise: tensors, alone and in lists, and devices.
        kinds = [str(argument.type) for argument in schema.arguments]
        self.lowers = [number for number, kind in enumerate(kinds) if "Tensor" in kind or "Device" in kind or "device" in kind]
        self.is_view = any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)
        self.seeded = self.generator is None and torch.Tag.nondeterministic_seeded in op.tags
        self.returns = [self.returned(result) for result in schema.returns]
        self.fresh = all(number is None for number in self.returns)
        self.is_empty = self.name in unwritten.EMPTY
        self.cpu_keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
        self.plain = not self.outs and not self.seeded

    def returned(self, result):
        """Number of the argument that the operator returns; None: a tensor of its own, or a view."""
        if result.alias_info is None or not result.alias_info.is_write:
            return None
        names = frozenset(result.alias_info.before_set)
        return next((number for number, aliases in self.written.items() if aliases == names), None)

    def argument(self, number, args, named):
        return args[number] if number < len(args) else named.get(self.names[number])

    # ---- Arguments and results -------------------------------------------------------------------

    def lowered(self, value, seen):
        """An argument as the CPU's kernel takes it. `seen` gets the tensors."""
        torch = State.torch
        if isinstance(value, torch.Tensor):
            seen.append(value)
            return State.lower(value) if value.is_cuda else value
        if isinstance(value, (list, tuple)):
            return [self.lowered(part, seen) for part in value]
        if isinstance(value, torch.device):
            return host_of(value)
        return value

    def raised(self, value, written=True):
        torch = State.torch
        if isinstance(value, torch.Tensor):
            return to_cuda(value, written) if value.device.type == "cpu" else value
        if isinstance(value, (list, tuple)):
            return type(value)(self.raised(part, written) for part in value) if type(value) in (list, tuple) else value
        return value

    def check_devices(self, args, named, seen):
        """As PyTorch: a tensor without dimensions may be on the CPU."""
        other, index = None, program.device_of(program.current.stream)
        for tensor in seen:
            if tensor.dim() and (not tensor.is_cuda or tensor.get_device() != index):
                other = tensor
        home = other is not None and next((tensor.device for tensor in seen if tensor.is_cuda), None)
        if not home:
            return
        places = [*enumerate(args), *((self.names.index(name), value) for name, value in named.items())]
        name = next((self.names[number] for number, value in places if value is other or isinstance(value, (list, tuple)) and
                     any(part is other for part in value)), "self")
        raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {home} and {other.device}! "
                           f"(when checking argument for argument {name} in method wrapper_CUDA_{self.op._schema.name.split('::')[1]})")

    # ---- Calls -----------------------------------------------------------------------------------

    def __call__(self, *args, **named):
        if State.torch._C._len_torch_function_stack():
            with State.torch._C.DisableTorchFunction():
                return self.run(args, named)
        return self.run(args, named)

    def run(self, args, named):
        if self.is_view:
            return self.op.redispatch(self.cpu_keys, *args, **named)
        if State.graph is not None and State.graph.takes():
            return State.graph.operator(self, args, named)
        return self.compute(args, named)

    def compute(self, args, named):
        if program.State.devices > 1:
            with program.on_device(self.home(args, named)):
                return self.compute_here(args, named)
        return self.compute_here(args, named)

    def home(self, args, named):
        """The device that it runs on: that of its first tensor there, or that which is asked for."""
        found = next((one for one in tensors_in((args, list(named.values()))) if one.is_cuda), None)
        if found is None:
            found = next((one for one in (*args, *named.values()) if isinstance(one, State.torch.device) and one.type == "cuda"), None)
        index = found.get_device() if isinstance(found, State.torch.Tensor) else getattr(found, "index", None)
        return program.device_of(program.current.stream) if index is None or index < 0 else index

    def compute_here(self, args, named):
        seen, low, low_named, tensor_type, lower = [], list(args), {}, State.torch.Tensor, State.lower
        for number in self.lowers:
            if number >= len(low):
                break
            value = low[number]
            if type(value) is tensor_type:
                seen.append(value)
                if value.is_cuda:
                    low[number] = lower(value)
            elif value is not None:
                low[number] = self.lowered(value, seen)
        for name in named:
            low_named[name] = self.lowered(named[name], seen)
        if len(seen) > 1 and not self.across:
            self.check_devices(args, named, seen)
        if self.generator is not None:
            self.draw(args, named, low_named)
        result = self.finished(args, named, self.computed(args, named, low, low_named))
        if program.State.log is not None and State.graph is None:  # while a graph is captured, nothing is done
            self.log(args, named, result)
        storages = unwritten.State.storages
        if storages:
            for tensor in seen:
                if tensor.untyped_storage().data_ptr() in storages:
                    self.note(args, named, seen, result)
                    break
        return result

    def draw(self, args, named, low_named):
        generator = self.argument(self.generator, args, named)
        if generator is None:
            generator = low_named[self.names[self.generator]] = State.generator
        if hasattr(generator, "advance"):
            generator.advance()

    def computed(self, args, named, low, low_named):
        if self.outs:
            return self.into(args, named, low, low_named)
        try:
            if self.seeded:
                with seeded():
                    return self.invoke(low, low_named)
            return self.invoke(low, low_named)
        except NotImplementedError as error:
            raise NotImplementedError(self.lacking(error)) from None
        except RuntimeError as error:
            raise refused(error) from None

    def invoke(self, low, low_named):
        if not State.watches_host:
            return self.call_cpu(low, low_named)
        with program.quiet():  # the CPU's kernel is the device's, and not the host's
            return self.call_cpu(low, low_named)

    def call_cpu(self, low, low_named):
        """The CPU's kernel. Numbers that C++ has as tensors come as numbers, which not all operators take."""
        try:
            return self.call(*low, **low_named)
        except RuntimeError as error:
            numbers = self.numbers(low)
            if not numbers or "Expected a value of type 'Tensor'" not in str(error):
                raise
        for number in numbers:
            low[number] = self.scalar(low[number], low)
        return self.call(*low, **low_named)

    def numbers(self, low):
        return [number for number in self.lowers if number < len(low) and isinstance(low[number], (int, float, complex))]

    def scalar(self, value, low):
        """A tensor for a number that C++ had as one, of a type that counts less than the others'."""
        torch = State.torch
        others = [one for one in low if isinstance(one, torch.Tensor)]
        kind = None if any(one.dim() for one in others) or not others else torch.result_type(others[0], value)
        kind = kind or {bool: torch.bool, int: torch.int64, float: torch.float64}.get(type(value), torch.complex128)
        return torch.scalar_tensor(value, dtype=kind, device="cpu")

    def lacking(self, error):
        if "Could not run" not in str(error):
            return str(error)
        return (f"Weir's device cuda has no operator {self.schema.name}: it runs operators of PyTorch by their kernels for the CPU, "
                "and this one has none")

    def into(self, args, named, low, low_named):
        """An operator with `out=`: the CPU's kernel may give that another size, which memory of the device cannot take in place."""
        torch = State.torch
        outs = {number: self.argument(number, args, named) for number in self.outs}
        outs = {number: out for number, out in outs.items() if isinstance(out, torch.Tensor)}

        def calling(fresh):
            for number in fresh:
                low_named[self.names[number]] = torch.empty((0,), dtype=outs[number].dtype, device="cpu")
            return self.invoke(low, low_named)

        empty = [number for number, out in outs.items() if not out.numel()]
        try:
            made = calling(empty)
        except NotImplementedError as error:
            raise NotImplementedError(self.lacking(error)) from None
        except RuntimeError as error:
            if "resiz" not in str(error):
                raise
            empty = list(outs)
            made = calling(empty)
        for number in empty:
            result, out = low_named[self.names[number]], outs[number]
            if tuple(out.shape) != tuple(result.shape):
                out.resize_(result.shape)
            to_cpu(out).copy_(result)
        return made

    def finished(self, args, named, made):
        """What the CPU's kernel returned, as the operator returns it."""
        if self.fresh:
            if isinstance(made, State.torch.Tensor):
                return to_cuda(made, not self.is_empty)
            return self.raised(made, not self.is_empty)
        if len(self.returns) == 1:
            return self.argument(self.returns[0], args, named)
        return tuple(self.raised(one) if number is None else self.argument(number, args, named)
                     for number, one in zip(self.returns, made))

    def log(self, args, named, result):
        """The operation, in the stream of this thread: what it writes are arguments, and tensors of its own."""
        if self.is_empty:
            return
        if self.name == "copy_" and args[0].is_cuda != args[1].is_cuda:
            return log_copy(args[0], args[1], self.argument(2, args, named))
        if self.name == "copy_" and args[0].device != args[1].device:
            return log_copy_between(args[0], args[1])
        lines = [program.touch_line(letter, one) for letter, one in self.touched(args, named) if one.is_cuda]
        if self.fresh:
            for one in result if isinstance(result, (list, tuple)) else (result,):
                if isinstance(one, State.torch.Tensor) and one.is_cuda:
                    lines.append(program.touch_line("w", one))
        log_operation("launch", self.schema_name, lines)
        if self.name in WAITS:
            program.State.log.await_stream(program.current.stream)

    def touched(self, args, named):
        """Tensors among the arguments, with "w" for those that are written, and "r" for those that are only read."""
        found, tensor_type, count = [], State.torch.Tensor, len(args)
        for number in self.lowers:
            value = args[number] if number < count else named.get(self.names[number]) if named else None
            if value is None:
                continue
            target = number in self.targets and not program_processes.only_reads()
            letter = "w" if target or number in self.written else "r"
            if isinstance(value, tensor_type):
                found.append((letter, value))
            elif isinstance(value, (list, tuple)):
                found += [(letter, one) for one in tensors_in(value)]
        return found

    def note(self, args, named, seen, result):
        """Which bytes are known from here on."""
        torch = State.torch
        outs = [self.argument(number, args, named) for number in self.written]
        targets = tensors_in([self.argument(number, args, named) for number in self.targets])
        flat = [one for out in outs for one in (out if isinstance(out, (list, tuple)) else [out]) if isinstance(one, torch.Tensor)]
        only = {id(self.argument(number, args, named)) for number in self.outs} | {id(one) for one in targets if self.name not in IN_PLACE}
        made = [] if not self.fresh else list(result) if isinstance(result, (list, tuple)) else [result]
        made = [one for one in made if isinstance(one, torch.Tensor)]
        unwritten.add_result(self.name, [one for one in seen if id(one) not in only], [one for one in flat + targets + made if one.is_cuda])


def tensors_in(value):
    if isinstance(value, State.torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in tensors_in(part)]


def log_operation(verb, name, lines):
    if None in lines:
        return program.State.log.missing(f"{name} accesses a tensor of too many pieces: its races were not checked")
    program.State.log.operation(verb, program.current.stream, name, lines)


def log_copy(to, source, non_blocking):
    """Between the host and the device. Memory of the host counts where it is pinned, and the host does not wait."""
    stream = program.current.stream
    aside = bool(non_blocking) and (source if to.is_cuda else to).is_pinned()
    log_operation("copy", "copy to the device" if to.is_cuda else "copy to the host",
                  [program.touch_line(letter, one) for letter, one in (("r", source), ("w", to)) if one.is_cuda or aside])
    if aside:
        program.State.log.started_copy((source if to.is_cuda else to).untyped_storage().data_ptr(), stream)
        from . import device_torch_host

        device_torch_host.watch()
    elif not non_blocking or not to.is_cuda:
        program.State.log.await_stream(stream)


def log_copy_between(to, source):
    """Two devices: the copy is in the current stream of the source's, and each waits for the other, as PyTorch has it."""
    log, streams = program.State.log, [program.stream_on(one.get_device()) for one in (to, source)]

    def wait(first, second):
        event = log.event()
        log.record(event, first)
        log.wait(event, second)
        log.event_gone(event)

    wait(*streams)
    with program.on_device(source.get_device()):
        log_operation("copy", "copy between devices", [program.touch_line("r", source), program.touch_line("w", to)])
    wait(*reversed(streams))


def refused(error):
    """An error of the CPU's kernel as one of a GPU's."""
    if "allocate memory" in str(error) or "not enough memory" in str(error):
        return State.torch.OutOfMemoryError(f"CUDA out of memory. Weir's device has the host's memory: {error}")
    return error


class seeded:
    """While it lasts, the CPU's own generator draws what the device's is to: for operators that take none."""

    lock = threading.RLock()

    def __enter__(self):
        self.lock.acquire()
        default = State.torch.default_generator
        self.kept = default.get_state()
        default.set_state(State.generator.advance())

    def __exit__(self, *error):
        State.torch.default_generator.set_state(self.kept)
        self.lock.release()
        return False


def kernel_of(op):
    kernel = State.kernels.get(op)
    if kernel is None:
        kernel = State.kernels[op] = Kernel(op)
    return kernel


def fallback(op, *args, **named):
    return kernel_of(op)(*args, **named)


def find_op(name):
    """torch.ops' object of "aten::add.Tensor"; None where there is none."""
    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(State.torch.ops, space), base), overload or "default")
    except (AttributeError, RuntimeError):
        return None


def library(space):
    if space not in State.libraries:
        State.libraries[space] = State.torch.library.Library(space, "IMPL")
    return State.libraries[space]


def implement(name, function, key="CUDA"):
    """Registers a kernel in place of another, if there is one. Past torch.library, which warns of that, and imports much."""
    space, _, rest = name.partition("::")
    library(space).m.impl(rest, key, function, False)


def lazily(name):
    """A kernel for an operator, made at its first call."""
    kernel = None

    def call(*args, **named):
        nonlocal kernel
        if kernel is None:
            kernel = kernel_of(find_op(name))
        return kernel(*args, **named)

    return call


def lacking(name, key):
    def call(*args, **named):
        raise NotImplementedError(f"Weir's device cuda has no operator {name} for tensors of the kind {key}")

    return call


def register():
    """Kernels for the key CUDA. Those of a build with CUDA stay where they only look at shapes: views."""
    torch = State.torch
    here = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
    views = {"as_strided", "view", "_reshape_alias", "unfold", "view_as_real", "view_as_complex", "view.dtype", "detach", "alias"}
    for name in here:
        if name.partition("::")[2] not in views and not name.startswith(("_native::", "symm_mem::")):
            implement(name, lazily(name))
    library("_").m.fallback("CUDA", fallback, False)
    for key in ("SparseCUDA", "SparseCsrCUDA", "QuantizedCUDA"):
        for name in torch._C._dispatch_get_registrations_for_dispatch_key(key):
            implement(name, lacking(name, key), key)


def install_later(target):
    """Where there is no GPU, once PyTorch is imported: now, or when the program does it."""
    import sys

    from . import _hook

    if "torch" in sys.modules:
        install(target)
    elif not has_gpu():
        sys.meta_path.insert(0, _hook.Finder({"torch": lambda: install(target)}))


def install(target):
    """After PyTorch was imported, where there is no GPU."""
    import torch

    if State.installed or has_gpu() or torch.cuda.is_available():
        return
    release = tuple(map(int, re.match(r"(\d+)\.(\d+)", torch.__version__).groups()))
    if release < OLDEST:
        raise RuntimeError(f"PyTorch {torch.__version__} gets no device cuda without a GPU: releases from {OLDEST[0]}.{OLDEST[1]} on do")
    from . import device_torch_cuda, device_torch_native, device_torch_ops, device_torch_shared

    State.installed = True
    program.State.devices = max(1, int(os.environ.get("WEIR_DEVICE_COUNT") or 1))
    State.torch, State.memory = torch, device_torch_memory.Memory()
    program.State.memory, program.State.shared = State.memory.all_memory, State.memory.all_shared
    State.lower, State.lift = device_torch_memory.make_exchange(torch)
    State.plain_empty = torch.empty
    device_torch_shared.install(torch)
    device_torch_native.install()
    device_torch_cuda.install(target or standin.USUAL_TARGET)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        register()
        device_torch_ops.register()
    if standin.runs_kernels(target or standin.USUAL_TARGET):  # what is written before the first kernel counts byte by byte, too
        from . import device

        State.memory.listen(device.Device.get())
