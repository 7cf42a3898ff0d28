"""What PyTorch's C++ asks about CUDA, where there is no Python in between: guards, which know the current device and stream,
and hooks, which say whether there is a device. Builds with CUDA ask the driver, and builds without say no; the autograd
engine asks both before each backward pass. Both get another table of virtual functions, in this process. The places of
these functions are in the headers that PyTorch's wheel has."""

import atexit
import ctypes
import mmap
import os
import platform
import re

from . import program
from .device_torch import State

SLOTS = 256  # that are copied of a table: more than there are
WORD = ctypes.sizeof(ctypes.c_void_p)
# A function that returns 1 in the first register and 0 in the second: true, the type CUDA, the device cuda:0, its default
# stream, one device, as the caller takes it.
ONE = {"x86_64": bytes.fromhex("b80100000031d2c3"), "aarch64": bytes.fromhex("20008052010080d2c0035fd6")}
# A function that calls the one whose address stands between the two parts, and returns 1 and what that returned.
STREAM = {"x86_64": (bytes.fromhex("4883ec0848b8"), bytes.fromhex("ffd04889c2b8010000004883c408c3")),
          "aarch64": (bytes.fromhex("fd7bbfa95000005803000014"),
                      bytes.fromhex("00023fd6e10300aa20008052fd7bc1a8c0035fd6"))}
# Virtual functions in the order of their declarations, where there are no headers: from PyTorch 2.6 on.
GUARD = ("type exchangeDevice getDevice setDevice uncheckedSetDevice getStream getDefaultStream getStreamFromGlobalPool getNewStream "
         "exchangeStream destroyEvent record block queryEvent deviceCount queryStream synchronizeStream synchronizeEvent "
         "synchronizeDevice recordDataPtrOnStream").split()
HOOKS = ["~AcceleratorHooksInterface", "isBuilt", "isAvailable", "hasPrimaryContext"]
# Of a guard: functions whose answers are others.
OTHER = {"isStreamCapturing", "getDeviceCapability", "elapsedTime", "getStreamNativeHandle"}


def folder():
    return os.path.dirname(State.torch.__file__)


