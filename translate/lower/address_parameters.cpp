#include "translate/lower/address_parameters.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>

#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"
#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;

namespace {

/// What is known of a register.
struct Uses {
  unsigned writes = 0; ///< instructions that have it as their first operand: destinations, mostly
  bool isAddress = false;
  std::optional<int64_t> parameter; ///< the offset that it is loaded from
};

class Registers {
 public:
  Registers(const check::Function &kernel, const ModuleBuilder &module) : module_(module) {
    for (const Instruction &in : kernel.body)
      add(in);
  }
  llvm::SmallVector<int64_t, 8> addresses() const {
    llvm::SmallVector<int64_t, 8> found;
    for (const auto &[reg, uses] : uses_)
      if (uses.isAddress && uses.parameter && uses.writes == 1)
        found.push_back(*uses.parameter);
    llvm::sort(found);
    return found;
  }

 private:
  void add(const Instruction &in) {
    if (in.operands.empty())
      return;
    const auto offset = parameterOffset(in);
    const Operand &first = in.operands[0];
    const std::span<const Operand> written =
        first.elements.empty() ? std::span(&first, 1) : first.elements;
    for (size_t k = 0; k < written.size(); ++k) {
      if (!written[k].reg)
        continue;
      Uses &uses = uses_[written[k].reg];
      ++uses.writes;
      if (offset && written[k].kind == Operand::Kind::reg)
        uses.parameter = *offset + int64_t(k) * 8;
    }
    if (in.form->handler == isa::Handler::lowerCvtaTo && in.operands[1].reg)
      uses_[in.operands[1].reg].isAddress = true;
  }

  /// Of a load of 64-bit words from a place among the parameters that is known.
  std::optional<int64_t> parameterOffset(const Instruction &in) const {
    if (in.form->opcode != "ld" || in.operands.size() < 2 || memoryBits(in.type()) != 64)
      return std::nullopt;
    const Operand &from = in.operands[1];
    const uint32_t *offset =
        from.variable && !from.reg ? module_.paramOffset(*from.variable) : nullptr;
    return offset ? std::optional(int64_t(*offset) + from.integer) : std::nullopt;
  }

  const ModuleBuilder &module_;
  llvm::DenseMap<const check::Register *, Uses> uses_;
};

} // namespace

llvm::SmallVector<int64_t, 8> addressParameters(const check::Function &kernel,
                                                const ModuleBuilder &module) {
  return Registers(kernel, module).addresses();
}

void setAddressParameters(llvm::Function &kernel, llvm::ArrayRef<int64_t> offsets) {
  if (offsets.empty())
    return;
  llvm::LLVMContext &context = kernel.getContext();
  llvm::SmallVector<llvm::Metadata *, 8> words;
  for (const int64_t offset : offsets)
    words.push_back(llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), offset)));
  kernel.setMetadata(vocabulary::kAddresses, llvm::MDNode::get(context, words));
}

bool isAddressParameter(const llvm::Function &kernel, int64_t offset) {
  const llvm::MDNode *words = kernel.getMetadata(vocabulary::kAddresses);
  return words && llvm::any_of(words->operands(), [&](const llvm::MDOperand &word) {
           return llvm::mdconst::extract<llvm::ConstantInt>(word)->getSExtValue() == offset;
         });
}

} // namespace ptxrun::lower
