#include "tests/growth/shapes.h"

#include <cstdio>
#include <functional>
#include <random>

namespace ptxrun::growth {
namespace {

std::string asText(std::string_view text) { return std::string(text); }
std::string asText(unsigned number) { return std::to_string(number); }

/// `pattern` with `{}` or `{N}` replaced by the next or the Nth value; `{{` and `}}` are braces.
template <typename... Values> std::string fill(std::string_view pattern, const Values &...values) {
  const std::vector<std::string> list = {asText(values)...};
  std::string text;
  unsigned next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if ((c != '{' && c != '}') || (i + 1 < pattern.size() && pattern[i + 1] == c)) {
      text += c;
      i += c == '{' || c == '}';
      continue;
    }
    const bool isNumbered = pattern[++i] != '}';
    text += list.at(isNumbered ? unsigned(pattern[i++] - '0') : next++);
  }
  return text;
}

/// An f32 by its bits.
std::string bits(unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, "0f%08X", value);
  return text;
}

constexpr std::string_view kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

constexpr std::string_view kRegisters = R"(
  .reg .pred %p<16>;
  .reg .b32 %r<64>;
  .reg .f32 %f<64>;
  .reg .b64 %d<16>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.u32 %r4, [%d3];
  ld.global.u32 %r5, [%d1];
  and.b32 %r6, %r1, 7;
  setp.lt.u32 %p1, %r1, %r5;
)";

std::string entry(const std::string &body, std::string_view parameters = "",
                  std::string_view before = "", std::string_view name = "k") {
  return fill("{}\n.visible .entry {}(.param .u64 out{})\n{{{}{}\n"
              "END:\n  st.global.u32 [%d3], %r4;\n  ret;\n}}\n",
              before, name, parameters, kRegisters, body);
}

std::string kernel(const std::string &body, std::string_view parameters = "",
                   std::string_view before = "") {
  return std::string(kHead) + entry(body, parameters, before);
}

/// `size` times what `one` says of each index.
std::string repeat(unsigned size, const std::function<std::string(unsigned)> &one) {
  std::string text;
  for (unsigned i = 0; i < size; ++i)
    text += one(i);
  return text;
}

std::string chain(unsigned n) {
  return kernel(repeat(
      n, [](unsigned i) { return fill("  mad.lo.s32 %r4, %r4, %r{}, {};\n", i % 3 + 1, i); }));
}

std::string wide(unsigned n) {
  std::string text =
      repeat(40, [](unsigned i) { return fill("  add.s32 %r{}, %r4, {};\n", i + 10, i); });
  text += repeat(n, [](unsigned i) {
    return fill("  mad.lo.s32 %r{}, %r{}, %r{}, {};\n", i % 40 + 10, (i * 7 + 1) % 40 + 10,
                (i * 11 + 3) % 40 + 10, i);
  });
  text += repeat(40, [](unsigned i) { return fill("  xor.b32 %r4, %r4, %r{};\n", i + 10); });
  return kernel(text);
}

std::string live(unsigned n) {
  std::string text = fill("  .reg .f32 %v<{}>;\n  cvt.rn.f32.u32 %f1, %r4;\n", n + 1);
  text += repeat(n, [](unsigned i) {
    return fill("  mul.f32 %v{}, %f1, {};\n", i, bits(0x3f800000 + i * 4096));
  });
  text += repeat(n, [](unsigned i) { return fill("  add.f32 %f1, %f1, %v{};\n", i); });
  return kernel(text + "  cvt.rzi.u32.f32 %r4, %f1;\n");
}

