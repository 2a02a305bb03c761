// Random programs with barriers, as PTX and as data that a small interpreter runs on all threads of
// a block at once. What decides where the barriers are is the same for all threads; between them
// every thread goes its own way. Results must be the interpreter's at every W, region by region and
// gang by gang.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "loader/device/device.h"
#include "loader/device/memory.h"
#include "tests/tiers.h"

namespace ptxrun {
namespace {

constexpr unsigned kRegisters = 4;

struct Statement {
  enum Kind {
    mix,
    exchange,
    count,
    sharedRow,
    ownArray,
    threadIf,
    threadLoop,
    blockIf,
    blockLoop
  } kind;
  unsigned a = 0, b = 0; // registers
  uint32_t constant = 0;
  std::vector<Statement> body;
};
using Program = std::vector<Statement>;

struct Shape {
  unsigned x, y;
  unsigned threads() const { return x * y; }
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Shape shape() {
    constexpr Shape kShapes[] = {{64, 1}, {16, 16}, {128, 1}, {32, 4}, {40, 1}, {8, 8}};
    return kShapes[below(6)];
  }
  Program program(unsigned depth, bool mayWait) {
    Program p;
    for (unsigned n = 2 + below(4); n-- > 0;)
      p.push_back(statement(depth, mayWait));
    return p;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }

  Statement statement(unsigned depth, bool mayWait) {
    constexpr Statement::Kind kPlain[] = {Statement::mix, Statement::mix, Statement::ownArray};
    constexpr Statement::Kind kWaiting[] = {Statement::exchange, Statement::exchange,
                                            Statement::count, Statement::sharedRow};
    constexpr Statement::Kind kNested[] = {Statement::threadIf, Statement::threadLoop,
                                           Statement::blockIf, Statement::blockLoop,
                                           Statement::blockLoop};
    Statement s{
        Statement::mix, below(kRegisters), below(kRegisters), static_cast<uint32_t>(random_()), {}};
    unsigned choice = below(10);
    if (depth > 0 && choice < 4)
      s.kind = kNested[below(mayWait ? 5 : 2)];
    else if (mayWait && choice < 8)
      s.kind = kWaiting[below(4)];
    else
      s.kind = kPlain[below(3)];
    if (s.kind >= Statement::threadIf)
      s.body = program(depth - 1, mayWait && s.kind >= Statement::blockIf);
    return s;
  }

  std::mt19937 random_;
};

/// All threads of block `block`, one statement at a time.
class Interpreter {
 public:
  Interpreter(Shape shape, uint32_t block, uint32_t parameter)
      : shape_(shape), parameter_(parameter), shared_(shape.threads()), r_(shape.threads()),
        own_(shape.threads()) {
    for (uint32_t t = 0; t < shape.threads(); ++t)
      for (unsigned k = 0; k < kRegisters; ++k)
        r_[t][k] = ((block * shape.threads() + t + 1) * 2654435761u) >> (k * 5);
  }
  void run(const Program &p) {
    for (const Statement &s : p)
      runOne(s);
  }
  uint32_t result(uint32_t t, unsigned k) const { return r_[t][k] + (k < 2 ? own_[t][k] : 0); }

 private:
  using Registers = std::array<uint32_t, kRegisters>;

  void runOne(const Statement &s) {
    const uint32_t n = shape_.threads();
    switch (s.kind) {
    case Statement::exchange:
      for (uint32_t t = 0; t < n; ++t)
        shared_[t] = r_[t][s.a];
      for (uint32_t t = 0; t < n; ++t)
        r_[t][s.b] ^= shared_[(t * ((s.constant & 6) + 1) + (s.constant >> 8 & 255)) % n];
      return;
    case Statement::count: {
      uint32_t set = 0;
      for (uint32_t t = 0; t < n; ++t)
        set += r_[t][s.a] >> (s.constant & 15) & 1;
      for (uint32_t t = 0; t < n; ++t)
        r_[t][s.b] += set;
      return;
    }
    case Statement::sharedRow:
      for (uint32_t t = 0; t < n; ++t)
        shared_[t] = r_[t][s.a];
      for (uint32_t t = 0; t < n; ++t)
        for (uint32_t k = 0; k < shape_.y; ++k)
          r_[t][s.b] = r_[t][s.b] * 5 + shared_[k * shape_.x + t % shape_.x];
      return;
    case Statement::blockIf:
      if (parameter_ >> (s.constant & 7) & 1)
        run(s.body);
      return;
    case Statement::blockLoop:
      for (uint32_t k = 0; k < rounds(s); ++k)
        run(s.body);
      return;
    default:
      for (uint32_t t = 0; t < n; ++t)
        runThread(s, t);
    }
  }

  uint32_t rounds(const Statement &s) const {
    return s.constant & 8 ? parameter_ & 3 : s.constant % 3;
  }

