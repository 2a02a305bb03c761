#!/usr/bin/env bash
# run.sh PTXRUN [seconds=S] [count=N] [seed=N] [keep=DIR]: random C programs (Csmith), by clang for the host and by clang for
# nvptx64 and ptxrun: the same sum over all variables. Programs that are not done in two seconds are left out.
# Exit status 77 where Csmith or clang is missing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
ptxrun=$1; shift
count=20 seconds=0 seed=$RANDOM keep=
for setting in "$@"; do
  case $setting in
  count=*) count=${setting#*=} ;;
  seconds=*) seconds=${setting#*=} count=1000000000 ;;
  seed=*) seed=${setting#*=} ;;
  keep=*) keep=${setting#*=} ;;
  *) echo "run.sh: what is '$setting'?" >&2; exit 2 ;;
  esac
done
clang=$(command -v clang-19 || command -v clang) || { echo "skipped: no clang"; exit 77; }
command -v csmith >/dev/null || { echo "skipped: no csmith (Debian: csmith, libcsmith-dev)"; exit 77; }
include=
for place in /usr/include/csmith /usr/local/include/csmith /usr/include/csmith-*; do
  [ -f "$place/safe_math.h" ] && include=$place && break
done
[ -n "$include" ] || { echo "skipped: no safe_math.h of Csmith (Debian: libcsmith-dev)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "seed=$seed"
flags=(-w -ffreestanding -fno-strict-aliasing -fwrapv -I "$here" -I "$include" "-DPROGRAM=\"$folder/program.c\"" "$here/program.c")
end=$((SECONDS + seconds)) compared=0 slow=0 different=0
for ((k = 0; k < count; ++k)); do
  [ "$seconds" != 0 ] && [ $SECONDS -ge $end ] && break
  number=$((seed + k))
  (cd "$folder" && csmith --seed $number --no-argc --concise --max-funcs 5) >"$folder/program.c" || continue
  "$clang" -O0 "${flags[@]}" -o "$folder/host" || { echo "seed=$number: not compiled for the host"; different=$((different + 1)); continue; }
  expected=$(timeout 2 "$folder/host") || { slow=$((slow + 1)); continue; }
  level=-O$((number % 3))
  if ! "$clang" --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx80 $level -S "${flags[@]}" \
    -o "$folder/program.ptx" 2>"$folder/errors"; then
    slow=$((slow + 1)) # what clang has no code for there
    continue
  fi
  compared=$((compared + 1))
  for lanes in 1 8 32; do
    for tiers in baseline optimised; do
      found=$("$ptxrun" run "$folder/program.ptx" --kernel run --block 1 --lanes $lanes --tiers $tiers --no-cache --timeout 60 \
        --arg 'print:u32[1]' 2>&1)
      [[ $found == *"$expected"* ]] && continue
      echo "seed=$number, W = $lanes, $tiers, $level: expected $expected, found: $found"
      different=$((different + 1))
      if [ -n "$keep" ]; then
        mkdir -p "$keep"
        cp "$folder/program.c" "$keep/csmith-$number.c"
        cp "$folder/program.ptx" "$keep/csmith-$number.ptx"
      fi
      break 2
    done
  done
done
echo "$compared programs compared, $slow left out, $different different"
[ $different = 0 ]
