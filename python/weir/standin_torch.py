"""PyTorch on a machine without a GPU: what a script asks to be on "cuda" is on the CPU, and torch.cuda answers for the
stand-in, so that scripts which name that device come to their launches."""

import glob
import types

from . import standin, unwritten


class State:
    installed = False


def has_gpu():
    return bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/dev/kfd") or glob.glob("/dev/dxg"))


def make_mode(torch):
    from torch.overrides import TorchFunctionMode

    here = torch.device("cpu")

    def moved(device):
        if isinstance(device, str):
            return here if device.split(":")[0] in ("cuda", "hip") else device
        if isinstance(device, torch.device):
            return here if device.type in ("cuda", "hip") else device
        return device

    def tensors(value):
        """Those in arguments or results, as far as functions have them: in lists and tuples, too."""
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for part in value:
                yield from tensors(part)

    class OnTheCpu(TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), named=None):
            named = dict(named or {})
            name = getattr(function, "__name__", "")
            if name in ("cuda", "pin_memory") and args and isinstance(args[0], torch.Tensor):
                return args[0]
            if "device" in named:
                named["device"] = here if isinstance(named["device"], int) else moved(named["device"])
            named.pop("pin_memory", None)
            if name in ("to", "type", "empty_strided"):
                args = tuple(moved(value) for value in args)
            made = function(*args, **named)
            if isinstance(made, (torch.Tensor, list, tuple)) and name != "__get__":
                unwritten.add_result(name, [*tensors(args), *tensors(tuple(named.values()))], list(tensors(made)))
            return made

    return OnTheCpu()


def answers(target):
    """Of torch.cuda: name and value of what is asked of a GPU. No two names have one function: torch.compile keeps a table by
    function, and takes each only once."""
    backend, architecture, warp_size = standin.parse_target(target)
    capability = divmod(architecture, 10) if backend == "cuda" else (9, 4)
    known = standin.Utils(target, warp_size).properties
    properties = types.SimpleNamespace(
        name=f"stand-in for {target}", major=capability[0], minor=capability[1], warp_size=warp_size,
        multi_processor_count=known["multiprocessor_count"], total_memory=80 << 30, L2_cache_size=50 << 20,
        shared_memory_per_block_optin=known["max_shared_mem"], max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536, gcnArchName=target if backend == "hip" else "")
    always = lambda value: lambda *args, **named: value
    stream = standin.Stream()
    return dict(
        is_available=always(True), is_initialized=always(True), device_count=always(1), current_device=always(0),
        get_device_capability=always(capability), get_device_properties=always(properties),
        get_device_name=always(properties.name), mem_get_info=always((80 << 30, 80 << 30)), synchronize=always(None),
        empty_cache=always(None), set_device=always(None), manual_seed=always(None), manual_seed_all=always(None),
        _lazy_init=always(None), memory_allocated=always(0), max_memory_allocated=always(0),
        reset_peak_memory_stats=always(None), is_current_stream_capturing=always(False), current_stream=always(stream),
        default_stream=always(stream), stream=lambda one=None: one or stream,
        device=type("device", (standin.Stream,), {}), Stream=standin.Stream, Event=standin.Event)


def install(target):
    """After PyTorch was imported, where there is no GPU."""
    import torch

    if State.installed or has_gpu() or torch.cuda.is_available():
        return
    State.installed = True
    for name, value in answers(target or standin.USUAL_TARGET).items():
        setattr(torch.cuda, name, value)
    make_mode(torch).__enter__()
