"""Programs with a bug between their operations, each with a twin that is right: classes of public bugs, written anew. Run by
test_device_torch.py, in a process of its own: each program has an order log, and `weir check` of all logs gets one finding for
each bug, at the two lines that are marked, with the fix, and is clean for each twin."""

import gc
import io
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent import futures

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TRITON_CACHE_DIR=os.path.join(FOLDER.name, "cache"), WEIR_DEVICE_MODE="run")

import torch  # noqa: E402

try:
    import triton
    import triton.language as tl
    from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait
except ImportError:
    sys.exit(0)  # nothing to run
from weir import device, program  # noqa: E402

device.use("sm_90")
N, LARGE = 1024, 1 << 19
RACE, REUSE, EARLY, NO_WAIT = "program.race", "program.reuse", "program.early-access", "global.dependency-wait"
BUGS = []


def bug(rule, fix, also=None):
    """`fix`: words of the finding's. Line <- 1 is the first place of the finding, line <- 2 the second. `also`: another finding
    of line <- 1 alone."""
    def add(test):
        BUGS.append((test, rule, fix, also))
        return test

    return add


def zeros(count=N):
    return torch.zeros(count, device="cuda")


def stream():
    """One that waits for what was there before it."""
    made = torch.cuda.Stream()
    made.wait_stream(torch.cuda.current_stream())
    return made


# ---- Streams that do not wait ------------------------------------------------------------------------


@bug(RACE, "wait_stream")
def inputs_of_a_side_stream(fixed):
    """pytorch#192141, #197562: inputs are made on the default stream, and used on another at once."""
    x, side = torch.rand(N, device="cuda"), torch.cuda.Stream()  # <- 2
    if fixed:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2  # <- 1
    torch.cuda.current_stream().wait_stream(side)
    return y


@bug(RACE, "wait_stream")
def result_of_a_side_stream(fixed):
    """ROCm/pytorch#3194: the default stream reads what a copy of another stream brings."""
    x, side = zeros(), torch.cuda.Stream()
    source = torch.ones(N).pin_memory()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.copy_(source, non_blocking=True)  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    return x + 1  # <- 1


@bug(RACE, "wait_stream")
def wrong_way_round(fixed):
    """Class only: the producer waits for the consumer."""
    x, side = zeros(), stream()
    with torch.cuda.stream(side):
        x.add_(1)  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    else:
        side.wait_stream(torch.cuda.current_stream())
    return x + 1  # <- 1


@bug(RACE, "event")
def event_before_the_work(fixed):
    """huggingface/trl#7195: what the stream waits for was taken before the work that it should cover."""
    x, side, event = zeros(), stream(), torch.cuda.Event()
    if not fixed:
        event.record()
    x.mul_(2)  # <- 2
    if fixed:
        event.record()
    with torch.cuda.stream(side):
        side.wait_event(event)
        y = x.clone()  # <- 1
    torch.cuda.synchronize()
    return y


@bug(RACE, "event")
def event_of_another_stream(fixed):
    """NVIDIA/Megatron-LM#3140: the event is recorded on the stream of the other direction."""
    x, up, down = zeros(), stream(), stream()
    source = torch.ones(N).pin_memory()
    with torch.cuda.stream(up):
        x.copy_(source, non_blocking=True)  # <- 2
    (up if fixed else down).record_event().wait(torch.cuda.current_stream())
    return x * 3  # <- 1


@bug(RACE, "event")
def event_never_recorded(fixed):
    """Class only: waiting for an event that was never recorded is no wait."""
    x, side, event = zeros(), stream(), torch.cuda.Event()
    with torch.cuda.stream(side):
        x.add_(1)  # <- 2
        if fixed:
            event.record()
    torch.cuda.current_stream().wait_event(event)
    return x + 1  # <- 1


