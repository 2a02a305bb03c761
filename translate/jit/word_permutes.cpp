#include "translate/jit/word_permutes.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>

#include "translate/simt/pieces.h"

namespace ptxrun::jit {

using namespace llvm;
using namespace PatternMatch;

namespace {

constexpr unsigned kWord = 16; // bits

/// The vectors, without their halves' places, that the halves of `joined` are chosen from.
SmallVector<Value *> chosenFrom(Instruction &joined) {
  SmallVector<Value *> found;
  for (Value *side : joined.operands()) {
    Value *x = nullptr, *y = nullptr;
    if (!match(side, m_And(m_Value(x), m_Constant())))
      return {};
    if (match(x, m_FShl(m_Value(y), m_Deferred(y), m_ConstantInt())))
      x = y;
    found.push_back(x);
  }
  return found;
}

/// Which word of `from` each word of `value` is; empty where one is of something else.
SmallVector<int> wordsOf(Value *value, Value *from) {
  std::map<simt::Piece, int> places;
  for (unsigned k = 0; k < 2 * simt::elementCount(from); ++k)
    places.try_emplace(simt::originOf(from, k, kWord), int(k));
  SmallVector<int> order;
  for (unsigned k = 0; k < 2 * simt::elementCount(value); ++k) {
    const simt::Piece origin = simt::originOf(value, k, kWord);
    const auto place = places.find(origin);
    if (isa<Constant>(origin.first) || place == places.end())
      return {};
    order.push_back(place->second);
  }
  return order;
}

} // namespace

void permuteWords(Function &function, unsigned vectorBits) {
  SmallVector<WeakTrackingVH> replaced;
  for (Instruction &i : instructions(function)) {
    auto *shuffle = dyn_cast<ShuffleVectorInst>(&i);
    auto *joined = shuffle ? dyn_cast<Instruction>(shuffle->getOperand(0)) : nullptr;
    if (!joined || joined->getOpcode() != Instruction::Or || !joined->hasOneUse() ||
        !isa<UndefValue>(shuffle->getOperand(1)) || simt::elementBits(shuffle) != 2 * kWord ||
        shuffle->getType()->getPrimitiveSizeInBits() < vectorBits)
      continue;
    const SmallVector<Value *> sources = chosenFrom(*joined);
    if (sources.empty() || sources[0]->getType() != joined->getType() ||
        joined->getType()->getPrimitiveSizeInBits() > 2 * vectorBits)
      continue;
    const SmallVector<int> order = wordsOf(shuffle, sources[0]);
    if (order.empty())
      continue;
    IRBuilder<> ir(shuffle);
    auto *words = FixedVectorType::get(ir.getInt16Ty(), 2 * simt::elementCount(joined));
    Value *permuted = ir.CreateShuffleVector(ir.CreateBitCast(sources[0], words), order);
    shuffle->replaceAllUsesWith(ir.CreateBitCast(permuted, shuffle->getType()));
    replaced.emplace_back(shuffle);
  }
  RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

} // namespace ptxrun::jit