  void runThread(const Statement &s, uint32_t t) {
    Registers &r = r_[t];
    if (s.kind == Statement::mix) {
      r[s.a] = r[s.a] * (s.constant | 1) + (r[s.b] >> 3) + t;
    } else if (s.kind == Statement::ownArray) {
      own_[t][r[s.a] & 3] += r[s.b];
      r[s.a] ^= own_[t][s.constant & 3];
    } else if (s.kind == Statement::threadIf) {
      if (r[s.a] & (1u << (s.constant & 7)))
        for (const Statement &inner : s.body)
          runThread(inner, t);
    } else {
      for (uint32_t k = r[s.a] & 3; k > 0; --k)
        for (const Statement &inner : s.body)
          runThread(inner, t);
    }
  }

  const Shape shape_;
  const uint32_t parameter_;
  std::vector<uint32_t> shared_;
  std::vector<Registers> r_;
  std::vector<std::array<uint32_t, 4>> own_;
};

class Writer {
 public:
  explicit Writer(Shape shape) : shape_(shape) {}

  std::string module(const Program &p) {
    program(p);
    std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry program(.param .u64 out, .param .u32 parameter)\n{\n  .reg .pred %p;\n"
        "  .reg .b32 %r<4>, %t, %u, %thread, %x, %y, %n, %parameter, %tile;\n  .reg .b64 %out, %o, "
        "%own, %place;\n"
        "  .shared .align 4 .b8 tile[" +
        std::to_string(4 * shape_.threads()) + "];\n  .local .align 4 .b8 own[16];\n" +
        declarations_ +
        "  mov.u32 %x, %tid.x;\n  mov.u32 %y, %tid.y;\n  mov.u32 %t, %ntid.x;\n  mad.lo.u32 "
        "%thread, %y, %t, %x;\n"
        "  mov.u32 %n, " +
        std::to_string(shape_.threads()) +
        ";\n  mov.u32 %tile, tile;\n  mov.u64 %own, own;\n"
        "  ld.param.u64 %out, [out];\n  ld.param.u32 %parameter, [parameter];\n  mov.u32 %t, "
        "%ctaid.x;\n"
        "  mad.lo.u32 %u, %t, %n, %thread;\n  mul.wide.u32 %o, %u, 16;\n  add.u64 %out, %out, %o;\n"
        "  add.u32 %u, %u, 1;\n  mul.lo.u32 %u, %u, 2654435761;\n";
    for (unsigned k = 0; k < kRegisters; ++k)
      text += "  shr.u32 %r" + std::to_string(k) + ", %u, " + std::to_string(5 * k) +
              ";\n  mov.u32 %t, 0;\n  st.local.u32 [%own+" + std::to_string(4 * k) + "], %t;\n";
    text += text_;
    for (unsigned k = 0; k < kRegisters; ++k) {
      if (k < 2)
        text += "  ld.local.u32 %t, [%own+" + std::to_string(4 * k) + "];\n  add.u32 " + reg(k) +
                ", " + reg(k) + ", %t;\n";
      text += "  st.global.u32 [%out+" + std::to_string(4 * k) + "], " + reg(k) + ";\n";
    }
    return text + "  ret;\n}\n";
  }

 private:
  static std::string reg(unsigned k) { return "%r" + std::to_string(k); }
  std::string label() { return "L" + std::to_string(labels_++); }
  std::string counter() {
    std::string name = "%k" + std::to_string(counters_++);
    declarations_ += "  .reg .b32 " + name + ";\n";
    return name;
  }
  void line(const std::string &l) { text_ += "  " + l + ";\n"; }
  void mark(const std::string &l) { text_ += l + ":\n"; }

  void program(const Program &p) {
    for (const Statement &s : p)
      statement(s);
  }
  void publish(unsigned r) {
    line("shl.b32 %t, %thread, 2");
    line("add.u32 %t, %tile, %t");
    line("st.shared.u32 [%t], " + reg(r));
    line("bar.sync 0");
  }
  void loop(const std::string &rounds, const Program &body) {
    std::string k = counter(), head = label(), end = label();
    line("mov.u32 " + k + ", " + rounds);
    mark(head);
    line("setp.eq.u32 %p, " + k + ", 0");
    line("@%p bra " + end);
    program(body);
    line("sub.u32 " + k + ", " + k + ", 1");
    line("bra " + head);
    mark(end);
  }

  void statement(const Statement &s) {
    const std::string a = reg(s.a), b = reg(s.b);
    switch (s.kind) {
    case Statement::mix:
      line("shr.u32 %t, " + b + ", 3");
      line("add.u32 %t, %t, %thread");
      line("mad.lo.u32 " + a + ", " + a + ", " + std::to_string(s.constant | 1) + ", %t");
      return;
    case Statement::exchange:
      publish(s.a);
      line("mul.lo.u32 %t, %thread, " + std::to_string((s.constant & 6) + 1));
      line("add.u32 %t, %t, " + std::to_string(s.constant >> 8 & 255));
      line("rem.u32 %t, %t, %n");
      line("shl.b32 %t, %t, 2");
      line("add.u32 %t, %tile, %t");
      line("ld.shared.u32 %t, [%t]");
      line("xor.b32 " + b + ", " + b + ", %t");
      line("bar.sync 0");
      return;
    case Statement::count:
      line("shr.u32 %t, " + a + ", " + std::to_string(s.constant & 15));
      line("and.b32 %t, %t, 1");
      line("setp.ne.u32 %p, %t, 0");
      line("bar.red.popc.u32 %t, 0, %p");
      line("add.u32 " + b + ", " + b + ", %t");
      return;
    case Statement::sharedRow: {
      publish(s.a);
      std::string at = counter(), k = counter(), head = label();
      line("shl.b32 " + at + ", %x, 2");
      line("add.u32 " + at + ", %tile, " + at);
      line("mov.u32 " + k + ", 0");
      mark(head);
      line("ld.shared.u32 %t, [" + at + "]");
      line("mad.lo.u32 " + b + ", " + b + ", 5, %t");
      line("add.u32 " + at + ", " + at + ", " + std::to_string(4 * shape_.x));
      line("add.u32 " + k + ", " + k + ", 1");
      line("setp.lt.u32 %p, " + k + ", " + std::to_string(shape_.y));
      line("@%p bra " + head);
      line("bar.sync 0");
      return;
    }
    case Statement::ownArray:
      line("and.b32 %t, " + a + ", 3");
      line("mul.wide.u32 %place, %t, 4");
      line("add.u64 %place, %own, %place");
      line("ld.local.u32 %u, [%place]");
      line("add.u32 %u, %u, " + b);
      line("st.local.u32 [%place], %u");
      line("ld.local.u32 %u, [%own+" + std::to_string(4 * (s.constant & 3)) + "]");
      line("xor.b32 " + a + ", " + a + ", %u");
      return;
    case Statement::threadIf:
    case Statement::blockIf: {
      std::string end = label();
      line("and.b32 %t, " + (s.kind == Statement::blockIf ? std::string("%parameter") : a) + ", " +
           std::to_string(1u << (s.constant & 7)));
      line("setp.eq.u32 %p, %t, 0");
      line("@%p bra " + end);
      program(s.body);
      mark(end);
      return;
    }
    case Statement::threadLoop:
      line("and.b32 %t, " + a + ", 3");
      loop("%t", s.body);
      return;
    case Statement::blockLoop:
      if (s.constant & 8)
        line("and.b32 %t, %parameter, 3");
      loop(s.constant & 8 ? "%t" : std::to_string(s.constant % 3), s.body);
      return;
    }
  }

  const Shape shape_;
  std::string text_, declarations_;
  unsigned labels_ = 0, counters_ = 0;
};

void check(uint32_t seed, unsigned lanes, rt::Schedule schedule = rt::Schedule::fast) {
  Generator generator(seed);
  const Shape shape = generator.shape();
  const Program program = generator.program(3, true);
  const std::string text = Writer(shape).module(program);
  const uint32_t parameter = seed * 2654435761u >> 7;
  constexpr uint32_t kBlocks = 3;
  device::Outcome outcome;
  device::LoadOptions loadOptions;
  loadOptions.useCache = false;
  loadOptions.tiers = wantedTiers();
  auto module = device::Module::load("program.ptx", text, loadOptions, outcome);
  ASSERT_TRUE(module) << outcome.message << text;
  auto *out = static_cast<uint32_t *>(device::allocateMemory(kBlocks * shape.threads() * 16));
  struct {
    uint32_t *out;
    uint32_t parameter;
  } params{out, parameter};
  device::LaunchOptions options;
  options.grid = {kBlocks, 1, 1};
  options.block = {shape.x, shape.y, 1};
  options.params = &params;
  options.code.lanes = lanes;
  options.schedule = schedule;
  options.seed = seed;
  options.timeout = std::chrono::seconds(20);
  outcome = module->launch(*module->findKernel("program"), options);
  EXPECT_TRUE(outcome.isOk()) << outcome.message << text;
  bool isSame = outcome.isOk();
  for (uint32_t block = 0; block < kBlocks && isSame; ++block) {
    Interpreter expected(shape, block, parameter);
    expected.run(program);
    for (uint32_t t = 0; t < shape.threads() && isSame; ++t)
      for (unsigned k = 0; k < kRegisters && isSame; ++k) {
        const uint32_t got = out[(block * shape.threads() + t) * kRegisters + k];
        isSame = got == expected.result(t, k);
        EXPECT_EQ(got, expected.result(t, k))
            << "block " << block << ", thread " << t << ", value " << k << ", seed " << seed
            << ", parameter " << parameter << "\n"
            << text;
      }
  }
  device::freeMemory(out);
}

class RandomBarriers : public testing::TestWithParam<uint32_t> {};
TEST_P(RandomBarriers, W1) { check(GetParam(), 1); }
TEST_P(RandomBarriers, W8) { check(GetParam(), 8); }
TEST_P(RandomBarriers, W16) { check(GetParam(), 16); }
TEST_P(RandomBarriers, W32) { check(GetParam(), 32); }
TEST_P(RandomBarriers, Wauto) { check(GetParam(), 0); }
TEST_P(RandomBarriers, Seeded) { check(GetParam(), 0, rt::Schedule::seeded); }
INSTANTIATE_TEST_SUITE_P(Seeds, RandomBarriers, testing::Range(1u, 31u));

} // namespace
} // namespace ptxrun
