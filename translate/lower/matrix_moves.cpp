// ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.14.5.15 to 9.7.14.5.17). Of each 8x8 matrix of 16-bit
// elements, thread t of the warp holds the elements 2 * (t % 4) and 2 * (t % 4) + 1 of row t / 4,
// with .trans of column t / 4. Matrices of narrower elements: NarrowFragments.
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

/// A fragment of the transposed matrix: d.lo = A[2 * (t % 4)][t / 4], d.hi the same of the next
/// row. Of the bits that number an element, row r2 r1 r0 and column c2 c1 c0, thread r2 r1 r0 c2 c1
/// holds those with c0 = 0 and 1: first r0 and c0 change places (threads of neighbouring rows
/// exchange halves), then what is in thread r2 r1 x c2 c1 goes to c2 c1 x r2 r1.
llvm::Value *transposed(LaneBuilder &b, llvm::Value *fragment) {
  llvm::Value *lane = laneId(b), *row = b.ir.CreateLShr(lane, 2);
  llvm::Value *neighbour = fromLane(b, fragment, b.ir.CreateXor(lane, 4));
  llvm::Value *exchanged =
      b.ir.CreateOr(b.ir.CreateShl(neighbour, 16), b.ir.CreateLShr(neighbour, 16));
  llvm::Value *isOdd = b.ir.CreateAnd(row, 1);
  llvm::Value *own = b.ir.CreateShl(b.constant(32, 0xffff), b.ir.CreateShl(isOdd, 4));
  llvm::Value *halves =
      b.ir.CreateOr(b.ir.CreateAnd(fragment, own), b.ir.CreateAnd(exchanged, b.ir.CreateNot(own)));
  llvm::Value *columns = b.ir.CreateShl(b.ir.CreateAnd(lane, 3), 3);
  llvm::Value *holder =
      b.ir.CreateOr(b.ir.CreateOr(columns, b.ir.CreateAnd(lane, 4)), b.ir.CreateLShr(lane, 3));
  return fromLane(b, halves, holder);
}

/// Where thread t's fragments of the matrices lie: one word of a row.
class Fragments {
 public:
  Fragments(LaneBuilder &b, llvm::Value *ownRow, bool isTransposed)
      : b_(b), ownRow_(ownRow), isTransposed_(isTransposed) {
    llvm::Value *lane = laneId(b);
    group_ = b.ir.CreateLShr(lane, 2);
    inGroup_ = b.ir.CreateAnd(lane, 3);
  }

  llvm::Value *load(unsigned matrix) {
    llvm::Value *word = b_.ir.CreateAlignedLoad(b_.intType(32), place(matrix), llvm::Align(4));
    return isTransposed_ ? transposed(b_, word) : word;
  }

  void store(unsigned matrix, llvm::Value *value) {
    llvm::Value *word = isTransposed_ ? transposed(b_, value) : value;
    b_.ir.CreateAlignedStore(word, place(matrix), llvm::Align(4));
  }

 private:
  /// In the row that thread 8 * matrix + t / 4 gave.
  llvm::Value *place(unsigned matrix) {
    llvm::Value *giver = b_.ir.CreateAdd(group_, b_.constant(32, matrix * kRows));
    llvm::Value *inRow = b_.ir.CreateMul(inGroup_, b_.constant(32, 4));
    return sharedPointer(b_, b_.ir.CreateAdd(fromLane(b_, ownRow_, giver), inRow));
  }

  LaneBuilder &b_;
  llvm::Value *ownRow_, *group_, *inGroup_;
  bool isTransposed_;
};

/// 8-bit elements, or 6- and 4-bit ones that become 8-bit ones with zeros above. Rows in shared
/// memory have 16 bytes, the narrow ones with padding at their end.
class NarrowFragments {
 public:
  NarrowFragments(LaneBuilder &b, llvm::Value *ownRow, unsigned elementBits)
      : b_(b), ownRow_(ownRow), bits_(elementBits) {
    llvm::Value *lane = laneId(b);
    group_ = b.ir.CreateLShr(lane, 2);
    inGroup_ = b.ir.CreateAnd(lane, 3);
  }

  /// m8n16: elements 4 * (t % 4) and the next three of row t / 4.
  llvm::Value *loadRow(unsigned matrix) {
    llvm::Value *row = b_.ir.CreateAdd(group_, b_.constant(32, matrix * kRows));
    llvm::Value *bytes = b_.ir.CreateMul(inGroup_, b_.constant(32, bits_ / 2));
    llvm::Value *packed = byte(row, bytes, 0);
    for (unsigned k = 1; k < bits_ / 2; ++k)
      packed = b_.ir.CreateOr(packed, b_.ir.CreateShl(byte(row, bytes, k), 8 * k));
    llvm::Value *word = b_.constant(32, 0);
    for (unsigned k = 0; k < 4; ++k)
      word = put(word, b_.ir.CreateLShr(packed, bits_ * k), k);
    return word;
  }