@bug(RACE, "event")
def event_recorded_again(fixed):
    """Class only (as vllm#39115): one event for two steps; recorded again, it stands for another stream's step."""
    x, first, second, event = zeros(), stream(), stream(), torch.cuda.Event()
    other = torch.cuda.Event() if fixed else event
    y = zeros()
    second.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(first):
        x.add_(1)  # <- 2
        event.record()
    with torch.cuda.stream(second):
        y.add_(1)
        other.record()
    torch.cuda.current_stream().wait_event(event)
    if fixed:
        torch.cuda.current_stream().wait_event(other)
    return x + y  # <- 1


@bug(RACE, "wait_stream")
def library_on_the_default_stream(fixed):
    """NVIDIA/cudnn-frontend#483: a library without a stream of its caller's launches on the default one."""
    side, x, y = torch.cuda.Stream(), zeros(), zeros()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.fill_(2)  # <- 2
        with torch.cuda.stream(side if fixed else torch.cuda.default_stream()):
            add_kernel[(8,)](x, y, 128)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def stream_made_in_between(fixed):
    """vllm#56382: a getter replaces the current stream by a new one, and what was queued is not waited for."""
    x, before = zeros(), torch.cuda.current_stream()
    x.add_(1)  # <- 2
    made = torch.cuda.Stream()
    if fixed:
        made.wait_stream(before)
    torch.cuda.set_stream(made)
    y = x * 2  # <- 1
    torch.cuda.set_stream(before)
    torch.cuda.synchronize()
    return y


@bug(RACE, "wait_stream")
def handle_zero(fixed):
    """NVIDIA/cudnn-frontend#1165: torch.cuda.ExternalStream(0) is no default stream, but a new one."""
    x = zeros()
    x.add_(1)  # <- 2
    other = torch.cuda.default_stream() if fixed else torch.cuda.ExternalStream(0)
    with torch.cuda.stream(other):
        y = x * 2  # <- 1
    torch.cuda.synchronize()
    return y


@bug(RACE, "wait_stream")
def write_after_read(fixed):
    """vllm#47324: a load overwrites a block of the cache that the compute stream still reads."""
    cache, loads = zeros((16 * N)), stream()
    block, source = cache[4 * N:5 * N], torch.ones(N).pin_memory()
    attended = block.sum()  # <- 2
    if fixed:
        loads.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(loads):
        block.copy_(source, non_blocking=True)  # <- 1
    torch.cuda.synchronize()
    return attended


@bug(RACE, "wait_stream")
def write_after_write(fixed):
    """Class only: two streams fill halves that overlap."""
    x, one, other = zeros(), stream(), stream()
    with torch.cuda.stream(one):
        x[:600].fill_(1)  # <- 2
    with torch.cuda.stream(other):
        x[600 if fixed else 500:].fill_(2)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def strided_halves(fixed):
    """Class only: one stream writes the even columns, another one reads a column of them."""
    x, one, other = zeros((64 * 64)).view(64, 64), stream(), stream()
    with torch.cuda.stream(one):
        x[:, ::2].fill_(1)  # <- 2
    with torch.cuda.stream(other):
        y = x[:, 3 if fixed else 4].clone()  # <- 1
    torch.cuda.synchronize()
    return y


@bug(RACE, "wait_stream")
def thread_without_the_stream(fixed):
    """ndif-team/nnsight#638: a worker thread has the default stream, while its caller computes on another."""
    x, side, out = zeros(), stream(), []

    def work():
        with torch.cuda.stream(side if fixed else torch.cuda.default_stream()):
            out.append(x.clone())  # <- 1

    with torch.cuda.stream(side):
        x.add_(1)  # <- 2
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    torch.cuda.synchronize()


