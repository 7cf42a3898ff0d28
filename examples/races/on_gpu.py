#!/usr/bin/env python3
"""Runs the kernels of this folder on a GPU of compute capability 9.0, alone and under three other checkers.

    python3 examples/races/on_gpu.py --results FILE.tsv [--jobs N] [NAME...]     on the machine with the GPU
    python3 examples/races/on_gpu.py --table FILE.tsv --weir build/weir          anywhere: the results beside Weir's

Each variant of each kernel runs in four ways, each in a process of its own, since a kernel that hangs or fails an
assertion takes its process with it:

  plain       as it is: does it end?
  consan      with Triton's concurrency sanitizer compiled in
  racecheck   under compute-sanitizer --tool racecheck
  synccheck   under compute-sanitizer --tool synccheck

A line of the results holds kernel, variant, tool, outcome (ends, hangs, reports, fails), the first report
or error, and seconds: to compile, to run the kernel, in all. Needs PyTorch and Triton 3.6.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ["plain", "consan", "racecheck", "synccheck"]
# Seconds that a kernel may run, whose work takes microseconds, and that a process may take in all.
KERNEL_LIMIT = dict(plain=3, consan=8, racecheck=8, synccheck=8)
PROCESS_LIMIT = 90
COLUMNS = ["kernel", "variant", "tool", "outcome", "report", "compile_s", "run_s", "wall_s"]


def run_here(name, variant, limit):
    """Compiles and runs one kernel in this process, and prints the two times."""
    import torch
    import triton
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
    import tiles

    kernel = next(kernel for kernel, _ in tiles.pairs() if kernel.__name__ == name)
    triton.set_allocator(lambda size, alignment, stream: torch.zeros(size, dtype=torch.int8, device="cuda"))

    def argument(parameter):
        launch = tiles.LAUNCH[parameter]
        if isinstance(launch, int):
            return launch
        words = next(iter(launch.values()))
        elements = torch.arange(words["shape"][0] * words["shape"][1]).reshape(words["shape"]) % 7
        matrix = elements.to(torch.float32 if words["dtype"] == "f32" else torch.float16).cuda()
        if "descriptor" in launch:
            return TensorDescriptor.from_tensor(matrix, words["block"], tiles.SHARED.value)
        return matrix

    arguments = [argument(parameter) for parameter in kernel.arg_names if parameter != "BROKEN"]
    started = time.monotonic()
    kernel.warmup(*arguments, BROKEN=variant == "broken", num_warps=4, grid=(1,))
    compiled = time.monotonic()
    print(f"compiled {compiled - started:.3f}", flush=True)
    # Without a handler the signal ends the process even while it waits in the driver.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit)
    kernel[(1,)](*arguments, BROKEN=variant == "broken", num_warps=4)
    torch.cuda.synchronize()
    print(f"ran {time.monotonic() - compiled:.6f}", flush=True)


def first_report(tool, text):
    """What a checker said first, in its own words; empty if it said nothing."""
    if tool == "consan":
        found = re.search(r"Assertion `(.*?)` failed", text)
    elif tool == "racecheck":
        found = re.search(r"=========\s+((?:Error|Warning): (?!process didn't).*)", text)
    elif tool == "synccheck":
        found = re.search(r"=========\s+(Barrier error.*|Divergent.*|.*[Mm]barrier.*|.*[Mm]issing wait.*)", text)
    else:
        found = None
    return found.group(1).strip() if found else ""


def run_apart(name, variant, tool, cache):
    command = [sys.executable, str(HERE / "on_gpu.py"), "--one", name, variant, str(KERNEL_LIMIT[tool])]
    if tool in ("racecheck", "synccheck"):
        command = ["compute-sanitizer", "--tool", tool, "--print-limit", "10"] + command
    environment = dict(os.environ, TRITON_CACHE_DIR=cache)
    if tool == "consan":
        environment["TRITON_INSTRUMENTATION_MODE"] = "consan"
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=environment, start_new_session=True)
    try:
        text, _ = process.communicate(timeout=PROCESS_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
    wall = time.monotonic() - started
    times = dict(re.findall(r"^(compiled|ran) ([0-9.]+)$", text, re.M))
    report = first_report(tool, text)
    error = re.search(r"CUDA error: .*", text)
    if report:
        outcome = "reports"
    elif "ran" in times:
        outcome = "ends"
    elif error or "compiled" not in times:
        outcome = "fails"
        report = error.group() if error else next((line for line in reversed(text.splitlines()) if "rror" in line), "")
    else:
        outcome = "hangs"
    row = [name, variant, tool, outcome, report.replace("\t", " "), times.get("compiled", ""), times.get("ran", ""),
           f"{wall:.1f}"]
    return row, text


def run_all(results, log, jobs, tools, only):
    import tiles

    kernels = [kernel.__name__ for kernel, target in tiles.pairs() if target == 90]
    kernels = [name for name in kernels if not only or name in only]
    with tempfile.TemporaryDirectory() as cache, open(results, "w", newline="") as file, open(log, "w") as words:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            # Tool by tool: what one has compiled the next finds in the cache.
            for tool in tools:
                tasks = [pool.submit(run_apart, name, variant, tool, cache)
                         for name in kernels for variant in ("ok", "broken")]
                for task in tasks:
                    row, text = task.result()
                    table.writerow(row)
                    file.flush()
                    words.write(f"=== {' '.join(row)}\n{text[-4000:]}\n")
                    print(" ".join(row), flush=True)


def weir_says(weir, kernel, variant):
    """Weir's rules for a variant, or its verdict if there are none, and the milliseconds that it took."""
    started = time.monotonic()
    done = subprocess.run([weir, "check", "--format", "json", str(HERE / f"{kernel}-{variant}.ttgir")],
                          capture_output=True, text=True)
    took = (time.monotonic() - started) * 1000
    outcome = json.loads(done.stdout)["inputs"][0]
    rules = sorted({finding["rule"] for finding in outcome["findings"] if finding["severity"] != "note"})
    return ", ".join(rules) or outcome["verdict"], took


