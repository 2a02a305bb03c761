// Many schedules of one workload: whether results differ, where first, who raced for it, and the
// shortest script that shows it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <variant>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/module_file.h"
#include "loader/ptxrun/race.h"
#include "loader/ptxrun/replay_report.h"
#include "loader/ptxrun/workload.h"

namespace ptxrun::command {

namespace {

using Clock = std::chrono::steady_clock;
using Records = std::vector<rt::ScheduleRecord>;

/// Departures are tried one by one only in scripts this short.
constexpr size_t kMostDepartures = 20000;

/// From serial order: a switch, or an access that is out of order.
struct Departure {
  uint64_t launch;
  std::variant<rt::ScheduleSwitch, rt::SchedulePoint> what;
  bool isSwitch() const { return what.index() == 0; }
};

/// A script taken apart, so that departures can be left out.
struct Departures {
  std::vector<Departure> all;
  std::vector<uint32_t> resident; ///< by launch
  std::string async;

  std::shared_ptr<const device::ScheduleFile> script(const std::vector<Departure> &some) const {
    auto file = std::make_shared<device::ScheduleFile>();
    file->async = async;
    for (size_t i = 0; i < resident.size(); ++i)
      file->launches[i].resident = resident[i];
    for (const Departure &one : some)
      if (rt::ScheduleScript &launch = file->launches[one.launch]; one.isSwitch())
        launch.switches.push_back(std::get<rt::ScheduleSwitch>(one.what));
      else
        launch.unordered.push_back(std::get<rt::SchedulePoint>(one.what));
    return file;
  }
};

Departures departuresOf(const Records &records) {
  Departures found;
  for (size_t i = 0; i < records.size(); ++i) {
    found.resident.push_back(std::max(records[i].script.resident, 1u));
    for (const rt::ScheduleSwitch &s : records[i].script.switches)
      found.all.push_back({i, s});
    for (const rt::SchedulePoint &p : records[i].script.unordered)
      found.all.push_back({i, p});
  }
  return found;
}

/// Without the accesses out of order that nobody noticed. What two late stores leave can depend on
/// others, too.
std::vector<Departure> noticed(const Departures &departures, const Records &records) {
  std::set<std::pair<uint64_t, rt::SchedulePoint>> seen;
  for (size_t i = 0; i < records.size(); ++i)
    for (const rt::UnorderedPair &pair : records[i].unordered) {
      const rt::ScheduleAccess &one = pair.isReaderEarly ? pair.reader : pair.write;
      seen.insert({i, {one.at, one.point}});
    }
  std::vector<Departure> some;
  std::ranges::copy_if(departures.all, std::back_inserter(some), [&](const Departure &one) {
    return one.isSwitch() || seen.contains({one.launch, std::get<rt::SchedulePoint>(one.what)});
  });
  return some;
}

class Exploration {
 public:
  Exploration(Workload &workload, const ExploreOptions &options)
      : workload_(workload), options_(options) {}

  bool run() {
    // A launch that hangs whatever the order is told soonest where accesses are announced.
    usual_ =
        workload_.run({.schedule = "serial", .script = std::make_shared<device::ScheduleFile>()});
    if (usual_.failure.empty() || isLate(usual_))
      usual_ = workload_.run({});
    std::printf("serial: %s\n", usual_.failure.empty() ? "the result that others are compared with"
                                                       : usual_.message.c_str());
    tryOne({.schedule = "serial, copies late", .script = lateCopies()});
    for (const char *name : device::kNamedOrders)
      tryOne({.schedule = name});
    for (uint64_t i = 0; i < options_.seeds && (options_.isThorough || !hasScriptable_); ++i)
      tryOne({.schedule = "seed:" + std::to_string(options_.firstSeed + i)});
    std::printf("%u schedules tried, %zu of them with another result\n", tried_, differing_.size());
    if (late_)
      std::printf("%u of them did not end within the time limit (--timeout): nothing is known of "
                  "these\n",
                  late_);
    if (differing_.empty())
      return true;
    explain();
    return false;
  }

 private:
  /// Nothing else than serial, but asynchronous copies happen as late as they may.
  static std::shared_ptr<const device::ScheduleFile> lateCopies() {
    auto file = std::make_shared<device::ScheduleFile>();
    file->async = "late";
    return file;
  }

  /// It ran out of time, which is no result: schedules take longer than each other.
  static bool isLate(const WorkloadResult &result) {
    return result.failure == nameOf(device::Code::timeout);
  }

  void tryOne(ScheduleTry how) {
    ++tried_;
    const WorkloadResult result = workload_.run(how);
    if (isLate(result) && !isLate(usual_)) {
      ++late_;
      return;
    }
    if (result.isSame(usual_))
      return;
    std::printf("%s: %s\n", how.schedule.c_str(), describe(result).c_str());
    // Scripts start blocks in order, so what only the reverse order shows needs another schedule.
    hasScriptable_ |= how.schedule != "reverse";
    differing_.push_back(std::move(how));
  }

  std::string describe(const WorkloadResult &result) const {
    if (result.failure != usual_.failure)
      return result.failure.empty() ? "ends without the error" : result.message;
    if (result.printed != usual_.printed)
      return "prints something else";
    for (size_t b = 0; b < result.contents.size(); ++b) {
      const std::string &now = result.contents[b], &then = usual_.contents[b];
      const auto at = std::ranges::mismatch(then, now).in1 - then.begin();
      if (static_cast<size_t>(at) < then.size())
        return "first difference: " + workload_.describeByte(b, static_cast<uint64_t>(at));
    }
    return "the same result";
  }

