#include "loader/ptxrun/tensor_argument.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "loader/ptxrun/errors.h"
#include "loader/ptxrun/suggest.h"
#include "loader/ptxrun/trimmed.h"

namespace ptxrun::command {
namespace {

constexpr std::string_view kOpening = "tensormap{";

template <class Value> using Names = std::vector<std::pair<std::string_view, Value>>;

const Names<rt::TensorType> kTypes = {{"u8", rt::TensorType::u8},
                                      {"u16", rt::TensorType::u16},
                                      {"u32", rt::TensorType::u32},
                                      {"s32", rt::TensorType::s32},
                                      {"u64", rt::TensorType::u64},
                                      {"s64", rt::TensorType::s64},
                                      {"f16", rt::TensorType::f16},
                                      {"f32", rt::TensorType::f32},
                                      {"f32.ftz", rt::TensorType::f32Ftz},
                                      {"f64", rt::TensorType::f64},
                                      {"bf16", rt::TensorType::bf16},
                                      {"tf32", rt::TensorType::tf32},
                                      {"tf32.ftz", rt::TensorType::tf32Ftz},
                                      {"b4x16", rt::TensorType::b4x16},
                                      {"b4x16_p64", rt::TensorType::b4x16p64},
                                      {"b6x16_p32", rt::TensorType::b6},
                                      {"b6p2x16", rt::TensorType::b6}};
const Names<rt::TensorInterleave> kInterleaves = {{"none", rt::TensorInterleave::none},
                                                  {"16B", rt::TensorInterleave::bytes16},
                                                  {"32B", rt::TensorInterleave::bytes32}};
using Swizzle = std::pair<rt::TensorSwizzle, rt::TensorAtomicity>;
const Names<Swizzle> kSwizzles = {
    {"none", {rt::TensorSwizzle::none, rt::TensorAtomicity::bytes16}},
    {"32B", {rt::TensorSwizzle::bytes32, rt::TensorAtomicity::bytes16}},
    {"64B", {rt::TensorSwizzle::bytes64, rt::TensorAtomicity::bytes16}},
    {"96B", {rt::TensorSwizzle::bytes96, rt::TensorAtomicity::bytes16}},
    {"128B", {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes16}},
    {"128B_atom_32B", {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes32}},
    {"128B_atom_32B_flip_8B", {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes32Flip8}},
    {"128B_atom_64B", {rt::TensorSwizzle::bytes128, rt::TensorAtomicity::bytes64}}};
const Names<rt::TensorFill> kFills = {{"zero", rt::TensorFill::zero}, {"nan", rt::TensorFill::nan}};
const Names<rt::TensorKind> kModes = {{"tiled", rt::TensorKind::tiled},
                                      {"im2col", rt::TensorKind::im2col},
                                      {"im2col_w", rt::TensorKind::im2colW},
                                      {"im2col_w_128", rt::TensorKind::im2colW128}};

/// Calls visit(part) for what stands between separators.
template <class Visit> void split(std::string_view text, char separator, Visit visit) {
  while (!trimmed(text).empty()) {
    size_t end = std::min(text.find(separator), text.size());
    visit(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

class MapReader {
 public:
  MapReader(std::string_view text, const std::vector<Symbol> &constants)
      : text_(text), constants_(constants) {
    if (!text.ends_with('}'))
      fail("there is no '}' at the end");
    text.remove_prefix(kOpening.size());
    text.remove_suffix(1);
    split(text, ';', [&](std::string_view entry) {
      size_t equals = entry.find('=');
      if (equals == std::string_view::npos)
        fail("'" + std::string(entry) + "' is not KEY=VALUE");
      entries_.push_back(
          {std::string(trimmed(entry.substr(0, equals))), trimmed(entry.substr(equals + 1))});
    });
    checkKeys();
  }

  rt::TensorMap read(const BufferLookup &lookup) {
    rt::TensorShape shape = readShape(lookup);
    rt::TensorKind kind = named(kModes, "mode", has("channels") ? "im2col" : "tiled");
    rt::TensorMap map;
    std::string error = kind == rt::TensorKind::tiled    ? readTiled(map, shape)
                        : kind == rt::TensorKind::im2col ? readIm2col(map, shape)
                                                         : readWide(map, shape, kind);
    if (!error.empty())
      fail(error);
    return map;
  }

 private:
  [[noreturn]] void fail(const std::string &what) const {
    throw UsageError(std::string(text_) + ": " + what);
  }

  void checkKeys() const {
    const std::vector<std::string> known = {
        "buffer",          "type",  "dims",  "strides",  "box",    "swizzle", "fill",
        "element_strides", "lower", "upper", "channels", "pixels", "mode",    "interleave"};
    for (const auto &[key, value] : entries_) {
      if (std::find(known.begin(), known.end(), key) != known.end())
        continue;
      std::string near = nearestName(key, known);
      fail("'" + key + "' is no key of a tensor-map" +
           (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }

  bool has(std::string_view key) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const auto &entry) { return entry.first == key; });
  }

  std::string_view valueOf(std::string_view key, std::string_view fallback = "") const {
    for (const auto &[name, value] : entries_)
      if (name == key)
        return value;
    if (fallback.empty())
      fail("'" + std::string(key) + "' is missing");
    return fallback;
  }

  template <class Value>
  Value named(const Names<Value> &names, const char *key, std::string_view fallback = "") const {
    std::string_view text = valueOf(key, fallback);
    std::string all;
    for (const auto &[name, value] : names) {
      if (name == text)
        return value;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    fail("'" + std::string(text) + "' is no " + key + "; there are " + all);
  }

  int64_t number(std::string_view text) const { return Expression(text, constants_).asInteger(); }

  /// `count` numbers, or as many as there are where it is 0.
  std::vector<int64_t> list(const char *key, size_t count) const {
    std::vector<int64_t> values;
    split(valueOf(key), ',', [&](std::string_view part) { values.push_back(number(part)); });
    if (count && values.size() != count)
      fail(std::string("'") + key + "' needs " + std::to_string(count) + " numbers");
    return values;
  }

  template <class Number, size_t Size>
  void fillList(std::array<Number, Size> &to, const char *key, size_t count) const {
    if (count == 0)
      return;
    auto values = list(key, count);
    for (size_t i = 0; i < values.size(); ++i)
      to[i] = static_cast<Number>(values[i]);
  }

  rt::TensorShape readShape(const BufferLookup &lookup) const {
    rt::TensorShape s;
    std::string_view buffer = valueOf("buffer");
    auto address = lookup(buffer);
    if (!address)
      fail("there is no buffer '" + std::string(buffer) + "'");
    s.address = reinterpret_cast<uint64_t>(*address);
    s.type = named(kTypes, "type");
    s.rank = static_cast<uint32_t>(list("dims", 0).size());
    if (s.rank < 1 || s.rank > rt::kMaxTensorRank)
      fail("'dims' needs 1 to 5 numbers");
    fillList(s.sizes, "dims", s.rank);
    if (has("element_strides"))
      fillList(s.elementStrides, "element_strides", s.rank);
    s.interleave = named(kInterleaves, "interleave", "none");
    std::tie(s.swizzle, s.atomicity) = named(kSwizzles, "swizzle", "none");
    s.fill = named(kFills, "fill", "zero");
    if (has("strides"))
      fillList(s.strides, "strides", s.rank - 1);
    else
      packDensely(s);
    return s;
  }

  /// Strides of a tensor without gaps; of an interleaved one between slices.
  static void packDensely(rt::TensorShape &s) {
    rt::TensorUnit unit = rt::unitOf(s.type);
    uint64_t slice = rt::sliceBytes(s.interleave);
    uint64_t bytes = slice ? slice : s.sizes[0] / unit.elements * unit.globalBytes;
    for (uint32_t i = 0; i + 1 < s.rank; ++i) {
      s.strides[i] = bytes;
      bytes *= s.sizes[i + 1];
      bool isLastOfImage = slice && i + 3 == s.rank;
      if (isLastOfImage)
        bytes *= (s.sizes[0] / unit.elements * unit.globalBytes + slice - 1) / slice;
    }
  }

  std::string readTiled(rt::TensorMap &map, const rt::TensorShape &shape) const {
    std::array<uint32_t, rt::kMaxTensorRank> box{};
    fillList(box, "box", shape.rank);
    return rt::encodeTiled(&map, shape, box);
  }

  uint32_t count(const char *key, std::string_view fallback = "") const {
    return static_cast<uint32_t>(number(valueOf(key, fallback)));
  }

  std::string readIm2col(rt::TensorMap &map, const rt::TensorShape &shape) const {
    if (shape.rank < 3)
      fail("im2col needs three dimensions or more");
    std::array<int, 3> lower{}, upper{};
    fillList(lower, "lower", shape.rank - 2);
    fillList(upper, "upper", shape.rank - 2);
    return rt::encodeIm2col(&map, shape, lower, upper, count("channels"), count("pixels"));
  }

  std::string readWide(rt::TensorMap &map, const rt::TensorShape &shape,
                       rt::TensorKind kind) const {
    std::array<int, 1> lower{}, upper{};
    fillList(lower, "lower", 1);
    fillList(upper, "upper", 1);
    return rt::encodeIm2colWide(&map, shape, kind, lower[0], upper[0], count("channels"),
                                count("pixels", "128"));
  }

  std::string_view text_;
  const std::vector<Symbol> &constants_;
  std::vector<std::pair<std::string, std::string_view>> entries_;
};

} // namespace

bool isTensorMap(std::string_view text) { return text.starts_with(kOpening); }

rt::TensorMap makeTensorMap(std::string_view text, const BufferLookup &lookup,
                            const std::vector<Symbol> &constants) {
  return MapReader(text, constants).read(lookup);
}

} // namespace ptxrun::command
