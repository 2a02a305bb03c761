#!/usr/bin/env bash
# The Debian packages, installed by apt into a fresh Debian.
source "$(dirname "$0")/common.sh"
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-dev is not here"
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not here"
[ "$(id -u)" = 0 ] || skip "installing packages into a root of their own needs root"
. /etc/os-release
[ "${ID-}" = debian ] || skip "this is not Debian"
mapfile -t mirrors < <(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
  'Origin: Debian' 'Component: main')
((${#mirrors[@]})) || skip "apt knows no mirror of Debian (apt-get update)"

"$cmake" --build "$build" --target ptxrun_changelog >/dev/null
(cd "$build" && "$(dirname "$cmake")/cpack" -B "$work/packages" >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
packages=("$work"/packages/*.deb)
((${#packages[@]} == 2))
if command -v lintian >/dev/null; then
  # The manual page is another matter; LLVM's parts inside are meant.
  lintian --allow-root --fail-on error,warning "${packages[@]}" || exit 1
fi

# Nothing of NVIDIA's packages is overwritten, and no program finds the libraries by chance.
for package in "${packages[@]}"; do
  if dpkg-deb -c "$package" | grep -E '/usr/lib/x86_64-linux-gnu/[^/]+\.so'; then echo "$package has libraries in a common folder"; exit 1; fi
done

cat >"$work/inside.sh" <<'INSIDE'
set -e
cd /tmp/ptxrun
apt-get install -q -y --no-install-recommends ./*.deb >log 2>&1 || { tail -n 30 log; exit 1; }
! ldconfig -p | grep libcuda
bash try.sh ptxrun /tmp/ptxrun
ptxrun run /usr/share/doc/ptxrun/examples/saxpy.toml
! ./driver_host_program 2>/dev/null # the linker must not find it yet
LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/ptxrun ./driver_host_program
echo /usr/lib/x86_64-linux-gnu/ptxrun >/etc/ld.so.conf.d/zz-ptxrun.conf # as README.Debian says
ldconfig
./driver_host_program
rm /etc/ld.so.conf.d/zz-ptxrun.conf
dpkg --purge ptxrun libptxrun-cuda1 >>log
ldconfig
[ ! -e /usr/lib/x86_64-linux-gnu/ptxrun ]
echo "ok: packages"
INSIDE
# What apt has to say on a mirror that cannot be reached is the reason to skip; a failure inside is a failure.
set +e
mmdebstrap --quiet --variant=apt --format=null \
  --customize-hook="mkdir \"\$1/tmp/ptxrun\" && cp $work/files/* ${packages[*]} $work/inside.sh \"\$1/tmp/ptxrun\"" \
  --customize-hook="touch $work/started; chroot \"\$1\" bash /tmp/ptxrun/inside.sh && touch $work/ended" \
  "$VERSION_CODENAME" /dev/null "${mirrors[@]}" >"$work/log" 2>&1
cat "$work/log"
[ -e "$work/started" ] || skip "no root could be made: $(grep -m 1 '^E:' "$work/log")"
[ -e "$work/ended" ]
