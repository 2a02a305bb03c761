// ldmatrix, stmatrix, movmatrix of 8x8 matrices (PTX ISA 9.7.14.5.15 to 9.7.14.5.17). Of each
// matrix, thread t of the warp holds the elements 2 * (t % 4) and 2 * (t % 4) + 1 of row t / 4,
// with .trans of column t / 4.
#include "translate/lower/lane_builder.h"

namespace ptxrun::lower {

using check::Instruction;
using isa::StateSpace;
using isa::Token;

namespace {

constexpr unsigned kRows = 8;

llvm::Value *laneId(LaneBuilder &b) { return b.specialRegister(isa::SpecialRegister::laneid); }

/// What the thread `lane` holds in `value`, an i32.
llvm::Value *fromLane(LaneBuilder &b, llvm::Value *value, llvm::Value *lane) {
  llvm::Type *pair = llvm::StructType::get(b.ir.getContext(), {b.intType(32), b.intType(1)});
  llvm::Value *result =
      b.word("ptx.shfl.sync.idx", pair, {value, lane, b.constant(32, 31), b.constant(32, ~0u)},
             LaneBuilder::WordEffect::convergent);
  return b.ir.CreateExtractValue(result, 0);
}

/// The thread's own row address as a `.shared` offset. Without a state space the address is generic
/// and points into shared memory.
llvm::Value *rowOffset(LaneBuilder &b, const check::Operand &address, const Instruction &in) {
  const StateSpace space = LaneBuilder::space(in);
  if (space != StateSpace::generic || (address.variable && !address.reg))
    return b.address(address, StateSpace::shared);
  llvm::Value *offset = b.ir.CreateSub(b.address(address, space), b.sharedBase());
  return b.ir.CreateTrunc(offset, b.intType(32));
}

llvm::Value *sharedPointer(LaneBuilder &b, llvm::Value *offset) {
  return b.ir.CreateIntToPtr(offset, b.ir.getPtrTy(kShared));
}

unsigned matrixCount(const Instruction &in) {
  return in.has(Token::x4) ? 4 : in.has(Token::x2) ? 2 : 1;
}

/// Where thread t's fragments of the matrices lie: one word of a row,
/// or with .trans a half each of rows 2 * (t % 4) and the next.
class Fragments {
 public:
  Fragments(LaneBuilder &b, llvm::Value *ownRow, bool isTransposed)
      : b_(b), ownRow_(ownRow), isTransposed_(isTransposed) {
    llvm::Value *lane = laneId(b);
    group_ = b.ir.CreateLShr(lane, 2);
    inGroup_ = b.ir.CreateAnd(lane, 3);
  }

  llvm::Value *load(unsigned matrix) {
    if (!isTransposed_)
      return b_.ir.CreateAlignedLoad(b_.intType(32), word(matrix), llvm::Align(4));
    llvm::Value *halves[2];
    for (unsigned k : {0u, 1u})
      halves[k] = b_.ir.CreateAlignedLoad(b_.intType(16), half(matrix, k), llvm::Align(2));
    return b_.join(halves);
  }

  void store(unsigned matrix, llvm::Value *value) {
    if (!isTransposed_) {
      b_.ir.CreateAlignedStore(value, word(matrix), llvm::Align(4));
      return;
    }
    const auto halves = b_.split(value, b_.intType(16));
    for (unsigned k : {0u, 1u})
      b_.ir.CreateAlignedStore(halves[k], half(matrix, k), llvm::Align(2));
  }

 private:
  /// The address that thread 8 * matrix + row gave, plus column * bytes.
  llvm::Value *place(unsigned matrix, llvm::Value *row, llvm::Value *column, unsigned bytes) {
    llvm::Value *giver = b_.ir.CreateAdd(row, b_.constant(32, matrix * kRows));
    llvm::Value *inRow = b_.ir.CreateMul(column, b_.constant(32, bytes));
    return sharedPointer(b_, b_.ir.CreateAdd(fromLane(b_, ownRow_, giver), inRow));
  }

  llvm::Value *word(unsigned matrix) { return place(matrix, group_, inGroup_, 4); }

  llvm::Value *half(unsigned matrix, unsigned k) {
    llvm::Value *row = b_.ir.CreateShl(inGroup_, 1);
    return place(matrix, b_.ir.CreateAdd(row, b_.constant(32, k)), group_, 2);
  }

  LaneBuilder &b_;
  llvm::Value *ownRow_, *group_, *inGroup_;
  bool isTransposed_;
};

} // namespace

void lowerLdmatrix(LaneBuilder &b, const Instruction &in) {
  Fragments fragments(b, rowOffset(b, in.operands[1], in), in.has(Token::trans));
  llvm::SmallVector<llvm::Value *, 4> loaded;
  for (unsigned matrix = 0; matrix < matrixCount(in); ++matrix)
    loaded.push_back(fragments.load(matrix));
  b.writeElements(in.operands[0], loaded);
}

void lowerStmatrix(LaneBuilder &b, const Instruction &in) {
  Fragments fragments(b, rowOffset(b, in.operands[0], in), in.has(Token::trans));
  const auto values = b.readElements(in.operands[1], isa::Type::b32);
  for (unsigned matrix = 0; matrix < values.size(); ++matrix)
    fragments.store(matrix, values[matrix]);
}

// d.lo = A[2 * (t % 4)][t / 4], d.hi the same of the next row: one half each of what two threads
// hold.
void lowerMovmatrix(LaneBuilder &b, const Instruction &in) {
  llvm::Value *lane = laneId(b), *a = b.readBits(in.operands[1], 32);
  llvm::Value *column = b.ir.CreateLShr(lane, 2);
  llvm::Value *firstRow = b.ir.CreateShl(b.ir.CreateAnd(lane, 3), 1);
  llvm::Value *holder = b.ir.CreateAdd(b.ir.CreateShl(firstRow, 2), b.ir.CreateLShr(column, 1));
  llvm::Value *shift = b.ir.CreateShl(b.ir.CreateAnd(column, 1), 4);
  llvm::Value *halves[2];
  for (unsigned k : {0u, 1u}) {
    llvm::Value *both = fromLane(b, a, b.ir.CreateAdd(holder, b.constant(32, 4 * k)));
    halves[k] = b.ir.CreateTrunc(b.ir.CreateLShr(both, shift), b.intType(16));
  }
  b.write(in, 0, b.join(halves));
}

} // namespace ptxrun::lower
