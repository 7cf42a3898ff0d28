#!/usr/bin/env python3
"""What CONTRIBUTING.md names is there: tests/contributing.py

Files and folders in backquotes and in diffs exist, make has the targets, and scripts/test the suites. Words in capitals (NAME, FORMAT) stand for any, and `*` for several files.

The last line is `N passed, N failed`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = "CONTRIBUTING.md"
ROOTS = {path.name for path in ROOT.iterdir()}


def is_there(path):
    """A path from the root; where it has a word in capitals, the folder before that."""
    parts = path.split("/")
    fixed = [part for index, part in enumerate(parts) if not any(re.search(r"\b[A-Z]{2,}\b", each) for each in parts[:index + 1])]
    if (ROOT / path).exists() or len(fixed) < len(parts) and (ROOT / "/".join(fixed)).exists():
        return True
    return "*" in path and any(ROOT.glob(path))


def named(text):
    """Pairs of a kind and a name."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for path in re.findall(r"^(?:---|\+\+\+) [ab]/(\S+)", text, re.M):
        yield "file", path
    for span in re.findall(r"`([^`\n]+)`", prose) + re.findall(r"\]\(([^)#:]+)\)", prose):
        for word in re.findall(r"[\w.*-]+(?:/[\w.*-]*)+", span):
            if word.split("/")[0] in ROOTS - {"build"}:
                yield "file", word.rstrip("/")
    code = "\n".join(re.findall(r"`([^`\n]+)`", prose) + re.findall(r"^    (.*)", prose, re.M))
    for line in re.findall(r"\bmake ((?:-\w+ )*[a-z][a-z -]*)(?![\w/])", code):
        for target in re.findall(r"(?<![\w-])[a-z]+(?:-[a-z]+)*", re.sub(r"-\w+ ", "", line)):
            yield "target", target
    for line in re.findall(r"scripts/test ([a-z ]+)", code):
        for suite in line.split():
            yield "suite", suite


def problems(text, targets, suites):
    count = 0
    for kind, name in sorted(set(named(text))):
        known = {"file": is_there, "target": targets.__contains__, "suite": suites.__contains__}[kind](name)
        count += 1
        if not known:
            yield f"{PAGE}: there is no {kind} {name}"
    yield count


def main():
    text = (ROOT / PAGE).read_text()
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))
    suites = set(re.search(r"^SUITES=\((.*)\)$", (ROOT / "scripts/test").read_text(), re.M)[1].split())
    *wrong, count = problems(text, targets, suites)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    # A page that names what is not there is found out.
    odd = "`src/none.c` [x](docs/none.md) `make none`\n    scripts/test none\n```diff\n--- a/tests/none\n```\n"
    found = len([*problems(odd, targets, suites)]) - 1
    if found != 5 or count < 50:
        print(f"{PAGE}: {found} of 5 wrong names are found, in {count} names")
    failed = len(wrong) + (found != 5 or count < 50)
    print(f"{count + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
