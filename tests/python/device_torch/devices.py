"""Two devices of one process (WEIR_DEVICE_COUNT): tensors, streams, and programs with a bug between the two, each with a twin that is
right. Run by test_device_torch.py, in a process of its own."""

import os
import unittest

os.environ["WEIR_DEVICE_COUNT"] = "2"

from program_cases import add_kernel, bug, BUGS, N, RACE, RIGHT
from programs import Checked
import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(counter, SCOPE: tl.constexpr):
    tl.atomic_add(counter, 1, sem="relaxed", scope=SCOPE)


@bug(RACE, 'For the atomic accesses, use scope sys on both sides (`scope="sys"`)')
def counter_of_two_devices(fixed):
    """A scope that does not reach the other device."""
    counter = torch.zeros(1, dtype=torch.int32, device="cuda:0")
    torch.cuda.synchronize(0)
    count_kernel[(4,)](counter, "sys" if fixed else "gpu")  # <- 2
    with torch.cuda.device(1):
        count_kernel[(4,)](counter, "sys" if fixed else "gpu")  # <- 1
    torch.cuda.synchronize(1)


@bug(RACE, "wait_stream")
def peer_that_does_not_wait(fixed):
    """A kernel on one device reads memory of another one, whose stream writes it."""
    x, y = torch.zeros(N, device="cuda:0"), torch.zeros(N, device="cuda:1")
    x.add_(1)  # <- 2
    with torch.cuda.device(1):
        if fixed:
            torch.cuda.current_stream(1).wait_stream(torch.cuda.current_stream(0))
        add_kernel[(1,)](x, y, BLOCK=N)  # <- 1
    torch.cuda.synchronize(1)


@bug(RACE, "wait_stream")
def synchronized_the_wrong_device(fixed):
    x, y = torch.zeros(N, device="cuda:0"), torch.zeros(N, device="cuda:1")
    x.add_(1)  # <- 2
    torch.cuda.synchronize(0 if fixed else 1)
    with torch.cuda.device(1):
        add_kernel[(1,)](x, y, BLOCK=N)  # <- 1


@RIGHT.append
def copied_to_the_other_device():
    """A copy between devices waits for both, and both for it."""
    x = torch.zeros(N, device="cuda:0")
    x.add_(1)
    y = x.to("cuda:1")
    x.mul_(2)
    y.mul_(3)
    x.copy_(y)
    assert x.tolist() == [3.] * N


@RIGHT.append
def counters_of_one_device():
    counter, side = torch.zeros(1, dtype=torch.int32, device="cuda:1"), torch.cuda.Stream(device=1)
    torch.cuda.synchronize(1)
    with torch.cuda.device(1):
        count_kernel[(4,)](counter, "gpu")
        with torch.cuda.stream(side):
            count_kernel[(4,)](counter, "gpu")
    torch.cuda.synchronize(1)


class Programs(Checked):
    pass


class Devices(unittest.TestCase):
    def test_tensors(self):
        x, y = torch.ones(4, device="cuda:0"), torch.ones(4, device="cuda:1")
        self.assertEqual((torch.cuda.device_count(), x.device.index, (y + 1).device.index), (2, 0, 1))
        with self.assertRaisesRegex(RuntimeError, "same device"):
            x + y
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.empty(1, device="cuda:2")
        self.assertEqual((x + y.to("cuda:0")).tolist(), [2.] * 4)

    def test_current(self):
        with torch.cuda.device(1):
            self.assertEqual((torch.cuda.current_device(), torch.zeros(1, device="cuda").get_device()), (1, 1))
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                self.assertEqual(torch.cuda.current_stream(), side)
                self.assertEqual(torch.cuda.current_stream(0), torch.cuda.default_stream(0))
        self.assertEqual((torch.cuda.current_device(), side.device.index), (0, 1))
        self.assertNotEqual(torch.cuda.default_stream(0), torch.cuda.default_stream(1))

    def test_backward(self):
        weight = torch.ones(3, device="cuda:1", requires_grad=True)
        (weight * weight).sum().backward()
        self.assertEqual((weight.grad.get_device(), weight.grad.tolist()), (1, [2.] * 3))


del Checked
if __name__ == "__main__":
    unittest.main()
