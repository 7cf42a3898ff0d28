#!/usr/bin/env python3
"""Runs the kernels of this folder that are for sm_90 on a GPU of compute capability 9.0, and counts wrong results.

    TRITON 3.9, no GPU:  python3 examples/clusters/compile.py --gpu build/clusters-gpu
    the GPU:             python3 examples/clusters/on_gpu.py build/clusters-gpu [--runs N] [--results FILE.tsv] [NAME...]

The second needs the CUDA driver, and neither Triton nor PyTorch. Each variant of each kernel runs in a process of its
own, since a kernel that hangs takes its process with it: many times, with shared memory filled with NaN before each.
A line of the results holds kernel, variant, CTAs of its cluster, the rule that should find its fault, outcome, runs and
how many were wrong. The outcome is

  right   every run gave the right result: what is to be expected of a correct kernel, and says nothing about another
  wrong   some did not
  hangs   it did not end in time
  fails   the device gave an error, which stands in place of the runs
"""

import argparse
import concurrent.futures
import csv
import ctypes
import json
import math
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROCESS_LIMIT = 12  # seconds
COLUMNS = ["kernel", "variant", "ctas", "rule", "outcome", "runs", "wrong"]
LINE = 128  # numbers that each CTA stores
ROWS, WIDTH, SIDE = 512, 64, 64

# Of cuda.h.
MAX_DYNAMIC_SHARED, NON_PORTABLE_CLUSTER = 8, 14  # CU_FUNC_ATTRIBUTE_*
CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_*
MOST_SHARED, MULTIPROCESSORS = 97, 16  # CU_DEVICE_ATTRIBUTE_*
FLOAT16, PROMOTE_128 = 6, 2  # CU_TENSOR_MAP_*


def element(row, column):
    """Of the tensor that is loaded: small integers, of which half precision and sums lose nothing."""
    return row // SIDE + 1 + (row + column) % 3


def tiles(first, end):
    return sum(element(row, column) for row in range(first * SIDE, end * SIDE) for column in range(WIDTH))


def right_numbers(kernel, ctas):
    """What should stand in `out`: of each CTA its line, or None where nothing is said."""
    sums = dict(
        multicast_load=lambda: tiles(0, 1), multicast_release=lambda: tiles(0, 3), multicast_met=lambda: tiles(0, 3),
        multicast_halves=lambda: tiles(0, 2), expect_from_first=lambda: tiles(0, 1), arrive_from_first=lambda: tiles(0, 2),
        multicast_to_8=lambda: tiles(0, 1), multicast_to_16=lambda: tiles(0, 1), ring_of_8=lambda: tiles(0, 6),
        ring_of_16=lambda: tiles(0, 6), async_store_parts=lambda: 128 * 64, parts_of_16=lambda: 256 * 64 * 6,
        exchange_of_8=lambda: 128 * 128 * 6, columns_of_8=lambda: 128 * 128, view_of_second=lambda: 64 * 64 * 6,
        halves_of_view=lambda: 64 * 64)
    if kernel in sums:
        return [sums[kernel]()] * (LINE * ctas)
    if kernel == "load_parts":  # by the first CTA alone
        return [128 * 64] + [None] * (LINE * ctas - 1)
    if kernel in ("gather_halves", "scatter_halves"):
        return [(255 - place) * 3 + 3 for place in range(256)]
    raise SystemExit(f"nobody has said what {kernel} should give")


