// wmma.load and wmma.store (PTX ISA 9.7.14.4.3, 9.7.14.4.4): each thread loads or stores the
// elements of its own fragment (intrinsics/matrix/fragment.h), a register at once where they follow
// each other in memory.
#include "translate/lower/lane_builder.h"
#include "translate/lower/matrix_forms.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::StateSpace;
using isa::Token;
using matrix::Element;
using matrix::Fragment;
using matrix::Place;
using matrix::Role;

namespace {

/// The state space of a matrix, and how to reach it.
class MatrixMemory {
 public:
  MatrixMemory(LaneBuilder &b, const Instruction &in, const check::Operand &address,
               const check::Operand *stride, const Fragment &fragment, bool isRowMajor)
      : b_(b), fragment_(fragment), isRowMajor_(isRowMajor),
        elementBits_(matrix::bitsOf(fragment.element)) {
    const StateSpace space = LaneBuilder::space(in);
    isShared_ = space == StateSpace::shared;
    base_ = b.address(address, space);
    addressBits_ = base_->getType()->getIntegerBitWidth();
    stride_ = stride ? b.extend(b.readBits(*stride, 32), base_->getType(), false)
                     : b.constant(addressBits_, defaultStride());
    llvm::Value *lane = b.specialRegister(isa::SpecialRegister::laneid);
    lane = b.extend(lane, base_->getType(), false);
    group_ = b.ir.CreateLShr(lane, 2);
    inGroup_ = b.ir.CreateAnd(lane, 3);
  }

  /// True where a register's elements follow each other in memory.
  bool isWhole() const {
    if (fragment_.perRegister == 1)
      return true;
    const Place first = fragment_.at(0, 0, 0), second = fragment_.at(0, 0, 1);
    return isRowMajor_ ? first.row == second.row : first.column == second.column;
  }

  llvm::Value *pointer(unsigned index, unsigned part) {
    const auto along = [&](auto pick) { return affine(pick, index, part); };
    llvm::Value *row = along([](Place p) { return p.row; });
    llvm::Value *column = along([](Place p) { return p.column; });
    llvm::Value *line = isRowMajor_ ? row : column, *inLine = isRowMajor_ ? column : row;
    llvm::Value *element = b_.ir.CreateAdd(b_.ir.CreateMul(line, stride_), inLine);
    llvm::Value *bytes = elementBits_ >= 8
                             ? b_.ir.CreateMul(element, b_.constant(addressBits_, elementBits_ / 8))
                             : b_.ir.CreateLShr(element, elementBits_ == 4 ? 1 : 3);
    return b_.ir.CreateIntToPtr(b_.ir.CreateAdd(base_, bytes),
                                b_.ir.getPtrTy(isShared_ ? kShared : kGeneric));
  }

 private:
  /// Elements of a line of the matrix itself (9.7.14.4.2).
  unsigned defaultStride() const {
    const unsigned rows = fragment_.role == Role::b ? fragment_.k : fragment_.m;
    const unsigned columns = fragment_.role == Role::a ? fragment_.k : fragment_.n;
    return isRowMajor_ ? columns : rows;
  }

  /// A coordinate is linear in the thread's group and its place there.
  template <class Pick> llvm::Value *affine(Pick pick, unsigned index, unsigned part) {
    const auto at = [&](unsigned lane) { return pick(fragment_.at(lane, index, part)); };
    const unsigned start = at(0), perGroup = at(4) - start, inGroup = at(1) - start;
    llvm::Value *value = b_.constant(addressBits_, start);
    const auto add = [&](llvm::Value *factor, unsigned times) {
      if (times)
        value = b_.ir.CreateAdd(value, b_.ir.CreateMul(factor, b_.constant(addressBits_, times)));
    };
    add(group_, perGroup);
    add(inGroup_, inGroup);
    return value;
  }

  LaneBuilder &b_;
  Fragment fragment_;
  bool isRowMajor_, isShared_;
  unsigned elementBits_, addressBits_;
  llvm::Value *base_, *stride_, *group_, *inGroup_;
};

Fragment fragmentOf(const Instruction &in, Role role, unsigned registers) {
  const MatrixShape shape = shapeOf(in);
  Fragment f;
  f.role = role;
  f.element = matrixElement(in.type());
  f.m = uint16_t(shape.m);
  f.n = uint16_t(shape.n);
  f.k = uint16_t(shape.k);
  f.registers = uint8_t(registers);
  const unsigned bits = matrix::bitsOf(f.element);
  f.perRegister = uint8_t(bits >= 32 ? 1 : 32 / bits);
  return f;
}

unsigned registerCount(const check::Operand &operand) {
  return operand.kind == check::Operand::Kind::vector ? unsigned(operand.elements.size()) : 1;
}

Role roleOf(const Instruction &in) {
  return in.form->notation.starts_with("wmma.load.a")   ? Role::a
         : in.form->notation.starts_with("wmma.load.b") ? Role::b
                                                        : Role::accumulator;
}

} // namespace

void lowerWmmaLoad(LaneBuilder &b, const Instruction &in) {
  const unsigned registers = registerCount(in.operands[0]);
  const Fragment fragment = fragmentOf(in, roleOf(in), registers);
  const unsigned bits = matrix::bitsOf(fragment.element);
  MatrixMemory memory(b, in, in.operands[1], b.has(in, 2) ? &in.operands[2] : nullptr, fragment,
                      isLayoutRow(in, 0));
  llvm::SmallVector<llvm::Value *, 8> loaded;
  const auto load = [&](unsigned index, unsigned part, unsigned width) {
    return b.ir.CreateAlignedLoad(b.intType(width), memory.pointer(index, part),
                                  llvm::Align(width / 8));
  };
  for (unsigned index = 0; index < registers; ++index) {
    if (memory.isWhole()) {
      loaded.push_back(load(index, 0, bits == 64 ? 64 : 32));
      continue;
    }
    llvm::SmallVector<llvm::Value *, 8> parts;
    for (unsigned part = 0; part < fragment.perRegister; ++part)
      parts.push_back(load(index, part, bits));
    loaded.push_back(b.join(parts));
  }
  b.writeElements(in.operands[0], loaded);
}

void lowerWmmaStore(LaneBuilder &b, const Instruction &in) {
  const unsigned registers = registerCount(in.operands[1]);
  const Fragment fragment = fragmentOf(in, Role::accumulator, registers);
  const unsigned bits = matrix::bitsOf(fragment.element);
  MatrixMemory memory(b, in, in.operands[0], b.has(in, 2) ? &in.operands[2] : nullptr, fragment,
                      isLayoutRow(in, 0));
  const auto values = b.readElements(in.operands[1], bits == 64 ? isa::Type::b64 : isa::Type::b32);
  for (unsigned index = 0; index < registers; ++index) {
    if (memory.isWhole()) {
      b.ir.CreateAlignedStore(values[index], memory.pointer(index, 0),
                              llvm::Align(bits == 64 ? 8 : 4));
      continue;
    }
    const auto parts = b.split(values[index], b.intType(bits));
    for (unsigned part = 0; part < parts.size(); ++part)
      b.ir.CreateAlignedStore(parts[part], memory.pointer(index, part), llvm::Align(bits / 8));
  }
}

} // namespace ptxrun::lower
