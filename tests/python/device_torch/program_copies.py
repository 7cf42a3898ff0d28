"""Programs with bugs: copies, the host, graphs."""

import io

from program_cases import N, RACE, bug, stream, zeros
import torch

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


@bug(RACE, "synchronize")
def refilled_after_to(fixed):
    """Class only: the source of `to(..., non_blocking=True)` is refilled."""
    batch = torch.ones(N).pin_memory()
    x = batch.to("cuda", non_blocking=True)  # <- 2
    if fixed:
        torch.cuda.synchronize()
    batch.fill_(2)  # <- 1
    return x


@bug(RACE, "wait_stream")
def grown_while_another_stream_writes(fixed):
    """Class only: resize_ copies what the tensor holds."""
    x, side = zeros(), stream()
    with torch.cuda.stream(side):
        x.add_(1)  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    x.resize_(2 * N)  # <- 1
    torch.cuda.synchronize()
    return x
