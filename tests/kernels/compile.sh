#!/usr/bin/env bash
# Makes the committed PTX anew from the .cu files; needs nvcc 13. Each is compiled twice: as usual, and with the optimiser
# off (NAME.O0.ptx: every variable in local memory, every branch and call as written). Arguments: names without .cu.
set -euo pipefail
cd "$(dirname "$0")"
command -v nvcc >/dev/null || { echo "nvcc is not on PATH; the committed .ptx files need no rebuilding" >&2; exit 1; }
[ $# -gt 0 ] || set -- $(basename -s .cu -- *.cu)
for name in "$@"; do
  nvcc -ptx -std=c++17 -arch=sm_80 -fmad=false -include on_host.h "$name.cu" -o "$name.ptx"
  nvcc -ptx -std=c++17 -arch=sm_80 -fmad=false -Xcicc -O0 -include on_host.h "$name.cu" -o "$name.O0.ptx"
  echo "$name: $(wc -l <"$name.ptx") lines of PTX, $(wc -l <"$name.O0.ptx") without the optimiser"
done
