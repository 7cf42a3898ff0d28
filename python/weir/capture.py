"""Records what Triton compiles and launches: the IR of each kernel, and of each launch the grid and the arguments.

Every launch goes through `CompiledKernel.run`, whatever led to it: a call of a jitted function, an autotuner, a kernel that
was compiled ahead of time. That property is wrapped. What was not seen before is written at once, before the launch is made:
a kernel that hangs is one that is to be looked at. A launch that was seen before costs one look into a set."""

import atexit
import hashlib
import json
import os
import re
import threading

from . import _hook, arguments, standin

OLDEST = (3, 5)
MOST_LAUNCHES = 100  # that are kept of one kernel
MOST_SEEN = 65536  # exact keys of launches that are remembered for one kernel
FIRST_ARGUMENT = 9  # of a launcher: behind grid, stream, function, metadata and hooks


def release_of(version):
    """3.9.0+git1234 is release 3.9.0."""
    match = re.match(r"\d+(\.\d+)*", version)
    return match.group() if match else "0"


# ---- Keys: whether a launch is one that was seen --------------------------------------------------


def float_class(value):
    """Floats seldom steer a kernel: of those that are alike in this one is recorded."""
    return "zero" if value == 0 else "negative" if value < 0 else "positive" if value > 0 else "nan"


def value_key(value, pointers):
    """What of an argument tells launches apart; addresses are appended to `pointers`."""
    if isinstance(value, float):
        return float_class(value)
    if isinstance(value, tuple):
        return tuple(value_key(part, pointers) for part in value)
    if arguments.is_descriptor(value):
        pointers.append(value.base.data_ptr())
        return tuple(value.shape), tuple(value.strides), tuple(value.block_shape)
    if arguments.is_tensor(value):
        pointers.append(value.data_ptr())
        return tuple(value.shape), value.stride()
    return value


class Kernel:
    """A compiled kernel, and the launches of it that were seen."""

    def __init__(self, compiled, recorder):
        self.compiled, self.recorder = compiled, recorder
        self.ttgir = compiled.asm.get("ttgir")
        self.types = list(getattr(compiled.src, "signature", {}).values())
        self.name = self.params = None
        self.seen, self.told, self.lock = set(), set(), threading.Lock()
        self.launches = self.dropped = 0

    def launched(self, grid, values):
        self.launches += 1
        pointers = []
        key = [grid]
        for kind, value in zip(self.types, values):
            if kind != "constexpr":
                key.append(value if type(value) is int else value_key(value, pointers))
        key = tuple(key)
        exact = key, tuple(pointers)
        if exact in self.seen:
            return
        with self.lock:
            if len(self.seen) >= MOST_SEEN:
                self.seen.clear()
            self.seen.add(exact)
            self.told_once(grid, key, values)

    def told_once(self, grid, key, values):
        """Addresses matter only as far as memory is shared."""
        if self.ttgir is None:
            return
        if self.params is None:
            self.params = arguments.parameters(self.ttgir)
        args, areas = arguments.match(self.params, self.types, values) if values is not None else ({}, [])
        untold = arguments.tell_sharing(areas)
        sharing = tuple(sorted((area[3], area[4]["buffer"]) for area in areas if "buffer" in area[4]))
        if (key, sharing) in self.told:
            return
        self.told.add((key, sharing))
        if len(self.told) > MOST_LAUNCHES:
            self.dropped += 1
            return
        self.recorder.write_launch(self, grid, args, untold)


class Runner:
    """In the place of a kernel's launcher: records the launch, then makes it."""

    __slots__ = ("kernel", "inner")

    def __init__(self, kernel, inner):
        self.kernel, self.inner = kernel, inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __call__(self, *args, **named):
        try:
            self.kernel.launched(args[:3], args[FIRST_ARGUMENT:])
        except Exception as error:
            self.kernel.recorder.failed(self.kernel, error)
        return self.inner(*args, **named)


# ---- Files ---------------------------------------------------------------------------------------


def write_file(path, text):
    """The file appears when it is complete."""
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def launch_text(launch):
    """A launch file, an argument a line."""
    args = ",\n".join(f"    {json.dumps(name)}: {json.dumps(value)}" for name, value in launch["args"].items())
    rest = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in launch.items() if key != "args")
    return f'{{\n{rest}  "args": {{\n{args}\n  }}\n}}\n'


class Lock:
    """Of a folder, against other processes that write to it."""

    def __init__(self, folder):
        self.path = os.path.join(folder, ".lock")

    def __enter__(self):
        import fcntl

        self.file = open(self.path, "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *error):
        self.file.close()


class Folder:
    """Writes kernels and launches as `weir check` reads them: NAME.ttgir, NAME.launch.json, NAME.launch.2.json, ..."""

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)

    def note(self, *words):
        _hook.note(self.path, *words)

    def write_kernel(self, name, ttgir):
        name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:80]}-{hashlib.sha256(ttgir.encode()).hexdigest()[:8]}"
        path = os.path.join(self.path, f"{name}.ttgir")
        if not os.path.exists(path):
            write_file(path, ttgir)
        return name

    def write_launch(self, name, launch):
        text = launch_text(launch)
        with Lock(self.path):
            number = 1
            while True:
                path = os.path.join(self.path, f"{name}.launch.json" if number == 1 else f"{name}.launch.{number}.json")
                if not os.path.exists(path):
                    return write_file(path, text)
                with open(path, encoding="utf-8") as file:
                    if file.read() == text:
                        return
                number += 1


