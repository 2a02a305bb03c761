#include "translate/simt/staged_rows.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "translate/simt/cost.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

using Steps = std::vector<uint64_t>;

Steps stepsBetween(const Instance &a, const Instance &b) {
  Steps steps{uint32_t(b.place - a.place)};
  for (size_t k = 0; k < a.leaves.size(); ++k)
    steps.push_back(b.leaves[k] - a.leaves[k]);
  return steps;
}

/// Cuts the instances, in the order they are in, into rows of at most `lanes`. The last part of a
/// longer row lies over the one before, so that it is full.
std::vector<Group::Row> cutIntoRows(const std::vector<Instance> &list, size_t lanes, Steps &usual) {
  std::map<Steps, size_t> counts;
  for (size_t k = 1; k < list.size(); ++k)
    ++counts[stepsBetween(list[k - 1], list[k])];
  if (list.empty())
    return {};
  usual = counts.empty() // one thread alone
              ? stepsBetween(list[0], list[0])
              : std::max_element(counts.begin(), counts.end(), [](const auto &a, const auto &b) {
                  return a.second < b.second;
                })->first;
  std::vector<Group::Row> rows;
  for (size_t first = 0, end = 0; first < list.size(); first = end) {
    for (end = first + 1; end < list.size() && stepsBetween(list[end - 1], list[end]) == usual;)
      ++end;
    for (size_t at = first; at < end; at += lanes)
      rows.push_back(
          {end - first < lanes ? first : std::min(at, end - lanes), std::min(lanes, end - first)});
  }
  return rows;
}

} // namespace

float costAcrossRows(const Group &g) {
  struct Round {
    const Instance *last;
    std::optional<Steps> steps = {};
    bool isRow = true;
  };
  llvm::DenseMap<uint64_t, Round> rounds;
  for (const Instance &i : g.instances) {
    auto [at, isNew] = rounds.try_emplace(i.gangRound, Round{&i});
    if (isNew)
      continue;
    Round &r = at->second;
    Steps steps = stepsBetween(*r.last, i);
    r.isRow &= !r.steps || *r.steps == steps;
    r.steps = std::move(steps);
    r.last = &i;
  }
  float cost = 0;
  for (const auto &[id, round] : rounds)
    cost += round.isRow ? 1 : kLimits.staging.rowsPerRound;
  return cost;
}

void findRows(Group &g, size_t lanes) {
  Steps steps, byPlace;
  g.rows = cutIntoRows(g.instances, lanes, steps);
  std::vector<Instance> inOrder = g.instances;
  llvm::sort(inOrder, [](const Instance &a, const Instance &b) { return a.place < b.place; });
  if (auto rows = cutIntoRows(inOrder, lanes, byPlace); rows.size() <= g.rows.size()) {
    g.instances = std::move(inOrder);
    g.rows = std::move(rows);
    steps = std::move(byPlace);
  }
  if (!steps.empty())
    g.steps.assign(steps.begin() + 1, steps.end());
}

namespace {

/// Makes the loop over the rows of one group.
class RowWriter {
 public:
  RowWriter(llvm::Function &f, const GangShape &gang, const Nodes &nodes, const Group &group)
      : f_(f), gang_(gang), nodes_(nodes), group_(group), b_(f.getContext()),
        store_(*group.stores.front()), isTested_(nodes.size()) {}

  /// In front of `at`, which begins a block.
  void write(Instruction &at, std::map<llvm::PHINode *, llvm::PHINode *> &moved);

 private:
  Value *threadNumber();
  Value *fromTable(const std::vector<uint64_t> &, llvm::Type *, Value *row, const llvm::Twine &);
  void readLeaves(Value *row, Value *lane);
  void markTested(unsigned);
  Value *value(unsigned node);
  Value *compute(unsigned node);
  Value *movedFrom(llvm::PHINode &);
  Value *guarded(unsigned load, Value *otherwise);
  /// What differs between the lanes of a row.
  bool varies(unsigned node);
  void splitCondition(unsigned, bool isInverse, std::vector<std::pair<unsigned, bool>> &factors);
  /// Goes on in a block that only lanes enter for which the condition holds; those of a row leave
  /// together where they can. Adds the ways around it, which all lead to `behind`.
  void enter(unsigned condition, BasicBlock *behind, std::vector<BasicBlock *> &around);
  /// Keeps the line that the instruction came from.
  llvm::Instruction *insert(llvm::Instruction *copy) {
    const llvm::DebugLoc line = copy->getDebugLoc();
    b_.Insert(copy);
    copy->setDebugLoc(line);
    return copy;
  }
  BasicBlock *newBlock(const llvm::Twine &name, BasicBlock *before) {
    return BasicBlock::Create(f_.getContext(), "staged." + name, &f_, before);
  }

