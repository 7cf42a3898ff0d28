"""What programs with bugs share: the device, and the lists of them. Line <- 1 of a program is the first place of its finding, line <- 2
the second."""

import gc
import os
import re
import sys
import tempfile

FOLDER = tempfile.TemporaryDirectory()
os.environ.update(TRITON_CACHE_DIR=os.path.join(FOLDER.name, "cache"), WEIR_DEVICE_MODE="run")

import torch  # noqa: E402

try:
    import triton
    import triton.language as tl
except ImportError:
    sys.exit(0)  # nothing to run
from weir import device, program  # noqa: E402

device.use("sm_90")
N = 1024
RACE, REUSE, EARLY, NO_WAIT = "program.race", "program.reuse", "program.early-access", "global.dependency-wait"
BUGS, RIGHT, OPEN = [], [], []  # with their twins; right; such that cannot be decided


def bug(rule, fix, also=None):
    """`fix`: words of the finding's. `also`: another finding, of line <- 1 alone."""
    def add(test):
        BUGS.append((test, rule, fix, also))
        return test

    return add


def zeros(count=N):
    return torch.zeros(count, device="cuda")


def stream():
    """One that waits for what was there before it."""
    made = torch.cuda.Stream()
    made.wait_stream(torch.cuda.current_stream())
    return made


@triton.jit
def add_kernel(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) + 1)


def run_program(test, name, *fixed, folder=None):
    """Its order log."""
    gc.collect()
    torch.cuda.synchronize()
    program.begin(folder or FOLDER.name, name)
    try:
        kept = test(*fixed)
    finally:
        program.end()
    del kept
    return os.path.join(folder or FOLDER.name, name + ".weirlog")


def marks(test):
    """Lines of the marks, by number."""
    first = test.__code__.co_firstlineno
    found = {}
    with open(test.__code__.co_filename, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number in range(first, len(lines)):
        if lines[number].startswith(("def ", "@")) and number > first + 1:
            break
        mark = re.search(r"# <- (\d)$", lines[number])
        if mark:
            found[int(mark.group(1))] = number + 1
    return found
