#!/bin/bash
# The library exports the functions of the table under the version node that programs ask for, and nothing else, and needs
# neither LLVM nor the driver:
#   check_cudnn_exports.sh LIBRARY TABLE
set -euo pipefail
export LC_ALL=C
library=$1 table=$2
diff <(sed -nE 's/^FUNCTION\((\w+)\)$/\1@@libcudnn.so.9/p' "$table" | sort) \
     <(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 == "T" {print $3}' | sort)
dynamic=$(readelf -d "$library")
grep -q 'SONAME.*\[libcudnn\.so\.9\]' <<< "$dynamic"
if grep -E 'NEEDED.*(LLVM|libcuda|libomp)' <<< "$dynamic"; then
  echo "needed, but ought not to be"
  exit 1
fi
