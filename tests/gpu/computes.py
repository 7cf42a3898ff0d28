#!/usr/bin/env python3
"""A kernel that computes for long behind a barrier, to be run under `weir exec --hang-after 300ms`: it is no hang, and has to end by itself.

    computes.py [SECONDS]

Two CTAs of 64 threads meet at bar.sync, go round a loop that touches no memory for SECONDS (3), and store. Exit status 1: what they stored
is not right. Needs Python, the driver, and tests/gpu/device.py and tests/machine/record.py beside it."""
import ctypes
import struct
import sys

import device

THREADS, CTAS = 64, 2
KERNEL = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry computes(.param .u64 out, .param .u64 nanoseconds) {
    .reg .pred %p;
    .reg .b64 %a, %b, %c, %d;
    .reg .b32 %t, %i;
    ld.param.u64 %a, [out];
    ld.param.u64 %d, [nanoseconds];
    bar.sync 0;
    mov.u64 %b, %globaltimer;
    mov.u32 %i, 0;
AGAIN:
    mov.u64 %c, %globaltimer;
    sub.u64 %c, %c, %b;
    setp.lt.u64 %p, %c, %d;
    @%p bra AGAIN;
    mov.u32 %t, %ctaid.x;
    mov.u32 %i, %ntid.x;
    mul.lo.u32 %t, %t, %i;
    mov.u32 %i, %tid.x;
    add.u32 %t, %t, %i;
    mad.wide.u32 %a, %t, 4, %a;
    add.u32 %t, %t, 7;
    st.global.u32 [%a], %t;
    ret;
}
\0"""


def main():
    gpu = device.Device()
    out = gpu.room(4 * THREADS * CTAS)
    function = gpu.function(gpu.module(KERNEL), "computes")
    nanoseconds = int(float(sys.argv[1] if len(sys.argv) > 1 else 3) * 1e9)
    words = [ctypes.c_uint64(out), ctypes.c_uint64(nanoseconds)]
    gpu.call("cuLaunchKernel", function, CTAS, 1, 1, THREADS, 1, 1, 0, None, (ctypes.c_void_p * 2)(*map(ctypes.addressof, words)), None)
    gpu.call("cuCtxSynchronize")
    right = struct.unpack(f"<{THREADS * CTAS}I", gpu.read(out, 4 * THREADS * CTAS)) == tuple(i + 7 for i in range(THREADS * CTAS))
    print("right" if right else "wrong")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
