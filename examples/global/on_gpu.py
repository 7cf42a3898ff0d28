#!/usr/bin/env python3
"""Runs the kernels of this folder that need one device on a GPU of compute capability 9.0, and counts wrong results.

    python3 examples/global/on_gpu.py [--runs N] [--jobs N] [--hanging] [--results FILE.tsv] [NAME...]

Each variant of each case runs in a process of its own, since a kernel that hangs takes its process with it: 200 times,
on memory that is made anew for each. A fault that may hang is left out unless --hanging asks for it. A line of the
results holds case, variant, the rule that should find the fault, outcome, runs and how many were wrong. The outcome is

  right     every run gave the right result: what is to be expected of a correct kernel, and says nothing about another
  wrong     some did not
  hangs     it did not end in time
  fails     the device or the compiler gave an error, whose last line stands in place of the runs
  left out  it may hang

Needs PyTorch and Triton 3.6.
"""

import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROCESS_LIMIT = 20  # seconds
COLUMNS = ["case", "variant", "rule", "outcome", "runs", "wrong"]


def words_of(argument):
    """What a launch says of memory, or None if the argument is a number."""
    return None if isinstance(argument, int) else next(iter(argument.values()))


def first_content(torch, words):
    """What a buffer holds before a run. Nobody has written an output: it holds what no result is."""
    kind = dict(f16=torch.float16, f32=torch.float32, i32=torch.int32)[words["dtype"]]
    shape = words["shape"]
    if "data" in words:
        content = torch.tensor(words["data"], dtype=kind).reshape(shape)
    elif words.get("zero"):
        content = torch.zeros(shape, dtype=kind)
    elif words.get("output"):
        content = torch.full(shape, float("nan") if kind.is_floating_point else -1, dtype=kind)
    else:
        content = (torch.arange(torch.Size(shape).numel()) % 7).to(kind).reshape(shape)
    return content.cuda()


class Runner:
    """A case with its memory, ready to be run again and again."""

    def __init__(self, torch, case, variant):
        self.torch, self.case, self.variant = torch, case, variant
        fault = dict(case.variants())[variant]
        self.launches = [(launch, launch.written(fault.changes)) for launch in case.launches]
        self.before = {}
        for _, words in self.launches:
            for name, argument in words["args"].items():
                memory = words_of(argument)
                if memory:
                    self.before.setdefault(memory.get("buffer", name), first_content(torch, memory))
        self.memory = {name: content.clone() for name, content in self.before.items()}
        self.streams = {words.get("stream", 0): torch.cuda.Stream() for _, words in self.launches}

    def argument(self, kernel, name, value):
        words = words_of(value)
        if words is None:
            return value
        memory = self.memory[words.get("buffer", name)]
        if "tensor" in value:
            return memory
        from triton.experimental.gluon._runtime import GluonJITFunction
        if isinstance(kernel, GluonJITFunction):
            from triton.experimental.gluon.language import NVMMASharedLayout, float32
            from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
            layout = NVMMASharedLayout.get_default_for(words["block"], float32)
            return TensorDescriptor.from_tensor(memory, words["block"], layout)
        from triton.tools.tensor_descriptor import TensorDescriptor
        return TensorDescriptor.from_tensor(memory, words["block"])

    def launch_all(self):
        ends = {}
        for launch, words in self.launches:
            stream = self.streams[words.get("stream", 0)]
            for name in words.get("after", []):
                stream.wait_event(ends[name])
            arguments = {name: self.argument(launch.kernel, name, value) for name, value in words["args"].items()}
            options = dict(launch_pdl=True) if words.get("dependent") else {}
            with self.torch.cuda.stream(stream):
                launch.kernel[tuple(words["grid"])](**arguments, VARIANT=self.variant, num_warps=4, **options)
            ends[launch.name] = stream.record_event()

    def is_right(self):
        """Runs it once."""
        for name, content in self.before.items():
            self.memory[name].copy_(content)
        self.torch.cuda.synchronize()
        for _ in range(self.case.times):
            self.launch_all()
        self.torch.cuda.synchronize()
        return self.case.right(self.torch, self.memory, self.before)


def all_cases():
    import cases

    return {case.name: case for case in cases.cases() if case.devices == 1}


def run_here(name, variant, runs):
    import torch

    runner = Runner(torch, all_cases()[name], variant)
    print("started", flush=True)
    wrong = sum(not runner.is_right() for _ in range(runs))
    print(f"wrong {wrong}", flush=True)


def run_apart(name, variant, fault, runs, cache):
    command = [sys.executable, str(HERE / "on_gpu.py"), "--one", name, variant, "--runs", str(runs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=dict(os.environ, TRITON_CACHE_DIR=cache), start_new_session=True)
    try:
        text, _ = process.communicate(timeout=PROCESS_LIMIT)
        in_time = True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        in_time = False
    wrong = re.search(r"^wrong (\d+)$", text, re.M)
    if wrong:
        outcome = ["wrong" if int(wrong.group(1)) else "right", runs, wrong.group(1)]
    elif not in_time and "started" in text:
        outcome = ["hangs", 1, ""]
    else:
        outcome = ["fails", (text.strip().splitlines() or ["nothing was said"])[-1], ""]
    return [name, variant, fault.rules, *outcome]


def run_all(options):
    rows = []
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = []
        for name, case in all_cases().items():
            if options.names and name not in options.names:
                continue
            for variant, fault in case.variants():
                if fault.may_hang and not options.hanging:
                    rows.append([name, variant, fault.rules, "left out", "", ""])
                else:
                    tasks.append(pool.submit(run_apart, name, variant, fault, options.runs, cache))
        for task in tasks:
            rows.append(task.result())
            print("\t".join(str(cell) for cell in rows[-1]), flush=True)
    if options.results:
        with open(options.results, "w", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows([COLUMNS] + sorted(rows, key=str))
    print_summary(rows)


def print_summary(rows):
    for correct in True, False:
        of_these = [row[3] for row in rows if (row[1] == "ok") == correct]
        counted = ", ".join(f"{of_these.count(outcome)} {outcome}" for outcome in sorted(set(of_these)))
        print(f"{'correct' if correct else 'broken'}: {counted}")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "VARIANT"), help="run one variant here")
    parser.add_argument("--runs", type=int, default=200, help="how often each is run (200)")
    parser.add_argument("--jobs", type=int, default=4, help="how many processes at a time (4)")
    parser.add_argument("--hanging", action="store_true", help="run also those that may hang")
    parser.add_argument("--results", help="write what came of it to this file, too")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these cases")
    given = parser.parse_args()
    if given.one:
        run_here(*given.one, given.runs)
    else:
        run_all(given)
