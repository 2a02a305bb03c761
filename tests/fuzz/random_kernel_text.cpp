// A random kernel as PTX.
#include "tests/fuzz/random_kernel.h"

#include <bit>

namespace ptxrun::fuzz {

class Writer {
 public:
  explicit Writer(const RandomKernel &kernel) : k_(kernel) {}

  std::string write() {
    if (k_.sharedStart_ != RandomKernel::SharedStart::none)
      fillShared();
    for (const Statement &s : k_.body_)
      one(s);
    for (unsigned n = 0; n < 6; ++n) { // what is left in registers
      const std::string at =
          "[%rows+" + std::to_string(4 * (n % RandomKernel::kRows) * k_.threads()) + "]";
      const std::string t = temporary();
      line("ld.global.u32 " + t + ", " + at);
      line("xor.b32 " + t + ", " + t + ", %r" + std::to_string(n));
      line("st.global.u32 " + at + ", " + t);
    }
    return head() + body_ + "DONE:\n  ret;\n}\n";
  }

 private:
  std::string head() const {
    auto number = [](uint64_t n) { return std::to_string(n); };
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".func (.reg .b32 %out) recursive(.reg .b32 %a, .reg .b32 %depth)\n{\n"
                       "  .reg .pred %p; .reg .b32 %x, %y, %z;\n"
                       "  setp.eq.u32 %p, %depth, 0;\n  @%p bra BASE;\n"
                       "  xor.b32 %x, %a, %depth;\n  sub.u32 %y, %depth, 1;\n"
                       "  call.uni (%z), recursive, (%x, %y);\n"
                       "  add.u32 %out, %z, %a;\n  ret;\n"
                       "BASE:\n  mad.lo.u32 %out, %a, 3, 1;\n  ret;\n}\n"
                       ".visible .entry k(.param .u64 memory, .param .u32 parameter)\n{\n"
                       "  .reg .pred %p<2>, %q<" +
                       number(predicates_ + 1) + ">;\n  .reg .b32 %r<6>, %t<" +
                       number(temporaries_ + 1) + ">, %n, %lin, %gid, %cta;\n  .reg .b64 %w<" +
                       number(wides_ + 1) +
                       ">, %mem, %own, %rows, %in, %guarded, %wrapped;\n  .reg .f32 %f<8>;\n"
                       "  .reg .b16 %h<4>, %s<" +
                       number(shorts_ + 1) + ">;\n  .shared .align 16 .b8 shared[" +
                       number(4 * k_.blockThreads()) + "];\n  .local .align 16 .b8 local[32];\n";
    text += "  ld.param.u64 %mem, [memory];\n  ld.param.u32 %n, [parameter];\n"
            "  mov.u32 %cta, %ctaid.x;\n";
    const std::string along = k_.countsAlongY_ ? "y" : "x", across = k_.countsAlongY_ ? "x" : "y";
    text += "  mov.u32 %t0, %tid." + across + ";\n  mov.u32 %gid, %ntid." + along +
            ";\n  mov.u32 %lin, %tid." + along +
            ";\n  mad.lo.u32 %lin, %t0, %gid, %lin;\n  mov.u32 %t0, %ntid." + across +
            ";\n  mul.lo.u32 %t0, %t0, %gid;\n"
            "  mad.lo.u32 %gid, %cta, %t0, %lin;\n";
    auto region = [&](const char *name, uint64_t words) {
      text += "  add.u64 " + std::string(name) + ", %mem, " + number(4 * words) + ";\n";
    };
    region("%in", k_.inputAt());
    region("%guarded", k_.guardedAt());
    region("%wrapped", k_.wrappedAt());
    text += "  mul.wide.u32 %w0, %gid, 64;\n  add.u64 %own, %mem, %w0;\n  add.u64 %own, %own, " +
            number(4 * k_.ownAt()) +
            ";\n  mul.wide.u32 %w0, %gid, 4;\n  add.u64 %rows, %mem, %w0;\n"
            "  add.u64 %rows, %rows, " +
            number(4 * k_.rowsAt()) + ";\n";
    text += "  add.u32 %t0, %gid, 1;\n  mul.lo.u32 %t0, %t0, 2654435761;\n";
    for (unsigned n = 0; n < 6; ++n)
      text += "  shr.u32 %r" + number(n) + ", %t0, " + number(3 * n) + ";\n";
    text += "  setp.ne.u32 %p0, 0, 0;\n  setp.ne.u32 %p1, 0, 0;\n  mov.u32 %t0, 0;\n";
    for (unsigned n = 0; n < 8; ++n)
      text += "  st.local.u32 [local+" + number(4 * n) + "], %t0;\n";
    return text;
  }