/// A round of a product of matrices: all its factors are loaded from shared memory, rows of a few
/// threads each, then multiplied into sums of 16 columns and many rows that live through the loop.
std::string tile(unsigned n) {
  const unsigned sums = n / 32, rows = sums / 16;
  std::string text = fill("  .shared .align 16 .b8 tile[131072];\n"
                          "  .reg .f32 %v<{}>, %a<{}>, %b<512>;\n  .reg .b32 %at<3>;\n",
                          sums, rows * 32);
  text += "  mov.u32 %at0, tile;\n  shr.u32 %at1, %r1, 2;\n  mad.lo.u32 %at1, %at1, 1040, %at0;\n"
          "  and.b32 %at2, %r1, 3;\n  mad.lo.u32 %at2, %at2, 528, %at0;\n";
  text += repeat(sums, [](unsigned i) { return fill("  mov.f32 %v{}, 0f00000000;\n", i); });
  text += "  mov.u32 %r10, 0;\nROUND:\n  bar.sync 0;\n";
  const auto load = [](const char *name, const char *from, unsigned count) {
    return repeat(count / 4, [&](unsigned i) {
      return fill("  ld.shared.v4.f32 {{%{0}{2},%{0}{3},%{0}{4},%{0}{5}}}, [%{1}+{6}];\n",
                  std::string(name), std::string(from), i * 4, i * 4 + 1, i * 4 + 2, i * 4 + 3,
                  i * 16);
    });
  };
  text += load("a", "at1", rows * 32) + load("b", "at2", 512);
  text += repeat(n, [&](unsigned i) {
    const unsigned k = i / sums, sum = i % sums;
    return fill("  fma.rn.f32 %v{}, %a{}, %b{}, %v{0};\n", sum, k * rows + sum / 16,
                k * 16 + sum % 16);
  });
  text += "  add.s32 %r10, %r10, 1;\n  setp.lt.u32 %p2, %r10, %r5;\n  @%p2 bra ROUND;\n";
  text += repeat(sums, [](unsigned i) {
    return fill("  st.global.f32 [%d3+{}], %v{};\n", 131072 + i * 512, i);
  });
  return kernel(text);
}

std::string memory(unsigned n) {
  return kernel(repeat(n / 3, [](unsigned i) {
    return fill("  ld.global.u32 %r10, [%d3+{}];\n  add.s32 %r4, %r4, %r10;\n  st.global.u32 "
                "[%d3+{}], %r4;\n",
                i * 512, i * 512 + 256);
  }));
}

std::string scattered(unsigned n) {
  return kernel(repeat(n / 4, [](unsigned i) {
    return fill("  and.b32 %r10, %r4, {};\n  mad.wide.u32 %d5, %r10, 4, %d1;\n"
                "  ld.global.u32 %r11, [%d5];\n  xor.b32 %r4, %r11, %r4;\n",
                255 + i % 512);
  }));
}

std::string wideAddresses(unsigned n) {
  return kernel(repeat(n / 4, [](unsigned i) {
    return fill("  mad.lo.s32 %r10, %r2, %r3, {};\n  add.s32 %r10, %r10, %r1;\n"
                "  mad.wide.s32 %d5, %r10, 4, %d1;\n  st.global.u32 [%d5], %r4;\n",
                i);
  }));
}

std::string atomics(unsigned n) {
  return kernel(repeat(n / 2, [](unsigned i) {
    return fill("  atom.global.add.u32 %r10, [%d3+{}], %r4;\n  xor.b32 %r4, %r4, %r10;\n", i * 4);
  }));
}

/// Digits of keys counted in shared memory, as a radix sort does.
std::string digits(unsigned n) {
  return kernel("  .shared .align 4 .b8 bins[4096];\n  .reg .b32 %at<2>;\n  mov.u32 %at0, bins;\n" +
                repeat(n / 4, [](unsigned i) {
                  return fill("  shr.u32 %r10, %r4, {};\n  and.b32 %r10, %r10, 1020;\n"
                              "  add.s32 %at1, %at0, %r10;\n  red.shared.add.u32 [%at1], 1;\n",
                              i % 23);
                }));
}

std::string shuffles(unsigned n) {
  return kernel(repeat(n / 2, [](unsigned i) {
    return fill("  shfl.sync.bfly.b32 %r10, %r4, {}, 31, -1;\n  add.s32 %r4, %r4, %r10;\n",
                1u << i % 5);
  }));
}

