"""weir.check over libweir, and that its structures are those of the header."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import weir
from weir import _library

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = (ROOT / "include/weir/weir.h").read_text()


def fields(name):
    """Names and kinds of a structure's fields in the header."""
    body = re.search(r"typedef struct %s {(.*?)\n} %s;" % (name, name), HEADER, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        function = re.search(r"\(\*(\w+)\)", declaration)
        if function:
            yield function.group(1), "pointer"
            continue
        first, *others = declaration.split(",")
        kind, field = re.search(r"(.*?)(\w+)$", first, re.S).groups()
        for each in [field, *(other.strip() for other in others)]:
            yield each, "pointer" if "*" in kind else kind.strip()


SIZES = {"pointer": 8, "size_t": 8, "uint64_t": 8, "unsigned": 4, "int": 4, "weir_subject": 4, "weir_format": 4}


def differences():
    """Of the structures, by name: what is there, and what the header has."""
    for name, structure in ("weir_run_options", _library.RunOptions), ("weir_write_options", _library.WriteOptions):
        wanted = [(field, SIZES[kind]) for field, kind in fields(name)]
        there = [(field, getattr(structure, field).size) for field, _ in structure._fields_]
        if there != wanted:
            yield f"{name}: {there} and not {wanted}"


if list(differences()):  # calls of the library might end this process: nothing is tried
    raise RuntimeError("python/weir/_library.py is not as include/weir/weir.h: " + "; ".join(differences()))


class Header(unittest.TestCase):
    def test_structures(self):
        self.assertEqual(list(differences()), [])

    def test_version(self):
        version = re.search(r'WEIR_VERSION "([^"]+)"', HEADER).group(1)
        self.assertEqual(weir.__version__, version)
        self.assertEqual(_library.Library.get().weir_version().decode(), version)


class Check(unittest.TestCase):
    def test_findings_of_a_file(self):
        result = weir.check(ROOT / "examples/lapped_ring.ttgir")
        self.assertEqual(result.verdict, "findings")
        self.assertIn("deadlock.lapped", [finding.rule for finding in result.errors])
        self.assertFalse(result)
        self.assertIn("[deadlock.lapped]", str(result))

    def test_text_and_launch(self):
        text = (ROOT / "examples/lapped_ring.ttgir").read_text()
        result = weir.check(text, {"grid": [1, 1, 1], "args": {"tiles": 1}}, only_launch=True, name="ring.ttgir")
        self.assertNotIn("deadlock.lapped", [finding.rule for finding in result.findings])
        self.assertEqual(weir.check(text, {"args": {"tiles": 5}}, only_launch=True).verdict, "findings")

    def test_launch_that_is_wrong(self):
        result = weir.check(ROOT / "examples/lapped_ring.ttgir", {"grid": [0]})
        self.assertEqual(result.verdict, "error")
        self.assertIn("grid", str(result))

    def test_no_file(self):
        with self.assertRaises(OSError):
            weir.check("/nonexistent/kernel.ttgir")

    def test_command(self):
        environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
        told = subprocess.run([sys.executable, "-m", "weir", "--version"], env=environment, capture_output=True, text=True)
        self.assertEqual(told.stdout, f"weir {weir.__version__}\n")


if __name__ == "__main__":
    unittest.main()
