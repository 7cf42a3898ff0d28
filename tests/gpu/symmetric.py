"""Two processes on one GPU that share memory, to be run under `weir exec`: patterns of GSan's tests of symmetric memory, and tensors
that a queue hands over. `symmetric.py CASE` does one; `symmetric.py all WEIR FOLDER [MODE...]` runs all of them, and prints what each came to. Mode shadow
is never clean: of a right one the program is, and of kernels nothing but that is said."""

import os
import subprocess
import sys

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing
import triton
import triton.language as tl

N = 64
PORT = 29500
EXPECTED = {"rendezvous": 0, "signal": 0, "no_barrier": 1, "atomic_sync": 0, "no_atomic_sync": 1, "send": 0, "relaxed": 1, "queue": 0,
            "event": 0, "no_event": 1}


@triton.jit
def meet_kernel(counter, own, other, ready, seen, value, count):
    """As single_cta_atomic_sync of GSan's tests."""
    tl.store(own, value)
    number = tl.atomic_add(counter, 1, sem="acq_rel", scope="sys")
    if number != count - 1:
        while tl.atomic_add(counter, 0, sem="acquire", scope="sys") < count:
            pass
    found = tl.load(other)
    tl.store(ready, number)
    tl.store(seen, found)


@triton.jit
def no_meet_kernel(own, other, seen, value):
    tl.store(own, value)
    tl.store(seen, tl.load(other))


@triton.jit
def send_kernel(data, flag, value, SEM: tl.constexpr):
    at = tl.arange(0, 64)
    tl.store(data + at, at + value)
    tl.atomic_xchg(flag, 1, sem=SEM, scope="sys")


@triton.jit
def receive_kernel(data, flag, out):
    at = tl.arange(0, 64)
    while tl.atomic_add(flag, 0, sem="acquire", scope="sys") != 1:
        pass
    tl.store(out + at, tl.load(data + at))


@triton.jit
def add_kernel(to, data):
    at = tl.arange(0, 64)
    tl.store(to + at, tl.load(data + at) + 1)


def compile_kernels(case, rank, whole, peer, first, out):
    """Before the two processes meet: the first one would be over, and its host know it, before the other one begins."""
    kernel, words = {"rendezvous": (add_kernel, (out, peer)), "no_barrier": (add_kernel, (out, peer)), "signal": (add_kernel, (out, whole)),
                     "atomic_sync": (meet_kernel, (first, whole, peer, out, out[1:], rank + 1, 2)),
                     "no_atomic_sync": (no_meet_kernel, (whole, peer, out, rank + 1))}.get(case, (None, ()))
    if not kernel and rank == 0:
        kernel, words = send_kernel, (peer, peer[2 * N:], 5, "release" if case == "send" else "relaxed")
    elif not kernel:
        kernel, words = receive_kernel, (whole, whole[2 * N:], out)
    kernel.warmup(*words, grid=(1,), num_warps=1)


def symmetric_case(rank, case):
    import torch.distributed._symmetric_memory as symmetric

    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(PORT + sorted(EXPECTED).index(case)))
    torch.cuda.set_device(0)
    distributed.init_process_group("gloo")
    whole = symmetric.empty(4 * N, dtype=torch.int32, device="cuda")
    whole.zero_()
    handle = symmetric.rendezvous(whole, distributed.group.WORLD)
    peer = handle.get_buffer(1 - rank, (4 * N,), torch.int32)
    first = handle.get_buffer(0, (4 * N,), torch.int32)[3 * N:]
    out = torch.zeros(N, dtype=torch.int32, device="cuda")
    compile_kernels(case, rank, whole, peer, first, out)
    handle.barrier()
    torch.cuda.synchronize()
    distributed.barrier()
    if case == "rendezvous":
        whole[:N].fill_(rank + 1)
        handle.barrier()
        add_kernel[(1,)](out, peer, num_warps=1)
        assert out[0].item() == 2 - rank + 1
    elif case == "signal":
        if rank == 0:
            peer[:N].fill_(7)
            handle.put_signal(1)
        else:
            handle.wait_signal(0)
            add_kernel[(1,)](out, whole, num_warps=1)
            assert out[0].item() == 8
    elif case == "no_barrier":
        whole[:N].fill_(rank + 1)
        add_kernel[(1,)](out, peer, num_warps=1)
    elif case == "atomic_sync":
        meet_kernel[(1,)](first, whole, peer, out, out[1:], rank + 1, 2, num_warps=1)
        assert out[1].item() == 2 - rank
    elif case == "no_atomic_sync":
        no_meet_kernel[(1,)](whole, peer, out, rank + 1, num_warps=1)
    elif rank == 0:
        send_kernel[(1,)](peer, peer[2 * N:], 5, "release" if case == "send" else "relaxed", num_warps=1)
    else:
        receive_kernel[(1,)](whole, whole[2 * N:], out, num_warps=1)
        assert out.tolist() == list(range(5, N + 5))
    torch.cuda.synchronize()
    distributed.barrier()
    distributed.destroy_process_group()


def take(queue, back, case):
    value, event = queue.get()
    if case == "event":
        torch.cuda.Event.from_ipc_handle(torch.device("cuda", 0), event).wait()
    out = torch.empty_like(value)
    add_kernel[(1,)](out, value, num_warps=1)
    torch.cuda.synchronize()
    back.put(0)
    queue.get()


def queue_case(case):
    """`event`, `no_event`: what is written after the tensor went through the queue."""
    context = multiprocessing.get_context("spawn")
    queue, back = context.Queue(), context.Queue()
    process = context.Process(target=take, args=(queue, back, case))
    process.start()
    value, event = torch.full((N,), 3.0, device="cuda"), torch.cuda.Event(interprocess=True)
    handle = event.ipc_handle()
    if case == "queue":
        value.add_(1)
    side = torch.cuda.Stream()
    if case != "queue":
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            value.add_(1)
            event.record()
    queue.put((value, handle))
    back.get()
    queue.put(0)
    process.join()


def run_all(weir, folder):
    os.environ["TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES"] = "1"
    modes = sys.argv[4:] or ["record"]
    for mode in modes:
        started = {}
        for case in EXPECTED:
            log = open(os.path.join(folder, f"{mode}-{case}.txt"), "w")
            started[case] = subprocess.Popen(["timeout", "100", weir, "exec", "--mode", mode, "--color", "never", "--keep",
                                              f"/tmp/symmetric-{mode}-{case}", "--", sys.executable, __file__, case], stdout=log, stderr=subprocess.STDOUT)
            if len(started) % 4 == 0:
                started[case].wait()
        for case, process in started.items():
            status, wanted = process.wait(), EXPECTED[case]
            text = open(os.path.join(folder, f"{mode}-{case}.txt")).read()
            if mode == "shadow" and not wanted:
                wanted = 3
                incomplete = {line.split("incomplete: ", 1)[1] for line in text.splitlines() if ": incomplete: " in line}
                if "1  clean (this run)" not in text or not all(line.startswith("mode shadow checks CTAs") for line in incomplete):
                    status = f"{status}, and more was left open: {sorted(incomplete)}"
            print("right" if status == wanted else "WRONG", mode, case, "status", status, "wanted", wanted, flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "all":
        run_all(sys.argv[2], sys.argv[3])
    elif sys.argv[1] in ("queue", "event", "no_event"):
        queue_case(sys.argv[1])
    else:
        multiprocessing.spawn(symmetric_case, args=(sys.argv[1],), nprocs=2)
