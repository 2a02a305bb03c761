#include "translate/check/scopes.h"

#include <charconv>

namespace ptxrun::check {
namespace {

const Binding kNothing{};
/// More digits than a range's count can have.
constexpr size_t kMaxDigits = 18;
constexpr size_t kFewPrefixes = 16;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// A name read as a member of a range: all its last digits are the number, as with ptxas (`a11` is
/// never `a1<2>`'s).
struct Member {
  std::string_view prefix; ///< empty: no member of any range
  uint64_t number = 0;
};

Member takeApart(std::string_view name) {
  size_t digits = 0;
  while (digits < name.size() && isDigit(name[name.size() - digits - 1]))
    ++digits;
  if (digits == 0 || digits > kMaxDigits || digits == name.size())
    return {};
  Member member{name.substr(0, name.size() - digits), 0};
  std::from_chars(name.data() + member.prefix.size(), name.data() + name.size(), member.number);
  return member;
}

} // namespace

void Scopes::open() {
  if (depth_ == frames_.size())
    frames_.emplace_back();
  Frame &frame = frames_[depth_++];
  frame.serial = ++lastSerial_;
  frame.outerInnermostRange = innermostRange_;
}

void Scopes::close() {
  Frame &frame = frames_[--depth_];
  for (size_t i = frame.undos.size(); i-- > 0;)
    bindings_[frame.undos[i].id] = frame.undos[i].before;
  for (support::NameId prefix : frame.ranges)
    ranges_[prefix].pop_back();
  prefixes_.resize(prefixes_.size() - frame.ranges.size());
  frame.undos.clear();
  frame.ranges.clear();
  frame.numbered.clear();
  innermostRange_ = frame.outerInnermostRange;
}

void Scopes::bind(Frame &frame, support::NameId id, Binding binding) {
  binding.scope = frame.serial;
  frame.undos.push_back({id, bindings_[id]});
  bindings_[id] = binding;
}

bool Scopes::declare(support::NameId id, Binding binding) {
  Frame &frame = frames_[depth_ - 1];
  const Binding &known = bindings_[id];
  if (known.kind != Binding::Kind::none && known.kind != Binding::Kind::unknown &&
      known.scope == frame.serial)
    return false;
  const RegisterRange *range = frame.ranges.empty() ? nullptr : rangeOf(id);
  if (range && range->scope == frame.serial)
    return false;
  bind(frame, id, binding);
  if (isDigit(names_.text(id).back()))
    noteNumber(id);
  return true;
}

void Scopes::redeclare(support::NameId id, Binding binding) {
  binding.scope = bindings_[id].scope;
  bindings_[id] = binding;
}

void Scopes::noteNumber(support::NameId id) {
  Frame &frame = frames_[depth_ - 1];
  Member member = takeApart(names_.text(id));
  support::NameId prefix = names_.find(member.prefix);
  if (!prefix)
    return;
  auto [at, isNew] = frame.numbered.try_emplace(prefix, member.number, id);
  if (!isNew && member.number < at->second.first)
    at->second = {member.number, id};
}

bool Scopes::declareRange(const RegisterRange &range, std::string &clash) {
  Frame &frame = frames_[depth_ - 1];
  std::vector<RegisterRange> &same = ranges_[range.prefix];
  if (!same.empty() && same.back().scope == frame.serial) {
    clash = std::string(names_.text(range.prefix)) + "<" + std::to_string(same.back().count) + ">";
    return false;
  }
  auto numbered = frame.numbered.find(range.prefix);
  if (numbered != frame.numbered.end() && numbered->second.first < range.count) {
    clash = names_.text(numbered->second.second);
    return false;
  }
  same.push_back(range);
  same.back().scope = frame.serial;
  same.back().depth = uint32_t(depth_ - 1);
  frame.ranges.push_back(range.prefix);
  prefixes_.push_back(range.prefix);
  innermostRange_ = frame.serial;
  return true;
}

// The innermost range of a prefix that has this number.
const RegisterRange *Scopes::innermost(support::NameId prefix, uint64_t number) const {
  auto at = ranges_.find(prefix);
  if (at == ranges_.end())
    return nullptr;
  for (size_t i = at->second.size(); i-- > 0;)
    if (number < at->second[i].count)
      return &at->second[i];
  return nullptr;
}

const RegisterRange *Scopes::rangeOf(support::NameId id) const {
  Member member = takeApart(names_.text(id));
  if (member.prefix.empty())
    return nullptr;
  // Functions have a handful of ranges; comparing with them all is faster than looking the prefix
  // up.
  if (prefixes_.size() > kFewPrefixes)
    return innermost(names_.find(member.prefix), member.number);
  for (size_t i = prefixes_.size(); i-- > 0;)
    if (names_.text(prefixes_[i]) == member.prefix)
      return innermost(prefixes_[i], member.number);
  return nullptr;
}

const Binding &Scopes::findMember(support::NameId id, const RegisterRange *&range) {
  const Binding &binding = bindings_[id];
  std::string_view text = names_.text(id);
  const RegisterRange *found = isDigit(text.back()) ? rangeOf(id) : nullptr;
  if (!found || (binding.kind != Binding::Kind::none && binding.scope >= found->scope))
    return binding;
  range = found;
  return kNothing;
}

void Scopes::bindMember(support::NameId id, const RegisterRange &range, const Register *reg) {
  Binding binding;
  binding.kind = Binding::Kind::reg;
  binding.reg = reg;
  // The register lives as long as its range's scope, which may lie further out than where it is
  // first named.
  bind(frames_[range.depth], id, binding);
}

} // namespace ptxrun::check
