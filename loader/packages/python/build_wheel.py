#!/usr/bin/env python3
"""Makes a wheel of an installed tree: adds the libraries that no Linux system has to have, metadata and the list of files.

Needs Python alone. The platform tag is read from the files: manylinux_2_N for the newest glibc version that any of them asks for
(PEP 600)."""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import time
import zipfile

# Libraries that PEP 600 lets a wheel expect of the system.
EXPECTED = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz)\.so\.\d+$")
# OpenMP's state is one per process: whoever else brings this library must get the same one.
SHARED = re.compile(r"libomp\.so\.")

METADATA = """Metadata-Version: 2.1
Name: ptxrun
Version: {version}
Summary: Runs CUDA kernels and programs on the CPU
License: Apache-2.0
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Description-Content-Type: text/markdown

# ptxrun

Runs CUDA kernels on the CPU: NVIDIA PTX, the code nvcc puts into programs, is translated to native SIMD code and run on all
cores. No GPU and no NVIDIA driver is needed.

    ptxrun exec python script.py      # CuPy, Numba, Triton, ...; or any CUDA program
    ptxrun doctor                     # what this machine offers, and what is in the way
    ptxrun run kernel.ptx --help      # kernels by themselves

`python -m ptxrun` is the same command; `ptxrun.library_folder()` is where libcuda.so.1 lies.
"""

WHEEL = "Wheel-Version: 1.0\nGenerator: ptxrun\nRoot-Is-Purelib: false\nTag: {tag}\n"


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))


def find_library(name, folders):
    for folder in folders:
        path = pathlib.Path(folder) / name
        if path.exists():
            return path.resolve()
    raise SystemExit(f"{name} is needed and is in none of {', '.join(map(str, folders))}")


def own_name(name):
    """A name of equal length that no other library has: what other packages load is not to be replaced by what we bring."""
    return name if SHARED.match(name) else name.replace("lib", "pxr", 1)


def bring_libraries(package, folders):
    """Copies what the files need into lib/, under names of our own, and lets them ask for these. Returns name and origin of each."""
    lib = package / "lib"
    ours = {path.name for path in lib.iterdir()}
    brought = {}
    pending = [path for path in package.rglob("*") if path.is_file() and is_elf(path)]
    while pending:
        path = pending.pop()
        for name in needed(path):
            if name in ours or name in brought or EXPECTED.match(name):
                continue
            brought[name] = find_library(name, folders)
            target = lib / own_name(name)
            shutil.copy(brought[name], target)
            target.chmod(0o644)
            pending.append(target)
    for path in (path for path in package.rglob("*") if path.is_file() and is_elf(path)):
        before = after = path.read_bytes()
        for name in brought:
            after = after.replace(b"\0" + name.encode() + b"\0", b"\0" + own_name(name).encode() + b"\0")
        if after != before:
            path.write_bytes(after)
    return brought


def licence_of(path):
    """Debian's copyright file of the package that a library is from; None where it cannot be found."""
    found = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True)
    for name in re.findall(r"^([^:\s]+)", found.stdout, re.M):
        file = pathlib.Path("/usr/share/doc") / name / "copyright"
        if file.exists():
            return file
    return None


def platform_tag(package):
    newest = 17
    for path in package.rglob("*"):
        if path.is_file() and is_elf(path):
            versions = re.findall(r"Name: GLIBC_2\.(\d+)", readelf("-V", path))
            newest = max([newest, *map(int, versions)])
    return f"py3-none-manylinux_2_{newest}_x86_64"


class Wheel:
    """A zip file with a list of what is in it; the same bytes for the same contents."""

    def __init__(self, path, stamp):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.stamp = stamp
        self.records = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, self.stamp)
        info.external_attr = (stat.S_IFREG | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self, record):
        self.records.append(f"{record},,")
        self.zip.writestr(zipfile.ZipInfo(record, self.stamp), "\n".join(self.records) + "\n")
        self.zip.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--installed", required=True, type=pathlib.Path, help="what `cmake --install --component wheel` wrote")
    parser.add_argument("--libraries", required=True, help="where else than in the system's folders libraries are looked for")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    options = parser.parse_args()
    package = options.installed / "ptxrun"
    brought = bring_libraries(package, [options.libraries, "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64"])

    tag = platform_tag(package)
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("ptxrun-*.whl"):
        old.unlink()
    path = options.out / f"ptxrun-{options.version}-{tag}.whl"
    stamp = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600")))[:6]
    wheel = Wheel(path, stamp)
    for file in sorted(path for path in package.rglob("*") if path.is_file()):
        wheel.add(str(file.relative_to(options.installed)), file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
    info = f"ptxrun-{options.version}.dist-info"
    wheel.add(f"{info}/METADATA", METADATA.format(version=options.version).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.add(f"{info}/entry_points.txt", b"[console_scripts]\nptxrun = ptxrun.__main__:main\n")
    wheel.add(f"{info}/licenses/LICENSE", (pathlib.Path(__file__).parents[3] / "LICENSE").read_bytes())
    for name, origin in sorted(brought.items()):
        licence = licence_of(origin)
        if licence:
            wheel.add(f"{info}/licenses/{name}.copyright", licence.read_bytes())
    wheel.close(f"{info}/RECORD")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB; with {', '.join(sorted(brought))}")


if __name__ == "__main__":
    main()
