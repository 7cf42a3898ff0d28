"""The order log of a program that runs on the device without a GPU (docs/programs.md): what it puts into which stream, what
waits for what, which memory there is. `weir check FILE.weirlog` finds what nothing orders."""

import atexit
import collections
import ctypes
import os
import queue
import sys
import threading
import time
from concurrent import futures
from threading import get_ident

MOST_BYTES = 1 << 30
PIECES = 64  # lines that are written at once
MOST_IDLE = 1 << 16  # lines that are kept before the first operation
LEGACY, NON_BLOCKING = 2, 0
DEVICE_BITS = 20  # of a stream's number: those above are its device
DELAY, MOST_DELAYS = 0.25, 8  # seconds; how often in a process
OWN = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(os.getcwd(), "")
FIRST_VIEW = 1 << 32  # numbers of threads that stand for arrays of the host
FIRST_MESSAGE = 1 << 33
LETTERS = {1: "r", 2: "w", 4: "R", 8: "W"}  # weir_device_touch.how


class State:
    log = None
    captures = False  # a graph is being captured
    watches = False  # threads are
    devices = 1

    @staticmethod
    def memory():
        """(address, bytes, whether it is pinned memory of the host) of what lives; set by the device."""
        return ()

    @staticmethod
    def shared():
        """(address, bytes, key) of what other processes have, too."""
        return ()


class Current(threading.local):
    """The stream that this thread puts operations into; `quiet` while it works for Weir, and not for the program."""

    stream, quiet = 0, False
    site = None  # where what a graph does now was captured

    def __init__(self):
        self.last = {}  # by device: the stream that it had there


current = Current()


def device_of(stream):
    """Streams of all devices have numbers: the default stream of a device is the first. Those of other libraries are their handles."""
    device = stream >> DEVICE_BITS
    return device if device < State.devices else 0


def default_stream(device):
    return device << DEVICE_BITS


def stream_on(device):
    """The current stream of a device."""
    if device == device_of(current.stream):
        return current.stream
    return current.last.get(device, default_stream(device))


def set_device(device):
    """The one that this thread uses; returns the one before."""
    before = device_of(current.stream)
    if device != before:
        current.last[before], current.stream = current.stream, stream_on(device)
    return before


def set_stream(stream):
    """The current stream of its device; returns the one before."""
    device = device_of(stream)
    before = stream_on(device)
    if device == device_of(current.stream):
        current.stream = stream
    else:
        current.last[device] = stream
    return before


class on_device:
    """While it lasts, this thread uses that device."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.before = set_device(self.device)

    def __exit__(self, *error):
        set_device(self.before)
        return False


class quiet:
    """While it lasts, what this thread does is not the program's doing."""

    def __enter__(self):
        self.before, current.quiet = current.quiet, True

    def __exit__(self, *error):
        current.quiet = self.before
        return False


# ---- Places ----------------------------------------------------------------------------------------


def library_folders():
    """Where PyTorch and Triton are, wherever they are installed."""
    modules = (sys.modules.get(name) for name in ("torch", "triton"))
    return tuple(os.path.join(folder, "") for module in modules for folder in getattr(module, "__path__", ()))


def is_library(name):
    """Whether code of that file is not the program's own."""
    parts = name.replace("\\", "/").split("/")
    return name.startswith(OWN) or name.startswith("<") or name.startswith(library_folders()) or \
        "importlib" in parts or parts[-3:-1] == ["concurrent", "futures"] or name.endswith(("/contextlib.py", "/functools.py", "/threading.py", "/queue.py"))


codes = {}  # by id: a code object, and for the program's own ones the texts of their places, by instruction; None: a library's
quotes = {}


def add_code(code):
    codes[id(code)] = found = code, None if is_library(code.co_filename) else {}
    return found


def where():
    """The program's own line that does this, "app.py:14", or has autograd do it; "" where there is none."""
    if current.site is not None:
        return current.site
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        places = (codes.get(id(code)) or add_code(code))[1]
        if places is not None:
            place = places.get(frame.f_lasti)
            if place is None:
                name = code.co_filename
                place = places[frame.f_lasti] = f"{name[len(FOLDER):] if name.startswith(FOLDER) else name}:{frame.f_lineno}"
            return place
        frame = frame.f_back
    callers = State.log.callers if State.log is not None else None
    return callers[-1][1] if callers else ""


