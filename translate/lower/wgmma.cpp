// wgmma (PTX ISA 9.7.15). A warp's part of a warpgroup's product is independent of the other
// warps': rows 16w to 16w+15 of D. So each instruction is one operation of the warp (vocabulary.h:
// ptx.warp.*).
//
// Products may happen at once: then fence, commit_group and wait_group are nothing. Where copies
// are deferred, so are products, and registers too: the runtime sees those that hold accumulators
// or fragments of A as wgmma.fence found them, and gives results back at wgmma.wait_group.
#include <algorithm>
#include <vector>

#include "intrinsics/tensor_forms.h"
#include "translate/lower/lane_builder.h"
#include "translate/lower/matrix_forms.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/warp_words.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::Token;
using matrix::Element;

namespace {

/// `.m64nNkK`: N and K.
struct Shape {
  unsigned n = 0, k = 0;
};
Shape shapeOf(const Instruction &in) {
  Shape shape;
  for (const Token token : in.modifiers) {
    llvm::StringRef text(isa::spelling(token).data(), isa::spelling(token).size());
    if (text.consume_front("m64n") && !text.consumeInteger(10, shape.n) && text.consume_front("k"))
      text.consumeInteger(10, shape.k);
  }
  return shape;
}

/// The operands of one wgmma.mma_async, by what they are.
struct Operands {
  const Operand *d = nullptr, *a = nullptr, *b = nullptr, *metadata = nullptr, *scaleD = nullptr;
  abi::WgmmaForm form;
};

bool isOne(const Operand &operand) { return operand.integer == 1; }

/// d, a, b{, metadata, selector}, scale-d{, scale-a, scale-b{{, trans-a}, trans-b}}
Operands operandsOf(const Instruction &in) {
  Operands r;
  const auto &list = in.operands;
  const Shape shape = shapeOf(in);
  r.form.n = shape.n;
  r.form.k = shape.k;
  r.form.d = static_cast<uint64_t>(matrixElement(in.type(0)));
  r.form.a = static_cast<uint64_t>(matrixElement(in.type(1)));
  r.form.b = static_cast<uint64_t>(matrixElement(in.type(2)));
  r.form.saturates = in.has(Token::satfinite);
  r.d = &list[0];
  r.a = &list[1];
  r.b = &list[2];
  r.form.hasRegistersA = r.a->kind == Operand::Kind::vector;
  size_t next = 3;
  if (in.form->handler == isa::Handler::lowerWgmmaSparse) {
    r.form.isSparse = true;
    r.metadata = &list[next++];
    r.form.selector = static_cast<uint64_t>(list[next++].integer) & 3;
  }
  r.scaleD = &list[next++];
  if (next + 1 < list.size()) {
    r.form.negatesA = list[next++].integer < 0;
    r.form.negatesB = list[next++].integer < 0;
  }
  if (next < list.size() && !r.form.hasRegistersA)
    r.form.isTransposedA = isOne(list[next++]);
  if (next < list.size())
    r.form.isTransposedB = isOne(list[next++]);
  return r;
}

bool isProduct(const Instruction &in) {
  return in.form->handler == isa::Handler::lowerWgmma ||
         in.form->handler == isa::Handler::lowerWgmmaSparse;
}

/// The registers of the function that its products use, each once. Their places are the numbers by
/// which the runtime knows them.
class ProductRegisters {
 public:
  explicit ProductRegisters(const LaneBuilder &b) {
    for (const Instruction &in : b.source().body)
      if (isProduct(in)) {
        const Operands operands = operandsOf(in);
        add(*operands.d);
        if (operands.form.hasRegistersA)
          add(*operands.a);
      }
  }

  const std::vector<const Operand *> &all() const { return all_; }

  uint64_t numberOf(const Operand &element) const {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const Operand *known) {
      return known->reg == element.reg && known->component == element.component;
    });
    return static_cast<uint64_t>(at - all_.begin());
  }

 private:
  void add(const Operand &vector) {
    for (const Operand &element : vector.elements)
      if (element.reg && numberOf(element) == all_.size())
        all_.push_back(&element);
  }
  std::vector<const Operand *> all_;
};

using Values = llvm::SmallVector<llvm::Value *, 160>;

