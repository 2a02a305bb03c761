#!/usr/bin/env bash
# Runs the cases of tests/isa and tests/matrix on the device of this machine: run.sh OUT [SEEDS].
# Needs a C++20 compiler and CUDA's driver; nothing of ours but sources.
set -euo pipefail
out=$(realpath -m "${1:?usage: run.sh OUT [SEEDS]}")
cd "$(dirname "$0")/../.."
mkdir -p "$out"
${CXX:-g++} -std=c++20 -O2 -I. tests/hardware/on_device.cpp tests/isa/{case_file,ptx_writer,compare}.cpp \
  tests/matrix/case_inputs.cpp tests/fuzz/random_kernel_{draw,oracle,text}.cpp -o "$out/on_device" ${CUDA_LIBRARIES:--L/usr/local/cuda/lib64/stubs} -lcuda
"$out/on_device" matrix tests/matrix "$out" "${2:-3}"
"$out/on_device" isa tests/isa "$out"
grep '^=' "$out/isa.txt"
