#!/usr/bin/env python3
"""What PyTorch's operators, allocations and events cost the host, plain and under `weir exec`: cost.py

Prints microseconds of each, the best of five times 3,000. Needs PyTorch and a GPU."""
import time

import torch

TIMES, CALLS = 5, 3000


def best(call):
    least = float("inf")
    for _ in range(TIMES):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(CALLS):
            call()
        least = min(least, time.perf_counter() - begun)
    return least / CALLS * 1e6


def main():
    x, y, out = (torch.ones(1024, device="cuda") for _ in range(3))
    host, event, stream = torch.ones(16), torch.cuda.Event(), torch.cuda.Stream()
    for name, call in (("x + y", lambda: x + y), ("torch.add(x, y, out=out)", lambda: torch.add(x, y, out=out)),
                       ("torch.empty", lambda: torch.empty(1024, device="cuda")), ("event.record", event.record),
                       ("stream.wait_event", lambda: stream.wait_event(event)), ("x + x on the CPU", lambda: host + host)):
        print(f"{name}: {best(call):.2f} us")


if __name__ == "__main__":
    main()
