// Rows of a tile are columns of a block, columns of a tile rows of A: so sums come out as WideSums,
// which take few shuffles to go where they belong.
#include "intrinsics/matrix/amx.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "intrinsics/matrix/float_buffer.h"
#include "intrinsics/matrix/wide_sums.h"

namespace ptxrun::matrix {

namespace {

#define AMX __attribute__((target("avx512f,avx512bw,avx512vl,amx-tile,amx-int8")))
#define AMX_INLINE AMX __attribute__((always_inline)) inline

constexpr size_t kRows = 16, kRowBytes = 64, kTileWords = 256; ///< of each tile register
constexpr size_t kPieceOfK = 16, kPieces = kRowBytes / kPieceOfK;

// Tile registers. Their numbers are part of the instructions.
#define SUMS 0
#define COLUMNS 1
#define ROWS 2

/// What LDTILECFG reads: three tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {kRowBytes, kRowBytes, kRowBytes};
  uint8_t rows[16] = {kRows, kRows, kRows};
};

/// SUMS += products of COLUMNS and ROWS.
template <bool isSignedA, bool isSignedB> AMX_INLINE void addProducts() {
  if constexpr (isSignedA && isSignedB)
    _tile_dpbssd(SUMS, COLUMNS, ROWS);
  else if constexpr (isSignedA)
    _tile_dpbusd(SUMS, COLUMNS, ROWS);
  else if constexpr (isSignedB)
    _tile_dpbsud(SUMS, COLUMNS, ROWS);
  else
    _tile_dpbuud(SUMS, COLUMNS, ROWS);
}

/// Some steps of a tile of blocks: registers of operands, 16 k after 16 k.
struct Steps {
  const PanelTiles &t;
  const PanelTile &tile;
  size_t k, begin, end;

  size_t pieces() const { return (end - begin) * (k / kPieceOfK); }
  size_t tiles() const { return (pieces() + kPieces - 1) / kPieces; } ///< along k
  size_t pairs() const { return (tile.blocks + 1u) / 2; }
  /// A register of each half of the rows.
  const uint32_t *rows(size_t piece) const {
    return words(t.rowsOf(tile, begin + piece / (k / kPieceOfK))) + piece % (k / kPieceOfK) * 64;
  }
  const uint32_t *columns(size_t piece, size_t block) const {
    return words(t.columnsOf(tile, begin + piece / (k / kPieceOfK), block)) +
           piece % (k / kPieceOfK) * 32;
  }
  /// Whether the columns are those of other steps.
  bool hasColumnsOf(const Steps &other) const {
    const uint16_t *own = t.numbers + tile.columns + begin * tile.blocks,
                   *others = t.numbers + other.tile.columns + other.begin * other.tile.blocks;
    return tile.blocks == other.tile.blocks && end - begin == other.end - other.begin &&
           std::equal(own, own + (end - begin) * tile.blocks, others);
  }

 private:
  static const uint32_t *words(const float *p) { return reinterpret_cast<const uint32_t *>(p); }
};

/// Rows as tiles along k: a word of all 16 rows (in WideSums' order) on end, zeros behind the last.
AMX void placeRows(const Steps &steps, uint32_t *out) {
  const size_t pieces = steps.pieces();
  for (size_t piece = 0; piece < pieces; ++piece, out += 64) {
    const uint32_t *registers = steps.rows(piece);
    FourVectors of;
    for (size_t v = 0; v < 4; ++v)
      of.at[v] = _mm512_loadu_si512(registers + v * 16);
    const FourVectors placed = transposed(of);
    for (size_t v = 0; v < 4; ++v)
      _mm512_storeu_si512(out + v * 16, placed.at[v]);
  }
  for (size_t piece = pieces; piece % kPieces != 0; ++piece)
    for (size_t v = 0; v < 4; ++v, out += 16)
      _mm512_storeu_si512(out, _mm512_setzero_si512());
}

/// Of four vectors of four pieces of 16 bytes: the first of each, the second, ...
AMX_INLINE FourVectors exchanged(const FourVectors &x) {
  const __m512i a = _mm512_shuffle_i32x4(x.at[0], x.at[1], 0x44),
                b = _mm512_shuffle_i32x4(x.at[0], x.at[1], 0xee),
                c = _mm512_shuffle_i32x4(x.at[2], x.at[3], 0x44),
                d = _mm512_shuffle_i32x4(x.at[2], x.at[3], 0xee);
  return {{_mm512_shuffle_i32x4(a, c, 0x88), _mm512_shuffle_i32x4(a, c, 0xdd),
           _mm512_shuffle_i32x4(b, d, 0x88), _mm512_shuffle_i32x4(b, d, 0xdd)}};
}

/// Columns of two blocks as tiles along k: of each column 64 k on end. Behind the last block lie
/// columns of zeros, behind the last k any, for which rows have zeros.
AMX void placeColumns(const Steps &steps, size_t pair, uint32_t *out) {
  const size_t pieces = steps.pieces();
  for (size_t first = 0; first < pieces; first += kPieces, out += kTileWords)
    for (size_t column = 0; column < kRows; column += 4) {
      const size_t block = 2 * pair + column / 8;
      FourVectors of = {};
      for (size_t i = 0; i < kPieces && block < steps.tile.blocks; ++i)
        of.at[i] = _mm512_loadu_si512(steps.columns(std::min(first + i, pieces - 1), block) +
                                      column % 8 * 4);
      const FourVectors placed = exchanged(of);
      for (size_t i = 0; i < 4; ++i)
        _mm512_storeu_si512(out + (column + i) * 16, placed.at[i]);
    }
}

/// Sums of two blocks, and where they belong.
struct PairSums {
  WideSums sums[2];
  int32_t *accumulators[2] = {};

