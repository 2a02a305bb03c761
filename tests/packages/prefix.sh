#!/usr/bin/env bash
# An installation under a prefix, moved afterwards.
source "$(dirname "$0")/common.sh"
"$cmake" --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
hidden bash "$work/files/try.sh" "$work/moved/bin/ptxrun" "$work/files"
