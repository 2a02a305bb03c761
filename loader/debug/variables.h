// What debugging information (DWARF in the PTX's `.section`s, `nvcc -G`) says of the source's
// variables and types. PTX without any has none of either.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "translate/check/checked_module.h"

namespace ptxrun::debug {

/// A type of the source language.
struct Type {
  enum class Kind : uint8_t {
    void_,
    integer,
    character,
    boolean,
    floating,
    pointer,
    array,
    record,
    enumeration
  };
  struct Member {
    std::string name;
    const Type *type = nullptr;
    uint64_t offset = 0;
  };
  Kind kind = Kind::void_;
  std::string name; ///< "float"; "struct Pair"; of pointers and arrays what they point to says it
  uint64_t bytes = 0;
  bool isSigned = false;
  const Type *target = nullptr; ///< of pointers and arrays
  uint64_t count = 0;           ///< of arrays
  std::vector<Member> members;
  std::vector<std::pair<std::string, int64_t>> values; ///< of enumerations

  /// "float *", "int [4]".
  std::string describe() const;
};

/// The types that are known without any debugging information, and those that are made from others.
class Types {
 public:
  /// "float", "unsigned int", "u32", "int8_t"...; null for anything else.
  const Type *named(const std::string &) const;
  const Type *pointerTo(const Type *);
  const Type *arrayOf(const Type *, uint64_t count);
  /// A scalar type of PTX; packed and bit types are unsigned integers.
  const Type *ofPtx(isa::Type);
  Type &make() { return made_.emplace_back(); }

 private:
  mutable std::deque<Type> made_;
  mutable std::map<std::string, const Type *> named_;
  std::map<const Type *, const Type *> pointers_;
  std::map<std::pair<const Type *, uint64_t>, const Type *> arrays_;
};

/// Where a variable of the source is, at some instructions.
struct Location {
  enum class Kind : uint8_t { none, reg, memory };
  Kind kind = Kind::none;
  std::string name;   ///< the PTX register, or the PTX variable that its memory is in
  int64_t offset = 0; ///< bytes behind the variable's beginning
  /// Instructions [begin, end) for which this holds, by number.
  uint32_t begin = 0, end = ~uint32_t{0};
};

struct SourceVariable {
  std::string name;
  const Type *type = nullptr;
  std::vector<Location> locations;
  bool isParameter = false;
  uint32_t begin = 0, end = ~uint32_t{0}; ///< instructions of its scope
  const Location *at(uint32_t instruction) const;
};

/// Everything that is known of a module's variables. Reads the sections of its text anew.
class DebugInfo {
 public:
  DebugInfo(const check::Module &, Types &);
  /// Those that an instruction sees, the innermost scope first; of two with one name the first
  /// counts.
  std::vector<const SourceVariable *> visibleAt(uint32_t instruction) const;
  /// A struct, class, enumeration or typedef of the source; null: none.
  const Type *findType(const std::string &) const;

 private:
  friend class DwarfReader;
  std::vector<SourceVariable> variables_;
  std::map<std::string, const Type *> types_;
};

} // namespace ptxrun::debug
