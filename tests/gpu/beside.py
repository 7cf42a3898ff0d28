#!/usr/bin/env python3
"""The programs of tests/python/device_torch/program_*.py on a GPU, under Weir and under other tools: beside.py [TOOL...]

Tools: weir (`weir exec`; WEIR names the command), csan (PyTorch's stream sanitizer), memcheck (compute-sanitizer, which checks accesses to
stream-ordered allocations), racecheck. Each program with a bug and each of its twins runs in a process of its own, some at a time. Prints for each
tool which bugs it reports and on which twins, and a row of docs/programs.md. Needs PyTorch, Triton and a GPU."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
WEIR = os.environ.get("WEIR", str(HERE / "../../build/weir"))
AT_ONCE, LIMIT = 10, 120
SANITIZER = ["compute-sanitizer", "--error-exitcode", "1"]
# Of each tool: what runs the program, and what it prints if it objects.
TOOLS = {
    "weir": ([WEIR, "exec", "--mode", "record", "--color", "never", "--"], re.compile(r"(program|global)\.[a-z-]+\]")),
    "csan": ([], re.compile(r"CSAN detected|CUDASanitizerErrors")),
    "memcheck": ([*SANITIZER, "--tool", "memcheck", "--track-stream-ordered-races", "all"], re.compile(r"ERROR SUMMARY: [1-9]")),
    "racecheck": ([*SANITIZER, "--tool", "racecheck"], re.compile(r"(ERROR|RACECHECK) SUMMARY: [1-9]")),
}


def cases():
    """The programs, as they are for Weir's device, with that of the GPU in its place."""
    sys.path.insert(0, str(HERE / "../python/device_torch"))
    import torch  # noqa: F401, of which `weir exec` has its own package loaded
    weir = sys.modules.setdefault("weir", types.ModuleType("weir"))
    weir.device = types.SimpleNamespace(use=lambda target: None)
    weir.program = getattr(weir, "program", None)
    import program_cases
    import program_copies  # noqa: F401
    import program_launches  # noqa: F401
    import program_streams  # noqa: F401
    return {test.__name__: test for test, *_ in program_cases.BUGS}


def one(tool, name, fixed):
    """Whether the tool objects to the program; None: it did not end as it should."""
    run, says = TOOLS[tool]
    environment = {**os.environ, **({"TORCH_CUDA_SANITIZER": "1"} if tool == "csan" else {})}
    command = [*run, sys.executable, __file__, "--one", name, *(["fixed"] if fixed else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, "it took too long"
    said = done.stdout + done.stderr
    if says.search(said):
        return True, ""
    return (False, "") if "\ndone" in "\n" + said else (None, " | ".join(said.strip().splitlines()[-3:])[:300])


def main():
    if sys.argv[1:2] == ["--one"]:
        test = cases()[sys.argv[2]]
        kept = test(sys.argv[3:] == ["fixed"])
        import torch
        torch.cuda.synchronize()
        del kept
        print("done")
        return 0
    names = sorted(cases())
    for tool in sys.argv[1:] or TOOLS:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            wrong = dict(zip(names, pool.map(lambda name: one(tool, name, False), names)))
            right = dict(zip(names, pool.map(lambda name: one(tool, name, True), names)))
        for name in names:
            words = [{True: "reported", False: "nothing", None: "no end"}[each[name][0]] for each in (wrong, right)]
            print(f"{tool}: {name}: {words[0]}, its twin: {words[1]} {wrong[name][1] or right[name][1]}".rstrip())
        found, alarms = (sum(each[name][0] is True for name in names) for each in (wrong, right))
        print(f"| {tool} | {found} of {len(names)} | {alarms} | {sum(each[name][0] is None for each in (wrong, right) for name in names)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
