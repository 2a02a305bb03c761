// What became of each form of the instruction table in this process: checked, lowered, executed.
// For tests of coverage (translate/isa/coverage.h reads the record). Off, unless the environment
// variable PTXRUN_FORM_RECORD names a file when the first module is loaded.
#pragma once
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::device {

/// Of one module: the marks that its recorded code sets (check/execution_marks.h). What they say
/// goes to the process's record when this ends, at the latest when the process does; that is
/// appended to the file, one line per status, form and modifiers:
///   executed<TAB>9.7.1.1 add.type d, a, b;<TAB>.u32
/// A process that crashes, or ends by _exit, records nothing.
class FormRecord {
 public:
  /// Whether this process records.
  static bool isOn();

  /// All instructions of the module count as checked. It must outlive this.
  explicit FormRecord(const check::Module &);
  ~FormRecord();
  FormRecord(const FormRecord &) = delete;
  FormRecord &operator=(const FormRecord &) = delete;

  /// The instructions of the kernel, and of functions it may call, were lowered.
  void noteLowered(std::string_view kernel);
  /// The mark of that name (check::executionMarkName); null for all other names.
  void *find(std::string_view name);

 private:
  friend class ProcessRecord;
  /// Into the process's record.
  void tell() const;

  const check::Module &module_;
  const std::vector<uint32_t> numbers_; ///< check::instructionNumbers
  std::vector<uint8_t> marks_;          ///< by instruction; kernels on any thread write them
  mutable std::mutex mutex_;            ///< guards lowered_
  std::vector<const check::Function *> lowered_;
};

} // namespace ptxrun::device
