// Instructions and the lines that people know them by: those of the PTX, and those of the source
// files that `.loc` names.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::debug {

struct SourceLine {
  std::string file;  ///< as `.file` has it
  uint32_t line = 0; ///< from 1
  auto operator<=>(const SourceLine &) const = default;
};

/// A call that was inlined, or the function itself: where its code is.
struct InlinedPlace {
  std::string function; ///< empty: the PTX function itself
  SourceLine at;
};

/// Of one module; instructions have the numbers of check::instructionNumbers.
class SourceMap {
 public:
  /// `name` is what the PTX file is called, `text` its contents.
  SourceMap(const check::Module &, std::string name, const std::string &text);

  const check::Module &module() const { return module_; }
  const std::string &name() const { return name_; }
  uint32_t count() const { return first_.back(); }
  uint32_t functionOf(uint32_t instruction) const;
  const check::Function &function(uint32_t number) const { return *module_.functions[number]; }
  uint32_t firstOf(uint32_t function) const { return first_[function]; }
  const check::Instruction &at(uint32_t instruction) const;
  uint32_t ptxLine(uint32_t instruction) const { return at(instruction).line; }
  /// The PTX text of the instruction without space around it: "add.s32 %r1, %r2, 1;"
  std::string text(uint32_t instruction) const;
  /// Where `.loc` says it comes from; the function that was inlined, where one was.
  std::optional<SourceLine> source(uint32_t instruction) const;
  /// From the innermost inlined call to the function itself; empty without `.loc`.
  std::vector<InlinedPlace> inlinedAt(uint32_t instruction) const;
  /// The number of inlined calls that the instruction is in.
  uint32_t inlineDepth(uint32_t instruction) const;
  /// Where to stop for a line of a source file: the first instruction of it in each function (or
  /// inlined call); the next line that has code if it has none, in `line`. `file` may be the end of
  /// a path. Empty: there is none.
  std::vector<uint32_t> ofSource(const std::string &file, uint32_t &line) const;
  /// The first instruction at this line of the PTX, or after it.
  std::optional<uint32_t> ofPtxLine(uint32_t line) const;
  /// The first instruction of the function, by its name, mangled or not.
  std::optional<uint32_t> ofFunction(const std::string &name) const;
  /// Where the second line of a function begins, when its parameters are in their registers;
  /// without lines its first instruction.
  uint32_t behindPrologue(uint32_t first) const;
  /// "tile" for "_ZZ5saxpyifPKfPfE4tile".
  static std::string variableName(std::string_view name);
  /// "saxpy" for "_Z5saxpyifPKfPf".
  static std::string plainName(std::string_view name);
  std::vector<std::string> functionNames() const;
  const std::vector<std::string_view> &files() const { return module_.files; }

  /// Line `number` of a source file, read from disk once; nothing where there is no such file or
  /// line. The PTX itself by its name.
  std::optional<std::string> lineText(const std::string &file, uint32_t number);
  uint32_t lineCount(const std::string &file);
  /// Where the file is on this machine: as named, or of that name beside the PTX or in the current
  /// folder; empty: nowhere.
  std::string findFile(const std::string &file) const;

 private:
  const std::vector<std::string> &linesOf(const std::string &file);

  const check::Module &module_;
  const std::string name_;
  std::vector<uint32_t> first_;
  std::vector<std::string> ptx_;
  std::map<std::string, std::vector<std::string>> files_;
};

} // namespace ptxrun::debug
