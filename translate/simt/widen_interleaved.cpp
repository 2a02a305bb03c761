// Structures of arrays and arrays of structures: what lies lane by lane in memory, n elements each,
// against n vectors of one element per lane. Register by register, in log2(n) rounds of shuffles
// that take two registers apart into even and odd elements (or the other way round): half the
// shuffles of picking each vector's elements on its own, and each register is loaded once.
#include <llvm/Analysis/ValueTracking.h>

#include "translate/simt/accesses.h"
#include "translate/simt/linear_sum.h"
#include "translate/simt/pieces.h"
#include "translate/simt/transposes.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

/// Every second element of two registers of n, half by half if registers are two `halves`.
llvm::SmallVector<int> everySecond(unsigned first, unsigned n, unsigned halves) {
  llvm::SmallVector<int> order;
  const unsigned each = n / halves;
  for (unsigned half = 0; half < halves; ++half)
    for (unsigned k = 0; k < each; ++k) {
      const unsigned at = first + 2 * k; // in the halves of both
      order.push_back(int(half * each + (at < each ? at : n + at - each)));
    }
  return order;
}

} // namespace

unsigned Accesses::elementsPerRegister(const llvm::Type *element) const {
  return std::min<unsigned>(lanes_, context_.target.vectorBits / element->getScalarSizeInBits());
}

/// How many parts a register is filled in with what lies in memory: two where a shuffle across its
/// middle costs more than loading its halves one by one.
unsigned Accesses::halvesOf(unsigned perRegister, const llvm::Type *element) const {
  const unsigned bits = perRegister * element->getScalarSizeInBits();
  return context_.target.hasCheapHalves() && bits == context_.target.vectorBits ? 2 : 1;
}

/// `pieces`: registers in the order of memory, or whose halves are so; out[step * i + first]: the
/// elements at those places.
void Accesses::takeApart(llvm::ArrayRef<Value *> pieces, unsigned halves, unsigned first,
                         unsigned step, llvm::MutableArrayRef<Value *> out) {
  if (pieces.size() == 1) {
    out[first] = pieces[0];
    return;
  }
  llvm::SmallVector<Value *> even, odd;
  for (size_t k = 0; k < pieces.size(); k += 2) {
    const unsigned n = elementCount(pieces[k]);
    even.push_back(b_.CreateShuffleVector(pieces[k], pieces[k + 1], everySecond(0, n, halves)));
    odd.push_back(b_.CreateShuffleVector(pieces[k], pieces[k + 1], everySecond(1, n, halves)));
  }
  takeApart(even, halves, first, step * 2, out);
  takeApart(odd, halves, first + step, step * 2, out);
}

/// The other way round: vectors in[first], in[first + step], ... element by element.
llvm::SmallVector<Value *> Accesses::putTogether(llvm::ArrayRef<Value *> in, unsigned first,
                                                 unsigned step) {
  if (first + step >= in.size())
    return {in[first]};
  llvm::SmallVector<Value *> even = putTogether(in, first, step * 2),
                             odd = putTogether(in, first + step, step * 2), out;
  for (size_t k = 0; k < even.size(); ++k) {
    const unsigned n = elementCount(even[k]);
    llvm::SmallVector<int> low, high;
    for (unsigned e = 0; e < n; ++e) {
      (e < n / 2 ? low : high).append({int(e), int(n + e)});
    }
    out.push_back(b_.CreateShuffleVector(even[k], odd[k], low));
    out.push_back(b_.CreateShuffleVector(even[k], odd[k], high));
  }
  return out;
}

