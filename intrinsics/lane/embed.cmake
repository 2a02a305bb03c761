# Joins the lane library's sources as LLVM IR into one bitcode file, and names it for the assembler.
#   cmake -DLLVM_BIN=... -DOUT=lane.bc -DIR="a.ll;b.ll" -P embed.cmake
# The IR is made for any caller: no target, no per-function target attributes (a callee with other attributes than its
# caller's is not inlined), and the data layout of lowering's modules, which adds 32-bit pointers for `.shared`.
set(cleaned)
foreach(file ${IR})
  file(READ ${file} text)
  string(REGEX REPLACE " \"[a-z-]+\"=\"[^\"]*\"" "" text "${text}")
  string(REPLACE " \"no-builtins\"" "" text "${text}")
  string(REGEX REPLACE "e-m:e-p270:32:32" "e-m:e-p3:32:32-p270:32:32" text "${text}")
  string(REGEX REPLACE "\ntarget triple[^\n]*" "" text "${text}")
  string(REPLACE " dso_local" "" text "${text}")
  string(REPLACE " uwtable" "" text "${text}")
  string(REGEX REPLACE "\n!llvm\\.(module\\.flags|ident)[^\n]*" "" text "${text}")
  file(WRITE ${file}.clean.ll "${text}")
  list(APPEND cleaned ${file}.clean.ll)
endforeach()
execute_process(COMMAND ${LLVM_BIN}/llvm-link -o ${OUT} ${cleaned} COMMAND_ERROR_IS_FATAL ANY)
