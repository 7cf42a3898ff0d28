"""From what a kernel is called with to what a launch file says (docs/launch.md): memory, descriptors and numbers, by the
names that the kernel's parameters have in the IR."""

import bisect
import gc
import hashlib
import math
import sys

from . import device_torch, tensors, unwritten

INTEGERS = {"i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u1": 8, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
MOST_DATA = 1 << 15  # integers of one argument that are copied from the device
MOST_DIMENSIONS = 8


class Unmatched(Exception):
    """The arguments are not those that the kernel's parameters ask for."""


# ---- Parameters, as the IR has them --------------------------------------------------------------


def split_list(text, start):
    """The parts of a list in parentheses that begins behind `start`: text between commas that are in no brackets."""
    parts, depth, begin, i = [], 1, start, start
    while i < len(text):
        c = text[i]
        if c == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
            if depth == 0:
                return parts + [text[begin:i]] if text[begin:i].strip() else parts
        elif c == "," and depth == 1:
            parts.append(text[begin:i])
            begin = i + 1
        i += 1
    raise Unmatched("the kernel's parameters cannot be read")


def parameters(ttgir):
    """Name and type of each parameter of the kernel: the module's one public function."""
    at = ttgir.find("tt.func public @")
    if at < 0:
        raise Unmatched("the module has no public function")
    pairs = []
    for part in split_list(ttgir, ttgir.index("(", at) + 1):
        name, _, rest = part.strip().partition(":")
        pairs.append((name.strip().lstrip("%"), rest.strip().split(" ")[0]))
    return pairs


# ---- Arguments -----------------------------------------------------------------------------------


def is_descriptor(value):
    return hasattr(value, "block_shape") and hasattr(value, "base")


def is_tensor(value):
    return hasattr(value, "data_ptr") and hasattr(value, "dtype")


def is_mock(value):
    """A stand-in for a tensor of any size, as warmup takes it."""
    return type(value).__name__ == "MockTensor"


def with_constants(types, values):
    """A value for each parameter. Some callers leave out all constants."""
    if len(values) == len(types):
        return values
    passed = iter(values)
    if len(values) == sum(kind != "constexpr" for kind in types):
        return [None if kind == "constexpr" else next(passed) for kind in types]
    raise Unmatched(f"it has {len(types)} parameters, and {len(values)} arguments")


def with_types(types, values):
    """Pairs of type and value for what is passed at run time: tuples are taken apart, constants left out."""
    for kind, value in zip(types, values):
        if isinstance(kind, (tuple, list)):
            yield from with_types(kind, value)
        elif kind != "constexpr":
            yield kind, value


def element_bytes(kind, tensor):
    """Of an element behind a pointer of that type ("*fp16"), or as the tensor says."""
    if isinstance(kind, str) and kind.startswith("*"):
        digits = "".join(c for c in kind.lstrip("*k")[:4] if c.isdigit())
        if digits:
            return 1 if digits.startswith("8") else max(1, int(digits[:2]) // 8)
    if hasattr(tensor, "element_size"):
        return tensor.element_size()
    return getattr(tensor.dtype, "itemsize", 1)


def extent(shape, strides):
    """Elements from the first to the last."""
    return 0 if 0 in shape else 1 + sum((size - 1) * stride for size, stride in zip(shape, strides))


def memory(kind, tensor):
    """What a launch file says of a tensor."""
    shape, strides = [int(n) for n in tensor.shape], [int(n) for n in tensor.stride()]
    bits = 8 * element_bytes(kind, tensor)
    own = 8 * tensor.element_size() if hasattr(tensor, "element_size") else bits
    if len(shape) > MOST_DIMENSIONS or own != bits:
        shape, strides = [extent(shape, strides) * own // bits], [1]
    name = str(kind).lstrip("*k") if isinstance(kind, str) and kind.startswith("*") else str(tensor.dtype)
    return {"shape": shape, "strides": strides, "dtype": name, **({"peers": True} if device_torch.has_peers(tensor) else {})}


def may_copy(tensor):
    """Whether a copy to the host may be made now: not while a CUDA graph is captured."""
    if getattr(getattr(tensor, "device", None), "type", "cpu") == "cpu":
        return True
    import torch

    return not torch.cuda.is_current_stream_capturing()


def integer_data(kind, tensor):
    """The integers in a small tensor, in the order of their addresses; None where it is large, or holds others."""
    bits = INTEGERS.get(str(kind).lstrip("*k"))
    if bits is None:
        return None
    if hasattr(tensor, "base"):  # triton.reinterpret: what is there may be of another type
        tensor = tensor.base
        if 8 * tensor.element_size() != bits or getattr(tensor.dtype, "is_floating_point", True):
            return None
    if hasattr(tensor, "integers"):  # weir.triton.tensor: what the script says of it
        data = tensor.integers()
        return None if data is None or len(data) > MOST_DATA else [number(value) for value in data]
    if unwritten.is_unknown(tensor):
        return None
    if not hasattr(tensor, "tolist"):
        return None
    for i in reversed(range(len(tensor.shape))):
        if tensor.stride()[i] == 0 and tensor.shape[i] > 1:  # it was expanded: all of them lie in one place
            tensor = tensor.select(i, 0)
    shape, strides = list(tensor.shape), list(tensor.stride())
    count = math.prod(shape)
    if not 0 < count <= MOST_DATA or extent(shape, strides) != count or not may_copy(tensor):
        return None
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    flat = tensor.permute(order).reshape(-1) if order != list(range(len(shape))) else tensor.reshape(-1)
    return [number(int(value)) for value in flat.tolist()]


def may_have_data(types):
    """Whether arguments of these types may be tensors of integers, which decide more than values: indices, sizes."""
    return any(may_have_data(kind) if isinstance(kind, (tuple, list)) else kind.startswith("*") and kind.lstrip("*k") in INTEGERS
               for kind in types)


def data_key(types, values):
    """What tells launches apart that differ in the integers of their tensors alone."""
    key = hashlib.blake2b(digest_size=16)
    for kind, value in with_types(types, values):
        if is_tensor(value):
            key.update(repr(integer_data(kind, value)).encode())
    return key.digest()


def number(value):
    """A scalar as JSON has it; None for what no launch file can say."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value - (1 << 64) if value >= 1 << 63 else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None


# ---- Addresses in memory ------------------------------------------------------------------------

LEAST_ADDRESS = 1 << 32  # what is smaller is a number


def live_tensors():
    """All tensors that the program has."""
    torch = sys.modules.get("torch")
    kinds = (tensors.Tensor,) + ((torch.Tensor,) if torch else ())
    return [value for value in gc.get_objects() if issubclass(type(value), kinds)]


def tensor_from(tensor, address):
    """All of the allocation of a tensor from that address on; None if no element begins there."""
    begin, end = storage_of(tensor)
    size = tensor.element_size()
    offset, rest = divmod(address - begin, size)
    if rest or not hasattr(tensor, "untyped_storage"):
        return None
    whole = tensor.detach().new_empty(0)
    return whole.set_(tensor.untyped_storage(), offset, ((end - begin) // size - offset,), (1,))


def held(data):
    """Tensors that lie where elements of a table of addresses say, by the number of the element: grouped kernels get their
    operands so. An address that a tensor begins at is that of the largest such one."""
    wanted = {i: value for i, value in enumerate(data) if value >= LEAST_ADDRESS}
    begins, allocations = {}, {}
    for tensor in live_tensors() if wanted else ():
        try:
            storage = storage_of(tensor)
            begin, size = tensor.data_ptr(), tensor.numel() * tensor.element_size()
        except Exception:  # it has no memory
            continue
        if storage is None or not size:
            continue
        if begin not in begins or size > begins[begin].numel() * begins[begin].element_size():
            begins[begin] = tensor
        allocations.setdefault(storage, tensor)
    sorted_allocations = sorted(allocations)
    found = {}
    for i, value in wanted.items():
        tensor = begins.get(value)
        at = bisect.bisect_right(sorted_allocations, (value, math.inf)) - 1
        if tensor is None and at >= 0 and value < sorted_allocations[at][1]:
            tensor = tensor_from(allocations[sorted_allocations[at]], value)
        if tensor is not None:
            found[i] = tensor
    return found


class Matcher:
    """Hands out the kernel's parameters one after the other."""

    def __init__(self, params):
        self.params, self.at, self.args, self.memory = params, 0, {}, []
        self.held, self.held_memory = [], []  # what addresses in memory lead to

    def peek(self):
        if self.at >= len(self.params):
            raise Unmatched("there are more arguments than parameters")
        return self.params[self.at]

    def take(self, value):
        name, _ = self.peek()
        self.at += 1
        if value is not None:
            self.args[name] = value

    def take_numbers(self, values):
        for value in values:
            self.take(int(value))

    def pointer(self, kind, value):
        name, _ = self.peek()
        if not is_tensor(value) or is_mock(value):
            return self.take(None)
        words = memory(kind, value)
        data = integer_data(kind, value)
        if data is not None:
            words["data"] = data
        if data is not None and element_bytes(kind, value) == 8:
            self.table(name, words)
        self.memory.append((name, words, element_bytes(kind, value)))
        self.take({"tensor": words})

    def table(self, name, words):
        """Addresses among the data are recorded as what lies there."""
        for i, tensor in held(words["data"]).items():
            inner = memory(None, tensor)
            words["data"][i] = 0
            words.setdefault("pointers", {})[str(8 * i)] = {"tensor": inner}
            self.held.append((None, tensor))
            self.held_memory.append((f"{name}[{i}]", inner, element_bytes(None, tensor)))

    def descriptor(self, value):
        """One parameter for the descriptor, or, where the target has none, the parts that it was rewritten to; behind
        either its shape and strides, once more."""
        name, kind = self.peek()
        shape, strides = list(map(int, value.shape)), list(map(int, value.strides))
        words = {"shape": shape, "strides": strides, "dtype": str(value.base.dtype)}
        if not is_mock(value.base):
            self.memory.append((name, words, element_bytes(None, value.base)))
        if "tensordesc" in kind:
            block = list(map(int, value.block_shape))
            if len(block) == len(shape):
                words["block"] = block
            self.take({"descriptor": words})
            self.at += 2 * len(shape)  # its shape and strides, which it tells
        else:
            self.take({"tensor": words})
            self.take_numbers(shape + strides)
            while self.peek()[1] == "i1":
                self.take(self.flag(value))
            self.take_numbers(shape + strides)

    def flag(self, value):
        first = self.params[self.at - 1][1] != "i1"
        return getattr(value, "padding", "zero") == "nan" if first else bool(getattr(value, "round_f32_to_tf32", False))


def match(params, types, values):
    """The arguments by the parameters' names, and a sentence for each thing that cannot be said of them."""
    matcher = Matcher(params)
    passed = list(with_types(types, values))
    for kind, value in passed:
        if is_descriptor(value):
            matcher.descriptor(value)
        elif matcher.peek()[1].startswith("!tt.ptr"):
            matcher.pointer(kind, value)
        else:
            matcher.take(number(value))
    if matcher.at != len(params):
        raise Unmatched("there are more parameters than arguments")
    return matcher.args, tell_sharing(matcher.memory + matcher.held_memory, sharing(passed + matcher.held))


def memories(types, values):
    """The tensors that are passed, as such or by a descriptor, in the order of the parameters."""
    for _, value in with_types(types, values):
        tensor = value.base if is_descriptor(value) else value
        if is_tensor(tensor):
            yield getattr(tensor, "base", tensor) if not hasattr(tensor, "untyped_storage") else tensor


def written_by_others(passed):
    """Of each argument that is memory: whether other processes write it, too."""
    for _, value in passed:
        tensor = value.base if is_descriptor(value) else value
        if is_tensor(tensor):
            yield device_torch.has_peers(tensor)


# ---- Memory that several arguments name ----------------------------------------------------------


def storage_of(tensor):
    """First byte and end of the allocation that a tensor is a view of; None where that is not known."""
    tensor = tensor if hasattr(tensor, "untyped_storage") or not hasattr(tensor, "base") else tensor.base
    try:
        if hasattr(tensor, "allocation"):  # weir.triton.tensor
            begin, size = tensor.allocation
        else:
            storage = tensor.untyped_storage()
            begin, size = storage.data_ptr(), storage.nbytes()
    except (AttributeError, NotImplementedError, RuntimeError):
        return None
    return begin, begin + size


class Area:
    """Where an argument that is memory lies."""

    def __init__(self, kind, value):
        tensor = value.base if is_descriptor(value) else value
        strides = value.strides if is_descriptor(value) else value.stride()
        self.size = element_bytes(kind, tensor)
        own = tensor.element_size() if hasattr(tensor, "element_size") else self.size
        elements = extent(value.shape, strides)
        self.begin = tensor.data_ptr()
        self.end = self.begin + elements * own
        self.dense = elements == math.prod(value.shape)
        self.storage = storage_of(tensor) if elements else None
        if self.storage and not self.storage[0] <= self.begin < self.storage[1]:
            self.storage = None
        if self.storage and self.end > self.storage[1]:  # as descriptors of ragged tensors do
            self.end, self.dense = self.storage[1], False


def areas(passed):
    """Of each argument that is memory."""
    for kind, value in passed:
        tensor = value.base if is_descriptor(value) else value
        if is_tensor(tensor) and not is_mock(tensor):
            yield Area(kind, value)


def free_around(area, group, groups):
    """Bytes before and from the begin of an argument that it may touch: its allocation, up to other arguments in it. None:
    no more than its elements."""
    if area.storage is None:
        return None
    low, high = area.storage
    for begin, end in groups:
        if (begin, end) != group and end <= group[0]:
            low = max(low, end)
        elif (begin, end) != group and begin >= group[1]:
            high = min(high, begin)
    if area.dense and (low, high) == (area.begin, area.end):
        return None
    return area.begin - low, high - area.begin


def sharing(passed):
    """Of each argument that is memory: the first of those that it shares bytes with, directly or through others, how many
    bytes behind that one's begin it begins, and what it may touch around it. Nothing else about addresses matters."""
    found = list(areas(passed))
    firsts, bounds, first = [0] * len(found), {}, 0
    for i in sorted(range(len(found)), key=lambda i: (found[i].begin, found[i].end)):
        if not bounds or found[i].begin >= bounds[first][1]:
            first = i
            bounds[first] = found[i].begin, found[i].end
        firsts[i] = first
        bounds[first] = bounds[first][0], max(bounds[first][1], found[i].end)
    groups = list(bounds.values())
    return tuple((first, area.begin - found[first].begin, free_around(area, bounds[first], groups))
                 for area, first in zip(found, firsts))


def tell_sharing(memory, told):
    """Gives arguments that share memory one buffer, and views the allocation that they lie in. Returns sentences on those of
    which that cannot be said: their elements differ in size."""
    sentences = []
    for i, (first, offset, around) in enumerate(told):
        (owner, owned, size), (name, words, own) = memory[first], memory[i]
        if around is not None:
            words["storage"] = [around[0] // own, around[1] // own]
        if first == i:
            continue
        if own != size or offset % size:
            sentences.append(f"{owner} and {name} share memory with elements of different sizes, which is not checked")
            continue
        owned["buffer"] = words["buffer"] = owner
        words.pop("data", None)
        words.pop("pointers", None)
        if offset:
            words["offset"] = offset // size
    return sentences
