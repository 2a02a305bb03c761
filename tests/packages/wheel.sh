#!/usr/bin/env bash
# The wheel, in a fresh virtual environment and without any index of packages.
source "$(dirname "$0")/common.sh"
python3 -m venv "$work/venv" >"$work/log" 2>&1 || skip "python3 -m venv makes no environment here: $(tail -n 1 "$work/log")"
"$cmake" --build "$build" --target wheel >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
wheel=("$build"/packages/ptxrun-*.whl)
"$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "${wheel[0]}"

cd "$work"
hidden bash "$work/files/try.sh" "$work/venv/bin/ptxrun" "$work/files"
hidden bash "$work/files/try.sh" "$work/venv/bin/python -m ptxrun" "$work/files"

# A library folder for programs that are started without the command.
folder=$("$work/venv/bin/python" -c "import ptxrun; print(ptxrun.library_folder())")
LD_LIBRARY_PATH=$folder hidden "$work/files/driver_host_program"

# Files ask for nothing that the tag does not promise, and find what the wheel brings.
tag=$(basename "${wheel[0]}" .whl)
[[ $tag =~ -py3-none-manylinux_2_([0-9]+)_x86_64$ ]]
promised=${BASH_REMATCH[1]}
expected='^(ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz)\.so\.[0-9]+$'
for file in "$folder"/*.so* "$folder/../bin/ptxrun"; do
  for version in $(objdump -T "$file" | grep -oP 'GLIBC_2\.\K[0-9]+' | sort -u); do
    ((version <= promised)) || { echo "$file asks for glibc 2.$version, and the tag is $tag"; exit 1; }
  done
  for name in $(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }'); do
    [[ $name =~ $expected || -e $folder/$name ]] || { echo "$file needs $name, which the wheel does not bring"; exit 1; }
  done
done
"$work/venv/bin/pip" uninstall --quiet --yes ptxrun
[[ ! -e $folder ]] || { echo "pip leaves $folder behind"; exit 1; }
echo "ok: ${wheel[0]}"