class Recorder:
    """What this process has seen, and where it goes. `listener`, if there is one, is told of each launch that is new."""

    def __init__(self, store, version, listener=None):
        self.store, self.version, self.listener = store, version, listener
        self.kernels, self.complaints = {}, set()

    def kernel_of(self, compiled):
        kernel = compiled.__dict__.get("_weir")
        if kernel is None:
            kernel = compiled.__dict__["_weir"] = Kernel(compiled, self)
            name = getattr(compiled, "name", None) or compiled.metadata.name
            if kernel.ttgir is None:
                self.complain(f"kernel {name} has no TTGIR: it was not compiled from Triton or Gluon")
            else:
                kernel.name = self.store.write_kernel(name, kernel.ttgir)
                self.kernels.setdefault(id(kernel), kernel)
        return kernel

    def write_launch(self, kernel, grid, args, untold):
        launch = {"kernel": kernel.compiled.metadata.name, "triton": self.version, "grid": [int(n) for n in grid],
                  "args": args, "from": "weir exec"}
        if getattr(kernel.compiled.metadata, "launch_pdl", False):
            launch["dependent"] = True
        for first, second in untold:
            self.complain(f"kernel {kernel.name}: {first} and {second} overlap in memory, which is not looked at")
        self.store.write_launch(kernel.name, launch)
        if self.listener:
            self.listener(kernel, launch)

    def complain(self, sentence):
        if sentence not in self.complaints:
            self.complaints.add(sentence)
            self.store.note("note", sentence)

    def failed(self, kernel, error):
        self.complain(f"a launch of kernel {kernel.name} was not recorded: {type(error).__name__}: {error}")

    def finish(self):
        launches = sum(kernel.launches for kernel in self.kernels.values())
        kept = sum(min(len(kernel.told), MOST_LAUNCHES) for kernel in self.kernels.values())
        self.store.note("counts", os.getpid(), len(self.kernels), launches, kept)
        for kernel in self.kernels.values():
            if kernel.dropped:
                self.complain(f"{kernel.dropped} launches of kernel {kernel.name} were not kept: there are "
                              f"{MOST_LAUNCHES} of it")


# ---- Wrapping Triton -----------------------------------------------------------------------------


def wrap(compiled_kernel, recorder):
    """Has every launch of a compiled kernel recorded, and every kernel that is compiled written."""
    run, initialize = compiled_kernel.run, compiled_kernel.__init__

    def watched_run(self):
        inner = run.fget(self)
        runner = self.__dict__.get("_weir_runner")
        if runner is None or runner.inner is not inner:
            runner = self.__dict__["_weir_runner"] = Runner(recorder.kernel_of(self), inner)
        return runner

    def watched_initialize(self, *args, **named):
        initialize(self, *args, **named)
        try:
            recorder.kernel_of(self)
        except Exception as error:
            recorder.complain(f"a kernel was not recorded: {type(error).__name__}: {error}")

    compiled_kernel.run = property(watched_run)
    compiled_kernel.__init__ = watched_initialize


def wrap_warmup(function, recorder):
    """Of a kernel that is only compiled ahead of its launch: what is known of that launch."""
    warmup = function.warmup

    def watched_warmup(self, *args, grid, **named):
        compiled = warmup(self, *args, grid=grid, **named)
        try:
            record_warmup(recorder, self, compiled, args, grid, named)
        except Exception as error:
            recorder.complain(f"a warmup was not recorded: {type(error).__name__}: {error}")
        return compiled

    function.warmup = watched_warmup


def record_warmup(recorder, function, compiled, args, grid, named):
    if hasattr(compiled, "result"):
        compiled = compiled.result()
    if compiled is None:
        return
    names = set(function.signature.parameters)
    bound = function.signature.bind(*args, **{name: value for name, value in named.items() if name in names})
    bound.apply_defaults()
    if callable(grid):
        grid = grid(dict(bound.arguments))
    grid = (tuple(grid) + (1, 1, 1))[:3]
    recorder.kernel_of(compiled).launched(grid, tuple(bound.arguments.values()))


def install(recorder, target):
    """From now on Triton's launches are recorded. Fails where Triton is not as expected."""
    import triton
    from triton.compiler.compiler import CompiledKernel
    from triton.runtime.jit import JITFunction

    if tuple(map(int, release_of(triton.__version__).split("."))) < OLDEST or not isinstance(getattr(CompiledKernel, "run", None), property):
        raise RuntimeError(f"Triton {triton.__version__} is not supported: releases 3.5 to 3.9 are")
    wrap(CompiledKernel, recorder)
    wrap_warmup(JITFunction, recorder)
    standin.install(target, lambda chosen: recorder.store.note("standin", chosen))


def start(folder, target):
    """For `weir exec`: records into a folder until the process ends."""
    import triton

    store, release = Folder(folder), release_of(triton.__version__)
    store.note("triton", release)
    recorder = Recorder(store, release)
    install(recorder, target)
    atexit.register(recorder.finish)
    return recorder
