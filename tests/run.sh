#!/usr/bin/env bash
# Installs what is missing (apt), builds in build/ and runs tests.
#   tests/run.sh            as many as .ci/shares/release.txt draws (some nine minutes of two cores): all, but of what runs the same
#                           kernels at each CPU level, tier and W a part. PTXRUN_TEST_SEED, which is printed, draws the same again
#   tests/run.sh --all      every test (over half an hour)
#   tests/run.sh -R name    of all those that ctest's arguments choose
set -euo pipefail
cd "$(dirname "$0")/.."
.ci/build
echo "-- running the tests on $(nproc) cores"
if [ $# -eq 0 ]; then exec .ci/test build .ci/shares/release.txt; fi
if [ "$1" = --all ]; then shift; fi
cd build
exec ctest --output-on-failure --no-tests=error --parallel "$(nproc)" --timeout 600 "$@"
