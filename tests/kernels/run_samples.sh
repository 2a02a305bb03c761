#!/usr/bin/env bash
# Runs every sample's launch description: run_samples.sh PTXRUN SAMPLES LANES [OPTION...] (LANES 0: automatic). The level is
# PTXRUN_CPU's.
set -uo pipefail
ptxrun=$1 samples=$2 lanes=$3
shift 3
has() { grep -qw "$1" /proc/cpuinfo; }
case ${PTXRUN_CPU:-} in
  avx512) has avx512vl || { echo "skipped: this CPU has no AVX-512"; exit 77; } ;;
  avx2) has avx2 || { echo "skipped: this CPU has no AVX2"; exit 77; } ;;
esac
options=(--no-cache --quiet --timeout 60 "$@")
[ "$lanes" = 0 ] || options+=(--lanes "$lanes")
failed=0
for description in "$samples"/*.toml; do
  "$ptxrun" run "$description" "${options[@]}"
  status=$?
  if [ $status = 0 ]; then
    echo "ok      $(basename "$description")"
  else
    echo "FAILED  $(basename "$description") (exit code $status)"
    failed=1
  fi
done
exit $failed
