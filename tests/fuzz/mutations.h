// Damage for valid inputs: what files look like after bad disks, bad downloads and bad intentions.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ptxrun::tests {

/// Changes inputs, reproducibly: the same seed, the same changes.
class Mutations {
 public:
  explicit Mutations(uint64_t seed) : state_(seed) {}

  /// A number below `limit`, which is not 0 (SplitMix64).
  uint64_t below(uint64_t limit) {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 31)) % limit;
  }

  /// One to four changes. `seeds`: other valid inputs, to take pieces from.
  void damage(std::string &bytes, const std::vector<std::string> &seeds) {
    for (uint64_t changes = 1 + below(4); changes > 0; --changes)
      change(bytes, seeds);
    if (bytes.size() > kMostBytes)
      bytes.resize(kMostBytes);
  }

 private:
  static constexpr size_t kMostBytes = 1 << 16;

  void change(std::string &bytes, const std::vector<std::string> &seeds) {
    if (bytes.empty()) {
      bytes = seeds[below(seeds.size())];
      return;
    }
    const size_t at = below(bytes.size());
    switch (below(12)) {
    case 0:
      bytes[at] = static_cast<char>(below(256));
      break;
    case 1:
    case 2:
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
      break;
    case 3:
    case 4:
      putOddNumber(bytes, at);
      break;
    case 5:
      if (below(4) == 0)
        bytes.resize(at);
      break;
    case 6:
      bytes.erase(at, 1 + below(16));
      break;
    case 7:
      bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(64)));
      break;
    case 8:
      splice(bytes, at, seeds[below(seeds.size())]);
      break;
    case 9:
      changeDigits(bytes, at);
      break;
    case 10:
      exchangeLines(bytes, at, below(bytes.size()));
      break;
    default:
      bytes[at] = "{}[](),;:.'\"=%@+-*/<>0x\\\n \t\0"[below(29)];
    }
  }

  /// Lengths that are one less or more than something, or wrap round.
  void putOddNumber(std::string &bytes, size_t at) {
    const uint64_t odd = (uint64_t{1} << below(64)) - below(3), order = below(3);
    const size_t width = std::min<size_t>(bytes.size() - at, order == 0 ? 2 : order == 1 ? 4 : 8);
    std::memcpy(bytes.data() + at, &odd, width);
  }

  /// The next number in a text becomes another one.
  void changeDigits(std::string &bytes, size_t at) {
    static constexpr const char *kNumbers[] = {"0",  "-1", "4294967296", "9223372036854775808",
                                               "1e", "00", "2147483648", "99999999999999999999"};
    const size_t begin = bytes.find_first_of("0123456789", at);
    if (begin == std::string::npos)
      return;
    const size_t end = std::min(bytes.find_first_not_of("0123456789", begin), bytes.size());
    bytes.replace(begin, end - begin, kNumbers[below(std::size(kNumbers))]);
  }

  void splice(std::string &bytes, size_t at, const std::string &other) {
    if (!other.empty())
      bytes.insert(at, other.substr(below(other.size()), 1 + below(512)));
  }

  static std::pair<size_t, size_t> lineAt(const std::string &bytes, size_t at) {
    const size_t before = at == 0 ? std::string::npos : bytes.rfind('\n', at - 1);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    return {begin, std::min(bytes.find('\n', at), bytes.size())};
  }
  /// Or drops one, where they are the same.
  static void exchangeLines(std::string &bytes, size_t one, size_t other) {
    auto first = lineAt(bytes, one), second = lineAt(bytes, other);
    if (first > second)
      std::swap(first, second);
    if (first == second) {
      bytes.erase(first.first, first.second - first.first);
      return;
    }
    const std::string a = bytes.substr(first.first, first.second - first.first);
    const std::string b = bytes.substr(second.first, second.second - second.first);
    bytes.replace(second.first, b.size(), a);
    bytes.replace(first.first, a.size(), b);
  }

  uint64_t state_;
};

} // namespace ptxrun::tests
