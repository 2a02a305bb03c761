# For the tests of packages: sourced with CMAKE BUILD PROGRAMS...
set -euo pipefail
cmake=$1 build=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
work=$(mktemp -d /tmp/ptxrun-packages.XXXXXX)
trap 'rm -rf "$work"' EXIT

skip() {
  echo "skipped: $*"
  exit 77
}

# The files that try.sh takes.
mkdir "$work/files"
cp "$@" "$source_root"/samples/saxpy.{ptx,toml} "$here/try.sh" "$work/files"

# Runs a command where the build folder is empty; as it is where the kernel does not let us.
hidden() {
  if unshare --map-root-user --mount true 2>/dev/null; then
    unshare --map-root-user --mount sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$build" "$@"
  else
    echo "note: the build folder cannot be hidden here"
    "$@"
  fi
}