/// n vectors of one element per lane, from `piece(first, count)`: elements of what lies lane by
/// lane.
llvm::SmallVector<Value *>
Accesses::separate(unsigned n, const llvm::Type *element,
                   llvm::function_ref<Value *(unsigned, unsigned)> piece) {
  const unsigned perRegister = elementsPerRegister(element),
                 halves = halvesOf(perRegister, element), each = perRegister / halves;
  llvm::SmallVector<llvm::SmallVector<Value *>> parts(n);
  for (unsigned lane = 0; lane < lanes_; lane += perRegister) {
    llvm::SmallVector<Value *> pieces, out(n);
    for (unsigned m = 0; m < n; ++m) {
      llvm::SmallVector<Value *> whole;
      for (unsigned half = 0; half < halves; ++half)
        whole.push_back(piece((lane + half * each) * n + m * each, each));
      pieces.push_back(concatenate(whole));
    }
    takeApart(pieces, halves, 0, 1, out);
    for (unsigned m = 0; m < n; ++m)
      parts[m].push_back(out[m]);
  }
  llvm::SmallVector<Value *> result;
  for (unsigned m = 0; m < n; ++m)
    result.push_back(concatenate(parts[m]));
  return result;
}

/// The loads that may be done where `load` is, at constant distances from it, by distance: nothing
/// between writes to memory.
Accesses::Siblings Accesses::loadsNear(const llvm::LoadInst &load) const {
  const LinearSum own = sumOf(load.getPointerOperand());
  Siblings siblings;
  for (const llvm::Instruction *i = &load; i && !i->mayWriteToMemory(); i = i->getNextNode()) {
    auto *other = llvm::dyn_cast<llvm::LoadInst>(i);
    if (!other || !other->isSimple() || other->getType() != load.getType() ||
        other->getPointerAddressSpace() != load.getPointerAddressSpace() ||
        other->getAlign() != load.getAlign())
      continue;
    const LinearSum at = sumOf(other->getPointerOperand());
    if (at.key() == own.key() && shapes_.shape(other->getPointerOperand()).offsets ==
                                     shapes_.shape(load.getPointerOperand()).offsets)
      siblings[minus(at.constant, own.constant)].push_back(other);
  }
  return siblings;
}

/// A load from an array of structures whose other elements are loaded nearby: all at once. False
/// where that is not so.
bool Accesses::loadNeighbours(const llvm::LoadInst &load, const Address &a) {
  llvm::Type *type = plain(&load);
  const unsigned bits = type->getScalarSizeInBits();
  if (mask() || isOffMainLine_ || !load.isSimple() || type->isVectorTy() || type->isPointerTy() ||
      (bits != 32 && bits != 64))
    return false;
  const int64_t size = bits / 8, stride = (*a.offsets)[1] - (*a.offsets)[0];
  const int64_t n = stride / size;
  if (stride % size != 0 || n < 2 || n > kLimits.accesses.windowPerData)
    return false;
  for (unsigned l = 1; l < lanes_; ++l)
    if ((*a.offsets)[l] - (*a.offsets)[l - 1] != stride)
      return false;
  const Siblings siblings = loadsNear(load);
  if (n != 2 && n != 4 && n != 8)
    return loadSomeOfStructures(load, a, siblings);
  // A structure that holds this element and is loaded as a whole.
  for (int64_t start = -(n - 1) * size; start <= 0; start += size) {
    bool isWhole = true;
    for (int64_t m = 0; m < n; ++m)
      isWhole &= siblings.contains(start + m * size);
    if (!isWhole)
      continue;
    const int64_t low = (*a.offsets)[0] + start;
    llvm::SmallVector<Value *> elements =
        separate(unsigned(n), type, [&](unsigned first, unsigned count) {
          Value *at =
              b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(low + int64_t(first) * size));
          llvm::LoadInst *l = b_.CreateAlignedLoad(vec(type, count), at, load.getAlign());
          copyAccessTraits(l, load);
          return l;
        });
    for (int64_t m = 0; m < n; ++m)
      for (const llvm::LoadInst *one : siblings.at(start + m * size))
        neighbours_[one] = elements[size_t(m)];
    return true;
  }
  return loadSomeOfStructures(load, a, siblings);
}

