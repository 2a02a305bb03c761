#include "translate/simt/accumulators.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

#include "translate/lower/bits_of.h"
#include "translate/simt/shape.h"

namespace ptxrun::simt {

namespace {

/// The call that the values are the results of, in order; null for anything else.
const llvm::CallBase *callOf(const Accumulators::Registers &values) {
  const llvm::CallBase *call = nullptr;
  for (unsigned i = 0; i < values.size(); ++i) {
    auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(values[i]);
    if (!part || part->getNumIndices() != 1 || part->getIndices()[0] != i)
      return nullptr;
    auto *from = llvm::dyn_cast<llvm::CallBase>(part->getAggregateOperand());
    if (!from || (call && from != call))
      return nullptr;
    call = from;
  }
  return call;
}

Accumulators::Registers allCarried(Accumulators::Registers values) {
  for (const llvm::Value *&v : values)
    v = lower::bitsOf(v);
  return values;
}

/// Phis that take `v`, past changes of its type.
void collectPhis(const llvm::Value *v, llvm::SmallVectorImpl<const llvm::PHINode *> &phis) {
  for (const llvm::User *u : v->users()) {
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(u))
      phis.push_back(phi);
    else if (llvm::isa<llvm::BitCastInst>(u))
      collectPhis(u, phis);
  }
}

} // namespace

const llvm::BasicBlock *Accumulators::Group::block() const {
  return call ? call->getParent() : llvm::cast<llvm::PHINode>(values[0])->getParent();
}

Accumulators::Accumulators(
    const llvm::Function &f, const ShapeAnalysis &shapes,
    llvm::function_ref<std::optional<Registers>(const llvm::CallBase &)> operandsOf)
    : shapes_(shapes) {
  std::vector<Registers> operands;
  for (const llvm::BasicBlock &block : f)
    for (const llvm::Instruction &i : block)
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
          call && !shapes.isInDivergentRegion(&block))
        if (const std::optional<Registers> c = operandsOf(*call)) {
          calls_[call] = unsigned(groups_.size());
          Group &made = groups_.emplace_back();
          made.call = call;
          made.count = unsigned(c->size());
          operands.push_back(*c);
        }
  const size_t calls = groups_.size();
  for (size_t i = 0; i < calls; ++i) {
    const std::optional<unsigned> group = groupOf(operands[i]); // may add groups
    groups_[i].operands = group;
  }
  for (unsigned i = 0; i < groups_.size(); ++i) // grows
    addPhisBehind(i);
  join();
}

/// The group that has these values; phis become one.
std::optional<unsigned> Accumulators::groupOf(const Registers &given) {
  const Registers values = allCarried(given);
  if (const llvm::CallBase *call = callOf(values)) {
    auto it = calls_.find(call);
    if (it == calls_.end() || groups_[it->second].count != values.size())
      return std::nullopt;
    return it->second;
  }
  const auto *first = llvm::dyn_cast<llvm::PHINode>(values[0]);
  if (!first || shapes_.isInDivergentRegion(first->getParent()))
    return std::nullopt;
  for (const llvm::BasicBlock *from : first->blocks())
    if (shapes_.isInDivergentRegion(from) || shapes_.isDivergentBranch(from))
      return std::nullopt;
  std::optional<unsigned> known;
  for (unsigned i = 0; i < values.size(); ++i) {
    const auto *phi = llvm::dyn_cast<llvm::PHINode>(values[i]);
    if (!phi || phi->getParent() != first->getParent())
      return std::nullopt;
    auto it = phis_.find(phi);
    if (it == phis_.end()) {
      if (known || llvm::count(values, phi) != 1)
        return std::nullopt;
      continue;
    }
    if (it->second.part != i || (i != 0 && known != it->second.home))
      return std::nullopt;
    known = it->second.home;
  }
  if (known && groups_[*known].count != values.size())
    return std::nullopt;
  return known ? known : addPhis(values);
}

unsigned Accumulators::addPhis(const Registers &values) {
  const auto number = unsigned(groups_.size());
  Group &made = groups_.emplace_back();
  made.values = values;
  made.count = unsigned(values.size());
  for (unsigned i = 0; i < values.size(); ++i)
    phis_[llvm::cast<llvm::PHINode>(values[i])] = {number, i};
  const auto *first = llvm::cast<llvm::PHINode>(values[0]);
  for (const llvm::BasicBlock *from : first->blocks()) {
    Registers in;
    for (const llvm::Value *phi : values)
      in.push_back(llvm::cast<llvm::PHINode>(phi)->getIncomingValueForBlock(from));
    if (const std::optional<unsigned> group = groupOf(in))
      groups_[number].incoming[from] = *group;
  }
  return number;
}

/// Phis that hand the group's values on, out of a loop most of all.
void Accumulators::addPhisBehind(unsigned group) {
  const unsigned count = groups_[group].count;
  std::vector<llvm::SmallVector<const llvm::PHINode *, 4>> phis(count);
  const Registers values = groups_[group].values;
  if (const llvm::CallBase *call = groups_[group].call) {
    for (const llvm::User *u : call->users())
      if (auto *part = llvm::dyn_cast<llvm::ExtractValueInst>(u);
          part && part->getNumIndices() == 1 && part->getIndices()[0] < count)
        collectPhis(part, phis[part->getIndices()[0]]);
  } else {
    for (unsigned i = 0; i < count; ++i)
      collectPhis(values[i], phis[i]);
  }
  for (const llvm::PHINode *first : phis[0]) {
    Registers all(count, nullptr);
    all[0] = first;
    for (unsigned i = 1; i < count; ++i)
      for (const llvm::PHINode *phi : phis[i])
        if (phi->getParent() == first->getParent())
          all[i] = phi;
    if (llvm::all_of(all, [](const llvm::Value *v) { return v != nullptr; }))
      groupOf(all);
  }
}

