"""What the host does with pinned memory while the device may copy it: PyTorch's operators on the CPU, lists and NumPy arrays.
Once a program has copied pinned memory without waiting, each operator of the CPU passes by here, from every thread: a kernel
for the key BackendSelect, which all tensors have, calls the CPU's. Before that nothing is changed. What an address that the
program takes (Tensor.data_ptr) is used for is not seen: it counts as an array that lives as long as the memory."""

import functools
import sys
import weakref

from . import device_torch, program
from .device_torch import State


class Host:
    views = False
    after = None  # the keys of the kernels below this one


def pinned(tensor):
    """Address of its pinned memory; None: it has none."""
    if tensor.is_cuda or tensor.layout is not State.torch.strided:
        return None
    try:
        address = tensor.untyped_storage().data_ptr()
    except RuntimeError:  # one that has no memory, as those that compilers trace with
        return None
    return address if address in State.memory.pinned else None


class Operator(device_torch.Kernel):
    """Of the CPU."""

    def __call__(self, keys, *args, **named):
        log = program.State.log
        if log is not None and log.asynchronous and State.graph is None and not program.current.quiet:
            seen = device_torch.tensors_in((args, named))
            home = all(one.device.type == "cpu" for one in seen) and getattr(named.get("device"), "type", "cpu") == "cpu"
            if home and any(pinned(one) in log.asynchronous for one in seen):
                self.access(log, args, named)
        return self.pass_on(keys & Host.after, args, named)

    def pass_on(self, keys, args, named):
        try:
            return self.op.redispatch(keys, *args, **named)
        except RuntimeError as error:
            low, numbers = list(args), self.numbers(args)
            if not numbers or "Expected a value of type 'Tensor'" not in str(error):
                raise
        for number in numbers:
            low[number] = self.scalar(low[number], low)
        return self.op.redispatch(keys, *low, **named)

    def access(self, log, args, named):
        lines = [program.touch_line(letter, one) for letter, one in self.touched(args, named) if pinned(one) in log.asynchronous]
        if None in lines:
            log.missing(f"{self.schema_name} accesses a tensor of too many pieces: its races were not checked")
        elif lines:
            log.host_access(f"the host ({self.schema_name})", lines)


def lazily(name):
    made = None

    def call(keys, *args, **named):
        nonlocal made
        if made is None:
            made = Operator(device_torch.find_op(name))
        return made(keys, *args, **named)

    return call


def watch():
    """A copy of pinned memory is under way."""
    if State.watches_host:
        return
    State.watches_host, torch = True, State.torch
    Host.after = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)
    taken = set(torch._C._dispatch_get_registrations_for_dispatch_key("BackendSelect"))
    for name in (*torch._C._dispatch_get_registrations_for_dispatch_key("CPU"), "aten::copy_"):  # which is the CPU's, and others'
        op = device_torch.find_op(name) if name.startswith("aten::") and name not in taken else None
        if op is not None and touches_memory(op._schema):
            device_torch.library("aten").m.impl(name.partition("::")[2], "BackendSelect", lazily(name), True)


def touches_memory(schema):
    """Not those that make a tensor, or a view."""
    views = any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)
    return not views and any("Tensor" in str(argument.type) for argument in schema.arguments) and \
        schema.name.partition("::")[2] not in ("is_pinned", "_pin_memory", "set_", "resize_", "empty_like", "is_set_to")


# ---- Lists and arrays ------------------------------------------------------------------------------------


def watch_views():
    """There is pinned memory: of which arrays are made, and how long they live."""
    if Host.views:
        return
    Host.views, kind = True, State.torch.Tensor
    for name in ("numpy", "__dlpack__"):
        setattr(kind, name, viewing(name, getattr(kind, name)))
    for name in ("tolist", "__reduce_ex__"):  # the latter for torch.save and pickle
        setattr(kind, name, reading(name, getattr(kind, name)))
    kind.data_ptr = pointing(kind.data_ptr)


def reading(name, plain):
    @functools.wraps(plain)
    def read(self, *args):
        read_by_host(self, name)
        return plain(self, *args)

    return read


def pointing(plain):
    """The program takes an address: from now on it may access the memory by that, until it is freed."""
    @functools.wraps(plain)
    def point(self):
        made, log = plain(self), program.State.log
        if log is not None and not self.is_cuda and not program.current.quiet:
            address = pinned(self)
            if address is not None and address not in log.pointed and not program.is_library(sys._getframe(1).f_code.co_filename):
                read_by_host(self, "data_ptr")
                log.pointed[address] = log.view(address, self.untyped_storage().nbytes(), "the host, by an address (data_ptr)")
        return made

    return point


def viewing(name, plain):
    @functools.wraps(plain)
    def view(self, *args, **named):
        made = plain(self, *args, **named)
        log, address = program.State.log, None if self.is_cuda or program.current.quiet else pinned(self)
        if log is not None and address is not None:
            read_by_host(self, name)
            number = log.view(address, self.untyped_storage().nbytes(), f"the host's array ({name})")
            weakref.finalize(made if name == "numpy" else self, log.view_gone, number)
        return made

    return view


def read_by_host(tensor, name):
    log = program.State.log
    if log is not None and log.asynchronous and not tensor.is_cuda and pinned(tensor) in log.asynchronous:
        line = program.touch_line("r", tensor)
        if line:
            log.host_access(f"the host ({name})", [line])


def calling(plain):
    """Functions that PyTorch's compiler has compiled access memory by themselves."""
    @functools.wraps(plain)
    def call(self, inputs, *args, **named):
        log = program.State.log
        if log is not None and log.asynchronous and any(
                isinstance(one, State.torch.Tensor) and pinned(one) in log.asynchronous for one in inputs):
            log.missing(f"a compiled function ({program.where()}) has pinned memory that a copy may access: what it does with that is not seen")
        return plain(self, inputs, *args, **named)

    return call
