"""Two streams, and the consumer's does not wait for the producer's: `weir exec -- python3 examples/two_streams.py` finds
it, with or without a GPU. With --fixed it waits."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def produce(out, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(out + at, at)


@triton.jit
def consume(source, out, n: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, n)
    tl.store(out + at, 2 * tl.load(source + at))


def run(fixed):
    data = torch.empty(1024, dtype=torch.int32, device="cuda")
    result = torch.empty_like(data)
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(first):
        produce[(8,)](data, 128)
    if fixed:
        second.wait_stream(first)
    with torch.cuda.stream(second):
        consume[(8,)](data, result, 128)
    torch.cuda.synchronize()
    return result


if __name__ == "__main__":
    print(int(run("--fixed" in sys.argv)[1023]))
