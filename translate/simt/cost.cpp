// The one place for numbers. Each stands beside what it rests on: `costs` (tests/bench/costs.cpp)
// on a machine of the model, a table, or the kernels it was chosen for.
#include "translate/simt/cost.h"

#include <algorithm>
#include <iterator>

namespace ptxrun::simt {
namespace {

struct Model {
  CpuModel model;
  unsigned preferredBits, l1Bytes, l2Bytes;
  uint64_t streamedFrom; ///< Target
  unsigned linesAhead;   ///< Target
  OperationCosts wide;   ///< at AVX-512
  OperationCosts narrow; ///< at AVX2 and below
};

// Sizes are the vendors'. Where no machine of the model was at hand, costs are rounded, and good
// for comparing ways that differ by a factor.

/// Zen: half of the 32 MB third cache that eight cores share. `bench --only copy4` and `triad` on a
/// Zen 3, 16 MB and more: 0.62 and 0.81 of the time through the caches.
constexpr uint64_t kZenStreamedFrom = 16 << 20;
/// Where it was not measured.
constexpr uint64_t kNeverStreamed = 0;

/// Zen 4, 64 MB read in eight streams, a kilobyte of each in turn, 2, 4, 8, 12 and 16 lines of the
/// next one fetched ahead: 1.5, 1.5, 1.5, 3.0 and 2.3 to 4.2 ms; two kilobytes and 32 lines 3.6.
constexpr unsigned kZen4LinesAhead = 8;
/// Where it was not measured: as many as a round reads.
constexpr unsigned kAllLines = ~0u;

/// `costs` on an EPYC 9004 at 3.7 GHz; at AVX2 by PTXRUN_CPU, the same. A value between two
/// updates: 4.7 ns an update of the kernel `histogram` in tests/bench, 0.4 where all are taken
/// first. Below AVX-512 there is no scatter and no compress: what LLVM writes instead, by lanes.
constexpr OperationCosts kZen4Wide = {
    .gather = 1.1f,
    .scatter = 1.4f,
    .maskedLoad = 1,
    .maskedStore = 2,
    .chosenStore = 1.2f,
    .compress = 1.3f,
    .compressStore = 70,
    .laneExtraction = 1,
    .extractionBetweenUpdates = 14,
    .shuffle = 1,
    .floatDivision = 6,
    .doubleDivision = 10,
    .division32 = 13,
    .division64 = 13,
    .conversion = 1,
    .lockedUpdate = 8,
    .gatherLatency = 31,
    .extractLatency = 3.5f,
};

constexpr OperationCosts with(OperationCosts costs, float gather, float floatDivision,
                              float conversion, float gatherLatency) {
  costs.gather = gather;
  costs.floatDivision = floatDivision;
  costs.doubleDivision = 1.6f * floatDivision; // at every width of every model
  costs.conversion = conversion;
  costs.gatherLatency = gatherLatency;
  return costs;
}

constexpr OperationCosts narrow(OperationCosts costs, float gather, float floatDivision,
                                float conversion, float gatherLatency, float maskedStore) {
  costs = with(costs, gather, floatDivision, conversion, gatherLatency);
  costs.maskedStore = maskedStore;
  costs.scatter = 2 * costs.laneExtraction;
  costs.compress = costs.compressStore = 8 * costs.laneExtraction;
  return costs;
}

/// The scheduling models of LLVM 19: `llvm-mca -mcpu=MODEL --instruction-info`. Locked operations:
/// they have no cost there that means anything; the vendor's optimisation manual.
constexpr OperationCosts kSkylakeXWide = {
    .gather = 0.7f,
    .scatter = 1,
    .maskedLoad = 0.5f,
    .maskedStore = 1,
    .chosenStore = 1.2f,
    .compress = 2,
    .compressStore = 8,
    .laneExtraction = 1,
    .extractionBetweenUpdates = 1,
    .shuffle = 1,
    .floatDivision = 10,
    .doubleDivision = 16,
    .division32 = 26,
    .division64 = 42,
    .conversion = 0.5f,
    .lockedUpdate = 18,
    .gatherLatency = 25,
    .extractLatency = 3,
};

constexpr OperationCosts of(OperationCosts costs, float scatter, float division32,
                            float division64) {
  costs.scatter = scatter;
  costs.division32 = division32;
  costs.division64 = division64;
  return costs;
}
constexpr OperationCosts kIceLakeWide = of(kSkylakeXWide, 0.7f, 12, 15);
constexpr OperationCosts kSapphireRapidsWide = of(kSkylakeXWide, 0.7f, 10, 15);

constexpr Model kModels[] = {
    // Costs in the middle; sizes that all have.
    {CpuModel::other, 256, 32 << 10, 512 << 10, kNeverStreamed, kAllLines, kIceLakeWide,
     narrow(kIceLakeWide, 1, 5, 1, 22, 1)},
    // Zen 3 has the units of Zen 4, and no AVX-512. `costs` on an EPYC 7003 at 3.2 GHz.
    {CpuModel::zen3, 256, 32 << 10, 512 << 10, kZenStreamedFrom, kAllLines, kZen4Wide,
     narrow(kZen4Wide, 1.6f, 3, 0.5f, 28, 16)},
    {CpuModel::zen4, 256, 32 << 10, 1 << 20, kZenStreamedFrom, kZen4LinesAhead, kZen4Wide,
     narrow(kZen4Wide, 1.1f, 3, 0.5f, 20, 12)},
    // Units twice as wide: what is one operation for them takes half of Zen 4's time.
    {CpuModel::zen5, 512, 48 << 10, 1 << 20, kZenStreamedFrom, kAllLines,
     with(kZen4Wide, 0.9f, 4, 0.5f, 31), narrow(kZen4Wide, 1.1f, 3, 0.5f, 20, 12)},
    {CpuModel::skylakeX, 512, 32 << 10, 1 << 20, kNeverStreamed, kAllLines, kSkylakeXWide,
     narrow(kSkylakeXWide, 0.6f, 5, 0.5f, 21, 1)},
    {CpuModel::iceLake, 512, 48 << 10, 1280 << 10, kNeverStreamed, kAllLines, kIceLakeWide,
     narrow(kIceLakeWide, 0.6f, 5, 0.5f, 21, 1)},
    {CpuModel::sapphireRapids, 512, 48 << 10, 2 << 20, kNeverStreamed, kAllLines,
     kSapphireRapidsWide, narrow(kSapphireRapidsWide, 0.6f, 5, 0.5f, 21, 1)},
};

/// The first name of a model is the one that LLVM schedules by.
constexpr ModelName kNames[] = {
    {"znver3", CpuModel::zen3},
    {"znver4", CpuModel::zen4},
    {"znver5", CpuModel::zen5},
    {"skylake-avx512", CpuModel::skylakeX},
    {"cascadelake", CpuModel::skylakeX},
    {"cooperlake", CpuModel::skylakeX},
    {"icelake-server", CpuModel::iceLake},
    {"icelake-client", CpuModel::iceLake},
    {"rocketlake", CpuModel::iceLake},
    {"tigerlake", CpuModel::iceLake},
    {"sapphirerapids", CpuModel::sapphireRapids},
    {"emeraldrapids", CpuModel::sapphireRapids},
    {"graniterapids", CpuModel::sapphireRapids},
};

} // namespace

std::span<const ModelName> modelNames() { return kNames; }

CpuModel findModel(std::string_view llvmName) {
  auto found = std::ranges::find(kNames, llvmName, &ModelName::llvm);
  return found == std::end(kNames) ? CpuModel::other : found->model;
}

std::string_view tuningOf(CpuModel model) {
  auto found = std::ranges::find(kNames, model, &ModelName::model);
  return found == std::end(kNames) ? std::string_view{} : found->llvm;
}

Target targetFor(CpuLevel level, CpuModel model) {
  const Model &m = *std::ranges::find(kModels, model, &Model::model);
  const bool isWide = level == CpuLevel::avx512;
  const unsigned bits = isWide ? 512 : level == CpuLevel::avx2 ? 256 : 128;
  return {.level = level,
          .model = model,
          .vectorBits = bits,
          .preferredBits = std::min(bits, m.preferredBits),
          .vectorRegisters = isWide ? 32u : 16u,
          .maskRegisters = isWide ? 8u : 0u,
          .lineBytes = 64,
          .l1Bytes = m.l1Bytes,
          .l2Bytes = m.l2Bytes,
          .streamedFrom = m.streamedFrom,
          .linesAhead = m.linesAhead,
          .costs = isWide ? m.wide : m.narrow};
}

/// Without registers for masks a masked store is slow (Zen: 12 cycles) or a branch for each lane,
/// and what is loaded back soon does not come out of the store's buffer.
bool Target::blendsMaskedStores() const { return !hasMaskRegisters(); }

/// As many as a store under a mask takes longer (Zen without registers for masks: 12 cycles; so
/// `exponentials` of bench_kinds_avx2 takes 0.7 of the time), eight for each cycle.
unsigned Target::copiedPerStore() const {
  return std::max(kLimits.versions.perStore, unsigned(8 * costs.maskedStore));
}

/// One in eight is for temporaries.
unsigned Target::registersForLoops() const { return vectorRegisters * 7 / 8; }

/// In straight code more lanes wait for memory together, so some of it may be spilled: as much
/// again as there are registers (`sobel8`, `base64` and `upsample2` of bench_kinds_avx2 take 0.75
/// to 0.9 of the time), a quarter of them where loops carry values as well (`aesRounds`,
/// `optionPaths`). Floats wait for each other, too, four cycles at a time, which spills fill: one
/// and a half times as many as there are registers (`exponentials`, `cubicRoots`, `fft2`, `powers`
/// take 0.8 of the time; with more, `exponentialsDouble` and `fft4` lose what these gain).
unsigned Target::registersAtOnce(bool isMostlyFloat, bool isAnyCarried) const {
  return isMostlyFloat  ? vectorRegisters * 5 / 2
         : isAnyCarried ? vectorRegisters * 5 / 4
                        : vectorRegisters * 2;
}

/// A quarter is for temporaries of several gangs and what they share (`sgemm`, `conv2d`).
unsigned Target::registersForLockstep() const { return vectorRegisters * 3 / 4; }

/// As many registers as CPUs have stores on their way (Zen: 64 entries, Intel: 56 to 112): a load
/// that takes parts of several waits for all of them. What no register is left for is spilled, and
/// comes back from there at once.
unsigned Target::sharedBytesInRegisters() const { return 64 * vectorBytes(); }

/// Zen 3: of rows of 4, two elements taken out and one put back take 99 cycles for 32 lanes, lane
/// by lane 36. With any permutation of two registers in one instruction, and masks, rows are better
/// for longer.
int64_t Target::leastSerialStep() const { return hasMaskedGather() ? 8 : 4; }

/// A gather costs what its lanes' loads cost, and a window a shuffle for each two registers of it:
/// at AVX-512, by variable indices, any window of the first cache's page; below, a table of a few.
int64_t Target::longestWindow() const {
  return level == CpuLevel::avx512 ? 4096 : level == CpuLevel::avx2 ? 256 : 128;
}

constinit const Limits kLimits = {
    // Where memory is the limit, the mask of a load costs as much again as the load, and next to
    // more computation than this, nothing. Masked loads keep the hardware from fetching ahead,
    // stores do not. Loops count as a short one does.
    .versions = {.copied = 2000,
                 .perLoad = 64,
                 .perStore = 16,
                 .roundsLog2 = 4,
                 .deepestLoop = 4,
                 .rounds = 16,
                 .rerolled = 16},
    // 32 lanes at AVX2: two registers instead of four; four extensions and two moves of halves.
    .narrowing = {.ofEach = 2, .ofExtension = 6},
    // A test per pair of place and range stands before the loop: worth it for a handful.
    .repeatedStores = {.places = 4, .ranges = 12, .instructions = 256},
    // Beyond, the unrolled loop leaves the cache of decoded instructions.
    // s += in[k], out[k] = s, with rows of 1000 and 1024 floats at W = 1, 8, 16 (Zen 3, AVX2): 1.2
    // and 1.2, 1.2 and 3.4, 1.4 and 8.1 ms; with two more fma 3.7 and 3.7, 1.3 and 4.4,
    // 1.4 and 8.0.
    // s += f(in[k]) over rows of 20, 100 and 784 floats at W = 8 and 32: a square's difference 1.5
    // and 1.4, 0.95 and 1.7, 1.0 and 1.6 ms; 11 operations 1.5 and 1.7, 1.6 and 2.5, 1.1 and 2.5;
    // expf 4.1 and 3.0, 4.3 and 4.3, 4.2 and 4.2.
    // s, t = f(in[k], s, t), out[k] = s + t with 8, 16, 32 and 64 fma for each element, one after
    // the
    // other, in rows of 1000 and 1024 floats at W = 8, 16, 32 (Sapphire Rapids, AVX-512): 0.31,
    // 0.31,
    // 0.49 and 0.55, 1.2, 1.3 ms; 0.48, 0.25, 0.24 and 0.60, 1.3, 1.4; 0.97, 0.47, 0.34 and 0.95,
    // 1.2, 1.4; 1.9, 0.94, 0.52 and 1.9, 1.3, 1.4; at AVX2 0.55, 0.64, 0.53 and 0.67, 1.4, 1.4;
    // 0.60, 0.53, 0.58 and 0.55, 1.3, 1.5; 0.94, 0.69, 1.3 and 0.95, 1.3, 1.4; 2.0, 1.6, 1.1 and
    // 1.9, 1.4, 1.5.
    .rows = {.unrolled = 512, .workPerAccess = 1.5F, .workPerRead = 12, .workPerWrite = 24},
    // What LLVM makes of them at AVX2. One by one of gangs' time, and what the model says: elliptic
    // curves (secp256k1) 0.6 (of W = 8) and 1.07; without carries, `mix64` of bench_kinds 3 and
    // 0.3.
    // Gathers under masks at AVX2, W = 1 and the best other W (Sapphire Rapids): sparse products
    // 0.56
    // and 0.62 (csrScalar of bench_kinds), one of 27 neighbours 0.45, runs of bytes 0.73, levels of
    // a
    // graph 1.04; colouring a graph 1.8, parity checks 1.9.
    .alone = {.product64 = 6, .product128 = 14, .carry = 3, .wordLane = 0.5F, .askedLane = 1.6F},
    // `sieve`, `bfsLevel` and `hashLookup` of bench_kinds_avx2 at 0, 4, 6 and 8
    // lanes: 8.7, 2.4, 2.0
    // and 1.8 of the loops' time; 1.7, 1.1, 1.0 and 0.8; 0.79, 0.76, 0.81 and 0.86, where the last
    // few have a round or two left. As much code again as kernels have in such loops.
    .stragglers =
        {.lanes = 6, .copied = 512, .perCycle = 2, .floatLatency = 4, .productLatency = 3},
    // Twice as many lanes as fit, or as long code gets: what the model says of the narrower gang,
    // and
    // the time with the wider one (Sapphire Rapids). AVX2: crc32 of bench_kinds 0.87 and 0.80,
    // fnv64
    // 0.54 and 0.76, optionPaths 1.34 and 0.83, mandelbrot 1.06 and 1.10; aesRounds 0.11 and 1.14,
    // powerModulo 0.45 and 1.25, `sha256` of samples 0.46 and 1.41. Both levels: distances of
    // curves
    // 0.55 and 0.7, angles of joints 0.8 and 0.6, counts of genotypes 0.7 and 0.9 to 1.05.
    .width = {.latency = 0.5F},
    // One by one of gangs' time, and what the model says a gang takes of one by one (Zen 3, AVX2):
    // `csrScalar` of bench_kinds 0.55 and 1.2, page rank over 4 to 15 neighbours 0.42 and 1.05,
    // triangles by merging 0.43 and 1.6, structures of eight words added in memory 0.48 and 2.2;
    // hashes of 0 to 23 bytes 1.03 and 0.8, densities of 72 neighbours in cells 2.1 and 0.7.
    // Sapphire Rapids, AVX2: sets joined by CAS 1.5 and 0.7, runs merged by paths 1.8 and 0.7,
    // `quicksort` of samples 0.45 and 7.
    .oneLane = {.blocks = 256, .rounds = 8, .spread = 3.2F, .mispredicted = 16, .gain = 1},
    // Transposes, which read along one axis and write along another, stay as they are. Without and
    // with it (Zen 3, AVX2): `stencilByRows` of bench_kinds 18.6 and 0.44 ms, `waveByPlanes` 36 and
    // 2.2, `productByRows` 33 and 4.3.
    .leadingAxis = {.share = 0.5F},
    // Without and with it, a million elements, Zen 3 at AVX2: Blelloch's scan whose n the launch
    // says 7.0 and 4.9 ms, pairs to places from memory 13.0 and 5.2, swap with increments 1.8 and
    // 0.9; `layerNorm` of bench_kinds 0.91 and 0.82. What the model says of these: 1.2 to 2.6.
    // Written out for 32 lanes, with steps that are known: `blelloch` of bench_kinds in cache 0.094
    // and 0.056 ms, `align` 1.4 and 1.1 of the loop's time; a lane takes 15 to 25 instructions.
    .serial =
        {.perCycle = 3, .lane = 1, .handed = 1.5F, .gain = 1.2F, .recipe = 16, .writtenOut = 1024},
    // A round of a gang across rows takes 100 cycles (16 lanes) to 230 (32), a row 30 to 45.
    .staging = {.evaluations = 400000, .rowsPerRound = 2.5F},
    // Room for a warp's tile of 64 by 128 and k 64 in m16n8k16; a register of a fragment takes 128
    // bytes of the stack.
    .matrices = {.members = 256, .fragments = 64},
    // Sixteen bytes at once, the widest access, clear an array of bytes.
    .localRows = {.parts = 16},
    // A tree over a block of 1024 has ten rounds of some 15 instructions, a scan twice as many; as
    // much code again as kernels of bench_kinds have at most.
    .rounds = {.instructions = 512},
    .unify = {.instructions = 2048},
    // The CTA asks as much as two gangs do.
    .ctaVersions = {.gangs = 4, .depth = 8, .instructions = 2000},
    // Code of 2000 instructions takes about 30 ms to compile. Grid-stride loops with a million and
    // a half threads have few rounds (`reduce`).
    .jam = {.repeated = 2000, .rowBytes = 1024, .manyThreads = 3 << 19, .plans = 8},
    // Streams long enough for the hardware to fetch ahead, and few lines of each between one row
    // and the next, which may read the same (`transpose`, `stencil`).
    .rowOrder = {.stripThreads = 4096, .sharedByRows = 8, .usual = 8},
    // All contexts together stay in the second cache. Computing again, up to as many instructions
    // as a store and a load of the value take with what waits for them.
    .regions = {.contextBytes = 1 << 20,
                .growth = 3,
                .recipe = 64,
                .division = 8,
                .scalarRecipe = 8,
                .vectorRecipe = 4,
                .apart = 1024},
    // A jump over a block is mispredicted at about the price of six instructions under a mask.
    // Compilers' output has up to four open ways for each block; at twelve (`divergent_maze` and
    // `tangle` of tests/growth) compiling takes ten times what it takes for lanes alone.
    .control = {.stopInstructions = 24,
                .stopCopies = 64,
                .underEmptyMask = 6,
                .openWays = 1000,
                .openWaysPerBlock = 12},
    // Eight gangs ahead is about as far as a load from memory takes. Rows of 400 and of 1600 bytes
    // are read in 0.5 and 0.6 of the time at W = 8, 0.7 at W = 32, where they are fetched for the
    // next gang; of 4096, 16000 and 80000 in 1.4 to 1.6 of it at W = 32 (Zen 3, `rangeSum`).
    .accesses = {.gangsAhead = 8,
                 .gangsInRow = 4,
                 .nextRows = 8,
                 .runs = 4,
                 .windowPerData = 8,
                 // Triton's products: 16 and more (compiled in 0.7 of the time).
                 .scatteredVectors = 16,
                 .leastPiece = 16,
                 .leastColumn = 8,
                 .pieceRegister = 64,
                 .piecesPerRegister = 2,
                 .structureElements = 16,
                 .inMemoryOrder = 1024,
                 .blending = 4,
                 .blended = 256, // 16 and 32 lanes of bytes in steps of 16: 0.6 and 6.6 s for 46
                 // A row takes a third of a gather of 32 lanes (oddStaged of bench_kinds).
                 .rowsOfGang = 3,
                 .guessedRegisters = 128},
    // Sixteen registers less pointers and counters are for lanes ahead (`histogram`).
    .atomics = {.registers = 12, .dense = 4, .denseFrom = 8},
    // The time of the analyses; no kernel of tests/bench comes near.
    .search = {.operands = 32,
               .users = 64,
               .sums = 64,
               .lanes = 6,
               .repeated = 6,
               .early = 8,
               .numbers = 48,
               .sharedAccesses = 200000,
               .agreed = 8,
               .nested = 4,
               .walked = 256,
               .clamped = 24,
               .blocksBack = 4,
               .edgeSteps = 6,
               .matched = 4000,
               .halfSteps = 6},
    // Passes whose time grows faster than the code.
    .code = {.large = 20000,
             .huge = 100000,
             .ways = 64,
             .freezes = 128,
             .wide = 1200, // of public programs of 1,300 to 3,400, none gains by 32, some take
                           // seven times as long
             .inlined = 400,
             .unrolled = 32,
             .lanesOften = 1024,
             .lanesOnce = 256,
             .seldom = 256,
             .recomputed = 4,
             .selected = 500,
             .longBlock = 1000,
             .fewSpills = 32,
             .shortStretch = 128},
};
} // namespace ptxrun::simt
