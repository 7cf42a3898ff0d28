"""Programs with a bug between their operations, each with a twin that is right: classes of public bugs, written anew. Run by
test_device_torch.py, in a process of its own: each program has an order log, and `weir check` of all logs gets one finding for
each bug, at the two lines that are marked, with the fix, and is clean for each twin."""

import json
import os
import subprocess
import unittest

from program_cases import BUGS, marks, OPEN, RIGHT, run_program

WEIR = os.environ.get("WEIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../build/weir")


def verdicts(paths):
    """Of each order log, by the name of its program."""
    done = subprocess.run([WEIR, "check", "--format", "json", *paths], capture_output=True, text=True)
    return {os.path.basename(one["file"])[:-len(".weirlog")]: one for one in json.loads(done.stdout)["inputs"]}


class Twins:
    """What holds for programs that are right, and for those that cannot be decided; a test case has the verdicts."""

    maxDiff = None
    results = {}

    def test_right(self):
        for name in [f"{test.__name__}-right" for test, *_ in BUGS] + [test.__name__ for test in RIGHT]:
            result = self.results[name]
            with self.subTest(name):
                self.assertEqual((result["verdict"], result["findings"], result["incomplete"]), ("clean", [], []))

    def test_open(self):
        for test in OPEN:
            result = self.results[test.__name__]
            with self.subTest(test.__name__):
                self.assertEqual((result["verdict"], result["findings"]), ("incomplete", []))


class Checked(Twins, unittest.TestCase):
    """All programs that there are."""

    @classmethod
    def setUpClass(cls):
        paths = [run_program(test, f"{test.__name__}-{name}", fixed) for test, *_ in BUGS for name, fixed in (("wrong", False), ("right", True))]
        paths += [run_program(test, test.__name__) for test in RIGHT + OPEN]
        cls.results = verdicts(paths)

    def test_wrong(self):
        """Each has its finding, and no other."""
        for test, rule, fix, also in BUGS:
            result, lines = self.results[f"{test.__name__}-wrong"], marks(test)
            found = {(one["rule"], *(place["line"] for place in one["places"][:2])) for one in result["findings"]}
            wanted = {(rule, *(lines[number] for number in sorted(lines)))} | ({(also, lines[1])} if also else set())
            with self.subTest(test.__name__):
                self.assertEqual(found, wanted)
                self.assertIn(fix, result["findings"][0]["fix"])


if __name__ == "__main__":
    import program_copies  # noqa: F401
    import program_launches  # noqa: F401
    import program_others  # noqa: F401
    import program_streams  # noqa: F401

    if os.environ.get("WEIR_DEVICE_COUNT"):  # memory of several devices, in which asynchronous copies of kernels are not checked
        BUGS[:] = [case for case in BUGS if case[0].__name__ != "pipelined_load"]
    unittest.main()
