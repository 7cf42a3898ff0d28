"""What processes of a program learn from each other (docs/programs.md): one that is started, one that is joined, messages of
multiprocessing's queues and pipes, collectives of torch.distributed. Other ways to hand over are not seen."""

import collections
import functools
import itertools
import os
import threading
import weakref

from . import _hook, program

counter = itertools.count()
inside = threading.local()  # `collective`: this thread is in one; `reads`: it sends, and writes no tensor of its own
ASIDE = {}  # of each group, in a log: streams for collectives that the caller waits for later
WORKS = weakref.WeakKeyDictionary()  # of what such a collective returned: the log, and the event of its end
COUNTS = {}  # of each group: collectives so far
STREAMED = set()  # names of groups whose collectives are operations of the streams (NCCL): no host waits for them
KEPT = {}  # of each group: the events of its last collectives there
LATE = 1024  # collectives of which one process may be ahead of another

# How collectives hand over: from all to all, from one to all others, from all others to one.
ALL = ("barrier monitored_barrier all_reduce all_gather all_gather_object all_gather_into_tensor reduce_scatter reduce_scatter_tensor "
       "all_to_all all_to_all_single all_reduce_coalesced all_gather_coalesced").split()
FROM_ONE = {"broadcast": "src", "broadcast_object_list": "src", "scatter": "src", "scatter_object_list": "src"}
TO_ONE = {"reduce": "dst", "gather": "dst", "gather_object": "dst"}
LATER = ("isend", "irecv")  # who calls them always waits later
ONE_WRITES = ("broadcast", "reduce")  # all but the one, and the one alone


def send(count=1):
    """A message to other processes; None where there is no log."""
    log = program.State.log
    if log is None or program.current.quiet:
        return None
    key = f"{os.getpid()}-{next(counter)}"
    log.tell(count, key)
    return key


def receive(key):
    if key is not None and program.State.log is not None:
        program.State.log.hear(key)


# ---- multiprocessing ------------------------------------------------------------------------------------


class Carried:
    """An object with a message: the thread that unpickles it has the object, and knows what the sender knew."""

    def __init__(self, value):
        self.value, self.key = value, send()

    def __reduce__(self):
        return arrived, (self.value, self.key)


def arrived(value, key):
    receive(key)
    return value


def carrying(function):
    @functools.wraps(function)
    def put(self, obj, *args, **named):
        return function(self, obj if program.State.log is None else Carried(obj), *args, **named)

    return put


def watch_multiprocessing():
    from multiprocessing import connection, process, queues

    start, join, bootstrap = process.BaseProcess.start, process.BaseProcess.join, process.BaseProcess._bootstrap

    def started(self):
        self._weir_begun = send()
        return start(self)

    def joined(self, timeout=None):
        result = join(self, timeout)
        if self.exitcode is not None:
            receive(last_message(self.pid))
        return result

    def run(self, *args, **named):
        receive(self.__dict__.pop("_weir_begun", None))
        return bootstrap(self, *args, **named)

    process.BaseProcess.start, process.BaseProcess.join, process.BaseProcess._bootstrap = started, joined, run
    for kind in (queues.Queue, queues.JoinableQueue, queues.SimpleQueue):
        kind.put = carrying(kind.put)
    connection.Connection.send = carrying(connection.Connection.send)


def last_message(process):
    """What a process knew at its end."""
    return f"end-{process}"


# ---- torch.distributed ----------------------------------------------------------------------------------


def group_of(args, named, distributed):
    from torch._C._distributed_c10d import ProcessGroup

    found = named.get("group") or next((one for one in args if isinstance(one, ProcessGroup)), None)
    return found or distributed.distributed_c10d._get_default_group()


def has_tensors(value):
    """Of the device, among arguments."""
    if isinstance(value, (list, tuple)):
        return any(map(has_tensors, value))
    return getattr(value, "is_cuda", False) is True


def give(log, label, key):
    """What this stream has done goes with an event that the streams of the others wait for."""
    log.record(made := log.event(), program.current.stream)
    log.shared_event(made, key)
    kept = KEPT.setdefault(label, collections.deque())
    kept.append(made)
    if len(kept) > LATE:
        log.event_gone(kept.popleft())  # who waits for that one has done so


def take(log, keys):
    for key in keys:
        log.shared_event(event := log.event(), key)
        log.wait(event, program.current.stream)
        log.event_gone(event)


def only_reads():
    return getattr(inside, "reads", False)


