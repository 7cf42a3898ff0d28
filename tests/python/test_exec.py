"""weir exec with releases of Triton, without a GPU. TRITON_WHEELS=DIR has a folder for each release, its wheel unpacked;
without it the Triton of this Python is taken. Skipped where there is neither. TRITON_RELEASES names those that are tried
(3.6.0 and 3.9.0, of those that are there)."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"
EXAMPLES = ROOT / "examples"
WEIR = os.environ.get("WEIR", str(ROOT / "build" / "weir"))


def releases():
    """Folders for PYTHONPATH, "" for what this Python has by itself."""
    wheels = os.environ.get("TRITON_WHEELS")
    if wheels:
        wanted = os.environ.get("TRITON_RELEASES", "3.6.0 3.9.0").split()
        return [str(pathlib.Path(wheels) / name) for name in wanted if (pathlib.Path(wheels) / name / "triton").is_dir()]
    return [""] if importlib.util.find_spec("triton") else []


RELEASES = releases()


def has(module):
    """Whether Python with any of the releases has it."""
    return bool(importlib.util.find_spec(module) or RELEASES and all((pathlib.Path(release) / module).is_dir() for release in RELEASES))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def exec(self, *words, release="", options=(), environment=None):
        path = os.pathsep.join(filter(None, [release, str(ROOT / "python")]))
        cache = pathlib.Path(tempfile.gettempdir()) / f"weir-test-cache-{os.getuid()}" / (pathlib.Path(release).name or "own")
        words = [WEIR, "exec", *options, "--", *map(str, words)]
        return subprocess.run(words, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PYTHONPATH": path, "TRITON_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore",
                                   **(environment or {})})

    def launches(self, name):
        return [json.loads(path.read_text()) for path in sorted((self.folder / "kept").glob(f"{name}*.launch*.json"))]


class Plain(Case):
    """No Triton is needed."""

    def test_no_python(self):
        result = self.exec("true")
        self.assertEqual(result.returncode, 3)
        self.assertIn("nothing was captured: the program started no Python", result.stderr)

    def test_no_triton(self):
        result = self.exec(sys.executable, "-c", "print('hello')")
        self.assertEqual((result.returncode, result.stdout), (3, "hello\n"))
        self.assertIn("did not import triton", result.stderr)

    def test_isolated(self):
        self.assertIn("that honors PYTHONPATH", self.exec(sys.executable, "-I", "-c", "1").stderr)

    def test_failing_program(self):
        result = self.exec(sys.executable, "-c", "import sys; sys.exit(7)")
        self.assertEqual(result.returncode, 3)
        self.assertIn("exited with status 7", result.stderr)

    def test_signal(self):
        result = self.exec(sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        self.assertEqual(result.returncode, 3)
        self.assertIn("killed by a signal", result.stderr)

    def test_started_without_variables(self):
        """What Weir will not see is reported, however it was started; what can launch no kernel is not reported."""
        for words in (["env", "-i", sys.executable, "-c", "1"], ["sh", "-c", f"LD_PRELOAD= {sys.executable} -c 1"],
                      [sys.executable, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', '1'], env={})"],
                      [sys.executable, "-c", "import os, sys; os.posix_spawn(sys.executable, ['python', '-c', '1'], {})"],
                      [sys.executable, "-c", "import os; os.environ.clear(); os.system('true')"]):
            self.assertRegex(self.exec(*words).stderr, "was started without LD_PRELOAD as weir exec has set it: what it launches")
        self.assertIn("that has Python heed no variable", self.exec("sh", "-c", f"{sys.executable} -I -c 1").stderr)
        for words in (["env", "-i", "/bin/true"], ["sh", "-c", f"{sys.executable} -c 1"]):
            self.assertNotIn("was started", self.exec(*words).stderr)

    def test_left_running(self):
        result = self.exec("sh", "-c", "sleep 5 &")
        self.assertIn("1 process of the program is still running (sleep), and what it launches from here on is not checked", result.stderr)
        forked = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    os.fork() or time.sleep(5)\n    os._exit(0)"
        self.assertIn("is still running (python", self.exec(sys.executable, "-c", forked).stderr)

    def test_no_program(self):
        self.assertEqual(self.exec("/nonexistent/program").returncode, 2)

    def test_status_127_is_the_programs_own(self):
        result = self.exec("sh", "-c", "exit 127")
        self.assertEqual(result.returncode, 3)
        self.assertIn("sh exited with status 127", result.stderr)

    def test_target(self):
        for wrong in "", "s", "sm", "sm_", "sm_90x", "sm_90aa", "gfx", "gfx94z", "90", "hopper":
            result = self.exec("true", options=["--target", wrong])
            self.assertEqual(result.returncode, 2, wrong)
            self.assertIn("--target is a GPU", result.stderr)
        for right in "sm_90", "sm90", "sm_100a", "sm_103f", "gfx942", "gfx90a":
            self.assertEqual(self.exec("true", options=["--target", right]).returncode, 3, right)

    def test_process_that_is_left_behind(self):
        result = self.exec("sh", "-c", f"{sys.executable} -c 'import time; time.sleep(8)' >/dev/null 2>&1 &")
        self.assertEqual(result.returncode, 3)
        self.assertIn("1 process of the program is still running", result.stderr)

    def test_folder_that_is_gone(self):
        """What cannot be recorded does not keep the program from running."""
        result = self.exec(sys.executable, "-c", "import os, shutil; shutil.rmtree(os.environ['WEIR_CAPTURE'])\n"
                         "import triton; print('runs')", release=str(self.old_triton()))
        self.assertIn("runs", result.stdout)
        self.assertEqual(result.returncode, 3)

    def test_keep_takes_an_empty_folder(self):
        (self.folder / "file").write_text("")
        result = self.exec("true", options=["--keep", str(self.folder)])
        self.assertEqual(result.returncode, 2)
        self.assertIn("new or empty", result.stderr)

    def test_hidden_sitecustomize_runs(self):
        (self.folder / "sitecustomize.py").write_text("print('customized')\n")
        result = self.exec(sys.executable, "-c", "1", release=str(self.folder))
        self.assertEqual(result.stdout, "customized\n")

    def old_triton(self):
        """A folder with what looks like a Triton that is not supported."""
        package = self.folder / "triton"
        for name in "triton", "triton/compiler", "triton/runtime":
            (self.folder / name).mkdir()
            (self.folder / name / "__init__.py").write_text("")
        (package / "__init__.py").write_text("__version__ = '2.1.0'\n")
        (package / "compiler/compiler.py").write_text("class CompiledKernel: pass\n")
        (package / "runtime/jit.py").write_text("class JITFunction: pass\n")
        return self.folder

    def test_old_triton(self):
        result = self.exec(sys.executable, "-c", "import triton", release=str(self.old_triton()))
        self.assertEqual(result.returncode, 3)
        self.assertIn("Triton 2.1.0 is not supported", result.stderr)


@unittest.skipUnless(RELEASES, "no Triton: TRITON_WHEELS=DIR names unpacked wheels")
class Captured(Case):
    def each(self):
        for release in RELEASES:
            shutil.rmtree(self.folder / "kept", ignore_errors=True)
            yield release

    def keep(self):
        return ["--keep", str(self.folder / "kept")]

    def test_broken_and_right(self):
        for release in self.each():
            # The cache of Triton goes by the text of a kernel, and keeps the name of the file that it came from first.
            own = {"TRITON_CACHE_DIR": str(self.folder / "cache" / pathlib.Path(release).name)}
            result = self.exec(sys.executable, EXAMPLES / "copy_tiles.py", release=release, environment=own)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertRegex(result.stdout, r"copy_tiles.py:\d+:\d+: error: .*\[race.war\]")
            result = self.exec(sys.executable, EXAMPLES / "copy_tiles.py", "right", release=release, environment=own)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_many_ways(self):
        for release in self.each():
            result = self.exec(sys.executable, SCRIPTS / "many.py", release=release, options=self.keep())
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("compiled for sm_90; none was run", result.stderr)
            adds, gathers = self.launches("add"), self.launches("gather")
            self.assertEqual(sorted(launch["grid"][0] for launch in adds), [4, 8, 8], release)
            self.assertEqual(sum("buffer" in json.dumps(launch) for launch in adds), 1)
            self.assertEqual(sorted(launch["grid"][0] for launch in gathers), [1, 2, 3, 4, 5])
            self.assertEqual(gathers[0]["args"]["rows"]["tensor"]["data"], [3, 1, 2, 0, 0])
            self.assertEqual(gathers[0]["args"]["table"]["descriptor"]["block"], [64, 64])
            self.assertEqual(gathers[0]["args"]["scale"], 0.5)
            again = subprocess.run([WEIR, "check", str(self.folder / "kept")], capture_output=True, text=True)
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)

    def test_launches_that_a_proof_covers(self):
        for release in self.each():
            result = self.exec(sys.executable, SCRIPTS / "covered.py", release=release, options=[*self.keep(), "--format", "json"])
            self.assertRegex(result.stderr, r"weir: 240 of 242 launches are covered by a proof for every launch \(2 of 2 kernels proved\)", release)
            self.assertEqual(json.loads(result.stdout)["program_launches"], {"made": 242, "covered": 240})
            self.assertIn("more than 100 different launches", result.stderr)  # of those that are not covered, one comes after these
            result = self.exec(sys.executable, SCRIPTS / "covered.py", release=release, options=["--prove-time", "0", "--format", "json"])
            self.assertNotIn("program_launches", json.loads(result.stdout))

    def test_what_callers_promise(self):
        for release in self.each():
            script, options = SCRIPTS / "promised.py", ["--no-config", "--require", "every-launch", "--strict"]
            right = self.exec(sys.executable, script, release=release, options=options)
            self.assertEqual(right.returncode, 0, right.stdout + right.stderr)
            self.assertIn("150 of 150 launches are covered", right.stderr)
            self.assertIn("1 kernel has more different launches than are kept", right.stderr)
            wrong = self.exec(sys.executable, script, "broken", release=release, options=options)
            self.assertEqual(wrong.returncode, 1, wrong.stdout + wrong.stderr)
            self.assertRegex(wrong.stdout, r"promised.py:22: error: .* requires of its callers: size % 128 == 0: size is 16016 \[promise.broken\]")
            # The same of what the project file says, which no launch says itself.
            project = self.folder / "weir.toml"
            project.write_text('[[kernel]]\nname = "add"\nrequires = ["size < 19200"]\n')
            wrong = self.exec(sys.executable, script, release=release, options=["--config", str(project)])
            self.assertEqual(wrong.returncode, 1, wrong.stdout + wrong.stderr)
            self.assertIn("size < 19200: size is 19200", wrong.stdout)

    def test_targets(self):
        for release in self.each():
            # Before 3.9, Triton for AMD needs PyTorch.
            for target in ("sm_80", "sm_100", "gfx942") if release.endswith("3.9.0") else ("sm_80",):
                shutil.rmtree(self.folder / "kept", ignore_errors=True)
                result = self.exec(sys.executable, SCRIPTS / "many.py", release=release,
                                 options=["--target", target, *self.keep()])
                self.assertEqual(result.returncode, 0, f"{target}: {result.stdout}{result.stderr}")
                text = next((self.folder / "kept").glob("gather*.ttgir")).read_text()
                self.assertIn(f"hip:{target}" if target[0] == "g" else f"cuda:{target[3:]}", text)

    def test_views_of_one_tensor(self):
        for release in self.each():
            result = self.exec(sys.executable, SCRIPTS / "overlapping.py", release=release)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertIn("overlapping.py", result.stdout)
            self.assertIn("[race.", result.stdout)
            result = self.exec(sys.executable, SCRIPTS / "overlapping.py", "apart", release=release)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_other_processes(self):
        for release in self.each():
            for method in "fork", "spawn", "forkserver":
                result = self.exec("sh", "-c", f"{sys.executable} {SCRIPTS / 'spawned.py'} {method}", release=release)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn("weir: 1 kernel, 1 different launch", result.stderr)

    def test_ranks_of_one_program(self):
        """As torchrun starts them: all at once, into one folder; what all of them launch is kept once, what one does, too."""
        script = self.folder / "ranks.py"
        script.write_text("import os, subprocess, sys\nsys.path.insert(0, %r)\n"
                          "if 'RANK' not in os.environ:\n"
                          "    ranks = [subprocess.Popen([sys.executable, __file__], env=dict(os.environ, RANK=str(i)))\n"
                          "             for i in range(4)]\n"
                          "    sys.exit(max(rank.wait() for rank in ranks))\n"
                          "import weir.triton, test_kernels as t\n"
                          "rank = int(os.environ['RANK'])\n"
                          "for grid in [*range(1, 11), 20 + rank]:\n"
                          "    t.fill[(grid,)](weir.triton.tensor([128 * grid], 'int32'), 128, 128)\n" % str(SCRIPTS))
        for release in self.each():
            result = self.exec(sys.executable, script, release=release, options=self.keep())
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("1 kernel, 14 different launches of 44", result.stderr)
            self.assertEqual(sorted(launch["grid"][0] for launch in self.launches("fill")), [*range(1, 11), 20, 21, 22, 23])
            self.assertEqual(len(list((self.folder / "kept").glob("*.ttgir"))), 1)
            self.assertEqual(list((self.folder / "kept").glob("*.part")), [])

    def test_failed_program_is_incomplete(self):
        script = self.folder / "fails.py"
        script.write_text("import sys\nsys.path.insert(0, %r)\nimport spawned\nspawned.work()\nsys.exit(5)\n" % str(SCRIPTS))
        for release in self.each():
            result = self.exec(sys.executable, script, release=release)
            self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
            self.assertIn("exited with status 5", result.stderr)

    def test_program_that_ends_without_a_word(self):
        """That launches were not kept is known, though nothing is said at the end; those of an empty grid are none."""
        script = self.folder / "ends.py"
        script.write_text("import os, sys\nsys.path.insert(0, %r)\nimport weir.triton, test_kernels as t\n"
                          "for i in range(int(sys.argv[1])):\n"
                          "    t.fill[(i %% 101,)](weir.triton.tensor([128 * 101], 'int32'), 128, 128)\n"
                          "os._exit(0)\n" % str(SCRIPTS))
        for release in self.each():
            result = self.exec(sys.executable, script, 5, release=release, options=self.keep())
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertEqual(sorted(launch["grid"][0] for launch in self.launches("fill")), [1, 2, 3, 4])
            again = subprocess.run([WEIR, "check", str(self.folder / "kept")], capture_output=True, text=True)
            self.assertEqual((again.returncode, again.stdout), (0, result.stdout))
        script.write_text(script.read_text().replace("(i % 101,)", "(1 + i,)"))
        result = self.exec(sys.executable, script, 101, release=RELEASES[0])
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("1 kernel has more different launches than are kept", result.stderr)  # a proof covers them
        result = self.exec(sys.executable, script, 101, release=RELEASES[0], options=["--prove-time", "0"])
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("more than 100 different launches", result.stderr)

    def test_process_that_was_not_captured(self):
        (self.folder / "old").mkdir()
        script = self.folder / "two.sh"
        script.write_text(f"{sys.executable} {SCRIPTS / 'spawned.py'} fork && "
                          f"PYTHONPATH=${{PYTHONPATH%%:*}}:{self.folder} {sys.executable} -c 'import triton'\n")
        Plain.old_triton(self)
        result = self.exec("sh", script, release=RELEASES[0])
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assertIn("a process was not captured: RuntimeError: Triton 2.1.0 is not supported", result.stderr)

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_another_user(self):
        """A process that has become another user is captured like the others."""
        if not all(folder.stat().st_mode & 1 for folder in pathlib.Path(RELEASES[0] or sys.executable).resolve().parents):
            self.skipTest("another user cannot read this Triton")
        self.folder.chmod(0o777)
        script = self.folder / "other.py"
        script.write_text("import os, sys\nsys.path.insert(0, %r)\nimport test_kernels as t\nt.test_right()\n"
                          "os.environ['TRITON_CACHE_DIR'] = %r\nos.setuid(65534)\nt.test_racy()\nos._exit(0)\n"
                          % (str(SCRIPTS), str(self.folder / "cache")))
        result = self.exec(sys.executable, script, release=RELEASES[0])
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("[race.waw]", result.stdout)

    def test_watch(self):
        code = ("import sys; sys.path.insert(0, %r)\nimport weir.triton, test_kernels as t\n"
                "r = weir.triton.check(t.fill, (4,), weir.triton.tensor([512], 'int32'), 64, 128)\n"
                "assert r.verdict == 'findings' and r.errors[0].rule.startswith('race'), r\n"
                "with weir.triton.checked(): t.test_right()\n"
                "try:\n    weir.triton.checked(t.test_racy)()\n    sys.exit('not raised')\n"
                "except weir.triton.Findings as findings: assert 'test_kernels.py' in str(findings)\n"
                "watch = weir.triton.watch(raises=True)\n"
                "try:\n    t.test_racy()\n    sys.exit('not raised at the launch')\nexcept weir.triton.Findings: pass\n"
                % str(SCRIPTS))
        for release in self.each():
            environment = dict(os.environ, PYTHONPATH=os.pathsep.join([release, str(ROOT / "python")]), PYTHONWARNINGS="ignore")
            result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def python(self, release, *words):
        """In the test's folder, with the package of this tree."""
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([release, str(ROOT / "python")]), PYTHONWARNINGS="ignore")
        return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, env=environment, cwd=self.folder)

    def pytest(self, release, *words):
        return self.python(release, "-m", "pytest", "-q", "-p", "weir.pytest_plugin", "-p", "no:cacheprovider", "--weir", *words)

    @unittest.skipUnless(has("pytest"), "no pytest")
    def test_pytest(self):
        for release in self.each():
            result = self.pytest(release, SCRIPTS / "test_kernels.py")
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"1 failed, 1 passed")
            self.assertIn("[race.waw]", result.stdout)

    @unittest.skipUnless(has("pytest"), "no pytest")
    def test_pytest_phases(self):
        """A race counts wherever a test launches it, and however the test ends; in one process and under xdist."""
        script = SCRIPTS / "test_phases.py"
        for more in ([], ["-n", "2"]) if has("xdist") else ([],):
            result = self.pytest(RELEASES[0], script, *more)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"1 failed, 3 passed, 1 xfailed, 2 errors")
            for name in ("test_fails_by_itself", "test_expected_to_fail"):
                self.assertIn(f"{name}: findings beside how it ended:", result.stdout)
            self.assertIn("6 launches checked", result.stdout)
            self.assertRegex(result.stdout, r"test_unknown: kernel scatter is incomplete")
        self.assertEqual(self.pytest(RELEASES[0], script, "-k", "test_right").returncode, 0)
        self.assertEqual(self.pytest(RELEASES[0], script, "-k", "test_expected").returncode, 1)
        self.assertEqual(self.pytest(RELEASES[0], script, "-k", "test_unknown").returncode, 0)
        self.assertEqual(self.pytest(RELEASES[0], script, "-k", "test_unknown", "--weir-strict").returncode, 1)
        os.environ["IMPORT_RACES"] = "1"
        self.addCleanup(os.environ.pop, "IMPORT_RACES")
        self.assertEqual(self.pytest(RELEASES[0], script, "-k", "test_right").returncode, 1)

    @unittest.skipUnless(has("pytest"), "no pytest")
    def test_pytest_requires_a_scope(self):
        """Tests have the launches that they make, and no others."""
        script = SCRIPTS / "test_kernels.py"
        (self.folder / "weir.toml").write_text('[severity]\nrace = "note"\n')
        for scope, status in (("tried-launches", 0), ("given-launch", 0), ("every-launch", 1), ("all", 4)):
            result = self.pytest(RELEASES[0], "--weir-require", scope, script)
            self.assertEqual(result.returncode, status, scope + result.stdout + result.stderr)
            self.assertEqual("every-launch is required" in result.stdout, scope == "every-launch")

    @unittest.skipUnless(has("pytest"), "no pytest")
    def test_pytest_markers(self):
        """What a marker asks goes over the command line, for its tests alone; JUnit has findings as failures of their test."""
        script, report = SCRIPTS / "test_markers.py", self.folder / "junit.xml"
        for more in ([], ["-n", "2"]) if has("xdist") else ([],):
            result = self.pytest(RELEASES[0], "--strict-markers", "--junit-xml", report, *more, script)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"3 failed, 3 passed")
            failed = {case.get("name"): case.find("failure") for case in ElementTree.parse(report).iter("testcase")}
            self.assertEqual({name for name, failure in failed.items() if failure is not None}, {"test_not_ignored", "test_strict", "test_too_little"})
            self.assertIn("[race.waw]", failed["test_not_ignored"].text)
        for words, said in (("reqire='given-launch'", "has no reqire"), ("'given-launch'", "has no argument without a name"), ("require='all'", "not 'all'"),
                            ("ignore=['racy']", "racy")):
            wrong = self.folder / "test_wrong.py"
            wrong.write_text(f"import pytest\n@pytest.mark.weir({words})\ndef test_it():\n    pass\n")
            result = self.pytest(RELEASES[0], wrong)
            self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
            self.assertIn(said, result.stdout + result.stderr)

    @unittest.skipUnless(has("pytest"), "no pytest")
    def test_pytest_with_a_project(self):
        """weir.toml counts as it does for `weir check`: rules, severities, comments, what is wrong with it."""
        project, script = self.folder / "weir.toml", self.folder / "test_kernels.py"
        source = (SCRIPTS / "test_kernels.py").read_text()
        script.write_text(source)
        for text, status in (('[severity]\nrace = "note"\n', 0), ('[severity]\nrace = "warning"\n', 1),
                             ('[rules]\nignore = ["racy"]\n', 4)):
            project.write_text(text)
            result = self.pytest(RELEASES[0], script)
            self.assertEqual(result.returncode, status, text + result.stdout + result.stderr)
        project.write_text('[rules]\nignore = ["race.waw"]\n')
        self.assertEqual(self.pytest(RELEASES[0], "--weir-no-config", script).returncode, 1)
        project.rename(self.folder / "other.toml")
        self.assertEqual(self.pytest(RELEASES[0], "--weir-config", "other.toml", script).returncode, 0)
        script.write_text(source.replace("tl.program_id(0))\n", "tl.program_id(0))  # weir: ignore[race.waw] the last one wins\n", 1))
        result = self.pytest(RELEASES[0], script)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        script.write_text(source.replace("tl.program_id(0))\n", "tl.program_id(0))  # weir: ignore[race.waw]\n", 1))
        result = self.pytest(RELEASES[0], script)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"test_kernels\.py:\d+: warning: .*gives no reason")

    def test_watch_with_a_project(self):
        (self.folder / "weir.toml").write_text('[rules]\nignore = ["race"]\n')
        code = ("import os, sys; sys.path.insert(0, %r)\nimport weir.triton, test_kernels as t\n"
                "arguments = t.fill, (4,), weir.triton.tensor([512], 'int32'), 64, 128\n"
                "assert weir.triton.check(*arguments).verdict == 'clean'\n"
                "assert weir.triton.check(*arguments, options={'config': False}).verdict == 'findings'\n"
                "weir.triton.checked(t.test_racy)()\n"
                "try:\n    weir.triton.checked(t.test_racy, config=False)()\n    sys.exit('not raised')\n"
                "except weir.triton.Findings: pass\n"
                "with weir.triton.checked(project=weir.Project(ignore='race.waw')): t.test_racy()\n"
                "weir.triton.watch(raises=True)\nt.test_racy()\n"
                "open('weir.toml', 'w').write('wrong = 1')\n"
                "try:\n    weir.triton.watch()\n    sys.exit('not result')\nexcept weir.ProjectError: pass\n" % str(SCRIPTS))
        result = self.python(RELEASES[0], "-c", code)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