def quoted(text):
    made = quotes.get(text)
    if made is None:
        made = '"' + text.replace('"', "'").replace("\n", " ").replace("\r", " ") + '"'
        if len(quotes) < MOST_IDLE:
            quotes[text] = made
    return made


# ---- The log ----------------------------------------------------------------------------------------


class Log:
    def __init__(self, path):
        self.path, self.lines, self.bytes, self.full = path, [], 0, False
        self.operations = 0
        self.lock = threading.RLock()
        self.thread, self.threads = threading.get_ident(), {threading.get_ident(): 0}
        self.thread_count = 1
        self.python_threads = {threading.get_ident()}
        self.callers = []  # of autograd's engine, whose threads work for them: the number of each, and its place
        self.free_events, self.event_count = [], 0
        self.streams = {}  # where they were made
        self.memory = set()  # addresses of allocations that the log has
        self.asynchronous = {}  # addresses of pinned memory that streams may copy: the streams
        self.free_views, self.view_count = [], 0
        self.pointed = {}  # addresses of pinned memory that the program has taken: the view that stands for that
        self.free_messages, self.message_count = [], 0
        self.file, self.closed = None, False  # opened once there is something to say: a process may do nothing on the device
        self.delays, self.meets = MOST_DELAYS, False  # meets: a launch accesses memory of other processes, and was not waited for
        self.busy, self.awaited = set(), 0  # streams with operations since the host has waited; how often it has
        self.timed = False  # it says when things are done: other processes have memory or messages of this one
        self.lines += ["weirlog 1\n", f"process {os.getpid()}\n"]
        if State.devices > 1:
            self.lines.append(f"devices {State.devices}\n")
        for device in range(1, State.devices):
            self.lines.append(f'stream {default_stream(device)} {LEGACY} {device} ""\n')
        if os.environ.get("RANK", "").isdigit():
            self.called(f"rank {os.environ['RANK']}")

    # ---- Lines --------------------------------------------------------------------------------------

    def add(self, *lines, at=None):
        """Lines that belong together. `at`: when the program has begun it, if not now."""
        if current.quiet:
            return
        with self.lock:
            if self.timed:
                self.lines.append(f"at {at or time.monotonic_ns()}\n")
            ident = get_ident()
            if ident != self.thread:
                self.thread = ident
                self.lines.append(self.thread_line(ident))
            self.lines += lines
            if len(self.lines) >= PIECES or self.operations == 1:
                self.flush()

    def thread_line(self, ident):
        callers = {number for number, _ in self.callers}
        if len(callers) == 1 and ident not in self.python_threads:
            return f"thread {callers.pop()}\n"
        number = self.threads.get(ident)
        if number is not None:
            return f"thread {number}\n"
        number = self.threads[ident] = self.thread_count
        self.thread_count += 1
        return f"thread {number}\n"

    def flush(self):
        if not self.operations and len(self.lines) < MOST_IDLE:
            return
        text, self.lines = "".join(self.lines), []
        self.bytes += len(text)
        if self.full or self.closed:
            return
        if self.file is None:
            self.file = open(self.path, "w", encoding="utf-8", errors="replace")
        if self.bytes > MOST_BYTES:
            self.full = True
            text = f'missing "the order log is larger than {MOST_BYTES >> 30} GiB: what the program did then was not checked"\n'
        self.file.write(text)
        self.file.flush()

    def close(self):
        if self.closed:
            return
        with self.lock:
            if self.timed:
                self.lines += [f"at {time.monotonic_ns()}\n", f'send 1 "end-{os.getpid()}"\n']
            self.lines.append("end\n")
            self.flush()
            self.closed = True
            if self.file is not None:
                self.file.close()

    # ---- What the program does --------------------------------------------------------------------------

    def stream(self, number, captured=None):
        """A new one; of a graph, it has the place of the one that was captured."""
        self.streams[number] = where() if captured is None else f"{self.streams.get(captured, '')}, in a graph"
        self.add(f"stream {number} {NON_BLOCKING} {device_of(number)} {quoted(self.streams[number])}\n")

    def allocated(self, address, size, stream):
        if current.quiet:
            return
        self.memory.add(address)
        if stream is None:  # memory of a graph: it lives as long as that, and is not given out again
            self.add(f"host {address} {size} {quoted(where())}\n")
        else:
            self.add(f"alloc {address} {size} {stream} {quoted(where())}\n")

    def pinned(self, address, size):
        self.memory.add(address)
        self.add(f"host {address} {size} {quoted(where())}\n")

    def freed(self, address):
        if address in self.pointed:
            self.view_gone(self.pointed.pop(address))
        if address in self.memory:
            self.memory.discard(address)
            self.add(f'free {address} ""\n')

    def used(self, address, stream):
        self.add(f"use {address} {stream}\n")

    def operation(self, verb, stream, name, touches):
        self.operations += 1
        self.busy.add(stream)
        self.add(f"{verb} {stream} {quoted(name)} {quoted(where())}\n", *touches)

    def host_access(self, name, touches):
        self.add(f"access {quoted(name)} {quoted(where())}\n", *touches)

    def launch(self, stream, name, dependent, waits, touches, at=None, steps=()):
        """`touches`: as weir_device_touches gives them; None: not known. `steps`: lines of what its warps have done."""
        if touches is None:
            return self.unknown_launch(stream, name, dependent)
        self.operations += 1
        self.busy.add(stream)
        self.meets |= bool(steps)
        lines = list(steps)
        for touch in touches:
            early, letter = "e" if touch.how & 16 else "", LETTERS[touch.how & 15]
            pieces = f" {touch.stride} {touch.count}" if touch.count > 1 else ""
            lines.append(f"{early}{letter} {touch.address} {touch.bytes}{pieces}\n")
        verb = f"dependent {stream} {int(waits)}" if dependent else f"launch {stream}"
        self.add(f"{verb} {quoted(name)} {quoted(where())}\n", *lines, at=at)

    def unknown_launch(self, stream, name, dependent):
        """One that did not run, or of which it is not known what it accesses."""
        self.operations += 1
        self.busy.add(stream)
        self.add(f"unknown {stream} {int(dependent)} {quoted(name)} {quoted(where())}\n")

    def fork(self, stream, graph_stream):
        self.add(f"fork {graph_stream} {stream}\n")

    def join(self, stream, graph_stream):
        self.busy.add(stream)
        self.add(f"join {graph_stream} {stream}\n")

    def record(self, event, stream):
        self.add(f"record {event} {stream}\n")

    def wait(self, event, stream):
        self.add(f"wait {event} {stream}\n")

    def event(self):
        """A number for one; numbers of events that are gone are used again."""
        with self.lock:
            if self.free_events:
                return self.free_events.pop()
            self.event_count += 1
            return self.event_count

    def event_gone(self, event):
        self.add(f"gone {event}\n")
        with self.lock:
            self.free_events.append(event)

    def delay(self):
        """Before this process knows that a launch on memory of several processes is over. What others put into their streams
        meanwhile does not depend on it: it was not handed over."""
        if self.meets and self.delays and not current.quiet:
            self.meets, self.delays = False, self.delays - 1
            time.sleep(DELAY)

    def asked(self, stream):
        """A stream is over when it is asked the second time, as on a GPU, or if the host has waited meanwhile."""
        busy = stream in self.busy
        self.busy.discard(stream)
        return not busy

    def awaits(self):
        """What the host has waited for is not told apart."""
        self.awaited += 1
        self.busy.clear()
        self.delay()

    def await_event(self, event):
        self.awaits()
        self.add(f"await-event {event}\n")

    def await_stream(self, stream):
        self.awaits()
        self.add(f"await-stream {stream}\n")
        if self.asynchronous and self.thread_count == 1:
            for address, streams in list(self.asynchronous.items()):
                streams.discard(stream)
                if not streams:
                    del self.asynchronous[address]

    def await_all(self, device=None):
        self.awaits()
        self.add("await-all\n" if State.devices == 1 else f"await-all {device_of(current.stream) if device is None else device}\n")
        if self.thread_count == 1 and State.devices == 1:
            self.asynchronous.clear()

    # ---- Pinned memory ------------------------------------------------------------------------------------

    def started_copy(self, address, stream):
        self.asynchronous.setdefault(address, set()).add(stream)

    def view(self, address, size, name):
        """From now on, the host may access the memory in ways that are not seen: as a thread that this one starts."""
        with self.lock:
            self.view_count += not self.free_views
            number = self.free_views.pop() if self.free_views else FIRST_VIEW + self.view_count
            self.add()
            own = self.number()
            self.add(f"thread {number}\n", f"learn {own}\n", f"access {quoted(name)} {quoted(where())}\n", f"u {address} {size}\n",
                     f"thread {own}\n")
        return number

    def view_gone(self, number):
        """This thread joins it, whatever it does now."""
        before, current.quiet = current.quiet, False
        self.add(f"learn {number}\n")
        current.quiet = before
        with self.lock:
            self.free_views.append(number)

    def missing(self, sentence):
        self.operations += 1
        self.add(f"missing {quoted(sentence)}\n")

    # ---- Processes ---------------------------------------------------------------------------------------

    def called(self, name):
        self.add(f"called {quoted(name)}\n")

    def tell(self, count, key):
        """A message to other processes, which is received so often."""
        self.timed = True
        self.add(f"send {count} {quoted(key)}\n")

    def hear(self, key):
        self.timed = True
        self.add(f"receive {quoted(key)}\n")

    def shared(self, address, size, key, offset=0, total=None):
        """Memory that all processes know by the key."""
        self.timed = True
        self.memory.add(address)
        self.add(f"shared {address} {size} {offset} {total or size} {quoted(key)}\n")

    def hands_over(self, group):
        """Whether what a collective of the group orders is known."""
        return True

    def stream_aside(self):
        """A stream for collectives that the caller waits for later."""
        from . import device_torch_cuda

        self.stream(stream := next(device_torch_cuda.numbers))
        return stream

    def copied_out(self):
        """A collective that goes by the host has copied what the current stream has made."""
        self.await_stream(current.stream)

    def shared_event(self, event, key):
        self.timed = True
        self.add(f"event {event} {quoted(key)}\n")

    # ---- Threads -----------------------------------------------------------------------------------------

    def worked(self):
        """Threads that have worked for this one are done with it."""

    def enter(self, number):
        """This thread begins, with what another one knew when it started it: send() gave the number there."""
        with self.lock:
            self.python_threads.add(get_ident())
            self.threads[get_ident()] = number
            self.thread_count += 1
            self.thread = None  # another one may have had that ident

    def send(self):
        """Number of a thread that knows what this one knows: one that it starts, or one that stands for a message."""
        with self.lock:
            self.message_count += not self.free_messages
            number = self.free_messages.pop() if self.free_messages else FIRST_MESSAGE + self.message_count
            self.add(f"spawn {number}\n")
        return number

    def receive(self, number):
        with self.lock:
            self.add(f"learn {number} 1\n")
            self.free_messages.append(number)

    def number(self):
        """Of this thread."""
        return int(self.thread_line(threading.get_ident()).split()[1])


