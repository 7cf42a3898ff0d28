"""What weir.gpu_torch says of operators on a GPU, over Weir's device in its place: the functions of libweir-gpu.so are written here,
and streams and events are the device's. Run by test_device_torch.py, in a process of its own: programs with bugs and their twins have
the verdicts that they have where the device itself keeps the order log.

What is not the same here is left out: graphs and launches, which the library keeps on a GPU; and operators that the device takes whole
(`to`), where PyTorch has others."""

import gc
import os
import sys
import threading
import unittest

import program_cases
from program_cases import BUGS, FOLDER, N, REUSE, stream, torch, zeros
import programs
from weir import device, device_torch, device_torch_ops, gpu_torch, program, unwritten
from weir.device_torch import State

WHOLE = {"as_an_array", "checkpoint_of_a_copy", "grown_while_another_stream_writes", "prefetched_batch", "read_before_the_copy_is_over", "refilled_after_to"}
KEPT = {"branch_joined_too_late", "graph_keeps_the_address_of_the_host", "output_overwritten_by_the_next_replay", "replay_while_inputs_come",
        "kernel_of_another_stream", "library_on_the_default_stream"}


class Library:
    """As libweir-gpu.so: a line says which thread does what follows, if that is another one."""

    def __init__(self):
        self.text, self.threads, self.last, self.lock = [], {}, None, threading.RLock()
        self.depth = 0

    def lines(self, text):
        with self.lock:
            if self.last != self.thread():
                self.last = self.thread()
                self.text.append(f"thread {self.last}\n")
            self.text.append(text.decode() + "\n")

    def operation(self, stream, verb, rest):
        self.lines(verb + b" %d " % stream + rest)

    launch = operation

    def failed(self, stream, rest):
        """Nothing was launched."""

    def enter(self):
        self.depth += 1

    def leave(self):
        self.depth -= 1

    def allocated(self, stream, address, size, where):
        self.lines(b"alloc %d %d %d " % (address, size, stream) + where)

    def used(self, stream, address):
        self.lines(b"use %d %d" % (address, stream))

    def has_key(self, address):
        """No memory is shared with other processes."""
        return False

    def thread(self):
        return self.threads.setdefault(threading.get_ident(), len(self.threads) + 1)


class Log(gpu_torch.Log):
    """Streams and events are in it, which the library sees on a GPU."""

    def await_stream(self, stream):
        """Of the program's doing: what operators wait for is said below."""
        if sys._getframe(1).f_code.co_filename != device_torch.__file__:
            program.Log.await_stream(self, stream)


for name in ("stream", "record", "wait", "await_event", "await_all", "event_gone"):
    setattr(Log, name, getattr(program.Log, name))


class Memory(gpu_torch.Memory):
    """The device's own asks for nothing here."""

    def add(self, storage, written):
        if sys._getframe(1).f_code.co_filename == gpu_torch.__file__:
            super().add(storage, written)


def only_named(function):
    """Of the device: what it would say of operators itself."""
    def log(self, *values):
        if isinstance(self, gpu_torch.Operator):
            function(self, *values)

    return log


def passing(plain):
    """What the driver tells the library while an operator is done: that the host waits for it."""
    def pass_on(self, keys, args, named):
        made = plain(self, keys, args, named)
        log, waits = program.State.log, self.name in device_torch.WAITS
        if self.copies and args[0].is_cuda != args[1].is_cuda:
            pinned = (args[1] if args[0].is_cuda else args[0]).is_pinned()
            waits = not (self.argument(2, args, named) and pinned)
        if log is not None and waits and not program.current.quiet:
            program.Log.await_stream(log, program.current.stream)
        return made

    return pass_on


def take_place():
    gpu_torch.Operator.pass_on = passing(gpu_torch.Operator.pass_on)
    device_torch.Kernel.log = only_named(device_torch.Kernel.log)
    device_torch_ops.ToCopy.log = device.Loaded.log = lambda *values, **named: None
    plain = device_torch.log_copy
    device_torch.log_copy = lambda to, *rest: plain(to, *rest) if isinstance(sys._getframe(1).f_locals.get("self"), gpu_torch.Operator) else None
    say = device_torch.log_operation
    device_torch.log_operation = lambda *values: sys._getframe(1).f_code.co_filename != device_torch_ops.__file__ and say(*values)
    gpu_torch.stream_here, gpu_torch.handle_of = program.stream_on, lambda stream: stream.stream_id
    torch._C._cuda_isCurrentStreamCapturing = lambda: False
    State.memory = Memory()
    gpu_torch.register()
    program.State.watches = True
    program.watch_threads()


def run_named(test, name, fixed):
    gc.collect()
    torch.cuda.synchronize()
    library = Library()
    for function in ("lines", "operation", "launch", "failed", "enter", "leave", "allocated", "used", "thread", "has_key"):
        setattr(gpu_torch.Library, function, getattr(library, function))
    State.memory.live.clear()
    program.State.log = Log()
    kept = test(fixed)
    program.State.log = None
    del kept
    path = os.path.join(FOLDER.name, f"{name}.weirlog")
    with open(path, "w", encoding="utf-8") as file:
        file.write("weirlog 1\n" + "".join(library.text) + "end\n")
    return path, library.depth