  /// m16n16.trans: element `t / 4 + 8 * half` of the rows 4 * (t % 4) and the next three.
  llvm::Value *loadColumn(unsigned matrix, unsigned half) {
    llvm::Value *column = b_.ir.CreateAdd(group_, b_.constant(32, 8 * half));
    llvm::Value *firstBit = b_.ir.CreateMul(column, b_.constant(32, bits_));
    llvm::Value *bytes = b_.ir.CreateLShr(firstBit, 3), *shift = b_.ir.CreateAnd(firstBit, 7);
    llvm::Value *word = b_.constant(32, 0);
    for (unsigned k = 0; k < 4; ++k) {
      llvm::Value *row = rowOf(matrix * 2 * kRows, 4, k), *bits = byte(row, bytes, 0);
      if (bits_ == 6) // the element may end in the next byte
        bits = b_.ir.CreateOr(bits, b_.ir.CreateShl(byte(row, bytes, 1), 8));
      word = put(word, b_.ir.CreateLShr(bits, shift), k);
    }
    return word;
  }

  /// m16n8.trans: bytes t / 4 and t / 4 + 8 of the rows 2 * (t % 4) and the next.
  void storeColumns(unsigned matrix, llvm::Value *value) {
    const auto parts = b_.split(value, b_.intType(8));
    for (unsigned k = 0; k < 4; ++k) {
      llvm::Value *column = b_.ir.CreateAdd(group_, b_.constant(32, k / 2 * 8));
      b_.ir.CreateStore(parts[k], place(rowOf(matrix * kRows, 2, k % 2), column, 0));
    }
  }

 private:
  llvm::Value *rowOf(unsigned first, unsigned times, unsigned plus) {
    llvm::Value *row = b_.ir.CreateMul(inGroup_, b_.constant(32, times));
    return b_.ir.CreateAdd(row, b_.constant(32, first + plus));
  }

  llvm::Value *place(llvm::Value *row, llvm::Value *bytes, unsigned plus) {
    llvm::Value *start = b_.ir.CreateAdd(fromLane(b_, ownRow_, row), bytes);
    return sharedPointer(b_, b_.ir.CreateAdd(start, b_.constant(32, plus)));
  }

  llvm::Value *byte(llvm::Value *row, llvm::Value *bytes, unsigned plus) {
    llvm::Value *loaded = b_.ir.CreateLoad(b_.intType(8), place(row, bytes, plus));
    return b_.ir.CreateZExt(loaded, b_.intType(32));
  }

  llvm::Value *put(llvm::Value *word, llvm::Value *bits, unsigned k) {
    llvm::Value *element = b_.ir.CreateAnd(bits, (1u << bits_) - 1);
    return b_.ir.CreateOr(word, b_.ir.CreateShl(element, 8 * k));
  }

  LaneBuilder &b_;
  llvm::Value *ownRow_, *group_, *inGroup_;
  unsigned bits_;
};

unsigned elementBits(const Instruction &in) {
  return in.has(Token::b6x16_p32) ? 6 : in.has(Token::b4x16_p64) ? 4 : 8;
}

void lowerNarrowLdmatrix(LaneBuilder &b, const Instruction &in) {
  NarrowFragments fragments(b, rowOffset(b, in.operands[1], in), elementBits(in));
  llvm::SmallVector<llvm::Value *, 4> loaded;
  for (unsigned matrix = 0; matrix < matrixCount(in); ++matrix) {
    if (in.has(Token::m8n16)) {
      loaded.push_back(fragments.loadRow(matrix));
      continue;
    }
    for (unsigned half : {0u, 1u})
      loaded.push_back(fragments.loadColumn(matrix, half));
  }
  b.writeElements(in.operands[0], loaded);
}

} // namespace

void lowerLdmatrix(LaneBuilder &b, const Instruction &in) {
  if (!in.has(Token::m8n8))
    return lowerNarrowLdmatrix(b, in);
  Fragments fragments(b, rowOffset(b, in.operands[1], in), in.has(Token::trans));
  llvm::SmallVector<llvm::Value *, 4> loaded;
  for (unsigned matrix = 0; matrix < matrixCount(in); ++matrix)
    loaded.push_back(fragments.load(matrix));
  b.writeElements(in.operands[0], loaded);
}

void lowerStmatrix(LaneBuilder &b, const Instruction &in) {
  const auto values = b.readElements(in.operands[1], isa::Type::b32);
  if (in.has(Token::m16n8)) {
    NarrowFragments fragments(b, rowOffset(b, in.operands[0], in), 8);
    for (unsigned matrix = 0; matrix < values.size(); ++matrix)
      fragments.storeColumns(matrix, values[matrix]);
    return;
  }
  Fragments fragments(b, rowOffset(b, in.operands[0], in), in.has(Token::trans));
  for (unsigned matrix = 0; matrix < values.size(); ++matrix)
    fragments.store(matrix, values[matrix]);
}

void lowerMovmatrix(LaneBuilder &b, const Instruction &in) {
  b.write(in, 0, transposed(b, b.readBits(in.operands[1], 32)));
}

} // namespace ptxrun::lower