Values readAll(LaneBuilder &b, llvm::ArrayRef<const Operand *> operands) {
  Values values;
  for (const Operand *operand : operands)
    values.push_back(b.readBits(*operand, 32));
  return values;
}

/// What products take before their registers: (form, a, b, does D count).
Values descriptorsOf(LaneBuilder &b, const Operands &operands) {
  abi::WgmmaForm form = operands.form;
  form.policy = static_cast<uint64_t>(b.module().matrixPolicy());
  Values values{b.constant(64, abi::toWord(form))};
  values.push_back(operands.form.hasRegistersA ? b.constant(64, 0) : b.readBits(*operands.a, 64));
  values.push_back(b.readBits(*operands.b, 64));
  llvm::Value *scaleD = operands.scaleD->kind == Operand::Kind::integer
                            ? b.constant(1, operands.scaleD->integer != 0)
                            : b.read(*operands.scaleD, isa::Type::pred);
  values.push_back(b.extend(scaleD, b.intType(64), false));
  return values;
}

/// wgmma(form, a, b, hasInput; d..., a..., metadata) -> d...
void multiplyNow(LaneBuilder &b, const Operands &operands) {
  Values registers;
  for (const Operand &element : operands.d->elements)
    registers.push_back(b.readBits(element, 32));
  for (const Operand &element : operands.a->elements)
    registers.push_back(b.readBits(element, 32));
  if (operands.metadata)
    registers.push_back(b.readBits(*operands.metadata, 32));
  const size_t count = operands.d->elements.size();
  llvm::Value *result = callForWarp(b, "wgmma", descriptorsOf(b, operands), registers, count);
  for (unsigned i = 0; i < count; ++i)
    b.write(operands.d->elements[i], b.ir.CreateExtractValue(result, i));
}

/// wgmma_late(form, a, b, hasInput, numbers of registers...; metadata): four numbers to a word, D's
/// first.
void multiplyLate(LaneBuilder &b, const Operands &operands) {
  const ProductRegisters registers(b);
  Values uniform = descriptorsOf(b, operands);
  std::vector<uint64_t> numbers;
  for (const Operand &element : operands.d->elements)
    numbers.push_back(registers.numberOf(element));
  for (const Operand &element : operands.a->elements)
    numbers.push_back(registers.numberOf(element));
  for (size_t i = 0; i < numbers.size(); i += 4) {
    uint64_t word = 0;
    for (size_t j = i; j < std::min(i + 4, numbers.size()); ++j)
      word |= numbers[j] << 16 * (j - i);
    uniform.push_back(b.constant(64, word));
  }
  llvm::Value *metadata =
      operands.metadata ? b.readBits(*operands.metadata, 32) : b.constant(32, 0);
  callForWarp(b, "wgmma_late", uniform, {metadata}, 0);
}

} // namespace

void lowerWgmma(LaneBuilder &b, const Instruction &in) {
  const Operands operands = operandsOf(in);
  if (b.module().options().defersCopies)
    multiplyLate(b, operands);
  else
    multiplyNow(b, operands);
}

void lowerWgmmaSparse(LaneBuilder &b, const Instruction &in) { lowerWgmma(b, in); }

/// wgmma_fence(count; registers...)
void lowerWgmmaFence(LaneBuilder &b, const Instruction &) {
  if (!b.module().options().defersCopies)
    return;
  const Values values = readAll(b, ProductRegisters(b).all());
  callForWarp(b, "wgmma_fence", {b.constant(64, values.size())}, values, 0);
}

void lowerWgmmaCommitGroup(LaneBuilder &b, const Instruction &) {
  if (b.module().options().defersCopies)
    callForWarp(b, "wgmma_commit", {}, {}, 0);
}

/// wgmma_wait(pending groups, count; registers...) -> registers...
void lowerWgmmaWaitGroup(LaneBuilder &b, const Instruction &in) {
  if (!b.module().options().defersCopies)
    return;
  const ProductRegisters registers(b);
  const Values values = readAll(b, registers.all());
  llvm::Value *pending = b.constant(64, static_cast<uint64_t>(in.operands[0].integer));
  llvm::Value *result =
      callForWarp(b, "wgmma_wait", {pending, b.constant(64, values.size())}, values, values.size());
  for (unsigned i = 0; i < values.size(); ++i)
    b.write(*registers.all()[i], b.ir.CreateExtractValue(result, i));
}

} // namespace ptxrun::lower
