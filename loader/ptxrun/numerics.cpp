#include "loader/ptxrun/numerics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "intrinsics/matrix/describe.h"
#include "intrinsics/matrix/policy.h"
#include "loader/ptxrun/measured.h"

namespace ptxrun::command {
namespace {

using matrix::Element, matrix::Operation, matrix::Policy, matrix::Unit;

struct Name {
  std::string_view text;
  Element element;
};
/// Types and sets of types in notations; a set stands for its first type. kinds of tcgen05: the
/// factors' type.
constexpr Name kNames[] = {
    {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32},
    {"f32", Element::f32},   {"f64", Element::f64},   {"f8a", Element::e4m3},
    {"f8b", Element::e4m3},  {"f6a", Element::e2m3},  {"f6b", Element::e2m3},
    {"e2m1", Element::e2m1}, {"e4m3", Element::e4m3}, {"i8a", Element::s8},
    {"i8b", Element::s8},    {"i4a", Element::s4},    {"i4b", Element::s4},
    {"b1", Element::b1},     {"s32", Element::s32},
};

std::vector<std::string_view> wordsOf(std::string_view notation) {
  std::vector<std::string_view> words;
  notation = notation.substr(0, notation.find(' '));
  for (size_t at = 0; at < notation.size();) {
    const size_t end = std::min(notation.find_first_of(".{}", at), notation.size());
    if (end > at)
      words.push_back(notation.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The instruction that a notation of 9.7.14 or 9.7.15 stands for; none where it multiplies
/// nothing.
std::optional<Operation> operationOf(std::string_view notation) {
  Operation operation;
  std::vector<Element> types;
  for (const std::string_view word : wordsOf(notation)) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(std::string(word).c_str(), "m%un%uk%u", &m, &n, &k) == 3) {
      operation.m = uint16_t(m);
      operation.n = uint16_t(n);
      operation.k = uint16_t(k);
    }
    operation.isScaled |= word == "block_scale";
    operation.isSparse |= word.starts_with("sp");
    for (const Name &name : kNames)
      if (word == name.text)
        types.push_back(name.element);
  }
  const bool isWgmma = notation.starts_with("wgmma");
  operation.unit = isWgmma ? Unit::wgmma : notation.starts_with("wmma") ? Unit::wmma : Unit::mma;
  if (isWgmma && types.size() >= 3) {
    operation.d = operation.c = types[0];
    operation.a = types[1];
    operation.b = types[2];
  } else if (types.size() == 2) {
    operation.d = types[0];
    operation.c = types[1];
  } else if (types.size() >= 4) {
    operation.d = types[0];
    operation.a = types[1];
    operation.b = types[2];
    operation.c = types[3];
  } else {
    return std::nullopt;
  }
  return operation;
}

using Text = std::pair<std::string, std::string>;

/// How an operation sums, under each policy that differs; one text for all where none does.
std::vector<Text> policiesOf(const Operation &operation) {
  if (matrix::isInteger(operation.a))
    return {{"every policy", "exact, modulo 2^32 or saturated"}};
  if (operation.a == Element::f64)
    return {{"every policy", "f64 fma, ascending k, from c"}};
  std::vector<Text> texts;
  for (unsigned i = 0; i <= unsigned(Policy::sm120); ++i)
    texts.emplace_back(matrix::policyName(Policy(i)),
                       matrix::describe(matrix::sumOf(Policy(i), operation)));
  return texts;
}

void printPolicies(const std::vector<Text> &texts) {
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts.size() == 1)
      std::printf("    %s: %s\n", texts[i].first.c_str(), texts[i].second.c_str());
    else
      std::printf("    %-7s  %s\n", texts[i].first.c_str(),
                  i && texts[i].second == texts[i - 1].second ? "the same"
                                                              : texts[i].second.c_str());
}

bool multiplies(const isa::Form &form) {
  return form.instruction == "mma" || form.instruction == "mma.sp" ||
         form.instruction == "wmma.mma" || form.instruction.starts_with("wgmma.mma_async");
}

/// tcgen05.mma: the kinds, whose types the instruction descriptor chooses.
std::vector<std::pair<const char *, Operation>> tensorKinds() {
  struct Kind {
    const char *text;
    Element a;
    uint16_t k;
    bool isScaled;
  };
  std::vector<std::pair<const char *, Operation>> kinds;
  for (const Kind &kind :
       {Kind{"f16", Element::f16, 16, false}, Kind{"tf32", Element::tf32, 8, false},
        Kind{"f8f6f4", Element::e4m3, 32, false}, Kind{"i8", Element::s8, 32, false},
        Kind{"mxf8f6f4", Element::e4m3, 32, true},
        Kind{"mxf4, mxf4nvf4", Element::e2m1, 64, true}}) {
    Operation operation;
    operation.unit = Unit::tcgen05;
    operation.m = 128;
    operation.n = 256;
    operation.k = kind.k;
    operation.a = operation.b = kind.a;
    operation.isScaled = kind.isScaled;
    kinds.emplace_back(kind.text, operation);
  }
  return kinds;
}

bool names(std::string_view notation, std::initializer_list<std::string_view> words) {
  const std::string opcode = std::string(notation.substr(0, notation.find(' '))) + ".";
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return opcode.find("." + std::string(word) + ".") != std::string::npos ||
           opcode.find("." + std::string(word) + "}") != std::string::npos;
  });
}

