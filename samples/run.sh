#!/usr/bin/env bash
# Installs what is missing (apt), builds in build/ and runs a kernel that nvcc compiled, on this machine's CPU.
#   samples/run.sh           saxpy step by step
#   samples/run.sh NAME...   these samples (samples/NAME.toml), each checked against its expected results
#   samples/run.sh all       all of them
set -euo pipefail
cd "$(dirname "$0")/.."
.ci/build ptxrun ptxrun_libcuda
ptxrun=build/bin/ptxrun

if [ $# -gt 0 ]; then
  if [ "$1" = all ]; then descriptions=(samples/*.toml); else descriptions=("${@/#/samples/}"); descriptions=("${descriptions[@]/%/.toml}"); fi
  failed=()
  for description in "${descriptions[@]}"; do
    echo "-- $ptxrun run $description"
    "$ptxrun" run "$description" || failed+=("$description")
  done
  if [ ${#failed[@]} -gt 0 ]; then echo "failed: ${failed[*]}" >&2; exit 1; fi
  echo "All ${#descriptions[@]} samples gave the expected results."
  exit 0
fi

show() { echo; echo "\$ $*"; "$@"; }
echo "-- samples/saxpy.ptx is what nvcc made of samples/saxpy.cu. What is in it:"
show "$ptxrun" inspect samples/saxpy.ptx
echo "-- Run on 16 Mi elements, arguments given by hand, the first results printed:"
show "$ptxrun" run samples/saxpy.ptx --kernel saxpy --grid 65536 --block 256 \
  --arg 16777216 --arg 2.0 --arg 'f32[16777216]:iota' --arg 'print:f32[16777216]:zero' --time
echo "-- Run from its launch description, which also says what must come out:"
show "$ptxrun" run samples/saxpy.toml
echo
echo "Others: samples/run.sh mandelbrot, samples/run.sh all. See samples/README.md."
