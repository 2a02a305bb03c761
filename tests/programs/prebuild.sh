#!/bin/sh
# prebuild.sh [NAME...]: makes what nvcc makes of programs anew, of those that are in prebuilt/ or of those named: NAME.o.xz, the object, or NAME.fatbin,
# the device's part alone, where that is there already or where `-f` comes before the names.
set -e
cd "$(dirname "$0")"
kind=o.xz
[ "$1" != -f ] || { kind=fatbin; shift; }
[ $# -gt 0 ] || set -- $(ls prebuilt | sed 's/\..*$//')
object=$(mktemp)
trap 'rm -f "$object"' EXIT
for name; do
  options=$(sed -n 's|^// nvcc: ||p' "$name.cu")
  nvcc -std=c++17 -w ${options:--arch=compute_75} -c -o "$object" "$name.cu"
  if [ $kind = fatbin ] || [ -e "prebuilt/$name.fatbin" ]; then
    case $options in *-rdc=true*) section=__nv_relfatbin ;; *) section=.nv_fatbin ;; esac
    objcopy -O binary --only-section=$section "$object" "prebuilt/$name.fatbin"
  else
    strip --strip-debug --remove-section=.comment "$object"
    xz -9e < "$object" > "prebuilt/$name.o.xz"
  fi
done
