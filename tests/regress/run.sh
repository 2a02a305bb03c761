#!/usr/bin/env bash
# run.sh PTXRUN FILE LEVEL: runs one description at every W on a CPU level, baseline and optimised code; where it updates memory, also
# as beside other launches, and as the only one with one thread. A stage that fails and is got round by running thread by thread fails
# here. 77: the CPU lacks the level.
set -uo pipefail
ptxrun=$1 file=$2 level=$3 failed=0
declare -A flag=([sse4]=sse4_2 [avx2]=avx2 [avx512]=avx512vl)
grep -qw "${flag[$level]}" /proc/cpuinfo || { echo "This CPU has no $level"; exit 77; }
hows=(baseline optimised)
grep -qE '\b(atom|red)\.' "${file%.toml}.ptx" && hows+=("optimised -sole-updates" "optimised +sole-updates --threads=1")
for lanes in "" 1 8 16 32; do
  for how in "${hows[@]}"; do
    read -r tiers passes threads <<<"$how"
    said=$(PTXRUN_CPU=$level PTXRUN_PASSES=$passes "$ptxrun" run "$file" ${lanes:+--lanes $lanes} $threads --tiers "$tiers" --no-cache \
      --quiet --timeout 20 2>&1) && [[ $said != *"internal error"* ]] && continue
    echo "$said"
    echo "FAILED with PTXRUN_CPU=$level, W = ${lanes:-automatic}, $how code"
    failed=1
  done
done
exit $failed
