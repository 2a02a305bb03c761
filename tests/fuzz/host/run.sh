#!/usr/bin/env bash
# run.sh PTXRUN KIND [count=N] [seed=N] [keep=DIR]: random kernels, eight in a module, by clang for nvptx64 and ptxrun, and for the
# host: the same results. KIND is tiles (blocks fill tiles in shared memory; on the host their threads take turns between barriers)
# or promotions (arithmetic on bytes and 16-bit numbers): KIND.py writes them.
# Exit status 77 where clang or Python is missing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ptxrun=$1 kind=$2; shift 2
count=1 seed=$RANDOM keep=
for setting in "$@"; do
  case $setting in
  count=*) count=${setting#*=} ;;
  seed=*) seed=${setting#*=} ;;
  keep=*) keep=${setting#*=} ;;
  *) echo "run.sh: what is '$setting'?" >&2; exit 2 ;;
  esac
done
clang=$(command -v clang-19 || command -v clang) || { echo "skipped: no clang"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "seed=$seed"
flags=(-w -fno-strict-aliasing -fwrapv)
different=0 launches=0
for ((k = 0; k < count; ++k)); do
  number=$((seed + k))
  python3 -B "$here/$kind.py" $number 8 >"$folder/kernels.c" || exit 1
  "$clang" -O1 "${flags[@]}" -o "$folder/host" "$folder/kernels.c" && "$folder/host" >"$folder/kernels.toml" || exit 1
  "$clang" --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx80 -O$((1 + number % 2)) -ffreestanding -S \
    "${flags[@]}" -o "$folder/kernels.ptx" "$folder/kernels.c" || exit 1
  for lanes in "" 1 8 16 32; do
    launches=$((launches + 8))
    found=$("$ptxrun" run "$folder/kernels.toml" ${lanes:+--lanes $lanes} --tiers optimised --no-cache --timeout 60 2>&1) && continue
    echo "seed=$number, W = ${lanes:-automatic}:"
    echo "$found" | grep -v "as expected"
    different=$((different + 1))
    if [ -n "$keep" ]; then
      mkdir -p "$keep/$number" && cp "$folder"/kernels.* "$keep/$number/"
    fi
    break
  done
done
echo "$launches launches, $different modules different"
[ $different = 0 ]
