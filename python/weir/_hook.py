"""What every Python below `weir exec` loads at its start, so it is small: notes that this process is there, waits for
Triton to be imported, and lets `import weir` find the package that belongs to the running command."""

import importlib.util
import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def note(folder, *words):
    """A line of the folder's log, which `weir exec` reads. Lines of processes that write at once stay whole. Where it
    cannot be written (`weir exec` has ended before this process, or a disk is full) the program goes on all the same."""
    line = " ".join(str(word).replace("\n", " ") for word in words) + "\n"
    try:
        log = os.open(os.path.join(folder, "capture.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            os.write(log, line.encode("utf-8", "replace"))
        finally:
            os.close(log)
    except OSError as error:
        if words[0] not in ("python", "counts"):
            sys.stderr.write(f"weir: not checked: {line.rstrip()} ({error.strerror})\n")


class OwnPackage:
    """Finds `weir`, where nothing else does."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "weir":
            return None
        return importlib.util.spec_from_file_location(
            name, os.path.join(PACKAGE, "__init__.py"), submodule_search_locations=[PACKAGE])


class AfterImport:
    """Stands in for a module's loader, and calls a function when the module has been executed."""

    def __init__(self, loader, then):
        self.loader, self.then = loader, then

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        self.then()


class Finder:
    """The first of the finders: lets the others find modules of these names, and has their loaders call back."""

    def __init__(self, then):
        self.then, self.busy = then, set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.then or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy.remove(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = AfterImport(spec.loader, self.then[name])
        return spec


def after(name, then):
    """Calls it when the module has been imported, or at once if it has."""
    if name in sys.modules:
        then()
    else:
        sys.meta_path.insert(0, Finder({name: then}))


def install_on_gpu(folder):
    """Kernels run on a GPU, where libweir-gpu.so writes what they do."""
    def torch_is_there():
        from weir import gpu_torch

        gpu_torch.install()

    sys.meta_path.append(OwnPackage)
    sys.meta_path.insert(0, Finder({"torch": guarded(folder, torch_is_there)}))


def guarded(folder, work):
    def then():
        try:
            work()
        except Exception as error:
            note(folder, "failed", f"{type(error).__name__}: {error}")

    return then


def install(folder):
    target = os.environ.get("WEIR_TARGET") or None

    def triton_is_there():
        from weir import capture

        capture.start(folder, target)

    def torch_is_there():
        from weir import device_torch

        device_torch.install(target)
        if device_torch.State.installed and os.environ.get("WEIR_RUN") != "no":
            from weir import program

            program.begin(folder)

    note(folder, "python", os.getpid())
    sys.meta_path.append(OwnPackage)
    sys.meta_path.insert(0, Finder({"triton": guarded(folder, triton_is_there), "torch": guarded(folder, torch_is_there)}))