std::string conversions(unsigned n) {
  return kernel("  cvt.rn.f32.u32 %f1, %r4;\n" +
                repeat(n / 3,
                       [](unsigned i) {
                         return fill("  cvt.rzi.s32.f32 %r10, %f1;\n  add.s32 %r10, %r10, {};\n  "
                                     "cvt.rn.f32.s32 %f1, %r10;\n",
                                     i);
                       }) +
                "  cvt.rzi.s32.f32 %r4, %f1;\n");
}

std::string divisions(unsigned n) {
  return kernel(repeat(n / 2, [](unsigned i) {
    return fill("  div.u32 %r4, %r4, %r5;\n  add.s32 %r4, %r4, {};\n", i);
  }));
}

std::string directed(unsigned n) {
  return kernel("  cvt.rn.f32.u32 %f1, %r4;\n" +
                repeat(n / 2,
                       [](unsigned i) {
                         return fill(
                             "  add.rz.f32 %f2, %f1, {};\n  fma.rp.f32 %f1, %f2, %f1, %f2;\n",
                             bits(0x3f800000 + i));
                       }) +
                "  cvt.rzi.s32.f32 %r4, %f1;\n");
}

std::string transcendentals(unsigned n) {
  return kernel("  cvt.rn.f32.u32 %f1, %r4;\n" +
                repeat(n / 2,
                       [](unsigned) {
                         return std::string(
                             "  ex2.approx.f32 %f2, %f1;\n  sin.approx.f32 %f1, %f2;\n");
                       }) +
                "  cvt.rzi.s32.f32 %r4, %f1;\n");
}

std::string matrices(unsigned n) {
  std::string text = repeat(12, [](unsigned i) {
    return fill("  mov.b32 %r{}, %r4;\n  mov.f32 %f{}, 0f00000000;\n", i + 20, i + 20);
  });
  text += repeat(n, [](unsigned i) {
    const unsigned k = i % 2 * 4 + 20;
    return fill("  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f{},%f{},%f{},%f{}}}, "
                "{{%r20,%r21,%r22,%r23}}, "
                "{{%r24,%r25}}, {{%f{},%f{},%f{},%f{}}};\n",
                k, k + 1, k + 2, k + 3, k, k + 1, k + 2, k + 3);
  });
  return kernel(text + "  add.f32 %f20, %f20, %f25;\n  cvt.rzi.s32.f32 %r4, %f20;\n");
}

std::string predicated(unsigned n) {
  return kernel(repeat(n / 2, [](unsigned i) {
    return fill("  setp.gt.u32 %p2, %r4, {};\n  @%p2 add.s32 %r4, %r4, %r{};\n", i * 77, i % 3 + 1);
  }));
}

std::string predicatedStores(unsigned n) {
  return kernel(repeat(n / 2, [](unsigned i) {
    return fill("  setp.gt.u32 %p2, %r4, {};\n  @%p2 st.global.u32 [%d3+{}], %r4;\n", i * 77,
                i * 256);
  }));
}

std::string selects(unsigned n) {
  return kernel(repeat(n / 2, [](unsigned i) {
    return fill("  setp.gt.u32 %p2, %r4, {};\n  selp.b32 %r4, %r{}, %r4, %p2;\n", i * 77,
                i % 3 + 1);
  }));
}

std::string branches(unsigned n, bool isUniform) {
  return kernel(repeat(n / 5, [=](unsigned i) {
    return fill("  setp.gt.u32 %p2, {0}, {1};\n  @%p2 bra E{1};\n  mad.lo.s32 %r4, %r4, %r4, {1};\n"
                "  bra J{1};\nE{1}:\n  xor.b32 %r4, %r4, {1};\nJ{1}:\n",
                isUniform ? "%r5" : "%r4", i);
  }));
}
std::string diamonds(unsigned n) { return branches(n, false); }
std::string uniformDiamonds(unsigned n) { return branches(n, true); }

std::string guardedStores(unsigned n) {
  return kernel(repeat(n / 4, [](unsigned i) {
    return fill("  setp.gt.u32 %p2, %r4, {0};\n  @%p2 bra J{0};\n  add.s32 %r4, %r4, %r1;\n  "
                "st.global.u32 [%d3+{1}], %r4;\nJ{0}:\n",
                i, i * 256);
  }));
}

