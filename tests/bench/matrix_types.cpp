// mma of every type: products of 256 x 256 x 1024 whose operands lie in memory as fragments, so
// that little else is timed. Floats run against OpenBLAS on the same numbers (or a plain loop),
// integers against a loop of VNNI.
#include <bit>
#include <random>

#include "intrinsics/matrix/fragment.h"
#include "tests/bench/harness.h"
#include "tests/bench/loops.h"

namespace ptxrun::bench {
namespace {

using matrix::Element, matrix::Fragment, matrix::Role;

constexpr unsigned kRows = 256, kColumns = 256, kDepth = 1024;
constexpr unsigned kWarpRows = 64, kWarpColumns = 64; ///< of the product, that a warp has

/// One form of mma.
struct Form {
  std::string name;
  double bar;       ///< of what is above 2, more is within reach: the goal is 1.5
  std::string text; ///< the instruction, and in `tail` what follows its registers c
  Element a, d;
  unsigned k;
  std::string tail = {};
  bool isSparse = false;
  bool isByteEach = false;
};

const std::vector<Form> &forms() {
  const auto sync = [](const char *rest) { return std::string("mma.sync.aligned.") + rest; };
  const auto sparse = [](const char *rest) {
    return std::string("mma.sp::ordered_metadata.sync.aligned.") + rest;
  };
  static const std::vector<Form> list = {
      {"mma_f16_f32", 1.5, sync("m16n8k16.row.col.f32.f16.f16.f32"), Element::f16, Element::f32,
       16},
      {"mma_f16_f16", 2, sync("m16n8k16.row.col.f16.f16.f16.f16"), Element::f16, Element::f16, 16},
      {"mma_bf16", 1.5, sync("m16n8k16.row.col.f32.bf16.bf16.f32"), Element::bf16, Element::f32,
       16},
      {"mma_tf32", 1.7, sync("m16n8k8.row.col.f32.tf32.tf32.f32"), Element::tf32, Element::f32, 8},
      {"mma_e4m3", 1.5, sync("m16n8k32.row.col.f32.e4m3.e4m3.f32"), Element::e4m3, Element::f32,
       32},
      {"mma_f64", 5, sync("m8n8k4.row.col.f64.f64.f64.f64"), Element::f64, Element::f64, 4},
      {"mma_s8", 1.7, sync("m16n8k32.row.col.s32.s8.s8.s32"), Element::s8, Element::s32, 32},
      {"mma_s4", 1.5, sync("m16n8k64.row.col.s32.s4.s4.s32"), Element::s4, Element::s32, 64},
      {"mma_b1", 1.5, sync("m16n8k256.row.col.s32.b1.b1.s32.and.popc"), Element::b1, Element::s32,
       256},
      {"mma_sp_f16", 3, sparse("m16n8k32.row.col.f32.f16.f16.f32"), Element::f16, Element::f32, 32,
       ", %meta, 0x0", true},
      {"mma_sp_s8", 2, sparse("m16n8k64.row.col.s32.s8.s8.s32"), Element::s8, Element::s32, 64,
       ", %meta, 0x0", true},
      {"mma_mxf8", 4,
       sync("m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"),
       Element::e4m3, Element::f32, 32, ", %one, {0, 0}, %one, {0, 0}", false, true},
      {"mma_mxf4", 4,
       sync("m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"),
       Element::e2m1, Element::f32, 64, ", %one, {0, 0}, %one, {0, 0}"},
  };
  return list;
}

unsigned rowsOf(const Form &f) { return f.a == Element::f64 ? 8 : 16; }
unsigned bytesOfRegister(const Form &f) { return f.a == Element::f64 ? 8 : 4; }

Fragment fragmentOf(const Form &f, Role role) {
  Fragment r;
  r.role = role;
  r.element = role == Role::accumulator ? f.d : f.a;
  r.m = uint16_t(rowsOf(f));
  r.k = uint16_t(role == Role::a && f.isSparse ? f.k / 2 : f.k);
  const unsigned bits = matrix::registerBits(r.element, f.isByteEach);
  r.perRegister = uint8_t(bits > 32 ? 1 : 32 / bits);
  const unsigned elements = role == Role::a ? r.m * r.k : role == Role::b ? 8 * r.k : 8u * r.m;
  r.registers = uint8_t(elements / r.perRegister / matrix::kWarpLanes);
  return r;
}

/// The kernel: each warp reads its fragments step by step and adds to 64 x 64 elements of D.
std::string textOf(const Form &f) {
  const unsigned bytes = bytesOfRegister(f), lanes = 32 * bytes;
  const std::string type = bytes == 8 ? ".f64" : ".b32", acc = bytes == 8            ? ".f64"
                                                               : f.d == Element::f32 ? ".f32"
                                                                                     : ".b32";
  const unsigned a = fragmentOf(f, Role::a).registers, b = fragmentOf(f, Role::b).registers,
                 d = fragmentOf(f, Role::accumulator).registers;
  const unsigned tallies = kWarpRows / rowsOf(f), wide = kWarpColumns / 8;
  const bool isNew = f.tail.find("%one") != std::string::npos;
  const auto number = [](unsigned n) { return std::to_string(n); };
  const auto name = [&](char kind, unsigned fragment, unsigned part) {
    return std::string("%") + kind + number(fragment) + "_" + number(part);
  };
  const auto list = [&](char kind, unsigned fragment, unsigned count) {
    std::string all;
    for (unsigned i = 0; i < count; ++i)
      all += (i ? ", " : "{") + name(kind, fragment, i);
    return all + "}";
  };
  std::string s = std::string(".version 8.7\n.target ") + (isNew ? "sm_120a" : "sm_90") +
                  "\n.address_size 64\n.visible .entry multiply(.param .u64 pa, .param .u64 pb, "
                  ".param .u64 pd) {\n"
                  ".reg .b32 %t, %lane, %warp, %row, %column, %step, %meta, %one, %n;\n"
                  ".reg .b64 %a, %b, %d, %o;\n.reg .pred %more;\n";
  const auto declare = [&](char kind, unsigned fragments, unsigned parts, const std::string &t) {
    for (unsigned i = 0; i < fragments; ++i)
      for (unsigned p = 0; p < parts; ++p)
        s += ".reg " + t + " " + name(kind, i, p) + ";\n";
  };
  declare('a', tallies, a, type);
  declare('b', wide, b, type);
  declare('d', tallies * wide, d, acc);
  const unsigned steps = kDepth / f.k, sizeA = steps * a * lanes, sizeB = steps * b * lanes;
  s += "mov.u32 %t, %tid.x;\nand.b32 %lane, %t, 31;\nshr.u32 %warp, %t, 5;\n"
       "mov.u32 %row, %ctaid.y;\nshl.b32 %row, %row, 1;\nshr.u32 %n, %warp, 1;\n"
       "add.u32 %row, %row, %n;\nmov.u32 %column, %ctaid.x;\nshl.b32 %column, %column, 1;\n"
       "and.b32 %n, %warp, 1;\nadd.u32 %column, %column, %n;\n"
       "mov.b32 %meta, 0x44444444;\nmov.b32 %one, 0x7f7f7f7f;\n"
       "ld.param.u64 %a, [pa];\nld.param.u64 %b, [pb];\nld.param.u64 %d, [pd];\n"
       "mul.wide.u32 %o, %lane, " +
       number(bytes) +
       ";\nadd.u64 %a, %a, %o;\nadd.u64 %b, %b, %o;\n"
       "add.u64 %d, %d, %o;\nmul.wide.u32 %o, %row, " +
       number(tallies * sizeA) + ";\nadd.u64 %a, %a, %o;\nmul.wide.u32 %o, %column, " +
       number(wide * sizeB) + ";\nadd.u64 %b, %b, %o;\nmul.wide.u32 %o, %row, " +
       number(tallies * (kColumns / 8) * d * lanes) +
       ";\nadd.u64 %d, %d, %o;\nmul.wide.u32 %o, %column, " + number(wide * d * lanes) +
       ";\nadd.u64 %d, %d, %o;\nmov.u32 %step, 0;\n";
  for (unsigned i = 0; i < tallies * wide; ++i)
    for (unsigned p = 0; p < d; ++p)
      s += "mov" + acc + " " + name('d', i, p) +
           (acc == ".b32"   ? ", 0;\n"
            : acc == ".f64" ? ", 0d0000000000000000;\n"
                            : ", 0f00000000;\n");
  s += "loop:\n";
  const auto load = [&](char kind, unsigned fragments, unsigned parts, unsigned size) {
    for (unsigned i = 0; i < fragments; ++i)
      for (unsigned p = 0; p < parts; ++p)
        s += "ld.global" + type + " " + name(kind, i, p) + ", [%" + kind + "+" +
             number(i * size + p * lanes) + "];\n";
  };
  load('a', tallies, a, sizeA);
  load('b', wide, b, sizeB);
  for (unsigned i = 0; i < tallies; ++i)
    for (unsigned j = 0; j < wide; ++j) {
      const std::string sums = list('d', i * wide + j, d);
      s += f.text + " " + sums + ", " + list('a', i, a) + ", " + list('b', j, b) + ", " + sums +
           f.tail + ";\n";
    }
  s += "add.u64 %a, %a, " + number(a * lanes) + ";\nadd.u64 %b, %b, " + number(b * lanes) +
       ";\nadd.u32 %step, %step, 1;\nsetp.lt.u32 %more, %step, " + number(steps) +
       ";\n@%more bra loop;\n";
  for (unsigned i = 0; i < tallies; ++i)
    for (unsigned j = 0; j < wide; ++j)
      for (unsigned p = 0; p < d; ++p)
        s += "st.global" + acc + " [%d+" + number(((i * (kColumns / 8) + j) * d + p) * lanes) +
             "], " + name('d', i * wide + j, p) + ";\n";
  return s + "ret;\n}\n";
}

/// Bits of an integer from -2 to 2 (b1: 0 and 1).
uint64_t codeOf(Element element, int x) {
  const auto sign = [&](unsigned at) { return x < 0 ? uint64_t{1} << at : 0; };
  const int size = std::abs(x);
  switch (element) {
  case Element::f64:
    return std::bit_cast<uint64_t>(double(x));
  case Element::tf32:
    return std::bit_cast<uint32_t>(float(x));
  case Element::bf16:
    return std::bit_cast<uint32_t>(float(x)) >> 16;
  case Element::f16:
    return std::bit_cast<uint16_t>(_Float16(x));
  case Element::e4m3:
    return sign(7) | uint64_t(size == 0 ? 0 : size == 1 ? 0x38 : 0x40);
  case Element::e2m1:
    return sign(3) | uint64_t(size == 0 ? 0 : size == 1 ? 2 : 4);
  case Element::s8:
    return uint8_t(x);
  case Element::s4:
    return uint8_t(x) & 15;
  default:
    return uint64_t(x & 1);
  }
}

double numberOf(Element element, uint64_t bits) {
  switch (element) {
  case Element::f64:
    return std::bit_cast<double>(bits);
  case Element::f32:
    return std::bit_cast<float>(uint32_t(bits));
  case Element::f16:
    return double(std::bit_cast<_Float16>(uint16_t(bits)));
  default:
    return int32_t(uint32_t(bits));
  }
}

/// Calls body(row or column, k or column, lane-wise byte offset, first bit, bits) for each element.
template <class Body>
void forEachElement(const Form &f, Role role, unsigned rows, unsigned across, Body body) {
  const Fragment fragment = fragmentOf(f, role);
  const unsigned bytes = bytesOfRegister(f);
  const unsigned tall = role == Role::b ? 8 : rowsOf(f),
                 wide = role == Role::accumulator ? 8 : fragment.k;
  const unsigned bits = 8 * bytes / fragment.perRegister;
  size_t at = 0;
  for (unsigned i = 0; i < rows / tall; ++i)
    for (unsigned j = 0; j < across / wide; ++j)
      for (unsigned r = 0; r < fragment.registers; ++r)
        for (unsigned lane = 0; lane < 32; ++lane, at += bytes)
          for (unsigned part = 0; part < fragment.perRegister; ++part) {
            const matrix::Place p = fragment.at(lane, r, part);
            const bool isB = role == Role::b;
            body(i * tall + (isB ? p.column : p.row), j * wide + (isB ? p.row : p.column), at,
                 part * bits, bits);
          }
}

class Blas {
 public:
  /// d = a b^T, rows on end.
  void multiply(const float *a, const float *b, float *d) const { run(sgemm_, a, b, d); }
  void multiply(const double *a, const double *b, double *d) const { run(dgemm_, a, b, d); }

