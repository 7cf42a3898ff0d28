"""What PyTorch's C++ asks about CUDA, where there is no Python in between: guards, which know the current device and stream,
and hooks, which say whether there is a device. Builds with CUDA ask the driver, and builds without say no; the autograd
engine does either before each backward pass. Both are changed in place, in this process."""

import ctypes
import os
import re

from .device_torch import State

SLOTS = 256  # that are copied of a table of virtual functions: more than there are
# Answers of functions without arguments, of which one says yes and one says no in every build.
ANSWERS = ("hasOpenMP", "hasLAPACK", "hasMKL", "hasMKLDNN", "hasEigenSparse", "hasKleidiAI")


def folder():
    return os.path.join(os.path.dirname(State.torch.__file__), "lib")


def set_guard():
    """One that does nothing for the device type CUDA: PyTorch makes it where its own finds no device. Builds without CUDA
    have none, and take that of the type Meta."""
    torch = State.torch
    torch._C._ensureCUDADeviceGuardSet()
    library = ctypes.CDLL(os.path.join(folder(), "libc10.so"))
    kinds = torch._C._autograd.DeviceType
    cuda, meta = (int(getattr(kind, "value", kind)) for kind in (kinds.CUDA, kinds.Meta))
    guards = (ctypes.c_void_p * (meta + 1)).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    guards[cuda] = guards[cuda] or guards[meta]


def slots():
    """Places of the hooks' virtual functions, in the order of their declarations. The destructor has two."""
    header = os.path.join(os.path.dirname(folder()), "include", "ATen", "detail", "AcceleratorHooksInterface.h")
    try:
        with open(header, encoding="utf-8") as file:
            names = re.findall(r"^\s*virtual\s+(?:[\w:*& ]+\s)?[*&]?(~?\w+)\(", file.read(), re.M)
    except OSError:
        names = ["~AcceleratorHooksInterface", "isBuilt", "isAvailable", "hasPrimaryContext"]
    return {name: number + 1 for number, name in enumerate(names)}


def constants(library):
    """Addresses of a function that returns true and of one that returns false, whatever they are called with."""
    found = {}
    for name in ANSWERS:
        function = getattr(library, f"_ZN2at7Context{len(name)}{name}Ev", None)
        if function is not None:
            function.restype = ctypes.c_bool
            found.setdefault(bool(function()), ctypes.cast(function, ctypes.c_void_p).value)
    return found.get(True), found.get(False)


def set_hooks():
    """There is a CUDA, and its device has no context of the driver's."""
    library = ctypes.CDLL(os.path.join(folder(), "libtorch_cpu.so"))
    get = library._ZN2at6detail12getCUDAHooksEv
    get.restype = ctypes.c_void_p
    hooks, (yes, no), where = get(), constants(library), slots()
    if yes is None or no is None or "hasPrimaryContext" not in where:
        return
    word = ctypes.sizeof(ctypes.c_void_p)
    table = ctypes.c_void_p.from_address(hooks)
    copy = (ctypes.c_void_p * SLOTS)()
    ctypes.memmove(copy, table.value - 2 * word, ctypes.sizeof(copy))  # two words before it: what the type is
    for name, answer in (("isBuilt", yes), ("isAvailable", yes), ("hasPrimaryContext", no)):
        if name in where:
            copy[2 + where[name]] = answer
    State.hooks = copy  # as long as the process lasts
    table.value = ctypes.addressof(copy) + 2 * word


def install():
    set_guard()
    set_hooks()