  llvm::Function &f_;
  const GangShape &gang_;
  const Nodes &nodes_;
  const Group &group_;
  llvm::IRBuilder<> b_;
  const Staged &store_;
  llvm::BitVector isTested_; ///< nodes that a condition is made of
  std::vector<Value *> leaves_;
  llvm::DenseMap<unsigned, Value *> values_;
  llvm::DenseMap<unsigned, bool> varies_;
  std::map<llvm::PHINode *, llvm::PHINode *> *moved_ = nullptr;
};

Value *RowWriter::threadNumber() {
  llvm::Module &m = *f_.getParent();
  Value *number = nullptr;
  constexpr std::array<const char *, 3> kNames{".x", ".y", ".z"};
  for (unsigned axis = 3; axis-- > 0;) {
    if (gang_.block[axis] == 1)
      continue;
    Value *index = b_.CreateCall(
        m.getOrInsertFunction(std::string(wordFor(Op::tid).name) + kNames[axis], b_.getInt32Ty()));
    number =
        number ? b_.CreateAdd(b_.CreateMul(number, b_.getInt32(gang_.block[axis]), "", true, true),
                              index, "", true, true)
               : index;
  }
  return number;
}

Value *RowWriter::fromTable(const std::vector<uint64_t> &list, llvm::Type *type, Value *row,
                            const llvm::Twine &name) {
  if (llvm::all_equal(list))
    return llvm::ConstantInt::get(type, list.front());
  const unsigned bytes = unsigned(llvm::bit_ceil(llvm::divideCeil(type->getIntegerBitWidth(), 8)));
  llvm::Type *stored = b_.getIntNTy(bytes * 8);
  std::vector<llvm::Constant *> elements;
  for (uint64_t bits : list)
    elements.push_back(llvm::ConstantInt::get(stored, bits));
  llvm::Constant *data =
      llvm::ConstantArray::get(llvm::ArrayType::get(stored, elements.size()), elements);
  auto *table = new llvm::GlobalVariable(*f_.getParent(), data->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, data, "ptx.rows");
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  table->setAlignment(llvm::Align(bytes));
  auto *load = b_.CreateAlignedLoad(
      stored, b_.CreateInBoundsGEP(stored, table, b_.CreateZExt(row, b_.getInt64Ty())),
      llvm::Align(bytes), name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(f_.getContext(), {}));
  const auto [least, most] = std::minmax_element(list.begin(), list.end());
  llvm::MDBuilder range(f_.getContext());
  if (*most != UINT64_MAX)
    load->setMetadata(
        llvm::LLVMContext::MD_range,
        range.createRange(llvm::APInt(bytes * 8, *least), llvm::APInt(bytes * 8, *most + 1)));
  return b_.CreateTrunc(load, type);
}

void RowWriter::readLeaves(Value *row, Value *lane) {
  for (size_t k = 0; k < store_.leaves.size(); ++k) {
    auto *type = llvm::cast<llvm::IntegerType>(store_.leaves[k]->getType());
    std::vector<uint64_t> list;
    uint64_t most = 0;
    for (const Group::Row &r : group_.rows) {
      list.push_back(group_.instances[r.first].leaves[k]);
      most = std::max(most, list.back());
    }
    Value *base = fromTable(list, type, row, "leaf");
    const uint64_t step = group_.steps[k] & type->getBitMask();
    if (step == 0) {
      leaves_.push_back(base);
      continue;
    }
    // Lanes that have no element count on, too.
    const bool isSmall = type->getIntegerBitWidth() >= 16 && step < 256 &&
                         most + step * gang_.lanes < type->getBitMask() / 2;
    Value *up = b_.CreateZExtOrTrunc(lane, type);
    if (step != 1)
      up = b_.CreateMul(up, llvm::ConstantInt::get(type, step), "", isSmall, isSmall);
    const auto *zero = llvm::dyn_cast<llvm::ConstantInt>(base);
    leaves_.push_back(zero && zero->isZero() ? up : b_.CreateAdd(base, up, "", isSmall, isSmall));
  }
}

void RowWriter::markTested(unsigned id) {
  if (id == kAlways || isTested_[id])
    return;
  isTested_.set(id);
  for (unsigned operand : nodes_[id].operands)
    markTested(operand);
}

bool RowWriter::varies(unsigned id) {
  if (id == kAlways)
    return false;
  if (auto it = varies_.find(id); it != varies_.end())
    return it->second;
  const Node &n = nodes_[id];
  const bool is =
      n.kind == Node::Kind::leaf
          ? (group_.steps[n.index] & llvm::cast<llvm::IntegerType>(n.type)->getBitMask()) != 0
          : llvm::any_of(n.operands, [&](unsigned o) { return varies(o); });
  return varies_[id] = is;
}

Value *RowWriter::value(unsigned id) {
  if (Value *known = values_.lookup(id))
    return known;
  Value *made = compute(id);
  values_[id] = made;
  return made;
}

Value *RowWriter::movedFrom(llvm::PHINode &phi) {
  llvm::PHINode *&mine = (*moved_)[&phi];
  if (mine)
    return mine;
  llvm::BinaryOperator *next = nullptr;
  Value *begin = nullptr, *step = nullptr;
  llvm::matchSimpleRecurrence(&phi, next, begin, step);
  mine = llvm::PHINode::Create(phi.getType(), 2, "moved", phi.getIterator());
  auto *sum = llvm::BinaryOperator::CreateAdd(mine, step, "moved.next", next->getNextNode());
  for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k)
    mine->addIncoming(phi.getIncomingValue(k) == next
                          ? static_cast<Value *>(sum)
                          : llvm::ConstantInt::getNullValue(phi.getType()),
                      phi.getIncomingBlock(k));
  return mine;
}

