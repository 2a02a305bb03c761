#!/usr/bin/env bash
# passes.sh PTXRUN REPOSITORY [PART PARTS]: without any one of the optional passes, and without all of them, results stay the same. Dumps are on
# in the last turn: the module is then verified behind every pass. Of these runs one in PARTS, all by default.
set -uo pipefail
ptxrun=$1 repository=$2 part=${3:-0} parts=${4:-1} failed=0 turn=0
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

mapfile -t names < <("$ptxrun" help passes | sed -n 's/^  - \([a-z-]*\).*/\1/p')
[[ ${#names[@]} -ge 10 ]] || { echo "ptxrun help passes names ${#names[@]} optional passes"; exit 1; }

run() { # PASSES DESCRIPTION OPTIONS...
  ((turn++ % parts == part)) || return 0
  PTXRUN_PASSES=$1 "$ptxrun" run "$2" --no-cache --quiet --timeout 60 "${@:3}" && return
  echo "FAILED: PTXRUN_PASSES=$1 ptxrun run $2 ${*:3}"
  failed=1
}

# Each of these is a kernel that one of the passes changes: barriers, rows, strides, last lanes, matrix registers, waits for mbarriers.
kernels=(samples/{reduce,transpose}.toml
         tests/regress/{far_rows,loop_stores_in_partial_blocks,quotient_in_outer_loop,rounds_of_strided_loops,gang_uniform_choice_inside,last_lanes_of_a_loop}.toml
         tests/sync/{mbarrier_wait,barriers}.toml)
for name in "${names[@]}"; do
  for kernel in "${kernels[@]}"; do
    run "-$name" "$repository/$kernel"
  done
done
for kernel in "$repository"/tests/regress/*.toml "$repository"/samples/{gemm_mma,scan,sgemm_naive,histogram}.toml; do
  run -all "$kernel"
done
for kernel in "${kernels[@]}" samples/{scan,stencil2d,sgemm_naive}.toml; do
  run "" "$repository/$kernel" --dump "$scratch/$(basename "$kernel")"
done
exit $failed
