#!/usr/bin/env bash
# bisect.sh PTXRUN FILE OPTIONS...: what makes `ptxrun run FILE OPTIONS` wrong? Finds the CPU level, W and tier, and the pass of simt.
# Right is what W = 1 gives in baseline code: the same exit status 0 and the same text (print: shows buffers).
# Ends with 0 if a pass is found, 1 if the mistake lies elsewhere (the last line says where to look), 2 if nothing is wrong.
set -uo pipefail
ptxrun=$1
shift
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

attempt() { # FILE-OF-OUTPUT LEVEL W TIER PASSES
  PTXRUN_CPU=$2 PTXRUN_PASSES=$5 "$ptxrun" run "${request[@]}" ${3:+--lanes $3} --tiers "$4" --no-cache 2>/dev/null | sed 's/, [0-9]* lanes*//' >"$1"
  return "${PIPESTATUS[0]}"
}
isWrong() { # LEVEL W TIER PASSES
  attempt "$scratch/output" "$@" && cmp -s "$scratch/output" "$scratch/right" && return 1
  return 0
}

request=("$@")
levels=(sse4)
grep -qw avx2 /proc/cpuinfo && levels+=(avx2)
grep -qw avx512vl /proc/cpuinfo && levels+=(avx512)

for level in "${levels[@]}"; do
  if ! attempt "$scratch/right" "$level" 1 baseline ""; then
    echo "wrong at W = 1 in baseline code, too ($level): not simt. Look at translate/lower (is it one instruction? tests/isa) or rt"
    exit 1
  fi
done

wrong=()
for tier in baseline optimised; do
  for level in "${levels[@]}"; do
    for lanes in 1 8 16 32 ""; do
      isWrong "$level" "$lanes" "$tier" "" || continue
      echo "wrong: PTXRUN_CPU=$level, W = ${lanes:-automatic}, $tier code"
      [[ ${#wrong[@]} -eq 0 ]] && wrong=("$level" "$lanes" "$tier")
    done
  done
done
if [[ ${#wrong[@]} -eq 0 ]]; then
  echo "right at every level, W and tier"
  exit 2
fi
read -r level lanes tier <<<"${wrong[0]} ${wrong[1]:--} ${wrong[2]}"
[[ $lanes == - ]] && lanes=""

if [[ $lanes == 1 ]]; then
  echo "wrong at W = 1 in $tier code: LLVM's passes in translate/lower/passes.cpp, or translate/jit/optimise.cpp"
  exit 1
fi
if isWrong "$level" "$lanes" "$tier" -all; then
  echo "wrong without any optional pass, too: prepare, widen or entry (translate/simt), or translate/jit. Compare widen.ll of two dumps (--dump)"
  exit 1
fi

found=()
while read -r name; do
  alone=$(isWrong "$level" "$lanes" "$tier" "-all,+$name" && echo yes)
  without=$(isWrong "$level" "$lanes" "$tier" "-$name" || echo yes)
  [[ $alone || $without ]] || continue
  echo "pass $name:${alone:+ wrong with it alone}${alone:+${without:+,}}${without:+ right without it}"
  found+=("$name")
done < <("$ptxrun" help passes | sed -n 's/^  - \([a-z-]*\).*/\1/p')
if [[ ${#found[@]} -eq 0 ]]; then
  echo "no single pass is to blame: two of them together"
  exit 1
fi
echo "look at ${found[0]}.ll and the file before it:"
echo "  PTXRUN_CPU=$level ptxrun run ${request[*]}${lanes:+ --lanes $lanes} --tiers $tier --no-cache --dump=dump"
