"""A tensor that a queue hands over to another process, for `weir exec`: with "race" the other one says that it has
it, and does not wait until its stream has read it."""

import sys

import torch
import torch.multiprocessing as multiprocessing


def read(items, done):
    tensor = items.get()
    total = tensor.sum()
    done.put(None if sys.argv[1] == "race" else total.item())
    items.get()


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    items, done = context.Queue(), context.Queue()
    process = context.Process(target=read, args=(items, done))
    process.start()
    data = torch.ones(64, device="cuda")
    items.put(data)
    assert done.get() in (None, 64)
    data.add_(1)
    items.put(None)
    process.join()
