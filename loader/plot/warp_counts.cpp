#include "loader/plot/warp_counts.h"

#include <algorithm>
#include <array>
#include <set>

#include "intrinsics/abi.h"

namespace ptxrun::plot {

Counts &Counts::operator+=(const Counts &o) {
  issues += o.issues;
  threads += o.threads;
  requests += o.requests;
  sectors += o.sectors;
  fullSectors += o.fullSectors;
  sharedRequests += o.sharedRequests;
  passes += o.passes;
  freePasses += o.freePasses;
  return *this;
}

uint64_t sectorsOf(const std::vector<Access> &accesses) {
  std::set<uint64_t> sectors;
  for (const Access &one : accesses)
    for (uint64_t s = one.address / kSectorBytes; s <= (one.address + one.bytes - 1) / kSectorBytes;
         ++s)
      sectors.insert(s);
  return sectors.size();
}

namespace {

/// Lanes that go over the banks together.
unsigned lanesTogether(uint32_t bytes) {
  return std::max(1u, abi::kWarpSize / std::max(1u, bytes / kBankBytes));
}

uint64_t widest(const std::vector<Access> &accesses) {
  uint32_t bytes = 0;
  for (const Access &one : accesses)
    bytes = std::max(bytes, one.bytes);
  return bytes;
}

uint64_t bytesOf(const std::vector<Access> &accesses) {
  uint64_t bytes = 0;
  for (const Access &one : accesses)
    bytes += one.bytes;
  return bytes;
}

/// What passesOf gives where no two threads want different words of one bank.
uint64_t freePassesOf(const std::vector<Access> &accesses, const std::vector<unsigned> &lanes) {
  const unsigned together = lanesTogether(static_cast<uint32_t>(widest(accesses)));
  std::set<unsigned> parts;
  for (const unsigned lane : lanes)
    parts.insert(lane / together);
  return parts.size();
}

} // namespace

uint64_t passesOf(const std::vector<Access> &accesses, const std::vector<unsigned> &lanes) {
  const unsigned together = lanesTogether(static_cast<uint32_t>(widest(accesses)));
  std::map<unsigned, std::array<std::set<uint64_t>, kBanks>> parts;
  for (size_t i = 0; i < accesses.size(); ++i)
    for (uint64_t word = accesses[i].address / kBankBytes;
         word <= (accesses[i].address + accesses[i].bytes - 1) / kBankBytes; ++word)
      parts[lanes[i] / together][word % kBanks].insert(word);
  uint64_t passes = 0;
  for (const auto &[part, banks] : parts)
    passes += std::ranges::max_element(banks, {}, &std::set<uint64_t>::size)->size();
  return passes;
}

WarpCounter::Thread &WarpCounter::threadOf(rt::SteppedThread thread) {
  const rt::GangPlace place = thread.place();
  if (!last_ || place.block != lastBlock_ || place.thread != lastThread_) {
    lastBlock_ = place.block;
    lastThread_ = place.thread;
    last_ = &blocks_[place.block][place.thread];
  }
  return *last_;
}

void WarpCounter::enter(rt::SteppedThread thread, const uint64_t *, uint32_t) {
  ++threadOf(thread).depth;
}

rt::Stepper::Answer WarpCounter::step(rt::SteppedThread thread, uint32_t instruction) {
  Thread &t = threadOf(thread);
  t.steps.push_back({instruction, t.depth, t.accesses.size()});
  isGivenUp_ = isGivenUp_ || ++steps_ > limit_;
  return isGivenUp_ ? Answer::giveUp : Answer::goOn;
}

void WarpCounter::access(rt::SteppedThread thread, uint64_t address, uint32_t bytes,
                         uint32_t kind) {
  if (bytes == 0)
    return;
  Thread &t = threadOf(thread);
  t.accesses.push_back({address, bytes});
  t.areShared.push_back(kind & abi::kAccessShared);
}

void WarpCounter::leave(rt::SteppedThread thread, bool isExit) {
  Thread &t = threadOf(thread);
  t.depth = isExit ? 0 : t.depth - 1;
}

void WarpCounter::finish() {
  for (auto &[block, threads] : blocks_) {
    std::map<uint32_t, std::vector<Thread *>> warps;
    for (auto &[number, thread] : threads) {
      std::vector<Thread *> &warp = warps[number / abi::kWarpSize];
      warp.resize(abi::kWarpSize);
      warp[number % abi::kWarpSize] = &thread;
    }
    for (auto &[number, warp] : warps)
      countWarp(warp);
  }
  blocks_.clear();
  last_ = nullptr;
  steps_ = 0;
}

void WarpCounter::countWarp(std::vector<Thread *> &warp) {
  ++warps_;
  std::vector<size_t> at(warp.size());
  for (;;) {
    // The innermost call first, there the first instruction.
    const Step *next = nullptr;
    for (unsigned lane = 0; lane < warp.size(); ++lane) {
      if (!warp[lane] || at[lane] == warp[lane]->steps.size())
        continue;
      const Step &s = warp[lane]->steps[at[lane]];
      if (!next || s.depth > next->depth ||
          (s.depth == next->depth && s.instruction < next->instruction))
        next = &s;
    }
    if (!next)
      return;
    std::vector<unsigned> lanes;
    for (unsigned lane = 0; lane < warp.size(); ++lane)
      if (warp[lane] && at[lane] < warp[lane]->steps.size() &&
          warp[lane]->steps[at[lane]].depth == next->depth &&
          warp[lane]->steps[at[lane]].instruction == next->instruction)
        lanes.push_back(lane);
    Counts &counts = counts_[next->instruction];
    ++counts.issues;
    counts.threads += lanes.size();
    countAccesses(warp, at, lanes, counts);
    for (const unsigned lane : lanes)
      ++at[lane];
  }
}

void WarpCounter::countAccesses(const std::vector<Thread *> &warp, const std::vector<size_t> &at,
                                const std::vector<unsigned> &lanes, Counts &counts) {
  // An instruction of several accesses (of a vector, of a matrix) makes as many requests.
  for (uint64_t k = 0;; ++k) {
    std::vector<Access> outside, inside;
    std::vector<unsigned> insideLanes;
    for (const unsigned lane : lanes) {
      const Thread &thread = *warp[lane];
      const uint64_t place = thread.steps[at[lane]].firstAccess + k;
      const uint64_t end = at[lane] + 1 < thread.steps.size()
                               ? thread.steps[at[lane] + 1].firstAccess
                               : thread.accesses.size();
      if (place >= end)
        continue;
      if (thread.areShared[place]) {
        inside.push_back(thread.accesses[place]);
        insideLanes.push_back(lane);
      } else {
        outside.push_back(thread.accesses[place]);
      }
    }
    if (outside.empty() && inside.empty())
      return;
    if (!outside.empty()) {
      ++counts.requests;
      counts.sectors += sectorsOf(outside);
      counts.fullSectors += (bytesOf(outside) + kSectorBytes - 1) / kSectorBytes;
    }
    if (!inside.empty()) {
      ++counts.sharedRequests;
      counts.passes += passesOf(inside, insideLanes);
      counts.freePasses += freePassesOf(inside, insideLanes);
    }
  }
}

} // namespace ptxrun::plot
