#!/usr/bin/env bash
# run.sh PTXRUN FILE: the launch must fail, and its report say, in this order, what the file's `// report:` lines say.
set -uo pipefail
ptxrun=$1 file=$2 failed=0
arguments=$(sed -n 's,^// run: ,,p' "$file")
cd "$(dirname "$file")" || exit 1
for lanes in "" 1 8 32; do
  # shellcheck disable=SC2086
  report=$("$ptxrun" run "$(basename "$file")" $arguments ${lanes:+--lanes $lanes} --no-cache 2>&1) && {
    echo "W = ${lanes:-automatic}: the launch did not fail"
    failed=1
  }
  rest=$report
  while IFS= read -r line; do
    if [[ $rest != *"$line"* ]]; then
      printf 'W = %s: the report does not say (in this order)\n  %s\nbut\n%s\n' "${lanes:-automatic}" "$line" "$report"
      failed=1
      break
    fi
    rest=${rest#*"$line"}
  done < <(sed -n 's,^// report: ,,p' "$file")
done
exit $failed