@bug(RACE, "event")
def one_rank_copies_for_all(fixed):
    """pytorch#195281: a collective copies on the stream of rank 0, and not after the streams that issued it."""
    parts = [zeros() for _ in range(2)]
    whole, streams = zeros(2 * N), [stream() for _ in parts]
    for part, own in zip(parts, streams):
        with torch.cuda.stream(own):
            part.add_(1)  # <- 2
    if fixed:
        for own in streams:
            torch.cuda.current_stream().wait_event(own.record_event())
    torch.cat(parts, out=whole)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def all_gather_after_reshard(fixed):
    """pytorch#197827: the copy-in stream reads clones that the current stream makes."""
    full, copy_in = torch.rand(4 * N, device="cuda"), stream()
    chunk = full[N:2 * N].clone()  # <- 2
    if fixed:
        copy_in.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(copy_in):
        gathered = torch.empty(2 * N, device="cuda")
        gathered[:N].copy_(chunk)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def gradients_of_a_side_stream(fixed):
    """Class only (PyTorch's notes on CUDA, streams of backward passes): gradients are the stream's that called backward."""
    weight, side = torch.rand(N, device="cuda", requires_grad=True), stream()
    with torch.cuda.stream(side):
        (weight * 2).sum().backward()  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    with torch.no_grad():
        weight.grad.mul_(0.5)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def streams_of_any_device(fixed):
    """pytorch#195798: `with` of a torch.Stream makes it current, and orders nothing."""
    kind = torch.Stream if hasattr(torch.Stream, "__enter__") else torch.cuda.Stream
    x = zeros()
    one, other = kind(device="cuda"), kind(device="cuda")
    torch.cuda.synchronize()
    with one:
        x.add_(1)  # <- 2
    if fixed:
        other.wait_stream(one)
    with other:
        x.mul_(2)  # <- 1
    torch.cuda.synchronize()


# ---- Memory that is given out again --------------------------------------------------------------------


@bug(REUSE, "record_stream")
def offloaded_activation(fixed):
    """meta-pytorch/torchtune#1867, torchrec#4231: freed while another stream copies it to the host."""
    side = torch.cuda.Stream()
    host = torch.empty(N).pin_memory()
    x = torch.rand(N, device="cuda")  # <- 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(x, non_blocking=True)  # <- 1
    if fixed:
        x.record_stream(side)
    del x
    torch.rand(N, device="cuda")
    torch.cuda.synchronize()


@bug(REUSE, "record_stream")
def handed_over_with_an_event(fixed):
    """NVIDIA/TensorRT-LLM#15265: the event orders the streams, and the allocator does not know of it."""
    aux = torch.cuda.Stream()
    with torch.cuda.stream(aux):
        scale = torch.rand(N, device="cuda")  # <- 2
        done = aux.record_event()
    torch.cuda.current_stream().wait_event(done)
    y = scale * 2  # <- 1
    if fixed:
        scale.record_stream(torch.cuda.current_stream())
    del scale
    with torch.cuda.stream(aux):
        torch.rand(N, device="cuda")
    torch.cuda.synchronize()
    return y


@bug(REUSE, "record_stream")
def prefetched_batch(fixed):
    """Class only: a loader's stream allocates the next batch, and the compute stream uses the last one."""
    loads, compute = torch.cuda.Stream(), torch.cuda.current_stream()
    source = torch.ones(N).pin_memory()
    total = zeros(1)
    for _ in range(2):
        with torch.cuda.stream(loads):
            batch = source.to("cuda", non_blocking=True)  # <- 2
        compute.wait_stream(loads)
        total += batch.sum()  # <- 1
        if fixed:
            batch.record_stream(compute)
        del batch
    torch.cuda.synchronize()


@bug(REUSE, "record_stream")
def recorded_for_another_stream(fixed):
    """huggingface/diffusers#11081: record_stream with a stream that does not use the tensor."""
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.rand(N, device="cuda")  # <- 2
    one.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(one):
        y = x * 2  # <- 1
    x.record_stream(one if fixed else other)
    del x
    torch.rand(N, device="cuda")
    torch.cuda.synchronize()
    return y


@bug(REUSE, "record_stream")
def freed_within_the_other_stream(fixed):
    """Class only: freed while another stream is current, a tensor is still its own stream's."""
    side = torch.cuda.Stream()
    x = torch.rand(N, device="cuda")  # <- 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.sum()  # <- 1
        if fixed:
            x.record_stream(side)
        del x
    z = torch.rand(N, device="cuda")
    torch.cuda.synchronize()
    return y, z


