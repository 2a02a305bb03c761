#!/bin/bash
# Runs tinygrad's first tensors on libcuda.so.1. Not part of the test suite: it needs tinygrad and numpy (pip install tinygrad
# numpy), found through the Python named by $PYTHON.  Usage: tests/driver/tinygrad.sh [build folder]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build}
python=${PYTHON:-python3}
if ! "$python" -c 'import tinygrad, numpy' 2>/dev/null; then
  echo "tinygrad or numpy is not installed for $python: nothing to run"
  exit 0
fi
# Without a cache of its own tinygrad would answer from compilations for other devices.
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
XDG_CACHE_HOME=$cache DEV=CUDA:PTX LD_LIBRARY_PATH="$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  "$python" "$here/tinygrad_first_tensors.py"
