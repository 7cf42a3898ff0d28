"""Weir checks synchronization in GPU kernels: races, deadlocks, missing barriers and fences.

    result = weir.check("kernel.ttgir")           # or the IR itself, as text; launch= takes a file or a dict
    if result.verdict != "clean":                 # result.scope tells for which launches
        print(result)

weir.triton watches the kernels of a running program."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, TypeVar, Union

if TYPE_CHECKING:
    from . import _library

    Path = Union[str, os.PathLike[str]]
    Launch = Union[Path, dict[str, Any], None]
    Words = Union[Path, Iterable[Path]]
    Function = TypeVar("Function", bound=Callable[..., Any])

__version__ = "0.2.0"
__all__ = ["Finding", "Project", "ProjectError", "Result", "check", "requires"]


SCOPES = (None, "tried-launches", "given-launch", "every-launch")


class Finding:
    """One thing that is wrong, or that a person should look at: `severity` is error, warning or note."""

    def __init__(self, words: dict[str, Any], kernel: str) -> None:
        self.kernel = kernel
        self.rule: str = words["rule"]
        self.severity: str = words["severity"]
        self.message: str = words["message"]
        self.why, self.fix, self.launch = words["why"], words["fix"], words["launch"]
        self.places: list[dict[str, Any]] = words["places"]
        self.witness = words["witness"]
        said = words.get("suppressed") or {}
        self.suppressed: str = said.get("kind", "")  # why it does not count, if so
        self.reason: str = said.get("reason", "")

    @property
    def place(self) -> str:
        """File and line of the source, as far as they are known: "kernel.py:12"."""
        first = self.places[0] if self.places else {}
        if first.get("file"):
            return f"{first['file']}:{first['line']}"
        return f"IR line {first['ir_line']}" if first.get("ir_line") else ""

    def __repr__(self) -> str:
        return f"<{self.severity} {self.rule} in {self.kernel} at {self.place}: {self.message}>"


class Result:
    """Of a check: `verdict` is clean, findings, incomplete or error; `scope` what a clean one covers: every-launch,
    given-launch or tried-launches, the weakest of all kernels, and None of one that is not clean; `findings` and `incomplete` say why; `str` of it is
    what `weir check` prints."""

    def __init__(self, verdict: str, inputs: list[dict[str, Any]], text: str) -> None:
        self.verdict, self.inputs, self.text = verdict, inputs, text
        self.findings = [Finding(words, each["kernel"]) for each in inputs for words in each["findings"]]
        self.incomplete: list[dict[str, Any]] = [reason for each in inputs for reason in each["incomplete"]]

    @property
    def scope(self) -> str | None:
        scopes: list[str] = [each["scope"] for each in self.inputs] if self.verdict == "clean" else []
        return min(scopes, key=SCOPES.index, default=None)

    def add_incomplete(self, sentences: Iterable[str]) -> None:
        """Of what was not checked for reasons that the check itself does not know."""
        sentences = list(sentences)
        if sentences and self.verdict == "clean":
            self.verdict = "incomplete"
        self.incomplete += [{"reason": sentence, "op": "", "ir_line": 0} for sentence in sentences]
        self.text += "".join(f"weir: {sentence}\n" for sentence in sentences)

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error" and not finding.suppressed]

    def __bool__(self) -> bool:
        """Whether it is clean, for its scope."""
        return self.verdict == "clean"

    def __str__(self) -> str:
        return self.text


class ProjectError(ValueError):
    """Something is wrong with a project file, a baseline, or the name of a rule."""


class Project:
    """What a project has decided about findings (docs/config.md): weir.toml or .weir of the current folder or one above it, as
    `weir check` finds it; or the file `config`; or with config=False no file. What is named here goes over the file, as the
    options of `weir check` do. Any number of checks, in any number of threads, may have the same one."""

    def __init__(self, config: Path | Literal[False] | None = None, *, select: Words = (), ignore: Words = (), severity: Words = (),
                 source_root: Path | None = None, baseline: Path | None = None, require: str | None = None) -> None:
        from . import _library

        self.library = _library.Library.get()
        self.handle = self.library.weir_project_create()
        if not self.handle:
            raise MemoryError("there is not enough memory")
        if config is not False:
            self.must(self.library.weir_project_read(self.handle, None if config is None else os.fsencode(config)))
        def words(value: Words | None) -> list[Path]:
            return [value] if isinstance(value, (str, os.PathLike)) else list(value or ())

        for key, values in (("select", select), ("ignore", ignore), ("source-root", source_root), ("baseline", baseline),
                            ("severity", severity), ("require", require)):
            for value in words(values):
                self.set(key, value)
        self.must(self.library.weir_project_baseline(self.handle, 0))
        options = _library.RunOptions()  # the program may go to another folder before the first check
        self.fill(options, 0)
        self.set("source-root", os.path.abspath(os.fsdecode(options.source_root)))

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.library.weir_project_free(self.handle)

    def set(self, key: str, value: Path) -> None:
        self.must(self.library.weir_project_set(self.handle, key.encode(), os.fsencode(value)))

    def must(self, status: int) -> None:
        from . import _library

        if status != 0:
            sink = _library.Sink()
            self.library.weir_project_errors(self.handle, 0, sink.write, None)
            raise ProjectError(sink.text().rstrip())

    @property
    def file(self) -> str | None:
        """The project file that was read, or None."""
        path = self.library.weir_project_file(self.handle)
        return os.fsdecode(path) if path else None

    def launch(self, path: Path) -> str | None:
        """The launch file that the project file has for an input, or None."""
        launch = self.library.weir_project_launch(self.handle, os.fsencode(path))
        return os.fsdecode(launch) if launch else None

    def remarks(self) -> list[str]:
        """After all checks: sentences on comments that are not honored, and on comments and entries of the baseline that are
        of no use any more."""
        from . import _library

        told = []
        for i in range(self.library.weir_project_remarks(self.handle)):
            remark = self.library.weir_project_remark_at(self.handle, i)
            told.append(f"{os.fsdecode(remark.file)}:{remark.line}: {_library.SEVERITIES[remark.severity]}: "
                        f"{remark.text.decode('utf-8', 'replace')}")
        return told

    def requires(self, kernel: str) -> list[str]:
        """What it says that callers of a kernel promise."""
        from . import _library

        sink = _library.Sink()
        self.library.weir_project_requires(self.handle, kernel.encode(), sink.write, None)
        texts: list[str] = json.loads(sink.text())
        return texts

    def fill(self, options: _library.RunOptions, timeout: int | None) -> None:
        """Of a run: what the project says."""
        import ctypes

        self.library.weir_project_options(self.handle, ctypes.byref(options))
        seconds = ctypes.c_uint()
        if timeout is None and self.library.weir_project_timeout(self.handle, ctypes.byref(seconds)):
            options.timeout = seconds.value


def requires(*requirements: str) -> Callable[[Function], Function]:
    """What a kernel requires of its callers: @weir.requires("K % 64 == 0", "grid.y == 1"), above or below @triton.jit."""
    from . import promises

    return promises.requires(*requirements)


def is_text(source: Path) -> bool:
    return isinstance(source, str) and ("\n" in source or "module" in source and "{" in source)


def launch_file(launch: Launch, folder: str) -> str | None:
    """The path of a launch file: a dict is written to the folder first."""
    if launch is None or isinstance(launch, (str, os.PathLike)):
        return os.fspath(launch) if launch is not None else None
    path = os.path.join(folder, "launch.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(launch, file)
    return path


def check(source: Path, launch: Launch = None, *, only_launch: bool = False, kernel: str | None = None, rules: str | None = None,
          triton: str | None = None, timeout: int | None = None, name: str | None = None, project: Project | None = None,
          require: str | None = None) -> Result:
    """Checks the kernels of a file of Triton GPU IR, or of IR that is given as text. `launch` is a launch file, or a dict
    with what one says (docs/launch.md); other launches are chosen beside it, unless `only_launch`. Without `launch`,
    K.launch.json beside K.ttgir is taken, if it is there. A kernel may take `timeout` seconds (60; 0: any number). Findings
    count as `project` says, a Project; without one, no project file is read. `require` is the least scope of a clean kernel: with
    less it is incomplete."""
    from . import _library

    text = source if isinstance(source, str) and is_text(source) else None
    path = None if text is not None else os.fspath(source)
    if launch is None and path is not None and project is not None:
        launch = project.launch(path)
    if launch is None and path is not None and os.path.exists(os.path.splitext(path)[0] + ".launch.json"):
        launch = os.path.splitext(path)[0] + ".launch.json"
    def encode(word: str | None) -> bytes | None:
        return os.fsencode(word) if word is not None else None

    with tempfile.TemporaryDirectory(prefix="weir-") as folder:
        options = _library.RunOptions(
            launch=encode(launch_file(launch, folder)), only_launch=only_launch, kernel=encode(kernel),
            rules=encode(rules), triton=encode(triton), require=encode(require), timeout=60 if timeout is None else timeout,
            lint=_library.LINT_ALSO, membar=_library.MEMBAR_FINDINGS)
        if project is not None:
            project.fill(options, timeout)
        modules = _library.run(name or "kernel.ttgir", text, path, options)
    library = _library.Library.get()
    verdict = 0
    for each, _, _ in modules:
        verdict = library.weir_verdict_worse(verdict, each)
    inputs = [one for _, words, _ in modules if words for one in json.loads(words)["inputs"]]
    return Result(_library.VERDICTS[verdict], inputs, "".join(text for _, _, text in modules))