@bug(REUSE, "wait_stream")
def temporary_of_an_expression(fixed):
    """Class only: a temporary of the default stream dies when the other stream's operator returns."""
    x, side = torch.rand(N, device="cuda"), torch.cuda.Stream()
    double = x * 2  # <- 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = double.exp()  # <- 1
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    del double
    z = x * 3
    torch.cuda.synchronize()
    return y, z


@bug(REUSE, "record_stream")
def parameter_gets_other_data(fixed):
    """NVIDIA/Megatron-LM#5788: a bucket's memory is given back while a stream gathers from it."""
    side = torch.cuda.Stream()
    bucket = torch.nn.Parameter(torch.rand(N, device="cuda"))  # <- 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        gathered = bucket.detach() * 1  # <- 1
    if fixed:
        bucket.record_stream(side)
    bucket.data = torch.empty(0, device="cuda")
    torch.rand(N, device="cuda")
    torch.cuda.synchronize()
    return gathered


@bug(REUSE, "wait_stream")
def waited_too_late(fixed):
    """pytorch#181218: the stream waits for the accumulation after it has got the block again."""
    reduces = torch.cuda.Stream()
    total, grad = zeros(), torch.rand(N, device="cuda")  # <- 2
    reduces.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(reduces):
        total.add_(grad)  # <- 1
    del grad
    if fixed:
        torch.cuda.current_stream().wait_stream(reduces)
    following = torch.rand(N, device="cuda")
    torch.cuda.current_stream().wait_stream(reduces)
    return following + total


@bug(REUSE, "record_stream")
def kernel_of_another_stream(fixed):
    """Class only: a Triton kernel's input is a temporary of the default stream."""
    y, side = zeros(), torch.cuda.Stream()
    x = torch.rand(N, device="cuda")  # <- 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        add_kernel[(8,)](x, y, 128)  # <- 1
    if fixed:
        x.record_stream(side)
    del x
    torch.rand(N, device="cuda")
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def first_used_on_another_stream(fixed):
    """ROCm/ATOM#1956: a staging buffer of the default stream gets bytes that this still reads, and another stream fills it."""
    packs = torch.cuda.Stream()
    old = torch.rand(N, device="cuda")
    torch.cuda.synchronize()
    total = old.sum()  # <- 2
    del old
    if fixed:
        with torch.cuda.stream(packs):
            staging = torch.empty(N, device="cuda")
    else:
        staging = torch.empty(N, device="cuda")
    with torch.cuda.stream(packs):
        staging.fill_(1)  # <- 1
    torch.cuda.synchronize()
    return total, staging


# ---- Copies and the host ---------------------------------------------------------------------------------


@bug(RACE, "synchronize")
def read_before_the_copy_is_over(fixed):
    """pytorch#86264, sglang#16493: copied to the host without waiting, and read at once."""
    x = torch.rand(N, device="cuda")
    host = x.to("cpu", non_blocking=True)  # <- 2
    if fixed:
        torch.cuda.current_stream().synchronize()
    return host[0].item()  # <- 1


@bug(RACE, "synchronize")
def list_of_tokens(fixed):
    """Class only (as vllm#42603): sampled tokens are made a list while their copy runs."""
    tokens, side = torch.arange(64, device="cuda"), torch.cuda.Stream()
    host, done = torch.empty(64, dtype=torch.int64).pin_memory(), torch.cuda.Event()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        host.copy_(tokens, non_blocking=True)  # <- 2
        done.record()
    if fixed:
        done.synchronize()
    result = host.tolist()  # <- 1
    torch.cuda.synchronize()
    return result


@bug(RACE, "synchronize")
def other_stream_synchronized(fixed):
    """Class only: the host waits for the stream that does not copy."""
    x, side = torch.rand(N, device="cuda"), stream()
    host = torch.empty(N).pin_memory()
    with torch.cuda.stream(side):
        host.copy_(x, non_blocking=True)  # <- 2
    (side if fixed else torch.cuda.current_stream()).synchronize()
    total = host.sum()  # <- 1
    torch.cuda.synchronize()
    return total


