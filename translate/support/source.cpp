#include "translate/support/source.h"

#include <algorithm>
#include <cstring>

namespace ptxrun::support {

SourceFile::SourceFile(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {}

SourceFile::Place SourceFile::place(uint32_t offset) const {
  findLines();
  offset = std::min<uint32_t>(offset, uint32_t(text_.size()));
  auto after = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  uint32_t line = uint32_t(after - lineStarts_.begin());
  return {line, offset - lineStarts_[line - 1] + 1};
}

std::string_view SourceFile::line(uint32_t number) const {
  findLines();
  if (number == 0 || number > lineStarts_.size())
    return {};
  size_t begin = lineStarts_[number - 1];
  size_t end = number < lineStarts_.size() ? lineStarts_[number] - 1 : text_.size();
  if (end > begin && text_[end - 1] == '\r')
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

void SourceFile::findLines() const {
  if (!lineStarts_.empty())
    return;
  lineStarts_.push_back(0);
  const char *begin = text_.data(), *end = begin + text_.size();
  for (const char *at = begin; at < end;) {
    const void *found = std::memchr(at, '\n', size_t(end - at));
    if (!found)
      break;
    at = static_cast<const char *>(found) + 1;
    lineStarts_.push_back(uint32_t(at - begin));
  }
}

} // namespace ptxrun::support
