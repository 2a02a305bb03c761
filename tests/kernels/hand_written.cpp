// Cases for hand/*.ptx: PTX written by hand, with the same computation in C++.
#include "tests/kernels/cases.h"

namespace onhost {
namespace {

/// What one thread of (in, out, n) does, given its number.
using Work = std::function<void(unsigned thread, const uint32_t *in, uint32_t *out)>;

bool add(const char *file, const char *kernel, Shape grid, Shape block, unsigned inputs,
         unsigned outputs, unsigned n, Work work) {
  Case added;
  added.file = std::string(PTXRUN_KERNELS) + "/hand/" + file;
  added.kernel = kernel;
  added.grid = grid;
  added.block = block;
  added.types = {{true, false, 4}, {true, false, 4}, {false, false, 4}};
  added.arguments = {in(inputs, random(3)), out(outputs), value(int64_t{n})};
  unsigned threads = grid.x * block.x;
  added.onHost = [=](const std::vector<void *> &addresses) {
    for (unsigned t = 0; t < threads; ++t)
      work(t, static_cast<uint32_t *>(addresses[0]), static_cast<uint32_t *>(addresses[1]));
  };
  cases().push_back(std::move(added));
  return true;
}

void twoEntries(unsigned i, const uint32_t *in, uint32_t *out) {
  uint32_t v = in[i], sum = 0, count = 0;
  bool isAtTop = !(v & 1);
  for (;;) {
    if (isAtTop) {
      sum += v;
      v >>= 1;
      if (++count > 40)
        break;
    }
    sum ^= v;
    v += 7;
    ++count;
    if ((v & 31) == 5)
      break;
    isAtTop = true;
  }
  out[i] = count * 1000003 + sum;
}

void threeWay(unsigned i, const uint32_t *in, uint32_t *out) {
  uint32_t v = in[i], r = 1, count = 0;
  char at = (v & 3) == 0 ? 'A' : (v & 3) == 1 ? 'B' : 'C';
  for (;;) {
    if (at == 'A') {
      r = r * 3 + 1;
      if (++count > 30)
        break;
      v ^= r;
      at = v & 4 ? 'C' : 'B';
    } else if (at == 'C') {
      r = r * 7 + 3;
      if (++count > 33)
        break;
      v += r;
      at = v & 8 ? 'B' : 'A';
    } else {
      r = r * 5 + 2;
      ++count;
      if ((r & 255) == 17 || count > 36)
        break;
      at = r & 16 ? 'A' : 'C';
    }
  }
  out[i] = r + count;
}

void jumpTable(unsigned i, const uint32_t *in, uint32_t *out) {
  uint32_t v = in[i], r = 0, count = 0;
  while (++count <= 12) {
    uint32_t which = v & 3;
    v >>= 2;
    if (which == 2)
      break;
    if (which == 3)
      r += 3;
    if (which == 0)
      r += 1;
    if (which == 1)
      r = r * 3 + 5;
  }
  out[i] = count * 65536 + r;
}

void predicated(unsigned i, const uint32_t *in, uint32_t *out, unsigned n) {
  if (i >= n)
    return;
  uint32_t v = in[i], w = 5;
  bool isLess = static_cast<int32_t>(v) < 100;
  w = isLess ? w + 10 : w - 3;
  if (!isLess)
    w *= v;
  w = (v & 1) == 0 ? w ^ 0x55 : w >> 1;
  out[i] = isLess ? w : v;
}

void scopes(unsigned i, const uint32_t *in, uint32_t *out) {
  uint32_t r = 1;
  int32_t v = 100;
  do {
    r += static_cast<uint32_t>(v);
    v -= 30;
  } while (v > 0);
  r += static_cast<uint32_t>(v + 7);
  for (uint32_t k = in[i] & 15; k > 0; --k)
    r += k;
  out[i] = r;
}

void carries(unsigned i, const uint32_t *in, uint32_t *out) {
  uint64_t a = in[2 * i], b = in[2 * i + 1];
  out[4 * i] = static_cast<uint32_t>(a + b);
  out[4 * i + 1] = static_cast<uint32_t>(a + ((a + b) >> 32));
  uint32_t x = static_cast<uint32_t>(a - b) ^ static_cast<uint32_t>(b - 7 - (a < b));
  uint64_t product = a * b, low = (product & 0xffffffff) + 77;
  x += static_cast<uint32_t>(low);
  x ^= static_cast<uint32_t>((product >> 32) + (low >> 32));
  out[4 * i + 2] = x;
  uint32_t c = static_cast<uint32_t>(a) >> 5 & 0x7ff;
  uint32_t d = (c & ~(0x1ffu << 3)) | (static_cast<uint32_t>(b) & 0x1ff) << 3;
  d = (d > a ? d - static_cast<uint32_t>(a) : static_cast<uint32_t>(a) - d) +
      static_cast<uint32_t>(b);
  out[4 * i + 3] = static_cast<int32_t>(b) >= 0 ? static_cast<uint32_t>(a) : d;
}

void calls(unsigned i, const uint32_t *in, uint32_t *out) {
  uint32_t v = in[i] & 15;
  if (v != 13)
    out[i] = (v + i) * 1000 + v * i;
}

void spaces(unsigned i, const uint32_t *in, uint32_t *out) {
  uint32_t mine[2] = {in[i], in[1]};
  out[i] = mine[i & 1] * 3 + 3;
}

[[maybe_unused]] const bool areAdded =
    add("irreducible.ptx", "twoEntries", grid(3), block(70), 210, 210, 210, twoEntries) &&
    add("irreducible.ptx", "threeWay", grid(2), block(96), 192, 192, 192, threeWay) &&
    add("irreducible.ptx", "jumpTable", grid(2), block(96), 192, 192, 192, jumpTable) &&
    add("written.ptx", "predicated", grid(3), block(70), 210, 210, 200,
        [](unsigned i, const uint32_t *in, uint32_t *out) { predicated(i, in, out, 200); }) &&
    add("written.ptx", "scopes", grid(1), block(96), 96, 96, 96, scopes) &&
    add("written.ptx", "carries", grid(1), block(96), 192, 384, 96, carries) &&
    add("written.ptx", "calls", grid(1), block(96), 96, 96, 96, calls) &&
    add("written.ptx", "spaces", grid(1), block(64), 64, 64, 64, spaces);

} // namespace
} // namespace onhost