 private:
  template <class T>
  using Gemm = void(int, int, int, int, int, int, T, const T *, int, const T *, int, T, T *, int);
  using Sgemm = Gemm<float>;
  using Dgemm = Gemm<double>;
  template <class T> static void run(Gemm<T> *gemm, const T *a, const T *b, T *d) {
    constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
    if (gemm)
      return gemm(kRowMajor, kPlain, kTransposed, kRows, kColumns, kDepth, 1, a, kDepth, b, kDepth,
                  0, d, kColumns);
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned j = 0; j < kColumns; ++j) {
        T sum = 0;
        for (unsigned k = 0; k < kDepth; ++k)
          sum += a[i * kDepth + k] * b[j * kDepth + k];
        d[i * kColumns + j] = sum;
      }
  }
  Sgemm *sgemm_ = reinterpret_cast<Sgemm *>(blasFunction("cblas_sgemm"));
  Dgemm *dgemm_ = reinterpret_cast<Dgemm *>(blasFunction("cblas_dgemm"));
};

void measureForm(Table &table, const Form &f) {
  Data<double> a(kRows * kDepth), b(kColumns * kDepth), d(kRows * kColumns);
  Data<float> floatA(a.size()), floatB(b.size()), floatD(d.size());
  Data<int8_t> byteA(a.size()), byteB(b.size());
  Data<int32_t> byteD(d.size());
  Data<uint8_t> packedA(8 * a.size()), packedB(8 * b.size()), packedD(8 * d.size());
  std::mt19937 random(1);
  const auto pack = [&](Role role, unsigned rows, Data<double> &numbers, Data<uint8_t> &packed) {
    const unsigned across = role == Role::a && f.isSparse ? kDepth / 2 : kDepth;
    forEachElement(f, role, rows, across,
                   [&](unsigned row, unsigned k, size_t at, unsigned first, unsigned) {
                     const int x = f.a == Element::b1 ? int(random() % 2) : int(random() % 5) - 2;
                     const unsigned whole = role == Role::a && f.isSparse ? k / 2 * 4 + k % 2 : k;
                     numbers[row * kDepth + whole] = x;
                     uint64_t word = 0;
                     std::memcpy(&word, &packed[at], bytesOfRegister(f));
                     word |= codeOf(f.a, x) << first;
                     std::memcpy(&packed[at], &word, bytesOfRegister(f));
                   });
  };
  pack(Role::a, kRows, a, packedA);
  pack(Role::b, kColumns, b, packedB);
  for (size_t i = 0; i < a.size(); ++i) {
    floatA[i] = float(a[i]);
    byteA[i] = int8_t(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    floatB[i] = float(b[i]);
    byteB[i] = int8_t(b[i]);
  }
  const Blas blas;
  Sample sample(f.name + ".ptx", textOf(f));
  const auto launch =
      sample.bind("multiply", abi::Dim3{kColumns / kWarpColumns / 2, kRows / kWarpRows / 2},
                  abi::Dim3{128}, packedA.get(), packedB.get(), packedD.get());
  Subject s{f.name, f.bar, 1.5, {}, {}, {}, {}, {}, {}};
  s.ours = [&] { sample.run(launch); };
  const bool isInteger = matrix::isInteger(f.a);
  s.loop = [&] {
    if (f.a == Element::f64)
      blas.multiply(a.get(), b.get(), d.get());
    else if (isInteger)
      loops::gemmBytes(kRows, kColumns, kDepth, byteA.get(), byteB.get(), byteD.get());
    else
      blas.multiply(floatA.get(), floatB.get(), floatD.get());
  };
  s.snapshot = [&] { std::memset(packedD.get(), 0, packedD.bytes()); };
  s.compare = [&] {
    size_t wrong = 0;
    forEachElement(
        f, Role::accumulator, kRows, kColumns,
        [&](unsigned row, unsigned column, size_t at, unsigned first, unsigned bits) {
          uint64_t word = 0;
          std::memcpy(&word, &packedD[at], bytesOfRegister(f));
          const uint64_t own = bits == 64 ? word : word >> first & ((uint64_t{1} << bits) - 1);
          const size_t i = size_t{row} * kColumns + column;
          const double expected = f.a == Element::f64 ? d[i] : isInteger ? byteD[i] : floatD[i];
          wrong += numberOf(f.d, own) != expected;
        });
    return wrong ? std::to_string(wrong) + " elements differ" : std::string();
  };
  s.operations = 2.0 * kRows * kColumns * kDepth;
  table.measure(s);
}

} // namespace

void measureMatrixTypes(Table &table) {
  for (const Form &f : forms())
    if (table.wants(f.name))
      measureForm(table, f);
}

} // namespace ptxrun::bench
