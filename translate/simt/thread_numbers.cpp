#include "translate/simt/thread_numbers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/bit.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/MathExtras.h>

#include <cmath>

#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Instruction;

bool isNumber(const llvm::Type *t) {
  return (t->isIntegerTy() && t->getIntegerBitWidth() <= 64) || t->isDoubleTy();
}

unsigned bitsOf(const llvm::Value *v) { return v->getType()->getPrimitiveSizeInBits(); }

uint64_t masked(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

int64_t asSigned(uint64_t bits, unsigned width) { return llvm::SignExtend64(bits, width); }

/// The conversion of a double to an integer, 0 where the result has no place for it.
template <typename T> uint64_t truncated(double d) {
  return d >= double(std::numeric_limits<T>::min()) &&
                 d < std::ldexp(1.0, std::numeric_limits<T>::digits)
             ? uint64_t(T(d))
             : 0;
}

/// What the operation makes of its operands; what it leaves undefined is 0.
uint64_t fold(const Instruction &i, uint64_t a, uint64_t b, uint64_t c) {
  const unsigned width = bitsOf(&i), from = bitsOf(i.getOperand(0));
  const auto da = llvm::bit_cast<double>(a), db = llvm::bit_cast<double>(b);
  const auto ofDouble = [](double d) { return llvm::bit_cast<uint64_t>(d); };
  switch (i.getOpcode()) {
  case Instruction::Add:
    return a + b;
  case Instruction::Sub:
    return a - b;
  case Instruction::Mul:
    return a * b;
  case Instruction::And:
    return a & b;
  case Instruction::Or:
    return a | b;
  case Instruction::Xor:
    return a ^ b;
  case Instruction::Shl:
    return b < width ? a << b : 0;
  case Instruction::LShr:
    return b < width ? a >> b : 0;
  case Instruction::AShr:
    return b < width ? uint64_t(asSigned(a, width) >> b) : 0;
  case Instruction::UDiv:
    return b ? a / b : 0;
  case Instruction::URem:
    return b ? a % b : 0;
  case Instruction::SDiv:
  case Instruction::SRem: {
    const int64_t x = asSigned(a, width), y = asSigned(b, width);
    if (y == 0 || y == -1)
      return y != 0 && i.getOpcode() == Instruction::SDiv ? -a : 0;
    return uint64_t(i.getOpcode() == Instruction::SDiv ? x / y : x % y);
  }
  case Instruction::ICmp:
    return llvm::ICmpInst::compare({from, a}, {from, b},
                                   llvm::cast<llvm::ICmpInst>(i).getPredicate());
  case Instruction::Select:
    return a ? b : c;
  case Instruction::SExt:
    return uint64_t(asSigned(a, from));
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::Freeze:
    return a;
  case Instruction::UIToFP:
    return ofDouble(double(a));
  case Instruction::SIToFP:
    return ofDouble(double(asSigned(a, from)));
  case Instruction::FPToUI:
    return truncated<uint64_t>(da);
  case Instruction::FPToSI:
    return truncated<int64_t>(da);
  case Instruction::FAdd:
    return ofDouble(da + db);
  case Instruction::FSub:
    return ofDouble(da - db);
  case Instruction::FMul:
    return ofDouble(da * db);
  case Instruction::FDiv:
    return ofDouble(da / db);
  default:
    break;
  }
  switch (llvm::cast<llvm::IntrinsicInst>(i).getIntrinsicID()) {
  case llvm::Intrinsic::umin:
    return std::min(a, b);
  case llvm::Intrinsic::umax:
    return std::max(a, b);
  case llvm::Intrinsic::smin:
    return asSigned(a, width) < asSigned(b, width) ? a : b;
  default: // smax
    return asSigned(a, width) < asSigned(b, width) ? b : a;
  }
}

} // namespace

