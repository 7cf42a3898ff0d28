"""Records what Triton compiles and launches: the IR of each kernel, and of each launch the grid and the arguments.

Every launch goes through `CompiledKernel.run`, whatever led to it: a call of a jitted function, an autotuner, a kernel that
was compiled ahead of time. That property is wrapped. What was not seen before is written at once, before the launch is made:
a kernel that hangs is one that is to be checked. A launch that was seen before costs one look into a set."""

import atexit
import hashlib
import json
import os
import re
import threading

from . import _hook, arguments, program, promises, standin, unwritten

OLDEST = (3, 5)
MOST_LAUNCHES = 100  # that are kept of one kernel
MOST_SECONDS = 60  # of processor time, in which launches of one kernel are checked as they run
MOST_SEEN = 65536  # exact keys of launches that are remembered for one kernel


def release_of(version):
    """3.9.0+git1234 is release 3.9.0."""
    match = re.match(r"\d+(\.\d+)*", version)
    return match.group() if match else "0"


# ---- Keys: whether a launch is one that was seen --------------------------------------------------


def value_key(value, pointers):
    """What of an argument tells launches apart; addresses are appended to `pointers`. Floats seldom steer a kernel: of
    those with the same sign one is recorded."""
    if isinstance(value, float):
        return (value > 0) - (value < 0)
    if isinstance(value, tuple):
        return tuple(value_key(part, pointers) for part in value)
    if arguments.is_descriptor(value):
        pointers.append(value.base.data_ptr())
        return tuple(value.shape), tuple(value.strides)
    if arguments.is_tensor(value):
        pointers.append(value.data_ptr())
        return tuple(value.shape), tuple(value.stride())
    return value


def exact_key(value):
    pointers = []
    return value_key(value, pointers), tuple(pointers)


def key_parts(kind, name):
    """Python for what value_key has of an argument of that type, and for its address: as little as can be, since every
    launch does it."""
    if not isinstance(kind, str):
        return [f"exact_key({name})"]
    if kind.startswith("*"):
        return [f"{name}.shape", f"{name}.stride()", f"{name}.data_ptr()"]
    if kind.startswith("tensordesc"):
        return [f"tuple({name}.shape)", f"tuple({name}.strides)", f"{name}.base.data_ptr()"]
    if kind.startswith(("fp", "bf")):
        return [f"({name} > 0) - ({name} < 0)"]
    return [name] if kind[0] in "iu" else [f"exact_key({name})"]


LAUNCH = """
def launch(*args, **named):
    try:
        g0, g1, g2, _, _, _, _, _, _{names} = args
        key = ({key})
        covered = seen.get(key)
        if covered is None or kernel.looks_at_data:
            covered = kernel.launched((g0, g1, g2), args[9:], key)
        kernel.launches += 1
        kernel.covered += covered
    except kernel.recorder.passed_on:
        raise
    except Exception:
        kernel.odd_launch(args[:3], args[9:])
    return inner(*args, **named)
"""


