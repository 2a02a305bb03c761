#!/usr/bin/env bash
# Installs what is missing (apt), builds in build/ and runs every test. Arguments go to ctest (-R name, ...).
set -euo pipefail
cd "$(dirname "$0")/.."
.ci/build
cores=$(nproc)
echo "-- running the tests on $cores cores"
cd build
exec ctest --output-on-failure --parallel "$cores" --timeout 300 "$@"
