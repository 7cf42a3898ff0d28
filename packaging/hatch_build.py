"""What hatchling puts into Weir's wheel beside python/weir: the library, the command and what it loads into programs, which `make package`
builds. WEIR_PACKAGE=FOLDER has them built already, for the platform that WEIR_PLATFORM names; so packaging/wheels does."""

import os
import pathlib
import subprocess
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("weir", "libweir-gpu.so", "libweir-cuda.so", "libweir-children.so")


def make(root, *arguments):
    if subprocess.run(["make", "--no-print-directory", "-s", *arguments], cwd=root, check=False).returncode != 0:
        raise SystemExit("Weir was not built")


class Hook(BuildHookInterface):
    def built(self):
        """Runs make, in a folder of its own: what else is built in the tree, with other flags, stays."""
        if "WEIR_PACKAGE" in os.environ:
            return pathlib.Path(os.environ["WEIR_PACKAGE"]), os.environ["WEIR_PLATFORM"]
        build = os.environ.get("BUILD", "build/wheel")
        make(self.root, "needs")
        make(self.root, f"-j{os.cpu_count() or 1}", f"BUILD={build}", "WERROR=", "package")
        return pathlib.Path(self.root, build, "package"), sysconfig.get_platform().replace("-", "_").replace(".", "_")

    def initialize(self, version, build_data):
        package, platform = self.built()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"].update({str(package / name): f"weir/bin/{name}" for name in PROGRAMS})
        build_data["force_include"].update({str(path): f"weir/lib/{path.name}" for path in package.glob("*.so.*")})
