#include "loader/image/link_text.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "translate/support/diagnostics.h"
#include "translate/syntax/parser.h"
#include "translate/syntax/printer.h"

namespace ptxrun::image {

namespace {

namespace ast = syntax::ast;
using Names = std::set<std::string, std::less<>>;

constexpr std::string_view kMark = "// ptxrun: a linked module begins\n";

/// A text and its tree.
struct Part {
  explicit Part(std::string_view text)
      : source("", std::string(text.substr(0, text.find('\0')))), // fat binaries pad texts
        diagnostics(source), module(syntax::parse(source, diagnostics)) {}
  Part(const Part &) = delete;

  std::string_view text(support::NameId id) const { return module->names.text(id); }

  support::SourceFile source;
  support::Diagnostics diagnostics;
  std::unique_ptr<ast::Module> module;
};

/// Variables of a space that all threads share: those of others are no module's own.
bool isModuleSpace(std::string_view space) {
  return space == "global" || space == "const" || space == "shared" || space == "tex";
}

/// A function or variable as one of its declarations or its definition has it.
struct Symbol {
  ast::Linkage linkage = ast::Linkage::none;
  support::NameId name = 0;
  bool isDefined = false;
  const ast::Declaration *variable = nullptr; ///< null: a function
  const ast::Declarator *declarator = nullptr;
};

/// Calls visit(Symbol) for each that an item has at module scope.
template <class Visit> void eachSymbol(const Part &part, const ast::Item &item, Visit visit) {
  if (item.kind == ast::Item::Kind::function) {
    const ast::Function &function = *item.function;
    const bool isForAll = function.linkage == ast::Linkage::none && function.isEntry;
    visit(Symbol{isForAll ? ast::Linkage::visible : function.linkage, function.name,
                 function.hasBody});
  } else if (item.kind == ast::Item::Kind::declaration &&
             isModuleSpace(part.text(item.declaration->space))) {
    const ast::Declaration &one = *item.declaration;
    for (const ast::Declarator &declarator : one.declarators)
      visit(Symbol{one.linkage, declarator.name, one.linkage != ast::Linkage::external_, &one,
                   &declarator});
  }
}

/// Whether a part needs what it does not define. Shared memory whose size the launch says does not
/// count.
bool refersElsewhere(const Part &part) {
  return std::ranges::any_of(part.module->items, [&](const ast::Item &item) {
    if (item.kind == ast::Item::Kind::declaration)
      return item.declaration->linkage == ast::Linkage::external_ &&
             part.text(item.declaration->space) != "shared";
    return item.kind == ast::Item::Kind::function &&
           item.function->linkage == ast::Linkage::external_;
  });
}

/// The highest .version of all, and the highest .target: by its number, `a` and `f` above none.
class Header {
 public:
  void add(const Part &part) {
    const ast::Header &header = part.module->header;
    version_ = std::max(version_, {header.versionMajor, header.versionMinor});
    const auto level = header.targets.empty() ? Level() : levelOf(part.text(header.targets[0]));
    if (!target_.empty() && level <= level_)
      return;
    level_ = level;
    target_.clear();
    for (const support::NameId word : header.targets)
      (target_ += target_.empty() ? "" : ", ") += part.text(word);
  }
  std::string text() const {
    return ".version " + std::to_string(version_.first) + "." + std::to_string(version_.second) +
           "\n.target " + target_ + "\n.address_size 64\n";
  }

 private:
  using Level = std::pair<unsigned long, bool>;
  /// "sm_90a": 90, and that a letter follows.
  static Level levelOf(std::string_view target) {
    const std::string digits(target.substr(std::min(target.find('_') + 1, target.size())));
    char *end = nullptr;
    const unsigned long number = std::strtoul(digits.c_str(), &end, 10);
    return {number, *end != '\0'};
  }

  std::pair<uint32_t, uint32_t> version_;
  Level level_;
  std::string target_;
};

/// Several modules as one.
class Merger {
  struct Definition {
    const Part *part = nullptr;
    Symbol symbol;
  };

 public:
  explicit Merger(std::span<const std::unique_ptr<Part>> parts) : parts_(parts) {
    for (const auto &part : parts)
      for (const ast::Item &item : part->module->items)
        eachSymbol(*part, item, [&](const Symbol &symbol) {
          if (symbol.linkage == ast::Linkage::none)
            return;
          taken_.emplace(part->text(symbol.name));
          if (symbol.isDefined)
            definitions_.try_emplace(std::string(part->text(symbol.name)),
                                     Definition{part.get(), symbol});
        });
  }

  std::string merged() {
    Header header;
    std::string bodies;
    for (const auto &part : parts_) {
      header.add(*part);
      const syntax::Respellings own = ownNames(*part);
      bodies += syntax::print(*part->module, itemsOf(*part), own);
    }
    return header.text() + bodies;
  }

 private:
  /// A part's own names that another part has, too, get others.
  syntax::Respellings ownNames(const Part &part) {
    syntax::Respellings respellings;
    Names mine;
    for (const ast::Item &item : part.module->items)
      eachSymbol(part, item, [&](const Symbol &symbol) {
        const std::string_view text = part.text(symbol.name);
        if (symbol.linkage != ast::Linkage::none || !mine.emplace(text).second)
          return;
        std::string free(text);
        for (unsigned n = 1; taken_.contains(free) || (n > 1 && part.module->names.find(free)); ++n)
          free = std::string(text) + "$" + std::to_string(n);
        if (free != text)
          respellings.emplace(symbol.name, free);
        taken_.insert(std::move(free));
      });
    return respellings;
  }

