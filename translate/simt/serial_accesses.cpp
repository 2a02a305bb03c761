// Loads and stores of lanes that lie apart in memory, as in a tree whose stride only the launch
// knows:
//
//     b = s + 4 * stride * (2 * tid + 2);  a = b - 4 * stride
//     x = load a;  y = load b;  store x + y, b       =>     kernel.serial(tid, stride)
//
// A gang has to take the addresses and what is stored out of vectors, and put what is loaded into
// them: more instructions than all the work is for a lane that does it by itself, address and all.
// Between two points where threads wait for each other, lanes may run in any order.
//
// What goes into the function: the accesses between which nothing keeps lanes together, what is
// computed of a load for a later one, and the way from the thread's number to their addresses.
#include "translate/simt/serial_accesses.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <map>
#include <set>

#include "translate/simt/across_gangs.h"
#include "translate/simt/alone.h"
#include "translate/simt/cost.h"
#include "translate/simt/guesses.h"
#include "translate/simt/lane_groups.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
using Accesses = llvm::ArrayRef<Instruction *>;

const Value *placeOf(const Instruction &access) {
  return llvm::getLoadStorePointerOperand(&access);
}

/// Arithmetic that a lane may do again for itself.
bool isCheap(const Instruction &i) {
  return !isDivision(i) && llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst,
                                     llvm::CmpInst, llvm::SelectInst>(i);
}

int64_t bytesOf(const Instruction &access) {
  return int64_t(access.getModule()->getDataLayout().getTypeStoreSize(
      llvm::getLoadStoreType(const_cast<Instruction *>(&access))));
}

/// Which accesses a gang does lane by lane, and none of the ways around that will help.
class Apart {
 public:
  Apart(const ShapeAnalysis &shapes, const Target &target)
      : shapes_(shapes), target_(target),
        groups_(shapes, std::min(shapes.lanes(), 4U), LaneGroups::Kind::guessed) {}

  using Set = llvm::SmallPtrSet<const Instruction *, 16>;
  /// Of accesses that are done together. Where steps are known, only if loads and stores both lie
  /// apart: of the others, gangs and blocks side by side may have whole rows.
  Set among(Accesses together) {
    Set apart = singleElements(together);
    for (const Instruction *i : together)
      if (const Value *place = placeOf(*i);
          !shapes_.step(place) && shapes_.shape(place).isVarying() &&
          !mayBeNeighbours(linearAddress(place, shapes_).index, shapes_) &&
          !groups_.offsetsOf(place) && !mayGoAcross(*i, shapes_, target_))
        apart.insert(i);
    return apart;
  }

  /// Whether lanes whose places are not known have several elements of a line each, here or in the
  /// rounds of a loop: these are loaded at once.
  bool shareLines(Accesses accesses) const {
    const auto isNear = [&](int64_t distance) {
      return distance != 0 && std::abs(distance) < int64_t(target_.lineBytes);
    };
    const llvm::Loop *loop = shapes_.loops().getLoopFor(accesses.front()->getParent());
    std::map<LinearSum::Terms, std::set<int64_t>> places;
    for (const Instruction *i : accesses) {
      if (shapes_.step(placeOf(*i)))
        continue;
      const LinearSum sum = sumOf(placeOf(*i), Extensions::through);
      const std::optional<int64_t> step = loop ? stepPerRound(sum, *loop) : std::nullopt;
      if (step && isNear(*step))
        return true;
      places[sum.key()].insert(sum.constant);
    }
    return llvm::any_of(places, [&](const auto &of) {
      return std::adjacent_find(of.second.begin(), of.second.end(), [&](int64_t x, int64_t y) {
               return isNear(y - x);
             }) != of.second.end();
    });
  }

 private:
  /// Those at known steps that leave out most of what lies between one lane's element and the next
  /// one's: rows of all are not worth it. None if they are only loads, or only stores.
  Set singleElements(Accesses together) const {
    std::map<LinearSum::Terms, std::vector<std::pair<const Instruction *, int64_t>>> places;
    for (const Instruction *i : together) {
      const LinearSum sum = sumOf(placeOf(*i), Extensions::through);
      places[sum.key()].emplace_back(i, sum.constant);
    }
    Set found;
    bool areLoaded = false, areStored = false;
    for (const auto &[terms, accesses] : places)
      for (const auto &[access, constant] : accesses) {
        const int64_t bytes = bytesOf(*access),
                      step = std::abs(shapes_.step(placeOf(*access)).value_or(0));
        if (step < target_.leastSerialStep() * bytes)
          continue;
        std::set<int64_t> elements;
        for (const auto &[other, at] : accesses)
          elements.insert((at % step + step) % step);
        if (2 * int64_t(elements.size()) * bytes > step)
          continue;
        found.insert(access);
        (llvm::isa<llvm::StoreInst>(access) ? areStored : areLoaded) = true;
      }
    return areLoaded && areStored ? found : Set();
  }

