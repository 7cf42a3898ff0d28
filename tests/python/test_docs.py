"""What README.md and docs/quickstart-triton.md show of weir exec is what it prints. Skipped where there is no Triton 3.6."""

import pathlib
import re
import sys

import test_exec

PAGES = ["README.md", "docs/quickstart-triton.md"]


def blocks(page):
    """The command and the lines of each indented block that shows weir exec at work on an example."""
    for block in re.findall(r"^    \$ weir exec -- python3 (examples/\S+)\n((?:    .*\n)+)", page, re.M):
        yield block[0], [line[4:] for line in block[1].splitlines()]


class Shown(test_exec.Case):
    def test_examples(self):
        release = next((name for name in test_exec.RELEASES if "3.6" in pathlib.Path(name).name), None)
        if release is None:
            self.skipTest("there is no Triton 3.6 below TRITON_WHEELS")
        for page in PAGES:
            shown = list(blocks((test_exec.ROOT / page).read_text()))
            self.assertTrue(shown, f"{page} shows no example")
            for script, lines in shown:
                told = self.exec(sys.executable, test_exec.ROOT / script, release=release,
                                 environment={"TRITON_CACHE_DIR": str(self.folder / "cache")})
                printed = (told.stderr + told.stdout).replace(f"{test_exec.ROOT}/", "").splitlines()
                at = 0
                for line in lines:
                    if line == "...":
                        continue
                    self.assertIn(line, printed[at:], f"{page}: weir exec -- python3 {script}")
                    at = printed.index(line, at) + 1
