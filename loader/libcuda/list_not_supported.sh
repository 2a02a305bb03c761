#!/bin/bash
# What the library exports but answers with CUDA_ERROR_NOT_SUPPORTED, for the README beside this script:
#   list_not_supported.sh LIBRARY            prints the list
#   list_not_supported.sh LIBRARY --check    succeeds if the README has it
#   list_not_supported.sh LIBRARY --write    puts it there
set -euo pipefail
export LC_ALL=C
library=$1 # with its symbols: definitions are ptxrun_body_NAME (loader/boundary)
readme=$(dirname "$0")/README.md
defined=$(nm --defined-only "$library" | sed -nE 's/.* ptxrun_body_(cu\w+)$/\1/p' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort -u)
strong=$(sed -E 's/(_v[0-9]+)?(_pt[sd]z?s?)?$//' <<< "$defined" | sort -u)
weak=$(comm -13 <(echo "$defined") <(echo "$exported") | sed -E 's/_pt(sz|ds)$//' | sort -u)
old=() new=()
for name in $weak; do
  if grep -qxF "${name%_v[0-9]}" <<< "$strong"; then old+=("$name"); else new+=("$name"); fi
done
list() {
  echo "Functions: ${new[*]}."
  echo
  echo "Older signatures of functions that there are: ${old[*]}."
}
text=$(list | fold -s -w 150 | sed 's/ *$//')
begin='<!-- not supported: list_not_supported.sh -->' end='<!-- end -->'
case ${2:-} in
--check)
  diff <(sed -n "/^$begin\$/,/^$end\$/p" "$readme" | sed '1d;$d') <(echo "$text")
  ;;
--write)
  { sed "/^$begin\$/q" "$readme"; echo "$text"; sed -n "/^$end\$/,\$p" "$readme"; } > "$readme.new"
  mv "$readme.new" "$readme"
  ;;
*) echo "$text" ;;
esac
