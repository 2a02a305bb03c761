#!/usr/bin/env bash
# Makes the committed PTX anew from the .cu files; needs nvcc 13. Arguments: names without .cu (default: all).
set -euo pipefail
cd "$(dirname "$0")"
command -v nvcc >/dev/null || { echo "nvcc is not on PATH; the committed .ptx files need no rebuilding to be run" >&2; exit 1; }
[ $# -gt 0 ] || set -- $(basename -s .cu -- *.cu)
for name in "$@"; do
  nvcc -ptx -std=c++17 -arch=sm_80 "$name.cu" -o "$name.ptx"
  echo "$name.ptx: $(wc -l <"$name.ptx") lines"
done