Value *RowWriter::compute(unsigned id) {
  const Node &n = nodes_[id];
  switch (n.kind) {
  case Node::Kind::leaf:
    return leaves_[n.index];
  case Node::Kind::external:
    return n.value;
  case Node::Kind::moved:
    return b_.CreateAdd(value(n.operands[0]), movedFrom(llvm::cast<llvm::PHINode>(*n.value)));
  case Node::Kind::load:
    return guarded(id, llvm::PoisonValue::get(n.type));
  case Node::Kind::choice: {
    const Node &one = nodes_[n.operands[1]];
    if (one.kind == Node::Kind::load && one.operands[1] == n.operands[0])
      return guarded(n.operands[1], value(n.operands[2]));
    Value *condition = value(n.operands[0]), *a = value(n.operands[1]);
    return b_.CreateSelect(condition, a, value(n.operands[2]));
  }
  case Node::Kind::inverse:
    return b_.CreateNot(value(n.operands[0]));
  case Node::Kind::both: {
    Value *a = value(n.operands[0]);
    return b_.CreateAnd(a, value(n.operands[1]));
  }
  case Node::Kind::either: {
    Value *a = value(n.operands[0]);
    return b_.CreateOr(a, value(n.operands[1]));
  }
  case Node::Kind::operation:
    break;
  }
  std::vector<Value *> operands;
  for (unsigned operand : n.operands)
    operands.push_back(value(operand));
  auto *made = llvm::cast<Instruction>(n.value)->clone();
  for (size_t k = 0; k < operands.size(); ++k)
    made->setOperand(unsigned(k), operands[k]);
  made->dropUnknownNonDebugMetadata();
  if (isTested_[id] || n.hasLooseFlags)
    made->dropPoisonGeneratingFlags();
  return insert(made);
}

/// The conditions that must all hold (or, inverse, not hold) for it to hold.
void RowWriter::splitCondition(unsigned id, bool isInverse,
                               std::vector<std::pair<unsigned, bool>> &factors) {
  if (id == kAlways)
    return;
  const Node &n = nodes_[id];
  const auto *logic =
      n.kind == Node::Kind::operation ? llvm::dyn_cast<llvm::BinaryOperator>(n.value) : nullptr;
  const bool isAll =
      n.kind == Node::Kind::both || (logic && logic->getOpcode() == Instruction::And);
  const bool isAny =
      n.kind == Node::Kind::either || (logic && logic->getOpcode() == Instruction::Or);
  if (n.kind == Node::Kind::inverse)
    return splitCondition(n.operands[0], !isInverse, factors);
  if (isInverse ? isAny : isAll)
    for (unsigned operand : n.operands)
      splitCondition(operand, isInverse, factors);
  else
    factors.emplace_back(id, isInverse);
}

void RowWriter::enter(unsigned condition, BasicBlock *behind, std::vector<BasicBlock *> &around) {
  std::vector<std::pair<unsigned, bool>> factors;
  splitCondition(condition, false, factors);
  std::array<Value *, 2> tests{}; // for the row, for each lane
  for (auto [factor, isInverse] : factors) {
    Value *test = value(factor);
    if (isInverse)
      test = b_.CreateNot(test);
    if (const auto *known = llvm::dyn_cast<llvm::ConstantInt>(test); known && known->isOne())
      continue;
    Value *&all = tests[varies(factor)];
    all = all ? b_.CreateAnd(all, test) : test;
  }
  for (Value *test : tests)
    if (test) {
      BasicBlock *inside = newBlock("inside", behind);
      around.push_back(b_.GetInsertBlock());
      b_.CreateCondBr(test, inside, behind);
      b_.SetInsertPoint(inside);
    }
}

