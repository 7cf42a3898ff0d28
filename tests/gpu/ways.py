#!/usr/bin/env python3
"""A Triton kernel that PyTorch launches in ways of its own: ways.py graph | streams | allocator LIBRARY | segments

graph: by torch.cuda.graph, and its replays; streams: on streams of PyTorch's, which its events order; allocator: with memory of a
pluggable allocator (the functions weir_gpu_alloc and weir_gpu_free of LIBRARY); segments: with expandable segments, which are mapped
memory. Prints whether the result is right. Under `weir exec` the verdict has to say what was not looked at."""
import os
import sys

WAY = sys.argv[1]
if WAY == "segments":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

COUNT = 4096


@triton.jit
def grow(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < count) + 1.0, at < count)


def launch(x, out):
    grow[(triton.cdiv(COUNT, 256),)](x, out, COUNT, BLOCK=256)


def by_graph(x, out):
    graph = torch.cuda.CUDAGraph()
    launch(x, out)  # compiled before it is captured
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        launch(x, out)
        launch(out, x)
    graph.replay()
    graph.replay()
    return 3.0


def by_streams(x, out):
    streams = [torch.cuda.Stream() for _ in range(2)]
    for stream, (source, to) in zip(streams, ((x, out), (out, x))):
        stream.wait_stream(streams[0] if stream is streams[1] else torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            launch(source, to)
    torch.cuda.current_stream().wait_stream(streams[1])
    return 1.0


def plainly(x, out):
    launch(x, out)
    return 1.0


def main():
    if WAY == "allocator":
        allocator = torch.cuda.memory.CUDAPluggableAllocator(sys.argv[2], "weir_gpu_alloc", "weir_gpu_free")
        torch.cuda.memory.change_current_allocator(allocator)
    x, out = torch.zeros(COUNT, device="cuda"), torch.zeros(COUNT, device="cuda")
    torch.cuda.synchronize()
    wanted = {"graph": by_graph, "streams": by_streams}.get(WAY, plainly)(x, out)
    torch.cuda.synchronize()
    print(WAY, "right" if out.cpu().eq(wanted).all().item() else f"wrong: {out[0].item()}")


if __name__ == "__main__":
    main()
