"""weir.check over libweir, and that its structures are those of the header."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import weir
from weir import _library

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = (ROOT / "include/weir/weir.h").read_text()


def fields(name):
    """Names and kinds of a structure's fields in the header."""
    body = re.search(r"typedef struct %s {(.*?)\n} %s;" % (name, name), HEADER, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    body = re.sub(r"union {([^;]*;).*?}", r"\1", body, flags=re.S)  # by its first name
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        function = re.search(r"\(\*(\w+)\)", declaration)
        if function:
            yield function.group(1), "pointer"
            continue
        first, *others = declaration.split(",")
        kind, field = re.search(r"(.*?)(\w+)$", first, re.S).groups()
        for each in [field, *(other.strip() for other in others)]:
            yield each, "pointer" if "*" in kind else kind.strip()


SIZES = {"pointer": 8, "size_t": 8, "uint64_t": 8, "double": 8, "uint32_t": 4, "weir_severity": 4, "unsigned": 4, "int": 4, "weir_subject": 4, "weir_format": 4}


def differences():
    """Of the structures, by name: what is there, and what the header has."""
    for name, structure in (("weir_run_options", _library.RunOptions), ("weir_write_options", _library.WriteOptions),
                            ("weir_remark", _library.Remark)):
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

    def test_scopes(self):
        ring, closed = ROOT / "tests/kernels/blocks-phase-ok.ttgir", ROOT / "tests/kernels/scope/closed.ttgir"  # the loop of the first is not proved
        launch = {"grid": [1, 1, 1], "args": {"n": 5, "skipped": 2}}
        self.assertEqual(weir.check(ring).scope, "tried-launches")
        self.assertEqual(weir.check(ring, launch).scope, "given-launch")
        self.assertEqual(weir.check(closed).scope, "every-launch")
        proved = weir.check(ROOT / "tests/golden/axpy.mlir")  # where grid.y == 1, grid.z == 1
        self.assertEqual((proved.inputs[0]["scope"], proved.inputs[0]["fulfilled"], proved.scope), ("tried-launches", False, "tried-launches"))
        self.assertEqual(weir.check(ring, launch, require="given-launch").verdict, "clean")
        less = weir.check(ring, require="given-launch")
        self.assertEqual((less.verdict, less.scope), ("incomplete", None))
        self.assertIn("given-launch is required", less.incomplete[0]["reason"])
        self.assertEqual(weir.check(ring, launch, project=weir.Project(False, require="every-launch")).verdict, "incomplete")
        self.assertEqual(weir.check(ring, require="any").verdict, "error")
        self.assertEqual(weir.check(ring, project=weir.Project(False, require="any")).verdict, "error")

    def test_promises(self):
        axpy, memory = ROOT / "tests/golden/axpy.mlir", {"tensor": {"shape": [512]}}
        launch = {"grid": [4, 1, 1], "args": {"n": 512, "x": memory, "y": memory, "a": 1.0}, "requires": ["n % 64 == 0"], "at": "train.py:3"}
        self.assertEqual([finding.rule for finding in weir.check(axpy, launch).findings], ["promise.missing"])
        launch["args"]["n"] = 500
        broken = weir.check(axpy, launch).errors
        self.assertEqual([(finding.rule, finding.place) for finding in broken], [("promise.broken", "train.py:3")])
        self.assertEqual(weir.check(axpy, {**launch, "requires": ["n % 64"]}).verdict, "error")

    def test_requires(self):
        def kernel(a, K, BLOCK):
            pass

        self.assertIs(weir.requires("K % BLOCK == 0", "strides of a nest", "a.shape[0] >= min(K, 4)")(weir.requires("grid.y == 1")(kernel)), kernel)
        self.assertEqual(kernel.__weir_requires__, ("K % BLOCK == 0", "strides of a nest", "a.shape[0] >= min(K, 4)", "grid.y == 1"))
        for text, problem in (("K % 64 = 0", r"'=='\n    K % 64 = 0\n           \^"), ("k > 1", "no parameter 'k'; there is a, K, BLOCK\n    k > 1\n    \\^"), ("", "empty")):
            with self.assertRaisesRegex(ValueError, problem):
                weir.requires(text)(kernel)
        with self.assertRaises(TypeError):
            weir.requires(64)

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
        self.assertRegex(told.stdout, rf"^weir {re.escape(weir.__version__)}( \(commit [0-9a-f]+\))?\n$")


# A copy that nobody waits for is read, at line 3 of k.py.
KERNEL = """#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
!bar = !ttg.memdesc<1xi64, #bars, #smem, mutable>
!buffer = !ttg.memdesc<64x64xf16, #tile, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @races(%a: !tt.tensordesc<tensor<64x64xf16, #tile>>) {
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !bar
    %buf = ttg.local_alloc : () -> !buffer
    ttng.init_barrier %bar, 1 : !bar
    ttng.barrier_expect %bar, 8192, %true : !bar loc("k.py":2:3)
    ttng.async_tma_copy_global_to_local %a[%zero, %zero] %buf, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #tile>>, !bar -> !buffer loc("k.py":2:3)
    %v = ttg.local_load %buf : !buffer -> tensor<64x64xf16, #blocked> loc("k.py":3:3)
    ttng.wait_barrier %bar, %zero : !bar
    tt.return
  }
}
"""


class Projects(unittest.TestCase):
    """A project file counts for the library as it does for `weir check`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="weir-test-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.folder = pathlib.Path(folder.name)
        os.chdir(folder.name)
        self.text = KERNEL

    def project(self, text):
        pathlib.Path("weir.toml").write_text(text)
        return weir.Project()

    def check(self, project):
        return weir.check(self.text, project=project)

    def test_no_file(self):
        project = weir.Project()
        self.assertIsNone(project.file)
        result = self.check(project)
        self.assertEqual(result.verdict, "findings")
        self.assertEqual([(finding.rule, finding.suppressed) for finding in result.errors], [("race.raw", "")])

    def test_ignored_rules(self):
        project = self.project('[rules]\nignore = ["race"]\n')
        self.assertEqual(project.file, "weir.toml")
        result = self.check(project)
        self.assertEqual(result.verdict, "clean", str(result))
        self.assertEqual([finding.suppressed for finding in result.findings if finding.rule == "race.raw"], ["config"])
        self.assertEqual(result.errors, [])
        self.assertEqual(self.check(weir.Project(False)).verdict, "findings")
        self.assertEqual(self.check(None).verdict, "findings")

    def test_selected_rules_and_options_over_the_file(self):
        self.project('[rules]\nselect = ["deadlock"]\n')
        self.assertEqual(self.check(weir.Project()).verdict, "clean")
        self.assertEqual(self.check(weir.Project(select="race")).verdict, "findings")
        self.assertEqual(self.check(weir.Project(select=["race", "deadlock"], ignore="race.raw")).verdict, "clean")

    def test_severity(self):
        result = self.check(self.project('[severity]\n"race.raw" = "warning"\n'))
        self.assertEqual([finding.severity for finding in result.findings if finding.rule == "race.raw"], ["warning"])
        self.assertEqual(result.verdict, "findings")
        self.assertEqual(self.check(weir.Project(severity=["race.raw=note"])).verdict, "clean")

    def test_comment_also_after_another_folder(self):
        source = "def k():\n  copy()\n  load()  # weir: ignore[race.raw] the reader is asleep\n"
        pathlib.Path("k.py").write_text(source)
        project = weir.Project()
        (self.folder / "elsewhere").mkdir()
        os.chdir("elsewhere")
        result = self.check(project)
        self.assertEqual(result.verdict, "clean", str(result))
        self.assertEqual([(f.suppressed, f.reason) for f in result.findings if f.rule == "race.raw"],
                         [("inSource", "the reader is asleep")])
        self.assertEqual(project.remarks(), [])

    def test_comment_that_is_not_honored(self):
        pathlib.Path("k.py").write_text("def k():\n  copy()\n  load()  # weir: ignore[race.raw]\n")
        project = weir.Project()
        self.assertEqual(self.check(project).verdict, "findings")
        self.assertRegex(project.remarks()[0], r"k\.py:3: warning: .*gives no reason")

    def test_baseline(self):
        pathlib.Path("k.ttgir").write_text(self.text)
        command = [os.environ.get("WEIR", str(ROOT / "build/weir")), "check", "--baseline", "known.json"]
        subprocess.run([*command, "--update-baseline", "k.ttgir"], capture_output=True, check=True)
        result = self.check(self.project('baseline = "known.json"\n'))
        self.assertEqual(result.verdict, "clean", str(result))
        self.assertEqual([f.suppressed for f in result.findings if f.rule == "race.raw"], ["baseline"])

    def test_launch_and_timeout(self):
        pathlib.Path("ring.launch").write_text('{"grid": [1, 1, 1], "args": {"tiles": 1}}')
        pathlib.Path("ring.ttgir").write_text((ROOT / "examples/lapped_ring.ttgir").read_text())
        project = self.project('timeout = 100\n[[launch]]\npath = "ring.ttgir"\nfile = "ring.launch"\n')
        result = weir.check("ring.ttgir", only_launch=True, project=project)
        self.assertNotIn("deadlock.lapped", [finding.rule for finding in result.findings])
        options = _library.RunOptions(timeout=60)
        project.fill(options, None)
        self.assertEqual(options.timeout, 100)
        options = _library.RunOptions(timeout=7)
        project.fill(options, 7)
        self.assertEqual(options.timeout, 7)

    def test_what_is_wrong(self):
        for text in '[rules]\nignore = ["racy"]\n', 'sevrity = { race = "note" }\n', 'baseline = "none.json"\n':
            with self.assertRaises(weir.ProjectError):
                self.project(text)
        os.unlink("weir.toml")
        with self.assertRaises(weir.ProjectError):
            weir.Project(ignore="racy")
        with self.assertRaises(weir.ProjectError):
            weir.Project("none.toml")

    def test_threads(self):
        project, verdicts = self.project('[rules]\nignore = ["race.raw"]\n'), []
        threads = [threading.Thread(target=lambda: verdicts.append(self.check(project).verdict)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(verdicts, ["clean"] * 4)


if __name__ == "__main__":
    unittest.main()