  bool shows(const std::shared_ptr<const device::ScheduleFile> &script) {
    ScheduleTry how;
    how.script = script;
    return !workload_.run(how).isSame(usual_);
  }

  /// The shortest script found, and what it shows.
  void explain() {
    Departures best;
    std::vector<Departure> left;
    bool hasScript = false;
    for (ScheduleTry how : differing_) {
      Records records;
      how.records = &records;
      workload_.run(how);
      const bool isCut = std::ranges::any_of(records, &rt::ScheduleRecord::isCut);
      Departures departures = departuresOf(records);
      departures.async = how.script ? how.script->async : "";
      if (isCut || !shows(departures.script(departures.all)))
        continue;
      if (std::vector<Departure> some = noticed(departures, records);
          some.size() < departures.all.size() && shows(departures.script(some)))
        departures.all = std::move(some);
      std::vector<Departure> shrunk = shrink(departures);
      if (hasScript && shrunk.size() >= left.size())
        continue;
      best = std::move(departures);
      left = std::move(shrunk);
      hasScript = true;
    }
    if (!hasScript) {
      std::printf("no script shows it; --schedule=%s does\n", differing_.front().schedule.c_str());
      return;
    }
    const auto script = best.script(left);
    const auto switches = static_cast<size_t>(std::ranges::count_if(left, &Departure::isSwitch));
    std::printf("shrunk to %zu switches", switches);
    if (left.size() > switches)
      std::printf(" and %zu accesses out of order", left.size() - switches);
    std::printf("\n");
    explainRace(script);
    writeScript(*script);
  }

  /// Leaves out halves, quarters, ... of the departures as long as the result still differs.
  std::vector<Departure> shrink(const Departures &departures) {
    std::vector<Departure> left = departures.all;
    const auto end = Clock::now() + std::chrono::duration<double>(options_.shrinkSeconds);
    if (left.empty() || left.size() > kMostDepartures || shows(departures.script({})))
      return shows(departures.script({})) ? std::vector<Departure>{} : left;
    for (size_t parts = 2; parts <= left.size() * 2 && Clock::now() < end;) {
      const size_t size = std::max<size_t>((left.size() + parts - 1) / parts, 1);
      bool isShorter = false;
      for (size_t at = 0; at < left.size() && Clock::now() < end;) {
        std::vector<Departure> rest(left.begin(), left.begin() + static_cast<long>(at));
        rest.insert(rest.end(), left.begin() + static_cast<long>(std::min(at + size, left.size())),
                    left.end());
        if (!shows(departures.script(rest))) {
          at += size;
          continue;
        }
        left = std::move(rest);
        isShorter = true;
      }
      if (size == 1 && !isShorter)
        break;
      parts = isShorter ? std::max<size_t>(parts - 1, 2) : parts * 2;
    }
    return left;
  }

  void explainRace(const std::shared_ptr<const device::ScheduleFile> &script) {
    Records usual, other;
    ScheduleTry how;
    how.keepsAccesses = true;
    how.script = std::make_shared<device::ScheduleFile>();
    how.records = &usual;
    workload_.run(how);
    how.script = script;
    how.records = &other;
    std::printf("with it: %s\n", describe(workload_.run(how)).c_str());
    for (size_t i = 0; i < std::min(usual.size(), other.size()); ++i) {
      const Workload::LaunchInfo launch = workload_.launch(i);
      if (!other[i].unordered.empty()) {
        const rt::UnorderedPair &pair = other[i].unordered.front();
        std::printf("two accesses raced in launch %zu, kernel '%s': the second does not see what "
                    "the first wrote.\nNo fence orders them, or its scope is too small "
                    "(%s out of order):\n",
                    i, launch.kernel.c_str(),
                    pair.isReaderEarly ? "the second is" : "the first is");
        print(launch, "first ", pair.write);
        print(launch, "second", pair.reader);
        return;
      }
      if (const auto race = findRace(usual[i], other[i])) {
        std::printf("two accesses raced in launch %zu, kernel '%s':\n", i, launch.kernel.c_str());
        print(launch, "first ", race->first);
        print(launch, "second", race->second);
        return;
      }
    }
  }

  static void print(const Workload::LaunchInfo &launch, const char *when,
                    const rt::ScheduleAccess &access) {
    const char *kind = access.kind == abi::AccessKind::load    ? "load"
                       : access.kind == abi::AccessKind::store ? "store"
                                                               : "atomic";
    std::printf("  %s: %s of %u bytes at %s0x%llx by %s\n      %s\n", when, kind, access.bytes,
                access.isShared ? ".shared " : "", static_cast<unsigned long long>(access.address),
                describeThread(access.at, launch.grid, launch.block).c_str(),
                describePlace(*launch.module, launch.text, access.line).c_str());
  }

  void writeScript(const device::ScheduleFile &script) {
    const std::string text = device::writeScheduleFile(script);
    std::ofstream file(options_.output);
    if (!(file << text) || !file.flush())
      throw Failed("cannot write " + options_.output);
    std::printf("--schedule=script:%s shows it every time\n", options_.output.c_str());
  }

  Workload &workload_;
  const ExploreOptions &options_;
  WorkloadResult usual_;
  std::vector<ScheduleTry> differing_;
  bool hasScriptable_ = false;
  unsigned tried_ = 0, late_ = 0;
};

} // namespace

bool explore(Workload &workload, const ExploreOptions &options) {
  return Exploration(workload, options).run();
}

} // namespace ptxrun::command