  void line(const std::string &text) { body_ += "  " + text + ";\n"; }
  void label(const std::string &name) { body_ += name + ":\n"; }
  std::string temporary() { return "%t" + std::to_string(++temporaries_); }
  std::string shortTemporary() { return "%s" + std::to_string(++shorts_); }
  std::string wideTemporary() { return "%w" + std::to_string(++wides_); }
  std::string newPredicate() { return "%q" + std::to_string(++predicates_); }
  std::string newLabel() { return "L" + std::to_string(++labels_); }

  static std::string source(const Source &s) {
    switch (s.kind) {
    case Source::reg:
      return "%r" + std::to_string(s.value);
    case Source::constant:
      return std::to_string(s.value);
    case Source::thread:
      return "%lin";
    case Source::global:
      return "%gid";
    case Source::block:
      return "%cta";
    case Source::parameter:
      return "%n";
    }
    return "";
  }
  /// In a register, as the first operand of comparisons.
  std::string inRegister(const Source &s) {
    if (s.kind != Source::constant)
      return source(s);
    const std::string t = temporary();
    line("mov.u32 " + t + ", " + source(s));
    return t;
  }

  /// A predicate register that holds the condition.
  std::string condition(const Condition &c) {
    const std::string q = newPredicate(), a = inRegister(c.a);
    switch (c.kind) {
    case Condition::bitsOf: {
      const std::string t = temporary();
      line("and.b32 " + t + ", " + a + ", " + std::to_string(c.number));
      line("setp.eq.u32 " + q + ", " + t + ", 0");
      break;
    }
    case Condition::below:
      line("setp.lt.u32 " + q + ", " + a + ", " + source(c.b));
      break;
    case Condition::belowSigned:
      line("setp.lt.s32 " + q + ", " + a + ", " + inRegister(c.b));
      break;
    case Condition::equal:
      line("setp.eq.u32 " + q + ", " + a + ", " + source(c.b));
      break;
    case Condition::predicate:
      line("and.pred " + q + ", %p" + std::to_string(c.number) + ", %p" + std::to_string(c.number));
      break;
    }
    if (c.isNegated)
      line("not.pred " + q + ", " + q);
    return q;
  }

  void arithmetic(const Statement &s) {
    const std::string to = "%r" + std::to_string(s.to), a = inRegister(s.a), b = inRegister(s.b),
                      shift = std::to_string(s.constant & 31),
                      constant = std::to_string(s.constant);
    switch (s.operation) {
    case 0:
      return line("add.u32 " + to + ", " + a + ", " + b);
    case 1:
      return line("sub.u32 " + to + ", " + a + ", " + b);
    case 2:
      return line("mul.lo.u32 " + to + ", " + a + ", " + b);
    case 3:
      return line("and.b32 " + to + ", " + a + ", " + b);
    case 4:
      return line("or.b32 " + to + ", " + a + ", " + b);
    case 5:
      return line("xor.b32 " + to + ", " + a + ", " + b);
    case 6:
      return line("shl.b32 " + to + ", " + a + ", " + shift);
    case 7:
      return line("shr.u32 " + to + ", " + a + ", " + shift);
    case 8:
      return line("min.u32 " + to + ", " + a + ", " + b);
    case 9:
      return line("max.s32 " + to + ", " + a + ", " + b);
    case 10:
      return line("mad.lo.u32 " + to + ", " + a + ", " + b + ", " + constant);
    case 11:
    case 12: {
      const std::string d = temporary();
      line("or.b32 " + d + ", " + b + ", 1");
      return line((s.operation == 11 ? "div.u32 " : "rem.u32 ") + to + ", " + a + ", " + d);
    }
    case 13: {
      const std::string t = temporary();
      line("popc.b32 " + t + ", " + a);
      return line("add.u32 " + to + ", " + t + ", " + b);
    }
    case 14:
      return line("shr.s32 " + to + ", " + a + ", " + shift);
    default:
      return line("add.u32 " + to + ", " + a + ", " + constant);
    }
  }

  /// r[to] = r[to] op t.
  void update(const Statement &s, const char *operation, const std::string &t) {
    const std::string to = "%r" + std::to_string(s.to);
    line(std::string(operation) + " " + to + ", " + to + ", " + t);
  }