class Kernel:
    """A compiled kernel, and the launches of it that were seen. It must not keep Triton's own object alive."""

    def __init__(self, compiled, recorder):
        self.recorder = recorder
        self.function = getattr(compiled, "name", None) or compiled.metadata.name
        self.dependent = bool(getattr(compiled.metadata, "launch_pdl", False))
        self.ttgir = compiled.asm.get("ttgir")
        self.types = list(getattr(compiled.src, "signature", {}).values())
        self.name = self.params = self.written = None
        self.seen, self.told, self.lock = {}, set(), threading.Lock()  # seen: whether a proof covers it
        self.answers = {}  # of the proof, by what it depends on
        self.launches, self.covered, self.spent = 0, 0, 0.0
        self.beyond = False  # launches were not kept since a proof covers them
        self.requires = list(dict.fromkeys(promises.of_compiled(compiled) + recorder.promised(self.function)))
        self.looks_at_data = recorder.data_is_here and arguments.may_have_data(self.types)

    def launcher(self, inner):
        """A function that records a launch, then makes it with `inner`."""
        names = [f"a{i}" for i in range(len(self.types))]
        key = ["g0", "g1", "g2"]
        for kind, name in zip(self.types, names):
            if kind != "constexpr":
                key += key_parts(kind, name)
        listed = "".join(f", {name}" for name in names)
        text = LAUNCH.format(names=listed, key=", ".join(key))
        space = {"seen": self.seen, "kernel": self, "inner": inner, "exact_key": exact_key}
        exec(text, space)
        return space["launch"]

    def odd_launch(self, grid, values):
        """Of a launch whose arguments are other than their types say: addresses for tensors, as one may pass them to a
        kernel that was compiled ahead of time, or no constants, as some callers have it."""
        try:
            self.launches += 1
            values = arguments.with_constants(self.types, values)
            self.covered += self.launched(grid, values, ("odd", grid, exact_key(tuple(values))))
        except self.recorder.passed_on:
            raise
        except Exception as error:
            self.recorder.failed(self, error)

    def launched(self, grid, values, exact):
        """A launch with other addresses than those before it, at least; or with other data, where that is checked. Whether a proof
        covers it."""
        with program.quiet(), self.lock:
            data = arguments.data_key(self.types, values) if self.looks_at_data else None
            exact = exact if data is None else (exact, data)
            covered = self.seen.get(exact)
            if covered is not None:
                return covered
            if len(self.seen) >= MOST_SEEN:
                self.seen.clear()
            self.seen[exact] = False
            if self.ttgir is None or not all(grid):  # of an empty grid Triton starts nothing
                return False
            try:
                self.seen[exact] = self.told_launch(grid, values, data)
                self.not_made(values)
            except self.recorder.passed_on:
                raise
            except Exception as error:
                self.recorder.failed(self, error)
            return self.seen[exact]

    def not_made(self, values, this=False):
        """What it would have written is not there, where nothing runs, or `this` launch does not."""
        if unwritten.State.nothing_runs or this:
            if self.written is None:
                self.params = self.params or arguments.parameters(self.ttgir)
                self.written = unwritten.written_elements(self.ttgir)
            unwritten.add_launch(self.params, self.written, arguments.memories(self.types, values))

    def told_launch(self, grid, values, data):
        """Of a launch that may be like one before it. That some are not kept is said at once: a program may end without
        a word. Whether a proof covers it."""
        passed = list(arguments.with_types(self.types, values))
        others = tuple(arguments.written_by_others(passed))
        numbers = grid, tuple(value_key(value, []) for _, value in passed), arguments.sharing(passed), others
        covered, key = self.answers.get(numbers), (*numbers, data)
        launch = None
        if covered is None:
            if len(self.answers) >= MOST_SEEN:
                self.answers.clear()
            launch = self.recorder.launch_of(self, grid, values)
            covered = self.answers[numbers] = self.recorder.covers(self, launch)
        # Launches that break what is required of them, which no proof covers, are not to be missed among the others.
        most = 2 * MOST_LAUNCHES if self.requires and not covered else MOST_LAUNCHES
        is_new, has_room = key not in self.told, len(self.told) < most
        if is_new and has_room:
            launch = launch or self.recorder.launch_of(self, grid, values)
            self.told.add(key)
            self.recorder.write_launch(self, launch)
        elif is_new and covered:
            if not self.beyond:
                self.recorder.store.note("beyond", os.getpid())
            self.beyond = True
        elif is_new:
            self.recorder.complain(f"kernel {self.name} has more than {MOST_LAUNCHES} different launches; those after "
                                   "these are not checked")
        return covered


# ---- Files ---------------------------------------------------------------------------------------


def write_file(path, text):
    """The file appears when it is complete. Threads, and processes of several machines, may write the same one at once."""
    part = f"{path}.{os.urandom(8).hex()}.part"
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

        # Processes of several users share it: who finds it need not be able to write to it.
        try:
            self.file = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            self.file = os.open(self.path, os.O_RDONLY | os.O_CREAT, 0o644)
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *error):
        os.close(self.file)


class Folder:
    """Writes kernels and launches as `weir check` reads them: NAME.ttgir, NAME.launch.json, NAME.launch.2.json, ..."""

    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)

    def note(self, *words):
        _hook.note(self.path, *words)

    def write_kernel(self, name, text, ending="ttgir"):
        name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:80]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        path = os.path.join(self.path, f"{name}.{ending}")
        if not os.path.exists(path):
            write_file(path, text)
        return name

    def write_launch(self, name, launch):
        """Once, though several processes may make it. One that is `checked` takes the place of the one that was not."""
        text = launch_text({key: value for key, value in launch.items() if key != "checked"})
        with Lock(self.path):
            number = 1
            while True:
                path = os.path.join(self.path, f"{name}.launch.json" if number == 1 else f"{name}.launch.{number}.json")
                there = None
                if os.path.exists(path):
                    with open(path, encoding="utf-8") as file:
                        there = file.read()
                if there in (None, text):
                    return write_file(path, launch_text(launch)) if there is None or "checked" in launch else None
                if re.sub(r'^  "checked": .*\n', "", there, flags=re.MULTILINE) == text:
                    return None
                number += 1

    def write_found(self, name, ptx, launch):
        """Of a launch on the device with findings: its PTX, and the launch with its data. The launch was counted (cli/exec.c)."""
        name = self.write_kernel(f"{name[:70]}.found", ptx, "ptx")
        write_file(os.path.join(self.path, f"{name}.launch.json"), launch)

    def write_checked(self, name, result):
        """What a check of such a launch came to, as those of CUDA programs are kept (check/launches)."""
        self.write_kernel(f"{name[:70]}.found", json.dumps({"kernel": name, "result": json.loads(result)}) + "\n", "weirchecks")