def aside(log, plain, args, named, label, streamed):
    """A collective that begins after what the current stream has, in a stream of its own, until its work is waited for. NCCL has one
    stream for those of a group; over gloo they run beside each other."""
    free = ASIDE.setdefault((log, label), [])
    stream = None if program.State.captures else free.pop() if free else log.stream_aside()
    if stream is None:
        return plain(*args, **named)
    if streamed:
        free.append(stream)
    wait_for(log, stream, before := program.current.stream)
    program.current.stream = stream
    try:
        result = plain(*args, **named)
    finally:
        program.current.stream = before
    for tensor in tensors_of((args, tuple(named.values()))):
        log.used(tensor.untyped_storage().data_ptr(), stream)
    log.record(event := log.event(), stream)
    try:
        WORKS[result] = log, event
        weakref.finalize(result, log.event_gone, event)
        if not streamed:
            weakref.finalize(result, free.append, stream)
    except TypeError:  # it is no work: nobody can wait for it
        log.wait(event, before)
        log.event_gone(event)
    return result


def wait_for(log, stream, other):
    log.record(event := log.event(), other)
    log.wait(event, stream)
    log.event_gone(event)


def tensors_of(value):
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in tensors_of(part)]
    return [value] if has_tensors(value) else []


def watch_works(core):
    """What waits for a collective, or hands that on."""
    def waiting(plain):
        @functools.wraps(plain)
        def wait(self, *args, **named):
            result = plain(self, *args, **named)
            log, event = WORKS.get(self, (None, None))
            if log is not None and log is program.State.log and (result or plain.__name__ != "is_completed"):
                log.wait(event, program.current.stream)
            return result

        return wait

    work = core.Work
    for name in ("wait", "synchronize", "is_completed", "get_future", "result", "block_current_stream"):
        if hasattr(work, name):
            setattr(work, name, waiting(getattr(work, name)))


def exchanging(name, plain, distributed):
    """A collective, with messages: what each process knows and its stream has done, others know."""
    role = FROM_ONE.get(name) or TO_ONE.get(name)

    @functools.wraps(plain)
    def collective(*args, **named):
        log = program.State.log
        if log is None or getattr(inside, "collective", False) or program.current.quiet:
            return plain(*args, **named)
        try:
            group = group_of(args, named, distributed)
            rank, size = distributed.get_rank(group), distributed.get_world_size(group)
        except (ValueError, RuntimeError):
            return plain(*args, **named)
        if rank < 0 or not log.hands_over(group):
            return plain(*args, **named)
        one = size if role is None else root(plain, role, args, named, group, distributed)
        label = f"{os.getppid()}-{getattr(group, 'group_name', '')}"
        streamed = getattr(group, "group_name", None) in STREAMED
        inside.reads = name in ONE_WRITES and (rank == one) == (name == "broadcast")
        if named.get("async_op") or name in LATER:
            inside.collective = True
            try:
                return aside(log, plain, args, named, label, streamed)
            finally:
                inside.collective = inside.reads = False
        COUNTS[label] = number = COUNTS.get(label, 0) + 1
        key = f"{label}-{number}"
        tensors = any(map(has_tensors, (*args, *named.values())))
        sends = one is not None and (role is None or (rank == one) == (name in FROM_ONE))
        hears = one is not None and (role is None or (rank == one) != (name in FROM_ONE))
        if (tensors or streamed) and not (tensors and streamed):
            log.copied_out()  # gloo copies to the host; NCCL's barrier waits, and its objects are copied
        inside.collective = True
        try:
            if sends and not (tensors and streamed):
                log.tell(size if role is None else size - 1 if name in FROM_ONE else 1, key)
            elif sends:
                give(log, label, f"{key}-{rank}")
            result = plain(*args, **named)
            if hears and not (tensors and streamed):
                log.hear(key)
            elif hears:
                take(log, [f"{key}-{other}" for other in (range(size) if role is None or name in TO_ONE else [one]) if other != rank])
        finally:
            inside.collective = inside.reads = False
        return result

    return collective


def root(plain, role, args, named, group, distributed):
    """The one that the others send to, or that sends, by its rank in the group; None: it is not known."""
    import inspect

    try:
        given = inspect.signature(plain).bind(*args, **named).arguments
        if given.get(f"group_{role}") is not None:
            return given[f"group_{role}"]
        return distributed.get_group_rank(group, given.get(role) or 0)
    except (TypeError, ValueError, RuntimeError):
        return None


def watch_distributed():
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    core = distributed.distributed_c10d
    watch_works(core)
    for name in (*ALL, *FROM_ONE, *TO_ONE, *LATER):
        plain = getattr(core, name, None)
        if plain is not None:
            made = exchanging(name, plain, distributed)
            for place in (core, distributed):
                if getattr(place, name, None) is plain:
                    setattr(place, name, made)
    plain = core.init_process_group

    @functools.wraps(plain)
    def initialize(*args, **named):
        result = plain(*args, **named)
        if program.State.log is not None and distributed.is_initialized():
            program.State.log.called(f"rank {distributed.get_rank()}")
        return result

    for place in (core, distributed):
        place.init_process_group = initialize


def watch():
    watch_multiprocessing()
    _hook.after("torch.distributed.distributed_c10d", watch_distributed)
