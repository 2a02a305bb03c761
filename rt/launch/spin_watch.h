// Whether a launch whose threads all spin will ever end: a lock that nobody gives back.
//
// One round is over when every gang in flight has spun, or waits. After many of them in which no
// gang ended or came by a barrier, and nothing that any of them wrote made a difference to memory,
// the launch hangs. What counts in registers only, round by round, is taken for a hang after
// kMostRounds; so this is for launches that nobody outside can help, and where an end is worth more
// than patience (RunOptions::endsHangs).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace ptxrun::rt {

class SpinWatch {
 public:
  static constexpr uint32_t kMostRounds = 1 << 15;
  /// Fewer rounds are enough where each has many gangs: so many, and so many points.
  static constexpr uint32_t kLeastRounds = 1 << 8;
  static constexpr uint64_t kMostPoints = 1 << 21;

  /// A gang writes these bytes of the host's memory next (at most 16 count).
  void written(uint64_t address, uint32_t bytes);
  /// A round is over, `points` have been counted since the launch began. True: the launch hangs.
  bool roundIsOver(uint64_t points);
  /// Somebody could go on.
  void progress();
  /// In how many rounds nothing changed so far.
  uint32_t rounds() const { return rounds_; }

 private:
  using Contents = std::array<char, 16>;
  struct Place {
    uint32_t bytes = 0;
    bool isKnown = false; ///< contents are those after the last round
    Contents contents{};
  };
  bool hasChanged();

  static constexpr size_t kMostPlaces = 1 << 12;
  std::unordered_map<uint64_t, Place> places_;
  uint32_t rounds_ = 0;
  uint64_t firstPoint_ = 0;
};

} // namespace ptxrun::rt
