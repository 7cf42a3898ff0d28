#!/usr/bin/env python3
"""Memory that one GPU has at two addresses, and two contexts on it: aliases.py twice | contexts

twice: physical memory (cuMemCreate) mapped at two addresses; one CTA writes it by the first, the other reads it by the second, and
nothing orders the two. contexts: the same kernel in two contexts of one device, each with memory of its own, which is no race.
Needs Python, the driver, and tests/gpu/device.py and tests/machine/record.py beside it or where they are."""
import ctypes
import sys

import device

KERNEL = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 first, .param .u64 second, .param .u64 out) {
    .reg .pred %p;
    .reg .b64 %a, %b, %c;
    .reg .b32 %t, %r;
    ld.param.u64 %a, [first];
    ld.param.u64 %b, [second];
    ld.param.u64 %c, [out];
    mov.u32 %t, %ctaid.x;
    setp.ne.u32 %p, %t, 0;
    @%p bra READS;
    mov.u32 %r, 7;
    st.global.u32 [%a], %r;
    ret;
READS:
    ld.global.u32 %r, [%b];
    st.global.u32 [%c], %r;
    ret;
}
\0"""


class Prop(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("where", ctypes.c_int), ("id", ctypes.c_int), ("meta", ctypes.c_void_p), ("rest", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):
    _fields_ = [("where", ctypes.c_int), ("id", ctypes.c_int), ("flags", ctypes.c_int)]


def mapped_twice(gpu):
    prop, page, handle = Prop(type=1, where=1), ctypes.c_size_t(), ctypes.c_uint64()
    gpu.call("cuMemGetAllocationGranularity", ctypes.byref(page), ctypes.byref(prop), 0)
    gpu.call("cuMemCreate", ctypes.byref(handle), page, ctypes.byref(prop), ctypes.c_uint64(0))
    addresses = []
    for _ in range(2):
        at = ctypes.c_uint64()
        gpu.call("cuMemAddressReserve", ctypes.byref(at), page, ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0))
        gpu.call("cuMemMap", at, page, ctypes.c_size_t(0), handle, ctypes.c_uint64(0))
        gpu.call("cuMemSetAccess", at, page, ctypes.byref(Access(1, 0, 3)), ctypes.c_size_t(1))
        addresses.append(at.value)
    return addresses


def launch(gpu, first, second, out):
    function = gpu.function(gpu.module(KERNEL), "twice")
    arguments = [ctypes.c_uint64(a) for a in (first, second, out)]
    gpu.call("cuLaunchKernel", function, 2, 1, 1, 1, 1, 1, 0, None, (ctypes.c_void_p * 3)(*map(ctypes.addressof, arguments)), None)
    gpu.call("cuCtxSynchronize")


def main():
    gpu = device.Device()
    if sys.argv[1] == "twice":
        first, second = mapped_twice(gpu)
        out = gpu.allocate(bytes(256))
        launch(gpu, first, second, out)
        print(f"0x{first:x} and 0x{second:x}: written through one, read through the other:", int.from_bytes(gpu.read(second, 4), "little"))
        return
    places = []
    for _ in range(2):
        context = ctypes.c_void_p()
        gpu.call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
        places.append([gpu.allocate(bytes(256)) for _ in range(3)])
        launch(gpu, *places[-1])
        print("context", context.value is not None, [f"0x{a:x}" for a in places[-1]], int.from_bytes(gpu.read(places[-1][0], 4), "little"))


if __name__ == "__main__":
    main()
