"""Proofs that kernels are clean at every launch (docs/proofs.md): one for each kernel, which each of its launches is asked about."""

from __future__ import annotations

import ctypes
import json
import threading
import weakref
from typing import Any

from . import _library


class Proof:
    """Of a kernel, by its IR. `scope`: 0: it is not proved; 1: for one grid, or one value of an argument; 2: for every launch that
    fulfills what is asked."""

    def __init__(self, ttgir: str, kernel: str, seconds: float) -> None:
        library, data = _library.Library.get(), ttgir.encode()
        self.library, self.lock = library, threading.Lock()
        context = library.weir_create()
        file = library.weir_open_buffer(context, f"{kernel}.ttgir".encode(), data, len(data)) if context else None
        module = library.weir_parse(file, 0, 0) if file else None
        self.handle = library.weir_proof_make(module, kernel.encode(), seconds) if module else None
        weakref.finalize(self, self.free, library, self.handle, module, file, context).atexit = False
        if not self.handle:
            raise MemoryError("there is not enough memory")
        self.scope = library.weir_proof_scope(self.handle)

    @staticmethod
    def free(library: _library.Library, *handles: int | None) -> None:
        for function, of in zip((library.weir_proof_free, library.weir_module_free, library.weir_close, library.weir_destroy), handles):
            if of:
                function(of)

    def lacks(self, launch: dict[str, Any]) -> str | None:
        """None: the launch, as a launch file has it, is covered; else why it is not."""
        text, why = json.dumps(launch).encode(), ctypes.c_char_p()
        with self.lock:
            covered = self.scope and self.library.weir_proof_covers(self.handle, text, len(text), ctypes.byref(why)) == 1
        return None if covered else (why.value or b"it is not proved").decode("utf-8", "replace")