class Named(unittest.TestCase):
    maxDiff = None

    def test_programs(self):
        take_place()
        for fixed in (False, True):
            path, _ = run_named(host_waits_within, f"waits-{fixed}", fixed)
            result = programs.verdicts([path])[f"waits-{fixed}"]
            self.assertEqual((result["verdict"], result["findings"], result["incomplete"]), ("clean", [], []))
        cases = [case for case in BUGS if case[0].__module__ != "program_launches" and case[0].__name__ not in WHOLE | KEPT]
        self.assertGreater(len(cases), 30)
        self.assertGreater(sum(rule == REUSE for _, rule, *_ in cases), 5)
        paths = []
        for test, *_ in cases:
            for word, fixed in (("wrong", False), ("right", True)):
                path, depth = run_named(test, f"{test.__name__}-{word}", fixed)
                self.assertEqual(depth, 0)
                paths.append(path)
        results = programs.verdicts(paths)
        for test, rule, fix, also in cases:
            wrong, right = (results[f"{test.__name__}-{word}"] for word in ("wrong", "right"))
            with self.subTest(test.__name__):
                self.assertEqual({one["rule"] for one in wrong["findings"]}, {rule} | ({also} if also else set()))
                self.assertIn(fix, wrong["findings"][0]["fix"])
                self.assertEqual((right["verdict"], right["findings"], right["incomplete"]), ("clean", [], []))


def host_waits_within(fixed):
    """`item`, and a copy to memory that is not pinned: what they have read is over when they return."""
    x, side = zeros(), stream()
    torch.cuda.synchronize()
    if fixed:
        x[0].item()
    else:
        torch.empty(N).copy_(x)
    with torch.cuda.stream(side):
        x.add_(1)
    torch.cuda.synchronize()


KERNEL = """
  tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %0 = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %1 = tt.addptr %0, %range : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %2 = tt.load %1 : tensor<128x!tt.ptr<f32>, #blocked>
    %3:2 = scf.for %i = %c0 to %n step %c1 iter_args(%at = %y, %sum = %2) -> (!tt.ptr<f32>, tensor<128xf32, #blocked>)  : i32 {
      %5 = tt.addptr %at, %i : !tt.ptr<f32>, i32
      STORE
      scf.yield %5, %2 : !tt.ptr<f32>, tensor<128xf32, #blocked>
    }
    tt.return
  }
"""


class Written(unittest.TestCase):
    """Which parameters a kernel may write behind."""

    def test_parameters(self):
        for store, written in (("tt.store %1, %2 : tensor<128x!tt.ptr<f32>, #blocked>", {0}), ("tt.store %5, %i : !tt.ptr<f32>", {1}),
                               ("%6 = tt.atomic_rmw fadd, acq_rel, gpu, %z, %s, %t : (!tt.ptr<f32>, f32, i1) -> f32", {2}),
                               ("", set()), ("tt.store %unknown, %2 : tensor<128x!tt.ptr<f32>, #blocked>", None),
                               ("tt.new_op %5, %z : !tt.ptr<f32>, !tt.ptr<f32>", {1, 2})):
            with self.subTest(store):
                self.assertEqual(unwritten.written_parameters(KERNEL.replace("STORE", store)), written)
        self.assertIsNone(unwritten.written_parameters("!p = !tt.ptr<f32>\n" + KERNEL.replace("STORE", "")))
        self.assertIsNone(unwritten.written_parameters(KERNEL.replace("STORE", "") + "  tt.func private @other(%p: !tt.ptr<f32>) {\n"))


PTX = """.version 8.7
.visible .entry kernel( // a kernel
	.param .u64 kernel_param_0
)
.reqntid 128
{
	.reg .b32 	%r<35>;
	.loc	1 28 0                          // k.py:28:0
$L__func_begin0:
	ld.param.b64 	%rd7, [kernel_param_0];
	mov.u32 	%r27, %ctaid.x;
	.loc	1 29 0
	{ shl.b32 	%r28, %r27, 10; }
	WAIT
	ld.global.b32 	%r1, [%rd7];
	griddepcontrol.wait;
	ret;
}
"""


class Waits(unittest.TestCase):
    """Whether a dependent launch waits before it does anything."""

    def test_text(self):
        for wait, waits in (("griddepcontrol.wait; // dummy", True), ("", False), ("@%p1 griddepcontrol.wait;", False),
                            ("bra $L; griddepcontrol.wait;", False), ("griddepcontrol.launch_dependents; griddepcontrol.wait;", False)):
            with self.subTest(wait):
                self.assertIs(gpu_torch.waits_first(PTX.replace("WAIT", wait), "kernel"), waits)
        self.assertFalse(gpu_torch.waits_first(PTX.replace("WAIT", "griddepcontrol.wait;"), "other"))
        self.assertFalse(gpu_torch.waits_first(None, "kernel"))


if __name__ == "__main__":
    import program_copies  # noqa: F401
    import program_launches  # noqa: F401
    import program_streams  # noqa: F401

    assert program_cases.BUGS
    unittest.main()
