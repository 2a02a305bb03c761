#include "loader/image/link_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

namespace ptxrun::image {

namespace {

constexpr std::string_view kMark = "// ptxrun: a linked module begins\n";
constexpr std::string_view kBlanks = " \t\r", kSpaces = " \t\r\n\f\v";

/// The arguments of a directive that stands at the beginning of a line; nothing if it is another.
std::optional<std::string_view> argumentsOf(std::string_view line, std::string_view directive) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  if (!line.starts_with(directive))
    return std::nullopt;
  line.remove_prefix(directive.size());
  const size_t start = line.find_first_not_of(kBlanks);
  if (start == 0 || start == std::string_view::npos)
    return std::nullopt;
  return line.substr(start);
}

/// The first two numbers in "9.0" or "sm_90a, debug", to compare versions and targets by.
std::pair<int, int> numbersIn(std::string_view text) {
  int numbers[2] = {};
  const char *at = text.data(), *end = at + text.size();
  for (int &number : numbers) {
    at = std::find_if(at, end, [](char c) { return c >= '0' && c <= '9'; });
    at = std::from_chars(at, end, number).ptr;
  }
  return {numbers[0], numbers[1]};
}

void keepHigher(std::string &kept, std::string_view other) {
  if (kept.empty() || numbersIn(kept) < numbersIn(other))
    kept = other;
}

bool isNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$';
}

/// The names of a module's own variables and functions: what compilers write at the beginning of a
/// line without a linkage, `.global .align 1 .b8 $str[4] = ...`, `.func (...) name(`.
std::vector<std::string_view> ownNamesIn(std::string_view text) {
  std::vector<std::string_view> names;
  for (size_t start = 0; start < text.size(); start = text.find('\n', start)) {
    start += text[start] == '\n';
    std::string_view line = text.substr(start, text.find('\n', start) - start);
    const bool isFunction = line.starts_with(".func");
    if (!isFunction && !line.starts_with(".global") && !line.starts_with(".const") &&
        !line.starts_with(".shared"))
      continue;
    if (isFunction && line.find('(') < line.find(')')) // results
      line.remove_prefix(std::min(line.find(')') + 1, line.size()));
    line = line.substr(0, line.find_first_of(isFunction ? "(;{" : "=;["));
    line = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    size_t begin = line.size();
    while (begin > 0 && isNameCharacter(line[begin - 1]))
      --begin;
    if (begin < line.size())
      names.push_back(line.substr(begin));
  }
  return names;
}

using Renamings = std::map<std::string, std::string, std::less<>>;

std::string renamed(std::string_view text, const Renamings &names) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isNameCharacter(text[end]))
      ++end;
    const std::string_view word = text.substr(at, end - at);
    const auto found = names.find(word);
    // What follows % is a register, what follows a point a directive.
    const bool isSymbol = at == 0 || (text[at - 1] != '%' && text[at - 1] != '.');
    out.append(found != names.end() && isSymbol ? std::string_view(found->second) : word);
    for (at = end; at < text.size() && !isNameCharacter(text[at]); ++at)
      out.push_back(text[at]);
  }
  return out;
}

/// The texts with those of their own names changed that an earlier one has too.
std::vector<std::string> keepOwnNamesApart(std::span<const std::string> texts) {
  std::vector<std::string> apart;
  std::set<std::string, std::less<>> taken;
  for (const std::string &text : texts) {
    Renamings names;
    for (std::string_view name : ownNamesIn(text))
      if (!taken.emplace(name).second)
        names.emplace(name, std::string(name) + "$" + std::to_string(apart.size()));
    apart.push_back(names.empty() ? text : renamed(text, names));
  }
  return apart;
}

/// Takes a text apart into what stands at module scope: comments, directives with their line,
/// declarations up to their `;`, functions and sections up to their last brace.
class Statements {
 public:
  explicit Statements(std::string_view text) : rest_(text) {}

  /// The next one without the blanks before it; empty at the end.
  std::string_view next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpaces), rest_.size()));
    const std::string_view statement = rest_.substr(0, length());
    rest_.remove_prefix(statement.size());
    return statement;
  }

 private:
  /// npos for all that is left, here and below.
  size_t length() const {
    constexpr std::string_view kNumbered[] = {".version", ".address_size"};
    for (std::string_view directive : kNumbered) // others may follow on its line
      if (rest_.starts_with(directive))
        return rest_.find_first_not_of("0123456789.", rest_.find_first_of("0123456789"));
    constexpr std::string_view kLines[] = {"//", ".target", ".file", ".loc", "@@"};
    if (std::any_of(std::begin(kLines), std::end(kLines),
                    [&](std::string_view line) { return rest_.starts_with(line); }))
      return rest_.find('\n');
    if (rest_.starts_with("/*"))
      return after(rest_.find("*/"), 2);
    const size_t brace = rest_.find('{'), end = rest_.find(';');
    if (end < brace)
      return after(end, 1);
    const size_t closing = closingBrace(brace);
    const bool isValue = rest_.substr(0, brace).find('=') != std::string_view::npos;
    return isValue ? after(rest_.find(';', closing), 1) : after(closing, 1);
  }
  static size_t after(size_t at, size_t count) {
    return at == std::string_view::npos ? at : at + count;
  }
  size_t closingBrace(size_t at) const {
    size_t open = 0;
    for (; at < rest_.size(); ++at) {
      if (rest_[at] == '"' || rest_.substr(at, 2) == "//") {
        at = rest_.find(rest_[at] == '"' ? '"' : '\n', at + 1);
        if (at == std::string_view::npos)
          break;
      } else if (rest_[at] == '{') {
        ++open;
      } else if (rest_[at] == '}' && --open == 0) {
        return at;
      }
    }
    return std::string_view::npos;
  }

  std::string_view rest_;
};