def declared(header, usual):
    """Names of virtual functions. A destructor has two places."""
    try:
        with open(os.path.join(folder(), "include", header), encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", file.read(), flags=re.S)
    except OSError:
        names = usual
    else:
        names = re.findall(r"\bvirtual\s[^;{()]*?(~?\w+)\s*\(", text)
    return [place for name in names for place in ([name, name] if name.startswith("~") else [name])]


class Guard:
    """The table of the guard's functions, by their names, and what stands for all of them."""

    slots, places, one = None, {}, 0


def keep(item):
    """C++ uses it up to the end of the process, when Python is gone."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
    return item


def code(instructions):
    """Address of a function."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page[:len(instructions)] = instructions
    return ctypes.addressof(keep(ctypes.c_char.from_buffer(keep(page))))


def returning(count):
    """A function that returns a small number."""
    if platform.machine() == "x86_64":
        return code(b"\xb8" + count.to_bytes(4, "little") + bytes.fromhex("31d2c3"))
    return code((0x52800000 | count << 5).to_bytes(4, "little") + of_machine(ONE)[4:])


def of_machine(table):
    machine = platform.machine()
    if machine not in table:
        raise RuntimeError(f"the device cuda of Weir is not for processors of the type {machine}")
    return table[machine]


def returning_stream(function):
    """Address of a function that calls this one, with the same arguments, and returns the stream of the number it returns."""
    before, after = of_machine(STREAM)
    return code(before + ctypes.cast(function, ctypes.c_void_p).value.to_bytes(8, "little") + after)


def table(item, places, answers):
    """Address of an object's table of virtual functions, with those that `answers` names replaced."""
    copy = keep((ctypes.c_void_p * SLOTS)())
    Guard.slots = copy if Guard.slots is None else Guard.slots
    ctypes.memmove(copy, ctypes.c_void_p.from_address(item).value - 2 * WORD, ctypes.sizeof(copy))  # two words: what the type is
    for place, name in enumerate(places):
        if name in answers:
            copy[2 + place] = answers[name]
    return ctypes.addressof(copy) + 2 * WORD


# ---- Streams and events of C++: autograd's, torch.Stream, torch.Event ----------------------------------------


POINTER, INDEX, DEVICE = ctypes.c_void_p, ctypes.c_int8, ctypes.c_int16  # a c10::Device is a type, and above it an index


def stream_at(address):
    """Its number; a c10::Stream is a device and that. Streams that C++ has got here have the device in their numbers."""
    number = ctypes.c_int64.from_address(address + WORD).value
    return number | program.default_stream(max(ctypes.c_int8.from_address(address + 1).value, 0))


def answers(streams):
    """By name: (type of the result, types of the arguments, function). `streams` is device_torch_cuda."""
    current, events = streams.current, {}

    def exchange(this, device, stream):
        return program.set_stream(stream)  # C++ has got it here: its device is in its number

    def record(this, event, stream, index, flag):
        cell = ctypes.c_void_p.from_address(event)
        if not cell.value:
            cell.value = next(streams.numbers)
            events[cell.value] = streams.EventOrder()
        events[cell.value].logs("record", stream_at(stream))

    def of_event(what):
        def call(this, event, *stream):
            if event in events:
                events[event].logs(what, *map(stream_at, stream))
            return True

        return call

    def await_stream(this, stream):
        streams.log("await_stream", stream_at(stream))
        return True

    def use(this, data, stream):
        streams.log("used", ctypes.c_uint64.from_address(data).value, stream_at(stream))

    return dict(
        getStream=(ctypes.c_int64, (DEVICE,), lambda this, device: program.stream_on(device >> 8) if device >= 0 else current.stream),
        exchangeStream=(ctypes.c_int64, (ctypes.c_int64, ctypes.c_int64), exchange),
        getStreamFromGlobalPool=(ctypes.c_int64, (DEVICE, ctypes.c_bool), lambda this, device, high: streams.pool_stream(-int(high))),
        getNewStream=(ctypes.c_int64, (DEVICE, ctypes.c_int), lambda this, device, priority: streams.pool_stream(priority)),
        record=(None, (POINTER, POINTER, INDEX, ctypes.c_int), record), block=(None, (POINTER, POINTER), of_event("wait")),
        destroyEvent=(None, (POINTER, INDEX), lambda this, event, index: events.pop(event, None) and None),
        queryEvent=(ctypes.c_bool, (POINTER,), of_event("await_event")), synchronizeEvent=(None, (POINTER,), of_event("await_event")),
        queryStream=(ctypes.c_bool, (POINTER,), await_stream), synchronizeStream=(None, (POINTER,), await_stream),
        synchronizeDevice=(None, (INDEX,), lambda this, index: streams.log("await_all")),
        recordDataPtrOnStream=(None, (POINTER, POINTER), use))


def answer_streams(streams, names):
    """From now on, these functions of the guard are answered in Python."""
    for name, (result, kinds, function) in answers(streams).items():
        if name in names and name in Guard.places:
            made = keep(ctypes.CFUNCTYPE(result, POINTER, *kinds)(function))
            plain = result is not ctypes.c_int64
            Guard.slots[Guard.places[name]] = ctypes.cast(made, POINTER).value if plain else returning_stream(made)


@atexit.register
def answer_no_more():
    """Python ends before C++ does."""
    for name, place in Guard.places.items():
        if name in ANSWERED:
            Guard.slots[place] = Guard.one


def watch_backward(torch):
    """A backward pass is done by threads of the engine, for the one that calls it, which waits."""
    from torch.autograd import graph

    plain = getattr(graph, "_engine_run_backward", None)
    if plain is None:
        return

    def run(*args, **named):
        if program.State.log is None:
            return plain(*args, **named)
        with program.working_for():
            return plain(*args, **named)

    for place in (graph, torch.autograd):
        if getattr(place, plain.__name__, None) is plain:
            setattr(place, plain.__name__, run)


FREQUENT = {"getStream", "exchangeStream"}  # answered once there is a stream
ANSWERED = FREQUENT | {"getStreamFromGlobalPool", "getNewStream", "record", "block", "destroyEvent", "queryEvent", "synchronizeEvent",
                       "queryStream", "synchronizeStream", "synchronizeDevice", "recordDataPtrOnStream"}


def install():
    torch, one = State.torch, code(of_machine(ONE))
    # The guard of the type Meta does nothing; that of CUDA does not, either, and says that there is one device.
    core = ctypes.CDLL(os.path.join(folder(), "lib", "libc10.so"))
    kinds = torch._C._autograd.DeviceType
    cuda, meta = (int(getattr(kind, "value", kind)) for kind in (kinds.CUDA, kinds.Meta))
    guards = (ctypes.c_void_p * (meta + 1)).in_dll(core, "_ZN3c104impl26device_guard_impl_registryE")
    places = declared("c10/core/impl/DeviceGuardImplInterface.h", GUARD)
    guard = keep(ctypes.c_void_p(table(guards[meta], places, {name: one for name in places if name not in OTHER and name[0] != "~"})))
    guards[cuda] = ctypes.addressof(guard)
    if program.State.devices > 1 and "deviceCount" in places:
        Guard.slots[2 + places.index("deviceCount")] = returning(program.State.devices)
    Guard.one, Guard.places = one, {name: 2 + place for place, name in enumerate(places)}
    # There is a CUDA, and its device has a context.
    library = ctypes.CDLL(os.path.join(folder(), "lib", "libtorch_cpu.so"))
    library._ZN2at6detail12getCUDAHooksEv.restype = ctypes.c_void_p
    hooks = library._ZN2at6detail12getCUDAHooksEv()
    answers = {"isBuilt": one, "isAvailable": one, "hasPrimaryContext": one}
    places = declared("ATen/detail/AcceleratorHooksInterface.h", HOOKS)
    if "isBuilt" not in places:  # up to PyTorch 2.6
        places, answers["hasCUDA"] = places + declared("ATen/detail/CUDAHooksInterface.h", []), one
    ctypes.c_void_p.from_address(hooks).value = table(hooks, places, answers)