def own_scatter():
    """scatter_halves-own: the places of a half are turned around within it."""
    return [(place ^ 127) * 3 + 3 for place in range(256)]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class Driver:
    """What is needed of libcuda; an error ends the process with its name."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        self.most_shared = self.attribute(device, MOST_SHARED)
        self.processors = self.attribute(device, MULTIPROCESSORS)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise SystemExit(f"{name}: {(text.value or b'?').decode()}")

    def attribute(self, device, which):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        return value.value

    def allocate(self, size):
        memory = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(size))
        return memory.value

    def load(self, path, name, shared):
        module, function, image = ctypes.c_void_p(), ctypes.c_void_p(), path.read_bytes()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
        return function

    def launch(self, function, grid, threads, shared, parameters, ctas=1):
        config = LaunchConfig((ctypes.c_uint * 3)(grid, 1, 1), (ctypes.c_uint * 3)(threads, 1, 1), shared)
        attribute = LaunchAttribute(CLUSTER_DIMENSION)
        attribute.value[:3] = ctas, 1, 1
        if ctas > 1:
            config.attributes, config.count = ctypes.pointer(attribute), 1
        pointers = (ctypes.c_void_p * len(parameters))(*(ctypes.addressof(one) for one in parameters))
        self.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)


def tensor_map(driver, memory, box, swizzle):
    """A tensor map of the rows; the driver wants it at a multiple of 64 bytes."""
    room = (ctypes.c_uint8 * 192)()
    shift = -ctypes.addressof(room) % 64
    one = (ctypes.c_uint8 * 128).from_buffer(room, shift)
    driver.call("cuTensorMapEncodeTiled", ctypes.byref(one), FLOAT16, 2, ctypes.c_void_p(memory),
                (ctypes.c_uint64 * 2)(WIDTH, ROWS), (ctypes.c_uint64 * 1)(WIDTH * 2),
                (ctypes.c_uint32 * 2)(*reversed(box)), (ctypes.c_uint32 * 2)(1, 1), 0, swizzle, PROMOTE_128, 0)
    return one


def parameters_of(driver, entry, source, out):
    """In the order of the kernel: a descriptor is its map, its shape and its strides; at the end, scratch memory."""
    maps, given = list(entry["maps"]), []
    for name in entry["arguments"]:
        if name == "out":
            given.append(("u64", ctypes.c_uint64(out)))
        else:
            meta = maps.pop(0)
            given += [("b8", tensor_map(driver, source, meta["box"], meta["swizzle"])),
                      ("u32", ctypes.c_uint32(ROWS)), ("u32", ctypes.c_uint32(WIDTH)),
                      ("u64", ctypes.c_uint64(WIDTH)), ("u64", ctypes.c_uint64(1))]
    given += [("u64", ctypes.c_uint64(0))] * 2
    if [kind for kind, _ in given] != entry["parameters"]:
        raise SystemExit(f"its parameters are {entry['parameters']}")
    return [one for _, one in given]


def is_right(numbers, wanted):
    return all(want is None or (not math.isnan(number) and number == want) for number, want in zip(numbers, wanted))


def run_here(folder, file, runs):
    entry = next(one for one in json.loads((folder / "index.json").read_text()) if one["file"] == file)
    wanted = right_numbers(entry["kernel"], entry["ctas"])
    if file == "scatter_halves-own.cubin":
        wanted = own_scatter()
    driver = Driver()
    poison = driver.load(folder / "poison.cubin", "poison", driver.most_shared)
    function = driver.load(folder / file, entry["kernel"], entry["shared"])
    if entry["ctas"] > 8:
        driver.call("cuFuncSetAttribute", function, NON_PORTABLE_CLUSTER, 1)
    content = b"".join(struct.pack("<e", element(row, column)) for row in range(ROWS) for column in range(WIDTH))
    source, out, size = driver.allocate(len(content)), driver.allocate(len(wanted) * 4), len(wanted) * 4
    driver.call("cuMemcpyHtoD_v2", ctypes.c_uint64(source), content, ctypes.c_size_t(len(content)))
    parameters = parameters_of(driver, entry, source, out)
    room = (ctypes.c_float * len(wanted))()
    wrong = 0
    for run in range(runs):
        driver.call("cuMemsetD32_v2", ctypes.c_uint64(out), 0xFFFFFFFF, ctypes.c_size_t(len(wanted)))
        driver.launch(poison, driver.processors, 1024, driver.most_shared, [ctypes.c_uint32(driver.most_shared)])
        driver.call("cuCtxSynchronize")
        driver.launch(function, entry["ctas"], entry["threads"], entry["shared"], parameters, entry["ctas"])
        if not run:
            print("started", flush=True)
        driver.call("cuCtxSynchronize")
        driver.call("cuMemcpyDtoH_v2", ctypes.byref(room), ctypes.c_uint64(out), ctypes.c_size_t(size))
        wrong += not is_right(list(room), wanted)
    print(f"wrong {wrong}", flush=True)


def run_apart(folder, entry, runs):
    command = [sys.executable, str(HERE / "on_gpu.py"), str(folder), "--one", entry["file"], "--runs", str(runs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               start_new_session=True)
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
    return [entry["kernel"], entry["variant"], entry["ctas"], entry["rule"], *outcome]


def run_all(options):
    index = json.loads((options.folder / "index.json").read_text())
    chosen = [one for one in index if not options.names or one["kernel"] in options.names]
    rows = []
    # Those that should hang come last: whatever a killed one leaves behind for a while, it is in nobody's way.
    for hang in False, True:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tasks = [pool.submit(run_apart, options.folder, one, options.runs) for one in chosen
                     if one["rule"].startswith(("deadlock.", "barrier.")) == hang]
            for task in tasks:
                rows.append(task.result())
                print("\t".join(str(cell) for cell in rows[-1]), flush=True)
    if options.results:
        with open(options.results, "w", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows([COLUMNS] + sorted(rows, key=str))
    for correct in True, False:
        of_these = [row[4] for row in rows if (row[3] == "-") == correct]
        counted = ", ".join(f"{of_these.count(outcome)} {outcome}" for outcome in sorted(set(of_these)))
        print(f"{'correct' if correct else 'broken'}: {counted}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what compile.py --gpu has made")
    parser.add_argument("--one", metavar="FILE", help="run one variant here")
    parser.add_argument("--runs", type=int, default=200, help="how often each is run (200)")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes at a time (2)")
    parser.add_argument("--results", help="write what came of it to this file, too")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these kernels")
    given = parser.parse_args()
    if given.one:
        run_here(given.folder, given.one, given.runs)
    else:
        run_all(given)
