"""What the wheel has in it, and that the command finds its library there. The package is that of the build which is tested: how `make package` links it
is tried by scripts/python-venv."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
sys.path.insert(0, str(ROOT / "packaging"))
import weir_backend  # noqa: E402


class Wheel(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.package = pathlib.Path(self.folder.name) / "package"
        self.package.mkdir()
        for name in "weir", "libweir-gpu.so", "libweir-cuda.so", "libweir.so.0":
            shutil.copy(BUILD / name, self.package / name)
        before = weir_backend.built
        self.addCleanup(setattr, weir_backend, "built", before)
        weir_backend.built = lambda: self.package

    def test_the_command_finds_its_library(self):
        name = weir_backend.build_wheel(self.folder.name)
        self.assertTrue(name.endswith(".whl"))
        site = pathlib.Path(self.folder.name) / "site"
        with zipfile.ZipFile(pathlib.Path(self.folder.name) / name) as wheel:
            self.assertLessEqual({"weir/bin/weir", "weir/bin/libweir-gpu.so", "weir/bin/libweir-cuda.so", "weir/lib/libweir.so.0"}, set(wheel.namelist()))
            wheel.extractall(site)
        (site / "weir/bin/weir").chmod(0o755)
        ran = subprocess.run([site / "weir/bin/weir", "exec", "--mode", "record", "--", "true"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("nothing was recorded: the program launched no CUDA kernel", ran.stderr)


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