  std::string inputIndex(const Statement &s) {
    const std::string t = temporary(), c = std::to_string(s.constant);
    switch (s.form) {
    case 0:
      line("add.u32 " + t + ", %gid, " + c);
      break;
    case 1:
      line("mov.u32 " + t + ", " + c);
      break;
    case 2:
      line("and.b32 " + t + ", " + inRegister(s.a) + ", 1023");
      break;
    case 3:
      line("mul.lo.u32 " + t + ", %gid, " + std::to_string(1 + (s.constant & 7)));
      line("add.u32 " + t + ", " + t + ", " + std::to_string(s.constant >> 3));
      break;
    case 4:
      line("add.u32 " + t + ", %gid, " + c);
      line("min.u32 " + t + ", " + t + ", " + std::to_string(k_.threads() - 1));
      break;
    default:
      line("xor.b32 " + t + ", %gid, " + std::to_string(s.constant & 31));
    }
    return t;
  }

  /// Of neighbour `n`.
  std::string clampedIndex(const Statement &s, unsigned n) {
    const std::string t = temporary(), last = std::to_string(k_.threads() - 1);
    const uint32_t at = s.constant + n - (s.form % 3 == 2 ? 0 : 32);
    line("add.s32 " + t + ", %gid, " + std::to_string(int32_t(at)));
    switch (s.form % 3) {
    case 0:
      line("max.s32 " + t + ", " + t + ", " + std::to_string(s.constant % 5 % k_.threads()));
      line("min.s32 " + t + ", " + t + ", " + last);
      break;
    case 1:
      line("min.u32 " + t + ", " + t + ", " + last);
      break;
    default: {
      const std::string q = newPredicate(), beyond = temporary();
      line("setp.gt.u32 " + q + ", " + t + ", " + last);
      line("sub.s32 " + beyond + ", " + t + ", " + std::to_string(k_.threads()));
      line("selp.b32 " + t + ", " + beyond + ", " + t + ", " + q);
    }
    }
    return t;
  }

  /// The address of word `index` behind `base`, in one of the ways compilers write it.
  std::string address(const std::string &base, const std::string &index, unsigned way) {
    const std::string offset = wideTemporary(), at = wideTemporary();
    switch (way % 4) {
    case 0:
      line("mul.wide.u32 " + offset + ", " + index + ", 4");
      break;
    case 1:
      line("cvt.u64.u32 " + offset + ", " + index);
      line("shl.b64 " + offset + ", " + offset + ", 2");
      break;
    case 2:
      line("mul.wide.s32 " + offset + ", " + index + ", 4");
      break;
    default:
      line("mad.wide.u32 " + at + ", " + index + ", 4, " + base);
      return at;
    }
    line("add.s64 " + at + ", " + base + ", " + offset);
    return at;
  }

  std::string wrappedAddress(const Statement &s) {
    const std::string t = temporary(), offset = wideTemporary(), at = wideTemporary();
    const bool isSigned = s.form % 2 != 0;
    line("add.u32 " + t + ", %gid, " + std::to_string(k_.wrapStart_ + (isSigned ? 32768 : 0)));
    line("cvt.u16.u32 %h0, " + t);
    line(std::string(isSigned ? "cvt.s64.s16 " : "cvt.u64.u16 ") + offset + ", %h0");
    line("shl.b64 " + offset + ", " + offset + ", 2");
    line("add.s64 " + at + ", %wrapped, " + offset);
    return "[" + at + (isSigned ? "+131072]" : "]");
  }

  std::string ownPlace(const Statement &s) const {
    return "[%own+" + std::to_string(4 * ((s.constant & 15) / s.count * s.count)) + "]";
  }
  std::string rowPlace(const Statement &s) {
    const std::string row = std::to_string(s.constant % RandomKernel::kRows * k_.threads());
    if (s.form < 3)
      return "[%rows+" + std::to_string(4 * (s.constant % RandomKernel::kRows) * k_.threads()) +
             "]";
    const std::string t = temporary(), region = wideTemporary();
    line("add.u32 " + t + ", %gid, " + row);
    line("add.u64 " + region + ", %mem, " + std::to_string(4 * k_.rowsAt()));
    return "[" + address(region, t, s.form) + "]";
  }