/// Groups that follow each other get one home where it is free for each of them in its turn.
void Accumulators::join() {
  for (unsigned i = 0; i < groups_.size(); ++i)
    groups_[i].home = i;
  const auto unite = [&](unsigned a, unsigned b) {
    const unsigned from = groups_[a].home, to = groups_[b].home;
    for (Group &g : groups_)
      if (g.home == from)
        g.home = to;
  };
  for (unsigned i = 0; i < groups_.size(); ++i) {
    if (groups_[i].operands)
      unite(i, *groups_[i].operands);
    for (const auto &[from, group] : groups_[i].incoming)
      unite(i, group);
  }
  llvm::DenseSet<unsigned> homes;
  for (const Group &g : groups_)
    homes.insert(g.home);
  for (const unsigned home : homes)
    if (!isFree(home))
      dissolve(home);
}

/// Whether no instruction, and no edge that brings a value from elsewhere, overwrites what another
/// of the home's groups still has to give.
bool Accumulators::isFree(unsigned home) const {
  std::vector<unsigned> members;
  for (unsigned i = 0; i < groups_.size(); ++i)
    if (groups_[i].home == home)
      members.push_back(i);
  // Two groups of phis of one block would be there at once.
  llvm::DenseSet<const llvm::BasicBlock *> joins;
  for (const unsigned i : members)
    if (!groups_[i].call && !joins.insert(groups_[i].block()).second)
      return false;
  for (const unsigned own : members) {
    const Group &g = groups_[own];
    llvm::SmallVector<const llvm::CallBase *> uses; // as registers c
    llvm::DenseSet<const llvm::BasicBlock *> liveAtEnd, liveAtBegin;
    llvm::SmallVector<const llvm::BasicBlock *> todo;
    const auto leaves = [&](const llvm::BasicBlock *b) {
      if (liveAtEnd.insert(b).second && b != g.block() && liveAtBegin.insert(b).second)
        llvm::append_range(todo, llvm::predecessors(b));
    };
    for (const unsigned i : members) {
      if (groups_[i].operands == own) {
        const llvm::BasicBlock *b = groups_[i].block();
        uses.push_back(groups_[i].call);
        const bool isBehind = b == g.block() && (!g.call || g.call->comesBefore(groups_[i].call));
        if (!isBehind && liveAtBegin.insert(b).second)
          llvm::append_range(todo, llvm::predecessors(b));
      }
      for (const auto &[from, group] : groups_[i].incoming)
        if (group == own)
          todo.push_back(from);
    }
    while (!todo.empty())
      leaves(todo.pop_back_val());
    // What overwrites it.
    for (const unsigned i : members) {
      const Group &other = groups_[i];
      if (other.call) {
        if (i == own)
          continue;
        const llvm::BasicBlock *b = other.block();
        const bool isDefinedLater =
            b == g.block() && g.call && other.call->comesBefore(g.call) && !liveAtBegin.contains(b);
        if (!isDefinedLater && liveAtEnd.contains(b))
          return false;
        for (const llvm::CallBase *use : uses)
          if (use != other.call && use->getParent() == b && other.call->comesBefore(use) &&
              !(g.call && g.block() == b && other.call->comesBefore(g.call)))
            return false;
        continue;
      }
      const auto *first = llvm::cast<llvm::PHINode>(other.values[0]);
      for (const llvm::BasicBlock *from : first->blocks())
        if (!other.incoming.contains(from) &&
            ((i != own && liveAtBegin.contains(other.block())) || liveAtEnd.contains(from)))
          return false;
    }
  }
  return true;
}

/// The home's groups go their own ways: instructions keep what they did before, phis have no home.
void Accumulators::dissolve(unsigned home) {
  for (auto it = phis_.begin(), end = phis_.end(); it != end;) {
    auto current = it++;
    if (groups_[current->second.home].home == home)
      phis_.erase(current);
  }
  for (auto it = calls_.begin(), end = calls_.end(); it != end;) {
    auto current = it++;
    if (groups_[current->second].home == home)
      calls_.erase(current);
  }
}

std::optional<Accumulators::Place> Accumulators::placeOf(const llvm::PHINode &phi) const {
  auto it = phis_.find(&phi);
  if (it == phis_.end())
    return std::nullopt;
  return Place{groups_[it->second.home].home, it->second.part};
}

bool Accumulators::isInPlace(const llvm::PHINode &phi, const llvm::BasicBlock *from) const {
  return groups_[phis_.lookup(&phi).home].incoming.contains(from);
}

std::optional<unsigned> Accumulators::homeOf(const llvm::CallBase &call) const {
  auto it = calls_.find(&call);
  return it == calls_.end() ? std::nullopt : std::optional(groups_[it->second].home);
}

bool Accumulators::isInPlace(const llvm::CallBase &call) const {
  return groups_[calls_.lookup(&call)].operands.has_value();
}

} // namespace ptxrun::simt