class working_for:
    """While it lasts, threads of autograd's engine do what this one has them do."""

    def __enter__(self):
        self.log = log = State.log
        if log is not None:
            with log.lock:
                log.add()
                log.callers.append((log.number(), where()))
                log.thread = None

    def __exit__(self, *error):
        log = self.log
        if log is not None:
            with log.lock:
                number = log.number()
                log.callers.pop(next(i for i, (one, _) in enumerate(log.callers) if one == number))
                log.thread = None
            log.worked()
        return False


def watch_threads():
    """A thread begins with what the one that starts it knows; one that joins it learns what it knew."""
    start, join = threading.Thread.start, threading.Thread.join

    def started(self):
        run, log = self.run, State.log
        if log is None:
            return start(self)
        number = log.send()

        def announced():
            log.enter(number)
            run()

        self.run, self._weir_number = announced, (log, number)
        return start(self)

    def joined(self, timeout=None):
        result = join(self, timeout)
        if not self.is_alive():
            receive(self.__dict__.pop("_weir_number", None))
        return result

    threading.Thread.start, threading.Thread.join = started, joined
    watch_queues()
    watch_futures()


def watch_queues():
    """Who takes an item out of a queue.Queue knows what the one that has put it in knew then."""
    put, get = queue.Queue._put, queue.Queue._get

    def sent(self, item):
        put(self, item)
        messages = self.__dict__.setdefault("_weir_messages", collections.deque())
        messages.append(send())
        if len(messages) != len(self.queue):  # there were items before
            messages.clear()

    def received(self):
        item, messages = get(self), self.__dict__.get("_weir_messages")
        if messages:
            receive(messages.popleft())
        return item

    queue.Queue._put, queue.Queue._get = sent, received


