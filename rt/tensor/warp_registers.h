// The registers of a warp's lanes as generated code hands them over: rows of W in each of its
// gangs.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace ptxrun::rt {

/// Row i is the i-th register of the 32 lanes.
using WarpRegisters = uint32_t (*)[32];
using ConstWarpRegisters = const uint32_t (*)[32];

/// At W = 32 the gang's own rows; else a copy in `storage`, written back by store(). Has nothing to
/// destroy: kernels are left from anywhere.
class HandedRegisters {
 public:
  /// parts[l]: the rows of the gang that has lane l, zero where there is none; `lanes` is W.
  HandedRegisters(std::vector<uint32_t> &storage, const uint64_t *parts, uint32_t lanes)
      : storage_(storage), parts_(parts), lanes_(lanes) {}

  /// `count` rows, the first `given` of them read.
  WarpRegisters rows(unsigned count, unsigned given) {
    if (lanes_ == 32)
      return reinterpret_cast<WarpRegisters>(parts_[0]);
    storage_.assign(size_t{count} * 32, 0);
    for (unsigned lane = 0; lane < 32; lane += lanes_)
      for (unsigned i = 0; parts_[lane] && i < given; ++i)
        std::memcpy(copy()[i] + lane, part(lane) + i * lanes_, lanes_ * sizeof(uint32_t));
    return copy();
  }
  /// Gives the first `count` rows back.
  void store(unsigned count) {
    for (unsigned lane = 0; lanes_ != 32 && lane < 32; lane += lanes_)
      for (unsigned i = 0; parts_[lane] && i < count; ++i)
        std::memcpy(part(lane) + i * lanes_, copy()[i] + lane, lanes_ * sizeof(uint32_t));
  }

 private:
  WarpRegisters copy() { return reinterpret_cast<WarpRegisters>(storage_.data()); }
  uint32_t *part(unsigned lane) { return reinterpret_cast<uint32_t *>(parts_[lane]); }
  std::vector<uint32_t> &storage_;
  const uint64_t *parts_;
  uint32_t lanes_;
};

} // namespace ptxrun::rt
