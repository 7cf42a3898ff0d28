"""What the kernels of this folder share: how a case says what is launched, what may be wrong in it, and what is right.

A case is one launch or several. Each of its kernels takes a VARIANT: "ok", or the name of a fault, and the text of the
kernel tells by a few conditions on it what the fault changes. NAME-ok.ttgir is the correct kernel, NAME-FAULT.ttgir the
one with the fault.

Arguments are given as a launch file has them, and everything else is taken from that: the kernel's signature, and the
tensors to run it with on a GPU.
"""

import copy
import dataclasses
import importlib

FILES = ["split_k", "stream_k", "persistent", "queue_tickets", "grid_barriers", "flags", "scopes", "locks", "norm",
         "histogram", "streams", "dependent", "tma", "tma_gluon", "devices"]

TYPES = dict(f16="fp16", f32="fp32", i32="i32", i64="i64")


def plain(sizes):
    """Sizes that may be constants of a kernel, as numbers."""
    return [getattr(size, "value", size) for size in sizes]


def tensor(*shape, dtype="f32", **more):
    """Memory; `more` is said in the launch file: buffer, device, output, zero, data."""
    return dict(tensor=dict(shape=plain(shape), dtype=dtype, **more))


def descriptor(shape, block, dtype="f32", **more):
    return dict(descriptor=dict(shape=plain(shape), block=plain(block), dtype=dtype, **more))


@dataclasses.dataclass
class Launch:
    kernel: object
    grid: tuple
    args: dict
    more: dict = dataclasses.field(default_factory=dict)  # stream, dependent, after

    @property
    def name(self):
        return self.kernel.__name__

    def written(self, changes):
        """What the launch file says, for a fault that changes some of it."""
        words = dict(kernel=self.name, grid=plain(self.grid) + [1] * (3 - len(self.grid)), **self.more, args=self.args)
        words.update(changes.get(self.name, {}))
        return {key: copy.deepcopy(value) for key, value in words.items() if value is not None}

    def signature(self, layout):
        """The types of the kernel's parameters; `layout` gives a descriptor's, where the kernel wants to know it."""
        return {name: parameter_type(value, layout) for name, value in self.args.items()}


def parameter_type(value, layout):
    if isinstance(value, int) or "rank" in value or "devices" in value:
        return "i32"
    if "tensor" in value:
        return "*" + TYPES[value["tensor"]["dtype"]]
    if "pointers" in value:
        return "*i64"
    words = value["descriptor"]
    return f"tensordesc<{TYPES[words['dtype']]}{words['block']}{layout(words)}>"


@dataclasses.dataclass
class Fault:
    rules: str  # what should be found, with commas if it may be one or the other
    words: str  # what is wrong
    changes: dict = dataclasses.field(default_factory=dict)  # of launch files, by the kernels' names
    # Whether it may go on forever on a GPU: a load of the scope of a CTA may never see what others store.
    hangs: bool = False

    @property
    def may_hang(self):
        return self.hangs or "deadlock" in self.rules

    @property
    def verdict(self):
        return "clean" if self.rules in ("-", "global.uninitialized") else "findings"


@dataclasses.dataclass
class Case:
    words: str       # what the correct one does
    launches: list
    faults: dict
    right: object    # whether what a run left in memory is right: right(torch, memory, before), each a tensor by name
    name: str = ""   # if it is not that of its kernel
    devices: int = 1
    times: int = 1   # how often its launches are made, one after the other

    def __post_init__(self):
        self.name = self.name or self.launches[0].name

    def variants(self):
        yield "ok", Fault("-", self.words)
        yield from self.faults.items()


def cases():
    for file in FILES:
        yield from importlib.import_module(file).CASES
