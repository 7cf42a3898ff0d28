"""What the wheel and the source distribution have in them, and that the command finds its library there. The package is that of the build which is
tested: how `make package` links it is tried by scripts/python-venv."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")


@unittest.skipUnless(importlib.util.find_spec("hatchling"), "no hatchling")
class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def backend(self, call, **more):
        """As pip calls it, from the root of the sources."""
        code = f"import sys; sys.path.insert(0, 'packaging'); import backend; print(backend.{call}(sys.argv[1]))"
        ran = subprocess.run([sys.executable, "-c", code, self.folder], cwd=ROOT, capture_output=True, text=True,
                             env=dict(os.environ, PIP_BUILD_TRACKER="tracker", **more))
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return self.folder / ran.stdout.splitlines()[-1]

    def test_the_command_finds_its_library(self):
        package = self.folder / "package"
        package.mkdir()
        for name in "weir", "libweir-gpu.so", "libweir-cuda.so", "libweir-children.so", "libweir.so.0":
            shutil.copy(BUILD / name, package / name)
        site = self.folder / "site"
        with zipfile.ZipFile(self.backend("build_wheel", WEIR_PACKAGE=str(package), WEIR_PLATFORM="linux_x86_64")) as wheel:
            self.assertTrue(wheel.filename.endswith("-py3-none-linux_x86_64.whl"))
            self.assertLessEqual({"weir/bin/weir", "weir/bin/libweir-gpu.so", "weir/bin/libweir-cuda.so", "weir/bin/libweir-children.so", "weir/lib/libweir.so.0", "weir/py.typed",
                                  "weir/boot/sitecustomize.py"}, set(wheel.namelist()))
            self.assertEqual(wheel.getinfo("weir/bin/weir").external_attr >> 16 & 0o111, 0o111)
            wheel.extractall(site)
        (site / "weir/bin/weir").chmod(0o755)
        ran = subprocess.run([site / "weir/bin/weir", "exec", "--mode", "record", "--", "true"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("nothing was recorded: the program launched no CUDA kernel", ran.stderr)

    def test_metadata_without_a_build(self):
        """There is no compiler, and none is asked for."""
        info = self.backend("prepare_metadata_for_build_wheel", CC="false", BUILD=str(self.folder / "build"))
        self.assertIn("Name: weir\n", (info / "METADATA").read_text())
        self.assertFalse((self.folder / "build").exists())

    def test_sources(self):
        """All that `make package` reads."""
        with tarfile.open(self.backend("build_sdist")) as archive:
            archive.extractall(self.folder)
        tree = next(self.folder.glob("weir-*/"))
        ran = subprocess.run(["make", "-n", "BUILD=build/wheel", "package"], cwd=tree, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for name in "src", "include", "python":
            kept = subprocess.run(["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual([path for path in kept if not (tree / path).exists()], [])

    def test_what_is_missing_is_said(self):
        ran = subprocess.run(["make", "-s", "needs", "CC=cc-that-is-not-there"], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 2)
        self.assertIn("Weir needs a C compiler (CC=cc-that-is-not-there) and Jansson's headers", ran.stderr)


class Driver(unittest.TestCase):
    """The sentence about a driver that is not there: not said where the loader would find one."""

    def said(self, folder):
        environment = dict(os.environ, LD_LIBRARY_PATH=folder)
        return subprocess.run([BUILD / "weir", "exec", "--mode", "record", "--", "true"], capture_output=True, text=True,
                              env=environment).stderr

    def test_a_driver_in_the_library_path(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "libcuda.so.1").touch()
            self.assertNotIn("there is no CUDA driver", self.said(f"/nonexistent:{folder}"))

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "there is one on this machine")
    def test_none(self):
        self.assertIn("there is no CUDA driver here (libcuda.so.1 was not found)", self.said(""))


if __name__ == "__main__":
    unittest.main()
