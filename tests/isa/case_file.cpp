#include "tests/isa/case_file.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ptxrun::isa_test {

namespace {

std::string trim(const std::string &text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// Splits at `separator` outside of braces.
std::vector<std::string> split(const std::string &text, const std::string &separators) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 0 && separators.find(c) != std::string::npos)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string &part : parts)
    part = trim(part);
  if (parts.size() == 1 && parts[0].empty())
    parts.clear();
  return parts;
}

unsigned widthOf(const std::string &type) {
  if (type == "pred")
    return 1;
  if (type == "imm")
    return 32;
  if (type == "bf16")
    return 16;
  if (type == "f16x2" || type == "bf16x2")
    return 32;
  if (type == "f32x2")
    return 64;
  if (type.size() >= 2 && std::string("busf").find(type[0]) != std::string::npos)
    return static_cast<unsigned>(std::stoul(type.substr(1)));
  throw std::runtime_error("unknown type '" + type + "'");
}

Slot readSlot(std::string text) {
  Slot slot;
  if (text[0] == '!') {
    slot.isNegated = true;
    text = text.substr(1);
  }
  if (text[0] == '{') {
    std::istringstream elements(text.substr(1, text.size() - 2));
    slot.count = 0;
    while (elements >> slot.type)
      ++slot.count;
  } else {
    slot.type = text;
  }
  slot.bits = widthOf(slot.type);
  return slot;
}

std::vector<Slot> readSlots(const std::string &text) {
  std::vector<Slot> slots;
  for (const std::string &word : split(text, " ")) {
    if (word.empty())
      continue;
    const auto joined = split(word, "|");
    for (size_t i = 0; i < joined.size(); ++i) {
      slots.push_back(readSlot(joined[i]));
      slots.back().isJoined = i + 1 < joined.size();
    }
  }
  return slots;
}

uint64_t readElement(const std::string &word, const Slot &slot, bool &isAnyNaN) {
  if (word == "true")
    return 1;
  if (word == "false")
    return 0;
  if (word == "nan") {
    isAnyNaN = true;
    return 0;
  }
  if (word.starts_with("0f") || word.starts_with("0d"))
    return std::stoull(word.substr(2), nullptr, 16);
  size_t end = 0;
  const uint64_t value = word[0] == '-' ? static_cast<uint64_t>(std::stoll(word, &end, 0))
                                        : std::stoull(word, &end, 0);
  if (end != word.size())
    throw std::runtime_error("cannot read the number '" + word + "'");
  return slot.bits >= 64 ? value : value & ((uint64_t{1} << slot.bits) - 1);
}

/// A 128-bit element is written as one hexadecimal number of up to 32 digits.
Value readValue(const std::string &word, const Slot &slot) {
  Value value;
  if (slot.bits == 128) {
    const std::string digits =
        std::string(34 - std::min<size_t>(word.size(), 34), '0') + word.substr(2);
    value.element[1] = std::stoull(digits.substr(0, 16), nullptr, 16);
    value.element[0] = std::stoull(digits.substr(16), nullptr, 16);
    return value;
  }
  const auto elements =
      word[0] == '{' ? split(word.substr(1, word.size() - 2), ",") : std::vector{word};
  if (elements.size() != slot.count)
    throw std::runtime_error("expected " + std::to_string(slot.count) + " elements in '" + word +
                             "'");
  for (size_t i = 0; i < elements.size(); ++i)
    value.element[i] = readElement(elements[i], slot, value.isAnyNaN);
  return value;
}

std::vector<Value> readValues(const std::vector<std::string> &words,
                              const std::vector<Slot> &slots) {
  if (words.size() != slots.size())
    throw std::runtime_error("expected " + std::to_string(slots.size()) + " values, found " +
                             std::to_string(words.size()));
  std::vector<Value> values;
  for (size_t i = 0; i < words.size(); ++i)
    values.push_back(readValue(words[i], slots[i]));
  return values;
}