class Recorder:
    """What this process has seen, and where it goes. `listener`, if there is one, is told of each launch that is new."""

    def __init__(self, store, version, listener=None, passed_on=(), prove_seconds=0, project=None):
        """Exceptions of the kinds in `passed_on` are the listener's, and keep the launch from being made. `prove_seconds`: for the
        proof of a kernel; 0: none is tried."""
        self.store, self.version, self.listener, self.passed_on = store, version, listener, passed_on
        self.prove_seconds, self.proofs = prove_seconds, {}  # by IR and name
        self.kernels, self.complaints, self.has_run = [], set(), False
        self.project = project
        self.proving = threading.Lock()
        self.new = threading.local()  # the launch that is written, and not made yet
        self.data_is_here = False  # in memory of this process: what tensors hold can be checked before each launch
        unwritten.State.when_shared.append(self.forget_addresses)
        self.own = f"_weir_{id(self)}"  # the attribute of compiled kernels that is this recorder's

    def forget(self):
        """What is launched from here on is new, whether it was seen before or not."""
        self.complaints.clear()
        for kernel in self.kernels:
            with kernel.lock:
                kernel.seen.clear()
                kernel.told.clear()
                kernel.answers.clear()

    def forget_addresses(self):
        """What lies at an address that was seen is that of other processes now, too: no launch with it was seen."""
        for kernel in list(self.kernels):
            kernel.seen.clear()

    def promised(self, function):
        """What the project file says that callers of the kernel promise."""
        return self.project.requires(function) if self.project else []

    def kernel_of(self, compiled):
        kernel = compiled.__dict__.get(self.own)
        if kernel is None:
            kernel = compiled.__dict__[self.own] = Kernel(compiled, self)
            self.kernels.append(kernel)
            if kernel.ttgir is None:
                self.complain(f"kernel {kernel.function} has no TTGIR: it was not compiled from Triton or Gluon")
            else:
                kernel.name = self.store.write_kernel(kernel.function, kernel.ttgir)
        return kernel

    def launch_of(self, kernel, grid, values):
        """As a launch file has it."""
        if kernel.params is None:
            kernel.params = arguments.parameters(kernel.ttgir)
        args, untold = arguments.match(kernel.params, kernel.types, values)
        launch = {"kernel": kernel.function, "triton": self.version, "grid": [int(n) for n in grid],
                  "args": args, "from": "weir exec"}
        if kernel.dependent:
            launch["dependent"] = True
        if kernel.requires:
            launch["requires"], launch["at"] = kernel.requires, promises.call_site() or ""
        for sentence in untold:
            self.complain(f"kernel {kernel.name}: {sentence}")
        # Of addresses that are given as numbers it is not known what lies there.
        return launch, not untold and all(name in args for name, kind in kernel.params if kind.startswith("!tt.ptr"))

    def covers(self, kernel, launch):
        """Whether the proof of the kernel covers a launch, of which all is said. The proof is made when it is first asked."""
        if not self.prove_seconds:
            return False
        key = kernel.ttgir, kernel.function
        with self.proving:
            if key not in self.proofs:
                from . import proofs

                self.proofs[key] = proofs.Proof(kernel.ttgir, kernel.function, self.prove_seconds)
        launch, whole = launch
        return whole and self.proofs[key].lacks(launch) is None

    def write_launch(self, kernel, launch):
        launch, _ = launch
        self.store.write_launch(kernel.name, launch)
        if self.listener:
            self.listener(kernel, launch)
        self.new.launch = kernel, launch

    def judge(self, launched):
        """For the device, at a launch: None, or a function that takes what it says of one that is new."""
        kernel, launch = self.new.__dict__.pop("launch", (None, None))
        if kernel is None or kernel.ttgir != launched.ttgir or kernel.spent > MOST_SECONDS:
            return None

        def judged(verdict, findings, written, seconds):
            kernel.spent += seconds
            if verdict == "clean":
                self.checked(kernel, launch)
            elif verdict == "findings":
                self.found(kernel, launch, launched.ptx, findings, written)

        def together(sentence):
            """Of a launch that takes turns with other processes: what its threads do to each other."""
            if not sentence:
                self.checked(kernel, launch)
            elif "race" in sentence:
                self.complain(f"kernel {kernel.name}: {sentence}")

        judged.together = together
        judged.seconds = max(1, int(MOST_SECONDS - kernel.spent))  # that the check may take
        return judged

    def checked(self, kernel, launch):
        from . import _library

        text = kernel.ttgir.encode()
        launch["checked"] = f"{_library.Library.get().weir_hash(text, len(text)):016x}"
        self.store.write_launch(kernel.name, launch)

    def found(self, kernel, launch, ptx, findings, written):
        """The device has findings. If the IR shows such as well, they are said of the IR. Where the memory of the launch is too large to be
        kept, they are said as they were found."""
        from . import check

        def families(some):
            return {finding.rule.split(".")[0] for finding in some if finding.severity != "note"}

        if families(findings) <= families(check(kernel.ttgir, launch, name=f"{kernel.name}.ttgir").findings):
            return
        for finding in findings:
            for line in (finding.witness or "").splitlines():
                if line.startswith("launch "):
                    self.store.write_found(kernel.function, ptx, line[len("launch "):])
                    return self.checked(kernel, launch)
        self.store.write_checked(kernel.function, written)
        self.checked(kernel, launch)

    def complain(self, sentence):
        if sentence not in self.complaints:
            self.complaints.add(sentence)
            self.store.note("note", sentence)

    def failed(self, kernel, error):
        self.complain(f"a launch of kernel {kernel.function} was not recorded: {type(error).__name__}: {error}")

    def takes_stand_in(self, target):
        self.store.note("standin", target)
        self.data_is_here = True
        for kernel in self.kernels:
            kernel.looks_at_data = arguments.may_have_data(kernel.types)

    def ran(self):
        if not self.has_run:
            self.has_run = True
            self.store.note("runs", "here")

    def not_run(self, launched, error, values):
        """Of a launch that the CPU cannot run: what it would have written is not known. Tensors that hold nothing are there for
        kernels that are not to run."""
        if not isinstance(error, TypeError):
            self.complain(f"kernel {launched.metadata.name} was not run: {error}")
        for kernel in self.kernels:
            if kernel.ttgir is not None and kernel.ttgir == launched.ttgir:
                kernel.not_made(values, this=True)
                return

    def finish(self):
        launches = sum(kernel.launches for kernel in self.kernels)
        self.store.note("counts", os.getpid(), len(self.kernels), launches, sum(len(kernel.told) for kernel in self.kernels))
        if self.prove_seconds:
            proved = sum(proof.scope == 2 for proof in self.proofs.values())
            self.store.note("proofs", os.getpid(), len(self.proofs), proved, sum(kernel.covered for kernel in self.kernels))


