#include "translate/simt/transposes.h"

#include <llvm/ADT/SmallSet.h>

#include <optional>

#include "translate/simt/pieces.h"

namespace ptxrun::simt {

using llvm::Value;

llvm::SmallVector<Value *> transposeBlocks(llvm::IRBuilderBase &b,
                                           llvm::SmallVector<Value *> rows) {
  auto pick = [&](Value *x, Value *y, llvm::ArrayRef<int> blocks) {
    const int each = int(elementCount(x) / blocks.size());
    llvm::SmallVector<int> order;
    for (int block : blocks)
      for (int e = 0; e < each; ++e)
        order.push_back(block * each + e);
    return b.CreateShuffleVector(x, y, order);
  };
  if (rows.size() == 1)
    return rows;
  if (rows.size() == 4)
    rows = {pick(rows[0], rows[1], {0, 1, 4, 5}), pick(rows[2], rows[3], {0, 1, 4, 5}),
            pick(rows[0], rows[1], {2, 3, 6, 7}), pick(rows[2], rows[3], {2, 3, 6, 7})};
  const int places[] = {0, 2, 4, 6, 1, 3, 5, 7}, two[] = {0, 2, 1, 3};
  const llvm::ArrayRef<int> order = rows.size() == 2 ? llvm::ArrayRef(two) : llvm::ArrayRef(places);
  llvm::SmallVector<Value *> out;
  for (unsigned k = 0; k < rows.size(); k += 2)
    for (bool isOdd : {false, true})
      out.push_back(pick(rows[k], rows[k + 1], order.slice(isOdd ? rows.size() : 0, rows.size())));
  return out;
}

llvm::SmallVector<Value *> transposeElements(llvm::IRBuilderBase &b,
                                             llvm::SmallVector<Value *> rows) {
  const unsigned n = unsigned(rows.size());
  for (unsigned round = n; round > 1; round /= 2) {
    llvm::SmallVector<Value *> next;
    for (unsigned k = 0; k < n / 2; ++k)
      for (unsigned half : {0u, n / 2}) {
        llvm::SmallVector<int> order;
        for (unsigned first = half, all = elementCount(rows[k]); first < all; first += n)
          for (unsigned e = first; e < first + n / 2; ++e)
            order.append({int(e), int(all + e)});
        next.push_back(b.CreateShuffleVector(rows[k], rows[k + n / 2], order));
      }
    rows = next;
  }
  return rows;
}

llvm::SmallVector<Value *> transpose(llvm::IRBuilderBase &b, llvm::ArrayRef<Value *> rows) {
  const unsigned n = unsigned(rows.size()), perBlock = 128 / elementBits(rows[0]),
                 blocks = n / perBlock;
  // By the element's place in its block, then by the rows it is of.
  llvm::SmallVector<llvm::SmallVector<Value *>> places(perBlock);
  for (unsigned block = 0; block < blocks; ++block)
    for (auto [place, row] : llvm::enumerate(transposeElements(
             b, {rows.begin() + block * perBlock, rows.begin() + (block + 1) * perBlock})))
      places[place].push_back(row);
  llvm::SmallVector<Value *> out(n);
  for (unsigned place = 0; place < perBlock; ++place)
    for (auto [block, column] : llvm::enumerate(transposeBlocks(b, places[place])))
      out[block * perBlock + place] = column;
  return out;
}

namespace {

using Order = llvm::SmallVector<int>;

/// Two registers whose elements' numbers differ in the bit `apart`, block of 16 bytes by block: the
/// lower halves of both, interleaved element by element or pair by pair, and the upper ones
/// (unpck).
Order interleaved(unsigned count, unsigned apart, bool byPairs) {
  Order order;
  for (unsigned l = 0; l < count; ++l) {
    const unsigned inBlock = l & 3, isUpper = (l & apart) != 0;
    const unsigned isSecond = byPairs ? inBlock >> 1 : inBlock & 1;
    const unsigned from = isUpper << 1 | (byPairs ? inBlock & 1 : inBlock >> 1);
    order.push_back(int((l & ~(apart | 3u)) | isSecond * apart | from));
  }
  return order;
}

/// What `first` and then `second` come to.
Order after(llvm::ArrayRef<int> first, llvm::ArrayRef<int> second) {
  Order both;
  for (int l : second)
    both.push_back(first[size_t(l)]);
  return both;
}

/// Whole registers of what `made` gives, so that all comes to `order`.
std::optional<Order> registersOf(llvm::ArrayRef<int> made, llvm::ArrayRef<int> order,
                                 unsigned perRegister) {
  Order moved;
  for (size_t to = 0; to < order.size(); to += perRegister) {
    size_t from = 0;
    while (from < made.size() && made.slice(from, perRegister) != order.slice(to, perRegister))
      from += perRegister;
    if (from == made.size())
      return std::nullopt;
    for (unsigned k = 0; k < perRegister; ++k)
      moved.push_back(int(from + k));
  }
  return moved;
}

} // namespace

llvm::SmallVector<Order> inSteps(llvm::ArrayRef<int> order, unsigned perRegister) {
  const auto count = unsigned(order.size());
  unsigned most = 0; // registers that one is made of
  for (unsigned to = 0; to < count; to += perRegister) {
    llvm::SmallSet<unsigned, 8> from;
    for (unsigned k = 0; k < perRegister; ++k)
      from.insert(unsigned(order[to + k]) / perRegister);
    most = std::max(most, unsigned(from.size()));
  }
  llvm::SmallVector<Order> single{Order(order)}, steps;
  if (most <= 2 || perRegister < 4)
    return single;
  for (unsigned apart = perRegister; apart < count; apart *= 2)
    for (bool byPairs : {false, true})
      steps.push_back(interleaved(count, apart, byPairs));
  for (const Order &first : steps)
    for (const Order &second : steps)
      if (const auto last = registersOf(after(first, second), order, perRegister))
        return {first, second, *last};
  return single;
}

} // namespace ptxrun::simt
