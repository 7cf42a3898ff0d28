"""libweir by ctypes: the few calls of include/weir/weir.h that a check takes. A test holds the structures against the
header."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

from . import __version__

HERE = os.path.dirname(os.path.abspath(__file__))
VERDICTS = ("clean", "findings", "incomplete", "error")
SEVERITIES = ("error", "warning", "note")
LINT_ALSO, MEMBAR_FINDINGS = 1, 1
SUBJECT_VERDICTS, FORMAT_TEXT, FORMAT_JSON = 0, 0, 1

WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


class Options(ctypes.Structure):
    """Options say how large they are: a library that knows more fields takes those as zero."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self.size = ctypes.sizeof(self)


class RunOptions(Options):
    """weir_run_options."""

    _fields_ = [
        ("size", ctypes.c_size_t), ("source_root", ctypes.c_char_p),
        ("launch", ctypes.c_char_p), ("arguments", ctypes.c_void_p), ("argument_count", ctypes.c_size_t),
        ("grid", ctypes.c_char_p), ("order_log", ctypes.c_int), ("only_launch", ctypes.c_int), ("kernel", ctypes.c_char_p),
        ("schedule", ctypes.c_char_p), ("mma_order", ctypes.c_char_p), ("rules", ctypes.c_char_p),
        ("project", ctypes.c_void_p), ("replay", ctypes.c_char_p), ("seed", ctypes.c_uint64), ("budget", ctypes.c_uint64),
        ("schedules", ctypes.c_uint), ("timeout", ctypes.c_uint), ("global", ctypes.c_int), ("gsan", ctypes.c_char_p),
        ("devices", ctypes.c_uint), ("resident", ctypes.c_uint), ("granule", ctypes.c_uint), ("slots", ctypes.c_uint),
        ("ring", ctypes.c_uint), ("target", ctypes.c_char_p), ("triton", ctypes.c_char_p), ("lint", ctypes.c_int),
        ("membar", ctypes.c_int), ("report", ctypes.c_int), ("why", ctypes.c_char_p), ("buffer", ctypes.c_void_p),
        ("progress", ctypes.c_void_p), ("progress_context", ctypes.c_void_p), ("block", ctypes.c_char_p),
        ("cluster", ctypes.c_char_p), ("shared", ctypes.c_char_p), ("values", ctypes.c_char_p), ("volatile_races", ctypes.c_int),
        ("require", ctypes.c_char_p), ("stop", ctypes.c_void_p), ("stop_context", ctypes.c_void_p),
        ("core", ctypes.c_void_p), ("core_context", ctypes.c_void_p), ("core_after", ctypes.c_double),
        ("cross_check", ctypes.c_int), ("prove_time", ctypes.c_double), ("memory", ctypes.c_uint64),
    ]


class WriteOptions(Options):
    """weir_write_options."""

    _fields_ = [
        ("size", ctypes.c_size_t), ("subject", ctypes.c_int), ("format", ctypes.c_int), ("flags", ctypes.c_uint), ("width", ctypes.c_uint),
        ("source_root", ctypes.c_char_p), ("shard", ctypes.c_uint), ("shards", ctypes.c_uint), ("inputs", ctypes.c_size_t),
        ("sections", ctypes.c_uint), ("findings", ctypes.c_uint), ("launches", ctypes.c_size_t), ("covered", ctypes.c_size_t),
    ]


class Remark(ctypes.Structure):
    """weir_remark."""

    _fields_ = [("severity", ctypes.c_int), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32), ("text", ctypes.c_char_p)]


def find(names: list[str], folders: list[str], what: str) -> str:
    for folder in folders:
        for name in names:
            path = os.path.normpath(os.path.join(HERE, folder, name))
            if os.path.exists(path):
                return path
    raise RuntimeError(f"{what} is not beside the Python package, where 'pip install' and 'make install' put it")


def library_path() -> str:
    """In the wheel, in a source tree, or below the prefix it is installed under."""
    try:
        return find(["libweir.so.0"], ["lib", "../../build", "../../../../lib"], "libweir.so.0")
    except RuntimeError:
        return "libweir.so.0"  # where the system has its libraries


def command_path() -> str:
    return find(["weir"], ["bin", "../../build", "../../../../bin"], "the weir command")