/// Several elements of each structure, from one window: its registers are loaded once. False where
/// one element is loaded alone, or the window is too long.
bool Accesses::loadSomeOfStructures(const llvm::LoadInst &load, const Address &a,
                                    const Siblings &siblings) {
  const int64_t size = load.getType()->getScalarSizeInBits() / 8,
                stride = (*a.offsets)[1] - (*a.offsets)[0];
  auto first = siblings.upper_bound(-stride), end = siblings.lower_bound(first->first + stride);
  if (std::any_of(first, end, [&](const auto &s) { return (s.first - first->first) % size != 0; }))
    return false;
  const int64_t span = (lanes_ - 1) * stride + std::prev(end)->first - first->first + size;
  if (std::distance(first, end) < 2 || span > context_.target.longestWindow())
    return false;
  Value *at =
      b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t((*a.offsets)[0] + first->first));
  for (const auto &[bytes, loads] : llvm::make_range(first, end)) {
    llvm::SmallVector<int> order;
    for (unsigned l = 0; l < lanes_; ++l)
      order.push_back(int((l * stride + bytes - first->first) / size));
    Value *element = loadWindow(load, at, plain(&load), unsigned(span / size), order);
    for (const llvm::LoadInst *one : loads)
      neighbours_[one] = element;
  }
  return true;
}

/// Gangs whose lanes walk along rows of their own leave the hardware with as many streams as they
/// have lanes, too many to follow, of a few lines each. So each fetches, a line at a time, what the
/// next gang will read there. `row`: where this access reads in a lane's row, from byte `start` of
/// what is read of it on.
void Accesses::fetchNextRows(const llvm::LoadInst &load, const Address &a,
                             llvm::function_ref<Value *(unsigned lane)> row, int64_t start) {
  const Value *pointer = load.getPointerOperand();
  const llvm::Loop *loop = shapes_.loops().getLoopFor(load.getParent());
  const int64_t line = context_.target.lineBytes,
                longest = context_.target.l2Bytes / kLimits.accesses.nextRows;
  if (!loop || loop->isLoopInvariant(pointer) || start % line != 0 || mask() ||
      shapes_.areGangsRows() || load.getPointerAddressSpace() == lower::kShared)
    return;
  const auto fetch = [&](Value *next) {
    for (unsigned lane = 0; lane < lanes_; ++lane)
      fetchAhead(b_, b_.CreateGEP(b_.getInt8Ty(), row(lane), next), 0);
  };
  if (a.offsets) {
    const int64_t apart = (*a.offsets)[1] - (*a.offsets)[0], next = apart * lanes_;
    if (shapes_.step(pointer) == apart && apart > line && next < longest)
      fetch(b_.getInt64(uint64_t(next)));
    return;
  }
  if (const LinearAddress linear = linearAddress(pointer, shapes_);
      !linear.index || !liesApart(linear.index, shapes_))
    return;
  const auto distance = [&](unsigned from, unsigned to) {
    return b_.CreateSub(b_.CreatePtrToInt(row(to), b_.getInt64Ty()),
                        b_.CreatePtrToInt(row(from), b_.getInt64Ty()));
  };
  Value *next = b_.CreateAdd(distance(0, lanes_ - 1), distance(0, 1));
  // Longer rows would have left the second cache before that gang comes.
  Block *some = newBlock("rows.fetch"), *done = newBlock("rows.fetched");
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(uint64_t(longest))), some, done);
  b_.SetInsertPoint(some);
  fetch(next);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// Lanes that each read 16 bytes or a register's width on end, wherever they are, by several loads:
