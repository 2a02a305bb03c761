#include "loader/ptxrun/race.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace ptxrun::command {

namespace {

using Granule = std::tuple<bool, uint64_t, uint64_t>; ///< shared?, block (shared), address / 4
using Who = std::pair<rt::GangPlace, uint64_t>;

Granule granuleOf(const rt::ScheduleAccess &access, uint64_t address) {
  return {access.isShared, access.isShared ? access.at.block : 0, address / 4};
}

bool isWrite(const rt::ScheduleAccess &access) { return access.kind != abi::AccessKind::load; }

/// What each access of a run follows.
struct Follows {
  std::map<std::pair<Granule, Who>, const rt::ScheduleAccess *> writeBefore; ///< null: none
  std::map<std::pair<Granule, Who>, size_t> position;
};

template <class Visit> void eachGranule(const rt::ScheduleAccess &access, Visit visit) {
  if (access.bytes == 0 || access.kind == abi::AccessKind::other)
    return;
  for (uint64_t at = access.address / 4; at <= (access.address + access.bytes - 1) / 4; ++at)
    visit(granuleOf(access, at * 4));
}

Follows followsOf(const rt::ScheduleRecord &record) {
  Follows found;
  std::map<Granule, const rt::ScheduleAccess *> last;
  for (size_t i = 0; i < record.accesses.size(); ++i) {
    const rt::ScheduleAccess &access = record.accesses[i];
    eachGranule(access, [&](const Granule &granule) {
      const std::pair key{granule, Who{access.at, access.point}};
      const auto before = last.find(granule);
      found.writeBefore[key] = before == last.end() ? nullptr : before->second;
      found.position[key] = i;
      if (isWrite(access))
        last[granule] = &access;
    });
  }
  return found;
}

bool isSameAccess(const rt::ScheduleAccess *a, const rt::ScheduleAccess *b) {
  return (!a && !b) || (a && b && a->at == b->at && a->point == b->point);
}

/// Points count what a schedule adds too, so that they can differ between runs: accesses are
/// numbered per thread instead.
void renumber(rt::ScheduleRecord &record) {
  std::map<rt::GangPlace, uint64_t> counts;
  for (rt::ScheduleAccess &access : record.accesses)
    access.point = ++counts[access.at];
}

} // namespace

std::optional<Race> findRace(const rt::ScheduleRecord &usualRecord,
                             const rt::ScheduleRecord &otherRecord) {
  rt::ScheduleRecord usualRun = usualRecord, otherRun = otherRecord;
  renumber(usualRun);
  renumber(otherRun);
  const Follows usual = followsOf(usualRun), other = followsOf(otherRun);
  for (const rt::ScheduleAccess &access : otherRun.accesses) {
    std::optional<Race> race;
    eachGranule(access, [&](const Granule &granule) {
      const std::pair key{granule, Who{access.at, access.point}};
      const auto then = usual.writeBefore.find(key);
      const rt::ScheduleAccess *now = other.writeBefore.at(key);
      if (race || then == usual.writeBefore.end() || isSameAccess(then->second, now))
        return;
      // The write that has changed sides: it comes before now and did not then, or the other way
      // round.
      const auto wasBefore = [&](const rt::ScheduleAccess *write, const Follows &run) {
        const auto at = run.position.find({granule, Who{write->at, write->point}});
        const auto here = run.position.find(key);
        return at != run.position.end() && here != run.position.end() && at->second < here->second;
      };
      if (now && now->at != access.at && !wasBefore(now, usual))
        race = Race{*now, access};
      else if (then->second && then->second->at != access.at && !wasBefore(then->second, other))
        race = Race{access, *then->second};
    });
    if (race)
      return race;
  }
  return std::nullopt;
}

} // namespace ptxrun::command
