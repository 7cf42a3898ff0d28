"""Run by `weir exec` without a GPU: addresses are data, which the IR does not tell. `right` takes places by atomics, `race` counts
without them, `large` has memory that is too large to be kept with the finding, `graph` replays what was recorded. The data is written in parts, before Triton is there."""

import sys

import torch

way = sys.argv[1]
bins = torch.empty(1 << 19 if way == "large" else 256, device="cuda", dtype=torch.float32)
for part in range(4):
    bins[part * 64:part * 64 + 64] = torch.arange(64, device="cuda") % 8

import triton
import triton.language as tl


@triton.jit
def place_kernel(bins, counts, places, RACES: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bin = tl.load(bins + at).to(tl.int32)
    if RACES:
        tl.store(counts + bin, tl.load(counts + bin) + 1)
    else:
        tl.store(places + bin * 256 + tl.atomic_add(counts + bin, 1), at)


counts = torch.zeros(8, device="cuda", dtype=torch.int32)
places = torch.full((8 * 256,), -1, device="cuda", dtype=torch.int32)


def launch():
    place_kernel[(2,)](bins, counts, places, way in ("race", "large"), 128)


if way == "graph":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch()
    assert counts.tolist() == [0] * 8
    graph.replay()
else:
    launch()
if way in ("right", "graph"):
    assert counts.tolist() == [32] * 8
    assert sorted(place for place in places.tolist() if place >= 0) == list(range(256))
