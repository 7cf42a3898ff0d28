#!/usr/bin/env python3
"""Programs of PyTorch and Triton whose streams, graphs and processes are ordered as they have to be: right.py CASE

Meant to be run under `weir exec`: a finding is a false alarm. Each case prints `done` at its end. Needs PyTorch, Triton and a GPU.

- graph: a captured CUDA graph of Triton kernels and PyTorch's own, replayed on new inputs, with a side stream that is forked and joined inside of it.
- compiled: training steps of a transformer that torch.compile compiles, then its forward pass with CUDA graphs (mode reduce-overhead).
- ddp: training steps of two processes on one GPU, which average their gradients over gloo.
- paged: decoding with a paged cache of keys and values: pages are written in one stream and read in another, with events in both directions; new
  pages come from pinned memory, and blocks are handed back to PyTorch's allocator with record_stream."""
import os
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
    return out


class Block(torch.nn.Module):
    def __init__(self, width=128, heads=4):
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.first(x)).chunk(3, -1))
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


def train(model, steps, seed=0):
    torch.manual_seed(seed)
    rates = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        x = torch.randn(4, 64, 128).to("cuda", non_blocking=True)
        loss = (model(x) - x).square().mean()
        rates.zero_grad()
        loss.backward()
        rates.step()
    return loss.item()


def graph():
    x, y = torch.randn(4096, device="cuda"), torch.randn(4096, device="cuda")
    side = torch.cuda.Stream()

    def work():
        first = add(x, y)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            second = add(first, x)
        third = first * 2
        torch.cuda.current_stream().wait_stream(side)
        return add(second, third)

    torch.cuda.synchronize()
    warm = torch.cuda.Stream()
    with torch.cuda.stream(warm):
        work()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        out = work()
    for i in range(5):
        x.fill_(i)
        captured.replay()
        print(bool(torch.allclose(out, 4 * x + 3 * y, atol=1e-4)))


def compiled():
    torch.manual_seed(0)
    model = torch.nn.Sequential(Block(), Block()).cuda()
    print(train(torch.compile(model), 4) < 10)
    model.eval()
    quick = torch.compile(model, mode="reduce-overhead")
    with torch.no_grad():
        for i in range(6):
            x = torch.randn(4, 64, 128, device="cuda")
            print(bool(torch.allclose(quick(x).clone(), model(x), atol=1e-2)))


def rank(number, count, port):
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=number, world_size=count)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(Block().cuda())
    loss = train(model, 3, seed=number)
    total = torch.tensor([loss])
    dist.all_reduce(total)
    x = torch.ones(1024, device="cuda")
    print(number, bool(total.item() < 10), add(x, x).sum().item(), flush=True)
    dist.destroy_process_group()


def ddp():
    import socket
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    torch.multiprocessing.spawn(rank, args=(2, port), nprocs=2)


@triton.jit
def attend_kernel(q, pages, table, out, count, PAGE: tl.constexpr, WIDTH: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, PAGE)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    asked = tl.load(q + row * WIDTH + tl.arange(0, WIDTH))
    total = tl.zeros([WIDTH], tl.float32)
    for i in range(count):
        page = tl.load(table + row * 8 + i)
        block = tl.load(pages + page * PAGE * WIDTH + at)
        total += tl.sum(block * tl.sum(block * asked[None, :], 1)[:, None], 0)
    tl.store(out + row * WIDTH + tl.arange(0, WIDTH), total)


@triton.jit
def write_kernel(pages, new, slots, PAGE: tl.constexpr, WIDTH: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, PAGE)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    tl.store(pages + tl.load(slots + row) * PAGE * WIDTH + at, tl.load(new + row * PAGE * WIDTH + at))


def paged():
    rows, page, width = 4, 16, 32
    pages = torch.zeros(64, page, width, device="cuda")
    table = torch.arange(32, dtype=torch.int32, device="cuda").view(rows, 8)
    torch.cuda.synchronize()
    fill, decode = torch.cuda.Stream(), torch.cuda.Stream()
    read = torch.cuda.Event()
    read.record(decode)
    for step in range(4):
        host = torch.randn(rows, page, width).pin_memory()
        with torch.cuda.stream(fill):
            new = host.to("cuda", non_blocking=True)
            slots = table[:, step].contiguous()
            fill.wait_event(read)  # the last step has read the pages
            write_kernel[(rows,)](pages, new, slots, PAGE=page, WIDTH=width)
            written = torch.cuda.Event()
            written.record(fill)
        with torch.cuda.stream(decode):
            q = torch.randn(rows, width, device="cuda")
            out = torch.empty_like(q)
            decode.wait_event(written)
            attend_kernel[(rows,)](q, pages, table, out, step + 1, PAGE=page, WIDTH=width)
            mean = new.mean()  # of the other stream's memory
            new.record_stream(decode)
            read = torch.cuda.Event()
            read.record(decode)
        del new
        decode.synchronize()
        print(bool(torch.isfinite(out).all()), bool(torch.isfinite(mean)))
    torch.cuda.synchronize()


if __name__ == "__main__":
    {"graph": graph, "compiled": compiled, "ddp": ddp, "paged": paged}[sys.argv[1]]()
    print("done")