/// one load per lane, and a transposition. It costs what one gather of a quarter of the bytes does.
/// False where the loads nearby are not so.
bool Accesses::loadRows(const llvm::LoadInst &load, const Address &a) {
  llvm::Type *type = plain(&load);
  const unsigned bits = type->getScalarSizeInBits(), perBlock = 128 / std::max(bits, 1u);
  if (isOffMainLine_ || isBaseline() || !load.isSimple() || type->isVectorTy() ||
      type->isPointerTy() || bits < 8 || bits > 64 || !llvm::isPowerOf2_32(bits) ||
      lanes_ % perBlock != 0)
    return false;
  const Siblings siblings = loadsNear(load);
  auto isLeft = [&](int64_t at) {
    auto it = siblings.find(at);
    return it != siblings.end() && !neighbours_.contains(it->second.front());
  };
  const int64_t size = bits / 8;
  int64_t first = 0; // rows are cut from there on
  while (isLeft(first - size))
    first -= size;
  auto cut = [&](unsigned blocks) -> std::optional<int64_t> {
    const int64_t bytes = 16 * int64_t(blocks), start = first + -first / bytes * bytes;
    for (int64_t at = start; at < start + bytes; at += size)
      if (!isLeft(at))
        return std::nullopt;
    return start;
  };
  const unsigned together = elementsPerRegister(type), blocks = together / perBlock;
  const std::optional<int64_t> wide = cut(blocks), start = wide ? wide : cut(1);
  if (!start)
    return false;
  const unsigned perRow = perBlock * (wide ? blocks : 1);
  Value *each =
      a.offsets && !mask() ? nullptr : orDummy(pointers(a), perRow * uint64_t(size), -*start);
  const auto rowOf = [&](unsigned lane) {
    return each ? b_.CreateExtractElement(each, lane)
                : b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t((*a.offsets)[lane]));
  };
  fetchNextRows(load, a, rowOf, *start - first);
  auto row = [&](unsigned lane) {
    Value *at = b_.CreateConstGEP1_64(b_.getInt8Ty(), rowOf(lane), uint64_t(*start));
    llvm::LoadInst *l = b_.CreateAlignedLoad(vec(type, perRow), at, load.getAlign());
    copyAccessTraits(l, load);
    return l;
  };
  llvm::SmallVector<llvm::SmallVector<Value *>> parts(perRow);
  for (unsigned lane = 0; lane < lanes_; lane += together) {
    // By place in the row, then by lane: registers with a block from every perBlock-th lane.
    llvm::SmallVector<llvm::SmallVector<Value *>> places(perRow / perBlock);
    for (unsigned k = 0; k < perBlock; ++k) {
      llvm::SmallVector<Value *> rows;
      for (unsigned block = 0; block < blocks; ++block)
        rows.push_back(row(lane + block * perBlock + k));
      rows = wide ? transposeBlocks(b_, rows) : llvm::SmallVector<Value *>{concatenate(rows)};
      for (unsigned place = 0; place < places.size(); ++place)
        places[place].push_back(rows[place]);
    }
    for (unsigned place = 0; place < places.size(); ++place)
      for (auto [k, element] : llvm::enumerate(transposeElements(b_, places[place])))
        parts[place * perBlock + k].push_back(element);
  }
  for (unsigned k = 0; k < perRow; ++k) {
    Value *element = concatenate(parts[k]);
    for (const llvm::LoadInst *one : siblings.at(*start + int64_t(k) * size))
      neighbours_[one] = element;
  }
  return true;
}

/// The stores that fill, with `store` first of them, structures of n elements, in order of address;
/// empty where there are not as many, or something between them may touch memory.
llvm::SmallVector<const llvm::StoreInst *> Accesses::storesNear(const llvm::StoreInst &store,
                                                                int64_t size, int64_t n) const {
  const LinearSum sum = sumOf(store.getPointerOperand());
  const Shape own = shapes_.shape(store.getPointerOperand());
  std::map<int64_t, const llvm::StoreInst *> found;
  for (const llvm::Instruction *i = &store; i && int64_t(found.size()) < n; i = i->getNextNode()) {
    auto *other = llvm::dyn_cast<llvm::StoreInst>(i);
    if (!other) {
      if (i->mayReadOrWriteMemory() || i->mayHaveSideEffects())
        break;
      continue;
    }
    const Value *pointer = other->getPointerOperand();
    const LinearSum at = sumOf(pointer);
    const Shape shape = shapes_.shape(pointer);
    if (!other->isSimple() || shape.isConditional != own.isConditional ||
        shape.offsets != own.offsets ||
        other->getValueOperand()->getType() != store.getValueOperand()->getType() ||
        other->getPointerAddressSpace() != store.getPointerAddressSpace() ||
        other->getAlign() != store.getAlign() || at.key() != sum.key() ||
        !found.try_emplace(at.constant, other).second)
      break;
  }
  if (int64_t(found.size()) != n)
    return {};
  llvm::SmallVector<const llvm::StoreInst *> list;
  for (auto &[bytes, one] : found) {
    if (bytes != found.begin()->first + int64_t(list.size()) * size)
      return {};
    list.push_back(one);
  }
  return list;
}

