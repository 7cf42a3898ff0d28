"""Tensors that hold nothing, for scripts and tests that launch kernels where there is no PyTorch: Triton asks of an argument
no more than an address, a type, a shape and strides."""

from __future__ import annotations

import itertools
import math
import threading
from typing import Iterable, Sequence

WIDTHS = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
          "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}
FIRST_ADDRESS = 1 << 40
ALIGNMENT = 1 << 12


class DataType:
    """As torch.float16: a name, a size."""

    def __init__(self, name: str) -> None:
        if name not in WIDTHS:
            raise ValueError(f"there is no data type '{name}': those there are: {', '.join(WIDTHS)}")
        self.name, self.itemsize, self.is_floating_point = name, WIDTHS[name], "float" in name

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Memory:
    """Addresses that nothing else has."""

    lock, free = threading.Lock(), FIRST_ADDRESS

    @classmethod
    def take(cls, size: int) -> int:
        with cls.lock:
            address = cls.free
            cls.free += (size + ALIGNMENT) // ALIGNMENT * ALIGNMENT + ALIGNMENT
        return address


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    strides = list(itertools.accumulate(reversed(list(shape)[1:]), lambda a, b: a * b, initial=1))
    return tuple(reversed(strides)) if shape else ()


class Tensor:
    """A tensor without memory behind it, but for the integers it may be given."""

    device = "cpu"

    def __init__(self, shape: Iterable[int], dtype: object, data: Iterable[int] | None = None, strides: Iterable[int] | None = None,
                 address: int | None = None, allocation: tuple[int, int] | None = None) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype if isinstance(dtype, DataType) else DataType(str(dtype).split(".")[-1])
        self.strides = tuple(strides) if strides is not None else dense(self.shape)
        self.data = None if data is None else [int(value) for value in data]
        if self.data is not None and len(self.data) != self.numel():
            raise ValueError(f"a tensor of {self.numel()} elements cannot hold {len(self.data)}")
        self.address = Memory.take(self.ptr_range()) if address is None else address
        self.allocation = allocation or (self.address, self.ptr_range())  # address and bytes: what it is a part of

    def data_ptr(self) -> int:
        return self.address

    def ptr_range(self) -> int:
        """Bytes from the first to the last; Triton asks for it for AMD."""
        reach = 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        return reach * self.dtype.itemsize if self.numel() else 0

    def stride(self, dimension: int | None = None) -> int | tuple[int, ...]:
        return self.strides if dimension is None else self.strides[dimension]

    def size(self, dimension: int | None = None) -> int | tuple[int, ...]:
        return self.shape if dimension is None else self.shape[dimension]

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def dim(self) -> int:
        return len(self.shape)

    def integers(self) -> list[int] | None:
        """What it holds, in the order of the addresses; None: that is not known."""
        return self.data

    def view(self, offset: int, shape: Iterable[int], strides: Iterable[int] | None = None) -> Tensor:
        """A part of it, from that element on."""
        return Tensor(shape, self.dtype, None, strides, self.address + offset * self.dtype.itemsize, self.allocation)

    def __repr__(self) -> str:
        return f"weir.triton.tensor({list(self.shape)}, {self.dtype})"


def tensor(shape: Iterable[int], dtype: object = "float32", data: Iterable[int] | None = None,
           strides: Iterable[int] | None = None) -> Tensor:
    """A tensor for a launch that is recorded and not run: tensor([4], "int32", data=[0, 1, 2, 3])."""
    return Tensor(shape, dtype, data, strides)