@bug(RACE, "synchronize")
def as_an_array(fixed):
    """pytorch#137878, #127612: the NumPy array of a copy that runs."""
    x = torch.rand(N, device="cuda")
    host = x.to("cpu", non_blocking=True)  # <- 2
    if fixed:
        torch.cuda.synchronize()
    return float(host.numpy().sum())  # <- 1


@bug(RACE, "synchronize")
def checkpoint_of_a_copy(fixed):
    """Class only: a checkpoint is written while the copies to the host run."""
    x = torch.rand(N, device="cuda")
    host = {"x": x.to("cpu", non_blocking=True)}  # <- 2
    if fixed:
        torch.cuda.synchronize()
    torch.save(host, io.BytesIO())  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "synchronize")
def refilled_buffer(fixed):
    """pytorch#126946, NVIDIA/TensorRT-LLM#15546: a pinned buffer is filled again while a copy reads it."""
    staging, x = torch.zeros(N).pin_memory(), zeros()
    for step in range(2):
        if fixed:
            torch.cuda.current_stream().synchronize()
        staging.fill_(step)  # <- 1
        x.copy_(staging, non_blocking=True)  # <- 2
    torch.cuda.synchronize()


@bug(RACE, "synchronize")
def refilled_by_an_index(fixed):
    """vllm-project/vllm#31841: a step writes one element of a buffer that the last step's copy reads."""
    mask, x, copied = torch.zeros(N, dtype=torch.bool).pin_memory(), torch.zeros(N, dtype=torch.bool, device="cuda"), torch.cuda.Event()
    for step in range(2):
        if fixed:
            copied.synchronize()
        mask[step] = True  # <- 1
        x.copy_(mask, non_blocking=True)  # <- 2
        copied.record()
    torch.cuda.synchronize()


@bug(RACE, "synchronize")
def two_halves_of_one_buffer(fixed):
    """1bit-MONSTER#2436: keys and values go through one pinned buffer."""
    keys, values = torch.rand(N), torch.rand(N)
    staging, cache = torch.empty(N).pin_memory(), zeros(2 * N)
    staging.copy_(keys)
    cache[:N].copy_(staging, non_blocking=True)  # <- 2
    if fixed:
        torch.cuda.synchronize()
    staging.copy_(values)  # <- 1
    cache[N:].copy_(staging, non_blocking=True)
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def copy_against_copy(fixed):
    """Class only (as NVIDIA/Megatron-LM#7398): a copy to the host, and one from the host into the same memory, on two streams."""
    x, out, back = torch.rand(N, device="cuda"), stream(), stream()
    saved, other = torch.empty(N).pin_memory(), torch.ones(N).pin_memory()
    with torch.cuda.stream(out):
        saved.copy_(x, non_blocking=True)  # <- 2
    with torch.cuda.stream(back):
        if fixed:
            back.wait_stream(out)
        x.copy_(other, non_blocking=True)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def reloaded_before_it_was_saved(fixed):
    """Class only: the copy back reads pinned memory that the copy to the host writes."""
    x, out, back = torch.rand(N, device="cuda"), stream(), stream()
    saved, y = torch.empty(N).pin_memory(), zeros()
    back.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(out):
        saved.copy_(x, non_blocking=True)  # <- 2
    with torch.cuda.stream(back):
        if fixed:
            back.wait_stream(out)
        y.copy_(saved, non_blocking=True)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def copy_within_the_device(fixed):
    """Class only: copies between tensors of the device do not wait for the host, nor it for them."""
    x, y, side = torch.rand(N, device="cuda"), zeros(), stream()
    with torch.cuda.stream(side):
        y.copy_(x)  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    x.zero_()  # <- 1
    torch.cuda.synchronize()


# ---- Graphs -----------------------------------------------------------------------------------------------