std::string nestedIfs(unsigned n) {
  std::string text = repeat(n / 4, [](unsigned i) {
    return fill("  xor.b32 %r10, %r4, {0};\n  setp.gt.u32 %p2, %r10, {0};\n  @%p2 bra J{0};\n  "
                "add.s32 %r4, %r4, {0};\n",
                i);
  });
  for (unsigned i = n / 4; i-- > 0;)
    text += fill("J{}:\n  xor.b32 %r4, %r4, 5;\n", i);
  return kernel(text);
}

/// Every comparison leaves for the same place, as early returns do.
std::string earlyExits(unsigned n) {
  return kernel(repeat(n / 3, [](unsigned i) {
    return fill("  setp.eq.u32 %p2, %r4, {};\n  @%p2 bra END;\n  add.s32 %r4, %r4, %r1;\n", i);
  }));
}

std::string returns(unsigned n) {
  return kernel(repeat(n / 3, [](unsigned i) {
    return fill("  setp.eq.u32 %p2, %r4, {};\n  @%p2 ret;\n  add.s32 %r4, %r4, %r1;\n", i);
  }));
}

std::string traps(unsigned n) {
  return kernel(repeat(n / 3, [](unsigned i) {
    return fill("  setp.eq.u32 %p2, %r4, {};\n  @%p2 trap;\n  add.s32 %r4, %r4, %r1;\n", i);
  }));
}

/// A decision tree as compilers make of `switch`: comparisons that end in cases which meet.
std::string cases(unsigned n) {
  std::string text = repeat(n / 5, [](unsigned i) {
    return fill("  setp.eq.u32 %p2, %r4, {0};\n  @%p2 bra C{0};\n", i);
  });
  text += "  bra M;\n";
  text += repeat(n / 5, [](unsigned i) {
    return fill("C{0}:\n  mad.lo.s32 %r4, %r4, %r1, {0};\n  xor.b32 %r4, %r4, %r2;\n  bra M;\n", i);
  });
  return kernel(text + "M:\n");
}

std::string loops(unsigned n) {
  return kernel(repeat(n / 5, [](unsigned i) {
    return fill(
        "  mov.u32 %r10, 0;\nL{0}:\n  mad.lo.s32 %r4, %r4, %r4, {0};\n  add.s32 %r10, %r10, 1;\n"
        "  setp.lt.u32 %p2, %r10, %r5;\n  @%p2 bra L{0};\n",
        i);
  }));
}

std::string divergentLoops(unsigned n) {
  return kernel(repeat(n / 5, [](unsigned i) {
    return fill(
        "  mov.u32 %r10, 0;\nL{0}:\n  mad.lo.s32 %r4, %r4, %r4, {0};\n  add.s32 %r10, %r10, 1;\n"
        "  setp.lt.u32 %p2, %r10, %r6;\n  @%p2 bra L{0};\n",
        i);
  }));
}

std::string nest(unsigned n, std::string_view bound) {
  std::string text = fill("  .reg .b32 %i<{}>;\n", n / 4 + 1);
  text += repeat(n / 4, [](unsigned i) {
    return fill("  mov.u32 %i{0}, 0;\nL{0}:\n  add.s32 %r4, %r4, %i{0};\n", i);
  });
  for (unsigned i = n / 4; i-- > 0;)
    text += fill("  add.s32 %i{0}, %i{0}, 1;\n  setp.lt.u32 %p2, %i{0}, {1};\n  @%p2 bra L{0};\n",
                 i, bound);
  return kernel(text);
}
std::string uniformNest(unsigned n) { return nest(n, "%r5"); }
std::string divergentNest(unsigned n) { return nest(n, "%r6"); }

/// A loop whose body leaves it in many places.
std::string loopExits(unsigned n) {
  std::string text = "  mov.u32 %r10, 0;\nL:\n";
  text += repeat(n / 3, [](unsigned i) {
    return fill(
        "  mad.lo.s32 %r4, %r4, %r1, {0};\n  setp.eq.u32 %p2, %r4, {0};\n  @%p2 bra E{1};\n", i,
        i % 8);
  });
  text += "  add.s32 %r10, %r10, 1;\n  setp.lt.u32 %p2, %r10, %r5;\n  @%p2 bra L;\n  bra END;\n";
  text += repeat(
      8, [](unsigned i) { return fill("E{0}:\n  add.s32 %r4, %r4, {0};\n  bra END;\n", i); });
  return kernel(text);
}