  static constexpr const char *kVector[] = {"", "", ".v2", "", ".v4"};
  static std::string listOf(const std::vector<std::string> &names) {
    std::string list = names[0];
    for (size_t n = 1; n < names.size(); ++n)
      list += ", " + names[n];
    return names.size() > 1 ? "{" + list + "}" : list;
  }

  void structure(const Statement &s) {
    const bool isStore = s.kind == Statement::storeOwn;
    std::vector<std::string> names;
    for (unsigned n = 0; n < s.count; ++n)
      names.push_back(isStore ? inRegister(s.elements[n]) : temporary());
    const std::string list = listOf(names),
                      type = std::string(".global") + kVector[s.count] + ".u32 ";
    if (isStore)
      return line("st" + type + ownPlace(s) + ", " + list);
    line("ld" + type + list + ", " + ownPlace(s));
    const std::string to = "%r" + std::to_string(s.to);
    for (unsigned n = 1; n < s.count; ++n) {
      const std::string t = temporary();
      line("shl.b32 " + t + ", " + names[n] + ", " + std::to_string(n));
      line("add.u32 " + names[0] + ", " + names[0] + ", " + t);
    }
    line("mov.u32 " + to + ", " + names[0]);
  }

  /// The register of parts of a and b, computed each by itself.
  std::string parts(const Statement &s, const std::string &a, const std::string &b) {
    const bool isTyped = s.partBits() == 16 && s.form >= 4; // halves as registers of 16 bits
    const unsigned bits = s.partBits(), count = 32 / bits;
    std::vector<std::string> x(count), y(count);
    auto partOf = [&](const std::string &v, unsigned n) {
      const std::string t = temporary();
      if (n + 1 == count)
        line("shr.u32 " + t + ", " + v + ", " + std::to_string(32 - bits));
      else if (n == 0)
        line("and.b32 " + t + ", " + v + ", " + std::to_string((1u << bits) - 1));
      else
        line("bfe.u32 " + t + ", " + v + ", " + std::to_string(n * bits) + ", " +
             std::to_string(bits));
      return t;
    };
    for (unsigned n = 0; n < count; ++n) {
      x[n] = isTyped ? shortTemporary() : partOf(a, n);
      y[n] = isTyped ? shortTemporary() : partOf(b, n);
    }
    if (isTyped) {
      line("mov.b32 {" + x[0] + ", " + x[1] + "}, " + a);
      line("mov.b32 {" + y[0] + ", " + y[1] + "}, " + b);
    }
    const std::string width = isTyped ? "16 " : "32 ";
    std::string all;
    std::vector<std::string> typed;
    for (unsigned n = 0; n < count; ++n) {
      const std::string z = isTyped ? shortTemporary() : temporary(),
                        operands = z + ", " + x[s.partOfA(n)] + ", " + y[n];
      switch (s.partOperation(n)) {
      case Statement::sum:
        line("add.u" + width + operands);
        break;
      case Statement::difference:
        line("sub.u" + width + operands);
        break;
      case Statement::product:
        line("mul.lo.u" + width + operands);
        break;
      case Statement::minimum:
        line("min.u" + width + operands);
        break;
      case Statement::exclusive:
        line("xor.b" + width + operands);
        break;
      case Statement::choiceOfTwo: {
        const std::string q = newPredicate();
        line("setp.lt.u" + width + q + operands.substr(z.size()));
        line("add.u" + width + z + ", " + y[n] + ", 3");
        line("selp.b" + width + z + ", " + x[s.partOfA(n)] + ", " + z + ", " + q);
        break;
      }
      }
      if (isTyped) {
        typed.push_back(z);
        continue;
      }
      if (n + 1 < count)
        line("and.b32 " + z + ", " + z + ", " + std::to_string((1u << bits) - 1));
      if (n > 0)
        line("shl.b32 " + z + ", " + z + ", " + std::to_string(n * bits));
      if (n > 0)
        line("or.b32 " + all + ", " + all + ", " + z);
      else
        all = z;
    }
    if (isTyped) {
      all = temporary();
      line("mov.b32 " + all + ", {" + typed[0] + ", " + typed[1] + "}");
    }
    return all;
  }