/// What is said of a form beside measurements and policies.
struct Statement {
  const char *kind; ///< "exact", "rounded", "approximate", "policy", "filtered"
  std::string text;
};

Statement statementOf(const isa::Form &form, const std::vector<const MeasuredRow *> &rows) {
  const std::string_view section = form.section;
  const auto isIn = [&](std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
      return section == prefix || section.starts_with(std::string(prefix) + ".");
    });
  };
  if (!rows.empty())
    return {"approximate", rows[0]->form == form.notation ? "" : "as " + rows[0]->instruction};
  if (multiplies(form) || form.instruction.starts_with("tcgen05.mma"))
    return {"policy", ""};
  if (form.instruction == "tex" || form.instruction == "tld4")
    return {"filtered", "linear filtering by weights that are multiples of 1/256"};
  if (section == "9.7.9.21" && names(form.notation, {"rs"}))
    return {"rounded", "up or down as the random bits say"};
  if (isIn({"9.7.3", "9.7.4", "9.7.5", "9.7.9.21"}))
    return {"exact", "the exact result, rounded once as written"};
  const bool mayAdd = form.opcode == "atom" || form.opcode == "red" ||
                      form.notation.find("reduce") != std::string_view::npos;
  if (mayAdd && names(form.notation, {"add"}) &&
      names(form.notation, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "half", "half2",
                            "htype", "ftype", "type"}))
    return {"exact", "each sum rounded to nearest; the order of sums is the threads'"};
  return {"exact", ""};
}

using Json = nlohmann::ordered_json;

Json toJson(const std::vector<Text> &texts) {
  Json all = Json::object();
  for (const auto &[policy, text] : texts)
    all[policy] = text;
  return all;
}

Json toJson(const MeasuredRow &row) {
  Json one = {{"instruction", row.instruction},
              {"range", row.range},
              {"inputs", row.inputs},
              {"unit", row.unit}};
  if (!std::isinf(row.bound))
    one["bound"] = row.bound;
  one.update({{"worst", row.worst},
              {"at", row.at},
              {"result", row.result},
              {"date", row.date},
              {"commit", row.commit}});
  return one;
}

std::string boundText(const MeasuredRow &row) {
  char text[64];
  if (std::isinf(row.bound))
    return "no bound";
  std::snprintf(text, sizeof text, "at most %.4g", row.bound);
  return text;
}

void printMeasured(const MeasuredRow &row) {
  std::printf("    %-22s %-26s %s %s; worst %.4g at %s (%s inputs)\n", row.instruction.c_str(),
              row.range.c_str(), row.unit.c_str(), boundText(row).c_str(), row.worst,
              row.at.c_str(), row.inputs.c_str());
}

} // namespace

void printNumerics(const std::vector<isa::Coverage> &all, bool isJson) {
  Json list = Json::array();
  for (const isa::Coverage &entry : all) {
    const isa::Form &form = *entry.form;
    const std::vector<const MeasuredRow *> rows = measuredRowsOf(form);
    const Statement statement = statementOf(form, rows);
    const std::optional<Operation> operation =
        multiplies(form) ? operationOf(form.notation) : std::nullopt;
    if (isJson) {
      Json one = {{"instruction", form.instruction},
                  {"form", form.notation},
                  {"section", form.section},
                  {"numerics", statement.kind}};
      if (!statement.text.empty())
        one["meaning"] = statement.text;
      for (const MeasuredRow *row : rows)
        one["measured"].push_back(toJson(*row));
      if (operation)
        one["policies"] = toJson(policiesOf(*operation));
      else if (std::string_view(statement.kind) == "policy")
        for (const auto &[kind, ofKind] : tensorKinds())
          one["policies"][kind] = toJson(policiesOf(ofKind));
      list.push_back(std::move(one));
      continue;
    }
    std::printf("%.*s  %.*s  %s%s%s\n", int(form.section.size()), form.section.data(),
                int(form.notation.size()), form.notation.data(), statement.kind,
                statement.text.empty() ? "" : ": ", statement.text.c_str());
    for (const MeasuredRow *row : rows)
      printMeasured(*row);
    if (operation)
      printPolicies(policiesOf(*operation));
  }
  if (isJson) {
    std::printf("%s\n", list.dump(2).c_str());
    return;
  }
  if (std::none_of(all.begin(), all.end(), [](const isa::Coverage &entry) {
        return entry.form->instruction.starts_with("tcgen05.mma");
      }))
    return;
  for (const auto &[kind, operation] : tensorKinds()) {
    std::printf("9.7.16  tcgen05.mma with .kind::%s\n", kind);
    printPolicies(policiesOf(operation));
  }
}

} // namespace ptxrun::command
