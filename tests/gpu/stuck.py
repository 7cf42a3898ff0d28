#!/usr/bin/env python3
"""A Triton kernel that waits forever for a lock, and what a program does next: stuck.py cpu | item | free | load | library | queue | blocking | sync | exit

In each of these PyTorch is in the driver when somebody has to end the kernel: cpu, item: it copies to memory that is not pinned; free: it
gives memory back; load: the next kernel is compiled and loaded; library: a kernel of PyTorch's is used for the first time; queue: more is put
into the stream than fits; blocking: the launch itself waits (CUDA_LAUNCH_BLOCKING); sync: it waits for the device; exit: it ends. Under
`weir exec --hang-after 1s` all of them have to end, with deadlock.spin."""
import os
import sys

WAY = sys.argv[1]
if WAY == "blocking":
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def locks(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out, 1.0)


@triton.jit
def doubles(out):
    tl.store(out, 2.0 * tl.load(out))


def main():
    lock, out = torch.ones(1, device="cuda", dtype=torch.int32), torch.zeros(64, device="cuda")
    spare = torch.zeros(64 << 20, device="cuda")
    torch.cuda.synchronize()
    locks[(1,)](lock, out)
    print("launched", flush=True)
    if WAY == "cpu":
        print(out.cpu()[0])
    elif WAY == "item":
        print(out[0].item())
    elif WAY == "free":
        del spare
        torch.cuda.empty_cache()
    elif WAY == "load":
        doubles[(1,)](out)
    elif WAY == "library":
        torch.sort(out)
    elif WAY == "queue":
        for _ in range(5000):
            out.add_(1.0)
    if WAY != "exit":
        torch.cuda.synchronize()
    print("done")


if __name__ == "__main__":
    main()
