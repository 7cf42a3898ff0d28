#!/usr/bin/env python3
"""Kernels that take over the work of clusters which have not started (cluster launch control), correct and with faults.

A CTA does its tile, asks for another cluster's meanwhile, waits for the answer, reads it, and leaves when it is no.
Run this file after a change; it needs Triton 3.9 and no GPU, and writes NAME-FAULT.ttgir with its launch:
python3 examples/launch_control/launch_control.py
"""

import json
import pathlib

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia.blackwell import clc, fence_async_shared, mbarrier
from triton.experimental.gluon.language.nvidia.hopper import cluster

HERE = pathlib.Path(__file__).resolve().parent


@gluon.jit
def store_tile(out, tile, layout: gl.constexpr):
    place = tile * 128 + gl.arange(0, 128, layout)
    gl.store(out + place, gl.program_id(0) + gl.zeros([128], gl.int32, layout))


@gluon.jit
def one_cta(out, turns, FAULT: gl.constexpr):
    """One CTA a cluster, one response, one barrier."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    response = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    answered = mbarrier.allocate_mbarrier()
    mbarrier.init(answered, count=1)
    tile = gl.program_id(0)
    more = gl.to_tensor(True)
    granted = gl.to_tensor(True)
    phase = gl.to_tensor(0)
    turn = gl.to_tensor(0)
    while more:
        if FAULT == "bytes":
            mbarrier.expect(answered, 32)
        else:
            mbarrier.expect(answered, 16)
        clc.try_cancel(response, answered)
        if granted:
            store_tile(out, tile, layout)
        if FAULT == "read_early":
            answer = clc.load_result(response)
            mbarrier.wait(answered, phase)
        elif FAULT == "no_wait":
            answer = clc.load_result(response)
        elif FAULT == "asked_early":
            mbarrier.wait(answered, phase)
            mbarrier.expect(answered, 16)
            clc.try_cancel(response, answered)
            answer = clc.load_result(response)
            phase ^= 1
            mbarrier.wait(answered, phase)
        else:
            mbarrier.wait(answered, phase)
            answer = clc.load_result(response)
        tile = answer.program_id(0)
        if FAULT == "elsewhere":  # the stolen tile lands beside its place
            tile = tile + 1
        turn += 1
        granted = answer.is_canceled()
        if FAULT == "again":  # leaves the work out, and asks on
            more = turn < turns
        elif FAULT == "not_consumed":
            more = granted
            if more & (turn == 2):
                more = gl.to_tensor(False)
                mbarrier.expect(answered, 16)
                clc.try_cancel(response, answered)
        else:
            more = granted
        if FAULT != "phase":
            phase ^= 1
    if FAULT != "not_consumed":
        mbarrier.invalidate(answered)


@gluon.jit
def two_ctas(out, FAULT: gl.constexpr):
    """Two CTAs a cluster: the first asks, and the answer comes to both."""
    cga: gl.constexpr = ((1, ), )
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0], cga_layout=cga)
    response = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=((0, ), )))
    answered = mbarrier.allocate_mbarrier()
    mbarrier.init(answered, count=1)
    cluster.barrier()
    tile = gl.program_id(0)
    more = gl.to_tensor(True)
    phase = gl.to_tensor(0)
    while more:
        if FAULT == "bytes":  # of both, though each has its own
            mbarrier.expect(answered, 32)
        else:
            mbarrier.expect(answered, 16)
        clc.try_cancel(response, answered)
        store_tile(out, tile, layout)
        if FAULT == "read_early":
            answer = clc.load_result(response)
            mbarrier.wait(answered, phase)
        else:
            mbarrier.wait(answered, phase)
            answer = clc.load_result(response)
        tile = answer.program_id(0)
        more = answer.is_canceled()
        phase ^= 1
        fence_async_shared(cluster=True)
        if FAULT != "no_meeting":  # the first CTA asks again while the second still reads
            cluster.barrier()
    mbarrier.invalidate(answered)


@gluon.jit
def ask(responses, answered, read, FAULT: gl.constexpr):
    """The scheduler: asks ahead, as far as the ring of two responses allows."""
    more = gl.to_tensor(True)
    i = gl.to_tensor(0)
    while more:
        slot = i % 2
        if FAULT != "not_released":
            mbarrier.wait(read.index(slot), (i // 2 & 1) ^ 1)
        mbarrier.expect(answered.index(slot), 16)
        clc.try_cancel(responses.index(slot), answered.index(slot))
        mbarrier.wait(answered.index(slot), i // 2 & 1)
        more = clc.load_result(responses.index(slot)).is_canceled()
        i += 1


@gluon.jit
def work(out, responses, answered, read, FAULT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    tile = gl.program_id(0)
    more = gl.to_tensor(True)
    i = gl.to_tensor(0)
    while more:
        store_tile(out, tile, layout)
        slot = i % 2
        if FAULT != "no_wait":
            mbarrier.wait(answered.index(slot), i // 2 & 1)
        answer = clc.load_result(responses.index(slot))
        tile = answer.program_id(0)
        more = answer.is_canceled()
        fence_async_shared()
        if FAULT != "never_released":
            mbarrier.arrive(read.index(slot), count=1)
        i += 1


@gluon.jit
def partitions(out, FAULT: gl.constexpr):
    """A partition asks, another one works."""
    responses = gl.allocate_shared_memory(gl.int64, [2, 2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    answered = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    read = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(answered.index(i), count=1)
        mbarrier.init(read.index(i), count=1)
    gl.warp_specialize([
        (work, (out, responses, answered, read, FAULT)),
        (ask, (responses, answered, read, FAULT)),
    ], [1], [32])


# Kernel, CTAs of a cluster, faults, and what they are.
KERNELS = [
    (one_cta, 1, ["ok", "read_early", "no_wait", "asked_early", "bytes", "phase", "again", "not_consumed", "elsewhere"]),
    (two_ctas, 2, ["ok", "read_early", "bytes", "no_meeting"]),
    (partitions, 1, ["ok", "no_wait", "not_released", "never_released"]),
]


def compile_kernel(kernel, ctas, fault):
    signature = {"out": "*i32", "turns": "i32", "FAULT": "constexpr"}
    names = kernel.arg_names
    source = GluonASTSource(fn=kernel, signature={name: signature[name] for name in names},
                            constexprs={(names.index("FAULT"), ): fault},
                            attrs={(0, ): [["tt.divisibility", 16]]})
    text = triton.compile(source, target=GPUTarget("cuda", 100, 32),
                          options=dict(num_warps=4, num_ctas=ctas)).asm["ttgir"]
    path = HERE / f"{kernel.__name__}-{fault}.ttgir"
    path.write_text(text.replace(f'"{HERE}/', '"').replace(f'"{pathlib.Path(triton.__file__).parent.parent}/', '"'))
    arguments = {"out": {"tensor": {"shape": [9 * 128], "dtype": "i32"}}}
    if "turns" in names:
        arguments["turns"] = 6
    launch = {"kernel": kernel.__name__, "grid": [8, 1, 1], "args": arguments}
    path.with_suffix(".launch.json").write_text(json.dumps(launch) + "\n")


if __name__ == "__main__":
    for kernel, ctas, faults in KERNELS:
        for fault in faults:
            compile_kernel(kernel, ctas, fault)
