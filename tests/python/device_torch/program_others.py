"""Programs that are right, such that cannot be decided, and bugs that are found without a GPU alone."""

import ctypes
import queue
import threading
from concurrent import futures

from program_cases import N, OPEN, RACE, RIGHT, bug, stream, zeros
import torch


@bug(RACE, "event")
def asked_and_not_looked_at(fixed):
    """What query() says is not looked at: without a GPU it is false the first time."""
    x, side, event = zeros(), stream(), torch.cuda.Event()
    with torch.cuda.stream(side):
        x.add_(1)  # <- 2
        event.record()
    while not event.query() and fixed:
        pass
    x.mul_(2)  # <- 1
    torch.cuda.synchronize()


@bug(RACE, "wait_stream")
def stream_asked_and_not_looked_at(fixed):
    x, side = zeros(), stream()
    with torch.cuda.stream(side):
        x.add_(1)  # <- 2
    while not side.query() and fixed:
        pass
    x.mul_(2)  # <- 1
    assert not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    assert torch.cuda.current_stream().query() and side.query()


@bug(RACE, "wait_stream")
def graphs_of_one_pool(fixed):
    """torch.cuda.graph_pool_handle: graphs that share a pool are not to run at the same time."""
    pool, side, x, y, z = torch.cuda.graph_pool_handle(), stream(), zeros(), zeros(), zeros()
    one, other = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(one, pool=pool):
        y.copy_((x * 2) + 1)
    with torch.cuda.graph(other, pool=pool):
        z.copy_((x * 3) + 1)
    torch.cuda.synchronize()
    one.replay()  # <- 2
    if fixed:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        other.replay()  # <- 1
    torch.cuda.synchronize()


def group_of_one(backend):
    import torch.distributed as distributed

    distributed.init_process_group(backend, store=distributed.HashStore(), rank=0, world_size=1)
    return distributed


@bug(RACE, "wait_stream")
def collective_not_waited_for(fixed):
    """torch.distributed: what async_op returns has to be waited for before the tensor is used."""
    distributed, x = group_of_one("gloo"), zeros()
    torch.cuda.synchronize()
    work = distributed.broadcast(x, 0, async_op=True)  # <- 2
    if fixed:
        work.wait()
    x.add_(1)  # <- 1
    work.wait()
    torch.cuda.synchronize()
    distributed.destroy_process_group()


@bug(RACE, "wait_stream")
def collective_writes(fixed):
    """What a collective gathers is written, though the schema of its operator does not say so."""
    distributed, x, side = group_of_one("gloo"), zeros(), stream()
    out = [zeros()]
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        y = out[0] + 1  # <- 2
    if fixed:
        torch.cuda.current_stream().wait_stream(side)
    distributed.all_gather(out, x)  # <- 1
    torch.cuda.synchronize()
    distributed.destroy_process_group()
    return y


@RIGHT.append
def collectives_beside_others():
    """One that is waited for later, beside other work; the root of a broadcast is only read."""
    distributed, x, side = group_of_one("gloo"), zeros(), stream()
    out = [torch.empty(N, device="cuda")]
    work = distributed.all_gather(out, x, async_op=True)
    y = x + 1
    work.wait()
    out[0].add_(y)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    distributed.broadcast(x, 0)
    torch.cuda.synchronize()
    distributed.destroy_process_group()


@RIGHT.append
def graphs_of_two_pools():
    side, x, y, z = stream(), zeros(), zeros(), zeros()
    one, other = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(one):
        y.copy_((x * 2) + 1)
    with torch.cuda.graph(other):
        z.copy_((x * 3) + 1)
    torch.cuda.synchronize()
    one.replay()
    with torch.cuda.stream(side):
        other.replay()
    torch.cuda.synchronize()


