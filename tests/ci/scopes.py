#!/usr/bin/env python3
"""That no output calls a kernel clean at every launch where that was not earned: tests/ci/scopes.py WEIR

Kernels with proofs whose preconditions are fulfilled, promised, or neither, and with launches that a proof does not cover, in every output that has a
scope: text, reports, JSON, SARIF, JUnit, workflow commands, merged documents, libweir by Python, and --require.

The last line is `N passed, N failed`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from counting import finish, test
from sarif_shape import expect

ROOT = Path(__file__).resolve().parents[2]
WEIR = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/weir")
sys.path.insert(0, str(ROOT / "python"))

AXPY = (ROOT / "tests/golden/axpy.mlir").read_text()  # clean at every launch where grid.y == 1, grid.z == 1
ONE = AXPY.replace("arith.addi %base, %range", "arith.addi %range, %range")  # each program writes the same: one grid
WIDE = AXPY.replace("arith.constant 128 : i32", "arith.constant 67108864 : i32")
MEMORY = {"tensor": {"shape": [1 << 20]}}
FITS = {"grid": [4, 1, 1], "args": {"n": 512, "x": MEMORY, "y": MEMORY, "a": 1.0}}
SHARED = {"tensor": {"shape": [1 << 20], "buffer": "b"}}


def launch(**parts):
    return {**FITS, **{key: value for key, value in parts.items() if key != "args"}, "args": {**FITS["args"], **parts.get("args", {})}}


# What it is; the kernel; its launches; promises; whether it is clean at every launch. None: it need not be clean.
CASES = [
    ("no launch, nothing promised", AXPY, [], [], False),
    ("a launch that is covered", AXPY, [FITS], [], True),
    ("two launches that are covered", AXPY, [FITS, launch(grid=[8, 1, 1], args={"n": 1000})], [], True),
    ("a launch that wraps around", WIDE, [launch(grid=[64, 1, 1])], [], None),
    ("a launch in place", AXPY, [launch(args={"x": SHARED, "y": SHARED})], [], None),
    ("a launch that may overlap the one before it", AXPY, [launch(dependent=True)], [], None),
    ("a launch that others write while it runs", AXPY, [launch(args={"y": {"tensor": {"shape": [1 << 20], "peers": True}}})], [], None),
    ("one of two launches is covered", AXPY, [FITS, launch(args={"x": SHARED, "y": SHARED})], [], None),
    ("the other one of two launches is covered", AXPY, [launch(args={"x": SHARED, "y": SHARED}), FITS], [], None),
    ("all of it promised", AXPY, [], ["grid.y == 1", "grid.z <= 1"], True),
    ("half of it promised", AXPY, [], ["grid.z == 1"], False),
    ("too little promised", AXPY, [], ["grid.y <= 2", "grid.z == 1"], False),
    ("promised in vain", AXPY, [], ["grid.y == 1", "grid.z == 1", "n > 3", "n < 3"], False),
    ("promised of another name", AXPY, [], ["gridy == 1", "grid.z == 1"], False),
    ("all of it promised, and a launch that is not covered", AXPY, [launch(args={"x": SHARED, "y": SHARED})], ["grid.y == 1", "grid.z == 1"], None),
    ("one grid alone", ONE, [], [], False),
    ("one grid alone, which is promised", ONE, [], ["grid.x == 1", "grid.y == 1", "grid.z == 1"], False),
    ("one grid alone, which is given", ONE, [launch(grid=[1, 1, 1])], [], False),
]

# A verdict without "where", a count, or the name of the scope as a value.
CLAIM = re.compile(r'clean \((\d+ )?every launch[,)]|\(\d+ every launch\b|"scope": "every-launch"|"every-launch": [1-9]|value="every-launch"|clean: every launch')


def weir(*words):
    done = subprocess.run([WEIR, *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def write(folder, case):
    _, text, launches, promises, _ = case
    (folder / "k.mlir").write_text(text)
    for i, each in enumerate(launches):
        (folder / ("k.launch.json" if i == 0 else f"k.launch.{i + 1}.json")).write_text(json.dumps(each))
    (folder / "p.toml").write_text(f'[[kernel]]\nname = "*"\nrequires = {json.dumps(promises)}\n' if promises else "")
    return folder / "k.mlir", ["--no-cache", "--config", folder / "p.toml"]


def outputs(folder, case):
    """Name and text of each."""
    kernel, options = write(folder, case)
    yield "text", weir("check", *options, kernel)[1].split("files: ", 1)[-1]  # the verdict of the kernel says where
    for form in ("json", "sarif", "junit", "github", "checkstyle", "gitlab"):
        status, text = weir("check", *options, "--format", form, kernel)
        if form in ("json", "sarif"):
            other = folder / f"again.{form}"
            other.write_text(text)
            yield f"merged {form}", weir("merge", other, other)[1]
        yield form, text
    if not case[3] and len(case[2]) < 2:  # a report reads no project file, and one launch
        for form in ("text", "markdown", "html", "json"):
            yield f"report, {form}", weir("report", "--format", form, kernel)[1]


def no_output_claims_what_was_not_earned():
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            earned = case[4]
            for name, text in outputs(Path(folder), case):
                if not earned:
                    found = CLAIM.search(text)
                    expect(found is None, f"{case[0]}: {name} says '{found and found.group()}'")
                elif name in ("text", "json", "sarif", "junit", "github", "merged json", "merged sarif"):
                    expect(CLAIM.search(text) is not None, f"{case[0]}: {name} does not say that it holds at every launch")


def what_is_required_has_to_be_earned():
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            kernel, options = write(Path(folder), case)
            status, text = weir("check", *options, "--require", "every-launch", kernel)
            expect(status == 0 if case[4] else status in (1, 3), f"{case[0]}: status {status}: {text}")


def python_has_the_same_scope():
    import weir as library

    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            kernel, options = write(Path(folder), case)
            if len(case[2]) < 2:
                result = library.check(kernel, project=library.Project(options[-1]))
                expect((result.scope == "every-launch") == bool(case[4]), f"{case[0]}: {result.scope}")


for work in (no_output_claims_what_was_not_earned, what_is_required_has_to_be_earned, python_has_the_same_scope):
    test(work.__name__, work)
finish()