  const ShapeAnalysis &shapes_;
  const Target &target_;
  LaneGroups groups_;
};

/// Accesses of a block between which nothing keeps lanes together, as a function.
class SerialAccesses {
 public:
  SerialAccesses(Accesses accesses, const ShapeAnalysis &shapes, const Target &target)
      : accesses_(accesses), shapes_(shapes), target_(target) {
    findInner();
    takeOperands();
    for (const Instruction *i : inner_)
      if (isTaken(*i) && llvm::any_of(i->users(), [&](const llvm::User *u) {
            return !isTaken(*llvm::cast<Instruction>(u));
          }))
        outputs_.push_back(const_cast<Instruction *>(i));
  }

  bool isPossible() const {
    return llvm::all_of(inputs_, [](const Value *v) { return isHandedAlone(v->getType()); }) &&
           llvm::all_of(outputs_, [](const Value *v) { return isHandedAlone(v->getType()); });
  }

  bool isWorthwhile(const Apart::Set &apart) const {
    const AloneCost cost(shapes_, target_);
    const auto lanes = float(shapes_.lanes());
    // Where all lanes run and all places are known, what is done for each is written out.
    const bool isLoop = shapes_.isInDivergentRegion(accesses_.front()->getParent()) ||
                        llvm::any_of(inputs_, [&](const Value *v) { return isVector(*v); });
    AloneCosts sum{0, isLoop ? kLimits.serial.lane : 0};
    for (const Instruction *i : body()) {
      AloneCosts one = cost.of(*i);
      if (apart.contains(i))
        one.gang += lanes * takenOut(*i);
      sum += {one.gang, one.lane / kLimits.serial.perCycle};
    }
    for (const Value *v : inputs_)
      if (isVector(*v))
        sum.lane += kLimits.serial.handed;
      else if (!shapes_.isUniform(v) && isLoop)
        sum.lane += 1 / kLimits.serial.perCycle;
    sum.lane += kLimits.serial.handed * float(outputs_.size());
    return sum.gang > kLimits.serial.gain * lanes * sum.lane;
  }

  /// The accesses themselves are left for the caller to remove, with what is computed for them
  /// only.
  llvm::Function *make() {
    Instruction *first = accesses_.front();
    BasicBlock *block = first->getParent();
    llvm::Function &kernel = *block->getParent();
    putBefore(*first);
    llvm::SmallVector<llvm::Type *> results;
    for (const Instruction *i : outputs_)
      results.push_back(i->getType());
    AloneFunction serial(kernel, inputs_.getArrayRef(), results, ".serial");
    build(serial);
    llvm::IRBuilder<> b(first);
    b.SetCurrentDebugLocation(AloneFunction::lineOf(*block));
    Value *call = serial.call(b);
    for (unsigned k = 0; k < outputs_.size(); ++k) {
      Value *v = AloneFunction::result(b, call, k, outputs_[k]->getType());
      outputs_[k]->replaceUsesWithIf(
          v, [&](const llvm::Use &u) { return !isTaken(*llvm::cast<Instruction>(u.getUser())); });
    }
    return &serial.function();
  }

 private:
  /// What is computed of the loads, in the block's order, with all accesses.
  void findInner() {
    llvm::DenseSet<const Value *> members(accesses_.begin(), accesses_.end());
    for (auto i = accesses_.front()->getIterator(); i != std::next(accesses_.back()->getIterator());
         ++i)
      if (members.contains(&*i) || llvm::any_of(i->operand_values(), [&](const Value *v) {
            auto *operand = llvm::dyn_cast<Instruction>(v);
            return operand && inner_.contains(operand);
          }))
        inner_.insert(&*i);
    for (const Instruction *i : accesses_)
      taken_.insert(i);
  }

  /// All that the accesses are made of: computed inside, computed again by each lane, or handed in.
  void takeOperands() {
    llvm::SmallVector<const Instruction *> inside(accesses_.begin(), accesses_.end());
    while (!inside.empty())
      for (const llvm::Use &operand : inside.pop_back_val()->operands()) {
        auto *i = llvm::dyn_cast<Instruction>(operand.get());
        if (!i || !inner_.contains(i))
          takeFromOutside(operand.get());
        else if (taken_.insert(i).second)
          inside.push_back(i);
      }
  }
  void takeFromOutside(Value *v) {
    auto *i = llvm::dyn_cast<Instruction>(v);
    if (llvm::isa<llvm::Constant>(v) || (i && isTaken(*i)))
      return;
    if (!i || shapes_.isUniform(i) || shapes_.step(i) || !isCheap(*i) ||
        recipesBegun_ == kLimits.serial.recipe) {
      inputs_.insert(v);
      return;
    }
    ++recipesBegun_;
    for (const llvm::Use &operand : i->operands())
      takeFromOutside(operand.get());
    recipes_.insert(i); // behind what it is computed of
  }
  bool isVector(const Value &v) const { return !shapes_.isUniform(&v) && !shapes_.step(&v); }
  bool isTaken(const Instruction &i) const { return taken_.contains(&i) || recipes_.contains(&i); }

