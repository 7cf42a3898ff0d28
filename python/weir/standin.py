"""A driver for Triton on a machine without a GPU: kernels are compiled for the GPU that is wanted. By itself a launch runs
nothing; device.py runs those of PTX."""

import os
import re
import sys
import time

from . import program, unwritten

# Of the GPUs that kernels ask about: streaming multiprocessors or compute units, bytes of shared memory for a block.
SHARED = {"sm_80": (108, 166912), "sm_86": (84, 101376), "sm_89": (142, 101376), "sm_90": (132, 232448),
          "sm_100": (148, 232448), "sm_103": (148, 232448), "sm_120": (188, 101376),
          "gfx90a": (104, 65536), "gfx942": (304, 65536), "gfx950": (256, 163840), "gfx1250": (256, 327680)}
USUAL_TARGET = "sm_90"


def parse_target(text):
    """Triton's name for a target: backend, architecture, threads of a warp."""
    cuda = re.fullmatch(r"sm_?(\d+)[af]?", text)
    if cuda:
        return "cuda", int(cuda.group(1)), 32
    if re.fullmatch(r"gfx[0-9a-f]+", text):
        return "hip", text, 64 if text.startswith("gfx9") else 32
    raise ValueError(f"there is no target '{text}': sm_90 and gfx942 are examples of one")


class Utils:
    """Of the driver: what loads kernels, and knows the device."""

    def __init__(self, name, warp_size):
        processors, shared = SHARED.get(re.sub(r"[af]$", "", name), SHARED[USUAL_TARGET])
        self.properties = dict(
            max_shared_mem=shared, multiprocessor_count=processors, max_num_regs=65536, warpSize=warp_size,
            sm_clock_rate=1980000, mem_clock_rate=2619000, mem_bus_width=5120, max_threads_per_block=1024,
            cooperativeLaunch=1, arch=name)

    def get_device_properties(self, device):
        return dict(self.properties)

    def load_binary(self, name, kernel, shared, device):
        """Module, function, registers and spilled ones of a thread, the most threads of a block."""
        return 1, 1, 32, 0, 1024

    def unload_module(self, module):
        pass

    def cuOccupancyMaxActiveClusters(self, *arguments):
        return self.properties["multiprocessor_count"] // 2


class Launcher:
    """What would start the kernel on a device."""

    def __init__(self, source, metadata):
        self.name, self.dependent = metadata.name, bool(getattr(metadata, "launch_pdl", False))

    def __call__(self, *arguments, **named):
        if program.State.log is not None:
            program.State.log.unknown_launch(program.current.stream, self.name, self.dependent)


class Event:
    """A point in time, as torch.cuda.Event."""

    def __init__(self, *arguments, **named):
        self.at = 0.0

    def record(self, stream=None):
        self.at = time.perf_counter()

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return max(1e-3, (end.at - self.at) * 1000)


class Stream:
    """As torch.cuda.Stream, and as what says which one is current."""

    cuda_stream = 0

    def __init__(self, *arguments, **named):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        return event or Event()


class Device:
    """As torch.cuda, as far as benchmarks use it."""

    Event, Stream, stream = Event, Stream, staticmethod(lambda stream=None: stream or Stream())

    def synchronize(self, device=None):
        pass

    def current_device(self):
        return 0

    def set_device(self, device):
        pass

    def current_stream(self, device=None):
        return Stream()

    default_stream = current_stream

    def is_available(self):
        return True


class Cache:
    """What a benchmark clears between two runs."""

    def zero_(self):
        pass


def make_driver(text):
    """The driver for a target. Made late, as its base is Triton's."""
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    backend, architecture, warp_size = parse_target(text)

    class Driver(DriverBase):
        def __init__(self):
            self.utils = Utils(text, warp_size)
            self.launcher_cls = Launcher

        @staticmethod
        def is_active():
            return True

        def map_python_to_cpp_type(self, ty):
            return ty

        def get_current_target(self):
            return GPUTarget(backend, architecture, warp_size)

        def get_device_capability(self, device=0):
            return divmod(architecture, 10) if backend == "cuda" else (9, 4)

        def get_current_device(self):
            return 0

        def set_current_device(self, device):
            pass

        def get_current_stream(self, device=0):
            return 0

        def get_active_torch_device(self):
            import torch

            from . import device_torch

            return torch.device("cuda", 0) if device_torch.State.installed else torch.device("cpu")

        def get_device_interface(self):
            return Device()

        def get_empty_cache_for_benchmark(self):
            return Cache()

        def clear_cache(self, cache):
            pass

        def get_benchmarker(self):
            return bench_once

        def assemble_tensormap_to_arg(self, tensormaps_info, args):
            return args

        def allocate_default_profile_scratch(self, size, alignment, stream):
            return None

    return Driver()


def bench_once(kernel_call, *arguments, quantiles=None, return_mode="mean", **named):
    """In place of a benchmark: a launch that runs nothing need not be made more than once. All take the same time."""
    kernel_call()
    if return_mode == "all":
        return [1.0]
    return 1.0 if quantiles is None else [1.0] * len(quantiles)


def take_place(driver):
    """What makes drivers by itself, as PyTorch's compiler does, gets the stand-in, too."""
    import dataclasses

    from triton.backends import backends

    name = {"cuda": "nvidia", "hip": "amd"}[driver.get_current_target().backend]
    if name in backends:
        backends[name] = dataclasses.replace(backends[name], driver=type(driver))


def runs_kernels(target):
    """Whether kernels for that target run on the CPU."""
    return parse_target(target)[0] == "cuda" and os.environ.get("WEIR_RUN") != "no"


def install(target, when_used, watcher):
    """From now on Triton takes the stand-in: at once if a target is named, else when it finds no GPU. Calls `when_used` with the
    target when that happens. Kernels of PTX run on the CPU then (device.run_kernels, which takes the watcher)."""
    import triton

    if target:
        parse_target(target)
    module = sys.modules["triton.runtime.driver"]
    create = module._create_driver

    chosen, made = target or USUAL_TARGET, []

    def early():
        """PyTorch's compiler looks for the backend's driver before it asks for the active one."""
        if not made:
            made.append(make_driver(chosen))
            take_place(made[0])
        return made[0]

    def stand_in():
        driver = early()
        triton.testing.do_bench = triton.testing.do_bench_cudagraph = bench_once
        runs = runs_kernels(chosen)
        unwritten.State.nothing_runs = not runs
        if runs:
            from . import device

            device.State.checks = False
            device.run_kernels(watcher)
        when_used(chosen)
        return driver

    def create_driver():
        from . import device_torch

        if target or device_torch.State.installed:
            return stand_in()
        try:
            driver = create()
            if not device_torch.State.installed:
                return driver
        except Exception as error:  # Triton may have imported PyTorch, which then has the device
            if not device_torch.State.installed and not str(error).startswith("0 active drivers"):
                raise
        return stand_in()

    module._create_driver = create_driver
    from . import device_torch

    if target or device_torch.State.installed:
        early()


def device_number(index=0):
    """Which GPU of the machine a device of this process stands for: CUDA_VISIBLE_DEVICES renumbers them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return int(visible[index]) if index < len(visible) and visible[index].strip().isdigit() else index
