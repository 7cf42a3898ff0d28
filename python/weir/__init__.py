"""Weir checks synchronization in GPU kernels: races, deadlocks, missing barriers and fences.

    result = weir.check("kernel.ttgir")           # or the IR itself, as text; launch= takes a file or a dict
    if result.verdict != "clean":
        print(result)

weir.triton watches the kernels of a running program."""

import json
import os
import tempfile

__version__ = "0.1.0"
__all__ = ["Finding", "Result", "check"]


class Finding:
    """One thing that is wrong, or that a person should look at: `severity` is error, warning or note."""

    def __init__(self, words, kernel):
        self.kernel = kernel
        self.rule, self.severity, self.message = words["rule"], words["severity"], words["message"]
        self.why, self.fix, self.launch = words["why"], words["fix"], words["launch"]
        self.places, self.witness = words["places"], words["witness"]

    @property
    def place(self):
        """File and line of the source, as far as they are known: "kernel.py:12"."""
        first = self.places[0] if self.places else {}
        if first.get("file"):
            return f"{first['file']}:{first['line']}"
        return f"IR line {first['ir_line']}" if first.get("ir_line") else ""

    def __repr__(self):
        return f"<{self.severity} {self.rule} in {self.kernel} at {self.place}: {self.message}>"


class Result:
    """Of a check: `verdict` is clean, findings, incomplete or error; `findings` and `incomplete` say why; `str` of it is
    what `weir check` prints."""

    def __init__(self, verdict, inputs, text):
        self.verdict, self.inputs, self.text = verdict, inputs, text
        self.findings = [Finding(words, each["kernel"]) for each in inputs for words in each["findings"]]
        self.incomplete = [reason for each in inputs for reason in each["incomplete"]]

    def add_incomplete(self, sentences):
        """Of what was not looked at for reasons that the check itself does not know."""
        if sentences and self.verdict == "clean":
            self.verdict = "incomplete"
        self.incomplete += [{"reason": sentence, "op": "", "ir_line": 0} for sentence in sentences]
        self.text += "".join(f"weir: {sentence}\n" for sentence in sentences)

    @property
    def errors(self):
        return [finding for finding in self.findings if finding.severity == "error"]

    def __bool__(self):
        """Whether it is clean."""
        return self.verdict == "clean"

    def __str__(self):
        return self.text


def is_text(source):
    return isinstance(source, str) and ("\n" in source or "module" in source and "{" in source)


def launch_file(launch, folder):
    """The path of a launch file: a dict is written to the folder first."""
    if launch is None or isinstance(launch, (str, os.PathLike)):
        return os.fspath(launch) if launch is not None else None
    path = os.path.join(folder, "launch.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(launch, file)
    return path


def check(source, launch=None, *, only_launch=False, kernel=None, rules=None, triton=None, timeout=60, name=None):
    """Checks the kernels of a file of Triton GPU IR, or of IR that is given as text. `launch` is a launch file, or a dict
    with what one says (docs/launch.md); other launches are chosen beside it, unless `only_launch`. Without `launch`,
    K.launch.json beside K.ttgir is taken, if it is there."""
    from . import _library

    text = source if is_text(source) else None
    path = None if text is not None else os.fspath(source)
    if launch is None and path is not None and os.path.exists(os.path.splitext(path)[0] + ".launch.json"):
        launch = os.path.splitext(path)[0] + ".launch.json"
    encode = lambda word: os.fsencode(word) if word is not None else None
    with tempfile.TemporaryDirectory(prefix="weir-") as folder:
        options = _library.RunOptions(
            launch=encode(launch_file(launch, folder)), only_launch=only_launch, kernel=encode(kernel),
            rules=encode(rules), triton=encode(triton), timeout=timeout, lint=_library.LINT_ALSO,
            membar=_library.MEMBAR_FINDINGS)
        modules = _library.run(name or "kernel.ttgir", text, path, options)
    library = _library.Library.get()
    verdict = 0
    for each, _, _ in modules:
        verdict = library.weir_verdict_worse(verdict, each)
    inputs = [one for _, words, _ in modules if words for one in json.loads(words)["inputs"]]
    return Result(_library.VERDICTS[verdict], inputs, "".join(text for _, _, text in modules))
