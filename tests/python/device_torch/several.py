"""Programs of two processes with a bug between them, each with a twin that is right: symmetric memory, signals of kernels, tensors
that a queue hands over. Run by test_device_torch.py. Both processes do all of them, one after the other, with an order log for
each; the logs of the two are merged, and checked together. Lines <- 1 and <- 2 are the places of a program's finding."""

import os
import subprocess
import sys
import tempfile
import time
import unittest

if os.environ.get("RANK"):  # one of the two, each with a GPU of its own
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["RANK"]

from program_cases import bug, BUGS, marks, OPEN, RACE, RIGHT, run_program
from programs import Twins, verdicts, WEIR
import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing
import triton
import triton.language as tl

N = 64


@triton.jit
def send_kernel(data, flag, value, SEM: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.arange(0, 64)
    tl.store(data + at, at + value)
    tl.atomic_xchg(flag, 1, sem=SEM, scope=SCOPE)


@triton.jit
def receive_kernel(data, flag, out, SEM: tl.constexpr, SCOPE: tl.constexpr):
    at = tl.arange(0, 64)
    while tl.atomic_add(flag, 0, sem=SEM, scope=SCOPE) != 1:
        pass
    tl.store(out + at, tl.load(data + at))


@triton.jit
def meet_kernel(counter, own, other, ready, seen, value, count, SCOPE: tl.constexpr):
    """As single_cta_atomic_sync of GSan's tests."""
    tl.store(own, value)
    number = tl.atomic_add(counter, 1, sem="acq_rel", scope=SCOPE)
    if number != count - 1:
        while tl.atomic_add(counter, 0, sem="acquire", scope=SCOPE) < count:
            pass
    found = tl.load(other)
    tl.store(ready, number)
    tl.store(seen, found)


@triton.jit
def no_meet_kernel(own, other, seen, value):
    tl.store(own, value)
    tl.store(seen, tl.load(other))


class Memory:
    """Of both processes: what each has, what the other one has, and flags that are zero."""

    def __init__(self):
        import torch.distributed._symmetric_memory as symmetric

        self.whole = symmetric.empty(4 * N, dtype=torch.int32, device="cuda")
        self.whole.zero_()
        self.handle = symmetric.rendezvous(self.whole, distributed.group.WORLD)
        self.rank = self.handle.rank
        peer = self.handle.get_buffer(1 - self.rank, (4 * N,), torch.int32)
        self.own, self.flag = self.whole[:N], self.whole[2 * N:2 * N + 1]
        self.peer, self.peer_flag = peer[:N], peer[2 * N:2 * N + 1]
        self.first = self.handle.get_buffer(0, (4 * N,), torch.int32)[3 * N:3 * N + 1]
        self.out = torch.zeros(N, dtype=torch.int32, device="cuda")
        self.handle.barrier()


@bug(RACE, 'scope sys on both sides (`scope="sys"`)')
def scope_of_a_signal(memory, fixed):
    """aiter#4786: a signal to another GPU with scope gpu."""
    if memory.rank == 0:
        send_kernel[(1,)](memory.peer, memory.peer_flag, 5, "release", "sys" if fixed else "gpu", num_warps=1)  # <- 2
    else:
        receive_kernel[(1,)](memory.own, memory.flag, memory.out, "acquire", "sys" if fixed else "gpu", num_warps=1)  # <- 1
        assert memory.out.tolist() == list(range(5, N + 5))


@bug(RACE, 'a release (`sem="release"`)')
def relaxed_signal(memory, fixed):
    if memory.rank == 0:
        send_kernel[(1,)](memory.peer, memory.peer_flag, 6, "release" if fixed else "relaxed", "sys", num_warps=1)  # <- 2
    else:
        receive_kernel[(1,)](memory.own, memory.flag, memory.out, "acquire", "sys", num_warps=1)  # <- 1
        assert memory.out.tolist() == list(range(6, N + 6))


@bug(RACE, "Order the two processes")
def no_barrier(memory, fixed):
    """The other process's buffer is written, and that reads it without a barrier."""
    if memory.rank == 0:
        memory.peer.fill_(3)  # <- 2
    if fixed:
        memory.handle.barrier()
    if memory.rank == 1:
        time.sleep(0 if fixed else 0.3)
        memory.out.add_(memory.own)  # <- 1


@bug(RACE, "Order the two processes")
def no_barrier_at_the_end(memory, fixed):
    """aiter#3514: a buffer is written again, while the other process may still read it."""
    for turn in range(2):
        if memory.rank == 0:
            time.sleep(0.3 * turn)
            memory.own.fill_(turn)  # <- 1
        memory.handle.barrier(channel=1 + turn)
        if memory.rank == 1:
            memory.out.copy_(memory.peer)  # <- 2
        if fixed:
            memory.handle.barrier(channel=3)


@bug(RACE, "Order the two processes")
def signal_of_the_host(memory, fixed):
    """put_signal before what it is to cover."""
    if memory.rank == 0:
        if fixed:
            memory.peer.fill_(4)
        memory.handle.put_signal(1, channel=4)
        if not fixed:
            memory.peer.fill_(4)  # <- 2
    else:
        memory.handle.wait_signal(0, channel=4)
        time.sleep(0 if fixed else 0.3)
        memory.out.add_(memory.own)  # <- 1


@RIGHT.append
def meets(memory):
    meet_kernel[(1,)](memory.first, memory.own, memory.peer, memory.out, memory.out[1:], memory.rank + 1, 2, "sys", num_warps=1)
    torch.cuda.synchronize()
    assert memory.out[1].item() == 2 - memory.rank


@RIGHT.append
def host_barrier(memory):
    """A collective on the host, behind a synchronization."""
    if memory.rank == 0:
        memory.peer.fill_(3)
        torch.cuda.synchronize()
    distributed.barrier()
    if memory.rank == 1:
        assert memory.own.sum().item() == 3 * N


@RIGHT.append
def data_parallel(memory):
    """Nothing is shared but what gloo copies."""
    x = torch.full((4,), memory.rank + 1., device="cuda")
    distributed.all_reduce(x)
    assert x.tolist() == [3.] * 4


@RIGHT.append
def handed_over_by_a_queue(memory):
    send, done = QUEUES
    if memory.rank == 0:
        x = torch.ones(N, device="cuda")
        send.put(x * 2)
        x.add_(1)
        assert done.get() == 2 * N
    else:
        y = send.get()
        done.put(float(y.sum()))


@bug(RACE, "Order the two processes")
def event_between_processes(memory, fixed):
    """An event that the other process's stream waits for, or does not."""
    send, done = QUEUES
    if memory.rank == 0:
        event = torch.cuda.Event(interprocess=True)
        memory.peer.fill_(8)  # <- 2
        event.record()
        send.put(event.ipc_handle())
        done.get()
    else:
        event = torch.cuda.Event.from_ipc_handle(torch.device("cuda"), send.get())
        if fixed:
            event.wait()
        memory.out.add_(memory.own)  # <- 1
        done.put(None)


@bug(RACE, "Order the two processes")
def collective_of_nccl(memory, fixed):
    """A collective of NCCL orders the streams that it is in, and no host waits for it."""
    x, side = torch.ones(4, device="cuda"), torch.cuda.Stream()
    if memory.rank == 0:
        memory.peer.fill_(9)  # <- 2
    distributed.all_reduce(x, group=NCCL)
    with torch.cuda.stream(torch.cuda.current_stream() if fixed else side):
        if memory.rank == 1:
            memory.out.add_(memory.own)  # <- 1


@OPEN.append
def handed_over_by_a_file(memory):
    """How the processes hand over is not seen."""
    path = os.path.join(os.environ["SEVERAL"], "handed-over")
    if memory.rank == 0:
        memory.peer.fill_(7)
        torch.cuda.synchronize()
        open(path, "w").close()
    else:
        while not os.path.exists(path):
            time.sleep(0.01)
        memory.out.copy_(memory.own)


@OPEN.append
def handed_over_by_a_pipe_of_the_system(memory):
    """A host that knows could have said so, whatever the other one waits for."""
    if memory.rank == 0:
        memory.peer.fill_(7)
        torch.cuda.synchronize()
        time.sleep(0.5)
    else:
        time.sleep(1)
        memory.out.copy_(memory.own)


def cases():
    """Name, function and arguments of each."""
    for test, *_ in BUGS:
        for name, fixed in (("wrong", False), ("right", True)):
            yield f"{test.__name__}-{name}", test, (fixed,)
    for test in RIGHT + OPEN:
        yield test.__name__, test, ()


def work(rank, folder, queues):
    global QUEUES, NCCL
    QUEUES = queues
    distributed.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    NCCL = distributed.new_group(backend="nccl")
    memory = [Memory() for _ in cases()]
    # Kernels are compiled before the two are to run at the same time.
    own = [torch.zeros(N, dtype=torch.int32, device="cuda") for _ in range(3)]
    for sem in ("release", "relaxed"):
        send_kernel[(1,)](own[0], own[1], 0, sem, "sys", num_warps=1)
    send_kernel[(1,)](own[0], own[1], 0, "release", "gpu", num_warps=1)
    for scope in ("sys", "gpu"):
        receive_kernel[(1,)](own[0], own[1], own[2], "acquire", scope, num_warps=1)
    meet_kernel[(1,)](own[2], own[1], own[0], own[1][1:], own[1][2:], 1, 1, "sys", num_warps=1)
    for (name, test, fixed), each in zip(cases(), memory):
        distributed.barrier()
        run_program(test, f"{name}.{rank}", each, *fixed, folder=folder)
    distributed.barrier()
    distributed.destroy_process_group()


class Several(Twins, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        context = multiprocessing.get_context("spawn")
        queues, processes = (context.Queue(), context.Queue()), []
        for rank in range(2):
            os.environ.update(RANK=str(rank), SEVERAL=cls.folder.name)
            processes.append(context.Process(target=work, args=(rank, cls.folder.name, queues)))
            processes[-1].start()
        del os.environ["RANK"]
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0, 0]
        paths = []
        for name, *_ in cases():
            paths.append(os.path.join(cls.folder.name, f"{name}.weirlog"))
            subprocess.run([WEIR, "merge", "-o", paths[-1], *(os.path.join(cls.folder.name, f"{name}.{rank}.weirlog") for rank in range(2))], check=True)
        cls.results = verdicts(paths)

    def test_wrong(self):
        for test, rule, fix, _ in BUGS:
            result, lines = self.results[f"{test.__name__}-wrong"], marks(test)
            with self.subTest(test.__name__):
                found = [(one["rule"], {place["line"] for place in one["places"][:2]}) for one in result["findings"]]
                self.assertEqual((result["verdict"], found), ("findings", [(rule, {lines[1], lines[2]})]), result["incomplete"])
                self.assertIn(fix, result["findings"][0]["fix"])


if __name__ == "__main__":
    if not distributed.is_available():
        sys.exit(0)
    unittest.main()
