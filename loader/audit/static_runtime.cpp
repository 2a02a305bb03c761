#include "loader/audit/static_runtime.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "loader/audit/report.h"
#include "loader/audit/runtime_slots.h"

namespace ptxrun::audit {

namespace {

using Functions = std::vector<ObjectFile::Function>;

/// movabs $slot, %r11; jmp *(%r11). The register is free at the start of every function.
constexpr size_t kAddressOffset = 2, kJumpOffset = 10, kJumpBytes = 13;

void writeJump(char *code, void *const *slot) {
  constexpr unsigned char kLoad[] = {0x49, 0xbb}, kJump[] = {0x41, 0xff, 0x23};
  memcpy(code, kLoad, sizeof kLoad);
  memcpy(code + kAddressOffset, &slot, sizeof slot);
  memcpy(code + kJumpOffset, kJump, sizeof kJump);
}

/// A debugger that inserted a breakpoint before puts back, later, the byte that was there. It does
/// so at a function's start or behind `push %rbp; mov %rsp, %rbp`.
bool hasBreakpoint(const unsigned char *code) {
  constexpr unsigned char kBreakpoint = 0xcc, kPushFrame = 0x55;
  return code[0] == kBreakpoint || (code[0] == kPushFrame && code[4] == kBreakpoint);
}

bool has(const Functions &functions, std::string_view name) {
  return std::ranges::any_of(functions, [&](const auto &f) { return f.name == name; });
}

/// The version of the runtime among these functions; none where they are no runtime. 12 is told by
/// a function that 13 no longer has, 11 by one that it does not have yet.
std::optional<RuntimeMajor> majorOf(const Functions &functions, const char *path) {
  if (!has(functions, "__cudaRegisterFatBinary") || !has(functions, "cudaLaunchKernel") ||
      !has(functions, "cudaMalloc"))
    return std::nullopt;
  if (has(functions, "cudaGetDeviceProperties_v2"))
    return RuntimeMajor::cuda12;
  if (has(functions, "cudaLibraryLoadData"))
    return RuntimeMajor::cuda13;
  report({path, " has a CUDA runtime older than 12 inside it, which cannot be replaced: build it "
                "with CUDA 12 or 13"});
  return std::nullopt;
}

/// Makes the pages of a range of code writable, and executable only again when done.
class WritableCode {
 public:
  WritableCode(uint64_t begin, uint64_t end) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    start_ = reinterpret_cast<void *>(begin & ~(page - 1));
    bytes_ = end - (begin & ~(page - 1));
    isWritable_ = mprotect(start_, bytes_, PROT_READ | PROT_WRITE) == 0;
  }
  ~WritableCode() {
    if (isWritable_)
      mprotect(start_, bytes_, PROT_READ | PROT_EXEC);
  }
  WritableCode(const WritableCode &) = delete;
  WritableCode &operator=(const WritableCode &) = delete;
  bool isWritable() const { return isWritable_; }

 private:
  void *start_;
  size_t bytes_;
  bool isWritable_;
};

} // namespace

void replaceStaticRuntime(const char *path, uint64_t address) {
  const ObjectFile file(path);
  const Functions functions = file.cudaFunctions();
  const auto major = majorOf(functions, path);
  if (!major)
    return;
  const WritableCode code(address + functions.front().offset,
                          address + functions.back().offset + kJumpBytes);
  if (!code.isWritable()) {
    report({"the CUDA runtime inside ", path, " cannot be replaced: its code cannot be written"});
    return;
  }
  size_t replaced = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    void *const *slot = runtimeSlot(*major, functions[i].name);
    if (!slot)
      continue;
    const uint64_t next = i + 1 < functions.size() ? functions[i + 1].offset : UINT64_MAX;
    if (next != functions[i].offset && next - functions[i].offset < kJumpBytes) {
      report({functions[i].name, " in ", path, " cannot be replaced: it is too short"});
      continue;
    }
    auto *const function = reinterpret_cast<char *>(address + functions[i].offset);
    if (hasBreakpoint(reinterpret_cast<unsigned char *>(function))) {
      report({functions[i].name, " cannot be replaced: it has a debugger's breakpoint already; set "
                                 "that when the program has started"});
      continue;
    }
    writeJump(function, slot);
    ++replaced;
  }
  if (getenv("PTXRUN_VERBOSE"))
    report({"replaced ", std::to_string(replaced), " functions of the CUDA runtime inside ", path});
}

bool hasStrippedRuntime(const ObjectFile &file) {
  // The table by which a runtime answers cudaGetDriverEntryPoint and its own callbacks.
  return file.hasText("__cudaInitModule") && file.hasText("cudaGetDriverEntryPoint") &&
         file.hasText("cudaMallocFromPoolAsync") && file.cudaFunctions().empty();
}

} // namespace ptxrun::audit