std::string continues(unsigned n) {
  std::string text = "  mov.u32 %r10, 0;\nL:\n  add.s32 %r10, %r10, 1;\n  setp.gt.u32 %p3, %r10, "
                     "%r5;\n  @%p3 bra END;\n";
  text += repeat(n / 3, [](unsigned i) {
    return fill("  mad.lo.s32 %r4, %r4, %r1, {0};\n  setp.eq.u32 %p2, %r4, {0};\n  @%p2 bra L;\n",
                i);
  });
  return kernel(text + "  bra L;\n");
}

/// Blocks that go anywhere: loops with many entries.
std::string maze(unsigned n, std::string_view decides) {
  std::mt19937 random(7);
  const unsigned blocks = n / 6;
  std::string text = "  mov.u32 %r10, 0;\n";
  text += repeat(blocks, [&](unsigned i) {
    const unsigned to = unsigned(random() % blocks);
    return fill(
        "B{0}:\n  add.s32 %r10, %r10, 1;\n  setp.gt.u32 %p3, %r10, 1000;\n  @%p3 bra END;\n"
        "  mad.lo.s32 %r4, %r4, %r1, {0};\n  setp.gt.u32 %p2, {2}, {0};\n  @%p2 bra B{1};\n",
        i, to, decides);
  });
  return kernel(text + "  bra B0;\n");
}
std::string divergentMaze(unsigned n) { return maze(n, "%r4"); }
std::string uniformMaze(unsigned n) { return maze(n, "%r5"); }

/// Blocks both of whose ways go anywhere.
std::string tangle(unsigned n) {
  std::mt19937 random(11);
  const unsigned blocks = n / 7;
  std::string text = "  mov.u32 %r10, 0;\n";
  text += repeat(blocks, [&](unsigned i) {
    const unsigned one = unsigned(random() % blocks), other = unsigned(random() % blocks);
    return fill("B{0}:\n  add.s32 %r10, %r10, 1;\n  setp.gt.u32 %p3, %r10, 1000;\n  @%p3 bra "
                "END;\n  mad.lo.s32 %r4, %r4, %r1, {0};\n  setp.gt.u32 %p2, %r4, {0};\n  @%p2 bra "
                "B{1};\n  bra B{2};\n",
                i, one, other);
  });
  return kernel(text);
}

/// A multiway branch; with `isLoop`, back to it after each target, as interpreters do.
std::string multiway(unsigned n, std::string_view index, bool isLoop) {
  const unsigned targets = n / 3;
  std::string list = repeat(targets, [](unsigned i) { return fill("{}T{}", i ? ", " : "", i); });
  std::string text = "  mov.u32 %r10, 0;\nTOP:\n  add.s32 %r10, %r10, 1;\n  setp.gt.u32 %p3, %r10, "
                     "1000;\n  @%p3 bra END;\n";
  text += fill("  rem.u32 %r11, {}, {};\n  ts: .branchtargets {};\n  brx.idx %r11, ts;\n", index,
               targets, list);
  text += repeat(targets, [=](unsigned i) {
    return fill("T{0}:\n  mad.lo.s32 %r4, %r4, %r1, {0};\n  xor.b32 %r4, %r4, %r2;\n  bra {1};\n",
                i, isLoop ? "TOP" : "END");
  });
  return kernel(text);
}
std::string divergentSwitch(unsigned n) { return multiway(n, "%r4", false); }
std::string uniformSwitch(unsigned n) { return multiway(n, "%r5", false); }
std::string interpreter(unsigned n) { return multiway(n, "%r4", true); }

constexpr std::string_view kCallee = R"(
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [x];
  mad.lo.s32 %r1, %r1, %r1, 3;
  st.param.u32 [y], %r1;
  ret;
}
)";
std::string call(std::string_view name) {
  return fill("  {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call.uni (b), {}, (a); "
              "ld.param.b32 %r4, [b]; }}\n",
              name);
}