@bug(RACE, "wait_stream")
def branch_joined_too_late(fixed):
    """Class only: a graph's second branch reads what the first writes, and is joined after that."""
    x, y, side, graph = zeros(), zeros(), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        with torch.cuda.stream(side):
            x.add_(1)  # <- 2
        if fixed:
            main.wait_stream(side)
        y.add_(x)  # <- 1
        main.wait_stream(side)
    graph.replay()
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def replay_while_inputs_come(fixed):
    """xpu_graph#491, sglang#27436: the replay is on the current stream, its inputs come on another."""
    x, y, side, graph = zeros(), zeros(), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    source = torch.ones(N).pin_memory()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y.add_(x)  # <- 1
    with torch.cuda.stream(side):
        x.copy_(source, non_blocking=True)  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    graph.replay()
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def output_overwritten_by_the_next_replay(fixed):
    """sglang-omni#1369: the next replay overwrites an output that another stream still copies."""
    x, side, graph = torch.rand(N, device="cuda"), torch.cuda.Stream(), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        out = x * 2  # <- 1
    graph.replay()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        kept = out.clone()  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    graph.replay()
    torch.cuda.synchronize()
    return kept


@bug(RACE, "synchronize")
def graph_keeps_the_address_of_the_host(fixed):
    """Class only (as microsoft/onnxruntime#32121): each replay copies from the pinned memory that was captured, as it is then."""
    staging, x, graph = torch.zeros(N).pin_memory(), zeros(), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        x.copy_(staging, non_blocking=True)  # <- 2
    graph.replay()
    if fixed:
        torch.cuda.current_stream().synchronize()
    staging.fill_(2)  # <- 1
    graph.replay()
    torch.cuda.synchronize()


# ---- Dependent launches -------------------------------------------------------------------------------------


@triton.jit
def add_kernel(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1)


