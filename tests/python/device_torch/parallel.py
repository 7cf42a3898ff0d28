"""The device cuda of PyTorch without a GPU, in several processes: data-parallel training over gloo. Run by
test_device_torch.py, in a process of its own, which does not use the device before it starts others."""

import os
import tempfile
import unittest

import torch

from weir import device_torch

device_torch.install("sm_90")


def reduce(rank, file):
    """One of two processes of a data-parallel training."""
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    x = torch.full((4,), rank + 1., device="cuda")
    distributed.all_reduce(x)
    assert x.is_cuda and x.tolist() == [3.] * 4, x
    parts = [torch.empty(1, device="cuda") for _ in range(2)]
    distributed.all_gather(parts, torch.full((1,), float(rank), device="cuda"))
    assert [part.item() for part in parts] == [0, 1], parts
    y = torch.full((2,), float(rank), device="cuda")
    distributed.broadcast(y, 1)
    assert y.tolist() == [1, 1], y
    torch.manual_seed(rank)
    model = torch.nn.Linear(3, 2).cuda()
    parallel = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    torch.manual_seed(rank + 10)
    batch = torch.randn(5, 3, device="cuda")
    parallel(batch).pow(2).sum().backward()
    own = torch.autograd.grad(model(batch).pow(2).sum(), model.weight)[0]
    distributed.all_reduce(own)
    torch.testing.assert_close(model.weight.grad, own / 2)
    distributed.destroy_process_group()


class Several(unittest.TestCase):
    @unittest.skipUnless(torch.distributed.is_available(), "PyTorch has no distributed package")
    def test_data_parallel(self):
        import torch.multiprocessing as multiprocessing

        with tempfile.TemporaryDirectory() as folder:
            multiprocessing.start_processes(reduce, (os.path.join(folder, "rendezvous"),), nprocs=2, start_method="fork")


if __name__ == "__main__":
    unittest.main()