def watch_futures():
    """A task of a ThreadPoolExecutor begins with what the one that submits it knows; who gets its result knows what it knew."""
    submit, result = futures.ThreadPoolExecutor.submit, futures.Future.result

    def submitted(self, function, /, *args, **named):
        if State.log is None:
            return submit(self, function, *args, **named)
        begun, ended = send(), []

        def work(*args, **named):
            receive(begun)
            try:
                return function(*args, **named)
            finally:
                ended.append(send())

        made = submit(self, work, *args, **named)
        made._weir_ended = ended
        return made

    def got(self, timeout=None):
        try:
            return result(self, timeout)
        finally:
            ended = self.__dict__.get("_weir_ended")
            if ended and self.done():
                receive(ended.pop())

    futures.ThreadPoolExecutor.submit, futures.Future.result = submitted, got


def send():
    """A message with what this thread knows, for `receive`."""
    log = State.log
    return None if log is None or not log.operations else (log, log.send())


def receive(message):
    if message is not None and message[0] is State.log:
        message[0].receive(message[1])


def begin(folder, name=None):
    """From now on, this process writes its log into the folder. Memory that lives is the default stream's."""
    if State.log is not None:
        return
    State.log = Log(os.path.join(folder, f"{name or f'program-{os.getpid()}'}.weirlog"))
    for address, size, pinned in State.memory():
        State.log.pinned(address, size) if pinned else State.log.allocated(address, size, 0)
    for address, size, key in State.shared():
        State.log.shared(address, size, key)
    if not State.watches:
        State.watches = True
        watch_threads()
        from . import program_processes

        program_processes.watch()
        atexit.register(end)
    end_with_process()


