#!/usr/bin/env bash
# run.sh [SECONDS] [FOLDER]: all fuzzers of the build folder ($PTXRUN_BUILD, else build/) and of build-asan/, one after the other,
# so many seconds together (300). What they find is made smaller and kept in FOLDER (build/fuzz-found); exit status 1 if there is anything.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${PTXRUN_BUILD:-$here/../../build}
seconds=${1:-300} found=${2:-$build/fuzz-found}
mkdir -p "$found"
found=$(cd "$found" && pwd)
seed=$((RANDOM * 32768 + RANDOM))
echo "seed=$seed; findings go to $found"
kinds=(image npy description cache module)
lib_fuzzers=(fuzz_text fuzz_forms fuzz_image fuzz_recording fuzz_replay)
share=$((seconds / (${#kinds[@]} + ${#lib_fuzzers[@]} + 3)))
[ $share -gt 0 ] || share=1
failed=0

for kind in "${kinds[@]}"; do
  "$build/bin/mutate_inputs" "$kind" seconds=$share seed=$seed keep="$found" && continue
  failed=1
  [ -f "$found/$kind.current" ] || continue
  mv "$found/$kind.current" "$found/$kind-$seed"
  python3 "$here/reduce.py" "$found/$kind-$seed" -- "$build/bin/mutate_inputs" "$kind" {}
done

for fuzzer in "${lib_fuzzers[@]}"; do
  program=$build/bin/$fuzzer
  [ -x "$program" ] || program=$here/../../build-asan/bin/$fuzzer
  [ -x "$program" ] || { echo "$fuzzer is not built: cmake --preset asan && cmake --build build-asan --target $fuzzer"; continue; }
  corpus=$found/corpus/$fuzzer
  mkdir -p "$corpus"
  seeds=()
  [ "$fuzzer" = fuzz_text ] && seeds=("$here/corpus" "-dict=$here/ptx.dict")
  "$program" -max_total_time=$share -timeout=20 -rss_limit_mb=8192 -verbosity=0 -print_funcs=0 -print_final_stats=1 -seed=$((seed % 2147483647 + 1)) \
    -artifact_prefix="$found/$fuzzer-" "$corpus" "${seeds[@]}" && continue
  failed=1
  for crash in "$found/$fuzzer"-crash-* "$found/$fuzzer"-oom-* "$found/$fuzzer"-timeout-*; do
    [ -f "$crash" ] && "$program" -minimize_crash=1 -max_total_time=60 -exact_artifact_path="$crash.small" "$crash" >/dev/null 2>&1
  done
done

"$build/bin/fuzz_form_runs" seconds=$share seed=$seed keep="$found" || failed=1 # makes its findings smaller itself
timeout $((share + 60)) "$build/bin/fuzz_kernels" $seed $((seed + share)) keep="$found"
case $? in 0 | 124) ;; *) failed=1 ;; esac
"$here/csmith/run.sh" "$build/bin/ptxrun" seconds=$share seed=$seed keep="$found"
case $? in 0 | 77) ;; *) failed=1 ;; esac
exit $failed
