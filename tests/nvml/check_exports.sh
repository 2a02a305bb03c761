#!/bin/bash
# The library exports, unversioned, the functions of the table and nothing else, under its one name, and needs neither LLVM
# nor the driver:
#   check_exports.sh LIBRARY TABLE
set -euo pipefail
export LC_ALL=C
library=$1 table=$2
diff <(sed -nE 's/^(DEVICE_)?FUNCTION\((\w+)\)$/\2/p' "$table" | sort) \
     <(nm -D --defined-only "$library" | awk '{print $3}' | sort)
dynamic=$(readelf -d "$library")
grep -q 'SONAME.*\[libnvidia-ml\.so\.1\]' <<< "$dynamic"
if grep -E 'NEEDED.*(LLVM|libcuda|libomp)' <<< "$dynamic"; then
  echo "needed, but ought not to be"
  exit 1
fi
