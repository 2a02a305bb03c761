#!/usr/bin/env bash
# same_bits.sh NUMERICS_SAME_BITS FOLDER: the same bits at every W, on every CPU level that the machine has, in both tiers.
set -uo pipefail
program=$1 folder=$2 failed=0
mkdir -p "$folder"
levels=(sse4)
grep -qw avx2 /proc/cpuinfo && levels+=(avx2)
grep -qw avx512vl /proc/cpuinfo && levels+=(avx512)
for level in "${levels[@]}"; do
  PTXRUN_CPU=$level PTXRUN_TIERS=optimised "$program" "$folder/$level" || failed=1
done
PTXRUN_CPU=${levels[-1]} PTXRUN_TIERS=baseline "$program" "$folder/baseline" || failed=1
for other in "${levels[@]:1}" baseline; do
  diff "$folder/${levels[0]}" "$folder/$other" >"$folder/difference" && continue
  echo "$other differs from ${levels[0]}:"
  sed -n 's/^< \([^ ]*\) .*/  \1/p' "$folder/difference"
  failed=1
done
exit $failed