  /// As nvcc writes it: rounded to zero with the sign, where the divisor is a power of two.
  std::string tiledIndex(const Statement &s) {
    const Tiling tiling = k_.tiling(s);
    const std::string i = temporary(), q = temporary(), r = temporary(), d = temporary();
    line("add.u32 " + i + ", %gid, " + std::to_string(int32_t(tiling.start)));
    if (tiling.isByPower) {
      const unsigned shift = unsigned(std::countr_zero(tiling.divisor));
      line("shr.s32 " + q + ", " + i + ", 31");
      line("and.b32 " + q + ", " + q + ", " + std::to_string(tiling.divisor - 1));
      if (shift > 0 && s.constant % 2) { // the same, of the sign's copies
        line("shr.s32 " + q + ", " + i + ", 31");
        line("shr.u32 " + q + ", " + q + ", " + std::to_string(32 - shift));
      }
      line("add.s32 " + q + ", " + i + ", " + q);
      line("and.b32 " + r + ", " + q + ", " + std::to_string(-int32_t(tiling.divisor)));
      line("shr.s32 " + q + ", " + q + ", " + std::to_string(shift));
      line("sub.s32 " + r + ", " + i + ", " + r);
    } else {
      line("and.b32 " + d + ", " + inRegister({Source::parameter, 0}) + ", " +
           std::to_string(RandomKernel::divisorMask(s)));
      line("or.b32 " + d + ", " + d + ", 1");
      line((tiling.isSigned ? "div.s32 " : "div.u32 ") + q + ", " + i + ", " + d);
      line("mul.lo.u32 " + r + ", " + q + ", " + d);
      line("sub.u32 " + r + ", " + i + ", " + r);
    }
    line("and.b32 " + q + ", " + q + ", 15");
    line("and.b32 " + r + ", " + r + ", 63");
    line("mad.lo.u32 " + q + ", " + q + ", 64, " + r);
    return q;
  }

  void mapOwn(const Statement &s) {
    const std::string b = inRegister(s.b);
    std::vector<std::string> names;
    for (unsigned n = 0; n < s.count; ++n)
      names.push_back(temporary());
    const std::string type = std::string(".global") + kVector[s.count] + ".u32 ";
    line("ld" + type + listOf(names) + ", " + ownPlace(s));
    for (std::string &name : names)
      name = parts(s, name, b);
    line("st" + type + ownPlace(s.mapped()) + ", " + listOf(names));
  }

  void floating(const Statement &s) {
    const std::string x = temporary(), y = temporary(), to = "%r" + std::to_string(s.to);
    line("and.b32 " + x + ", " + inRegister(s.a) + ", 4095");
    line("sub.u32 " + x + ", " + x + ", 2048");
    line("and.b32 " + y + ", " + inRegister(s.b) + ", 1023");
    line("cvt.rn.f32.s32 %f0, " + x);
    line("cvt.rn.f32.s32 %f1, " + y);
    if (s.operation % 3 == 0) {
      line("mul.rn.f32 %f2, %f0, %f1");
      line("add.rn.f32 %f2, %f2, 0f3F000000");
    } else if (s.operation % 3 == 1) {
      line("fma.rn.f32 %f2, %f0, %f1, 0f3E800000");
    } else {
      line("sub.rn.f32 %f2, %f0, %f1");
      line("add.rn.f32 %f3, %f1, 0f3F800000");
      line("div.rn.f32 %f2, %f2, %f3");
    }
    line("cvt.rzi.s32.f32 " + x + ", %f2");
    line("mov.b32 " + y + ", %f2");
    line("add.u32 " + to + ", " + x + ", " + y);
  }

  void chain(const Statement &s) {
    const std::string w = wideTemporary(), a = temporary(), b = temporary();
    line("mov.u32 " + a + ", " + (s.form == 3 ? "%tid.x" : inRegister(s.a)));
    line((s.form == 5 ? "cvt.s64.s32 " : "cvt.u64.u32 ") + w + ", " + a);
    for (unsigned n = 0; n < 3; ++n) {
      const std::string constant = std::to_string(s.wideConstant(n)) + "U",
                        by = std::to_string(s.wideConstant(n) % 40 + 1);
      switch (s.wideOperation(n)) {
      case Statement::inverse:
        line("not.b64 " + w + ", " + w);
        break;
      case Statement::differing:
        line("xor.b64 " + w + ", " + w + ", " + constant);
        break;
      case Statement::added:
        line("add.u64 " + w + ", " + w + ", " + constant);
        break;
      case Statement::takenFrom:
        line("sub.u64 " + w + ", " + constant + ", " + w);
        break;
      case Statement::left:
        line("shl.b64 " + w + ", " + w + ", " + by);
        break;
      case Statement::right:
        line((s.constant % 2 ? "shr.s64 " : "shr.u64 ") + w + ", " + w + ", " + by);
        break;
      case Statement::common:
        line("and.b64 " + w + ", " + w + ", " + constant);
        break;
      case Statement::either:
        line("or.b64 " + w + ", " + w + ", " + constant);
        break;
      }
    }
    const std::string q = newPredicate();
    line((s.operation % 2 ? "setp.lt.s64 " : "setp.lt.u64 ") + q + ", " + w + ", " +
         std::to_string(s.wideConstant(3)) + "U");
    line("mov.b64 {" + a + ", " + b + "}, " + w);
    line("xor.b32 " + a + ", " + a + ", " + b);
    line("selp.u32 " + b + ", 77, 0, " + q);
    line("add.u32 %r" + std::to_string(s.to) + ", " + a + ", " + b);
  }

