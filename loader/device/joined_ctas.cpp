#include "loader/device/joined_ctas.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptxrun::device {

namespace {

using check::Instruction, check::Operand, check::Register;
using isa::SpecialRegister, isa::Token;

bool isAnyOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether it does the same whichever threads share its CTA or warp, and waits for none.
bool isOfThread(const Instruction &in) {
  switch (in.form->effect) {
  case isa::Effect::lane:
  case isa::Effect::control:
    return true;
  case isa::Effect::memory:
    return isAnyOf(in.form->opcode, {"ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu",
                                     "tex", "tld4", "suld"}) &&
           in.oneOf({Token::volatile_, Token::acquire, Token::release, Token::acq_rel, Token::mmio,
                     Token::async, Token::cas, Token::exch, Token::shared, Token::shared_cta,
                     Token::shared_cluster}) == Token::none &&
           !(isAnyOf(in.form->opcode, {"ld", "st"}) && in.has(Token::relaxed));
  default:
    return false;
  }
}

/// Walks the code that a kernel reaches by direct calls.
class ThreadCode {
 public:
  bool isAny = true;
  bool namesPlaceInCalls = false; ///< of a CTA or thread, in another function than the kernel

  void read(const check::Function &function) {
    const check::Function &body = function.aliasee ? *function.aliasee : function;
    if (!seen_.insert(&body).second)
      return;
    isAny = isAny && (!body.isDeclaration ||
                      isAnyOf(body.name, {"vprintf", "__assertfail", "malloc", "free"}));
    for (const Instruction &in : body.body) {
      isAny = isAny && in.form && isOfThread(in);
      if (!isAny)
        return;
      for (const Operand &operand : in.operands)
        read(operand, body.isEntry);
    }
  }

 private:
  void read(const Operand &operand, bool isKernel) {
    using enum SpecialRegister;
    if (operand.kind == Operand::Kind::special) {
      const auto special = operand.special;
      isAny = isAny && operand.component != 0 &&
              (special == tid || special == ntid || special == ctaid || special == nctaid);
      namesPlaceInCalls |= !isKernel;
    }
    if (operand.kind == Operand::Kind::prototype ||
        (operand.variable && operand.variable->space == isa::StateSpace::shared))
      isAny = false;
    if (operand.function)
      read(*operand.function);
    for (const Operand &element : operand.elements)
      read(element, isKernel);
  }

  std::set<const check::Function *> seen_;
};

/// Follows %tid, %ctaid and %ntid through a kernel to where they are one index.
class IndexReader {
 public:
  explicit IndexReader(Joinable &found) : found_(found) {}

  void read(const Instruction &in) {
    const std::string_view opcode = in.form->opcode;
    const auto operands = in.operands;
    if (isAnyOf(opcode, {"mov", "cvt"}) && operands.size() >= 2)
      return define(operands[0], ofOperand(operands[1]));
    if (opcode == "mul" && operands.size() >= 3)
      return readProduct(in, operands[1], operands[2]);
    if (opcode == "shl" && operands.size() >= 3)
      return readShift(in);
    if (opcode == "mad" && operands.size() >= 4)
      return readSum(in, product(operands[1], operands[2]), ofOperand(operands[3]));
    if (isAnyOf(opcode, {"add", "or"}) && operands.size() >= 3) {
      Part a = ofOperand(operands[1]), b = ofOperand(operands[2]);
      if (b.kind == Kind::base)
        std::swap(a, b);
      if (a.kind == Kind::base && b.kind == Kind::thread)
        return readSum(in, a, b);
    }
    useAll(in);
  }

 private:
  enum class Kind : uint8_t {
    other,
    thread, ///< %tid
    cta,    ///< %ctaid
    extent, ///< %ntid
    base,   ///< %ctaid * %ntid, and perhaps something that is the same everywhere
  };
  struct Part {
    Kind kind = Kind::other;
    unsigned axis = 0;
    uint32_t presumed = 0; ///< what %ntid is taken to be
    bool isPlace() const { return kind != Kind::other && kind != Kind::extent; }
  };

  Part ofOperand(const Operand &operand) const {
    if (operand.kind == Operand::Kind::special && operand.component != 0) {
      const unsigned axis = operand.component - 1u;
      using enum SpecialRegister;
      if (axis < 3 && operand.special == tid)
        return {Kind::thread, axis};
      if (axis < 3 && operand.special == ctaid)
        return {Kind::cta, axis};
      if (axis < 3 && operand.special == ntid)
        return {Kind::extent, axis};
    }
    const auto known = operand.reg && !operand.isNegated ? parts_.find(operand.reg) : parts_.end();
    return known == parts_.end() ? Part{} : known->second;
  }

  void spoil(const Part &part) {
    if (part.isPlace())
      found_.isByIndex[part.axis] = false;
  }

  void define(const Operand &to, Part part) {
    if (to.kind != Operand::Kind::reg)
      return spoil(part);
    // One of several values: nobody knows which.
    if (!defined_.insert(to.reg).second) {
      spoil(part);
      spoil(ofOperand(to));
      part = {};
    }
    parts_[to.reg] = part;
  }

