#!/usr/bin/env bash
# bisect_test.sh PTXRUN REPOSITORY: bisect.sh blames the right pass, width or tier. The mistakes are those of a command that stands
# before ptxrun and spoils what a pass, a width or a tier gives.
set -uo pipefail
ptxrun=$1 repository=$2 failed=0
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

spoilt() { # CONDITION: bash that is true where the result is to be wrong; it sees $PTXRUN_CPU, $passes, $lanes, $tier
  cat >"$scratch/ptxrun" <<END
#!/usr/bin/env bash
passes=,\${PTXRUN_PASSES-}, words=" \$* "
lanes=auto
[[ \$words =~ \ --lanes\ ([0-9]+) ]] && lanes=\${BASH_REMATCH[1]}
[[ \$words =~ \ --tiers\ ([a-z]+) ]] && tier=\${BASH_REMATCH[1]}
isOn() { [[ \$tier == optimised && \$lanes != 1 && ( \$passes != *,-all,* || \$passes == *,+\$1,* ) && \$passes != *,-\$1,* ]]; }
if [[ \$1 == run ]]; then
  echo result
  { $1; } && exit 1
  exit 0
fi
exec "$ptxrun" "\$@"
END
  chmod +x "$scratch/ptxrun"
}
expect() { # STATUS TEXT...
  local output status
  output=$("$repository/tests/simt/bisect.sh" "$scratch/ptxrun" "$repository/samples/saxpy.toml")
  status=$?
  [[ $status -eq $1 ]] || { echo "status $status, not $1:"; echo "$output"; failed=1; }
  for text in "${@:2}"; do
    [[ $output == *"$text"* ]] || { printf 'does not say\n  %s\nbut\n%s\n' "$text" "$output"; failed=1; }
  done
}

spoilt 'isOn rows'
expect 0 "pass rows: wrong with it alone, right without it" "look at rows.ll"
spoilt 'isOn jam && isOn versions'
expect 0 "pass versions: right without it" "pass jam: right without it"
spoilt '[[ $lanes == 8 && $PTXRUN_CPU == sse4 ]]'
expect 1 "wrong: PTXRUN_CPU=sse4, W = 8, baseline code" "wrong without any optional pass"
spoilt '[[ $tier == optimised ]]'
expect 1 "wrong: PTXRUN_CPU=sse4, W = 1, optimised code" "LLVM's passes"
spoilt true
expect 1 "wrong at W = 1 in baseline code, too"
spoilt false
expect 2 "right at every level, W and tier"
# And the real command, of which nothing is wrong.
cp "$ptxrun" "$scratch/ptxrun" 2>/dev/null || ln -s "$ptxrun" "$scratch/ptxrun"
expect 2 "right at every level, W and tier"
exit $failed