/// n registers of single elements: n registers of structures, in the order of memory.
llvm::SmallVector<llvm::Value *> Accesses::interleave(llvm::ArrayRef<Value *> in) {
  const unsigned n = unsigned(in.size()), each = elementCount(in[0]);
  if (llvm::isPowerOf2_32(n))
    return putTogether(in, 0, 1);
  llvm::SmallVector<Value *> out;
  for (unsigned r = 0; r < n; ++r) {
    Value *all = llvm::PoisonValue::get(in[0]->getType());
    for (unsigned k = 0; k < n; ++k) {
      llvm::SmallVector<int> order;
      for (unsigned p = 0, at = r * each; p < each; ++p, ++at)
        order.push_back(at % n < k ? int(p) : at % n == k ? int(each + at / n) : -1);
      all = b_.CreateShuffleVector(all, in[k], order);
    }
    out.push_back(all);
  }
  return out;
}

/// Stores of one block are done where the last of them stands.
void Accesses::storeAtLast(const llvm::SmallVector<const llvm::StoreInst *> &all) {
  const llvm::StoreInst *end = all[0];
  for (const llvm::StoreInst *one : all)
    end = end->comesBefore(one) ? one : end;
  for (const llvm::StoreInst *one : all)
    if (one != end)
      putOff_.insert(one);
  structures_[end] = all;
}

/// How many elements the structures have of which each lane stores one; 0 where lanes' addresses do
/// not lie so.
int64_t Accesses::structureElements(const llvm::StoreInst &store, const Address &a) const {
  const llvm::Type *type = store.getValueOperand()->getType();
  const unsigned bits = type->getScalarSizeInBits();
  if (isOffMainLine_ || isBaseline() || !store.isSimple() || type->isVectorTy() ||
      type->isPointerTy() || bits < 8 || bits > 64 || !llvm::isPowerOf2_32(bits))
    return 0;
  const int64_t size = bits / 8, stride = (*a.offsets)[1] - (*a.offsets)[0], n = stride / size;
  if (stride % size != 0 || n < 2 || n > kLimits.accesses.structureElements)
    return 0;
  for (unsigned l = 1; l < lanes_; ++l)
    if ((*a.offsets)[l] - (*a.offsets)[l - 1] != stride)
      return 0;
  return n;
}

/// A store into an array of structures whose lanes' addresses are tested: one test for it and the
/// stores to the structures' other elements, where the last of them stands. False where there are
/// no such stores.
bool Accesses::storeStructuresOrEach(const llvm::StoreInst &store, const Address &a) {
  const unsigned bits = store.getValueOperand()->getType()->getScalarSizeInBits();
  const int64_t n = structureElements(store, a);
  if (n == 0 || (mask() && bits < 32 && !context_.target.hasMaskRegisters()))
    return false;
  const auto last = structures_.find(&store);
  if (last == structures_.end()) {
    const llvm::SmallVector<const llvm::StoreInst *> all = storesNear(store, bits / 8, n);
    if (!all.empty())
      storeAtLast(all);
    return !all.empty();
  }
  storeEither(
      a, [&] { storeStructures(store, a, last->second, unsigned(n)); },
      [&] {
        for (const llvm::StoreInst *one : last->second)
          storeSlowly(*one, address(one->getPointerOperand()), vector(one->getValueOperand()));
      });
  return true;
}

