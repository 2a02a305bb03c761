#include "translate/lower/variable_pointers.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "translate/lower/vocabulary.h"

namespace ptxrun::lower {

namespace {

using namespace llvm::PatternMatch;

/// Deeper sums than nvcc or clang write are left alone.
constexpr unsigned kMaxDepth = 16;

/// A sum as variable plus integer; `variable` null where there is none.
struct Sum {
  llvm::Value *variable = nullptr;
  llvm::SmallVector<llvm::Value *, 4> terms;
};

bool isLocal(const llvm::Value *object) { return llvm::isa<llvm::AllocaInst>(object); }

/// What an address of 32 bits may point into: `.local` memory, parameters (of a function they are
/// pointers of its caller's) and constants.
bool isShortlyAddressed(const llvm::Value *object) {
  if (const auto *global = llvm::dyn_cast<llvm::GlobalVariable>(object))
    return global->isConstant();
  return isLocal(object) || llvm::isa<llvm::Argument>(object);
}

using IsVariable = bool (*)(const llvm::Value *object);

/// Variables are what `isVariable` says. False where two of them meet. clang adds small constants
/// to aligned addresses by `or`.
bool takeApart(llvm::Value *value, Sum &sum, unsigned depth, const llvm::DataLayout &layout,
               IsVariable isVariable) {
  llvm::Value *left, *right, *pointer;
  const bool isSum = match(value, m_Add(m_Value(left), m_Value(right))) ||
                     (match(value, m_Or(m_Value(left), m_Value(right))) &&
                      llvm::haveNoCommonBitsSet(left, right, llvm::SimplifyQuery(layout)));
  if (depth < kMaxDepth && isSum)
    return takeApart(left, sum, depth + 1, layout, isVariable) &&
           takeApart(right, sum, depth + 1, layout, isVariable);
  if (llvm::ConstantInt * number; match(value, m_Sub(m_Value(left), m_ConstantInt(number)))) {
    sum.terms.push_back(llvm::ConstantInt::get(value->getType(), -number->getValue()));
    return depth < kMaxDepth && takeApart(left, sum, depth + 1, layout, isVariable);
  }
  if ((match(value, m_PtrToInt(m_Value(pointer))) ||
       match(value, m_Trunc(m_PtrToInt(m_Value(pointer))))) &&
      isVariable(llvm::getUnderlyingObject(pointer))) {
    if (sum.variable)
      return false;
    sum.variable = pointer;
    return true;
  }
  sum.terms.push_back(value);
  return true;
}

llvm::Value *rebuild(llvm::Instruction &before, const Sum &sum) {
  llvm::IRBuilder<> ir(&before);
  llvm::Value *offset = nullptr;
  for (llvm::Value *term : sum.terms) {
    llvm::Value *wide = ir.CreateSExt(term, ir.getInt64Ty());
    offset = offset ? ir.CreateAdd(offset, wide) : wide;
  }
  return ir.CreateGEP(ir.getInt8Ty(), sum.variable, offset ? offset : ir.getInt64(0));
}

/// The one variable that a 32-bit address points into, if there is one.
class ShortAddress {
 public:
  /// Null where `value` is no address of a variable, or might be one of several.
  static llvm::Value *variableOf(llvm::Value *value) {
    ShortAddress address;
    return address.reach(value) == Kind::address ? address.variable_ : nullptr;
  }

 private:
  /// `unknown`: depends on what is being looked at (a phi on its own way round a loop).
  enum class Kind { unknown, number, address, conflict };

  Kind reach(llvm::Value *value) {
    llvm::Value *pointer;
    if (match(value, m_PtrToInt(m_Value(pointer))) ||
        match(value, m_Trunc(m_PtrToInt(m_Value(pointer)))))
      return take(llvm::getUnderlyingObject(pointer));
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(value)) {
      if (!visited_.insert(phi).second)
        return Kind::unknown;
      Kind kind = Kind::unknown;
      for (llvm::Value *incoming : phi->incoming_values())
        kind = either(kind, reach(incoming));
      return kind;
    }
    llvm::Value *left, *right;
    if (match(value, m_Select(m_Value(), m_Value(left), m_Value(right))))
      return either(reach(left), reach(right));
    if (match(value, m_Add(m_Value(left), m_Value(right))) ||
        match(value, m_Or(m_Value(left), m_Value(right))))
      return sum(reach(left), reach(right));
    if (match(value, m_Sub(m_Value(left), m_Value(right))))
      return reach(right) == Kind::number ? reach(left) : Kind::conflict;
    return Kind::number;
  }

  Kind take(llvm::Value *object) {
    if (!isShortlyAddressed(object))
      return Kind::number;
    if (variable_ && variable_ != object)
      return Kind::conflict;
    variable_ = object;
    return Kind::address;
  }

  static Kind either(Kind a, Kind b) {
    return a == Kind::unknown || a == b ? b : b == Kind::unknown ? a : Kind::conflict;
  }

  static Kind sum(Kind a, Kind b) {
    return a == Kind::number ? b : b == Kind::number ? a : Kind::conflict;
  }