bool ThreadNumbers::canEvaluate(const Instruction &i) const {
  if (!isNumber(i.getType()) || !llvm::all_of(i.operand_values(), [&](const llvm::Value *v) {
        return llvm::isa<llvm::Function>(v) || isNumber(v->getType());
      }))
    return false;
  if (const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
    switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::umin:
    case llvm::Intrinsic::umax:
    case llvm::Intrinsic::smin:
    case llvm::Intrinsic::smax:
      return true;
    default:
      return false;
    }
  switch (i.getOpcode()) {
  case Instruction::Call:
    return wordAt(i).op == Op::tid || wordAt(i).op == Op::laneid;
  case Instruction::Select:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::Freeze:
  case Instruction::ICmp:
  case Instruction::UIToFP:
  case Instruction::SIToFP:
  case Instruction::FPToUI:
  case Instruction::FPToSI:
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
    return true;
  default:
    return i.isBinaryOp() && i.getType()->isIntegerTy();
  }
}

ThreadNumbers::ThreadNumbers(llvm::Function &f, const std::array<uint32_t, 3> &block,
                             llvm::function_ref<bool(const llvm::BasicBlock &)> mayCount)
    : block_(block) {
  // What may be known, less what is made of something that is not, and so on.
  std::vector<const llvm::Value *> unknown;
  for (const Instruction &i : llvm::instructions(f)) {
    const bool isCount = llvm::isa<llvm::PHINode>(i) && isNumber(i.getType()) &&
                         i.getNumOperands() == 2 && mayCount(*i.getParent());
    if (isCount || canEvaluate(i))
      known_.insert(&i);
  }
  for (const Instruction &i : llvm::instructions(f))
    if (known_.contains(&i) && !llvm::all_of(i.operand_values(), [&](const llvm::Value *v) {
          return llvm::isa<llvm::Function>(v) || isKnown(v);
        }))
      unknown.push_back(&i);
  while (!unknown.empty()) {
    const llvm::Value *v = unknown.back();
    unknown.pop_back();
    if (known_.erase(v))
      for (const llvm::User *user : v->users())
        if (known_.contains(user))
          unknown.push_back(user);
  }
}

bool ThreadNumbers::isKnown(const llvm::Value *v) const {
  return known_.contains(v) || llvm::isa<llvm::ConstantInt>(v) ||
         (llvm::isa<llvm::ConstantFP>(v) && v->getType()->isDoubleTy());
}

void ThreadNumbers::setThread(uint32_t number) {
  thread_ = {number % block_[0], number / block_[0] % block_[1], number / block_[0] / block_[1]};
  ++epoch_;
}

void ThreadNumbers::move(const llvm::Loop &loop, const llvm::BasicBlock &from) {
  std::vector<std::pair<const llvm::Value *, uint64_t>> moved;
  for (const llvm::PHINode &phi : loop.getHeader()->phis())
    if (known_.contains(&phi))
      moved.emplace_back(&phi, valueOf(phi.getIncomingValueForBlock(&from)));
  for (auto [phi, bits] : moved)
    phis_[phi] = bits;
  ++epoch_;
}

void ThreadNumbers::enter(const llvm::Loop &loop) { move(loop, *loop.getLoopPreheader()); }
void ThreadNumbers::next(const llvm::Loop &loop) { move(loop, *loop.getLoopLatch()); }

uint64_t ThreadNumbers::valueOf(const llvm::Value *v) {
  if (const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(v))
    return constant->getZExtValue();
  if (const auto *constant = llvm::dyn_cast<llvm::ConstantFP>(v))
    return constant->getValueAPF().bitcastToAPInt().getZExtValue();
  if (llvm::isa<llvm::PHINode>(v))
    return phis_.lookup(v);
  if (const Cached c = values_.lookup(v); c.epoch == epoch_ && epoch_ != 0)
    return c.bits;
  const uint64_t bits = masked(evaluate(llvm::cast<Instruction>(*v)), bitsOf(v));
  values_[v] = {epoch_, bits};
  return bits;
}

uint64_t ThreadNumbers::evaluate(const Instruction &i) {
  ++evaluations_;
  if (const Word word = wordAt(i); word.op == Op::tid)
    return thread_[word.axis];
  else if (word.op == Op::laneid)
    return (thread_[0] + block_[0] * (thread_[1] + block_[1] * thread_[2])) % 32;
  uint64_t operands[3] = {};
  for (unsigned k = 0; k < std::min(3u, i.getNumOperands()); ++k)
    if (!llvm::isa<llvm::Function>(i.getOperand(k)))
      operands[k] = valueOf(i.getOperand(k));
  return fold(i, operands[0], operands[1], operands[2]);
}

} // namespace ptxrun::simt