/// A store into an array of structures: together with those to the structures' other elements,
/// where the last of them stands; also alone, with a mask that leaves out what lies between, on
/// AVX-512, or where that may be written back. False where nothing of it will do.
bool Accesses::storeStrided(const llvm::StoreInst &store, const Address &a) {
  const unsigned bits = store.getValueOperand()->getType()->getScalarSizeInBits();
  const bool hasMasks = context_.target.hasMaskRegisters();
  const int64_t n = structureElements(store, a);
  if (n == 0)
    return false;
  // What lies between may be read and written back: a load, a shuffle, a blend and a store of each
  // register, unless that is more work than to store element by element.
  const auto tryBlending = [&] {
    llvm::Type *element = plain(store.getValueOperand());
    const unsigned count = lanes_ * unsigned(n), registers = count / elementsPerRegister(element);
    if (count > kLimits.accesses.blended || float(registers * kLimits.accesses.blending) >
                                                context_.target.costs.scatter * float(lanes_))
      return false;
    llvm::SmallVector<int> source(count, -1), active(count, int(lanes_));
    for (unsigned l = 0; l < lanes_; ++l)
      source[l * unsigned(n)] = active[l * unsigned(n)] = int(l);
    Value *values = b_.CreateShuffleVector(vector(store.getValueOperand()), source);
    Value *who = b_.CreateShuffleVector(
        fullMask(), llvm::Constant::getNullValue(fullMask()->getType()), active);
    b_.CreateCall(
        blendingStore(store, llvm::cast<llvm::FixedVectorType>(values->getType())),
        {b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t((*a.offsets)[0])), values, who});
    return true;
  };
  auto last = structures_.find(&store);
  if (last == structures_.end()) {
    llvm::SmallVector<const llvm::StoreInst *> all = storesNear(store, bits / 8, n);
    if (all.empty()) {
      if (!knownLanes().empty())
        return false;
      if (isBlended(store))
        return tryBlending();
      // Masked stores do not forward what they store to loads, and local memory is read soon.
      const bool isLocal =
          llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store.getPointerOperand()));
      if (!hasMasks || isLocal)
        return false;
      storeStructures(store, a, {}, unsigned(n));
      return true;
    }
    if (mask() && bits < 32 && !hasMasks)
      return false;
    storeAtLast(all);
    return true; // it is not the last
  }
  storeStructures(store, a, last->second, unsigned(n));
  return true;
}

/// Lanes that each write several elements on end, wherever they are: a transposition and one store
/// per lane, where the last of the stores stands. False where the stores nearby are not so.
bool Accesses::storeRows(const llvm::StoreInst &store, const Address &a) {
  llvm::Type *type = plain(store.getValueOperand());
  const unsigned bits = type->getScalarSizeInBits();
  if (isOffMainLine_ || isBaseline() || !store.isSimple() || type->isVectorTy() ||
      type->isPointerTy() || (bits != 32 && bits != 64))
    return false;
  const unsigned each = elementsPerRegister(type);
  const int64_t size = bits / 8;
  auto last = structures_.find(&store);
  if (last == structures_.end()) {
    llvm::SmallVector<const llvm::StoreInst *> all;
    for (unsigned n = each; all.empty() && n * bits >= 128 && lanes_ % each == 0; n /= 2)
      all = storesNear(store, size, n);
    if (all.empty())
      return false;
    storeAtLast(all);
    return true; // it is not the last
  }
  const llvm::SmallVector<const llvm::StoreInst *> all = last->second;
  const unsigned n = unsigned(all.size());
  const int64_t start =
      minus(sumOf(all[0]->getPointerOperand()).constant, sumOf(store.getPointerOperand()).constant);
  Value *to = orDummy(pointers(a), n * uint64_t(size), -start);
  llvm::SmallVector<Value *> wides;
  for (const llvm::StoreInst *one : all)
    wides.push_back(vector(one->getValueOperand()));
  const auto piece = [&](Value *whole, unsigned first, unsigned count) {
    llvm::SmallVector<int> order;
    for (unsigned k = 0; k < count; ++k)
      order.push_back(int(first + k));
    return elementCount(whole) == count ? whole : b_.CreateShuffleVector(whole, order);
  };
  for (unsigned lane = 0; lane < lanes_; lane += each) {
    llvm::SmallVector<Value *> in;
    for (Value *w : wides)
      in.push_back(piece(w, lane, each));
    for (auto [r, rows] : llvm::enumerate(interleave(in)))
      for (unsigned k = 0; k < each / n; ++k) {
        Value *at = b_.CreateExtractElement(to, lane + unsigned(r) * (each / n) + k);
        b_.CreateAlignedStore(piece(rows, k * n, n),
                              b_.CreateConstGEP1_64(b_.getInt8Ty(), at, uint64_t(start)),
                              store.getAlign());
      }
  }
  return true;
}