Value *RowWriter::guarded(unsigned id, Value *otherwise) {
  const Node &n = nodes_[id];
  Value *address = value(n.operands[0]);
  BasicBlock *behind = newBlock("loaded", b_.GetInsertBlock()->getNextNode());
  std::vector<BasicBlock *> around;
  enter(n.operands[1], behind, around);
  auto *load = llvm::cast<llvm::LoadInst>(llvm::cast<Instruction>(n.value)->clone());
  load->setOperand(0, address);
  insert(load);
  BasicBlock *inside = b_.GetInsertBlock();
  b_.CreateBr(behind);
  b_.SetInsertPoint(behind);
  if (around.empty())
    return load;
  llvm::PHINode *phi = b_.CreatePHI(n.type, unsigned(around.size()) + 1);
  phi->addIncoming(load, inside);
  for (BasicBlock *from : around)
    phi->addIncoming(otherwise, from);
  return phi;
}

void RowWriter::write(Instruction &at, std::map<llvm::PHINode *, llvm::PHINode *> &moved) {
  moved_ = &moved;
  for (unsigned id = 0; id < nodes_.size(); ++id) {
    const Node &n = nodes_[id];
    if (n.kind == Node::Kind::load)
      markTested(n.operands[1]);
    else if (n.kind == Node::Kind::choice)
      markTested(n.operands[0]);
  }
  markTested(store_.guard);

  const uint32_t perGang = gang_.threadsPerGang();
  BasicBlock *before = at.getParent()->getSinglePredecessor();
  BasicBlock *rows = newBlock("row", at.getParent()), *next = newBlock("next", at.getParent());
  before->getTerminator()->eraseFromParent();
  b_.SetInsertPoint(before);
  b_.SetCurrentDebugLocation(store_.store->getDebugLoc());
  Value *lane = threadNumber();
  BasicBlock *begin = newBlock("begin", rows), *end = newBlock("end", at.getParent());
  b_.CreateCondBr(b_.CreateICmpULT(lane, b_.getInt32(perGang)), begin, at.getParent());

  // Whose elements these are, nobody can tell where an access fails: those of the whole block.
  b_.SetInsertPoint(begin);
  Value *reported =
      callWord(b_, Op::reportedThreads, b_.getInt32Ty(), {b_.getInt32(uint32_t(gang_.threads()))});
  b_.CreateBr(rows);
  b_.SetInsertPoint(end);
  callWord(b_, Op::reportedThreads, b_.getInt32Ty(), {reported});
  b_.CreateBr(at.getParent());

  b_.SetInsertPoint(rows);
  llvm::PHINode *row = b_.CreatePHI(b_.getInt32Ty(), 2, "row");
  row->addIncoming(b_.getInt32(0), begin);
  readLeaves(row, lane);
  std::vector<uint64_t> counts;
  for (const Group::Row &r : group_.rows)
    counts.push_back(r.count);
  std::vector<BasicBlock *> around;
  if (!llvm::all_of(counts, [&](uint64_t n) { return n == perGang; })) {
    Value *test = b_.CreateICmpULT(lane, fromTable(counts, b_.getInt32Ty(), row, "count"));
    BasicBlock *inside = newBlock("element", next);
    b_.CreateCondBr(test, inside, next);
    b_.SetInsertPoint(inside);
  }
  Value *address = value(store_.address), *stored = value(store_.value);
  enter(store_.guard, next, around);
  auto *store = llvm::cast<llvm::StoreInst>(store_.store->clone());
  store->setOperand(0, stored);
  store->setOperand(1, address);
  b_.Insert(store);
  b_.CreateBr(next);

  b_.SetInsertPoint(next);
  Value *following = b_.CreateAdd(row, b_.getInt32(1), "", true, true);
  row->addIncoming(following, next);
  b_.CreateCondBr(b_.CreateICmpNE(following, b_.getInt32(unsigned(group_.rows.size()))), rows, end);
}

} // namespace

void storeRows(Instruction &at, const GangShape &gang, const Nodes &nodes, const Group &group,
               std::map<llvm::PHINode *, llvm::PHINode *> &moved) {
  RowWriter(*at.getFunction(), gang, nodes, group).write(at, moved);
}

} // namespace ptxrun::simt
