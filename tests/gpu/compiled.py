#!/usr/bin/env python3
"""What torch.compile makes of some functions: compiled.py [NAME...]

Each is run as it is and compiled, forward, and some backward, too; prints whether the two give the same. The kernels are Triton's, which
Inductor writes: reductions in one and two steps, scans, sorts, atomics, kernels that work in place, matrix products that are tuned, attention."""
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention

HALF = torch.float16


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def numbers(below, *shape):
    return torch.randint(0, below, shape, device="cuda")


def causal(score, batch, head, query, key):
    return torch.where(query >= key, score, -float("inf"))


# Of each: the function, its arguments, how near the results have to be, and what torch.compile is told.
CASES = {
    "softmax": (lambda x: torch.softmax(x, -1), lambda: [random(1024, 3000)], 1e-2, {}),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (2048,), w, b), lambda: [random(512, 2048), random(2048), random(2048)], 1e-2, {"backward": True}),
    "sum": (lambda x: x.sum(), lambda: [random(3, 1 << 20)], 1e-1, {}),
    "variance": (lambda x: x.var(1), lambda: [random(33, 20000)], 1e-2, {}),
    "running_sum": (lambda x: torch.cumsum(x, 1), lambda: [random(64, 5000)], 1e-1, {}),
    "split_scan": (lambda x: torch.cumsum(x, 0), lambda: [random(1 << 20)], 1.0, {}),
    "sort": (lambda x: torch.sort(x, -1)[0], lambda: [random(64, 256)], 0, {}),
    "embedding": (lambda w, i: F.embedding(i, w), lambda: [random(1000, 64), numbers(1000, 4096)], 1e-1, {"backward": True}),
    "scatter": (lambda x, i: torch.zeros(512, device="cuda").scatter_add(0, i, x), lambda: [random(10000), numbers(512, 10000)], 1e-1, {}),
    "index_put": (lambda x, i: torch.zeros(512, device="cuda").index_put((i,), x, accumulate=True), lambda: [random(10000), numbers(512, 10000)], 1e-1, {}),
    "argmax": (lambda x: x.argmax(1), lambda: [random(77, 10007)], 0, {}),
    "transpose": (lambda x: x.t().contiguous() + 1, lambda: [random(1031, 517)], 0, {}),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), lambda: [random(16, 32, 28, 28)], 1e-2, {}),
    "in_place": (lambda x, y: torch.relu(x @ y), lambda: [random(512, 512, dtype=HALF), random(512, 768, dtype=HALF)], 1e-1, {"mode": "max-autotune-no-cudagraphs"}),
    "attention": (lambda q, k, v: flex_attention(q, k, v, score_mod=causal), lambda: [random(1, 4, 512, 64, dtype=HALF) for _ in range(3)], 1e-1, {}),
}


def run(function, arguments, backward):
    """The result, and the gradients."""
    for x in arguments:
        x.grad = None
    result = function(*arguments)
    if backward:
        result.sum().backward()
    return [result.detach().float()] + [x.grad.clone() for x in arguments if x.grad is not None]


def main():
    torch.manual_seed(0)
    for name in sys.argv[1:] or CASES:
        function, make, near, options = CASES[name]
        backward, arguments = options.get("backward", False), make()
        for x in arguments:
            x.requires_grad_(backward and x.is_floating_point())
        wanted = run(function, arguments, backward)
        found = run(torch.compile(function, mode=options.get("mode"), dynamic=False), arguments, backward)
        print(f"{name}: {'same' if all(torch.allclose(a, b, atol=near, rtol=near) for a, b in zip(found, wanted)) else 'differs'}", flush=True)


if __name__ == "__main__":
    main()