/// Stores structures of n elements: all of them, which `stores` give, or only that of `store`.
void Accesses::storeStructures(const llvm::StoreInst &store, const Address &a,
                               llvm::ArrayRef<const llvm::StoreInst *> stores, unsigned n) {
  llvm::Type *type = plain(store.getValueOperand());
  const uint64_t size = type->getScalarSizeInBits() / 8;
  const unsigned each = elementsPerRegister(type);
  llvm::SmallVector<Value *> wides;
  for (const llvm::StoreInst *one : stores)
    wides.push_back(vector(one->getValueOperand()));
  Value *own = stores.empty() ? vector(store.getValueOperand()) : nullptr;
  int64_t at = (*a.offsets)[0];
  if (!own)
    at = minus(at, minus(sumOf(store.getPointerOperand()).constant,
                         sumOf(stores[0]->getPointerOperand()).constant));
  Value *to = b_.CreateConstGEP1_64(b_.getInt8Ty(), a.base, uint64_t(at));
  llvm::SmallVector<Value *> blended, who;
  for (unsigned lane = 0; lane < lanes_; lane += each) {
    auto part = [&](Value *wide) {
      llvm::SmallVector<int> order;
      for (unsigned p = 0; p < each; ++p)
        order.push_back(int(lane + p));
      return each == lanes_ ? wide : b_.CreateShuffleVector(wide, order);
    };
    llvm::SmallVector<Value *> registers;
    if (!own) {
      llvm::SmallVector<Value *> in;
      for (Value *w : wides)
        in.push_back(part(w));
      registers = interleave(in);
    }
    for (unsigned r = 0; r < n; ++r) {
      llvm::SmallVector<int> source, active;
      for (unsigned p = 0; p < each; ++p) {
        const unsigned from = r * each + p;
        const bool isHere = !own || from % n == 0;
        source.push_back(isHere ? int(lane + from / n) : -1);
        active.push_back(isHere ? int(lane + from / n) : int(lanes_));
      }
      Value *v = own ? b_.CreateShuffleVector(own, source) : registers[r];
      Value *place = b_.CreateConstGEP1_64(b_.getInt8Ty(), to,
                                           uint64_t(lane) * n * size + uint64_t(r) * each * size);
      if (!own && !mask()) {
        b_.CreateAlignedStore(v, place, store.getAlign());
        continue;
      }
      Value *lanes = b_.CreateShuffleVector(
          fullMask(), llvm::Constant::getNullValue(fullMask()->getType()), active);
      if (own || !isBlended(store)) {
        b_.CreateMaskedStore(v, place, store.getAlign(), lanes);
        continue;
      }
      blended.push_back(v);
      who.push_back(lanes);
    }
  }
  if (blended.empty())
    return;
  Value *all = concatenate(blended);
  b_.CreateCall(blendingStore(store, llvm::cast<llvm::FixedVectorType>(all->getType())),
                {to, all, concatenate(who)});
}

void Accesses::forgetBlock() {
  ValueMap::forgetBlock();
  separated_.clear();
  groupStarts_.clear();
}

