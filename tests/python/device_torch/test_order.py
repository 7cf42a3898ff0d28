"""Two streams, with and without a wait, for pytest --weir: the second test of the two is to fail."""

import torch


def total(waits):
    side, data = torch.cuda.Stream(), torch.zeros(256, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        data.add_(1)
    if waits:
        torch.cuda.current_stream().wait_stream(side)
    return int(data.sum())


def test_waits():
    assert total(True) == 256


def test_does_not_wait():
    assert total(False) == 256
