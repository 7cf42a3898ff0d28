"""The device cuda of PyTorch without a GPU. Each file of device_torch/ is run in a process of its own, by each Python of
TORCH_PYTHONS (paths, separated by colons), or by this one, if it has PyTorch or the folder TORCH_WHEELS has."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WEIR = os.environ.get("WEIR", str(HERE.parent.parent / "build" / "weir"))
FOUND = importlib.util.find_spec("torch")  # the folder beside this file has that name, too, and no origin
PYTHONS = [path for path in os.environ.get("TORCH_PYTHONS", "").split(":") if path] or (
    [sys.executable] if FOUND and FOUND.origin or os.environ.get("TORCH_WHEELS") else [])
PATH = os.pathsep.join(filter(None, [os.environ.get("TORCH_WHEELS"), str(HERE.parent.parent / "python")]))


@unittest.skipUnless(PYTHONS, "no PyTorch: TORCH_PYTHONS=PATH:... names interpreters that have it")
class Torch(unittest.TestCase):
    def each(self, *words, command=(), **extra):
        """With each Python: what it printed, and how it ended."""
        for python in PYTHONS:
            done = subprocess.run([*command, python, "-W", "ignore", *map(str, words)], capture_output=True, text=True, timeout=600,
                                  stdin=subprocess.DEVNULL, cwd=HERE / "device_torch",
                                  env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": PATH, **extra})
            yield f"{python}:\n{done.stdout}{done.stderr}", done.returncode

    def run_file(self, name, **extra):
        for text, status in self.each(HERE / "device_torch" / name, **extra):
            self.assertEqual(status, 0, text)

    def test_tensors(self):
        self.run_file("tensors.py")

    def test_runtime(self):
        self.run_file("runtime.py")

    def test_parallel(self):
        self.run_file("parallel.py")

    def test_devices(self):
        """Two of one process. What one device does has the same verdicts when there are two."""
        self.run_file("devices.py")
        self.run_file("programs.py", WEIR_DEVICE_COUNT="2")

    def test_several(self):
        self.run_file("several.py")

    def test_pytest(self):
        """Tests of kernels run, with results, and a race in one that passes its asserts is found."""
        for text, status in self.each("-m", "pytest", "-q", "-p", "weir.pytest_plugin", "-p", "no:cacheprovider", "--weir", "checked.py"):
            if "No module named" not in text:
                self.assertEqual(status, 1, text)
                self.assertIn("race.waw", text)
                self.assertIn("1 failed, 1 passed", text)

    def test_exec(self):
        """Data that the IR does not tell is decided by the PTX, which runs with it."""
        for way, runs, status, words in (("right", True, 0, "clean (this launch)"), ("race", True, 1, "race.waw"), ("large", True, 1, "race.waw"), ("graph", True, 0, "clean (this launch)"),
                                         ("race", False, 3, "its addresses are not known")):
            for text, ended in self.each("data.py", way, command=[WEIR, "exec", *([] if runs else ["--mode=capture"]), "--"]):
                if "No module named" not in text:
                    self.assertEqual(ended, status, text)
                    self.assertIn(words, text)
                    self.assertIn("1 kernel, 1 different launch of 1", text)

    def test_exec_processes(self):
        """One verdict for all."""
        for way, status, words in (("right", 0, "1  clean (this run)"), ("race", 1, "handed.py:25:1: error: unordered accesses to the same memory: write by aten::add_, read by aten::sum")):
            for text, ended in self.each("handed.py", way, command=[WEIR, "exec", "--"]):
                self.assertEqual(ended, status, text)
                self.assertIn(words, text)
                self.assertIn("programs: 1\n", text)

    def test_exec_pytest(self):
        """The same with pytest --weir."""
        for text, status in self.each("-m", "pytest", "-q", "-p", "weir.pytest_plugin", "-p", "no:cacheprovider", "--weir", "--weir-strict", "test_data.py"):
            if "No module named" not in text:
                self.assertEqual(status, 1, text)
                self.assertIn("race.waw", text)
                self.assertIn("1 failed, 1 passed", text)

    def test_order_pytest(self):
        """Operations of a test that nothing orders let it fail."""
        for text, status in self.each("-m", "pytest", "-q", "-p", "weir.pytest_plugin", "-p", "no:cacheprovider", "--weir", "test_order.py"):
            if "No module named" not in text:
                self.assertEqual(status, 1, text)
                self.assertIn("program.race", text)
                self.assertIn("1 failed, 1 passed", text)

    def test_kernels(self):
        self.run_file("kernels.py")

    def test_races(self):
        self.run_file("races.py")

    def test_programs(self):
        self.run_file("programs.py")
        self.run_file("named.py")


class Gpu(unittest.TestCase):
    def test_hidden_gpus(self):
        """CUDA_VISIBLE_DEVICES that names no GPU: the program has none."""
        from unittest import mock

        sys.path.insert(0, str(HERE.parent.parent / "python"))
        from weir import device_torch

        with mock.patch("glob.glob", lambda pattern: ["/dev/nvidia0"]):
            for value, there in ((None, True), ("0", True), ("1,0", True), ("", False), ("-1", False), ("-1,0", False)):
                with mock.patch.dict(os.environ):
                    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
                    if value is not None:
                        os.environ["CUDA_VISIBLE_DEVICES"] = value
                    self.assertEqual(device_torch.has_gpu(), there, value)


if __name__ == "__main__":
    unittest.main()
