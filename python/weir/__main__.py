"""`python3 -m weir` is the command `weir`, which lies in the package."""

import os
import sys


def main():
    from ._library import command_path

    try:
        path = command_path()
    except RuntimeError as error:
        sys.exit(f"weir: {error}")
    os.execv(path, ["weir", *sys.argv[1:]])


if __name__ == "__main__":
    main()
