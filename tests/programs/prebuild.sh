#!/bin/sh
# prebuild.sh [NAME...]: makes prebuilt/NAME.fatbin, what nvcc embeds in the program, anew: of those that there are, or of those named.
set -e
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- $(ls prebuilt | sed 's/\.fatbin$//')
object=$(mktemp)
trap 'rm -f "$object"' EXIT
for name; do
  options=$(sed -n 's|^// nvcc: ||p' "$name.cu")
  nvcc -std=c++17 -w ${options:--arch=compute_75} -c -o "$object" "$name.cu"
  case $options in *-rdc=true*) section=__nv_relfatbin ;; *) section=.nv_fatbin ;; esac
  objcopy -O binary --only-section=$section "$object" "prebuilt/$name.fatbin"
done