  llvm::Value *variable_ = nullptr;
  llvm::SmallPtrSet<llvm::PHINode *, 8> visited_;
};

/// The pointer whose lower half is `low`, near `base`.
llvm::Value *nearby(llvm::IRBuilder<> &ir, llvm::Value *base, llvm::Value *low) {
  llvm::Value *distance = ir.CreateSub(low, ir.CreatePtrToInt(base, low->getType()));
  return ir.CreateGEP(ir.getInt8Ty(), base, ir.CreateSExt(distance, ir.getInt64Ty()));
}

/// All of a thread's local memory is close together: any variable tells the upper half.
llvm::Value *anyLocal(llvm::Function &function) {
  for (llvm::Instruction &instruction : function.getEntryBlock())
    if (auto *variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      return variable;
  llvm::Type *byte = llvm::Type::getInt8Ty(function.getContext());
  return new llvm::AllocaInst(byte, 0, "local", function.getEntryBlock().begin());
}

/// A kernel's parameters are one block, a function's are locals of its caller.
llvm::Value *anyParameter(llvm::Function &function) {
  return function.hasInternalLinkage() ? anyLocal(function) : function.getArg(0);
}

/// The constants of a module are one block of memory; null where the kernel names none.
llvm::Value *anyConstant(llvm::Function &function) {
  for (llvm::GlobalVariable &global : function.getParent()->globals())
    if (global.isConstant() && global.isDeclaration())
      return &global;
  return nullptr;
}

/// The pointer that a 32-bit address stands for, null where it cannot be told.
llvm::Value *wholeAddress(llvm::Instruction &before, llvm::Value *low,
                          const llvm::DataLayout &layout) {
  Sum sum;
  if (takeApart(low, sum, 0, layout, isShortlyAddressed) && sum.variable)
    return rebuild(before, sum);
  llvm::Value *variable = ShortAddress::variableOf(low);
  llvm::IRBuilder<> ir(&before);
  return variable ? nearby(ir, variable, low) : nullptr;
}

/// Programs may hold addresses of local memory, parameters and constants in 32 bits, where they fit
/// on a GPU (Triton and LLVM with short pointers do). Where such an address becomes 64 bits wide
/// again it is whole.
bool widenShortAddress(llvm::ZExtInst &extension, const llvm::DataLayout &layout) {
  if (!extension.getSrcTy()->isIntegerTy(32) || !extension.getDestTy()->isIntegerTy(64))
    return false;
  llvm::Value *whole = wholeAddress(extension, extension.getOperand(0), layout);
  if (!whole)
    return false;
  llvm::IRBuilder<> ir(&extension);
  extension.replaceAllUsesWith(ir.CreatePtrToInt(whole, ir.getInt64Ty()));
  extension.eraseFromParent();
  return true;
}

struct ShortWord {
  const char *name;
  llvm::Value *(*anyVariable)(llvm::Function &);
};

constexpr ShortWord kShortWords[] = {{vocabulary::kWholeLocalAddress, anyLocal},
                                     {vocabulary::kWholeParamAddress, anyParameter},
                                     {vocabulary::kWholeConstantAddress, anyConstant}};

const ShortWord *shortWord(const llvm::CallInst &call) {
  const llvm::Function *callee = call.getCalledFunction();
  for (const ShortWord &word : kShortWords)
    if (callee && callee->getName() == word.name)
      return &word;
  return nullptr;
}

/// The same where an access to memory says that it is such an address.
bool widenAccess(llvm::CallInst &call, const ShortWord &word, bool isLast,
                 const llvm::DataLayout &layout) {
  llvm::Value *low = call.getArgOperand(0), *whole = wholeAddress(call, low, layout);
  if (!whole && !isLast)
    return false;
  llvm::IRBuilder<> ir(&call);
  llvm::Value *near = whole ? nullptr : word.anyVariable(*call.getFunction());
  if (whole) {
    call.replaceAllUsesWith(ir.CreatePtrToInt(whole, ir.getInt64Ty()));
  } else if (!near) {
    call.replaceAllUsesWith(ir.CreateZExt(low, call.getType()));
  } else {
    // Frozen, lest somebody take what is near the variable for the variable itself.
    near = ir.CreateFreeze(ir.CreatePtrToInt(near, ir.getInt64Ty()));
    llvm::Value *distance = ir.CreateSub(low, ir.CreateTrunc(near, low->getType()));
    llvm::Value *address = ir.CreateAdd(near, ir.CreateSExt(distance, near->getType()));
    call.replaceAllUsesWith(address);
  }
  call.eraseFromParent();
  return true;
}

} // namespace

llvm::PreservedAnalyses VariablePointersPass::run(llvm::Function &function,
                                                  llvm::FunctionAnalysisManager &) {
  const llvm::DataLayout &layout = function.getParent()->getDataLayout();
  bool isChanged = false;
  llvm::SmallVector<llvm::WeakTrackingVH> sums; // most of them for nothing now
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto *extension = llvm::dyn_cast<llvm::ZExtInst>(&instruction)) {
      isChanged |= widenShortAddress(*extension, layout);
      continue;
    }
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (const ShortWord *word = shortWord(*call))
        isChanged |= widenAccess(*call, *word, isLast_, layout);
      continue;
    }
    auto *cast = llvm::dyn_cast<llvm::IntToPtrInst>(&instruction);
    if (!cast || cast->getType()->getPointerAddressSpace() != 0)
      continue;
    Sum sum;
    if (!takeApart(cast->getOperand(0), sum, 0, layout, isLocal) || !sum.variable)
      continue;
    cast->replaceAllUsesWith(rebuild(*cast, sum));
    sums.push_back(cast->getOperand(0));
    cast->eraseFromParent();
    isChanged = true;
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(sums);
  if (!isChanged)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

} // namespace ptxrun::lower
