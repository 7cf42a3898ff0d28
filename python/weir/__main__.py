"""`python3 -m weir` is the command `weir`, which lies in the package."""

import os
import signal
import sys


def main() -> None:
    from ._library import command_path

    try:
        path = command_path()
    except RuntimeError as error:
        sys.exit(f"weir: {error}")
    for name in ("SIGPIPE", "SIGXFSZ"):  # which Python ignores, and the command's programs would inherit
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(path, ["weir", *sys.argv[1:]])


if __name__ == "__main__":
    main()
