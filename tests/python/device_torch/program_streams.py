"""Programs with bugs: streams that do not wait, and memory that is given out again."""

import threading

from program_cases import N, RACE, REUSE, add_kernel, bug, stream, zeros
import torch

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