# The checkers' words, and fewer that say the same.
SHORTER = [
    (r"Buffer being accessed has outstanding (reads|writes)\.?", r"outstanding \1"),
    (r"Accessing buffer with pending access\. Pending access type: (.*)", r"pending \1"),
    (r"Deadlock detected: .*", "deadlock"),
    (r"Barrier arrive underflow: .*", "underflow"),
    (r"(Error|Warning): Race reported between .*", lambda found: f"race ({found.group(1).lower()})"),
    (r"Barrier error detected\. (.*)\.", lambda found: found.group(1).lower()),
    (r"CUDA error: (.*)", r"stops: \1"),
    (r"RuntimeError: .*", "does not compile"),
]


def shortened(report):
    for pattern, words in SHORTER:
        if found := re.fullmatch(pattern, report):
            return found.expand(words) if isinstance(words, str) else words(found)
    return report


def print_table(results, weir):
    """A row for each kernel: what each tool makes of the broken variant, and of the correct one where it objects."""
    with open(results, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    cells = collections.defaultdict(dict)
    seconds = collections.defaultdict(list)
    kernel_seconds = collections.defaultdict(list)
    for row in rows:
        cells[row["kernel"]][row["tool"], row["variant"]] = row
        seconds[row["tool"]].append(float(row["wall_s"]))
        if row["outcome"] == "ends":
            kernel_seconds[row["tool"]].append(float(row["compile_s"]) + float(row["run_s"]))

    def said(row):
        if row["outcome"] in ("reports", "fails"):
            return shortened(row["report"])
        return "-" if row["outcome"] == "ends" and row["tool"] != "plain" else row["outcome"]

    def cell(kernel, tool):
        broken, correct = cells[kernel][tool, "broken"], cells[kernel][tool, "ok"]
        if correct["outcome"] == "ends":
            return said(broken)
        if said(broken) == said(correct):
            return f"{said(broken)}, of both"
        return f"{said(broken)}; of the correct one {said(correct)}"

    print("| kernel | Weir | alone | ConSan | racecheck | synccheck |\n| --- | --- | --- | --- | --- | --- |")
    for kernel in cells:
        found, took = weir_says(weir, kernel, "broken")
        correct, took_correct = weir_says(weir, kernel, "ok")
        seconds["weir"] += [took / 1000, took_correct / 1000]
        found = "-" if found == "clean" else found
        found += "" if correct == "clean" else f"; of the correct one {correct}"
        print(f"| {kernel} | {found} | " + " | ".join(cell(kernel, tool) for tool in TOOLS) + " |")
    print("\n| | process, median | process, longest | compiling and running, median |\n| --- | --- | --- | --- |")
    for tool in ["weir"] + TOOLS:
        inside = statistics.median(kernel_seconds[tool] or seconds[tool])
        print(f"| {tool} | {statistics.median(seconds[tool]):.3g} s | {max(seconds[tool]):.3g} s | {inside:.3g} s |")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=3, metavar=("NAME", "VARIANT", "SECONDS"), help="run one kernel here")
    parser.add_argument("--results", help="run all and write what came of it to this file")
    parser.add_argument("--log", default=os.devnull, help="with --results: what the processes printed")
    parser.add_argument("--jobs", type=int, default=8, help="how many processes at a time (8)")
    parser.add_argument("--tools", default=",".join(TOOLS), help="only these, with commas")
    parser.add_argument("--table", help="print the results in this file as a Markdown table")
    parser.add_argument("--weir", default="weir", help="with --table: the weir to run beside them")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these kernels")
    options = parser.parse_args()
    if options.one:
        run_here(options.one[0], options.one[1], int(options.one[2]))
    elif options.table:
        print_table(options.table, options.weir)
    elif options.results:
        run_all(options.results, options.log, options.jobs, options.tools.split(","), options.names)
    else:
        parser.error("give --results or --table")
