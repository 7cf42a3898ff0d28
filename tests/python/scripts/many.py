"""Launches in every way there is: jitted, autotuned, ahead of time, warmed up, with views, tuples and descriptors."""

import triton
import triton.language as tl
import weir.triton
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["size"])
@triton.jit
def add(x, y, out, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def gather(table, rows, out, pair, scale, BLOCK: tl.constexpr):
    row = tl.load(rows + tl.program_id(0))
    tile = table.load([row * BLOCK, 0])
    at = tl.arange(0, BLOCK)
    tl.store(out + (tl.program_id(0) * BLOCK + at[:, None]) * BLOCK + at[None, :], (tile * scale).to(tl.float16))
    if tl.program_id(0) == 0:
        tl.store(pair[0], pair[1])


tensor = weir.triton.tensor
x, y, out = (tensor([1000], "float32") for _ in range(3))
grid = lambda words: (triton.cdiv(1000, words["BLOCK"]),)
for _ in range(5):
    add[grid](x, y, out, 1000)
add[grid](x, y, x, 1000)  # in place
add[grid](tensor([1000], "float32"), y, out, 1000)  # other memory, and the same launch

table = TensorDescriptor.from_tensor(tensor([256, 64], "float16"), [64, 64])
rows = tensor([5], "int32", data=[3, 1, 2, 0, 0])
arguments = (table, rows, tensor([320, 64], "float16"), (tensor([1], "int32"), 7), 0.5)
gather[(4,)](*arguments, BLOCK=64)
gather[(2,)](*arguments, BLOCK=64)
compiled = gather.warmup(*arguments, BLOCK=64, grid=(3,))
compiled[(1, 1, 1)](*arguments, 64)
compiled.run(5, 1, 1, 0, compiled.function, compiled.packed_metadata, None, None, None, *arguments)  # without constants
