#!/usr/bin/env bash
# try.sh PTXRUN FILES: an installed command does what it should. PTXRUN may be several words ("python3 -m ptxrun").
#   FILES   saxpy.ptx and saxpy.toml of the samples, driver_host_program, exec_static_program
set -euo pipefail
read -ra ptxrun <<<"$1"
files=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$files/." "$work" && cd "$work"
export PTXRUN_CACHE=$work/cache
unset LD_LIBRARY_PATH

expect() { # TEXT COMMAND...: ends well and says TEXT
  local wanted=$1 said
  shift
  if ! said=$("$@" 2>&1) || [[ $said != *"$wanted"* ]]; then
    printf 'failed: %s\nexpected: %s\n%s\n' "$*" "$wanted" "$said" >&2
    exit 1
  fi
  echo "ok: $*"
}

expect "ptxrun 0." "${ptxrun[@]}" version
expect "saxpy" "${ptxrun[@]}" inspect saxpy.ptx
expect "" "${ptxrun[@]}" run saxpy.toml
expect "saxpy of 100000 elements is right" "${ptxrun[@]}" exec ./driver_host_program
expect "answer 13" "${ptxrun[@]}" exec ./exec_static_program
expect "stand-in of ptxrun" "${ptxrun[@]}" exec ptxas --version
expect "" "${ptxrun[@]}" exec ptxas -arch sm_90 -o saxpy.cubin saxpy.ptx
cmp <(head -c -1 saxpy.cubin) saxpy.ptx
expect "libcuda.so.1" "${ptxrun[@]}" exec env LD_TRACE_LOADED_OBJECTS=1 ./driver_host_program
