#!/bin/bash
# The library exports plain, unversioned cu* symbols and nothing else, under its one name.
set -euo pipefail
library=$1
others=$(nm -D --defined-only "$library" | awk '$3 !~ /^cu[A-Z]/ {print $3}')
if [ -n "$others" ]; then
  echo "exported, but no part of the driver API: $others"
  exit 1
fi
if nm -D --defined-only "$library" | grep -q '@'; then
  echo "symbols carry a version"
  exit 1
fi
# What functions.def does not list is exported as it was defined, and may throw.
listed=$(dirname "$0")/../../loader/libcuda/functions.def
unlisted=$(comm -23 <(nm -D --defined-only "$library" | awk '{print $3}' | sort -u) <(grep -oE '\w+\)$' "$listed" | tr -d ')' | sort -u))
if [ -n "$unlisted" ]; then
  echo "exported, but not in functions.def: $unlisted"
  exit 1
fi
readelf -d "$library" | grep -q 'SONAME.*\[libcuda\.so\.1\]'
