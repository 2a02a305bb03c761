#!/usr/bin/env bash
# Makes the committed PTX anew from the .cu files; needs nvcc 13. Arguments: names without .cu (default: all).
set -euo pipefail
cd "$(dirname "$0")"
command -v nvcc >/dev/null || { echo "nvcc is not on PATH; the committed .ptx files need no rebuilding to be run" >&2; exit 1; }
[ $# -gt 0 ] || set -- $(basename -s .cu -- *.cu)
for name in "$@"; do
  case $name in
    sha256 | philox | tma_pipeline | cluster_reduce) options=(-arch=sm_90) ;;
    wgmma_gemm) options=(-arch=sm_90a) ;;
    tcgen05_gemm | nvfp4_gemm) options=(-arch=sm_100a) ;;
    stencil2d | quicksort | bfs) options=(-arch=sm_80 -lineinfo) ;;
    gemm_fp8) options=(-arch=sm_89) ;;
    *) options=(-arch=sm_80) ;;
  esac
  nvcc -ptx -std=c++17 "${options[@]}" "$name.cu" -o "$name.ptx"
  sed -i -E 's|^(\t\.file\t[0-9]+ ")[^"]*/|\1|' "$name.ptx"  # no path of this machine
  echo "$name.ptx: $(wc -l <"$name.ptx") lines"
done
