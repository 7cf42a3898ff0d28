"""Run by every Python that `weir exec` starts, at whatever depth: its folder is first in PYTHONPATH. Sees to it that Triton
is watched once it is imported, then hands over to the sitecustomize that it hides, if there is one."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def watch():
    from importlib import util

    path = os.path.join(os.path.dirname(HERE), "_hook.py")
    spec = util.spec_from_file_location("_weir_hook", path)
    hook = util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    if os.environ.get("WEIR_CAPTURE"):
        hook.install(os.environ["WEIR_CAPTURE"])
    else:
        hook.install_on_gpu(os.environ["WEIR_RECORD"])


def hand_over():
    from importlib import machinery, util

    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != HERE]
    spec = machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if os.environ.get("WEIR_CAPTURE") or os.environ.get("WEIR_RECORD"):
    # What goes wrong here must not keep the program from running: that nothing was captured is said at the end.
    try:
        watch()
    except Exception as error:
        sys.stderr.write(f"weir: nothing of this process is captured: {error}\n")
hand_over()
