#include "loader/device/code.h"

#include <llvm/Support/Error.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "loader/device/background.h"
#include "loader/device/summary.h"
#include "rt/observe/trace.h"
#include "translate/lower/internal_error.h"

namespace ptxrun::device {

namespace {
// When better code is made. Most kernels are launched a few times on little data and never come
// here; what takes longer is waited for, so that whoever measures it finds it at its speed from the
// second launch on. Where baseline code took long to compile (5 ms are usual), better code takes
// two to five times that, in a program that may run for less: launches go on without it.

/// Time of one launch in baseline code from which on better code is made: about what that takes for
/// a short kernel, divided by how much it gains.
constexpr uint64_t kWorthNs = 1'000'000;
/// Time of launches in baseline code from which on better code is made.
constexpr uint64_t kAskNs = 300'000;
/// Neither sooner than this part of the baseline's compilation,
constexpr uint64_t kAskShare = 64;
/// and launches wait for it no sooner than they took a sixteenth of that, if it was 5 ms; of twice
/// the time twice the share, and from kPatienceNs on all of it: better code of long kernels takes
/// seconds, in which a program may have ended that goes on without it.
constexpr uint64_t kPatienceNs = 80'000'000;

/// Better code takes about so many times what the baseline's took,
constexpr uint64_t kTimesBaseline = 4;
/// and so long a wait is no reason to go on without it.
constexpr uint64_t kShortWaitNs = 80'000'000;
/// Nor is one of so many launches.
constexpr uint64_t kLaunchesWaited = 4;

uint64_t now() {
  return uint64_t(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

uint64_t waitAfter(uint64_t baselineNs) {
  const uint64_t share = std::min(baselineNs, kPatienceNs);
  return std::max(kAskNs, uint64_t(double(baselineNs) * double(share) / double(kPatienceNs)));
}

} // namespace

std::shared_ptr<const jit::Kernel> Source::compile(const std::string &kernel,
                                                   const CodeOptions &key, Outcome &outcome) {
  rt::trace::Scope traced("compile", "compile");
  const summary::Stopwatch watch;
  std::string unresolved;
  auto compiled = translated->kernel(kernel, key, [&](std::string_view name) {
    void *found = address(name);
    if (!found)
      unresolved = name;
    return found;
  });
  if (rt::trace::isOn()) {
    traced.add("kernel", rt::trace::quoted(kernel));
    traced.add("tier", key.tier == Tier::baseline ? "\"baseline\"" : "\"optimised\"");
    if (compiled) {
      traced.add("lanes", (*compiled)->code().needs.lanes);
      traced.add("cached", (*compiled)->fromCache ? "true" : "false");
    }
  }
  if (compiled && summary::isOn())
    summary::noteCompilation((*compiled)->fromCache, watch.nanoseconds());
  if (compiled && record)
    record->noteLowered(kernel);
  if (compiled)
    return *compiled;
  llvm::Error error = compiled.takeError();
  Code code = error.isA<translate::Stopped>()     ? Code::stopped
              : error.isA<lower::InternalError>() ? Code::internalError
                                                  : Code::invalidPtx;
  std::string text = llvm::toString(std::move(error));
  if (!unresolved.empty()) {
    code = Code::unresolved;
    text = "kernel '" + kernel + "' uses the variable '" + unresolved +
           "', which nothing defines: " + text;
  }
  outcome = Outcome::failed(code, std::move(text));
  return nullptr;
}

void *Source::address(std::string_view variable) const {
  if (record)
    if (void *mark = record->find(variable))
      return mark;
  return variables.find(variable);
}

std::shared_ptr<const jit::Kernel> Source::find(const std::string &kernel, const CodeOptions &key) {
  const summary::Stopwatch watch;
  auto found =
      translated->findKernel(kernel, key, [&](std::string_view name) { return address(name); });
  if (found && *found && record)
    record->noteLowered(kernel);
  if (found && *found && summary::isOn())
    summary::noteCompilation(true, watch.nanoseconds());
  if (found)
    return *found;
  llvm::consumeError(found.takeError()); // compiling it will say the same
  return nullptr;
}

Upgrade::Upgrade(std::shared_ptr<Source> source, std::string kernel, const CodeOptions &key,
                 uint64_t baselineNs)
    : source_(std::move(source)), name_(std::move(kernel)), key_(key), baselineNs_(baselineNs),
      askNs_(std::max(kAskNs, baselineNs / kAskShare)), waitNs_(waitAfter(baselineNs)) {}

bool Upgrade::isWorthWaiting(uint64_t launchNs, uint64_t baselineNs, uint64_t elapsedNs) {
  const uint64_t usual = kTimesBaseline * baselineNs;
  // It may well take twice that, and what took longer takes longer still.
  const uint64_t left =
      std::max(usual - std::min(usual, elapsedNs), std::max(usual, elapsedNs) / 2);
  return left <= kShortWaitNs || launchNs >= left / kLaunchesWaited;
}

void Upgrade::noteLaunch(uint64_t nanoseconds) {
  lastLaunchNs_.store(nanoseconds, std::memory_order_relaxed);
  const uint64_t taken = launchNs_.fetch_add(nanoseconds, std::memory_order_relaxed) + nanoseconds;
  if (taken >= askNs_ && !isDue())
    compileInBackground();
}

bool Upgrade::isDue() const {
  if (code())
    return true;
  if (launchNs_.load(std::memory_order_relaxed) < waitNs_)
    return false;
  const uint64_t asked = askedAtNs_.load(std::memory_order_relaxed);
  return isWorthWaiting(lastLaunchNs_.load(std::memory_order_relaxed), baselineNs_,
                        asked == 0 ? 0 : now() - asked);
}

void Upgrade::tellRuntime(uint64_t nanoseconds) {
  const uint64_t before = spentNs_.fetch_add(nanoseconds, std::memory_order_relaxed);
  if (before + nanoseconds >= std::max(kWorthNs, askNs_))
    compileInBackground();
}

void Upgrade::compileInBackground() {
  if (isAsked_.exchange(true, std::memory_order_relaxed))
    return;
  askedAtNs_.store(now(), std::memory_order_relaxed);
  runInBackground([upgrade = weak_from_this()] {
    if (const std::shared_ptr<Upgrade> wanted = upgrade.lock())
      wanted->finish();
  });
}

std::shared_ptr<const jit::Kernel> Upgrade::finish() {
  isAsked_.store(true, std::memory_order_relaxed);
  Outcome outcome;
  std::shared_ptr<const jit::Kernel> made = source_->compile(name_, key_, outcome);
  if (!made) {
    if (!hasFailed_.exchange(true))
      std::fprintf(stderr, "ptxrun: %s; baseline code goes on\n", outcome.message.c_str());
    return nullptr;
  }
  std::lock_guard lock(mutex_);
  kernel_ = made;
  code_.store(&made->code(), std::memory_order_release);
  return made;
}

std::shared_ptr<const jit::Kernel> Upgrade::kernel() const {
  std::lock_guard lock(mutex_);
  return kernel_;
}

} // namespace ptxrun::device
