#!/usr/bin/env bash
# draw.sh KERNELS_TEST [count=N] [seed=N] [keep=DIR] [lanes=W8,W32]: modules of 20 kernels that draw.py draws, compiled by nvcc with and
# without its optimiser, and as C++ for the host (a library of cases, loaded before KERNELS_TEST): the same memory at every W, on the CPU level
# and tier that PTXRUN_CPU and PTXRUN_TIERS name. What differs is kept in DIR. Exit status 77 where nvcc or clang is missing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
test=$1; shift
count=1 seed=$((RANDOM * 1000)) keep= lanes=W1,W8,W16,W32,Wauto
for setting in "$@"; do
  case $setting in
  count=*) count=${setting#*=} ;;
  seed=*) seed=${setting#*=} ;;
  keep=*) keep=${setting#*=} ;;
  lanes=*) lanes=${setting#*=} ;;
  *) echo "draw.sh: what is '$setting'?" >&2; exit 2 ;;
  esac
done
clang=$(command -v clang++-19 || command -v clang++) || { echo "skipped: no clang"; exit 77; }
command -v nvcc >/dev/null || { echo "skipped: no nvcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
filter=
for width in ${lanes//,/ }; do filter+=":Kernels/*.$width/tried*"; done
failed=0 launches=0
for ((k = 0; k < count; ++k)); do
  number=$((seed + 20 * k)) file=$folder/drawn
  python3 -B "$here/draw.py" $number 20 tried >"$file.cu" || exit 1
  nvcc -ptx -w -std=c++17 -arch=sm_80 -fmad=false -include "$here/on_host.h" "$file.cu" -o "$file.ptx" || exit 1
  nvcc -ptx -w -std=c++17 -arch=sm_80 -fmad=false -Xcicc -O0 -include "$here/on_host.h" "$file.cu" -o "$file.O0.ptx" || exit 1
  "$clang" -x c++ -w -O1 -fwrapv -ffp-contract=off -std=c++20 -fPIC -shared -include "$here/on_host.h" "$file.cu" -o "$file.so" || exit 1
  LD_PRELOAD=$file.so "$test" --gtest_filter="${filter#:}" --gtest_brief=1 >"$file.log" 2>&1
  status=$?
  ran=$(sed -n 's/^\[==========\] \([0-9]*\) tests.*ran.*/\1/p' "$file.log")
  launches=$((launches + ${ran:-0}))
  [ $status = 0 ] && continue
  echo "seed=$number:"
  grep -h "FAILED  \]" "$file.log" | sort -u | head -12
  failed=$((failed + 1))
  if [ -n "$keep" ]; then
    mkdir -p "$keep/$number" && cp "$folder"/drawn.* "$keep/$number/"
  fi
done
echo "$launches launches, $failed of $count modules different"
[ $failed = 0 ]
