"""What PyTorch's C++ asks about CUDA, where there is no Python in between: guards, which know the current device and stream,
and hooks, which say whether there is a device. Builds with CUDA ask the driver, and builds without say no; the autograd
engine asks both before each backward pass. Both get another table of virtual functions, in this process. The places of
these functions are in the headers that PyTorch's wheel has."""

import ctypes
import mmap
import os
import platform
import re

from .device_torch import State

SLOTS = 256  # that are copied of a table: more than there are
WORD = ctypes.sizeof(ctypes.c_void_p)
# A function that returns 1 in the first register and 0 in the second: true, the type CUDA, the device cuda:0, its default
# stream, one device, as the caller takes it.
ONE = {"x86_64": bytes.fromhex("b80100000031d2c3"), "aarch64": bytes.fromhex("20008052010080d2c0035fd6")}
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


def keep(item):
    """C++ uses it up to the end of the process, when Python is gone."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))
    return item


def code():
    """Address of the function."""
    machine = platform.machine()
    if machine not in ONE:
        raise RuntimeError(f"the device cuda of Weir is not for processors of the type {machine}")
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page[:len(ONE[machine])] = ONE[machine]
    return ctypes.addressof(keep(ctypes.c_char.from_buffer(keep(page))))


def table(item, places, answers):
    """Address of an object's table of virtual functions, with those that `answers` names replaced."""
    copy = keep((ctypes.c_void_p * SLOTS)())
    ctypes.memmove(copy, ctypes.c_void_p.from_address(item).value - 2 * WORD, ctypes.sizeof(copy))  # two words: what the type is
    for place, name in enumerate(places):
        if name in answers:
            copy[2 + place] = answers[name]
    return ctypes.addressof(copy) + 2 * WORD


def install():
    torch, one = State.torch, code()
    # The guard of the type Meta does nothing; that of CUDA does not, either, and says that there is one device.
    core = ctypes.CDLL(os.path.join(folder(), "lib", "libc10.so"))
    kinds = torch._C._autograd.DeviceType
    cuda, meta = (int(getattr(kind, "value", kind)) for kind in (kinds.CUDA, kinds.Meta))
    guards = (ctypes.c_void_p * (meta + 1)).in_dll(core, "_ZN3c104impl26device_guard_impl_registryE")
    places = declared("c10/core/impl/DeviceGuardImplInterface.h", GUARD)
    guard = keep(ctypes.c_void_p(table(guards[meta], places, {name: one for name in places if name not in OTHER and name[0] != "~"})))
    guards[cuda] = ctypes.addressof(guard)
    # There is a CUDA, and its device has a context.
    library = ctypes.CDLL(os.path.join(folder(), "lib", "libtorch_cpu.so"))
    library._ZN2at6detail12getCUDAHooksEv.restype = ctypes.c_void_p
    hooks = library._ZN2at6detail12getCUDAHooksEv()
    answers = {"isBuilt": one, "isAvailable": one, "hasPrimaryContext": one}
    places = declared("ATen/detail/AcceleratorHooksInterface.h", HOOKS)
    if "isBuilt" not in places:  # up to PyTorch 2.6
        places, answers["hasCUDA"] = places + declared("ATen/detail/CUDAHooksInterface.h", []), one
    ctypes.c_void_p.from_address(hooks).value = table(hooks, places, answers)
