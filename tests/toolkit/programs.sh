#!/usr/bin/env bash
# The stand-ins for ptxas and nvcc.  Usage: programs.sh FOLDER-OF-THEM
set -euo pipefail
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "FAILED: $1" >&2
  exit 1
}
# expect WORDS... : what the call of NVIDIA's nvcc was
expect() { [[ $(cat called) == "$*" ]] || fail "nvcc was called with: $(cat called), expected: $*"; }

printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n' >'a name.tmp1'
"$folder/ptxas" -lineinfo -v --gpu-name=sm_90a -O 3 'a name.tmp1' -o out.o || fail "ptxas"
cmp -s <(cat 'a name.tmp1'; printf '\0') out.o || fail "ptxas hands the text on, with its end"
"$folder/ptxas" -arch sm_80 --maxrregcount 40 'a name.tmp1' -o limited && grep -q 'at most 40$' limited || fail "--maxrregcount"
"$folder/ptxas" -arch sm_80 --output-file=other 'a name.tmp1' && [[ -s other ]] || fail "--output-file="
(cd "$work" && "$folder/ptxas" 'a name.tmp1' && [[ -s elf.o ]]) || fail "the usual name"
[[ $("$folder/ptxas" --version) == *"release 13.0"* ]] || fail "--version"

printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frob; }\n' >bad.ptx
status=0
message=$("$folder/ptxas" bad.ptx -o bad.o 2>&1) || status=$?
[[ $status == 255 && $message == *frob* && ! -e bad.o ]] || fail "wrong PTX: $status $message"
message=$("$folder/ptxas" -o x missing.ptx 2>&1) && fail "a missing file"
[[ $message == *"could not open input file 'missing.ptx'"* ]] || fail "missing: $message"
message=$("$folder/ptxas" -o x 2>&1) && fail "no file"
[[ $message == *"one PTX file is expected"* ]] || fail "no file: $message"

cat >nvcc <<'FAKE'
#!/bin/sh
echo "$@" >called
FAKE
chmod +x nvcc
export PATH="$folder:$work:$PATH"
hash -r
nvcc --cubin -arch sm_90 -I/x dir/k.cu
expect -ptx -arch compute_90 -I/x dir/k.cu -o k.cubin
nvcc -cubin -o out.cubin -arch=sm_80 -code=sm_80 k.cu
expect -ptx -o out.cubin -arch=compute_80 k.cu
nvcc -gencode arch=compute_90,code=sm_90 -gencode=arch=compute_80,code=compute_80 -c k.cu
expect -gencode 'arch=compute_90,code=[compute_90,sm_90]' -gencode arch=compute_80,code=compute_80 -c k.cu
nvcc -arch=sm_90 -O2 k.cu -o program
expect -arch=sm_90 -O2 k.cu -o program
nvcc -arch=compute_90 -code sm_90 k.cu
expect -arch=compute_90 -code sm_90,compute_90 k.cu
nvcc -ptx -arch=sm_90 k.cu
expect -ptx -arch=sm_90 k.cu

message=$(env -u CUDA_HOME -u CUDA_PATH PTXRUN_NVCC= PATH="$folder:/usr/bin:/bin" "$folder/nvcc" k.cu 2>&1) || true
[[ $message == *"PTXRUN_NVCC=PATH"* || -e /usr/local/cuda/bin/nvcc || $(ls -d /usr/local/cuda-* 2>/dev/null) ]] ||
  fail "without NVIDIA's nvcc: $message"
echo "ptxas and nvcc do as they are asked"
