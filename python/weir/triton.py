"""Checks the Triton kernels of this program, without `weir exec`.

    import weir.triton

    weir.triton.watch()                 # every kernel from here on; findings are told at the end of the program
    weir.triton.watch(raises=True)      # an exception at the launch that has a finding

    with weir.triton.checked() as watch:      # those that are launched in this block; raises at its end
        kernel[grid](x, y)

    @weir.triton.checked                      # each call of a function, such as a test
    def test_kernel(): ...

    result = weir.triton.check(kernel, grid, x, y, BLOCK=64)      # one launch of one kernel, which is not made

Where there is no GPU, Triton compiles for `target` (sm_90), and a launch runs nothing. Findings count as the project file says
that holds for the current folder (docs/config.md); config=FILE names one, config=False reads none, and project= takes a
weir.Project."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import sys
import tempfile
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, TextIO

from . import Project, Result
from . import check as check_ir
from .tensors import tensor

if TYPE_CHECKING:
    from typing import Literal

    from . import Path

__all__ = ["Findings", "check", "checked", "tensor", "watch"]


class Findings(AssertionError):
    """Something is wrong with a kernel. `results` has it all."""

    def __init__(self, results: list[tuple[str, Result]]) -> None:
        self.results = results
        super().__init__("\n".join(str(result).rstrip() for _, result in results))


class Memory:
    """In the place of a folder: kernels and launches that are kept in memory."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def note(self, *words: object) -> None:
        if words[0] == "note":
            for each in list(State.watches):
                each.notes.append(" ".join(map(str, words[1:])))

    def write_kernel(self, name: str, ttgir: str) -> str:
        self.texts.setdefault(ttgir, name)
        return name

    def write_launch(self, name: str, launch: object) -> None:
        pass

    def write_found(self, name: str, ptx: str, launch: str) -> None:
        for each in list(State.watches):
            each.found(name, ptx, launch)


class Watch:
    """What was launched while it was on, and what the checks of that said. `notes` has a sentence on each thing that was
    not recorded."""

    def __init__(self, raises: bool = False, config: Path | Literal[False] | None = None, project: Project | None = None,
                 **options: Any) -> None:
        self.raises, self.options = raises, options
        self.project = project or Project(config)
        self.pending: list[tuple[str, str, dict[str, Any]]] = []
        self.results: list[tuple[str, Result]] = []
        self.notes: list[str] = []
        self.lock = threading.Lock()

    def launched(self, kernel: Any, launch: dict[str, Any]) -> None:
        with self.lock:
            self.pending.append((f"{kernel.name}.ttgir", kernel.ttgir, launch))
        if self.raises:
            self.finish()
            self.complain()

    def found(self, name: str, ptx: str, launch: str) -> None:
        """Of a launch that has findings as it runs here."""
        with self.lock:
            self.pending.append((f"{name}.ptx", ptx, json.loads(launch)))

    def finish(self) -> list[tuple[str, Result]]:
        """Checks what was launched and not checked yet. Gives all results, as pairs of a kernel's name and a Result."""
        with self.lock:
            pending, self.pending = self.pending, []
        for name, ttgir, launch in pending:
            self.results.append((os.path.splitext(name)[0], check_ir(ttgir, launch, name=name, project=self.project, **self.options)))
        return self.results

    def bad(self) -> list[tuple[str, Result]]:
        return [(name, result) for name, result in self.finish() if result.verdict in ("findings", "error")]

    def complain(self) -> None:
        bad = self.bad()
        if bad:
            raise Findings(bad)

    def report(self, to: TextIO | None = None) -> None:
        to = to or sys.stderr
        results = self.finish()
        for name, result in results:
            if not result:
                to.write(str(result))
        for sentence in self.notes:
            to.write(f"weir: {sentence}\n")
        for sentence in self.project.remarks():
            to.write(f"{sentence}\n")
        counts: dict[str, int] = {}
        for _, result in results:
            counts[result.verdict] = counts.get(result.verdict, 0) + 1
        told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        many = "launch" if len(results) == 1 else "launches"
        to.write(f"weir: {len(results)} {many} checked: {told}\n" if results else
                 "weir: nothing was checked: no kernel was launched\n")


class OrderLog:
    """Of what the program puts into streams, where PyTorch has the device without a GPU: from here on until `end`, which adds
    what it shows to a watch, unless that is clean."""

    def __init__(self) -> None:
        from . import device_torch, program

        self.folder: tempfile.TemporaryDirectory[str] | None = None
        if device_torch.State.installed and program.State.log is None and os.environ.get("WEIR_RUN") != "no":
            self.folder = tempfile.TemporaryDirectory(prefix="weir-")
            program.begin(self.folder.name, "program")

    def end(self, watch: Watch) -> None:
        from . import program

        if self.folder is None or program.State.log is None:
            return
        log = program.State.log
        program.end()
        if log.operations:
            known = {name: value for name, value in watch.options.items() if name in ("rules", "timeout")}
            result = check_ir(log.path, project=watch.project, **known)
            if not result:
                watch.results.append(("program", result))
        self.folder.cleanup()


class State:
    """Triton is wrapped once; who listens changes."""

    recorder: Any = None
    watches: list[Watch] = []


def tell_all(kernel: Any, launch: dict[str, Any]) -> None:
    for each in list(State.watches):
        each.launched(kernel, launch)


def install(target: str | None) -> Any:
    if State.recorder is None:
        import triton

        from . import capture

        recorder = capture.Recorder(Memory(), capture.release_of(triton.__version__), tell_all, (Findings,))
        capture.install(recorder, target)
        State.recorder = recorder
    return State.recorder


def watch(raises: bool = False, target: str | None = None, **options: Any) -> Watch:
    """Has every launch from here on checked: at the end of the program, where findings are written to standard error, or
    with `raises` at each launch that is new, before it is made. Options are those of weir.check, and `config`."""
    each = Watch(raises, **options)
    install(target).forget()
    State.watches.append(each)
    if not raises:
        atexit.register(each.report)
    return each


class checked(contextlib.ContextDecorator):
    """A block, or a function, whose launches are checked when it is over; raises Findings if something is wrong."""

    def __init__(self, function: Callable[..., Any] | None = None, *, target: str | None = None, **options: Any) -> None:
        self.function, self.target, self.options = function, target, options
        if function is not None:
            functools.update_wrapper(self, function)

    def __enter__(self) -> Watch:
        install(self.target).forget()
        self.watch, self.log = Watch(**self.options), OrderLog()
        State.watches.append(self.watch)
        return self.watch

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> Literal[False]:
        State.watches.remove(self.watch)
        self.log.end(self.watch)
        if kind is None:
            self.watch.complain()
        return False

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.function is None:
            return super().__call__(*args, **named)
        with checked(target=self.target, **self.options):
            return self.function(*args, **named)


def check(kernel: Any, grid: Any, *args: Any, target: str | None = None, options: dict[str, Any] | None = None,
          **named: Any) -> Result | list[Result]:
    """Compiles a kernel for a launch, and checks that launch without making it."""
    each = Watch(**(options or {}))
    install(target).forget()
    State.watches.append(each)
    try:
        kernel.warmup(*args, grid=grid, **named)
    finally:
        State.watches.remove(each)
    results = each.finish()
    if not results:
        raise RuntimeError("nothing was recorded: " + ("; ".join(each.notes) or "no kernel was compiled"))
    for _, result in results:
        result.add_incomplete(each.notes)
    return results[0][1] if len(results) == 1 else [result for _, result in results]
