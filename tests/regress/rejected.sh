#!/usr/bin/env bash
# rejected.sh PTXRUN FILE: `ptxrun verify` must refuse the file with a diagnostic.
out=$("$1" verify "$2")
status=$?
echo "$out"
[ $status = 1 ] && [[ $out == *error:* ]]