# ---- Wrapping Triton -----------------------------------------------------------------------------


def wrap(compiled_kernel, recorder):
    """Has every launch of a compiled kernel recorded, and every kernel that is compiled written."""
    run, initialize = compiled_kernel.run, compiled_kernel.__init__
    own = f"{recorder.own}_launcher"

    def watched_run(self):
        inner = run.fget(self)
        launcher = self.__dict__.get(own)
        if launcher is None or launcher[0] is not inner:
            launcher = self.__dict__[own] = inner, recorder.kernel_of(self).launcher(inner)
        return launcher[1]

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
        except recorder.passed_on:
            raise
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
    values = tuple(bound.arguments.values())
    kernel = recorder.kernel_of(compiled)
    kernel.launches += 1
    kernel.covered += kernel.launched(grid, values, ("warmup", grid, exact_key(values)))
    recorder.new.__dict__.clear()  # it is not made


def install(recorder, target):
    """From now on Triton's launches are recorded. Fails where Triton is not as expected."""
    import triton
    from triton.compiler.compiler import CompiledKernel
    from triton.runtime.jit import JITFunction

    if tuple(map(int, release_of(triton.__version__).split("."))) < OLDEST or not isinstance(getattr(CompiledKernel, "run", None), property):
        raise RuntimeError(f"Triton {triton.__version__} is not supported: releases 3.5 to 3.9 are")
    wrap(CompiledKernel, recorder)
    wrap_warmup(JITFunction, recorder)
    standin.install(target, recorder.takes_stand_in, recorder)


def start(folder, target):
    """For `weir exec`: records into a folder until the process ends."""
    import triton

    store, release = Folder(folder), release_of(triton.__version__)
    store.note("triton", release)
    from . import Project

    config = os.environ.get("WEIR_PROJECT")
    recorder = Recorder(store, release, prove_seconds=float(os.environ.get("WEIR_PROVE_TIME") or 0),
                        project=Project(config) if config else None)
    install(recorder, target)
    atexit.register(recorder.finish)
    return recorder