std::string calls(unsigned n) {
  return kernel(repeat(n / 3, [](unsigned) { return call("f"); }), "",
                fill(".func (.param .b32 y) f(.param .b32 x)\n{{{}", kCallee));
}

std::string functions(unsigned n) {
  return kernel(repeat(n / 7, [](unsigned i) { return call(fill("f{}", i)); }), "",
                repeat(n / 7, [](unsigned i) {
                  return fill(".func (.param .b32 y) f{}(.param .b32 x)\n{{{}", i, kCallee);
                }));
}

std::string callChain(unsigned n) {
  std::string before = fill(".func (.param .b32 y) f0(.param .b32 x)\n{{{}", kCallee);
  for (unsigned i = 1; i < n / 6; ++i)
    before +=
        fill(".func (.param .b32 y) f{}(.param .b32 x)\n{{\n  .reg .b32 %r<8>;\n  ld.param.u32 "
             "%r4, [x];\n  add.s32 %r4, %r4, {};\n{}  st.param.u32 [y], %r4;\n  ret;\n}}\n",
             i, i, call(fill("f{}", i - 1)));
  return kernel(call(fill("f{}", n / 6 - 1)), "", before);
}

/// Calls through a pointer to one of many functions.
std::string pointers(unsigned n) {
  std::string before = repeat(n / 6, [](unsigned i) {
    return fill(".func (.param .b32 y) f{}(.param .b32 x)\n{{{}", i, kCallee);
  });
  before += fill(".global .u64 table[{}] = {{{}}};\n", n / 6,
                 repeat(n / 6, [](unsigned i) { return fill("{}f{}", i ? ", " : "", i); }));
  return kernel(fill("  rem.u32 %r11, %r4, {};\n  mov.u64 %d6, table;\n  mad.wide.u32 %d6, %r11, "
                     "8, %d6;\n  ld.global.u64 %d6, [%d6];\n"
                     "  {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4;\n  proto: "
                     ".callprototype (.param .b32 _) _ (.param .b32 _);\n"
                     "  call (b), %d6, (a), proto; ld.param.b32 %r4, [b]; }}\n",
                     n / 6),
                "", before);
}

std::string parameters(unsigned n) {
  return kernel(repeat(n / 2,
                       [](unsigned i) {
                         return fill("  ld.param.u32 %r10, [q{}];\n  xor.b32 %r4, %r4, %r10;\n", i);
                       }),
                repeat(n / 2, [](unsigned i) { return fill(", .param .u32 q{}", i); }));
}

std::string barriers(unsigned n) {
  return kernel("  .shared .b32 s[1024];\n  .reg .b32 %a<4>;\n  mov.u32 %a1, s;\n  mad.lo.s32 %a2, "
                "%r1, 4, %a1;\n" +
                repeat(n / 4, [](unsigned i) {
                  return fill("  st.shared.u32 [%a2], %r4;\n  bar.sync 0;\n  ld.shared.u32 %r10, "
                              "[%a2+{}];\n  add.s32 %r4, %r4, %r10;\n",
                              i % 32 * 4);
                }));
}

std::string variables(unsigned n, std::string_view space) {
  std::string declarations =
      repeat(n / 3, [=](unsigned i) { return fill("  .{} .b32 v{}[64];\n", space, i); });
  const bool isInside = space == "local" || space == "shared";
  return kernel((isInside ? declarations : "") +
                    repeat(n / 3,
                           [=](unsigned i) {
                             return fill("  st.{0}.u32 [v{1}+4], %r4;\n  ld.{0}.u32 %r10, "
                                         "[v{2}+4];\n  add.s32 %r4, %r4, %r10;\n",
                                         space, i, i / 2);
                           }),
                "", isInside ? "" : declarations);
}
std::string sharedVariables(unsigned n) { return variables(n, "shared"); }
std::string globalVariables(unsigned n) { return variables(n, "global"); }
std::string localVariables(unsigned n) { return variables(n, "local"); }