@triton.jit
def produce(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(x + at, 1.0)


@triton.jit
def consume(x, y, BLOCK: tl.constexpr, WAIT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WAIT == 1:
        gdc_wait()
    value = tl.load(x + at)
    if WAIT == 2:
        gdc_wait()
    tl.store(y + at, value)


@bug(EARLY, "gdc_wait")
def load_before_the_wait(fixed):
    """flashinfer#5081: a residual is read before the wait."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    consume[(8,)](x, y, 128, 1 if fixed else 2, launch_pdl=True)  # <- 1


@bug(EARLY, "gdc_wait", also=NO_WAIT)
def no_wait(fixed):
    """flashinfer#2708, llama.cpp#23690: launched as dependent, and the wait is missing."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    consume[(8,)](x, y, 128, 1 if fixed else 0, launch_pdl=True)  # <- 1


@triton.jit
def read(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(y + at, tl.load(x + at))


@triton.jit
def overwrite(x, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if FIRST:
        gdc_wait()
    tl.store(x + at, 2.0)
    if not FIRST:
        gdc_wait()


@bug(EARLY, "gdc_wait")
def store_before_the_wait(fixed):
    """Class only (as NVIDIA/cutlass#2760): the dependent launch overwrites what the one before it reads."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    read[(8,)](x, y, 128)  # <- 2
    overwrite[(8,)](x, 128, fixed, launch_pdl=True)  # <- 1


@triton.jit
def wait_in_some(x, y, BLOCK: tl.constexpr, ALL: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if ALL or tl.program_id(0) == 0:
        gdc_wait()
    tl.store(y + at, tl.load(x + at))


@bug(EARLY, "gdc_wait", also=NO_WAIT)
def wait_in_some_programs(fixed):
    """flashinfer#4685: some of what reads has waited, and the rest has not."""
    x, y = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    wait_in_some[(8,)](x, y, 128, fixed, launch_pdl=True)  # <- 1


@triton.jit
def scaled(x, scale, y, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if FIRST:
        gdc_wait()
    factor = tl.load(scale)
    if not FIRST:
        gdc_wait()
    tl.store(y + at, tl.load(x + at) * factor)


@triton.jit
def quantize(x, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(x + at, 1.0)
    if tl.program_id(0) == 0:
        tl.store(scale, 0.5)


@bug(EARLY, "gdc_wait")
def scale_before_the_wait(fixed):
    """Dao-AILab/flash-attention#2498: a small operand of the launch before it is read ahead of the wait."""
    x, scale, y = zeros(), zeros(1), zeros()
    torch.cuda.synchronize()
    quantize[(8,)](x, scale, 128)  # <- 2
    scaled[(8,)](x, scale, y, 128, fixed, launch_pdl=True)  # <- 1


@triton.jit
def dot_loop(a, b, out, K: tl.constexpr, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    if FIRST:
        gdc_wait()
    for k in range(0, K, BLOCK):
        if not FIRST:
            gdc_wait()
        left = tl.load(a + at[:, None] * K + k + at[None, :])
        right = tl.load(b + (k + at[:, None]) * BLOCK + at[None, :])
        total += tl.dot(left, right)
    tl.store(out + at[:, None] * BLOCK + at[None, :], total)


@triton.jit
def fill_half(x, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    tl.store(x + at, tl.full((BLOCK,), 1, tl.float16))


@bug(EARLY, "gdc_wait")
def pipelined_load(fixed):
    """triton#11905: the compiler loads ahead of a wait that is inside the loop."""
    a, b = (torch.zeros(16 * 64, device="cuda", dtype=torch.float16) for _ in range(2))
    out = zeros(256)
    torch.cuda.synchronize()
    fill_half[(8,)](a, 128)  # <- 2
    dot_loop[(1,)](a, b, out, 64, 16, fixed, num_stages=2, launch_pdl=True)  # <- 1


@triton.jit
def trigger_and_go(z, BLOCK: tl.constexpr, WAIT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_launch_dependents()
    if WAIT:
        gdc_wait()
    tl.store(z + at, 3.0)


@bug(NO_WAIT, "gdc_wait")
def never_waits(fixed):
    """NVIDIA/cccl#9134: launched as dependent although the code that waits was compiled out."""
    x, z = zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)
    trigger_and_go[(8,)](z, 128, fixed, launch_pdl=True)  # <- 1


@bug(EARLY, "gdc_wait")
def launch_before_the_last(fixed):
    """Class only (as NVIDIA/TensorRT-LLM#14668): the launch in between triggers before it waits, and so orders nothing."""
    x, y, z = zeros(), zeros(), zeros()
    torch.cuda.synchronize()
    produce[(8,)](x, 128)  # <- 2
    trigger_and_go[(8,)](z, 128, True, launch_pdl=True)
    consume[(8,)](x, y, 128, 1 if fixed else 2, launch_pdl=True)  # <- 1


# ---- Programs that are right, and such that cannot be decided --------------------------------------------------


RIGHT, OPEN = [], []


@RIGHT.append
def backward_of_two_streams():
    """The engine makes streams wait for each other, and the caller's for all of them."""
    weight, side = torch.rand(N, device="cuda", requires_grad=True), stream()
    for _ in range(2):
        with torch.cuda.stream(side):
            part = weight * 2
        torch.cuda.current_stream().wait_stream(side)
        part.record_stream(torch.cuda.current_stream())
        (part * weight).sum().backward()
        with torch.no_grad():
            weight -= weight.grad
        weight.grad = None
        side.wait_stream(torch.cuda.current_stream())


@RIGHT.append
def handed_over_by_a_future():
    x, side = zeros(), stream()

    def work():
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()

    with futures.ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
        x.mul_(2)


@RIGHT.append
def handed_over_by_a_queue():
    x, side, items, done = zeros(), stream(), queue.Queue(), queue.Queue()

    def work():
        items.get()
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()
        done.put(True)

    worker = threading.Thread(target=work)
    worker.start()
    items.put(True)
    done.get()
    x.mul_(2)
    worker.join()


@RIGHT.append
def threads_one_after_another():
    """Their idents are the same, and they are not."""
    x, workers = zeros(), []

    def work():
        side = stream()
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()

    for _ in range(3):
        workers.append(threading.Thread(target=work))
        workers[-1].start()
        workers[-1].join()
    x.mul_(2)


@RIGHT.append
def same_stream_by_its_handle():
    x, side = zeros(), stream()
    with torch.cuda.stream(side):
        x.add_(1)
    with torch.cuda.stream(torch.cuda.ExternalStream(side.cuda_stream)):
        x.mul_(2)
    torch.cuda.synchronize()


@RIGHT.append
def array_of_a_copy_that_is_over():
    staging, x = torch.zeros(N).pin_memory(), zeros()
    for _ in range(3):
        staging.numpy()[:] = 1
        x.copy_(staging, non_blocking=True)
        staging.copy_(x, non_blocking=True)
        torch.cuda.synchronize()
        assert staging.numpy().sum() == N


@RIGHT.append
def tensors_without_memory():
    """Operators that only compute shapes are no accesses, while a copy runs."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    host = zeros().to("cpu", non_blocking=True)
    with FakeTensorMode():
        assert (torch.zeros(N) + 1).shape == host.shape
    assert (host.to("meta") + 1).shape == host.shape
    torch.cuda.synchronize()


@OPEN.append
def array_that_lives_on():
    """What is written to it while the copy runs is not seen."""
    staging, x = torch.zeros(N).pin_memory(), zeros()
    array = staging.numpy()
    x.copy_(staging, non_blocking=True)
    array[:] = 1
    torch.cuda.synchronize()


@OPEN.append
def handed_over_by_a_lock():
    x, side, done = zeros(), stream(), threading.Event()

    def work():
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    done.wait()
    x.mul_(2)
    worker.join()


@OPEN.append
def stream_of_another_library():
    x = zeros()
    with torch.cuda.stream(torch.cuda.ExternalStream(0x7f0012345678)):
        y = zeros()
    torch.cuda.synchronize()
    return x, y


@OPEN.append
def memory_that_is_registered():
    torch.cuda.cudart().cudaHostRegister(torch.zeros(N).data_ptr(), 4 * N, 0)
    return zeros()


# ---- All of them -----------------------------------------------------------------------------------------------


def run_program(test, name, *fixed):
    gc.collect()
    torch.cuda.synchronize()
    program.begin(FOLDER.name, name)
    try:
        kept = test(*fixed)
    finally:
        program.end()
    del kept
    return os.path.join(FOLDER.name, name + ".weirlog")


def marks(test):
    """Lines of the marks, by number."""
    first = test.__code__.co_firstlineno
    found = {}
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number in range(first, len(lines)):
        if lines[number].startswith(("def ", "@")) and number > first + 1:
            break
        mark = re.search(r"# <- (\d)$", lines[number])
        if mark:
            found[int(mark.group(1))] = number + 1
    return found


class Programs(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        paths = [run_program(test, f"{test.__name__}-{name}", fixed) for test, *_ in BUGS for name, fixed in (("wrong", False), ("right", True))]
        paths += [run_program(test, test.__name__) for test in RIGHT + OPEN]
        build = os.environ.get("WEIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/weir")
        done = subprocess.run([build, "check", "--format", "json", *paths], capture_output=True, text=True)
        cls.results = {os.path.basename(one["file"])[:-len(".weirlog")]: one for one in json.loads(done.stdout)["inputs"]}

    def test_wrong(self):
        """Each has its finding, and no other."""
        for test, rule, fix, also in BUGS:
            result, lines = self.results[f"{test.__name__}-wrong"], marks(test)
            found = {(one["rule"], *(place["line"] for place in one["places"])) for one in result["findings"]}
            wanted = {(rule, *(lines[number] for number in sorted(lines)))} | ({(also, lines[1])} if also else set())
            with self.subTest(test.__name__):
                self.assertEqual(found, wanted)
                self.assertIn(fix, result["findings"][0]["fix"])

    def test_right(self):
        for name in [f"{test.__name__}-right" for test, *_ in BUGS] + [test.__name__ for test in RIGHT]:
            result = self.results[name]
            with self.subTest(name):
                self.assertEqual((result["verdict"], result["findings"], result["incomplete"]), ("clean", [], []))

    def test_open(self):
        for test in OPEN:
            result = self.results[test.__name__]
            with self.subTest(test.__name__):
                self.assertEqual((result["verdict"], result["findings"]), ("incomplete", []))


if __name__ == "__main__":
    unittest.main()
