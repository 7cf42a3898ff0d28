"""Memory whose contents are unknown where launches are recorded and not made: what a kernel would have written, what was
allocated and never filled, and what PyTorch computed from either. No data is told of it."""

import re

# Ops that write global memory, and what they write behind: elements of a pointer or of a descriptor.
WRITES = re.compile(r"\b(tt\.store|tt\.atomic\w*|tt\.descriptor_(?:store|reduce|scatter)\w*|"
                    r"ttng\.async_tma_(?:copy_local_to_global|reduce|scatter|store)\w*|tt\.experimental_descriptor_\w+|"
                    r"amdg\.(?:buffer_store|buffer_atomic|async_tdm\w*)\w*|amdgpu\.buffer_\w+|\w*\.?elementwise_inline_asm|"
                    r"tt\.call|tt\.extern_elementwise)\b")
ELEMENT = re.compile(r"!tt\.ptr<(\w+)|tensordesc<(?:tensor<)?(?:\d+x)*(\w+)")
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
FILLED = {"zero_", "fill_", "random_", "normal_", "uniform_", "copy_", "set_"}


class State:
    """Whether launches are not made, and the storages, by their addresses."""

    nothing_runs = False
    storages = set()


def address(tensor):
    """Of the memory that the tensor is a view of; None where that cannot be told."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (AttributeError, NotImplementedError, RuntimeError):
        try:
            return tensor.data_ptr()
        except (AttributeError, NotImplementedError, RuntimeError):
            return None


def has(tensor):
    return State.nothing_runs and address(tensor) in State.storages


def written_elements(ttgir):
    """Types of elements that the kernel writes to global memory: one of them behind a pointer may be written."""
    elements = set()
    for line in ttgir.splitlines():
        if WRITES.search(line):
            elements.update(pointer or tile for pointer, tile in ELEMENT.findall(line))
    return elements


def add_launch(params, written, passed):
    """Of a launch that is not made. `passed` has a value for each of the kernel's arguments, in the order of `params`, as
    far as these are memory."""
    if not State.nothing_runs:
        return
    kinds = [kind for _, kind in params if kind.startswith(("!tt.ptr", "!tt.tensordesc"))]
    for kind, tensor in zip(kinds, passed):
        element = ELEMENT.search(kind)
        if element is None or (element.group(1) or element.group(2)) in written:
            State.storages.add(address(tensor))


def add_result(name, sources, results):
    """Of a function of PyTorch that was called, and the tensors that it was given and that it made."""
    taken = {address(tensor) for tensor in sources} & State.storages
    if name == "copy_" and len(sources) > 1:
        taken = {address(tensor) for tensor in sources[1:]} & State.storages
    elif name in FILLED:
        taken = set()
    for tensor in results:
        place = address(tensor)
        if place is None:
            continue
        if name in EMPTY or taken:
            State.storages.add(place)
        else:
            State.storages.discard(place)
