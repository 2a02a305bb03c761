#include "tests/kernels/cases.h"

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

namespace onhost {

Thread self;

namespace {

namespace context = boost::context;

struct Exit {};

enum class State { ready, atWarp, atBarrier, done };

struct Fiber {
  context::fiber fiber;
  Thread thread;
  State state = State::ready;
  unsigned mask = 0; ///< atWarp: who is to meet
  uint64_t value = 0;
  uint64_t seen[32] = {};
  unsigned members = 0;
  unsigned barrier = 0, wanted = 0; ///< atBarrier
  int predicate = 0, count = 0;
};

/// The block that runs, its threads in linear order.
struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::map<unsigned, unsigned> arrivals; ///< of bar.arrive, per barrier
  std::vector<char> shared;
  context::fiber scheduler;
  Fiber *running = nullptr;
};
Block *current = nullptr;

void switchToScheduler() { current->scheduler = std::move(current->scheduler).resume(); }

void run(Fiber &fiber) {
  current->running = &fiber;
  self = fiber.thread;
  fiber.fiber = std::move(fiber.fiber).resume();
}

/// Lets every warp meeting happen that is complete. Returns whether any was.
bool resolveWarps(Block &block) {
  bool isAny = false;
  for (auto &fiber : block.fibers) {
    if (fiber->state != State::atWarp)
      continue;
    size_t first = fiber->thread.linear / 32 * 32;
    unsigned present = 0;
    bool isComplete = true;
    for (size_t k = 0; k < 32 && first + k < block.fibers.size(); ++k) {
      Fiber &other = *block.fibers[first + k];
      if (!(fiber->mask >> k & 1) || other.state == State::done)
        continue;
      if (other.state == State::atWarp && other.mask == fiber->mask)
        present |= 1u << k;
      else
        isComplete = false;
    }
    if (!isComplete)
      continue;
    isAny = true;
    for (unsigned k = 0; k < 32; ++k) {
      if (!(present >> k & 1))
        continue;
      Fiber &member = *block.fibers[first + k];
      for (unsigned j = 0; j < 32; ++j)
        member.seen[j] = present >> j & 1 ? block.fibers[first + j]->value : 0;
      member.members = present;
    }
    for (unsigned k = 0; k < 32; ++k)
      if (present >> k & 1)
        block.fibers[first + k]->state = State::ready;
  }
  return isAny;
}

bool resolveBarriers(Block &block) {
  std::map<unsigned, std::vector<Fiber *>> waiting;
  unsigned live = 0;
  for (auto &fiber : block.fibers) {
    live += fiber->state != State::done;
    if (fiber->state == State::atBarrier)
      waiting[fiber->barrier].push_back(fiber.get());
  }
  bool isAny = false;
  for (auto &[id, fibers] : waiting) {
    unsigned wanted = fibers[0]->wanted ? fibers[0]->wanted : live;
    if (fibers.size() + block.arrivals[id] < wanted)
      continue;
    isAny = true;
    block.arrivals[id] = 0;
    int count = 0;
    for (Fiber *fiber : fibers)
      count += fiber->predicate;
    for (Fiber *fiber : fibers)
      fiber->count = count, fiber->state = State::ready;
  }
  return isAny;
}

void runBlock(Block &block) {
  current = &block;
  for (bool isAnyLeft = true; isAnyLeft;) {
    isAnyLeft = false;
    bool isAnyRun = false;
    for (auto &fiber : block.fibers) {
      if (fiber->state == State::ready)
        run(*fiber), isAnyRun = true;
      isAnyLeft |= fiber->state != State::done;
    }
    bool isMet = resolveWarps(block);
    bool isReleased = resolveBarriers(block);
    if (isAnyLeft && !isAnyRun && !isMet && !isReleased) {
      std::fprintf(
          stderr,
          "the reference execution of a kernel cannot go on: its threads wait for each other\n");
      std::abort();
    }
  }
  current = nullptr;
}

} // namespace

std::vector<Case> &cases() {
  static std::vector<Case> all;
  return all;
}

void *dynamicShared() { return current->shared.data(); }

void yield() { switchToScheduler(); }

static int waitAtBarrier(unsigned id, unsigned threads, int predicate) {
  Fiber &fiber = *current->running;
  fiber.barrier = id;
  fiber.wanted = threads;
  fiber.predicate = predicate;
  fiber.state = State::atBarrier;
  switchToScheduler();
  return fiber.count;
}

void barrier(unsigned id, unsigned threads) { waitAtBarrier(id, threads, 0); }
int barrierCount(int predicate) { return waitAtBarrier(0, 0, predicate); }
void arrive(unsigned id, unsigned) { ++current->arrivals[id]; }

unsigned meet(unsigned mask, uint64_t value, uint64_t *all) {
  Fiber &fiber = *current->running;
  fiber.mask = mask;
  fiber.value = value;
  fiber.state = State::atWarp;
  switchToScheduler();
  std::memcpy(all, fiber.seen, sizeof fiber.seen);
  return fiber.members;
}

unsigned activeMask() { return 1u << lane(); }
void exitThread() { throw Exit{}; }

void runGrid(Shape grid, Shape shape, unsigned sharedBytes, const std::function<void()> &body) {
  unsigned threads = shape.x * shape.y * shape.z;
  for (unsigned index = 0; index < grid.x * grid.y * grid.z; ++index) {
    Block block;
    block.shared.resize(sharedBytes + 16);
    for (unsigned t = 0; t < threads; ++t) {
      auto fiber = std::make_unique<Fiber>();
      Fiber *its = fiber.get();
      its->thread.threadIdx = {t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y};
      its->thread.blockIdx = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
      its->thread.blockDim = {shape.x, shape.y, shape.z};
      its->thread.gridDim = {grid.x, grid.y, grid.z};
      its->thread.linear = t;
      its->fiber = context::fiber(std::allocator_arg, context::fixedsize_stack(128 * 1024),
                                  [&block, &body, its](context::fiber &&from) {
                                    block.scheduler = std::move(from);
                                    try {
                                      body();
                                    } catch (const Exit &) {
                                    }
                                    its->state = State::done;
                                    return std::move(block.scheduler);
                                  });
      block.fibers.push_back(std::move(fiber));
    }
    runBlock(block);
  }
}

} // namespace onhost
