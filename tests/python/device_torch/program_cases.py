"""What programs with bugs share: the device, and the lists of them. Line <- 1 of a program is the first place of its finding, line <- 2
the second."""

import os
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
from weir import device  # noqa: E402

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