/// Element k of each lane's vector, where most elements are asked for in this block; null where
/// they are not.
llvm::Value *Accesses::separatedElement(const llvm::ExtractElementInst &e, unsigned k) {
  const Value *whole = e.getVectorOperand();
  const unsigned n = llvm::cast<llvm::FixedVectorType>(whole->getType())->getNumElements();
  const unsigned bits = whole->getType()->getScalarSizeInBits();
  if ((n != 2 && n != 4 && n != 8) || (bits != 16 && bits != 32 && bits != 64) ||
      whole->getType()->getScalarType()->isPointerTy() || isOffMainLine_ ||
      shapes_.isUniform(whole))
    return nullptr;
  auto [it, isNew] = separated_.try_emplace(whole);
  if (isNew) {
    std::set<const Value *> asked;
    for (const llvm::User *u : whole->users())
      if (auto *other = llvm::dyn_cast<llvm::ExtractElementInst>(u);
          other && other->getParent() == e.getParent())
        asked.insert(other->getIndexOperand());
    if (asked.size() * 2 <= n)
      return nullptr;
    Value *all = vector(whole);
    auto *load = llvm::dyn_cast<llvm::LoadInst>(all);
    llvm::Type *element = whole->getType()->getScalarType();
    it->second = separate(n, element, [&](unsigned first, unsigned count) -> Value * {
      if (load && load->isSimple()) {
        const llvm::IRBuilderBase::InsertPointGuard guard(b_);
        b_.SetInsertPoint(load);
        const uint64_t bytes = first * (bits / 8);
        llvm::LoadInst *l = b_.CreateAlignedLoad(
            vec(element, count),
            b_.CreateConstGEP1_64(b_.getInt8Ty(), load->getPointerOperand(), bytes),
            llvm::commonAlignment(load->getAlign(), bytes));
        copyAccessTraits(l, *load);
        return l;
      }
      llvm::SmallVector<int> order;
      for (unsigned p = 0; p < count; ++p)
        order.push_back(int(first + p));
      return b_.CreateShuffleVector(all, order);
    });
  }
  return it->second.empty() ? nullptr : it->second[k];
}

/// What a chain of insertions into nothing has made whole with `last`, lane by lane; null if it is
/// not whole.
llvm::Value *Accesses::joinedElements(const llvm::InsertElementInst &last) {
  const unsigned n = llvm::cast<llvm::FixedVectorType>(last.getType())->getNumElements();
  const unsigned bits = last.getType()->getScalarSizeInBits();
  if ((n != 2 && n != 4 && n != 8) || (bits != 16 && bits != 32 && bits != 64) ||
      last.getOperand(1)->getType()->isPointerTy())
    return nullptr;
  llvm::SmallVector<const Value *> elements(n, nullptr);
  const Value *v = &last;
  while (auto *e = llvm::dyn_cast<llvm::InsertElementInst>(v)) {
    auto *k = llvm::dyn_cast<llvm::ConstantInt>(e->getOperand(2));
    if (!k || k->getZExtValue() >= n)
      return nullptr;
    if (!elements[k->getZExtValue()])
      elements[k->getZExtValue()] = e->getOperand(1);
    v = e->getOperand(0);
  }
  if (!llvm::isa<llvm::UndefValue>(v) || llvm::is_contained(elements, nullptr))
    return nullptr;
  llvm::SmallVector<Value *> wides, pieces;
  for (const Value *e : elements)
    wides.push_back(vector(e));
  const unsigned perRegister = elementsPerRegister(last.getType()->getScalarType());
  for (unsigned lane = 0; lane < lanes_; lane += perRegister) {
    llvm::SmallVector<int> order;
    for (unsigned p = 0; p < perRegister; ++p)
      order.push_back(int(lane + p));
    llvm::SmallVector<Value *> in;
    for (Value *w : wides)
      in.push_back(perRegister == lanes_ ? w : b_.CreateShuffleVector(w, order));
    pieces.append(putTogether(in, 0, 1));
  }
  return concatenate(pieces);
}

} // namespace ptxrun::simt
