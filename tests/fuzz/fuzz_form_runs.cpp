// Modules of random instructions of every executable form, run: the same bits at every W, in
// baseline and optimised code, as one thread at a time in baseline code gives. Which NaN of f64
// comes out of two is left open (README, "Same bits"); code that has one NaN must agree.
//
//   fuzz_form_runs [count=N] [seconds=S] [seed=N] [keep=DIR]
//
// What differs is made smaller, instruction by instruction, and written to keep.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <set>

#include "loader/device/device.h"
#include "loader/device/memory.h"
#include "tests/fuzz/long_run.h"
#include "tests/fuzz/mutations.h"
#include "tests/fuzz/random_form.h"
#include "translate/check/check.h"

namespace ptxrun::fuzz {

namespace {

constexpr uint32_t kThreads = 64, kRegisters = Choices::kExecutedRegisters;
constexpr uint32_t kInputs = 8 * kRegisters; // registers of 8 bytes and less, per thread
constexpr uint32_t kThreadBytes = 1024;      // input, then 64 bytes of its own, then output
constexpr uint32_t kOwnOffset = kInputs * 8, kOutputOffset = kOwnOffset + 128;
constexpr uint32_t kMemoryBytes = kThreads * kThreadBytes;

using tests::Mutations;

/// Forms whose result is one: no addresses that differ between launches, no clocks, no waiting, no
/// memory but the thread's.
bool isExecutable(const isa::Form &form) {
  static const std::set<std::string_view> kLeftOut = {
      "activemask",     "alloca",        "stacksave",  "stackrestore", "cvta",
      "isspacep",       "mapa",          "getctarank", "istypep",      "nanosleep",
      "brkpt",          "pmevent",       "trap",       "exit",         "ret",
      "discard",        "applypriority", "multimem",   "red",          "elect",
      "griddepcontrol", "setmaxnreg",    "fence",      "membar"};
  using isa::Effect;
  const bool hasEffect = form.effect == Effect::lane || form.effect == Effect::warp ||
                         form.effect == Effect::memory || form.effect == Effect::hint;
  const std::string_view opcode = form.opcode.substr(0, form.opcode.find('.'));
  return hasEffect && !kLeftOut.contains(opcode) && !opcode.starts_with("tcgen05") &&
         form.notation.find("async") == std::string_view::npos &&
         !form.notation.starts_with("wmma.load") && !form.notation.starts_with("wmma.store") &&
         !opcode.starts_with("wgmma") && !opcode.starts_with("cp") &&
         !opcode.starts_with("tensormap") && !opcode.starts_with("mbarrier") &&
         !opcode.starts_with("clusterlaunch") && !opcode.starts_with("su") &&
         !opcode.starts_with("tex") && !opcode.starts_with("tld") && !opcode.starts_with("txq");
}

const std::vector<const isa::Form *> &executableForms() {
  static const std::vector<const isa::Form *> all = [] {
    std::vector<const isa::Form *> found;
    for (const isa::Form &form : isa::forms())
      if (isExecutable(form))
        found.push_back(&form);
    return found;
  }();
  return all;
}

struct RegisterFile {
  const char *prefix, *type; ///< as declared
  const char *move;          ///< type of ld and st
};
constexpr RegisterFile kFiles[] = {{"%b", ".b8", ".b8"},   {"%h", ".b16", ".b16"},
                                   {"%r", ".b32", ".b32"}, {"%d", ".b64", ".b64"},
                                   {"%f", ".f32", ".f32"}, {"%e", ".f64", ".f64"}};

constexpr const char *kHead =
    ".version 9.2\n.target sm_90a\n.address_size 64\n"
    ".const .align 16 .b8 cv[128] = {1, 2, 3, 4, 5, 6, 7, 255, 128, 127};\n"
    ".shared .align 16 .b8 sv[8192];\n.visible .entry k(.param .b64 memory) {\n";

std::string declarations() {
  std::string text = ".local .align 16 .b8 lv[128];\n.reg .pred %p<4>;\n.reg .b128 %q<4>;\n"
                     ".reg .b64 %ag, %al, %am, %ao, %aw;\n.reg .b32 %as, %at;\n";
  for (const RegisterFile &file : kFiles)
    text += std::string(".reg ") + file.type + " " + file.prefix + "<4>;\n";
  return text;
}

bool isOfMatrices(const std::string &instruction) {
  return instruction.find("matrix") != std::string::npos;
}

std::string textOf(const std::vector<std::string> &instructions) {
  std::string text = kHead + declarations();
  text += "ld.param.b64 %ao, [memory];\nmov.u32 %at, %tid.x;\n"
          "mad.wide.u32 %ao, %at, " +
          std::to_string(kThreadBytes) +
          ", %ao;\n"
          "add.s64 %ag, %ao, " +
          std::to_string(kOwnOffset) +
          ";\n"
          "mov.u32 %as, sv;\nmad.lo.u32 %as, %at, 128, %as;\nmov.b64 %al, lv;\n"
          "cvt.u64.u32 %am, %as;\ncvta.shared.u64 %am, %am;\n";
  const auto at = [](uint32_t offset) { return "[%ao+" + std::to_string(offset) + "]"; };
  for (uint32_t k = 0; k < 16; ++k) { // the thread's memory begins with its input, too
    text += "ld.global.b64 %aw, " + at(8 * k) + ";\nst.shared.b64 [%as+" + std::to_string(8 * k) +
            "], %aw;\nst.local.b64 [%al+" + std::to_string(8 * k) + "], %aw;\n";
  }
  uint32_t offset = 0;
  for (const RegisterFile &file : kFiles)
    for (uint32_t k = 0; k < kRegisters; ++k, offset += 8)
      text += std::string("ld.global") + file.move + " " + file.prefix + std::to_string(k) + ", " +
              at(offset) + ";\n";
  for (uint32_t k = 0; k < kRegisters; ++k, offset += 8)
    text += "ld.global.b64 %aw, " + at(offset) + ";\nsetp.lt.s64 %p" + std::to_string(k) +
            ", %aw, 0;\n";
  for (uint32_t k = 0; k < kRegisters; ++k, offset += 8)
    text += "ld.global.b64 %aw, " + at(offset) + ";\nmov.b128 %q" + std::to_string(k) +
            ", {%aw, %aw};\n";
  for (const std::string &instruction : instructions) {
    // Rows of other threads are read and written between two barriers.
    const std::string barrier = isOfMatrices(instruction) ? "bar.warp.sync 0xffffffff;\n" : "";
    text += barrier + instruction + barrier;
  }
  offset = kOutputOffset;
  for (const RegisterFile &file : kFiles)
    for (uint32_t k = 0; k < kRegisters; ++k, offset += 8)
      text += std::string("st.global") + file.move + " " + at(offset) + ", " + file.prefix +
              std::to_string(k) + ";\n";
  for (uint32_t k = 0; k < kRegisters; ++k, offset += 8)
    text += "selp.b64 %aw, 1, 2, %p" + std::to_string(k) + ";\nst.global.b64 " + at(offset) +
            ", %aw;\n";
  for (uint32_t k = 0; k < kRegisters; ++k, offset += 8) // both halves in one
    text += "mov.b128 {%d0, %d1}, %q" + std::to_string(k) +
            ";\nxor.b64 %d0, %d0, %d1;\nst.global.b64 " + at(offset) + ", %d0;\n";
  text += "ld.shared.b64 %d0, [%as];\nld.local.b64 %d1, [%al];\nld.shared.b64 %d2, [%as+32];\n"
          "xor.b64 %d0, %d0, %d2;\nxor.b64 %d0, %d0, %d1;\n"
          "st.global.b64 " +
          at(offset) + ", %d0;\nret;\n}\n";
  return text;
}

/// Every kind of number that instructions treat in a way of its own, and any bits.
std::vector<char> inputs(Mutations &random) {
  static constexpr uint64_t kSpecials[] = {0,
                                           1,
                                           UINT64_MAX,
                                           0x80000000,
                                           0x7fffffff,
                                           0x8000000000000000,
                                           0x7fffffffffffffff,
                                           31,
                                           32,
                                           33,
                                           63,
                                           64,
                                           0x3f800000,
                                           0x7f800000,
                                           0xff800000,
                                           0x7fc00000,
                                           0x7f800001,
                                           0x00000001,
                                           0x807fffff,
                                           0x3ff0000000000000,
                                           0x7ff0000000000000,
                                           0xfff8000000000000,
                                           0x7ff0000000000001,
                                           0x000fffffffffffff,
                                           0x7c003c00,
                                           0xfc017e00,
                                           0x3f807f80,
                                           0x4f000000,
                                           0xcf000000,
                                           0x43e0000000000000};
  std::vector<char> memory(kMemoryBytes);
  for (size_t at = 0; at < memory.size(); at += 8) {
    const uint64_t any = random.below(UINT64_MAX), kind = random.below(4);
    const uint64_t value = kind == 0   ? kSpecials[random.below(std::size(kSpecials))]
                           : kind == 1 ? any % 256
                                       : any;
    std::memcpy(memory.data() + at, &value, 8);
  }
  return memory;
}

struct Run {
  device::Code code = device::Code::ok;
  std::string message;
  unsigned lanes = 0;
  std::vector<char> memory;
};

/// Device memory for the length of a launch.
class Memory {
 public:
  explicit Memory(const std::vector<char> &contents)
      : begin_(static_cast<char *>(device::allocateMemory(contents.size()))) {
    std::memcpy(begin_, contents.data(), contents.size());
  }
  ~Memory() { device::freeMemory(begin_); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  char *begin() const { return begin_; }

 private:
  char *const begin_;
};

struct Code {
  bool isOptimised = false;
  bool hasOneNan = false; ///< of f64, as code of recordings has
};

Run runAt(device::Module &module, unsigned lanes, Code code, const std::vector<char> &input) {
  const Memory memory(input);
  char *const parameter = memory.begin();
  device::LaunchOptions launch;
  launch.grid = {1, 1, 1};
  launch.block = {kThreads, 1, 1};
  launch.params = &parameter;
  launch.code.lanes = lanes;
  launch.code.hasOneDoubleNan = code.hasOneNan;
  launch.threads = 1;
  launch.timeout = std::chrono::seconds(60);
  device::Outcome outcome;
  Run run;
  const device::KernelInfo &info = module.kernels()[0];
  const device::Variant variant = module.compile(info, launch, outcome);
  if (variant.kernel)
    outcome = module.launch(info, variant, launch);
  run.code = outcome.code;
  run.message = outcome.message;
  run.lanes = variant.needs.lanes;
  run.memory.assign(memory.begin(), memory.begin() + input.size());
  return run;
}

std::unique_ptr<device::Module> load(const std::string &text, device::Tiers tiers) {
  device::LoadOptions options;
  options.useCache = false;
  options.tiers = tiers;
  device::Outcome outcome;
  return device::Module::load("forms.ptx", text, options, outcome);
}

struct Finding {
  std::string problem;    ///< empty: none
  bool isRefused = false; ///< by the checker, or a form that is not executed yet
};

Finding tryModule(const std::vector<std::string> &instructions, const std::vector<char> &input,
                  Code code) {
  const std::string text = textOf(instructions);
  const auto baseline = load(text, device::Tiers::baseline);
  if (!baseline)
    return {{}, true};
  const Run expected = runAt(*baseline, 1, code, input);
  if (expected.code == device::Code::invalidPtx)
    return {{}, true};
  if (expected.code != device::Code::ok && expected.code != device::Code::illegalAddress)
    return {"W = 1: " + expected.message, false};
  const auto optimised = code.isOptimised ? load(text, device::Tiers::optimised) : nullptr;
  for (const unsigned lanes : {8u, 16u, 32u}) {
    const Run run = runAt(optimised ? *optimised : *baseline, lanes, code, input);
    const std::string where =
        "W = " + std::to_string(lanes) + (code.isOptimised ? ", optimised: " : ", baseline: ");
    if (run.code != expected.code)
      return {where + (run.message.empty() ? "succeeds" : run.message), false};
    if (run.code != device::Code::ok)
      continue;
    const auto [mine, other] =
        std::mismatch(run.memory.begin(), run.memory.end(), expected.memory.begin());
    if (mine == run.memory.end())
      continue;
    const auto byte = static_cast<size_t>(mine - run.memory.begin());
    const auto wordAt = [&](const std::vector<char> &memory) {
      uint64_t word;
      std::memcpy(&word, memory.data() + byte / 8 * 8, sizeof word);
      char digits[20];
      std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(word));
      return std::string(digits);
    };
    return {where + "thread " + std::to_string(byte / kThreadBytes) + ", output " +
                std::to_string((static_cast<long>(byte % kThreadBytes) - long(kOutputOffset)) / 8) +
                " is " + wordAt(run.memory) + ", not " + wordAt(expected.memory),
            false};
  }
  return {};
}

/// Without the instructions that it fails without.
std::vector<std::string> reduced(std::vector<std::string> instructions,
                                 const std::vector<char> &input, Code code) {
  for (size_t k = 0; k < instructions.size();) {
    std::vector<std::string> fewer = instructions;
    fewer.erase(fewer.begin() + static_cast<long>(k));
    if (tryModule(fewer, input, code).problem.empty())
      ++k;
    else
      instructions = std::move(fewer);
  }
  return instructions;
}

/// One by one, so that one that is refused does not take the others with it.
bool isAccepted(const std::string &instruction) {
  static const std::string prologue = kHead + declarations();
  support::SourceFile source("form.ptx", prologue + instruction + "ret;\n}\n");
  support::Diagnostics diagnostics(source);
  return check::parseAndCheck(source, diagnostics) != nullptr;
}

std::vector<std::string> draw(Mutations &random) {
  const auto &forms = executableForms();
  std::vector<std::string> instructions;
  while (instructions.size() < 16) {
    uint8_t bytes[160];
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random.below(256));
    Choices choices(bytes, sizeof bytes);
    choices.isExecuted = true;
    std::string text = instructionOf(*forms[random.below(forms.size())], choices);
    if (choices.isUnusable)
      continue;
    // Rows of matrices lie in shared memory, whose generic addresses are in %am.
    if (const size_t at = text.find("[%ag"); isOfMatrices(text) && at != std::string::npos)
      text.replace(at, 4, "[%am");
    // .nc is of memory that nobody writes: the input.
    if (const size_t at = text.find("[%ag"); text.find(".nc") < at && at != std::string::npos)
      text.replace(at, 4, "[%ao");
    if (isAccepted(text))
      instructions.push_back(std::move(text));
  }
  return instructions;
}

int run(const LongRun &settings) {
  std::printf("%zu forms, seed=%llu\n", executableForms().size(),
              static_cast<unsigned long long>(settings.seed));
  std::fflush(stdout);
  const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(settings.seconds);
  uint64_t modules = 0, refused = 0, choices = 0, findings = 0;
  for (; modules < settings.count; ++modules) {
    if (settings.seconds != 0 && std::time(nullptr) >= end)
      break;
    const uint64_t seed = settings.seed + modules;
    Mutations random(seed);
    const std::vector<std::string> instructions = draw(random);
    const std::vector<char> input = inputs(random);
    Code code{.isOptimised = random.below(4) == 0};
    Finding found = tryModule(instructions, input, code);
    refused += found.isRefused;
    if (!found.problem.empty()) {
      code.hasOneNan = true;
      const Finding again = tryModule(instructions, input, code);
      choices += again.problem.empty();
      found = again;
    }
    if (found.problem.empty())
      continue;
    ++findings;
    std::string text;
    for (const std::string &instruction : reduced(instructions, input, code))
      text += instruction;
    std::printf("seed=%llu: %s\n%s", static_cast<unsigned long long>(seed), found.problem.c_str(),
                text.c_str());
    std::fflush(stdout);
    if (!settings.keep.empty())
      std::ofstream(settings.keep + "/forms-" + std::to_string(seed) + ".ptx")
          << "// " << found.problem << "\n"
          << text;
  }
  std::printf("%llu modules, %llu of them not executable, %llu with another NaN of f64, %llu "
              "differences\n",
              static_cast<unsigned long long>(modules), static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(choices), static_cast<unsigned long long>(findings));
  device::endBackground();
  return findings ? 1 : 0;
}

} // namespace

} // namespace ptxrun::fuzz

int main(int count, char **arguments) {
  ptxrun::fuzz::LongRun settings(100);
  for (int i = 1; i < count; ++i)
    if (!ptxrun::fuzz::readSetting(arguments[i], settings)) {
      std::fputs("fuzz_form_runs [count=N] [seconds=S] [seed=N] [keep=DIR]\n", stderr);
      return 2;
    }
  return ptxrun::fuzz::run(settings);
}
