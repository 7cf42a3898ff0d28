"""What a kernel requires of its callers (docs/proofs.md): @weir.requires("K % 64 == 0"), above or below @triton.jit. Each launch is
held against it, and preconditions of a proof for every launch that follow from it are promised."""

from __future__ import annotations

import inspect
import os
import re
import sys
from types import FrameType
from typing import Any, Callable, TypeVar

from . import _library

OWN = "__weir_requires__"
WORD = re.compile(r"(?<![\w.$])[A-Za-z_$][\w$]*")
Function = TypeVar("Function", bound=Callable[..., Any])
RESERVED = {"grid", "block", "min", "max", "size", "of", "strides", "nest"}


def plain_function(function: Any) -> Any:
    """Behind jit, autotune and heuristics."""
    while not inspect.isfunction(function) and hasattr(function, "fn"):
        function = function.fn
    return function


def problem(text: str, names: list[str]) -> tuple[str, int] | None:
    """What is wrong with a requirement, and where; None: nothing is."""
    wrong = _library.requirement_problem(text)
    unknown = next((word for word in WORD.finditer(text) if word.group() not in RESERVED and word.group() not in names), None)
    if wrong is None and unknown and names:
        wrong = f"there is no parameter '{unknown.group()}'; there is {', '.join(names)}", unknown.start()
    return wrong


def requires(*requirements: str) -> Callable[[Function], Function]:
    """For a kernel: what its callers have to fulfill."""

    def state(function: Function) -> Function:
        plain = plain_function(function)
        names = list(inspect.signature(plain).parameters) if inspect.isfunction(plain) else []
        for text in requirements:
            wrong = problem(text, names)
            if wrong:
                raise ValueError(f"{wrong[0]}\n    {text}\n    {' ' * wrong[1]}^")
        setattr(plain, OWN, tuple(requirements) + getattr(plain, OWN, ()))
        return function

    for text in requirements:
        if not isinstance(text, str):
            raise TypeError(f"a requirement is a text, such as \"K % 64 == 0\", not {text!r}")
    return state


def constants(source: Any) -> dict[str, int]:
    """What the compiler has put numbers for, by name."""
    known = {}
    for i, name in enumerate(getattr(source, "signature", {})):
        for key in ((i,), name, i):
            value = getattr(source, "constants", {}).get(key)
            if isinstance(value, int):
                known[name] = int(value)
    return known


def of_compiled(compiled: Any) -> list[str]:
    """Of a compiled kernel, with numbers in the place of its constants."""
    source = getattr(compiled, "src", None)
    texts = getattr(plain_function(getattr(source, "fn", None)), OWN, ())
    known = constants(source) if texts else {}
    return [WORD.sub(lambda word: str(known.get(word.group(), word.group())), text) for text in texts]


def call_site() -> str | None:
    """Where the program makes the launch: "train.py:40"."""
    inner = [os.path.dirname(os.path.abspath(__file__)) + os.sep]
    inner += [os.path.dirname(os.path.abspath(file)) + os.sep for name in ("triton", "torch")
              if (file := getattr(sys.modules.get(name), "__file__", None))]
    frame: FrameType | None = sys._getframe(1)
    while frame:
        file = frame.f_code.co_filename
        if not file.startswith("<") and not os.path.abspath(file).startswith(tuple(inner)):
            return f"{os.path.relpath(file) if file.startswith(os.getcwd() + os.sep) else file}:{frame.f_lineno}"
        frame = frame.f_back
    return None
