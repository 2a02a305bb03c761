// Interned spellings: equal text, equal number.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "translate/support/arena.h"

namespace ptxrun::support {

/// Number of a spelling in its NameTable; 0 is the empty spelling and stands for "none".
using NameId = uint32_t;

class NameTable {
 public:
  NameTable();
  NameTable(NameTable &&) = default;
  NameTable &operator=(NameTable &&) = default;

  /// The text's number, a new one if it was not met before. The text is not copied: it must outlive
  /// the table (it usually lies in the source); `internCopy` copies it.
  NameId intern(std::string_view text);
  NameId internCopy(std::string_view text);
  /// 0 if the text was never interned (or is empty).
  NameId find(std::string_view text) const;
  std::string_view text(NameId id) const { return {entries_[id].data, entries_[id].size}; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    const char *data;
    uint32_t size;
    uint32_t hash;
  };
  static uint32_t hash(std::string_view);
  size_t slot(std::string_view, uint32_t hash) const;
  void grow();
  std::vector<Entry> entries_;
  std::vector<NameId> slots_; ///< open addressing, power of two, 0 = free
  Arena copies_;
};

} // namespace ptxrun::support
