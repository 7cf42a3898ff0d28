"""Twenty kernels, each right and with a race planted (RACES): all pass their asserts, since CTAs run in order here, the right ones
are clean, and each race is found in the run that passes. Run by test_device_torch.py, in a process of its own."""

import os
import sys
import tempfile
import unittest

CACHE = tempfile.TemporaryDirectory()
os.environ.update(TRITON_CACHE_DIR=CACHE.name)

import torch  # noqa: E402

try:
    import triton
    import triton.language as tl
except ImportError:
    sys.exit(0)  # nothing to run
from weir import device  # noqa: E402

device.use("sm_90")
torch.manual_seed(0)
N, BLOCK = 256, 64
TRIED = []


def tried(test):
    TRIED.append(test)
    return test


def numbers(count=N):
    return torch.randint(0, 100, (count,), device="cuda", dtype=torch.int32)


def zeros(count=N):
    return torch.zeros(count, device="cuda", dtype=torch.int32)


def expect(have, want):
    torch.testing.assert_close(have.cpu(), want.cpu().to(have.dtype))


# ---- Programs of a grid --------------------------------------------------------------------------


@triton.jit
def total_kernel(x, out, BLOCK: tl.constexpr, RACES: tl.constexpr):
    value = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))
    if RACES:  # a sum that is not atomic
        tl.store(out, tl.load(out) + value)
    else:
        tl.atomic_add(out, value)


