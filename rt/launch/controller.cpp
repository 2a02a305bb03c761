#include "rt/launch/controller.h"

#include <algorithm>

#include "rt/launch/launch.h"

namespace ptxrun::rt {

namespace {

constexpr uint32_t kResidentInLockstep = 4;
constexpr uint32_t kMostChanges = 3, kChangeExponents = 20;
constexpr uint64_t kUsualPriority = uint64_t{1}
                                    << 63; ///< priorities below it are those of change points

GangPlace placeOf(const GangState &g) {
  return {groupOf(const_cast<GangState &>(g)).number * g.cta->group->ctaCount +
              g.cta->cta.clusterRank,
          g.gang.firstThread};
}

/// Gangs that can run. Those that spin can as well, but are left alone until nobody else can,
/// unless `withSpinning`.
template <class Visit>
void eachReady(const std::vector<GroupState *> &inFlight, bool withSpinning, Visit visit) {
  for (GroupState *group : inFlight) {
    for (GangState *g = group->ready.head; g; g = g->next)
      visit(*group, *g);
    for (GangState *g = withSpinning ? group->spinning.head : nullptr; g; g = g->next)
      visit(*group, *g);
  }
}

void take(GangState &gang) {
  GroupState &group = groupOf(gang);
  for (const GangState *g = group.ready.head; g; g = g->next)
    if (g == &gang)
      return group.ready.remove(&gang);
  group.spinning.remove(&gang);
}

} // namespace

Controller::Controller(const LaunchRequest &request)
    : schedule_(request.schedule), gangThreads_(std::max(request.gangThreads, 1u)),
      record_(request.scheduleRecord), endsHangs_(request.endsHangs) {
  if (schedule_ == Schedule::seeded)
    drawSeed(request.generatorSeed());
  else if (schedule_ == Schedule::lockstep || schedule_ == Schedule::oldestFirst)
    resident_ = kResidentInLockstep;
  else if (schedule_ == Schedule::scripted && request.script) {
    resident_ = std::max(request.script->resident, 1u);
    for (const ScheduleSwitch &s : request.script->switches)
      script_.insert_or_assign({s.at, s.point}, s.next);
    if (const auto first = script_.find({kScheduleStart, 0}); first != script_.end())
      scripted_ = &first->second;
    unordered_.insert(request.script->unordered.begin(), request.script->unordered.end());
    if (!unordered_.empty())
      weak_ = std::make_unique<WeakMemory>(*this, record_);
  }
  if (request.isCooperative)
    resident_ = ~0u; // they wait for each other
  if (record_) {
    record_->script = {resident_, {}, {}};
    record_->accesses.clear();
    record_->unordered.clear();
    record_->points = 0;
    record_->isCut = false;
  }
}

void Controller::drawSeed(uint64_t seed) {
  turn_.random.state = seed * 0x9e3779b97f4a7c15u;
  drawMemory(seed);
  resident_ = 2u << turn_.random.below(4);
  isWalk_ = seed % 2 == 1;
  if (isWalk_) {
    walkShift_ = 1 + turn_.random.below(6);
    return;
  }
  for (uint32_t left = turn_.random.below(kMostChanges + 1); left; --left) {
    const uint32_t scale = 1u << turn_.random.below(kChangeExponents);
    changes_.push_back(uint64_t{scale} + turn_.random.below(scale));
  }
  std::sort(changes_.begin(), changes_.end());
}

void Controller::drawMemory(uint64_t seed) {
  constexpr uint32_t kSeedsInOrder = 2, kOf = 4, kStoreShifts = 3, kLoadShifts = 4;
  if (seed % kOf < kSeedsInOrder)
    return;
  memoryRandom_.state = ~seed * 0x9e3779b97f4a7c15u;
  storeShift_ = 1 + memoryRandom_.below(kStoreShifts);
  loadShift_ = 1 + memoryRandom_.below(kLoadShifts);
  weak_ = std::make_unique<WeakMemory>(*this, record_);
}

bool Controller::isOutOfOrder(const ScheduleAccess &access) {
  constexpr uint32_t kNeverLoads = 4;
  const bool isLoad = access.kind == abi::AccessKind::load;
  bool isChosen = false;
  if (schedule_ == Schedule::scripted)
    isChosen = unordered_.contains({access.at, access.point});
  else if (!isLoad || loadShift_ != kNeverLoads)
    isChosen = memoryRandom_.below(1u << (isLoad ? loadShift_ : storeShift_)) == 0;
  if (!isChosen || !record_)
    return isChosen;
  if (record_->script.unordered.size() < record_->mostSwitches)
    record_->script.unordered.push_back({access.at, access.point});
  else
    record_->isCut = true;
  return true;
}

void Controller::open(GroupState &group) {
  group.nextUnstarted = group.gangCount;
  group.controlled.assign(group.gangCount, {});
  for (uint32_t i = 0; i < group.gangCount; ++i) {
    if (schedule_ == Schedule::seeded)
      group.controlled[i].priority = kUsualPriority | turn_.random.next();
    group.ready.push(&group.gangs[i]);
  }
}

bool Controller::countPoint(GangState &g) {
  if (weak_)
    weak_->settle();
  ControlledGang &state = groupOf(g).controlled[g.index];
  ++turn_.points;
  turn_.lastPlace = placeOf(g);
  turn_.lastPoint = ++state.points;
  turn_.hasYielded = false;
  if (record_)
    record_->points = turn_.points;
  if (script_.empty())
    return false;
  const auto found = script_.find({turn_.lastPlace, turn_.lastPoint});
  scripted_ = found == script_.end() ? nullptr : &found->second;
  return scripted_ != nullptr;
}

bool Controller::isToYield(GangState &g) {
  bool isAsked = countPoint(g);
  if (schedule_ == Schedule::lockstep || schedule_ == Schedule::gangs) {
    isAsked = true;
  } else if (schedule_ == Schedule::seeded && isWalk_) {
    isAsked = turn_.random.below(1u << walkShift_) == 0;
  } else if (schedule_ == Schedule::seeded) {
    const auto due =
        std::upper_bound(changes_.begin(), changes_.end(), turn_.points) - changes_.begin();
    isAsked = due > 0 && changes_[static_cast<size_t>(due) - 1] == turn_.points;
    if (isAsked)
      groupOf(g).controlled[g.index].priority = kMostChanges - static_cast<uint64_t>(due);
  }
  turn_.hasYielded = isAsked;
  return isAsked;
}

void Controller::noteWait(GangState &g) {
  if (!turn_.hasYielded) // else the point was counted when it was asked to
    countPoint(g);
}

/// What serial would do: the first in line of the group that ran last, else of the first that has
/// one.
GangState *Controller::inOrder(const std::vector<GroupState *> &inFlight) const {
  for (GroupState *group : inFlight)
    if (group->number == turn_.lastGroup && group->ready.head)
      return group->ready.head;
  for (GroupState *group : inFlight)
    if (group->ready.head)
      return group->ready.head;
  return nullptr;
}

GangState *Controller::anyOf(const std::vector<GroupState *> &inFlight) {
  const auto sizeOf = [&](const GroupState &group) {
    return group.ready.size() + (turn_.mayTakeSpinning ? group.spinning.size() : 0);
  };
  const auto groups = static_cast<uint32_t>(std::ranges::count_if(
      inFlight, [&](const GroupState *group) { return sizeOf(*group) != 0; }));
  uint32_t skip = turn_.random.below(groups);
  for (GroupState *group : inFlight)
    if (sizeOf(*group) != 0 && skip-- == 0) {
      uint32_t position = turn_.random.below(sizeOf(*group));
      const bool isReady = position < group->ready.size();
      GangState *g = isReady ? group->ready.head : group->spinning.head;
      for (position -= isReady ? 0 : group->ready.size(); position--;)
        g = g->next;
      return g;
    }
  return nullptr;
}

GangState *Controller::preferred(const std::vector<GroupState *> &inFlight) {
  GangState *best = nullptr;
  const auto isBetter = [&](const GangState &a, const GangState &b) {
    const GroupState &x = groupOf(const_cast<GangState &>(a)),
                     &y = groupOf(const_cast<GangState &>(b));
    if (schedule_ == Schedule::seeded)
      return x.controlled[a.index].priority > y.controlled[b.index].priority;
    if (x.number != y.number)
      return (x.number < y.number) == (schedule_ == Schedule::oldestFirst);
    return (a.index < b.index) == (schedule_ == Schedule::oldestFirst);
  };
  eachReady(inFlight, turn_.mayTakeSpinning, [&](GroupState &, GangState &g) {
    if (!best || isBetter(g, *best))
      best = &g;
  });
  return best;
}

/// Of the threads that ran last, the first in line.
GangState *Controller::nextOfGang(const std::vector<GroupState *> &inFlight) const {
  for (const GroupState *group : inFlight)
    for (GangState *g = group->ready.head; g; g = g->next)
      if (const GangPlace place = placeOf(*g);
          place.block == turn_.lastPlace.block &&
          place.thread / gangThreads_ == turn_.lastPlace.thread / gangThreads_)
        return g;
  return nullptr;
}

GangState *Controller::nextOfScript(const std::vector<GroupState *> &inFlight) const {
  GangState *found = nullptr;
  if (scripted_)
    eachReady(inFlight, /*withSpinning=*/true, [&](GroupState &, GangState &g) {
      if (placeOf(g) == *scripted_)
        found = &g;
    });
  return found;
}

GangState *Controller::choose(const std::vector<GroupState *> &inFlight) {
  GangState *usual = inOrder(inFlight);
  if (!usual)
    return nullptr;
  GangState *chosen = usual;
  switch (schedule_) {
  case Schedule::reverse:
  case Schedule::oldestFirst:
    chosen = preferred(inFlight);
    break;
  case Schedule::lockstep:
    for (size_t i = 0; i < inFlight.size(); ++i) // the next group that has anyone
      if (GroupState *group = inFlight[turn_.turn++ % inFlight.size()]; group->ready.head) {
        chosen = group->ready.head;
        break;
      }
    break;
  case Schedule::gangs:
    if (GangState *wanted = nextOfGang(inFlight))
      chosen = wanted;
    break;
  case Schedule::seeded:
    turn_.mayTakeSpinning = turn_.hasYielded || turn_.random.below(4) == 0;
    chosen = isWalk_ ? anyOf(inFlight) : preferred(inFlight);
    break;
  default:
    if (GangState *wanted = nextOfScript(inFlight))
      chosen = wanted;
  }
  recordChoice(*chosen, *usual);
  take(*chosen);
  scripted_ = nullptr;
  turn_.hasYielded = false;
  turn_.lastGroup = groupOf(*chosen).number;
  return chosen;
}

void Controller::recordChoice(const GangState &chosen, const GangState &usual) {
  if (!record_ || (&chosen == &usual && !turn_.hasYielded))
    return;
  if (turn_.hasYielded && placeOf(chosen) == turn_.lastPlace)
    return; // it gave way and nobody else was to go first
  if (record_->script.switches.size() < record_->mostSwitches)
    record_->script.switches.push_back({turn_.lastPlace, turn_.lastPoint, placeOf(chosen)});
  else
    record_->isCut = true;
}

void Controller::noteAccess(GangState &g, uint64_t address, uint32_t bytes, uint32_t kind,
                            uint32_t line) {
  const ScheduleAccess access{placeOf(g),
                              groupOf(g).controlled[g.index].points,
                              address,
                              bytes,
                              line,
                              static_cast<abi::AccessKind>(kind & abi::kAccessKindMask),
                              (kind & abi::kAccessShared) != 0};
  if (weak_)
    weak_->access(g, access, kind);
  if (endsHangs_ && spins_.rounds() != 0 &&
      (access.kind == abi::AccessKind::store || access.kind == abi::AccessKind::atomic))
    spins_.written(access.isShared ? hostAddressOfShared(g, address) : address, bytes);
  if (!record_ || !record_->keepsAccesses || access.kind == abi::AccessKind::fence)
    return;
  const bool isWatched = access.isShared
                             ? record_->watchBegin == 0
                             : address < record_->watchEnd && address + bytes > record_->watchBegin;
  if (!isWatched)
    return;
  if (record_->accesses.size() == record_->mostAccesses) {
    record_->isCut = true;
    return;
  }
  record_->accesses.push_back(access);
}

bool Controller::isHanging(bool hasProgressed) {
  if (!endsHangs_)
    return false;
  if (hasProgressed)
    spins_.progress();
  const bool isHang = spins_.roundIsOver(turn_.points);
  if (record_ && spins_.rounds() == 1) {
    switchesBeforeSpins_ = record_->script.switches.size();
    wasCutBeforeSpins_ = record_->isCut;
  }
  return isHang;
}

void Controller::forgetSpins() {
  if (!record_)
    return;
  record_->script.switches.resize(switchesBeforeSpins_);
  record_->isCut = wasCutBeforeSpins_;
}

void Controller::noteExit(const GangState &g) {
  if (weak_)
    weak_->exit(placeOf(g));
}

void Controller::noteIdle() {
  if (weak_)
    weak_->publishAll();
}

void Controller::close(const GroupState &group) {
  if (weak_)
    weak_->close(group);
}

void Controller::finish(bool hasFailed) {
  if (!weak_)
    return;
  if (hasFailed)
    weak_->abandon();
  weak_->publishAll();
}

} // namespace ptxrun::rt
