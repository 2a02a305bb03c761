#include "translate/support/names.h"

#include <cstring>

namespace ptxrun::support {

NameTable::NameTable() : entries_{{"", 0, 0}}, slots_(256) {}

uint32_t NameTable::hash(std::string_view text) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t h = text.size() * kFactor;
  const char *at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    h = (h ^ word) * kFactor;
    h ^= h >> 29;
  }
  if (left) {
    uint64_t word = 0;
    std::memcpy(&word, at, left);
    h = (h ^ word) * kFactor;
  }
  return uint32_t(h >> 32) ^ uint32_t(h);
}

size_t NameTable::slot(std::string_view text, uint32_t hash) const {
  size_t mask = slots_.size() - 1;
  size_t at = (hash ^ (hash >> 15)) & mask;
  while (NameId id = slots_[at]) {
    const Entry &entry = entries_[id];
    if (entry.hash == hash && entry.size == text.size() &&
        std::memcmp(entry.data, text.data(), text.size()) == 0)
      return at;
    at = (at + 1) & mask;
  }
  return at;
}

NameId NameTable::intern(std::string_view text) {
  if (text.empty())
    return 0;
  uint32_t h = hash(text);
  size_t at = slot(text, h);
  if (slots_[at])
    return slots_[at];
  NameId id = NameId(entries_.size());
  entries_.push_back({text.data(), uint32_t(text.size()), h});
  slots_[at] = id;
  if (entries_.size() * 2 > slots_.size())
    grow();
  return id;
}

NameId NameTable::internCopy(std::string_view text) {
  NameId known = find(text);
  return known || text.empty() ? known : intern(copies_.copyText(text));
}

NameId NameTable::find(std::string_view text) const {
  return text.empty() ? 0 : slots_[slot(text, hash(text))];
}

void NameTable::grow() {
  std::vector<NameId> old(slots_.size() * 2);
  old.swap(slots_);
  size_t mask = slots_.size() - 1;
  for (NameId id : old) {
    if (!id)
      continue;
    uint32_t h = entries_[id].hash;
    size_t at = (h ^ (h >> 15)) & mask;
    while (slots_[at])
      at = (at + 1) & mask;
    slots_[at] = id;
  }
}

} // namespace ptxrun::support
