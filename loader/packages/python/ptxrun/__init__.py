"""Runs CUDA kernels and programs on the CPU.

The package carries the `ptxrun` command and the libraries that CUDA programs find instead of NVIDIA's. From a shell, `ptxrun` and
`python -m ptxrun` are the same; `ptxrun exec python script.py` starts a script that uses CUDA.
"""

import os

__all__ = ["command", "library_folder"]

_folder = os.path.dirname(os.path.abspath(__file__))


def command():
    """The path of the `ptxrun` executable."""
    return os.path.join(_folder, "bin", "ptxrun")


def library_folder():
    """The folder of libcuda.so.1, for LD_LIBRARY_PATH of programs that are started without `ptxrun exec`."""
    return os.path.join(_folder, "lib")
