// What this machine's operations cost, beside what translate/simt/cost.cpp says of its model.
//
//   costs            each cost in cycles: measured, in the table, and a mark where they differ by
//                    more than a third
//   costs --table    the initializer for cost.cpp
//
// A cycle is a third of a multiplication that waits for the one before: 3 cycles on all models of
// the table. Memory is 4 KiB in the first cache; instructions of one kind do not wait for each
// other where it does not say latency.
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "translate/simt/target.h"

namespace {

using ptxrun::CpuLevel;
using ptxrun::simt::OperationCosts;

constexpr uint64_t kRounds = 40'000;
constexpr unsigned kBytes = 4096;

alignas(4096) uint8_t memory[kBytes];
alignas(64) uint32_t places[64]; ///< bytes, in lines of their own
alignas(64) const uint32_t lanes[16] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14};

#define EIGHT(x) x x x x x x x x
/// `body` eight times per round; rax: places' values, rdx: memory, zmm1: places, k1: all lanes.
#define LOOP(name, features, setUp, body)                                                          \
  __attribute__((target(features))) void name(uint64_t rounds) {                                   \
    asm volatile(setUp "\n1:\n" EIGHT(body) "dec %[n]\njnz 1b\n"                                   \
                 : [n] "+r"(rounds)                                                                \
                 : [m] "r"(memory), [p] "r"(places), [l] "r"(lanes)                                \
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", \
                   "xmm5", "xmm6", "xmm7", "memory", "cc");                                        \
  }

#define WIDE "avx512f,avx512bw,avx512dq,avx512vl"
#define SET_UP_WIDE                                                                                \
  "vmovdqa64 (%[p]), %%zmm1\nvmovdqa64 (%[l]), %%zmm3\nkxnorw %%k1, %%k1, %%k1\n"                  \
  "vpbroadcastd (%[l]), %%zmm4\nvcvtdq2ps %%zmm4, %%zmm4\n"
#define SET_UP_AVX2                                                                                \
  "vmovdqa (%[p]), %%ymm1\nvmovdqa (%[l]), %%ymm3\nvpcmpeqd %%ymm5, %%ymm5, %%ymm5\n"              \
  "vpbroadcastd (%[l]), %%ymm4\nvcvtdq2ps %%ymm4, %%ymm4\n"

LOOP(multiply, "sse4.1", "mov $3, %%eax\n", "imul %%eax, %%eax\n")

LOOP(gather512, WIDE, SET_UP_WIDE,
     "kxnorw %%k2, %%k2, %%k2\nvpxord %%zmm2, %%zmm2, %%zmm2\n"
     "vpgatherdd (%[m],%%zmm1), %%zmm2%{%%k2%}\n")
LOOP(scatter512, WIDE, SET_UP_WIDE,
     "kxnorw %%k2, %%k2, %%k2\nvpscatterdd %%zmm3, (%[m],%%zmm1)%{%%k2%}\n")
LOOP(maskedLoad512, WIDE, SET_UP_WIDE, "vmovdqu32 64(%[m]), %%zmm2%{%%k1%}%{z%}\n")
LOOP(maskedStore512, WIDE, SET_UP_WIDE, "vmovdqu32 %%zmm3, 64(%[m])%{%%k1%}\n")
LOOP(compress512, WIDE, SET_UP_WIDE,
     "vpxord %%zmm2, %%zmm2, %%zmm2\nvpcompressd %%zmm3, %%zmm2%{%%k1%}%{z%}\n")
LOOP(compressStore512, WIDE, SET_UP_WIDE, "vpcompressd %%zmm3, 64(%[m])%{%%k1%}\n")
LOOP(shuffle512, WIDE, SET_UP_WIDE, "vpermd %%zmm1, %%zmm3, %%zmm2\n")
LOOP(divide512, WIDE, SET_UP_WIDE, "vdivps %%zmm4, %%zmm4, %%zmm2\n")
LOOP(divideDoubles512, WIDE, SET_UP_WIDE, "vdivpd %%zmm4, %%zmm4, %%zmm2\n")
LOOP(convert512, WIDE, SET_UP_WIDE, "vcvttps2dq %%zmm4, %%zmm2\n")
LOOP(
    gatherLatency512, WIDE, SET_UP_WIDE "vpxord %%zmm2, %%zmm2, %%zmm2\n",
    "kxnorw %%k2, %%k2, %%k2\nvpgatherdd (%[m],%%zmm2), %%zmm4%{%%k2%}\nvmovdqa64 %%zmm4, %%zmm2\n")

LOOP(gather256, "avx2", SET_UP_AVX2,
     "vmovdqa %%ymm5, %%ymm6\nvpxor %%ymm2, %%ymm2, %%ymm2\n"
     "vpgatherdd %%ymm6, (%[m],%%ymm1), %%ymm2\n")
LOOP(maskedLoad256, "avx2", SET_UP_AVX2, "vpmaskmovd 64(%[m]), %%ymm5, %%ymm2\n")
LOOP(maskedStore256, "avx2", SET_UP_AVX2, "vpmaskmovd %%ymm3, %%ymm5, 64(%[m])\n")
LOOP(chosenStore256, "avx2", SET_UP_AVX2 "lea 128(%[p]), %%rcx\nmov $2, %%eax\n",
     "lea 64(%[m]), %%rdx\ntest $2, %%eax\ncmove %%rcx, %%rdx\nvpextrd $1, %%xmm3, (%%rdx)\n")
LOOP(shuffle256, "avx2", SET_UP_AVX2, "vpermd %%ymm1, %%ymm3, %%ymm2\n")
LOOP(divide256, "avx2", SET_UP_AVX2, "vdivps %%ymm4, %%ymm4, %%ymm2\n")
LOOP(divideDoubles256, "avx2", SET_UP_AVX2, "vdivpd %%ymm4, %%ymm4, %%ymm2\n")
LOOP(convert256, "avx2", SET_UP_AVX2, "vcvttps2dq %%ymm4, %%ymm2\n")
LOOP(gatherLatency256, "avx2", SET_UP_AVX2 "vpxor %%ymm2, %%ymm2, %%ymm2\n",
     "vmovdqa %%ymm5, %%ymm6\nvpgatherdd %%ymm6, (%[m],%%ymm2), %%ymm4\nvmovdqa %%ymm4, %%ymm2\n")

LOOP(extract, "sse4.1", "movdqa (%[p]), %%xmm1\n", "pextrd $1, %%xmm1, %%eax\n")
LOOP(extractAndBack, "sse4.1", "movdqa (%[p]), %%xmm1\n",
     "movd %%xmm1, %%eax\nmovd %%eax, %%xmm1\n")
LOOP(divide32, "sse4.1", "mov $1000000007, %%eax\nmov $3, %%ecx\n",
     "xor %%edx, %%edx\ndivl %%ecx\nor $1000000007, %%eax\n")
LOOP(divide64, "sse4.1", "mov $1000000007, %%eax\nmov $3, %%ecx\n",
     "xor %%edx, %%edx\ndivq %%rcx\nor $1000000007, %%rax\n")
LOOP(locked, "sse4.1", "mov $1, %%eax\n", "lock xaddl %%eax, 128(%[m])\n")

struct Operation {
  const char *name;
  float OperationCosts::*cost;
  void (*narrow)(uint64_t);      ///< at AVX2; null: not there
  void (*wide)(uint64_t);        ///< at AVX-512; null: as at AVX2
  double narrowParts, wideParts; ///< the cost is of one of so many that `body` does
};

constexpr Operation kOperations[] = {
    {"gather", &OperationCosts::gather, gather256, gather512, 8, 16},
    {"scatter", &OperationCosts::scatter, nullptr, scatter512, 8, 16},
    {"maskedLoad", &OperationCosts::maskedLoad, maskedLoad256, maskedLoad512, 1, 1},
    {"maskedStore", &OperationCosts::maskedStore, maskedStore256, maskedStore512, 1, 1},
    {"chosenStore", &OperationCosts::chosenStore, chosenStore256, nullptr, 1, 1},
    {"compress", &OperationCosts::compress, nullptr, compress512, 1, 1},
    {"compressStore", &OperationCosts::compressStore, nullptr, compressStore512, 1, 1},
    {"laneExtraction", &OperationCosts::laneExtraction, extract, nullptr, 1, 1},
    {"shuffle", &OperationCosts::shuffle, shuffle256, shuffle512, 1, 1},
    {"floatDivision", &OperationCosts::floatDivision, divide256, divide512, 1, 1},
    {"doubleDivision", &OperationCosts::doubleDivision, divideDoubles256, divideDoubles512, 1, 1},
    {"division32", &OperationCosts::division32, divide32, nullptr, 1, 1},
    {"division64", &OperationCosts::division64, divide64, nullptr, 1, 1},
    {"conversion", &OperationCosts::conversion, convert256, convert512, 1, 1},
    {"lockedUpdate", &OperationCosts::lockedUpdate, locked, nullptr, 1, 1},
    {"gatherLatency", &OperationCosts::gatherLatency, gatherLatency256, gatherLatency512, 1, 1},
    {"extractLatency", &OperationCosts::extractLatency, extractAndBack, nullptr, 2, 2},
};

/// Nanoseconds of one body; the best of some tries.
double nanosecondsOf(void (*body)(uint64_t)) {
  using Clock = std::chrono::steady_clock;
  std::memset(memory, 0, sizeof memory); // what a gather's latency takes for places
  double best = 1e30;
  for (int tries = 0; tries < 15; ++tries) {
    const auto start = Clock::now();
    body(kRounds / 8);
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    best = std::min(best, time.count() / double(kRounds));
  }
  return best;
}

/// The host's, or AVX2 where PTXRUN_CPU says so.
CpuLevel levelInUse() {
  const auto features = llvm::sys::getHostCPUFeatures();
  const char *wanted = std::getenv("PTXRUN_CPU");
  const bool mayBeWide = !wanted || std::strcmp(wanted, "avx2") != 0;
  return mayBeWide && features.lookup("avx512vl") && features.lookup("avx512dq") ? CpuLevel::avx512
         : features.lookup("avx2")                                               ? CpuLevel::avx2
                                                                                 : CpuLevel::sse4;
}

} // namespace

int main(int argc, char **argv) {
  const bool isTable = argc > 1 && !std::strcmp(argv[1], "--table");
  const CpuLevel level = levelInUse();
  if (level == CpuLevel::sse4) {
    std::fprintf(stderr, "costs: AVX2 is needed\n");
    return 2;
  }
  for (unsigned l = 0; l < 16; ++l)
    places[l] = l * 192 + 256;
  const std::string cpu = llvm::sys::getHostCPUName().str();
  const ptxrun::CpuModel model = ptxrun::simt::findModel(cpu);
  const OperationCosts known = ptxrun::simt::targetFor(level, model).costs;
  const double cycle = nanosecondsOf(multiply) / 3;
  if (!isTable)
    std::printf("%s%s, %.2f GHz; cycles\n%-26s %9s %7s\n", cpu.c_str(),
                model != ptxrun::CpuModel::other ? "" : " (no model of its own)", 1 / cycle, "",
                "measured", "table");
  for (const Operation &o : kOperations) {
    const bool isWide = level == CpuLevel::avx512 && (o.wide || !o.narrow);
    void (*body)(uint64_t) = isWide ? o.wide : o.narrow;
    if (!body)
      continue;
    const double cycles = nanosecondsOf(body) / cycle / (isWide ? o.wideParts : o.narrowParts);
    const double before = double(known.*o.cost);
    const bool differs = cycles > before * 4 / 3 + 0.1 || before > cycles * 4 / 3 + 0.1;
    if (isTable)
      std::printf(".%s = %.2gf, ", o.name, cycles);
    else
      std::printf("%-26s %9.2f %7.2f%s\n", o.name, cycles, before, differs ? "  !" : "");
  }
  if (isTable)
    std::printf("\n");
  return 0;
}