/// "2ulp", "2^-20.5", "2^-22rel"
Tolerance readTolerance(const std::string &text) {
  if (text.ends_with("ulp"))
    return {Tolerance::Kind::ulp, std::stod(text)};
  if (!text.starts_with("2^"))
    throw std::runtime_error("unknown tolerance '" + text + "'");
  const auto kind = text.ends_with("rel") ? Tolerance::Kind::relative : Tolerance::Kind::absolute;
  return {kind, std::exp2(std::stod(text.substr(2)))};
}

/// What stands until the next signature line.
struct Signature {
  std::vector<Slot> operands, results;
  bool allowsLiterals = true;
  std::string code;
  bool isNew = true;
};

void readSignature(const std::string &text, Signature &signature) {
  const size_t semicolon = text.find(';'), arrow = text.find("->");
  if (arrow == std::string::npos)
    throw std::runtime_error("a signature needs '->'");
  signature = {};
  signature.operands = readSlots(trim(text.substr(0, arrow)));
  signature.results = readSlots(trim(
      text.substr(arrow + 2, semicolon == std::string::npos ? semicolon : semicolon - arrow - 2)));
  signature.allowsLiterals =
      semicolon == std::string::npos || text.find("registers", semicolon) == std::string::npos;
}

/// Operands that are immediates of the instruction are the same for all cases of a group.
bool haveSameImmediates(const Signature &signature, const Case &one, const Case &other) {
  for (size_t i = 0; i < signature.operands.size(); ++i)
    if (signature.operands[i].isImmediate() && one.operands[i].element != other.operands[i].element)
      return false;
  return true;
}

void readCase(const std::string &text, unsigned line, Signature &signature, CaseFile &file) {
  const size_t space = text.find(' '), arrow = text.find("->");
  if (space == std::string::npos || arrow == std::string::npos)
    throw std::runtime_error("expected 'instruction operands -> results'");
  const std::string mnemonic = text.substr(0, space);
  const size_t tilde = text.find('~', arrow);
  const std::string results =
      text.substr(arrow + 2, tilde == std::string::npos ? tilde : tilde - arrow - 2);
  Case added;
  added.line = line;
  added.operands =
      readValues(split(trim(text.substr(space, arrow - space)), ","), signature.operands);
  added.results = readValues(split(trim(results), ",|"), signature.results);
  const bool isSame = !signature.isNew && !file.groups.empty() &&
                      file.groups.back().mnemonic == mnemonic &&
                      haveSameImmediates(signature, added, file.groups.back().cases[0]);
  if (!isSame)
    file.groups.push_back({mnemonic,
                           signature.code,
                           signature.operands,
                           signature.results,
                           signature.allowsLiterals,
                           {}});
  signature.isNew = false;
  Group &group = file.groups.back();
  if (tilde != std::string::npos)
    added.tolerance = readTolerance(trim(text.substr(tilde + 1)));
  group.cases.push_back(added);
}

} // namespace

bool Slot::mayBeLiteral() const {
  const bool isInteger =
      std::string("bus").find(type[0]) != std::string::npos && type != "bf16" && type != "bf16x2";
  return count == 1 && bits >= 16 && bits <= 64 &&
         ((isInteger && type.size() <= 3) || type == "f32" || type == "f64");
}

bool Group::hasLiteralForm() const {
  for (const Slot &slot : operands)
    if (!slot.isPredicate() && !slot.isImmediate() && !slot.mayBeLiteral())
      return false;
  return allowsLiterals && !operands.empty();
}

CaseFile readCaseFile(const std::string &path) {
  CaseFile file;
  file.path = path;
  std::ifstream stream(path);
  if (!stream)
    throw std::runtime_error(path + ": cannot be read");
  Signature signature;
  std::string text;
  for (unsigned line = 1; std::getline(stream, text); ++line) {
    text = trim(text);
    try {
      if (text.empty() || text[0] == '#')
        continue;
      if (text[0] == ':')
        readSignature(text.substr(1), signature);
      else if (text[0] == '=') {
        signature.code = trim(text.substr(1));
        signature.isNew = true;
      } else if (text.starts_with("target "))
        std::istringstream(text.substr(7)) >> file.version >> file.target;
      else
        readCase(text, line, signature, file);
    } catch (const std::exception &error) {
      throw std::runtime_error(path + ":" + std::to_string(line) + ": " + error.what());
    }
  }
  return file;
}

} // namespace ptxrun::isa_test