class Library:
    """The loaded library, with the types of what is called."""

    loaded: Library | None = None

    def __init__(self) -> None:
        library = self.loaded_library = ctypes.CDLL(library_path())
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        functions: tuple[tuple[str, Any, list[Any]], ...] = (
                ("weir_version", text, []), ("weir_hash", ctypes.c_uint64, [text, size]), ("weir_create", pointer, []), ("weir_destroy", None, [pointer]),
                ("weir_error", text, [pointer]), ("weir_open", pointer, [pointer, text]),
                ("weir_open_buffer", pointer, [pointer, text, text, size]), ("weir_close", None, [pointer]),
                ("weir_module_count", size, [pointer]), ("weir_parse", pointer, [pointer, size, ctypes.c_uint]),
                ("weir_module_free", None, [pointer]), ("weir_run", pointer, [pointer, ctypes.POINTER(RunOptions)]),
                ("weir_result_free", None, [pointer]), ("weir_keep_witness", None, [pointer, size, text]),
                ("weir_result_verdict", ctypes.c_int, [pointer]),
                ("weir_proof_make", pointer, [pointer, text, ctypes.c_double]), ("weir_proof_free", None, [pointer]),
                ("weir_proof_scope", ctypes.c_int, [pointer]),
                ("weir_requirement_problem", text, [text, size, ctypes.POINTER(size)]),
                ("weir_project_requires", ctypes.c_int, [pointer, text, WRITE, pointer]),
                ("weir_proof_covers", ctypes.c_int, [pointer, text, size, ctypes.POINTER(text)]),
                ("weir_verdict_worse", ctypes.c_int, [ctypes.c_int, ctypes.c_int]),
                ("weir_writer_begin", pointer, [ctypes.POINTER(WriteOptions), WRITE, pointer]),
                ("weir_writer_add", None, [pointer, pointer]), ("weir_writer_end", ctypes.c_int, [pointer]),
                ("weir_result_errors", ctypes.c_int, [pointer, ctypes.c_uint, WRITE, pointer]),
                ("weir_project_create", pointer, []), ("weir_project_free", None, [pointer]),
                ("weir_project_read", ctypes.c_int, [pointer, text]), ("weir_project_file", text, [pointer]),
                ("weir_project_set", ctypes.c_int, [pointer, text, text]),
                ("weir_project_baseline", ctypes.c_int, [pointer, ctypes.c_int]),
                ("weir_project_errors", ctypes.c_int, [pointer, ctypes.c_uint, WRITE, pointer]),
                ("weir_project_options", None, [pointer, ctypes.POINTER(RunOptions)]),
                ("weir_project_timeout", ctypes.c_int, [pointer, ctypes.POINTER(ctypes.c_uint)]),
                ("weir_project_launch", text, [pointer, text]),
                ("weir_project_remarks", size, [pointer]), ("weir_project_remark_at", Remark, [pointer, size]))
        for name, result, parameters in functions:
            function = getattr(library, name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)
        found = self.weir_version().decode()
        if found != __version__:  # its structures may be others
            raise RuntimeError(f"{library._name} is Weir {found}, and the Python package is {__version__}")

    if TYPE_CHECKING:  # its functions
        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def get(cls) -> Library:
        if cls.loaded is None:
            cls.loaded = cls()
        return cls.loaded


class Sink:
    """Takes the pieces of a text."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.write = WRITE(self.take)

    def take(self, _: Any, data: Any, size: int) -> int:
        self.pieces.append(ctypes.string_at(data, size))
        return 0

    def text(self) -> str:
        return b"".join(self.pieces).decode("utf-8", "replace")


def written(library: Library, result: int, how: int) -> str:
    """A result as text or JSON."""
    sink = Sink()
    writer = library.weir_writer_begin(ctypes.byref(WriteOptions(subject=SUBJECT_VERDICTS, format=how)), sink.write, None)
    if not writer:
        raise MemoryError("there is not enough memory")
    library.weir_writer_add(writer, result)
    library.weir_writer_end(writer)
    return sink.text()


def run_module(library: Library, file: int, index: int, options: RunOptions) -> tuple[int, str, str]:
    """Verdict, JSON and text of one module of an open file."""
    module = library.weir_parse(file, index, 0)
    result = library.weir_run(module, ctypes.byref(options)) if module else None
    try:
        if not result:
            raise MemoryError("there is not enough memory")
        verdict = library.weir_result_verdict(result)
        if VERDICTS[verdict] == "error":
            sink = Sink()
            library.weir_result_errors(result, 0, sink.write, None)
            return verdict, "", sink.text()
        return verdict, written(library, result, FORMAT_JSON), written(library, result, FORMAT_TEXT)
    finally:
        if result:
            library.weir_result_free(result)
        if module:
            library.weir_module_free(module)


def run(name: str, text: str | None, path: str | None, options: RunOptions) -> list[tuple[int, str, str]]:
    """A tuple for each module: verdict, JSON, text. Of a file, or of a text that has a name."""
    library = Library.get()
    context = library.weir_create()
    if not context:
        raise MemoryError("there is not enough memory")
    file = None
    try:
        data = text.encode() if text is not None else b""
        file = (library.weir_open(context, os.fsencode(path)) if path is not None else
                library.weir_open_buffer(context, name.encode(), data, len(data)))
        if not file:
            raise OSError(f"{path or name}: {library.weir_error(context).decode()}")
        return [run_module(library, file, i, options) for i in range(library.weir_module_count(file))]
    finally:
        if file:
            library.weir_close(file)
        library.weir_destroy(context)


def requirement_problem(text: str) -> tuple[str, int] | None:
    """One sentence on what is wrong with a requirement, and at which character; None: nothing is."""
    data, at = text.encode(), ctypes.c_size_t()
    problem = Library.get().weir_requirement_problem(data, len(data), ctypes.byref(at))
    return (problem.decode(), len(data[:at.value].decode("utf-8", "ignore"))) if problem else None