  Part product(const Operand &a, const Operand &b) const {
    Part x = ofOperand(a), y = ofOperand(b);
    const bool isSwapped = y.kind == Kind::cta;
    if (isSwapped)
      std::swap(x, y);
    const Operand &by = isSwapped ? a : b;
    if (x.kind == Kind::cta && y.kind == Kind::extent && x.axis == y.axis)
      return {Kind::base, x.axis};
    if (x.kind == Kind::cta && by.kind == Operand::Kind::integer && by.integer > 0 &&
        by.integer <= 1024)
      return {Kind::base, x.axis, uint32_t(by.integer)};
    return {};
  }

  void readProduct(const Instruction &in, const Operand &a, const Operand &b) {
    const Part made = product(a, b);
    if (made.kind == Kind::other || in.has(Token::hi))
      return useAll(in);
    define(in.operands[0], made);
  }

  void readShift(const Instruction &in) {
    const Part x = ofOperand(in.operands[1]);
    const Operand &by = in.operands[2];
    if (x.kind != Kind::cta || by.kind != Operand::Kind::integer || by.integer < 0 ||
        by.integer > 10)
      return useAll(in);
    define(in.operands[0], {Kind::base, x.axis, 1u << by.integer});
  }

  void readSum(const Instruction &in, const Part &base, const Part &added) {
    if (base.kind != Kind::base || in.has(Token::hi) ||
        (added.kind != Kind::thread && added.isPlace()) ||
        (added.kind == Kind::thread && added.axis != base.axis))
      return useAll(in);
    if (added.kind != Kind::thread) // of 64 bits: how the sum wraps would tell
      return in.form->opcode == "mad" && in.has(Token::lo) ? define(in.operands[0], base)
                                                           : useAll(in);
    uint32_t &presumed = found_.presumed[base.axis];
    if (base.presumed != 0 && presumed != 0 && presumed != base.presumed)
      spoil(base);
    if (base.presumed != 0)
      presumed = base.presumed;
    define(in.operands[0], {});
  }

  void useAll(const Instruction &in) {
    for (size_t n = 0; n < in.operands.size(); ++n)
      use(in.operands[n]);
    if (!in.operands.empty() && in.operands[0].kind == Operand::Kind::reg)
      define(in.operands[0], {});
  }

  void use(const Operand &operand) {
    spoil(ofOperand(operand));
    for (const Operand &element : operand.elements)
      use(element);
  }

  Joinable &found_;
  std::map<const Register *, Part> parts_;
  std::set<const Register *> defined_;
};

uint64_t volume(const BlockShape &d) { return uint64_t{d[0]} * d[1] * d[2]; }

} // namespace

Joinable readJoinable(const check::Module &module, std::string_view kernel) {
  Joinable found;
  const check::Function *function = module.findFunction(kernel);
  if (!function || function->reqnctapercluster[0] != 0 || function->explicitcluster)
    return found;
  ThreadCode code;
  code.read(*function);
  found.isAny = code.isAny;
  if (!found.isAny)
    return found;
  found.isByIndex.fill(!code.namesPlaceInCalls);
  IndexReader reader(found);
  for (const Instruction &in : function->body)
    reader.read(in);
  return found;
}

BlockShape chooseJoinedCtas(const Joinable &kernel, const rt::RunOptions &launch, int workers) {
  constexpr uint32_t kRow = abi::kWarpSize, kMostThreads = 1024;
  constexpr BlockShape kNone{1, 1, 1};
  const BlockShape block{launch.block.x, launch.block.y, launch.block.z},
      grid{launch.grid.x, launch.grid.y, launch.grid.z};
  if (!kernel.isAny || block[0] >= kRow)
    return kNone;
  const bool isSmall = volume(block) < kRow;
  // Blocks of a warp or more gain less than what workers lose that wait for the last one.
  const uint64_t blocksPerWorker = isSmall ? 4 : 16;
  BlockShape joined = kNone;
  uint64_t blocks = grid[2];
  for (unsigned axis : {0u, 1u}) {
    const uint32_t own = block[axis];
    const bool isByIndex =
        kernel.isByIndex[axis] && (kernel.presumed[axis] == 0 || kernel.presumed[axis] == own);
    // Rows along y serve kernels whose memory lies along y.
    const bool mayJoin = (axis == 0 || own > 1) && (isSmall || isByIndex) && kRow % own == 0 &&
                         uint64_t{grid[axis]} * own <= INT32_MAX;
    // Along y no thread may be beyond the grid: gangs that return would keep apart what the rows of
    // a block do alike.
    if (mayJoin && grid[axis] >= kRow / own && (axis == 0 || grid[axis] % (kRow / own) == 0))
      joined[axis] = kRow / own;
    while (joined[axis] > 1 && volume(block) * volume(joined) > kMostThreads)
      joined[axis] /= 2;
    blocks *= (grid[axis] + joined[axis] - 1) / joined[axis];
  }
  // Few shapes: each is code of its own.
  return blocks < blocksPerWorker * uint64_t(workers) ? kNone : joined;
}

} // namespace ptxrun::device
