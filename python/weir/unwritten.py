"""Memory whose contents are unknown where launches are recorded and not made: what a kernel would have written, what was
allocated and never filled, and what PyTorch computed from either. No data of it is recorded."""

import re

# Ops that have pointers or descriptors and write nothing behind them. Whatever else mentions one may write: an op that
# is new must not make old data look as if it were still there.
READS = re.compile(r"(?<![\w.])(?:tt\.(?:func|return|load|addptr|splat|broadcast|expand_dims|bitcast|reshape|trans|"
                   r"make_tensor_descriptor|descriptor_(?:load|gather)|ptr_to_int|int_to_ptr|get_program_id)|"
                   r"ub\.poison|ttg\.(?:convert_layout|global_scratch_alloc|async_copy_global_to_local|warp_specialize|"
                   r"warp_yield|warp_return)|"
                   r"ttng\.(?:reinterpret_tensor_descriptor|tensormap_fenceproxy_acquire|"
                   r"async_tma_copy_global_to_local|async_tma_gather|async_tma_prefetch)|"
                   r"amdg\.(?:buffer_load|buffer_load_to_local|async_tdm_copy_global_to_local)|"
                   r"arith\.select|scf\.(?:for|if|while|yield|condition)|cf\.(?:br|cond_br))(?![\w.])")
ELEMENT = re.compile(r"!tt\.ptr<(\w+)|tensordesc<(?:tensor<)?(?:\d+x)*(\w+)")
PARTITION = re.compile(r"\s*(?:\^\w+\(|partition\d+\(|default\b|\}|-> )")
EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
FILLED = {"zero_", "fill_", "random_", "normal_", "uniform_", "copy_", "set_"}


class State:
    """Whether launches are not made, the storages that may have such bytes, by their addresses, and the device that runs
    kernels, if there is one: it knows of each byte. is_known(address, size): whether all of these were written with what
    is known; wrote(address, size): now they are; allocated(address, size, False): none of the storage's is."""

    nothing_runs = False
    storages = set()
    listener = None
    when_shared = []  # what is called when memory becomes that of other processes, too


def address(tensor):
    """Of the memory that the tensor is a view of; None where it cannot be said."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (AttributeError, NotImplementedError, RuntimeError):
        try:
            return tensor.data_ptr()
        except (AttributeError, NotImplementedError, RuntimeError):
            return None


def runs(tensor):
    """Address and bytes of each stretch without gaps that the tensor covers."""
    width = tensor.element_size()
    if 0 in tensor.shape:
        return []
    length, starts = width, [tensor.data_ptr()]
    for stride, size in sorted((stride, size) for size, stride in zip(tensor.shape, tensor.stride()) if size > 1):
        if stride * width <= length:
            length = max(length, stride * width * (size - 1) + length)
        else:
            starts = [start + i * stride * width for start in starts for i in range(size)]
    return [(start, length) for start in starts]


def is_unknown(tensor):
    """Whether bytes of it were never written with what is known."""
    if address(tensor) not in State.storages:
        return False
    if State.listener is None or not all(State.listener.is_known(*run) for run in runs(tensor)):
        return True
    if covers(tensor):
        State.storages.discard(address(tensor))
    return False


def forget(tensor):
    """Nothing is known of its whole storage: too much rather than too little."""
    place = address(tensor)
    State.storages.add(place)
    if State.listener and hasattr(tensor, "untyped_storage"):
        State.listener.allocated(place, tensor.untyped_storage().nbytes(), False)


def covers(tensor):
    """Whether a tensor has all bytes of its storage."""
    try:
        return sum(size for _, size in runs(tensor)) >= tensor.untyped_storage().nbytes()
    except AttributeError:
        return True


def written_elements(ttgir):
    """Types of elements that the kernel writes to global memory: one of them behind a pointer may be written."""
    elements = set()
    for line in ttgir.splitlines():
        if "!tt.ptr<" in line or "tensordesc<" in line:
            if READS.search(line.split(" : ")[0]) or line.startswith("#") or PARTITION.match(line):
                continue
            elements.update(pointer or tile for pointer, tile in ELEMENT.findall(line))
    return elements


VALUE = re.compile(r"%[\w.$#-]+")
LOADED = re.compile(r"= \"?(?:tt\.(?:load|atomic_rmw|atomic_cas|descriptor_load|descriptor_gather)|ttg\.async_copy_global_to_local)\b")
STORE = re.compile(r"\btt\.store\b")
CARRIED = re.compile(r"(%[\w.$-]+) = (%[\w.$#-]+)")


def written_parameters(ttgir):
    """Numbers of the kernel's parameters behind which it may write: where pointers come from is followed from value to value.
    None: that cannot be told."""
    head = re.search(r"tt\.func public @[^(]*\((.*)", ttgir)
    names = re.findall(r"(%[\w.$-]+): !?[\w.]", head.group(1)) if head else []
    if re.search(r"^!\w+ = ", ttgir, re.M):  # names for types, which Triton does not write
        return None
    roots, lines = {name: {number} for number, name in enumerate(names)}, []
    for line in ttgir[head.end():].splitlines() if head else ():
        line = re.sub(r" loc\(.*$", "", line)
        if "tt.func" in line:
            return None
        if "!tt.ptr<" in line or "tensordesc<" in line or line.lstrip().startswith(("scf.yield", "scf.for", "cf.")):
            lines.append(line)

    def of(values):
        return set().union(*(roots.get(value.split("#")[0], ()) for value in values))

    count = -1
    while count != sum(map(len, roots.values())):
        count = sum(map(len, roots.values()))
        for line in lines:
            made, _, rest = line.partition(" = ")
            results = VALUE.findall(made) if line.lstrip().startswith("%") else []
            if LOADED.search(line):
                continue
            for name, value in CARRIED.findall(rest):
                roots.setdefault(name, set()).update(of([value]))
            for name in results:
                roots.setdefault(name.split(":")[0], set()).update(of(VALUE.findall(rest)))
    written = set()
    for line in lines:
        if line.lstrip().startswith(("scf.", "cf.")) or READS.search(line.split(" : ")[0]) or PARTITION.match(line):
            continue
        values = VALUE.findall(line.partition(" = ")[2] if line.lstrip().startswith("%") else line)
        values = values[:1] if STORE.search(line) else [value for value in values if of([value])]
        if not values or not of(values):
            return None
        written |= of(values)
    return written if names else None


def add_launch(params, written, passed):
    """Of a launch that is not made. `passed` has a value for each of the kernel's arguments, in the order of `params`, as
    far as these are memory."""
    kinds = [kind for _, kind in params if kind.startswith(("!tt.ptr", "!tt.tensordesc"))]
    for kind, tensor in zip(kinds, passed):
        element = ELEMENT.search(kind)
        if element is None or (element.group(1) or element.group(2)) in written:
            forget(tensor)


def add_result(name, sources, results):
    """Of a function of PyTorch that was called, the tensors that it has read, and those that it has made or written."""
    if name == "copy_" and len(sources) > 1:
        sources = sources[1:]
    elif name in FILLED:
        sources = []
    known = name not in EMPTY and not any(is_unknown(tensor) for tensor in sources)
    for tensor in results:
        place = address(tensor)
        if place is None:
            continue
        if not known:
            forget(tensor)
        elif place in State.storages:
            if State.listener:
                for run in runs(tensor):
                    State.listener.wrote(*run)
            if covers(tensor):
                State.storages.discard(place)
