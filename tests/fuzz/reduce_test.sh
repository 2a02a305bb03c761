#!/usr/bin/env bash
# reduce_test.sh PTXRUN: a module of which one instruction is refused is reduced to little more than that instruction.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
  printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b32 %%r<9>;\n'
  for k in 0 1 2 3 4 5 6; do echo "mov.u32 %r$k, $k; add.u32 %r$k, %r$k, 1;"; done
  echo 'mov.u32 %r1, 2; frobnicate.b32 %r3, %r4; mov.u32 %r2, 3;'
  printf 'ret;\n}\n'
} >"$folder/module.ptx"
python3 "$here/reduce.py" "$folder/module.ptx" --match frobnicate -- "$1" verify {}
cat "$folder/module.ptx"
grep -q frobnicate "$folder/module.ptx"
[ "$(wc -c <"$folder/module.ptx")" -lt 40 ]
