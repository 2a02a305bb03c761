// ModuleBuilder: what lowering one kernel shares among its functions: declarations, variables,
// layouts, debug scopes.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "translate/check/checked_module.h"
#include "translate/lower/lower.h"
#include "translate/support/diagnostics.h"

namespace ptxrun::lower {

/// How a parameter of a device function travels.
struct Passing {
  llvm::Type *type = nullptr; ///< of the argument or result; ptr for an aggregate
  bool isAggregate = false;   ///< a pointer to memory the caller owns
  unsigned count = 1;         ///< arguments or results: one for each element of a vector register
};

class ModuleBuilder {
 public:
  ModuleBuilder(llvm::Module &, const check::Module &, const check::Function &kernel,
                const CodeOptions &, support::Diagnostics &);

  llvm::Module &module() { return module_; }
  llvm::LLVMContext &context() { return module_.getContext(); }
  const check::Module &checked() const { return checked_; }
  support::Diagnostics &diagnostics() { return diagnostics_; }
  const CodeOptions &options() const { return options_; }
  /// How matrix instructions sum.
  matrix::Policy matrixPolicy() const {
    return matrix::resolve(options_.matrix, static_cast<unsigned>(checked_.target));
  }
  /// The CPU's instructions take a rounding mode: directed rounding becomes `ptx.rounded.*`, and
  /// not the lane library's arithmetic.
  bool hasDirectedRounding() const { return options_.level == CpuLevel::avx512; }

  /// Finds what the kernel reaches (functions, shared variables) and lays out its shared memory and
  /// parameters.
  void scan();
  /// Reports variables that fit into no thread or CTA; false if there are any. After scan().
  bool checkSizes();
  /// Every function the kernel reaches, the kernel first, in the order found. Valid after scan().
  const std::vector<const check::Function *> &reached() const { return reached_; }

  /// The declaration (later definition) of a reached function.
  llvm::Function *declare(const check::Function &);
  /// The signature of a device function: aggregate results as pointers first, then the parameters;
  /// scalar results are returned, several as a struct.
  llvm::FunctionType *signature(const check::Prototype &);
  Passing passing(const check::Variable &);

  /// Functions an indirect call can reach, by its prototype operand: those of `.calltargets`, or
  /// else those whose address is taken anywhere in the module and whose parameters have the same
  /// sizes as the prototype's.
  std::vector<const check::Function *> callTargets(const check::Operand &prototype);

  /// The offset of a `.shared` variable in the CTA's window. Dynamic (`extern .shared x[]`) ones
  /// share the first offset after the static ones.
  uint32_t sharedOffset(const check::Variable &) const;
  /// All of them with their offsets. Valid after scan().
  const llvm::MapVector<const check::Variable *, uint32_t> &sharedVariables() const {
    return shared_;
  }
  /// Whether `.shared` addresses carry the CTA's rank in its cluster
  /// (LaneModule::hasClusterAddresses). Valid after scan().
  bool hasClusterAddresses() const { return hasClusterAddresses_; }
  /// Whether the kernel may use what is below its variables: it asks where reserved shared memory
  /// is, or accesses shared memory without a variable in it, by addresses from 0 on (Halide counts
  /// dynamic shared memory so). Valid after scan().
  bool usesReservedShared() const {
    return usesReservedShared_ || (namesShared_ && shared_.empty());
  }
  uint32_t staticSharedBytes() const { return staticSharedBytes_; }
  uint32_t staticSharedAlign() const { return staticSharedAlign_; }
  /// Byte offset of a parameter of the kernel, null for any other variable.
  const uint32_t *paramOffset(const check::Variable &) const;
  uint32_t paramBytes() const { return paramBytes_; }
  /// The external global that stands for a `.global` or `.const` variable.
  llvm::GlobalVariable *boundVariable(const check::Variable &);
  /// The byte that recorded code sets where instruction `number` is executed.
  llvm::GlobalVariable *executionMark(uint32_t number);
  /// Names (PTX's) of the variables that boundVariable was asked for.
  const std::vector<std::string> &boundVariables() const { return boundVariables_; }

  llvm::DISubprogram *subprogram(const check::Function &);
  llvm::DIBuilder &debug() { return debug_; }

 private:
  void reach(const check::Function &);
  void scanInstruction(const check::Instruction &);
  void scanOperand(const check::Operand &);
  bool namesCluster(const check::Instruction &) const;
  static bool namesShared(const check::Instruction &);
  void findAddressTaken();
  static bool matches(const check::Prototype &, const check::Prototype &);
  void layOutShared();
  void layOutParams();

  llvm::Module &module_;
  const check::Module &checked_;
  const check::Function &kernel_;
  const CodeOptions &options_;
  support::Diagnostics &diagnostics_;
  llvm::DIBuilder debug_;
  llvm::DIFile *file_ = nullptr;
  std::vector<const check::Function *> reached_;
  llvm::DenseMap<const check::Function *, llvm::Function *> functions_; ///< null until declared
  std::vector<const check::Function *> addressTaken_;
  bool addressesKnown_ = false;
  bool hasClusterAddresses_ = false;
  bool usesReservedShared_ = false;
  bool namesShared_ = false;
  llvm::MapVector<const check::Variable *, uint32_t> shared_;
  llvm::DenseMap<const check::Variable *, uint32_t> params_;
  llvm::DenseMap<const check::Variable *, llvm::GlobalVariable *> bound_;
  std::vector<std::string> boundVariables_;
  uint32_t staticSharedBytes_ = 0, staticSharedAlign_ = 1, paramBytes_ = 0;
};

} // namespace ptxrun::lower