  void wide(const Statement &s) {
    if (s.isChain())
      return chain(s);
    const std::string w = wideTemporary(), high = wideTemporary(), a = temporary(), b = temporary();
    line("cvt.u64.u32 " + high + ", " + inRegister(s.c));
    const std::string left = inRegister(s.a), right = inRegister(s.b);
    line("mad.wide.u32 " + w + ", " + left + ", " + right + ", " + high);
    line("shr.u64 " + high + ", " + w + ", 32");
    line("cvt.u32.u64 " + a + ", " + high);
    line("cvt.u32.u64 " + b + ", " + w);
    line("xor.b32 %r" + std::to_string(s.to) + ", " + a + ", " + b);
  }

  std::string localPlace(const Statement &s) {
    const std::string t = temporary(), offset = wideTemporary(), at = wideTemporary();
    line("and.b32 " + t + ", " + inRegister(s.a) + ", 7");
    line("mul.wide.u32 " + offset + ", " + t + ", 4");
    line("mov.u64 " + at + ", local");
    line("add.u64 " + at + ", " + at + ", " + offset);
    return "[" + at + "]";
  }

  /// The address of the thread's word of shared memory.
  std::string sharedPlace() {
    const std::string at = temporary();
    line("mov.u32 " + at + ", shared");
    line("mad.lo.u32 " + at + ", %lin, 4, " + at);
    return at;
  }

  void fillShared() {
    const std::string at = sharedPlace(), t = temporary();
    const uint32_t first = RandomKernel::startOfShared(0);
    line("mad.lo.u32 " + t + ", %lin, " + std::to_string(RandomKernel::startOfShared(1) - first) +
         ", " + std::to_string(first));
    line("st.shared.u32 [" + at + "], " + t);
    if (k_.sharedStart_ == RandomKernel::SharedStart::filledAndMet)
      line("bar.sync 0");
  }

  void exchange(const Statement &s) {
    const std::string at = sharedPlace(), t = temporary();
    line("st.shared.u32 [" + at + "], " + inRegister(s.a));
    line("bar.sync 0");
    line("mad.lo.u32 " + t + ", %lin, " + std::to_string(1 + s.form) + ", " +
         std::to_string(s.constant));
    line("rem.u32 " + t + ", " + t + ", " + std::to_string(k_.blockThreads()));
    line("mov.u32 " + at + ", shared");
    line("mad.lo.u32 " + at + ", " + t + ", 4, " + at);
    line("ld.shared.u32 " + t + ", [" + at + "]");
    update(s, "xor.b32", t);
    line("bar.sync 0");
  }

  void shuffle(const Statement &s) {
    const std::string t = temporary();
    if (s.form >= 4) {
      const std::string q = condition(s.condition);
      line("vote.sync.ballot.b32 " + t + ", " + q + ", 0xffffffff");
      return update(s, "xor.b32", t);
    }
    const std::string a = inRegister(s.a), lane = std::to_string(s.constant & 31),
                      up = std::to_string(s.constant & 7);
    if (s.form == 0)
      line("shfl.sync.idx.b32 " + t + ", " + a + ", " + lane + ", 31, 0xffffffff");
    else if (s.form == 1)
      line("shfl.sync.bfly.b32 " + t + ", " + a + ", " + lane + ", 31, 0xffffffff");
    else if (s.form == 2)
      line("shfl.sync.up.b32 " + t + ", " + a + ", " + up + ", 0, 0xffffffff");
    else {
      const std::string from = temporary();
      line("and.b32 " + from + ", " + inRegister(s.b) + ", 31");
      line("shfl.sync.idx.b32 " + t + ", " + a + ", " + from + ", 31, 0xffffffff");
    }
    update(s, "xor.b32", t);
  }

