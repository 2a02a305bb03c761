#include "loader/device/form_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "loader/device/reached.h"
#include "translate/check/debug_frame.h"
#include "translate/check/execution_marks.h"
#include "translate/isa/coverage.h"

namespace ptxrun::device {

/// What all modules of the process had to tell. Never destroyed: modules may end after everything
/// else.
class ProcessRecord {
 public:
  static ProcessRecord *instance() {
    static ProcessRecord *one = make();
    return one;
  }

  void add(const FormRecord *module) {
    std::lock_guard lock(mutex_);
    modules_.insert(module);
  }
  void remove(const FormRecord *module) {
    std::lock_guard lock(mutex_);
    if (modules_.erase(module))
      module->tell();
  }
  /// Under the lock.
  void note(std::string_view status, const check::Instruction &in) {
    if (!in.form)
      return;
    std::string line(status);
    line.append("\t").append(name(*in.form)).append("\t");
    for (const isa::Token token : in.modifiers)
      line.append(".").append(isa::spelling(token));
    lines_.insert(line + "\n");
  }

  /// In one piece: processes that end at the same time append to the same file.
  void write() {
    std::lock_guard lock(mutex_);
    for (const FormRecord *module : modules_)
      module->tell();
    modules_.clear();
    std::string text;
    for (const std::string &line : lines_)
      text += line;
    const int file = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    const bool isWritten =
        file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!isWritten)
      std::fprintf(stderr, "ptxrun: %s: the record of forms cannot be written\n", file_.c_str());
    if (file >= 0)
      close(file);
  }

 private:
  static ProcessRecord *make() {
    const char *file = std::getenv("PTXRUN_FORM_RECORD");
    if (!file || !*file)
      return nullptr;
    auto *made = new ProcessRecord;
    made->file_ = file;
    return made;
  }

  const std::string &name(const isa::Form &form) {
    std::string &known = names_[&form];
    if (known.empty())
      known = isa::nameOf(form);
    return known;
  }

  std::string file_;
  std::mutex mutex_; ///< guards what follows
  std::map<const isa::Form *, std::string> names_;
  std::set<const FormRecord *> modules_;
  std::set<std::string> lines_;
};

namespace {

/// After static objects; libcuda.so.1 has no other end (loader/libcuda/no_destruction.cpp).
__attribute__((destructor)) void writeAtEnd() {
  if (FormRecord::isOn())
    ProcessRecord::instance()->write();
}

} // namespace

bool FormRecord::isOn() { return ProcessRecord::instance() != nullptr; }

FormRecord::FormRecord(const check::Module &module)
    : module_(module), numbers_(check::instructionNumbers(module)), marks_(numbers_.back()) {
  ProcessRecord::instance()->add(this);
}

FormRecord::~FormRecord() { ProcessRecord::instance()->remove(this); }

void FormRecord::noteLowered(std::string_view kernel) {
  const check::Function *function = module_.findFunction(kernel);
  std::lock_guard lock(mutex_);
  if (function && std::ranges::find(lowered_, function) == lowered_.end())
    lowered_.push_back(function);
}

void *FormRecord::find(std::string_view name) {
  const std::optional<uint32_t> number = check::executionMarkNumber(name);
  return number && *number < marks_.size() ? &marks_[*number] : nullptr;
}

void FormRecord::tell() const {
  ProcessRecord &record = *ProcessRecord::instance();
  for (size_t f = 0; f < module_.functions.size(); ++f) {
    const check::Function &function = *module_.functions[f];
    const std::vector<uint32_t> marks = check::executionMarks(function);
    for (size_t i = 0; i < function.body.size(); ++i) {
      record.note("checked", function.body[i]);
      if (marks_[numbers_[f] + marks[i]])
        record.note("executed", function.body[i]);
    }
  }
  std::lock_guard lock(mutex_);
  for (const check::Function *kernel : lowered_)
    for (const check::Function *function : reachedFrom(*kernel))
      for (const check::Instruction &in : function->body)
        record.note("lowered", in);
}

} // namespace ptxrun::device