/// What a statement of module scope introduces under a name that other texts may use.
struct Symbol {
  std::string_view linkage, name; ///< ".extern", ".visible", ".weak"; empty for anything else
  bool isFunction = false, isDefined = false;
};

Symbol symbolOf(std::string_view statement) {
  Symbol symbol;
  for (std::string_view linkage : {".extern", ".visible", ".weak"})
    if (statement.starts_with(linkage))
      symbol.linkage = linkage;
  std::string_view head = statement.substr(0, statement.find_first_of("=;{"));
  const size_t function = std::min(head.find(".func"), head.find(".entry"));
  symbol.isFunction = function != std::string_view::npos;
  if (symbol.isFunction) {
    head.remove_prefix(head.find_first_of(kSpaces, function));
    head.remove_prefix(std::min(head.find_first_not_of(kSpaces), head.size()));
    if (head.starts_with('(')) // results
      head.remove_prefix(std::min(head.find(')') + 1, head.size()));
    head = head.substr(0, head.find('('));
  } else {
    head = head.substr(0, head.find('['));
  }
  head = head.substr(0, head.find_last_not_of(kSpaces) + 1);
  symbol.name = head.substr(head.find_last_of(" \t\r\n") + 1);
  symbol.isDefined = symbol.isFunction ? statement.ends_with('}') : symbol.linkage != ".extern";
  return symbol;
}

/// The bodies of several texts, one after the other.
class Merger {
 public:
  explicit Merger(std::span<const std::string> texts) {
    for (const std::string &text : texts)
      for (Statements statements(text); auto statement = nextOf(statements);) {
        const Symbol symbol = symbolOf(*statement);
        if (symbol.isFunction && symbol.isDefined && !symbol.linkage.empty())
          linkage_.emplace(symbol.name, symbol.linkage);
      }
  }

  /// False where the text has no .version or no .target.
  bool add(std::string_view text) {
    bool hasVersion = false, hasTarget = false;
    for (Statements statements(text); auto statement = nextOf(statements);) {
      if (const auto found = argumentsOf(*statement, ".version")) {
        keepHigher(version_, *found);
        hasVersion = true;
      } else if (const auto wanted = argumentsOf(*statement, ".target")) {
        keepHigher(target_, *wanted);
        hasTarget = true;
      } else if (!argumentsOf(*statement, ".address_size")) {
        addStatement(*statement);
      }
    }
    return hasVersion && hasTarget;
  }

  std::string take() {
    return ".version " + version_ + "\n.target " + target_ + "\n.address_size 64\n" + body_;
  }

 private:
  static std::optional<std::string_view> nextOf(Statements &statements) {
    const std::string_view statement = statements.next();
    return statement.empty() ? std::nullopt : std::optional(statement);
  }

  /// Of several definitions of a .weak name the first counts. A declaration takes the linkage that
  /// the function has where it is defined, and is left out behind the definition.
  void addStatement(std::string_view statement) {
    const Symbol symbol = symbolOf(statement);
    if (symbol.linkage.empty())
      return append(statement);
    const bool isKnown = defined_.contains(symbol.name);
    if (isKnown && (!symbol.isDefined || symbol.linkage == ".weak"))
      return;
    if (symbol.isDefined)
      defined_.emplace(symbol.name);
    const auto linkage = linkage_.find(symbol.name);
    if (symbol.linkage != ".extern" || !symbol.isFunction || linkage == linkage_.end())
      return append(statement);
    body_.append(linkage->second);
    append(statement.substr(symbol.linkage.size()));
  }
  void append(std::string_view statement) { body_.append(statement).append("\n"); }

  std::string version_, target_, body_;
  std::map<std::string, std::string, std::less<>> linkage_; ///< of functions, where defined
  std::set<std::string, std::less<>> defined_;
};

} // namespace

std::optional<std::string> mergeTexts(std::span<const std::string> texts) {
  std::vector<std::string> parts = keepOwnNamesApart(texts);
  for (std::string &part : parts)
    part.resize(std::min(part.find('\0'), part.size())); // fat binaries pad texts
  Merger merger(parts);
  for (const std::string &part : parts)
    if (!merger.add(part))
      return std::nullopt;
  return merger.take();
}

bool isDeviceRuntime(std::string_view text) {
  return text.find("__CNPRT_VERSION_NUMBER__ =") != std::string_view::npos;
}

bool refersElsewhere(std::string_view text) {
  constexpr std::string_view kExtern = ".extern", kShared = ".shared";
  for (size_t at = text.find(kExtern); at != std::string_view::npos; at = text.find(kExtern, at)) {
    at = text.find_first_not_of(" \t\r\n", at + kExtern.size());
    if (at != std::string_view::npos && !text.substr(at).starts_with(kShared))
      return true;
  }
  return false;
}

std::string joinLinked(std::span<const std::string> texts) {
  std::string joined;
  for (const std::string &text : texts)
    joined.append(kMark).append(text).append("\n");
  return joined;
}

std::vector<std::string> splitLinked(std::string_view text) {
  if (!text.starts_with(kMark))
    return {std::string(text)};
  std::vector<std::string> parts;
  while (!text.empty()) {
    text.remove_prefix(kMark.size());
    const size_t end = std::min(text.find(kMark), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

} // namespace ptxrun::image