def end_with_process():
    """Processes of multiprocessing end without atexit. What was registered before a process runs its target is forgotten there, as where
    the target itself imports PyTorch (forkserver, spawn); but for what is done after a fork."""
    from multiprocessing import util

    def finalize(*unused):
        util.Finalize(None, end, exitpriority=-1)

    finalize()
    util.register_after_fork(State, finalize)


def end():
    """The log is whole."""
    log, State.log = State.log, None
    if log is not None:
        log.close()


def after_fork():
    """A child's operations are not in its parent's log, but in one of its own."""
    parent, State.log = State.log, None
    if parent is not None:
        parent.closed = True  # here
        if parent.path is None:  # of a GPU, which a child cannot use
            return
        current.quiet = False
        begin(os.path.dirname(parent.path))


os.register_at_fork(after_in_child=after_fork)


# ---- Steps of warps --------------------------------------------------------------------------------------


ACCESS, FENCE, ARRIVE, PASS = range(4)  # weir_device_step.what


def step_lines(steps):
    """How a step is: scope, order and kind, a digit each."""
    lines = []
    for step in steps:
        if step.what == ACCESS and not step.bytes:
            continue
        place = quoted(f"{ctypes.string_at(step.file, step.file_size).decode('utf-8', 'replace')}:{step.line}" if step.file else "")
        how = 100 * step.scope + 10 * step.order + step.kind
        if step.what == ACCESS:
            lines.append(f"step {step.time} {step.warp} {how} {step.address} {step.bytes} {place}\n")
        elif step.what == FENCE:
            lines.append(f"fence {step.time} {step.warp} {how} {place}\n")
        else:
            lines.append(f"{'arrive' if step.what == ARRIVE else 'pass'} {step.time} {step.warp} {step.address}\n")
    return lines


# ---- Touches of operators -------------------------------------------------------------------------------


def pieces(tensor):
    """(address, bytes, stride, count) of what a tensor covers: as few as can be; None where that is too many."""
    width, shape = tensor.element_size(), tensor.shape
    if 0 in shape:
        return ()
    address, length = tensor.data_ptr(), width
    if tensor.is_contiguous():
        return ((address, width * tensor.numel(), 0, 1),)
    outer = []
    for stride, size in sorted((stride * width, size) for size, stride in zip(shape, tensor.stride()) if size > 1 and stride):
        if not outer and stride <= length:
            length += stride * (size - 1)
        else:
            outer.append((stride, size))
    if not outer:
        return ((address, length, 0, 1),)
    (stride, count), rest = outer[0], outer[1:]
    starts = [address]
    for step, size in rest:
        if len(starts) * size > 4096:
            return None
        starts = [start + i * step for start in starts for i in range(size)]
    if stride < length:
        return None
    return [(start, length, stride, count) for start in starts]


def touch_line(letter, tensor):
    """Lines, as one text; None where it has too many pieces."""
    if tensor.is_contiguous():
        size = tensor.nbytes
        return f"{letter} {tensor.data_ptr()} {size}\n" if size else ""
    found = pieces(tensor)
    if found is None:
        return None
    return "".join([f"{letter} {address} {length} {stride} {count}\n" if count > 1 else f"{letter} {address} {length}\n"
                    for address, length, stride, count in found])