  /// The items that stay. Of several definitions of a .weak name the first counts. A declaration
  /// takes the linkage that the function has where it is defined, or the type that the variable has
  /// (compilers write .b64 in the one place and .u64 in the other), and is left out behind the
  /// definition.
  std::vector<ast::Item> itemsOf(const Part &part) {
    std::vector<ast::Item> items;
    uint32_t lastFile = firstFile_;
    for (ast::Item item : part.module->items) {
      if (item.kind == ast::Item::Kind::declaration &&
          item.declaration->linkage != ast::Linkage::none) {
        addVariables(part, item, items);
        continue;
      }
      if (item.kind == ast::Item::Kind::function) {
        if (isLeftOut(part.text(item.function->name), item.function->linkage,
                      item.function->hasBody))
          continue;
        item.function = linked(part, *item.function);
      } else if (item.kind == ast::Item::Kind::loc) {
        item.loc = moved(part, *item.loc);
      } else if (item.kind == ast::Item::Kind::file) {
        auto *file = part.module->arena.make<ast::FileDirective>(*item.file);
        lastFile = std::max(lastFile, file->index += firstFile_);
        item.file = file;
      }
      items.push_back(item);
    }
    firstFile_ = lastFile;
    return items;
  }

  /// Whether a symbol for all is defined before: another definition of it is not wanted where one
  /// of several may be taken, nor is a declaration.
  bool isLeftOut(std::string_view name, ast::Linkage linkage, bool isDefined) {
    if (linkage == ast::Linkage::none)
      return false;
    const bool isKnown = defined_.contains(name);
    if (isDefined)
      defined_.emplace(name);
    return isKnown &&
           (!isDefined || linkage == ast::Linkage::weak || linkage == ast::Linkage::common);
  }

  const ast::Function *linked(const Part &part, const ast::Function &function) {
    auto *copy = part.module->arena.make<ast::Function>(function);
    const auto defined = definitions_.find(part.text(function.name));
    if (function.linkage == ast::Linkage::external_ && defined != definitions_.end())
      copy->linkage = defined->second.symbol.linkage;
    if (firstFile_ != 0)
      copy->body = moved(part, function.body);
    return copy;
  }

  void addVariables(const Part &part, ast::Item item, std::vector<ast::Item> &items) {
    const ast::Declaration &all = *item.declaration;
    const bool isDefined = all.linkage != ast::Linkage::external_;
    for (const ast::Declarator &one : all.declarators) {
      const std::string_view name = part.text(one.name);
      if (isLeftOut(name, all.linkage, isDefined))
        continue;
      auto *copy = part.module->arena.make<ast::Declaration>(all);
      copy->declarators = {&one, 1};
      const auto defined = definitions_.find(name);
      if (!isDefined && defined != definitions_.end())
        takeType(part, defined->second, *copy);
      item.declaration = copy;
      items.push_back(item);
    }
  }

  /// Makes a declaration of one variable agree with the definition, if that is of the same space.
  static void takeType(const Part &part, const Definition &definition, ast::Declaration &to) {
    const ast::Declaration *from = definition.symbol.variable;
    const Part &other = *definition.part;
    if (!from || other.text(from->space) != part.text(to.space))
      return;
    to.type = part.module->names.internCopy(other.text(from->type));
    to.vector = part.module->names.internCopy(other.text(from->vector));
    to.hasAlign = from->hasAlign;
    to.align = from->align;
    auto *declarator = part.module->arena.make<ast::Declarator>(to.declarators[0]);
    declarator->dimensions = definition.symbol.declarator->dimensions;
    to.declarators = {declarator, 1};
  }

  /// The same with the numbers that the part's files have now.
  const ast::LocDirective *moved(const Part &part, const ast::LocDirective &loc) {
    auto *copy = part.module->arena.make<ast::LocDirective>(loc);
    copy->file += firstFile_;
    copy->inlinedFile += firstFile_;
    return copy;
  }
  std::span<const ast::Statement> moved(const Part &part, std::span<const ast::Statement> body) {
    const std::span<ast::Statement> copies = part.module->arena.copy(body);
    for (ast::Statement &one : copies)
      if (one.kind == ast::Statement::Kind::loc)
        one.loc = moved(part, *one.loc);
    return copies;
  }

  std::span<const std::unique_ptr<Part>> parts_;
  Names taken_;   ///< names that own ones must keep apart from
  Names defined_; ///< for all, so far
  std::map<std::string, Definition, std::less<>> definitions_; ///< of names for all, the first
  uint32_t firstFile_ = 0; ///< the highest number of a source file in the parts before
};

} // namespace

std::optional<std::string> mergeTexts(std::span<const std::string> texts) {
  const auto mayRefer = [](const std::string &text) { return text.find(".extern") != text.npos; };
  if (texts.size() < 2 || std::ranges::none_of(texts, mayRefer))
    return std::nullopt;
  std::vector<std::unique_ptr<Part>> parts;
  bool isNeeded = false;
  for (const std::string &text : texts) {
    parts.push_back(std::make_unique<Part>(text));
    if (parts.back()->diagnostics.hasErrors())
      return std::nullopt;
    isNeeded |= refersElsewhere(*parts.back());
  }
  return isNeeded ? std::optional(Merger(parts).merged()) : std::nullopt;
}

bool isDeviceRuntime(std::string_view text) {
  return text.find("__CNPRT_VERSION_NUMBER__ =") != std::string_view::npos;
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
