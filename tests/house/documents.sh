#!/usr/bin/env bash
# documents.sh PTXRUN: the manual page and the completions are well-formed and complete, as far as this machine has tools to look.
set -uo pipefail
ptxrun=$1 failed=0
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
fail() { echo "$*"; failed=1; }

"$ptxrun" help man >"$scratch/ptxrun.1" || fail "help man"
for word in "ptxrun run" "ptxrun capture info" "PTXRUN_CPU" "SH EXIT STATUS" 'lanes'; do
  grep -q -- "$word" "$scratch/ptxrun.1" || fail "the manual page does not have '$word'"
done
if command -v mandoc >/dev/null; then
  mandoc -T lint -W error "$scratch/ptxrun.1" || fail "mandoc complains"
elif command -v groff >/dev/null; then
  [[ -z $(groff -man -ww -Tutf8 "$scratch/ptxrun.1" 2>&1 >/dev/null) ]] || fail "groff complains"
fi

for shell in bash zsh fish; do
  "$ptxrun" completion $shell >"$scratch/$shell" || fail "completion $shell"
  command -v $shell >/dev/null && { $shell -n "$scratch/$shell" || fail "$shell does not read its completion"; }
done
"$ptxrun" completion tcsh >/dev/null 2>&1 && fail "completion takes any shell"

completed() { # WORDS...: what bash offers for the last of them
  bash -c 'source "$1"; shift; COMP_WORDS=(ptxrun "$@"); COMP_CWORD=$#; _ptxrun; echo "${COMPREPLY[*]}"' - "$scratch/bash" "$@"
}
expect() { # TEXT WORDS...
  local offered
  offered=$(completed "${@:2}")
  [[ $offered == "$1" ]] || fail "for 'ptxrun ${*:2}' bash offers '$offered', not '$1'"
}
expect "inspect" insp
expect "--lanes" run --la
expect "1 8 16 32" run --lanes ""
expect "info" capture inf
expect "bash zsh fish" completion ""

"$ptxrun" help environment >"$scratch/environment" # not into a pipe that grep closes early
grep -q '^  PTXRUN_CACHE=DIR|off ' "$scratch/environment" || fail "help environment does not tell of PTXRUN_CACHE"
"$ptxrun" help passes >"$scratch/passes"
grep -q '^  - jam ' "$scratch/passes" || fail "help passes does not tell of jam"
"$ptxrun" help capture info | grep -q 'FILE' || fail "help has none of sub-commands"
told=$("$ptxrun" help enviroment 2>&1)
[[ $? -eq 2 && $told == *"did you mean 'environment'"* ]] || fail "a wrong topic is not corrected"
exit $failed
