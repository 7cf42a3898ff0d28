#!/usr/bin/env python3
"""Runs the tests of this folder; prints what failed and what was skipped, and last `N passed, N failed`."""

import io
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python"), str(HERE)]
tests = unittest.defaultTestLoader.discover(str(HERE))
told = io.StringIO()
result = unittest.TextTestRunner(stream=told, verbosity=0).run(tests)
if not result.wasSuccessful():
    print(told.getvalue())
for test, reason in result.skipped:
    print(f"skipped: {test}: {reason}")
failed = len({test.id() for test, _ in result.failures + result.errors})
print(f"{result.testsRun - len(result.skipped) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
