#include "translate/simt/words.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <iterator>
#include <vector>

#include "translate/lower/runtime_words.h"

namespace ptxrun::simt {
namespace {

using Kind = Word::Kind;

struct Row {
  Word word;
  bool hasAxes = false;
};

constexpr Kind kindOfRuntime(bool suspends) { return suspends ? Kind::runtimeWait : Kind::runtime; }

/// By the order of Op.
constexpr Row kRows[] = {
    {{.op = Op::none}},
    {{.op = Op::other, .kind = Kind::other}},
#define GANG_OP(id, name, kind, shape, emitter) {{Op::id, Kind::kind, ShapeRule::shape, 3, name}},
#define GANG_AXES(id, name, kind, shape, emitter)                                                  \
  {{Op::id, Kind::kind, ShapeRule::shape, 3, name}, true},
#define GANG_ROUNDED_TO(operation, text, direction)                                                \
  {{Op::operation##direction, Kind::rounded, ShapeRule::elementwise, 3,                            \
    "ptx.rounded." #operation text}},
#define GANG_ROUNDED(operation)                                                                    \
  GANG_ROUNDED_TO(operation, ".rz.*", Rz)                                                          \
  GANG_ROUNDED_TO(operation, ".rm.*", Rm) GANG_ROUNDED_TO(operation, ".rp.*", Rp)
#define RUNTIME_WORD(id, word, entry, call, suspends)                                              \
  {{Op::id, kindOfRuntime(suspends), ShapeRule::answer, 3, word}},
#include "translate/simt/gang_ops.def"
#undef RUNTIME_WORD
#undef GANG_ROUNDED
#undef GANG_ROUNDED_TO
#undef GANG_AXES
#undef GANG_OP
};

constexpr GangEntry kEntries[] = {
    {},
#define GANG_ENTRY(id, name, suspension, needs)                                                    \
  {GangEntry::Id::id, name, GangEntry::Suspension::suspension, GangEntry::Needs::needs},
#include "translate/simt/gang_entries.def"
#undef GANG_ENTRY
};

/// Words by name.
class Dictionary {
 public:
  Dictionary() {
    for (const Row &row : kRows) {
      const Word word = wordFor(row.word.op);
      if (row.hasAxes)
        for (uint8_t axis = 0; axis < 3; ++axis)
          addOnAxis(word, axis);
      else if (word.name.ends_with('*'))
        beginnings_.push_back(word);
      else if (!word.name.empty())
        whole_[word.name] = word;
    }
  }

  Word find(llvm::StringRef name) const {
    if (auto found = whole_.find(name); found != whole_.end())
      return found->second;
    for (const Word &word : beginnings_) // those with longer names come first
      if (name.starts_with(word.name.substr(0, word.name.size() - 1)))
        return word;
    return name.starts_with("ptx.") ? wordFor(Op::other) : Word{};
  }

 private:
  void addOnAxis(Word word, uint8_t axis) {
    word.axis = axis;
    whole_[(llvm::Twine(llvm::StringRef(word.name)) + "." + llvm::Twine("xyz"[axis])).str()] = word;
  }

  llvm::StringMap<Word> whole_;
  std::vector<Word> beginnings_;
};

const llvm::Function *calleeOf(const llvm::Instruction &i) {
  auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call ? call->getCalledFunction() : nullptr;
}

} // namespace

Word wordFor(Op op) {
  static_assert(std::size(kRows) > size_t(Op::mbarrierInit));
  Word word = kRows[size_t(op)].word;
  if (op >= Op::mbarrierInit) // the runtime's are the last
    word.runtime = &lower::kRuntimeWords[size_t(op) - size_t(Op::mbarrierInit)];
  return word;
}

Word wordOf(const llvm::Function &f) {
  static const Dictionary dictionary;
  return dictionary.find(f.getName());
}

Word wordAt(const llvm::Instruction &i) {
  const llvm::Function *callee = calleeOf(i);
  return callee ? wordOf(*callee) : Word{};
}

llvm::CallInst *callWord(llvm::IRBuilder<> &b, Op op, llvm::Type *result,
                         llvm::ArrayRef<llvm::Value *> arguments) {
  std::string name(wordFor(op).name);
  if (name.ends_with('*'))
    name.replace(name.size() - 1, 1,
                 "i" + std::to_string(arguments[0]->getType()->getIntegerBitWidth()));
  llvm::SmallVector<llvm::Type *> types;
  for (const llvm::Value *a : arguments)
    types.push_back(a->getType());
  llvm::Module *m = b.GetInsertBlock()->getModule();
  return b.CreateCall(
      m->getOrInsertFunction(name, llvm::FunctionType::get(result, types, /*isVarArg=*/false)),
      arguments);
}

bool hasBarrier(const llvm::BasicBlock &b) { return llvm::any_of(b, isBarrierWord); }

bool isOfWholeWarps(const llvm::CallBase &shuffle) {
  auto *clamp = llvm::dyn_cast<llvm::ConstantInt>(shuffle.getArgOperand(2));
  return clamp && (clamp->getZExtValue() & 0x1f1f) == 31;
}

const llvm::CallInst *shuffleOfWarpAt(const llvm::Value &v, Op shuffle) {
  auto *element = llvm::dyn_cast<llvm::ExtractValueInst>(&v);
  auto *call = element && element->getIndices()[0] == 0
                   ? llvm::dyn_cast<llvm::CallInst>(element->getAggregateOperand())
                   : nullptr;
  return call && wordAt(*call).op == shuffle && isOfWholeWarps(*call) ? call : nullptr;
}

void fetchAhead(llvm::IRBuilder<> &b, llvm::Value *at, int64_t distance, Fetch why) {
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                    {b.CreateConstGEP1_64(b.getInt8Ty(), at, uint64_t(distance)),
                     b.getInt32(why == Fetch::toWrite),
                     b.getInt32(why == Fetch::toReadLater ? 2 : 3), b.getInt32(1)});
}

bool isOfMbarrier(Op op) { return op >= Op::mbarrierInit && op <= Op::mbarrierTryWait; }

bool isOfCluster(Op op) {
  return op == Op::clusterArrive || op == Op::clusterWait || op == Op::clusterTryCancel;
}

GangEntry entryOf(const llvm::Function &f) {
  for (const GangEntry &entry : kEntries)
    if (!entry.name.empty() && llvm::StringRef(entry.name) == f.getName())
      return entry;
  return {};
}

GangEntry entryAt(const llvm::Instruction &i) {
  const llvm::Function *callee = calleeOf(i);
  return callee ? entryOf(*callee) : GangEntry{};
}

bool isBlendingStore(const llvm::Instruction &i) {
  const llvm::Function *callee = calleeOf(i);
  return callee && callee->getName().starts_with(kBlendingStore);
}

bool isCopyOfLanes(const llvm::Instruction &i) {
  const llvm::Function *callee = calleeOf(i);
  return callee && callee->getName().starts_with(kCopyOfLanes);
}

} // namespace ptxrun::simt
