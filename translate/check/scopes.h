// Names and what they mean where the checker stands (PTX ISA 4.4, 5.4): scopes inside scopes,
// register ranges.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "translate/check/checked_module.h"
#include "translate/support/names.h"

namespace ptxrun::check {

/// `.branchtargets` or `.calltargets`, by name.
struct TargetList {
  std::span<const Label *const> labels;
  std::span<const Function *const> functions;
};

/// What a name stands for.
struct Binding {
  enum class Kind : uint8_t {
    none,
    reg,
    variable,
    function,
    label,
    branchTargets,
    callTargets,
    prototype,
    unknown
  };
  Kind kind = Kind::none;
  uint32_t scope = 0; ///< serial number of the scope it was declared in
  union {
    const void *any = nullptr;
    const Register *reg;
    Variable *variable;
    Function *function;
    const Label *label;
    const TargetList *targets;
    const Prototype *prototype;
  };
};

/// `.reg .b32 %r<100>`: registers come to be when they are first named, so that a large range costs
/// nothing.
struct RegisterRange {
  support::NameId prefix = 0;
  uint64_t count = 0;
  isa::Type type = isa::Type::none;
  uint8_t vector = 1;
  uint32_t scope = 0;
  uint32_t depth = 0;
};

/// The open scopes. Finding a name costs one array access; opening and closing cost what was
/// declared.
class Scopes {
 public:
  explicit Scopes(const support::NameTable &names) : names_(names), bindings_(names.size()) {
    open();
  }

  void open();
  void close();
  uint32_t current() const { return frames_[depth_ - 1].serial; }
  size_t depth() const { return depth_; }

  /// Binds the name in the innermost scope. False (and nothing changes) if it is declared there
  /// already, by itself or as a member of a range.
  bool declare(support::NameId, Binding);
  /// Replaces the binding of a name declared in this scope.
  void redeclare(support::NameId id, Binding binding);
  /// False if the prefix or a member is declared in the innermost scope already; `clash` names it.
  bool declareRange(const RegisterRange &, std::string &clash);

  /// What the name means here; kind none if nothing. A member of a range that has no register yet
  /// gives kind none and sets `range`: the caller makes the register and calls `bindMember`.
  const Binding &find(support::NameId id, const RegisterRange *&range) {
    const Binding &binding = bindings_[id];
    range = nullptr;
    if (binding.kind != Binding::Kind::none && innermostRange_ <= binding.scope)
      return binding;
    return findMember(id, range);
  }
  void bindMember(support::NameId, const RegisterRange &, const Register *);

 private:
  struct Undo {
    support::NameId id;
    Binding before;
  };
  struct Frame {
    uint32_t serial = 0;
    uint32_t outerInnermostRange = 0;
    std::vector<Undo> undos;
    std::vector<support::NameId> ranges;
    /// Lowest number of plain names that end in digits, by what stands before the digits.
    std::unordered_map<support::NameId, std::pair<uint64_t, support::NameId>> numbered;
  };
  const Binding &findMember(support::NameId, const RegisterRange *&);
  const RegisterRange *rangeOf(support::NameId) const;
  const RegisterRange *innermost(support::NameId prefix, uint64_t number) const;
  void bind(Frame &, support::NameId, Binding);
  void noteNumber(support::NameId);

  const support::NameTable &names_;
  std::vector<Binding> bindings_;
  std::vector<Frame> frames_; ///< the first depth_ are open; the rest keep their memory
  size_t depth_ = 0;
  uint32_t lastSerial_ = 0;
  uint32_t innermostRange_ = 0; ///< serial of the innermost open scope with a range
  std::unordered_map<support::NameId, std::vector<RegisterRange>> ranges_;
  std::vector<support::NameId> prefixes_; ///< of all open ranges, outermost first
};

} // namespace ptxrun::check
