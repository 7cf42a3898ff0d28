"""Builds Weir's wheel: the library and the command, which `make package` builds, and python/weir. A build backend for pip
(PEP 517) that needs nothing but Python, a C compiler and make."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sysconfig
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ["CHANGELOG.md", "LICENSE", "Makefile", "README.md", "completions", "include", "man", "packaging", "pyproject.toml",
           "python", "src", "weir.pc.in"]


def version():
    return re.search(r'define WEIR_VERSION +"([^"]+)"', (ROOT / "include/weir/weir.h").read_text()).group(1)


def metadata():
    return (f"Metadata-Version: 2.1\nName: weir\nVersion: {version()}\n"
            "Summary: Checks synchronization in GPU kernels: races, deadlocks, missing barriers and fences\n"
            "License: MIT\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "README.md").read_text())


def tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{platform}"


def built():
    """Runs make, in a folder of its own: what else is built in the tree, with other flags, stays. Gives the folder with what
    it built."""
    build = os.environ.get("BUILD", "build/wheel")
    subprocess.run(["make", f"-j{os.cpu_count() or 1}", f"BUILD={build}", "WERROR=", "package"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    return ROOT / build / "package"


class Wheel:
    """A zip archive with a list of what is in it."""

    def __init__(self, path):
        self.info = f"weir-{version()}.dist-info"
        self.archive, self.records = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, executable=False):
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        data = data.encode() if isinstance(data, str) else data
        self.archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        self.records.append(f"{self.info}/RECORD,,")
        self.archive.writestr(f"{self.info}/RECORD", "\n".join(self.records) + "\n")
        self.archive.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = built()
    name = f"weir-{version()}-{tag()}.whl"
    wheel = Wheel(os.path.join(wheel_directory, name))
    for path in sorted((ROOT / "python/weir").rglob("*.py")):
        wheel.add(path.relative_to(ROOT / "python").as_posix(), path.read_bytes())
    for program in "weir", "libweir-gpu.so", "libweir-cuda.so":
        wheel.add(f"weir/bin/{program}", (package / program).read_bytes(), executable=True)
    for library in sorted(package.glob("*.so.*")):
        wheel.add(f"weir/lib/{library.name}", library.read_bytes(), executable=True)
    wheel.add(f"{wheel.info}/METADATA", metadata())
    wheel.add(f"{wheel.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: false\nTag: {tag()}\n")
    wheel.add(f"{wheel.info}/entry_points.txt",
              "[console_scripts]\nweir = weir.__main__:main\n\n[pytest11]\nweir = weir.pytest_plugin\n")
    wheel.add(f"{wheel.info}/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = f"weir-{version()}"
    with tarfile.open(os.path.join(sdist_directory, f"{base}.tar.gz"), "w:gz") as archive:
        for name in SOURCES:
            archive.add(ROOT / name, f"{base}/{name}",
                        filter=lambda entry: None if "__pycache__" in entry.name else entry)
        info = pathlib.Path(sdist_directory) / "PKG-INFO"
        info.write_text(metadata())
        archive.add(info, f"{base}/PKG-INFO")
        info.unlink()
    return f"{base}.tar.gz"
