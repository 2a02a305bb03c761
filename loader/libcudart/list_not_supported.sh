#!/bin/bash
# What the two libraries export but answer with cudaErrorNotSupported, for the README beside this script:
#   list_not_supported.sh LIBRARY12 LIBRARY13            prints the list
#   list_not_supported.sh LIBRARY12 LIBRARY13 --check    succeeds if the README has it
#   list_not_supported.sh LIBRARY12 LIBRARY13 --write    puts it there
set -euo pipefail
export LC_ALL=C
readme=$(dirname "$0")/README.md
defined() { nm --defined-only "$1" | sed -nE 's/.* ptxrun_body_(\w+)$/\1/p' | sort -u; }
exported() { nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sed -E 's/@.*//' | sort -u; }
weak() { comm -13 <(defined "$1") <(exported "$1") | sed -E 's/_pt(sz|ds)$//' | sort -u; }
old=$(weak "$1") new=$(weak "$2")
list() {
  echo "Functions:" $(comm -12 <(echo "$old") <(echo "$new")).
  echo
  echo "Names that only the other version has, in libcudart.so.12:" $(comm -23 <(echo "$old") <(echo "$new"))"; in libcudart.so.13:" \
    $(comm -13 <(echo "$old") <(echo "$new")).
}
text=$(list | fold -s -w 150 | sed 's/ *$//')
begin='<!-- not supported: list_not_supported.sh -->' end='<!-- end -->'
case ${3:-} in
--check)
  diff <(sed -n "/^$begin\$/,/^$end\$/p" "$readme" | sed '1d;$d') <(echo "$text")
  ;;
--write)
  { sed "/^$begin\$/q" "$readme"; echo "$text"; sed -n "/^$end\$/,\$p" "$readme"; } > "$readme.new"
  mv "$readme.new" "$readme"
  ;;
*) echo "$text" ;;
esac