  void narrow(const Statement &s) {
    static const char *const kUnsigned[] = {"u8", "u16", "u64"}, *const kSigned[] = {"s8", "s16",
                                                                                     "s64"};
    const unsigned which = s.operation % 3, size = which == 2 ? 8 : which + 1;
    const bool isStore = s.kind == Statement::storeNarrow;
    const std::string type = (s.operation / 3 % 2 && !isStore ? kSigned : kUnsigned)[which];
    std::string at = "[%own+" + std::to_string(s.constant / size * size) + "]";
    if (!isStore && s.form % 2 != 0) {
      const std::string w = wideTemporary();
      line("mul.wide.u32 " + w + ", %gid, " + std::to_string(size));
      line("add.u64 " + w + ", " + w + ", %in");
      at = "[" + w + "+" + std::to_string(s.constant * size) + "]";
    }
    const std::string t = temporary(), wide = wideTemporary();
    if (isStore) {
      const std::string a = inRegister(s.a), b = inRegister(s.b);
      if (which == 2)
        line("mov.b64 " + wide + ", {" + b + ", " + a + "}");
      return line("st.global." + type + " " + at + ", " + (which == 2 ? wide : a));
    }
    if (which != 2) {
      line("ld.global." + type + " " + t + ", " + at);
      return update(s, "xor.b32", t);
    }
    const std::string high = temporary();
    line("ld.global." + type + " " + wide + ", " + at);
    line("mov.b64 {" + t + ", " + high + "}, " + wide);
    line("xor.b32 " + t + ", " + t + ", " + high);
    update(s, "xor.b32", t);
  }

  void choice(const Statement &s) {
    const std::string q = condition(s.condition), other = newLabel(), end = newLabel();
    line("@!" + q + " bra " + other);
    for (const Statement &x : s.body)
      one(x);
    if (!s.other.empty())
      line("bra " + end);
    label(other);
    for (const Statement &x : s.other)
      one(x);
    label(end);
  }

  void loop(const Statement &s) {
    const std::string n = temporary(), rounds = temporary(), q = newPredicate(), start = newLabel(),
                      end = newLabel();
    if (s.form < 2)
      line("mov.u32 " + rounds + ", " + std::to_string(1 + s.constant % 5));
    else if (s.form < 4)
      line("and.b32 " + rounds + ", %n, 3");
    else
      line("and.b32 " + rounds + ", " + inRegister(s.a) + ", 3");
    if (s.form >= 2)
      line("add.u32 " + rounds + ", " + rounds + ", " +
           std::to_string(s.form < 4 ? 1 : s.constant % 2));
    line("mov.u32 " + n + ", 0");
    const std::string turn = s.isLeftInTurns() ? temporary() : "";
    if (s.isLeftInTurns())
      line("mov.u32 " + turn + ", " + inRegister(s.b));
    const bool isBottomTested = s.form < 4; // at least one round
    if (!isBottomTested) {
      line("setp.ge.u32 " + q + ", " + n + ", " + rounds);
      line("@" + q + " bra " + end);
    }
    label(start);
    ends_.push_back(end);
    for (const Statement &x : s.body)
      one(x);
    ends_.pop_back();
    update(s, "add.u32", n);
    line("add.u32 " + n + ", " + n + ", 1");
    if (s.isLeftInTurns()) {
      const std::string bit = temporary(), p = newPredicate();
      line("add.u32 " + bit + ", " + turn + ", " + n);
      line("and.b32 " + bit + ", " + bit + ", 1");
      line("setp.ne.u32 " + p + ", " + bit + ", 0");
      line("@" + p + " bra " + start);
    }
    line("setp.lt.u32 " + q + ", " + n + ", " + rounds);
    line("@" + q + " bra " + start);
    label(end);
  }