  template <bool isSaturating> AMX_INLINE void add() const {
    for (size_t i = 0; i < 2; ++i)
      if (accumulators[i])
        addTo<isSaturating>(sums[i], accumulators[i]);
  }
};

/// Sums wait to be added until the next pair of blocks is multiplied.
template <bool isSignedA, bool isSignedB, bool isSaturating>
AMX void multiplySteps(const Steps &steps, const uint32_t *rows, const uint32_t *columns) {
  const size_t tiles = steps.tiles();
  PairSums sums[2];
  if (tiles == 1)
    _tile_loadd(ROWS, rows, kRowBytes);
#pragma clang loop unroll(disable)
  for (size_t pair = 0; pair < steps.pairs(); ++pair) {
    _tile_zero(SUMS);
#pragma clang loop unroll(disable)
    for (size_t i = 0; i < tiles; ++i, columns += kTileWords) {
      _tile_loadd(COLUMNS, columns, kRowBytes);
      if (tiles != 1)
        _tile_loadd(ROWS, rows + i * kTileWords, kRowBytes);
      addProducts<isSignedA, isSignedB>();
    }
    PairSums &own = sums[pair % 2];
    _tile_stored(SUMS, own.sums, kRowBytes);
    for (size_t i = 0; i < 2; ++i) {
      const size_t block = 2 * pair + i;
      own.accumulators[i] =
          block < steps.tile.blocks
              ? reinterpret_cast<int32_t *>(steps.t.accumulatorsOf(steps.tile, block))
              : nullptr;
    }
    if (pair != 0)
      sums[1 - pair % 2].template add<isSaturating>();
  }
  sums[1 - steps.pairs() % 2].template add<isSaturating>();
}

/// Sums that wrap run through all instructions; others are cut off behind each.
template <bool isSignedA, bool isSignedB>
AMX void multiplyAll(size_t k, bool isSaturating, const PanelTiles &t) {
  thread_local FloatBuffer scratchOfRows, scratchOfColumns;
  std::optional<Steps> last;
  uint32_t *columns = nullptr;
  for (const PanelTile *tile = t.tiles, *end = tile + t.count; tile != end; ++tile) {
    const size_t atOnce = isSaturating ? 1 : tile->steps;
    for (size_t step = 0; step < tile->steps; step += atOnce) {
      const Steps steps = {t, *tile, k, step, step + atOnce};
      const size_t words = steps.tiles() * kTileWords;
      auto *rows = reinterpret_cast<uint32_t *>(scratchOfRows.get(words));
      if (!last || !steps.hasColumnsOf(*last)) {
        columns = reinterpret_cast<uint32_t *>(scratchOfColumns.get(steps.pairs() * words));
        for (size_t pair = 0; pair < steps.pairs(); ++pair)
          placeColumns(steps, pair, columns + pair * words);
        last.emplace(steps);
      }
      placeRows(steps, rows);
      if (isSaturating)
        multiplySteps<isSignedA, isSignedB, true>(steps, rows, columns);
      else
        multiplySteps<isSignedA, isSignedB, false>(steps, rows, columns);
    }
  }
}

bool isAllowed() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

} // namespace

bool hasAmx() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kTiles = 1u << 24, kBytes = 1u << 25;
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kTiles) && (d & kBytes) && isAllowed();
  }();
  return has;
}

AMX void amxTiles(const ByteProducts &p, const PanelTiles &t) {
  const TileConfiguration tiles;
  _tile_loadconfig(&tiles);
  const auto multiply = p.isSignedA
                            ? p.isSignedB ? multiplyAll<true, true> : multiplyAll<true, false>
                        : p.isSignedB ? multiplyAll<false, true>
                                      : multiplyAll<false, false>;
  multiply(p.k, p.isSaturating, t);
  _tile_release();
}

} // namespace ptxrun::matrix
