"""What the tests of this folder count: those that hold, and those that do not, which are told."""

import sys

COUNTS = [0, 0]


def test(name, work):
    try:
        work()
        COUNTS[0] += 1
    except Exception as problem:  # noqa: BLE001: whatever it is, it is a failed test
        print(f"failed: {name}: {type(problem).__name__}: {problem}")
        COUNTS[1] += 1


def finish():
    print(f"{COUNTS[0]} passed, {COUNTS[1]} failed")
    sys.exit(1 if COUNTS[1] else 0)