  void one(const Statement &s) {
    using S = Statement;
    const std::string to = "%r" + std::to_string(s.to);
    switch (s.kind) {
    case S::arithmetic:
      return arithmetic(s);
    case S::wide:
      return wide(s);
    case S::floating:
      return floating(s);
    case S::parts: {
      const std::string a = inRegister(s.a), b = inRegister(s.b);
      return line("mov.u32 " + to + ", " + parts(s, a, b));
    }
    case S::mapOwn:
      return mapOwn(s);
    case S::setPredicate: {
      const std::string q = condition(s.condition);
      return line("and.pred %p" + std::to_string(s.to % 2) + ", " + q + ", " + q);
    }
    case S::select: {
      const std::string q = condition(s.condition);
      const std::string left = inRegister(s.a), right = inRegister(s.b);
      return line("selp.b32 " + to + ", " + left + ", " + right + ", " + q);
    }
    case S::loadInput: {
      const std::string t = temporary(), at = address("%in", inputIndex(s), s.operation);
      line("ld.global.u32 " + t + ", [" + at + "]");
      return update(s, "xor.b32", t);
    }
    case S::loadTiled: {
      const std::string t = temporary(), at = address("%in", tiledIndex(s), s.operation);
      line("ld.global.u32 " + t + ", [" + at + "]");
      return update(s, "add.u32", t);
    }
    case S::loadClamped: {
      const std::string sum = temporary();
      line("mov.u32 " + sum + ", 0");
      for (unsigned n = 0; n < 3; ++n) {
        const std::string t = temporary(), at = address("%in", clampedIndex(s, n), s.operation);
        line("ld.global.u32 " + t + ", [" + at + "]");
        line("shl.b32 " + t + ", " + t + ", " + std::to_string(n));
        line("add.u32 " + sum + ", " + sum + ", " + t);
      }
      return update(s, "xor.b32", sum);
    }
    case S::storeOwn:
    case S::loadOwn:
      return structure(s);
    case S::storeRow: {
      const std::string at = rowPlace(s);
      return line("st.global.u32 " + at + ", " + inRegister(s.a));
    }
    case S::loadRow: {
      const std::string t = temporary(), at = rowPlace(s);
      line("ld.global.u32 " + t + ", " + at);
      return update(s, "add.u32", t);
    }
    case S::storeWrapped: {
      const std::string at = wrappedAddress(s);
      return line("st.global.u32 " + at + ", " + inRegister(s.a));
    }
    case S::loadWrapped: {
      const std::string t = temporary(), at = wrappedAddress(s);
      line("ld.global.u32 " + t + ", " + at);
      return update(s, "add.u32", t);
    }
    case S::storeGuarded: {
      const std::string t = temporary(), q = newPredicate(), skip = newLabel(), a = inRegister(s.a);
      line("add.u32 " + t + ", %gid, " + std::to_string(0u - k_.wrapStart_ % k_.threads()));
      line("setp.ge.u32 " + q + ", " + t + ", " + std::to_string(k_.threads()));
      line("@" + q + " bra " + skip);
      line("st.global.u32 [" + address("%guarded", t, s.operation) + "], " + a);
      return label(skip);
    }
    case S::atomic: {
      const std::string t = temporary(), amount = s.operation % 2 ? "1" : inRegister(s.b);
      line("rem.u32 " + t + ", " + inRegister(s.a) + ", " +
           std::to_string(RandomKernel::kCounters));
      return line("red.global.add.u32 [" + address("%mem", t, s.form) + "], " + amount);
    }
    case S::localStore: {
      const std::string at = localPlace(s);
      return line("st.local.u32 " + at + ", " + inRegister(s.b));
    }
    case S::localLoad: {
      const std::string t = temporary(), at = localPlace(s);
      line("ld.local.u32 " + t + ", " + at);
      return update(s, "xor.b32", t);
    }
    case S::call: {
      const std::string depth = temporary(), a = inRegister(s.a);
      line("and.b32 " + depth + ", " + inRegister(s.b) + ", 3");
      return line("call (" + to + "), recursive, (" + a + ", " + depth + ")");
    }
    case S::exchange:
      return exchange(s);
    case S::shuffle:
      return shuffle(s);
    case S::storeNarrow:
    case S::loadNarrow:
      return narrow(s);
    case S::choice:
      return choice(s);
    case S::loop:
      return loop(s);
    case S::leave:
      return line("@" + condition(s.condition) + " bra " + ends_.back());
    case S::finish:
      return line("@" + condition(s.condition) + " bra DONE");
    }
  }

  const RandomKernel &k_;
  std::string body_;
  std::vector<std::string> ends_; ///< labels behind the loops around, innermost last
  unsigned temporaries_ = 0, wides_ = 0, predicates_ = 0, shorts_ = 0, labels_ = 0;
};

std::string RandomKernel::text() const { return Writer(*this).write(); }

} // namespace ptxrun::fuzz