@tried
def total(races):
    x, out = numbers(), zeros(1)
    total_kernel[(N // BLOCK,)](x, out, BLOCK, races)
    expect(out[0], x.sum())


@triton.jit
def shift_kernel(x, y, n, BLOCK: tl.constexpr, RACES: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at + 1, mask=at + 1 < n, other=0)
    tl.store((x if RACES else y) + at, value)  # in place: the next program writes what this one reads


@tried
def shift(races):
    x, y = numbers(), zeros()
    want = torch.cat([x[1:].cpu(), torch.zeros(1, dtype=torch.int32)])
    shift_kernel[(N // BLOCK,)](x, y, N, BLOCK, races)
    expect(x if races else y, want)


@triton.jit
def overlap_kernel(x, y, BLOCK: tl.constexpr, STEP: tl.constexpr):
    at = tl.program_id(0) * STEP + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + tl.program_id(0))  # a step that is too small: tiles overlap


@tried
def overlap(races):
    step, x, y = BLOCK - 8 if races else BLOCK, numbers(2 * N), zeros(2 * N)
    overlap_kernel[(4,)](x, y, BLOCK, step)
    expect(y[:step], x[:step])


@triton.jit
def histogram_kernel(x, counts, BLOCK: tl.constexpr, RACES: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    if RACES:
        bins = tl.histogram(value, 128)
        at = counts + tl.arange(0, 128)
        tl.store(at, tl.load(at) + bins)
    else:
        tl.atomic_add(counts + value, 1)


@tried
def histogram(races):
    x, counts = numbers(), zeros(128)
    histogram_kernel[(N // BLOCK,)](x, counts, BLOCK, races)
    expect(counts, torch.bincount(x.cpu(), minlength=128))


@triton.jit
def scatter_kernel(index, x, out, BLOCK: tl.constexpr, RACES: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.load(index + at), tl.load(x + at))


@tried
def scatter(races):
    index = torch.randperm(N).to(torch.int32)
    if races:
        index[3] = index[N - 1]  # twice the same row
    x, out = numbers(), zeros()
    scatter_kernel[(N // BLOCK,)](index.cuda(), x, out, BLOCK, races)
    expect(out[index[N - 1].item()], x[N - 1])


@triton.jit
def split_kernel(a, b, out, K: tl.constexpr, M: tl.constexpr, RACES: tl.constexpr):
    row, column = tl.arange(0, M)[:, None], tl.arange(0, M)[None, :]
    k = tl.program_id(0) * K + tl.arange(0, K)
    part = tl.dot(tl.load(a + row * 4 * K + k[None, :]), tl.load(b + k[:, None] * M + column))
    at = out + row * M + column
    if RACES:  # parts of K that are added without atomics
        tl.store(at, tl.load(at) + part)
    else:
        tl.atomic_add(at, part)


@tried
def split(races):
    a = torch.randint(0, 4, (16, 64), device="cuda").to(torch.float16)
    b = torch.randint(0, 4, (64, 16), device="cuda").to(torch.float16)
    out = torch.zeros(16, 16, device="cuda")
    split_kernel[(4,)](a, b, out, 16, 16, races)
    expect(out, a.float() @ b.float())


@triton.jit
def lock_kernel(x, out, lock, BLOCK: tl.constexpr, LOCKS: tl.constexpr, FREES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * BLOCK + at)
    if LOCKS:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    tl.store(out + at, tl.load(out + at) + value)
    if LOCKS:
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0, sem=FREES)


@tried
def lock_left_out(races):
    x, out = numbers(), zeros(BLOCK)
    lock_kernel[(N // BLOCK,)](x, out, zeros(1), BLOCK, not races, "acq_rel")
    expect(out, x.view(-1, BLOCK).sum(0))


@tried
def lock_without_release(races):
    x, out = numbers(), zeros(BLOCK)
    lock_kernel[(N // BLOCK,)](x, out, zeros(1), BLOCK, True, "relaxed" if races else "release")
    expect(out, x.view(-1, BLOCK).sum(0))


@triton.jit
def last_kernel(x, parts, out, count, BLOCK: tl.constexpr, SEM: tl.constexpr):
    at, programs = tl.arange(0, BLOCK), tl.num_programs(0)
    tl.store(parts + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * BLOCK + at)))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem=SEM) == programs - 1:  # the last one adds what the others have stored
        tl.debug_barrier()
        tl.store(out, tl.sum(tl.load(parts + at, mask=at < programs, other=0)))


@tried
def last_program(races):
    x, out = numbers(), zeros(1)
    last_kernel[(N // BLOCK,)](x, zeros(BLOCK), out, zeros(1), BLOCK, "relaxed" if races else "acq_rel")
    expect(out[0], x.sum())


@triton.jit
def flag_kernel(x, y, flag, BLOCK: tl.constexpr, SEM: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(x + at, at)
        tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem=SEM)
    else:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        tl.store(y + at, tl.load(x + at) * 2)


@tried
def flag(races):
    y = zeros(BLOCK)
    flag_kernel[(2,)](zeros(BLOCK), y, zeros(1), BLOCK, "relaxed" if races else "release")
    expect(y, torch.arange(BLOCK) * 2)


@triton.jit
def scan_kernel(x, y, sums, flags, BLOCK: tl.constexpr, SEM: tl.constexpr):
    program, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + program * BLOCK + at)
    before = 0
    if program > 0:
        while tl.atomic_add(flags + program - 1, 0, sem=SEM) == 0:
            pass
        before = tl.load(sums + program - 1)
    tl.store(sums + program, before + tl.sum(value))
    tl.debug_barrier()
    tl.atomic_xchg(flags + program, 1, sem="release")
    tl.store(y + program * BLOCK + at, before + tl.cumsum(value))


@tried
def scan(races):
    x, y = numbers(), zeros()
    scan_kernel[(N // BLOCK,)](x, y, zeros(), zeros(), BLOCK, "relaxed" if races else "acquire")
    expect(y, x.cumsum(0))


@triton.jit
def persistent_kernel(x, y, tiles, BLOCK: tl.constexpr, EXTRA: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0) - EXTRA):  # a step of one program too few
        at = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at) * 2 + tl.program_id(0))


@tried
def persistent(races):
    x, y = numbers(), torch.full((N,), -1, device="cuda", dtype=torch.int32)
    persistent_kernel[(2,)](x, y, N // BLOCK, BLOCK, 1 if races else 0)
    expect(y[:BLOCK], x[:BLOCK] * 2)


@triton.jit
def transpose_kernel(x, y, M: tl.constexpr, B: tl.constexpr, RACES: tl.constexpr):
    row, column = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B)
    value = tl.load(x + row[:, None] * M + column[None, :])
    tl.store((x if RACES else y) + column[None, :] * M + row[:, None], value)


@tried
def transposed(races):
    x = torch.full((32, 32), 7, device="cuda", dtype=torch.int32)
    x[0, 0] = 9
    y, want = torch.zeros_like(x), x.t().cpu()
    transpose_kernel[(2, 2)](x, y, 32, 16, races)
    expect(x if races else y, want)


@triton.jit
def rows_kernel(x, y, columns, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=0)
    tl.store(y + tl.program_id(0) * stride + at, value, mask=at < columns)


@tried
def stride(races):
    x, y = numbers(4 * 48), zeros()
    rows_kernel[(4,)](x, y, 48, 40 if races else 64, BLOCK)  # rows that are longer than their stride
    expect(y[:40], x[:40])


@triton.jit
def compact_kernel(x, out, count, BLOCK: tl.constexpr, RACES: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    many = tl.sum((value > 50).to(tl.int32))
    if RACES:
        begin = tl.load(count)
        tl.store(count, begin + many)
    else:
        begin = tl.atomic_add(count, many)
    place = begin + tl.cumsum((value > 50).to(tl.int32)) - 1
    tl.store(out + place, value, mask=value > 50)


@tried
def compacted(races):
    x, out, count = numbers(), zeros(), zeros(1)
    compact_kernel[(N // BLOCK,)](x, out, count, BLOCK, races)
    expect(count[0], (x > 50).sum())


# ---- Threads of a program ------------------------------------------------------------------------


@triton.jit
def neighbor_kernel(x, y, BLOCK: tl.constexpr, RACES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, at)
    if not RACES:
        tl.debug_barrier()
    tl.store(y + at, tl.load(x + (BLOCK - 1 - at)))  # another thread has stored it


@tried
def neighbor(races):
    y = zeros(BLOCK * 2)
    neighbor_kernel[(1,)](zeros(BLOCK * 2), y, BLOCK * 2, races)
    if not races:
        expect(y, torch.arange(BLOCK * 2).flip(0))


@triton.jit
def again_kernel(x, BLOCK: tl.constexpr, RACES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + (BLOCK - 1 - at))
    if not RACES:
        tl.debug_barrier()
    tl.store(x + at, value)  # another thread may not have loaded it


@tried
def again(races):
    x = torch.ones(BLOCK * 2, device="cuda", dtype=torch.int32)
    x[0] = 5
    again_kernel[(1,)](x, BLOCK * 2, races)
    if not races:
        expect(x[-1], torch.tensor(5))


@triton.jit
def turns_kernel(x, steps, BLOCK: tl.constexpr, RACES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for step in range(steps):
        value = tl.load(x + step % 2 * BLOCK + (at + 32) % BLOCK)
        tl.store(x + (step + 1) % 2 * BLOCK + at, value + 1)
        if not RACES:
            tl.debug_barrier()


@tried
def turns(races):
    x = zeros(2 * BLOCK * 2)
    turns_kernel[(1,)](x, 3, BLOCK * 2, races)
    if not races:
        expect(x[BLOCK * 2:], torch.full((BLOCK * 2,), 3))


@triton.jit
def upside_down_kernel(x, out, M: tl.constexpr, RACES: tl.constexpr):
    row, column = tl.arange(0, M)[:, None], tl.arange(0, M)[None, :]
    tl.store(x + row * M + column, tl.load(x + row * M + column) * 2)
    if not RACES:
        tl.debug_barrier()
    tl.store(out + tl.arange(0, M), tl.sum(tl.load(x + (M - 1 - row) * M + column), 1))


@tried
def upside_down(races):
    x = torch.ones(32, 32, device="cuda", dtype=torch.int32)
    out = zeros(32)
    upside_down_kernel[(1,)](x, out, 32, races)
    if not races:
        expect(out, torch.full((32,), 64))


@triton.jit
def leader_kernel(x, y, BLOCK: tl.constexpr, RACES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x, 3)  # one thread
    if not RACES:
        tl.debug_barrier()
    tl.store(y + at, tl.load(x + at * 0) + at)


@tried
def leader(races):
    y = zeros(BLOCK * 2)
    leader_kernel[(1,)](zeros(1), y, BLOCK * 2, races)
    if not races:
        expect(y, torch.arange(BLOCK * 2) + 3)


class Races(unittest.TestCase):
    def test_there_are_twenty(self):
        self.assertEqual(len(TRIED), 20)

    def test_all(self):
        for test in TRIED:
            for races in (False, True):
                with self.subTest(kernel=test.__name__, races=races):
                    device.State.verdicts = {}
                    test(races)
                    self.assertEqual(device.State.verdicts, {"findings" if races else "clean": 1})


if __name__ == "__main__":
    unittest.main()
