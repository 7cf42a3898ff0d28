#!/usr/bin/env python3
"""Training steps of a small transformer whose layer norm, softmax and attention are kernels of kernels.py: train.py [--race] [--steps N] [--times] [--save FILE]

Prints the loss of each step and, last, sums over all weights. Meant to be run under `weir exec`: with it and without it the numbers
are the same, up to the order in which layer norm's gradients are added. With --race those are added without their lock, which is
a race that changes next to nothing. --times prints to standard error the median time of the second half of the steps, since kernels are compiled and
launches recorded in the first half, and the least median of 50 steps in a row of these, which other programs on the machine disturb least. Needs PyTorch and a GPU."""
import argparse
import statistics
import sys
import time

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

import kernels

BATCH, CONTEXT, HEADS, DEPTH, WORDS, LAYERS, GROUPS = 4, 128, 4, 64, 512, 2, 16
WIDTH = HEADS * DEPTH
LOCKED = True


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        rows, columns = x.shape
        out, means, scales = torch.empty_like(x), x.new_empty(rows), x.new_empty(rows)
        kernels.layer_norm[(rows,)](x, weight, bias, out, means, scales, columns, 1e-5, BLOCK=columns, num_warps=4)
        ctx.save_for_backward(x, weight, means, scales)
        return out

    @staticmethod
    def backward(ctx, d_out):
        x, weight, means, scales = ctx.saved_tensors
        rows, columns = x.shape
        d_x, d_weight, d_bias = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
        parts = x.new_zeros(2, GROUPS, columns)
        locks = torch.zeros(GROUPS, dtype=torch.int32, device=x.device)
        kernels.layer_norm_backward[(rows,)](x, weight, means, scales, d_out.contiguous(), d_x, parts[0], parts[1], locks, columns, GROUPS=GROUPS,
                                             BLOCK=columns, LOCKED=LOCKED, num_warps=4)
        for part, to in zip(parts, (d_weight, d_bias)):
            kernels.column_sums[(triton.cdiv(columns, 128),)](part, to, GROUPS, columns, BR=16, BC=128)
        return d_x, d_weight, d_bias


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        kernels.softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=4)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, d_out):
        out, = ctx.saved_tensors
        return out * (d_out - (d_out * out).sum(1, keepdim=True))


class Attention(torch.autograd.Function):
    """Forward by the kernel; backward by PyTorch, from the weights that the kernel's sums give."""

    @staticmethod
    def forward(ctx, q, k, v):
        heads, context, depth = q.shape
        q, k, v = (x.to(torch.float16).contiguous() for x in (q, k, v))
        out, sums = torch.empty_like(q), torch.empty(heads * context, device=q.device)
        blocks = [128, 64, 64, 128]
        maps = [TensorDescriptor.from_tensor(x.view(heads * context, depth), [rows, depth]) for x, rows in zip((q, k, v, out), blocks)]
        kernels.attention[(context // 128, heads)](*maps, sums, context, depth**-0.5, BM=128, BN=64, D=depth, CAUSAL=True, num_warps=8, num_stages=3)
        ctx.save_for_backward(q, k, v, out, sums)
        return out.float()

    @staticmethod
    def backward(ctx, d_out):
        q, k, v, out, sums = (x.float() for x in ctx.saved_tensors)
        heads, context, depth = q.shape
        scores = q @ k.transpose(1, 2) * depth**-0.5 * 1.4426950408889634
        later = torch.ones(context, context, dtype=torch.bool, device=q.device).triu(1)
        weights = torch.exp2(scores - sums.view(heads, context, 1)).masked_fill(later, 0)
        d_scores = weights * (d_out @ v.transpose(1, 2) - (d_out * out).sum(2, keepdim=True)) * depth**-0.5
        return d_scores @ k, d_scores.transpose(1, 2) @ q, weights.transpose(1, 2) @ d_out


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ParameterList([torch.ones(WIDTH), torch.zeros(WIDTH), torch.ones(WIDTH), torch.zeros(WIDTH)])
        self.attend, self.join = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        parts = self.attend(LayerNorm.apply(x, self.norms[0], self.norms[1])).view(BATCH, CONTEXT, 3, HEADS, DEPTH).permute(2, 0, 3, 1, 4)
        seen = Attention.apply(*(part.reshape(BATCH * HEADS, CONTEXT, DEPTH) for part in parts))
        x = x + self.join(seen.view(BATCH, HEADS, CONTEXT, DEPTH).transpose(1, 2).reshape(-1, WIDTH))
        return x + self.narrow(torch.relu(self.wide(LayerNorm.apply(x, self.norms[2], self.norms[3]))))


class Transformer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(WORDS, WIDTH), torch.nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.last = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, text):
        x = (self.words(text) + self.places).view(-1, WIDTH)
        for layer in self.layers:
            x = layer(x)
        return Softmax.apply(self.last(x))


def main():
    global LOCKED
    parser = argparse.ArgumentParser()
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--save")
    asked = parser.parse_args()
    LOCKED = not asked.race
    torch.manual_seed(0)
    text = torch.randint(WORDS, (BATCH, CONTEXT + 1))
    model, text = Transformer().cuda(), text.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    took = []
    for step in range(asked.steps):
        began = time.perf_counter()
        likely = model(text[:, :-1]).gather(1, text[:, 1:].reshape(-1, 1))
        loss = -torch.log(likely).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.5f}", flush=True)
        took.append(time.perf_counter() - began)
    if asked.times:
        took = took[len(took) // 2:]
        least = min(statistics.median(took[at:at + 50]) for at in range(max(1, len(took) - 49)))
        print(f"a step takes {statistics.median(took) * 1e3:.3f} ms, at best {least * 1e3:.3f} ms in 50 steps", file=sys.stderr)
    weights = torch.cat([p.detach().double().flatten() for p in model.parameters()]).cpu()
    print(f"weights: {weights.sum().item():.3f} {weights.abs().sum().item():.3f} {(weights * weights).sum().item():.3f}")
    if asked.save:
        torch.save(weights, asked.save)


if __name__ == "__main__":
    main()
