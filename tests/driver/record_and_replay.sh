#!/bin/bash
# A program's launches, recorded and replayed, give the same bits: record_and_replay.sh PTXRUN PROGRAM
set -euo pipefail
recording=$(mktemp)
trap 'rm -f "$recording"' EXIT
"$1" record -o "$recording" -- "$2"
"$1" replay "$recording"