std::string initializers(unsigned n) {
  return kernel("  mov.u64 %d6, table;\n  add.s64 %d6, %d6, %d2;\n  ld.global.u32 %r10, [%d6];\n  "
                "add.s32 %r4, %r4, %r10;\n",
                "", fill(".global .u32 table[{}] = {{{}}};\n", n, repeat(n, [](unsigned i) {
                           return fill("{}{}", i ? ", " : "", i * 77);
                         })));
}

std::string kernels(unsigned n) {
  std::string text(kHead);
  for (unsigned i = 0; i < n / 20; ++i)
    text += entry("  add.s32 %r4, %r4, 5;\n  st.global.u32 [%d3+4], %r4;\n", "", "",
                  i ? fill("k{}", i) : "k");
  return text;
}

} // namespace

const std::vector<Shape> &shapes() {
  static const std::vector<Shape> list = {
      {"chain", "one value through n mad", chain, 1000},
      {"wide", "forty values mixed by n mad", wide, 1000},
      {"live", "n values that live together", live, 500},
      {"tile", "sums of n fma that live through a loop", tile, 8192},
      {"memory", "loads and stores in rows", memory, 1000},
      {"scattered", "loads from anywhere", scattered, 1000},
      {"addresses", "stores at indices of the grid", wideAddresses, 1000},
      {"atomics", "atomics", atomics, 500},
      {"digits", "digits of keys counted in shared memory", digits, 500},
      {"shuffles", "warp operations", shuffles, 500},
      {"conversions", "conversions", conversions, 1000},
      {"divisions", "integer divisions", divisions, 500},
      {"directed", "arithmetic with directed rounding", directed, 500},
      {"transcendentals", "ex2 and sin", transcendentals, 500},
      {"matrices", "mma", matrices, 100},
      {"predicated", "predicated arithmetic", predicated, 1000},
      {"predicated_stores", "predicated stores", predicatedStores, 500},
      {"selects", "selp", selects, 1000},
      {"diamonds", "if and else, divergent", diamonds, 1000},
      {"uniform_diamonds", "if and else, uniform", uniformDiamonds, 1000},
      {"guarded_stores", "stores behind divergent branches", guardedStores, 500},
      {"nested_ifs", "if in if in if", nestedIfs, 1000},
      {"early_exits", "branches to the end", earlyExits, 500},
      {"returns", "predicated ret", returns, 500},
      {"traps", "predicated trap", traps, 500},
      {"cases", "a chain of comparisons into cases", cases, 1000},
      {"loops", "uniform loops one after the other", loops, 1000},
      {"divergent_loops", "divergent loops one after the other", divergentLoops, 1000},
      {"uniform_nest", "loop in loop in loop, uniform", uniformNest, 400},
      {"divergent_nest", "loop in loop in loop, divergent", divergentNest, 400},
      {"loop_exits", "a loop left in many places", loopExits, 500},
      {"continues", "a loop with many back edges", continues, 500},
      {"divergent_maze", "loops with many entries, divergent", divergentMaze, 300},
      {"uniform_maze", "loops with many entries, uniform", uniformMaze, 300},
      {"tangle", "blocks both of whose ways go anywhere", tangle, 300},
      {"divergent_switch", "brx.idx by lane", divergentSwitch, 1000},
      {"uniform_switch", "brx.idx by a uniform value", uniformSwitch, 1000},
      {"interpreter", "brx.idx in a loop", interpreter, 1000},
      {"calls", "calls of one function", calls, 500},
      {"functions", "as many functions as calls", functions, 1000},
      {"call_chain", "functions that call one another", callChain, 1000},
      {"pointers", "functions called through a table", pointers, 1000},
      {"parameters", "parameters of the kernel", parameters, 1000},
      {"barriers", "barriers", barriers, 500},
      {"shared_variables", "shared variables", sharedVariables, 1000},
      {"global_variables", "global variables", globalVariables, 1000},
      {"local_variables", "local variables", localVariables, 500},
      {"initializers", "elements of an initializer", initializers, 10000},
      {"kernels", "kernels of which one is compiled", kernels, 4000},
  };
  return list;
}

} // namespace ptxrun::growth
