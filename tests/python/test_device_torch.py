"""The device cuda of PyTorch without a GPU. Each file of device_torch/ is run in a process of its own, by each Python of
TORCH_PYTHONS (paths, separated by colons), or by this one if it has PyTorch."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FOUND = importlib.util.find_spec("torch")  # the folder beside this file has that name, too, and no origin
PYTHONS = [path for path in os.environ.get("TORCH_PYTHONS", "").split(":") if path] or (
    [sys.executable] if FOUND and FOUND.origin else [])


@unittest.skipUnless(PYTHONS, "no PyTorch: TORCH_PYTHONS=PATH:... names interpreters that have it")
class Torch(unittest.TestCase):
    def run_file(self, name):
        for python in PYTHONS:
            with self.subTest(python=python):
                done = subprocess.run([python, "-W", "ignore", str(HERE / "device_torch" / name)], capture_output=True, text=True, timeout=600,
                                      stdin=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_tensors(self):
        self.run_file("tensors.py")

    def test_runtime(self):
        self.run_file("runtime.py")

    def test_parallel(self):
        self.run_file("parallel.py")

    def test_kernels(self):
        self.run_file("kernels.py")


if __name__ == "__main__":
    unittest.main()