@RIGHT.append
def backward_of_two_streams():
    """The engine makes streams wait for each other, and the caller's for all of them."""
    weight, side = torch.rand(N, device="cuda", requires_grad=True), stream()
    for _ in range(2):
        with torch.cuda.stream(side):
            part = weight * 2
        torch.cuda.current_stream().wait_stream(side)
        part.record_stream(torch.cuda.current_stream())
        (part * weight).sum().backward()
        with torch.no_grad():
            weight -= weight.grad
        weight.grad = None
        side.wait_stream(torch.cuda.current_stream())


@RIGHT.append
def copied_before_the_call_returns():
    """A copy to the device without non_blocking: the host waits, and so may every stream use it."""
    side = torch.cuda.Stream()
    x, y = torch.rand(N).to("cuda"), torch.tensor([1.0, 2.0], device="cuda")
    with torch.cuda.stream(side):
        x.add_(y[0])
    torch.cuda.synchronize()


@RIGHT.append
def handed_over_by_a_future():
    x, side = zeros(), stream()

    def work():
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()

    with futures.ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
        x.mul_(2)


@RIGHT.append
def handed_over_by_a_queue():
    x, side, items, done = zeros(), stream(), queue.Queue(), queue.Queue()

    def work():
        items.get()
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()
        done.put(True)

    worker = threading.Thread(target=work)
    worker.start()
    items.put(True)
    done.get()
    x.mul_(2)
    worker.join()


@RIGHT.append
def threads_one_after_another():
    """Their idents are the same, and they are not."""
    x, workers = zeros(), []

    def work():
        side = stream()
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()

    for _ in range(3):
        workers.append(threading.Thread(target=work))
        workers[-1].start()
        workers[-1].join()
    x.mul_(2)


@RIGHT.append
def same_stream_by_its_handle():
    x, side = zeros(), stream()
    with torch.cuda.stream(side):
        x.add_(1)
    with torch.cuda.stream(torch.cuda.ExternalStream(side.cuda_stream)):
        x.mul_(2)
    torch.cuda.synchronize()


@RIGHT.append
def array_of_a_copy_that_is_over():
    staging, x = torch.zeros(N).pin_memory(), zeros()
    for _ in range(3):
        staging.numpy()[:] = 1
        x.copy_(staging, non_blocking=True)
        staging.copy_(x, non_blocking=True)
        torch.cuda.synchronize()
        assert staging.numpy().sum() == N


@RIGHT.append
def tensors_without_memory():
    """Operators that only compute shapes are no accesses, while a copy runs."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    host = zeros().to("cpu", non_blocking=True)
    with FakeTensorMode():
        assert (torch.zeros(N) + 1).shape == host.shape
    assert (host.to("meta") + 1).shape == host.shape
    torch.cuda.synchronize()


@OPEN.append
def array_that_lives_on():
    """What is written to it while the copy runs is not seen."""
    staging, x = torch.zeros(N).pin_memory(), zeros()
    array = staging.numpy()
    x.copy_(staging, non_blocking=True)
    array[:] = 1
    torch.cuda.synchronize()


@OPEN.append
def address_that_is_taken():
    """What is done with it while the copy runs is not seen."""
    staging, x = torch.zeros(N).pin_memory(), zeros()
    address = staging.data_ptr()
    x.copy_(staging, non_blocking=True)
    ctypes.memset(address, 0, 4)
    torch.cuda.synchronize()


@OPEN.append
def handed_over_by_a_lock():
    x, side, done = zeros(), stream(), threading.Event()

    def work():
        with torch.cuda.stream(side):
            x.add_(1)
        side.synchronize()
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    done.wait()
    x.mul_(2)
    worker.join()


@OPEN.append
def stream_of_another_library():
    x = zeros()
    with torch.cuda.stream(torch.cuda.ExternalStream(0x7f0012345678)):
        y = zeros()
    torch.cuda.synchronize()
    return x, y


@OPEN.append
def memory_that_is_registered():
    torch.cuda.cudart().cudaHostRegister(torch.zeros(N).data_ptr(), 4 * N, 0)
    return zeros()
