#!/usr/bin/env bash
# Builds and runs the benchmarks: every sample kernel against an OpenMP+SIMD loop and, where it is installed, PoCL, side by
# side in one run; first with one thread, then with all. Then launch, barrier, compilation and start-up times. Before it the second table
# (kinds/), for this machine and for AVX2; --no-kinds leaves it out.
#   tests/bench/run.sh [--no-kinds] [--only NAME] [--rounds N] [--no-opencl] [--no-latency]
# Exit status 1: a wrong result or a missed bar, in either part.
set -euo pipefail
cd "$(dirname "$0")/../.."
.ci/install-packages --with-optional || echo "-- going on without the optional packages (PoCL)"
[ -e build/build.ninja ] || cmake --preset release
cmake -S . -B build -DPTXRUN_BENCH=ON >/dev/null
cmake --build build --target bench bench_kinds bench_kinds_avx2 ptxrun
status=0
if [ "${1:-}" = --no-kinds ]; then
  shift
else
  for table in bench_kinds bench_kinds_avx2; do
    echo "== $table"
    taskset -c 0 "build/bin/$table" || status=$?
    echo
  done
fi
OMP_NUM_THREADS=1 POCL_MAX_PTHREAD_COUNT=1 taskset -c 0 build/bin/bench --threads 1 --no-latency "$@" || status=$?
echo
# OpenMP's threads sleep between the loops instead of spinning: they would take the processor from whoever runs next.
export KMP_BLOCKTIME=0
build/bin/bench "$@" || status=$?
exit $status
