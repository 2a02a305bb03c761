#!/bin/sh
# Compiles kernels.cu with nvcc 13 or later. What comes out is committed: tests need no nvcc. In a folder that is called the same
# everywhere, since its name is in the result.
set -e
cd "$(dirname "$0")"
folder=/tmp/ptxrun-kernels
mkdir -p $folder
cp kernels.cu $folder
for form in debug lines; do
  flag=-lineinfo
  [ $form = debug ] && flag=-G
  (cd $folder && "${NVCC:-nvcc}" -ptx $flag -arch=sm_75 kernels.cu -o $form.ptx)
  sed "s|\"$folder/|\"tests/debug/|" $folder/$form.ptx > kernels_$form.ptx
done
rm -r $folder
