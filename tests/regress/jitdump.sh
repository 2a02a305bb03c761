#!/usr/bin/env bash
# jitdump.sh PTXRUN: what PTXRUN_PERF=1 writes is what `perf inject --jit` takes: its header has the magic word and no flags. Functions
# that nobody calls by name are in it, too: most of a kernel with barriers is in such.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
JITDUMPDIR=$folder PTXRUN_PERF=1 "$1" run "$(dirname "$0")/three_elements_of_some_lanes.toml" --no-cache --quiet
dump=$(find "$folder" -name 'jit-*.dump')
[ "$(head -c 4 "$dump")" = DTiJ ] || { echo "no jitdump: $dump"; exit 1; }
flags=$(od -A n -t u8 -j 32 -N 8 "$dump" | tr -d ' ')
[ "$flags" = 0 ] || { echo "flags: $flags"; exit 1; }
rm -r "$folder"/.debug
JITDUMPDIR=$folder PTXRUN_PERF=1 "$1" run "$(dirname "$0")/../../samples/gemm_int8.toml" --no-cache --quiet
dump=$(find "$folder" -name 'jit-*.dump')
for name in gang_start start start.resume; do
  grep -qaF "gemmInt8.$name" "$dump" || { echo "no gemmInt8.$name in $dump"; exit 1; }
done
