#include "loader/debug/source_map.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "translate/check/debug_frame.h"

namespace ptxrun::debug {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r'))
      line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos
             ? std::string()
             : std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

/// Whether `path` is `wanted`, or ends with it behind a slash.
bool isFile(std::string_view path, std::string_view wanted) {
  return path == wanted || (path.size() > wanted.size() && path.ends_with(wanted) &&
                            path[path.size() - wanted.size() - 1] == '/');
}

} // namespace

SourceMap::SourceMap(const check::Module &module, std::string name, const std::string &text)
    : module_(module), name_(std::move(name)), first_(check::instructionNumbers(module)),
      ptx_(splitLines(text)) {}

uint32_t SourceMap::functionOf(uint32_t instruction) const {
  return static_cast<uint32_t>(std::upper_bound(first_.begin(), first_.end(), instruction) -
                               first_.begin() - 1);
}

const check::Instruction &SourceMap::at(uint32_t instruction) const {
  const uint32_t function = functionOf(instruction);
  return module_.functions[function]->body[instruction - first_[function]];
}

std::string SourceMap::text(uint32_t instruction) const {
  const support::Span span = at(instruction).span;
  const std::string_view all = module_.source->text();
  std::string text(all.substr(span.begin, span.end - span.begin));
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\t', ' ');
  for (size_t at; (at = text.find("  ")) != std::string::npos;)
    text.erase(at, 1);
  text = trimmed(text);
  return text.ends_with(';') ? text : text + ";";
}

std::optional<SourceLine> SourceMap::source(uint32_t instruction) const {
  const uint32_t location = at(instruction).location;
  if (location == 0)
    return std::nullopt;
  const check::Location &found = module_.locations[location];
  if (found.file >= module_.files.size() || found.line == 0)
    return std::nullopt;
  return SourceLine{std::string(module_.files[found.file]), found.line};
}

uint32_t SourceMap::inlineDepth(uint32_t instruction) const {
  uint32_t depth = 0;
  for (uint32_t location = at(instruction).location; location; ++depth)
    location = module_.locations[location].inlinedAt;
  return depth ? depth - 1 : 0;
}

std::vector<InlinedPlace> SourceMap::inlinedAt(uint32_t instruction) const {
  std::vector<InlinedPlace> places;
  for (uint32_t location = at(instruction).location; location;) {
    const check::Location &found = module_.locations[location];
    InlinedPlace &place = places.emplace_back();
    if (found.inlinedAt)
      place.function = found.functionName.empty() ? "(inlined)" : plainName(found.functionName);
    if (found.file < module_.files.size())
      place.at = {std::string(module_.files[found.file]), found.line};
    location = found.inlinedAt;
  }
  return places;
}

std::vector<uint32_t> SourceMap::ofSource(const std::string &file, uint32_t &line) const {
  std::map<uint32_t, std::vector<uint32_t>> byLine;
  for (uint32_t f = 0; f < module_.functions.size(); ++f) {
    std::set<std::pair<uint32_t, uint32_t>> seen; // line, and the call that was inlined
    for (uint32_t i = first_[f]; i < first_[f + 1]; ++i) {
      const std::optional<SourceLine> at = source(i);
      if (!at || at->line < line || !isFile(at->file, file))
        continue;
      const check::Location &location = module_.locations[this->at(i).location];
      if (seen.insert({at->line, location.inlinedAt}).second)
        byLine[at->line].push_back(i);
    }
  }
  if (byLine.empty())
    return {};
  line = byLine.begin()->first;
  return byLine.begin()->second;
}

std::optional<uint32_t> SourceMap::ofPtxLine(uint32_t line) const {
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < count(); ++i)
    if (ptxLine(i) >= line && (!best || ptxLine(i) < ptxLine(*best)))
      best = i;
  return best;
}

std::optional<uint32_t> SourceMap::ofFunction(const std::string &name) const {
  for (uint32_t f = 0; f < module_.functions.size(); ++f) {
    const check::Function &function = *module_.functions[f];
    if (!function.body.empty() && (function.name == name || plainName(function.name) == name))
      return first_[f];
  }
  return std::nullopt;
}

uint32_t SourceMap::behindPrologue(uint32_t first) const {
  const std::optional<SourceLine> begin = source(first);
  const uint32_t end = first_[functionOf(first) + 1];
  for (uint32_t i = first; begin && i < end; ++i) {
    if (inlineDepth(i) == 0 && source(i) && *source(i) != *begin)
      return i;
    if (at(i).form && at(i).form->effect == isa::Effect::control) // it goes elsewhere
      return first;
  }
  return first;
}

namespace {
std::string demangled(std::string_view name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status != 0 || !text ? std::string(name) : std::string(text.get());
}
} // namespace

std::string SourceMap::variableName(std::string_view name) {
  const std::string whole = demangled(name);
  const size_t colons = whole.rfind("::");
  return colons == std::string::npos ? whole : whole.substr(colons + 2);
}

std::string SourceMap::plainName(std::string_view name) {
  std::string plain = demangled(name);
  if (plain == name)
    return plain;
  // "void saxpy<float>(int, float)": without the result and the parameters.
  int depth = 0;
  size_t end = plain.size();
  for (size_t i = 0; i < plain.size(); ++i) {
    depth += plain[i] == '<' ? 1 : plain[i] == '>' ? -1 : 0;
    if (plain[i] == '(' && depth == 0 && i > 0) {
      end = i;
      break;
    }
  }
  plain.resize(end);
  depth = 0;
  for (size_t i = plain.size(); i-- > 0;) {
    depth += plain[i] == '>' ? 1 : plain[i] == '<' ? -1 : 0;
    if (plain[i] == ' ' && depth == 0)
      return plain.substr(i + 1);
  }
  return plain;
}

std::vector<std::string> SourceMap::functionNames() const {
  std::vector<std::string> names;
  for (const check::Function *function : module_.functions)
    if (!function->body.empty())
      names.push_back(plainName(function->name));
  return names;
}

std::string SourceMap::findFile(const std::string &file) const {
  std::error_code error;
  const fs::path wanted(file);
  for (const fs::path &path : {wanted, fs::path(name_).parent_path() / wanted.filename(),
                               fs::path(".") / wanted.filename()})
    if (fs::is_regular_file(path, error))
      return path.string();
  return {};
}

const std::vector<std::string> &SourceMap::linesOf(const std::string &file) {
  if (file == name_)
    return ptx_;
  const auto [entry, isNew] = files_.try_emplace(file);
  if (isNew) {
    const std::string path = findFile(file);
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream contents;
    if (!path.empty() && stream && contents << stream.rdbuf())
      entry->second = splitLines(contents.str());
  }
  return entry->second;
}

std::optional<std::string> SourceMap::lineText(const std::string &file, uint32_t number) {
  const std::vector<std::string> &lines = linesOf(file);
  if (number == 0 || number > lines.size())
    return std::nullopt;
  return lines[number - 1];
}

uint32_t SourceMap::lineCount(const std::string &file) {
  return static_cast<uint32_t>(linesOf(file).size());
}

} // namespace ptxrun::debug
