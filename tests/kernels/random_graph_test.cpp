// Random control-flow graphs, irreducible ones among them, as PTX and as data that a small
// interpreter runs. Every thread takes its own way; what it ends with must be the interpreter's
// result at every W.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "loader/device/device.h"
#include "loader/device/memory.h"
#include "tests/tiers.h"

namespace ptxrun {
namespace {

constexpr unsigned kRegisters = 5;
constexpr unsigned kThreads = 2 * 80; // two blocks of 80: the last warp is half full

struct Step {
  enum Operation { add, exclusiveOr, multiplyAdd, shift, count } operation;
  unsigned to, from;
  uint32_t constant;
};

struct Block {
  std::vector<Step> steps;
  bool readsMemory = false, writesMemory = false; ///< of a slot of the thread's own
  unsigned tested = 0;
  uint32_t mask = 1;
  unsigned taken = 0, fallen = 0; ///< successors
  bool isConditional = true;
};

struct Graph {
  std::vector<Block> blocks;
  unsigned fuel = 60;
};

Graph randomGraph(uint32_t seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  Graph graph;
  graph.blocks.resize(3 + below(14));
  graph.fuel = 20 + below(80);
  unsigned count = static_cast<unsigned>(graph.blocks.size());
  for (Block &block : graph.blocks) {
    for (unsigned k = below(4); k-- > 0;)
      block.steps.push_back({static_cast<Step::Operation>(below(Step::count)), below(kRegisters),
                             below(kRegisters), static_cast<uint32_t>(random())});
    block.readsMemory = below(5) == 0;
    block.writesMemory = below(5) == 0;
    block.tested = below(kRegisters);
    block.mask = 1u << below(6) | (below(3) ? 0 : 1u << below(6));
    block.taken = below(count);
    block.fallen = below(count);
    block.isConditional = below(6) != 0;
  }
  return graph;
}

std::vector<uint32_t> interpret(const Graph &graph, uint32_t thread) {
  uint32_t r[kRegisters], slot = thread * 77;
  for (unsigned k = 0; k < kRegisters; ++k)
    r[k] = (thread + 1) * 2654435761u >> k * 3;
  unsigned at = 0;
  for (unsigned fuel = graph.fuel; fuel > 0; --fuel) {
    const Block &block = graph.blocks[at];
    for (const Step &step : block.steps) {
      uint32_t &to = r[step.to], from = r[step.from];
      switch (step.operation) {
      case Step::add:
        to += from + (step.constant & 255);
        break;
      case Step::exclusiveOr:
        to ^= from >> 1;
        break;
      case Step::multiplyAdd:
        to = to * (step.constant | 1) + from;
        break;
      case Step::shift:
        to = (to >> (step.constant & 15)) + thread;
        break;
      case Step::count:
        break;
      }
    }
    if (block.writesMemory)
      slot = r[block.tested];
    if (block.readsMemory)
      r[(block.tested + 1) % kRegisters] ^= slot;
    bool isTaken = !block.isConditional || (r[block.tested] & block.mask) == 0;
    at = isTaken ? block.taken : block.fallen;
  }
  return {r[0], r[1], r[2], r[3], r[4], slot};
}

std::string blockText(const Block &block, unsigned number) {
  auto reg = [](unsigned k) { return "%r" + std::to_string(k); };
  std::string text = "B" + std::to_string(number) + ":\n";
  text += "  setp.eq.u32 %p1, %fuel, 0;\n  @%p1 bra DONE;\n  sub.u32 %fuel, %fuel, 1;\n";
  for (const Step &step : block.steps) {
    std::string to = reg(step.to), from = reg(step.from);
    switch (step.operation) {
    case Step::add:
      text += "  add.u32 " + to + ", " + to + ", " + from + ";\n  add.u32 " + to + ", " + to +
              ", " + std::to_string(step.constant & 255) + ";\n";
      break;
    case Step::exclusiveOr:
      text += "  shr.u32 %t, " + from + ", 1;\n  xor.b32 " + to + ", " + to + ", %t;\n";
      break;
    case Step::multiplyAdd:
      text += "  mad.lo.u32 " + to + ", " + to + ", " + std::to_string(step.constant | 1) + ", " +
              from + ";\n";
      break;
    case Step::shift:
      text += "  shr.u32 " + to + ", " + to + ", " + std::to_string(step.constant & 15) +
              ";\n  add.u32 " + to + ", " + to + ", %thread;\n";
      break;
    case Step::count:
      break;
    }
  }
  if (block.writesMemory)
    text += "  st.global.u32 [%out+20], " + reg(block.tested) + ";\n";
  if (block.readsMemory) {
    std::string to = reg((block.tested + 1) % kRegisters);
    text += "  ld.global.u32 %t, [%out+20];\n  xor.b32 " + to + ", " + to + ", %t;\n";
  }
  std::string taken = "B" + std::to_string(block.taken),
              fallen = "B" + std::to_string(block.fallen);
  if (!block.isConditional)
    return text + "  bra " + taken + ";\n";
  text += "  and.b32 %t, " + reg(block.tested) + ", " + std::to_string(block.mask) +
          ";\n  setp.eq.u32 %p1, %t, 0;\n";
  return text + "  @%p1 bra " + taken + ";\n  bra " + fallen + ";\n";
}

std::string moduleText(const Graph &graph) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry graph(.param .u64 out)\n{\n"
      "  .reg .pred %p<2>;\n  .reg .b32 %r<5>, %t, %fuel, %thread;\n  .reg .b64 %out, %o;\n"
      "  mov.u32 %thread, %ctaid.x;\n  mov.u32 %t, %ntid.x;\n  mov.u32 %r0, %tid.x;\n"
      "  mad.lo.u32 %thread, %thread, %t, %r0;\n  ld.param.u64 %out, [out];\n"
      "  mul.wide.u32 %o, %thread, 24;\n  add.u64 %out, %out, %o;\n"
      "  mul.lo.u32 %t, %thread, 77;\n  st.global.u32 [%out+20], %t;\n"
      "  add.u32 %t, %thread, 1;\n  mul.lo.u32 %t, %t, 2654435761;\n";
  for (unsigned k = 0; k < kRegisters; ++k)
    text += "  shr.u32 %r" + std::to_string(k) + ", %t, " + std::to_string(k * 3) + ";\n";
  text += "  mov.u32 %fuel, " + std::to_string(graph.fuel) + ";\n";
  for (unsigned k = 0; k < graph.blocks.size(); ++k)
    text += blockText(graph.blocks[k], k);
  text += "DONE:\n";
  for (unsigned k = 0; k < kRegisters; ++k)
    text += "  st.global.u32 [%out+" + std::to_string(4 * k) + "], %r" + std::to_string(k) + ";\n";
  return text + "  ret;\n}\n";
}

void check(uint32_t seed, unsigned lanes) {
  Graph graph = randomGraph(seed);
  std::string text = moduleText(graph);
  device::Outcome outcome;
  device::LoadOptions loadOptions;
  loadOptions.useCache = false;
  loadOptions.tiers = wantedTiers();
  auto module = device::Module::load("graph.ptx", text, loadOptions, outcome);
  ASSERT_TRUE(module) << outcome.message << text;
  auto *out = static_cast<uint32_t *>(device::allocateMemory(kThreads * 24));
  device::LaunchOptions options;
  options.grid = {2, 1, 1};
  options.block = {kThreads / 2, 1, 1};
  options.params = &out;
  options.code.lanes = lanes;
  options.timeout = std::chrono::seconds(20);
  outcome = module->launch(*module->findKernel("graph"), options);
  EXPECT_TRUE(outcome.isOk()) << outcome.message << text;
  bool isSame = outcome.isOk();
  for (uint32_t thread = 0; thread < kThreads && isSame; ++thread) {
    auto expected = interpret(graph, thread);
    for (unsigned k = 0; k < 6 && isSame; ++k) {
      isSame = out[thread * 6 + k] == expected[k];
      EXPECT_EQ(out[thread * 6 + k], expected[k])
          << "thread " << thread << ", value " << k << ", seed " << seed << "\n"
          << text;
    }
  }
  device::freeMemory(out);
}

class RandomGraphs : public testing::TestWithParam<uint32_t> {};
TEST_P(RandomGraphs, W1) { check(GetParam(), 1); }
TEST_P(RandomGraphs, W8) { check(GetParam(), 8); }
TEST_P(RandomGraphs, W16) { check(GetParam(), 16); }
TEST_P(RandomGraphs, W32) { check(GetParam(), 32); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(1u, 61u));

} // namespace
} // namespace ptxrun
