"""A program that uses all that the package offers, which mypy --strict accepts: scripts/tests/types reads it; nothing runs it."""

from __future__ import annotations

import os

import weir
import weir.triton


def file(path: str | os.PathLike[str]) -> int:
    project = weir.Project("ci.toml", select="race", ignore=["race.inflight"], severity=["deadlock=warning"], require="given-launch")
    result = weir.check(path, {"grid": [4, 1, 1], "args": {"n": 1000}}, project=project, timeout=5)
    scope: str | None = result.scope
    places: list[str] = [finding.place for finding in result.findings if not finding.suppressed]
    errors: list[weir.Finding] = result.errors
    remarks: list[str] = project.remarks()
    print(result, scope, places, remarks, project.file, project.launch(path))
    return len(errors) if result.verdict != "clean" else 0


@weir.requires("K % 64 == 0")
def kernel(out: int, K: int) -> None: ...


@weir.triton.checked(target="sm_90")
def launches() -> None:
    x = weir.triton.tensor([512], "int32", data=range(512))
    result = weir.triton.check(kernel, (4,), x, 64)
    assert isinstance(result, weir.Result) and x.numel() == 512


def block() -> list[str]:
    try:
        with weir.triton.checked() as watch:
            kernel(1, K=64)
    except weir.triton.Findings as error:
        return [name for name, _ in error.results]
    return watch.notes