  /// Recipes, and what is inside, each behind what it is computed of.
  std::vector<const Instruction *> body() const {
    std::vector<const Instruction *> all(recipes_.begin(), recipes_.end());
    for (const Instruction *i : inner_)
      if (taken_.contains(i))
        all.push_back(i);
    return all;
  }

  /// Cycles for the lane's element of a vector of addresses, and of what is stored, of an access
  /// that lies apart.
  float takenOut(const Instruction &access) const {
    if (target_.gathers(unsigned(bytesOf(access)) * 8))
      return 0;
    const float one = target_.costs.laneExtraction;
    if (shapes_.isInDivergentRegion(access.getParent()))
      return 1.5F * one;
    return llvm::isa<llvm::StoreInst>(access) ? one : 0;
  }

  /// What neither is one of the accesses nor computed of them stands before them.
  void putBefore(Instruction &first) {
    for (auto i = first.getIterator(); &*i != accesses_.back();) {
      Instruction &each = *i++;
      if (!inner_.contains(&each))
        each.moveBefore(&first);
    }
  }

  void build(AloneFunction &serial) {
    BasicBlock *entry =
        BasicBlock::Create(serial.function().getContext(), "entry", &serial.function());
    llvm::IRBuilder<> b(entry);
    llvm::ValueToValueMapTy map;
    for (unsigned k = 0; k < inputs_.size(); ++k)
      map[inputs_[k]] = serial.input(b, k);
    for (const Instruction *i : body()) {
      Instruction *copy = i->clone();
      b.Insert(copy);
      map[i] = copy;
      llvm::RemapInstruction(copy, map,
                             llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    }
    if (outputs_.empty()) {
      b.CreateRetVoid();
    } else {
      Value *whole = llvm::PoisonValue::get(serial.function().getReturnType());
      for (unsigned k = 0; k < outputs_.size(); ++k)
        whole = b.CreateInsertValue(whole, AloneFunction::handed(b, map[outputs_[k]]), k);
      b.CreateRet(whole);
    }
    serial.takeLines();
  }

  const Accesses accesses_;
  const ShapeAnalysis &shapes_;
  const Target &target_;
  llvm::SetVector<const Instruction *> inner_, recipes_;
  unsigned recipesBegun_ = 0;
  llvm::DenseSet<const Instruction *> taken_;
  llvm::SetVector<Value *> inputs_;
  llvm::SmallVector<Instruction *> outputs_;
};

/// The loads and stores of a block between which nothing keeps lanes together, or updates memory.
/// Loads of parameters are done wherever one likes.
std::vector<std::vector<Instruction *>> runsOfAccesses(BasicBlock &block,
                                                       const ShapeAnalysis &shapes) {
  std::vector<std::vector<Instruction *>> runs(1);
  for (Instruction &i : block)
    if (!llvm::isa<llvm::PHINode>(i) && (!mayRunAlone(i, /*isWithArrays=*/false) || i.isAtomic()))
      runs.emplace_back();
    else if (placeOf(i) &&
             !(i.hasMetadata(llvm::LLVMContext::MD_invariant_load) && shapes.isUniform(placeOf(i))))
      runs.back().push_back(&i);
  return runs;
}

/// What nobody needs any more. Until then the analyses tell instructions apart by where they lie.
void removeAll(llvm::ArrayRef<Instruction *> accesses) {
  llvm::SmallVector<llvm::WeakTrackingVH> operands;
  for (Instruction *i : llvm::reverse(accesses)) {
    operands.append(i->op_begin(), i->op_end());
    if (llvm::isa<llvm::StoreInst>(i))
      i->eraseFromParent();
    else
      operands.push_back(i);
  }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(operands);
}

} // namespace

std::vector<llvm::Function *> accessLaneAfterLane(llvm::Function &kernel, const GangShape &gang,
                                                  const Target &target) {
  std::vector<llvm::Function *> made;
  std::vector<Instruction *> done;
  const ShapeAnalysis shapes(kernel, gang, false);
  Apart apart(shapes, target);
  for (BasicBlock *block : shapes.order())
    for (const std::vector<Instruction *> &run : runsOfAccesses(*block, shapes)) {
      const auto isStore = [](const Instruction *i) { return llvm::isa<llvm::StoreInst>(i); };
      if (run.size() < 2 || llvm::none_of(run, isStore))
        continue;
      const Apart::Set lyingApart = apart.among(run);
      if (lyingApart.empty() || apart.shareLines(run))
        continue;
      SerialAccesses accesses(run, shapes, target);
      if (!accesses.isPossible() || !accesses.isWorthwhile(lyingApart))
        continue;
      made.push_back(accesses.make());
      done.insert(done.end(), run.begin(), run.end());
    }
  removeAll(done);
  return made;
}

} // namespace ptxrun::simt
