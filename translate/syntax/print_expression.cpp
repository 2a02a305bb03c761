// Constant expressions from postfix to infix, with the parentheses they need and no recursion.
#include <array>
#include <bit>
#include <charconv>

#include "translate/syntax/printer_state.h"

namespace ptxrun::syntax {
namespace {

using Item = ast::ExprItem;
using Op = Item::Op;

struct Spelling {
  const char *text;
  int precedence;
};
constexpr int kTernary = 0, kUnary = 11, kPrimary = 12;

Spelling spelling(Op op) {
  switch (op) {
  case Op::multiply:
    return {" * ", 10};
  case Op::divide:
    return {" / ", 10};
  case Op::remainder:
    return {" % ", 10};
  case Op::add:
    return {" + ", 9};
  case Op::subtract:
    return {" - ", 9};
  case Op::shiftRight:
    return {" >> ", 8};
  case Op::shiftLeft:
    return {" << ", 8};
  case Op::less:
    return {" < ", 7};
  case Op::greater:
    return {" > ", 7};
  case Op::lessEqual:
    return {" <= ", 7};
  case Op::greaterEqual:
    return {" >= ", 7};
  case Op::equal:
    return {" == ", 6};
  case Op::notEqual:
    return {" != ", 6};
  case Op::bitAnd:
    return {" & ", 5};
  case Op::bitXor:
    return {" ^ ", 4};
  case Op::bitOr:
    return {" | ", 3};
  case Op::logicalAnd:
    return {" && ", 2};
  case Op::logicalOr:
    return {" || ", 1};
  case Op::plus:
    return {"+", kUnary};
  case Op::minus:
    return {"-", kUnary};
  case Op::logicalNot:
    return {"!", kUnary};
  case Op::complement:
    return {"~", kUnary};
  case Op::none:
    break;
  }
  return {"", kPrimary};
}

int precedence(const Item &item) {
  switch (item.kind) {
  case Item::Kind::unary:
  case Item::Kind::castSigned:
  case Item::Kind::castUnsigned:
    return kUnary;
  case Item::Kind::binary:
    return spelling(item.op).precedence;
  case Item::Kind::ternary:
    return kTernary;
  default:
    return kPrimary;
  }
}

std::string hexadecimal(uint64_t bits, size_t digits) {
  std::string out(digits, '0');
  for (size_t i = digits; i-- > 0; bits >>= 4)
    out[i] = "0123456789ABCDEF"[bits & 15];
  return out;
}

std::string integer(const Item &item) {
  char digits[72];
  int base = item.base == Item::Base::decimal       ? 10
             : item.base == Item::Base::hexadecimal ? 16
             : item.base == Item::Base::octal       ? 8
                                                    : 2;
  char *end = std::to_chars(digits, digits + sizeof digits, item.bits, base).ptr;
  std::string out = base == 16 ? "0x" : base == 2 ? "0b" : base == 8 ? "0" : "";
  out.append(digits, end);
  if (item.isUnsigned && item.bits <= uint64_t(INT64_MAX))
    out += 'U';
  return out;
}

std::string decimal(uint64_t bits) {
  char digits[40];
  char *end = std::to_chars(digits, digits + sizeof digits, std::bit_cast<double>(bits)).ptr;
  std::string out(digits, end);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

} // namespace

void Printer::leaf(const Item &item) {
  switch (item.kind) {
  case Item::Kind::integer:
    out_ += integer(item);
    break;
  case Item::Kind::float64:
    out_ += item.base == Item::Base::hexadecimal ? "0d" + hexadecimal(item.bits, 16)
                                                 : decimal(item.bits);
    break;
  case Item::Kind::float32:
    out_ += "0f" + hexadecimal(item.bits, 8);
    break;
  case Item::Kind::warpSize:
    out_ += "WARP_SZ";
    break;
  case Item::Kind::generic:
    (out_ += "generic(").append(symbol(item.name)) += ')';
    break;
  default:
    out_ += symbol(item.name);
    break;
  }
}

// Works through a stack of what is still to be written: pieces of text, or items at which an
// operand ends.
void Printer::expression(ast::Expression items) {
  // Where the operand that ends at each item begins.
  std::vector<size_t> begin(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    begin[i] = i;
    size_t operands = 0;
    switch (items[i].kind) {
    case Item::Kind::unary:
    case Item::Kind::castSigned:
    case Item::Kind::castUnsigned:
    case Item::Kind::mask:
      operands = 1;
      break;
    case Item::Kind::binary:
      operands = 2;
      break;
    case Item::Kind::ternary:
      operands = 3;
      break;
    default:
      break;
    }
    for (size_t end = i; operands > 0; --operands)
      begin[i] = end = begin[end - 1];
  }
  struct Step {
    const char *text;
    size_t item;
  };
  std::vector<Step> steps{{nullptr, items.size() - 1}};
  while (!steps.empty()) {
    Step step = steps.back();
    steps.pop_back();
    if (step.text) {
      out_ += step.text;
      continue;
    }
    size_t at = step.item;
    const Item &item = items[at];
    auto push = [&](size_t operand, bool needsParentheses) {
      if (needsParentheses)
        steps.push_back({")", 0});
      steps.push_back({nullptr, operand});
      if (needsParentheses)
        steps.push_back({"(", 0});
    };
    int own = precedence(item);
    switch (item.kind) {
    case Item::Kind::unary:
      push(at - 1, precedence(items[at - 1]) < kUnary);
      out_ += spelling(item.op).text;
      break;
    case Item::Kind::castSigned:
    case Item::Kind::castUnsigned:
      push(at - 1, precedence(items[at - 1]) < kUnary);
      out_ += item.kind == Item::Kind::castSigned ? "(.s64)" : "(.u64)";
      break;
    case Item::Kind::binary: {
      size_t left = begin[at - 1] - 1;
      push(at - 1, precedence(items[at - 1]) <= own);
      steps.push_back({spelling(item.op).text, 0});
      // An address is `symbol + n`, never in parentheses.
      push(left, precedence(items[left]) < own);
      break;
    }
    case Item::Kind::ternary: {
      size_t middle = begin[at - 1] - 1, left = begin[middle] - 1;
      push(at - 1, false);
      steps.push_back({" : ", 0});
      push(middle, false);
      steps.push_back({" ? ", 0});
      push(left, precedence(items[left]) == kTernary);
      break;
    }
    case Item::Kind::mask: {
      Item number = item;
      number.kind = Item::Kind::integer;
      leaf(number);
      push(at - 1, true);
      break;
    }
    default:
      leaf(item);
      break;
    }
  }
}

std::string print(const ast::Module &module, ast::Expression items) {
  Printer printer(module, nullptr);
  printer.expression(items);
  return printer.take();
}

} // namespace ptxrun::syntax
