#!/bin/bash
# A program's launches, recorded at two threads, give the same bits at one and two, at each CPU level and other W:
# record_and_replay.sh PTXRUN PROGRAM [ARGUMENTS]
set -euo pipefail
recording=$(mktemp)
trap 'rm -f "$recording"' EXIT
ptxrun=$1
shift
OMP_NUM_THREADS=2 "$ptxrun" record -o "$recording" -- "$@"
OMP_NUM_THREADS=2 "$ptxrun" replay "$recording"
for setting in "PTXRUN_CPU=sse4 OMP_NUM_THREADS=1" "PTXRUN_CPU=avx2 PTXRUN_LANES=8" "PTXRUN_LANES=32 PTXRUN_TIERS=baseline"; do
  level=$(sed -n 's/.*PTXRUN_CPU=\(avx2\).*/\1/p' <<<"$setting")
  [ -z "$level" ] || grep -q " $level" /proc/cpuinfo || continue
  env $setting "$ptxrun" replay -q "$recording"
done
