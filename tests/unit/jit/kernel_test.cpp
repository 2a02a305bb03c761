#include <gtest/gtest.h>
#include <llvm/Support/ErrorHandling.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/jit/gang_fixture.h"
#include "translate/jit/jit.h"
#include "translate/jit/target.h"
#include "translate/lower/fatal_errors.h"

namespace ptxrun::test {
namespace {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string saxpyIr() {
  std::string ir(kSaxpyGang);
  ir = replaced(ir, "PARAMS", std::to_string(offsetof(abi::Launch, params)));
  return replaced(ir, "FIRST", std::to_string(offsetof(abi::Gang, firstThread)));
}

std::vector<CpuLevel> levels() {
  std::vector<CpuLevel> out;
  for (CpuLevel level : {CpuLevel::sse4, CpuLevel::avx2, CpuLevel::avx512})
    if (level <= jit::cpuLevel())
      out.push_back(level);
  return out;
}

std::shared_ptr<jit::Kernel> build(const std::string &ir, const simt::Target &target,
                                   const jit::VariableResolver &resolver = {},
                                   jit::SourceMap sources = {}) {
  auto object = jit::compile(parseGang(ir), "saxpy", target);
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return nullptr;
  }
  auto kernel = jit::load(std::move(*object), resolver, std::move(sources));
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return nullptr;
  }
  return *kernel;
}

struct SaxpyParams {
  const float *x;
  float *y;
  float a;
  int32_t n;
};

void runGang(const jit::Kernel &kernel, const void *params, uint32_t firstThread) {
  abi::Launch launch;
  launch.params = params;
  abi::Cta cta;
  cta.launch = &launch;
  abi::Gang gang;
  gang.cta = &cta;
  gang.firstThread = firstThread;
  gang.laneCount = 8;
  kernel.code().gang(&launch, &cta, &gang);
}

TEST(Kernel, MultipliesAndAddsWithTwoRoundingsOnEveryLevel) {
  for (CpuLevel level : levels()) {
    const auto kernel = build(saxpyIr(), simt::targetFor(level));
    ASSERT_TRUE(kernel);
    std::vector<float> x(16), y(16), expected(16);
    for (int i = 0; i < 16; ++i) {
      x[i] = 1.0f + float(i) * 0x1p-20f;
      y[i] = -1.0f - float(i) * 0x1p-19f;
      volatile float product = (1.0f + 0x1p-12f) * x[i]; // volatile: rounded before the addition
      expected[i] = product + y[i];
    }
    const SaxpyParams params{x.data(), y.data(), 1.0f + 0x1p-12f, 16};
    runGang(*kernel, &params, 0);
    runGang(*kernel, &params, 8);
    EXPECT_EQ(0, std::memcmp(y.data(), expected.data(), 64)) << jit::levelName(level);
  }
}

TEST(Kernel, FusesWhereTheModuleSaysFmaOnEveryLevel) {
  std::string ir = replaced(
      saxpyIr(), "%m = fmul <8 x float> %av, %xv, !dbg !11",
      "%s = call <8 x float> @llvm.fma.v8f32(<8 x float> %av, <8 x float> %xv, <8 x float> %yv)");
  ir = replaced(ir, "%s = fadd <8 x float> %m, %yv, !dbg !12", "");
  ir += "declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)\n";
  ir = replaced(ir, "%yv)", "%yv), !dbg !11");
  for (CpuLevel level : levels()) {
    const auto kernel = build(ir, simt::targetFor(level));
    ASSERT_TRUE(kernel);
    std::vector<float> x(8, 1.0f + 0x1p-23f), y(8, -1.0f);
    const SaxpyParams params{x.data(), y.data(), 1.0f + 0x1p-23f, 8};
    runGang(*kernel, &params, 0);
    EXPECT_EQ(y[3], std::fmaf(x[3], x[3], -1.0f)) << jit::levelName(level);
  }
}

TEST(Kernel, BindsVariablesAndRuntimeSymbolsByName) {
  static uint32_t seen = 0;
  static void *seenVariable = nullptr;
  jit::registerRuntimeSymbol("ptxrun_jit_test_hook",
                             reinterpret_cast<const void *>(+[](void *variable, uint32_t value) {
                               seen = value;
                               seenVariable = variable;
                             }));
  int variable = 7;
  const auto kernel = build(R"(
    @ptxrun.var.counter = external global i32
    declare void @ptxrun_jit_test_hook(ptr, i32)
    define void @gang(ptr %launch, ptr %cta, ptr %gang) {
      %v = load i32, ptr @ptxrun.var.counter
      call void @ptxrun_jit_test_hook(ptr @ptxrun.var.counter, i32 %v)
      ret void
    })",
                            jit::hostTarget(), [&](std::string_view name) -> void * {
                              return name == "counter" ? &variable : nullptr;
                            });
  ASSERT_TRUE(kernel);
  runGang(*kernel, nullptr, 0);
  EXPECT_EQ(seen, 7u);
  EXPECT_EQ(seenVariable, &variable);
}

TEST(Kernel, NamesTheVariableThatNobodyKnows) {
  auto object = jit::compile(parseGang(R"(
    @ptxrun.var.lost = external global i32
    define void @gang(ptr %launch, ptr %cta, ptr %gang) {
      store i32 1, ptr @ptxrun.var.lost
      ret void
    })"),
                             "k", jit::hostTarget());
  ASSERT_TRUE(bool(object));
  auto kernel =
      jit::load(std::move(*object), [](std::string_view) -> void * { return nullptr; }, {});
  ASSERT_FALSE(bool(kernel));
  EXPECT_NE(llvm::toString(kernel.takeError()).find("lost"), std::string::npos);
}

TEST(Kernel, RefusesAModuleWithoutEntryPoint) {
  auto object =
      jit::compile(parseGang("define void @other() { ret void }"), "k", jit::hostTarget());
  ASSERT_FALSE(bool(object));
  EXPECT_NE(llvm::toString(object.takeError()).find("gang"), std::string::npos);
}

TEST(Kernel, RefusesAModuleWithWordsOfTheLaneVocabulary) {
  auto object = jit::compile(parseGang(R"(
    declare i32 @ptx.activemask()
    define void @gang(ptr %launch, ptr %cta, ptr %gang) {
      %m = call i32 @ptx.activemask()
      store i32 %m, ptr %gang
      ret void
    })"),
                             "k", jit::hostTarget());
  ASSERT_FALSE(bool(object));
  EXPECT_NE(llvm::toString(object.takeError()).find("ptx.activemask"), std::string::npos);
}

TEST(Kernel, KnowsThePtxLineOfEveryAddress) {
  const auto kernel = build(saxpyIr(), jit::hostTarget(), {}, [](uint32_t line) {
    return jit::SourceLine{"saxpy.cu", line + 100};
  });
  ASSERT_TRUE(kernel);
  const char *code = reinterpret_cast<const char *>(kernel->code().gang);
  std::set<uint32_t> lines;
  for (int i = 0; i < 60; ++i) {
    const auto place = kernel->placeOf(code + i);
    if (!place)
      break;
    EXPECT_EQ(place->kernel, "saxpy");
    if (place->ptxLine == 0)
      continue;
    lines.insert(place->ptxLine);
    EXPECT_EQ(place->sourceFile, "saxpy.cu");
    EXPECT_EQ(place->sourceLine, place->ptxLine + 100);
  }
  EXPECT_TRUE(lines.count(13)) << "the store";
  EXPECT_TRUE(lines.count(11)) << "the multiplication";
  int local = 0;
  EXPECT_FALSE(kernel->placeOf(&local));
}

TEST(Kernel, TellsTheListenerOfItsCodeAndItsEnd) {
  static const void *begin = nullptr, *end = nullptr, *unloaded = nullptr;
  jit::setCodeListener({[](const void *b, const void *e) { begin = b, end = e; },
                        [](const void *b, const void *) { unloaded = b; }});
  auto kernel = build(saxpyIr(), jit::hostTarget());
  ASSERT_TRUE(kernel);
  const void *code = reinterpret_cast<const void *>(kernel->code().gang);
  EXPECT_LE(begin, code);
  EXPECT_GT(end, code);
  kernel.reset();
  EXPECT_EQ(unloaded, begin);
  jit::setCodeListener({});
}

/// The frame of the one coroutine there is at a time.
alignas(64) char frame[4096];

/// A kernel of one gang whose coroutine has this body, from `entry` on until it goes to `finished`;
/// where it waits, `end` is the way out.
auto buildCoroutine(const std::string &declarations, const std::string &body) {
  jit::registerRuntimeSymbol(
      "ptxrun_frame_alloc",
      reinterpret_cast<const void *>(+[](abi::Gang *, uint64_t bytes) -> void * {
        return bytes <= sizeof frame ? frame : nullptr;
      }));
  return build(declarations + R"(
    declare token @llvm.coro.id(i32, ptr, ptr, ptr)
    declare i64 @llvm.coro.size.i64()
    declare ptr @llvm.coro.begin(token, ptr)
    declare i8 @llvm.coro.suspend(token, i1)
    declare i1 @llvm.coro.end(ptr, i1, token)
    declare ptr @ptxrun_frame_alloc(ptr, i64)
    define void @gang(ptr %launch, ptr %cta, ptr %gang) { ret void }
    define ptr @gang_start(ptr %launch, ptr %cta, ptr %gang) presplitcoroutine {
    entry:
      %nobody = alloca i64
      %id = call token @llvm.coro.id(i32 64, ptr null, ptr null, ptr null)
      %size = call i64 @llvm.coro.size.i64()
      %memory = call ptr @ptxrun_frame_alloc(ptr %gang, i64 %size)
      %frame = call ptr @llvm.coro.begin(token %id, ptr %memory)
)" + body + R"(
    finished:
      %f = call i8 @llvm.coro.suspend(token none, i1 true)
      br label %end
    end:
      %unused = call i1 @llvm.coro.end(ptr %frame, i1 false, token none)
      ret ptr %frame
    })",
               jit::hostTarget());
}

TEST(Kernel, SuspendsAndResumesAsACoroutine) {
  static std::vector<uint32_t> seen;
  jit::registerRuntimeSymbol(
      "ptxrun_jit_test_note",
      reinterpret_cast<const void *>(+[](uint32_t value) { seen.push_back(value); }));
  const auto kernel = buildCoroutine(R"(
    declare void @ptxrun_jit_test_note(i32)
    )",
                                     R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %again ]
      call void @ptxrun_jit_test_note(i32 %i)
      %next = add i32 %i, 1
      %more = icmp ult i32 %next, 3
      br i1 %more, label %wait, label %finished
    wait:
      %s = call i8 @llvm.coro.suspend(token none, i1 false)
      switch i8 %s, label %end [ i8 0, label %again
                                 i8 1, label %end ]
    again:
      br label %loop
    )");
  ASSERT_TRUE(kernel);
  ASSERT_TRUE(kernel->code().gangStart);
  abi::Launch launch;
  abi::Cta cta;
  abi::Gang gang;
  void *handle = kernel->code().gangStart(&launch, &cta, &gang);
  ASSERT_EQ(handle, frame);
  EXPECT_EQ(seen, (std::vector<uint32_t>{0}));
  for (int resumed = 0; resumed < 2; ++resumed) {
    auto *resume = *static_cast<void (**)(void *)>(handle);
    ASSERT_TRUE(resume);
    resume(handle);
  }
  EXPECT_EQ(seen, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(*static_cast<void **>(handle), nullptr) << "done";
}

/// The stack is another when a coroutine goes on: what a vector of addresses points to lies in the
/// frame.
TEST(Kernel, AddressesInVectorsStayGoodAcrossSuspensions) {
  static std::vector<uintptr_t> places;
  jit::registerRuntimeSymbol(
      "ptxrun_jit_test_place",
      reinterpret_cast<const void *>(+[](uintptr_t place) { places.push_back(place); }));
  const auto kernel = buildCoroutine(R"(
    declare void @ptxrun_jit_test_place(i64)
    )",
                                     R"(
      %who = load volatile i8, ptr %launch
      %mask = bitcast i8 %who to <8 x i1>
      %one = insertelement <8 x ptr> poison, ptr %nobody, i64 0
      %all = shufflevector <8 x ptr> %one, <8 x ptr> poison, <8 x i32> zeroinitializer
      %places = select <8 x i1> %mask, <8 x ptr> zeroinitializer, <8 x ptr> %all
      %s = call i8 @llvm.coro.suspend(token none, i1 false)
      switch i8 %s, label %end [ i8 0, label %again
                                 i8 1, label %end ]
    again:
      %place = extractelement <8 x ptr> %places, i64 5
      store i64 7, ptr %place
      %number = ptrtoint ptr %place to i64
      call void @ptxrun_jit_test_place(i64 %number)
      br label %finished
    )");
  ASSERT_TRUE(kernel);
  alignas(abi::Launch) char launch[sizeof(abi::Launch)] = {}; // no lane has a place of its own
  abi::Cta cta;
  abi::Gang gang;
  void *handle = kernel->code().gangStart(reinterpret_cast<abi::Launch *>(launch), &cta, &gang);
  ASSERT_EQ(handle, frame);
  (*static_cast<void (**)(void *)>(handle))(handle);
  ASSERT_EQ(places.size(), 1u);
  const auto begin = reinterpret_cast<uintptr_t>(frame);
  EXPECT_TRUE(places[0] >= begin && places[0] < begin + sizeof frame);
}

TEST(Kernel, CompilesOnSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const auto kernel = build(saxpyIr(), jit::hostTarget());
        std::vector<float> x(8, 2.0f), y(8, 1.0f);
        const SaxpyParams params{x.data(), y.data(), 3.0f, 8};
        runGang(*kernel, &params, 0);
        good += y[7] == 7.0f;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 20);
}

TEST(Target, WhatACpuHasBeyondItsLevelIsPartOfTheFingerprint) {
  EXPECT_EQ(jit::levelFeatures(CpuLevel::sse4), "");
  EXPECT_EQ(jit::levelFeatures(CpuLevel::avx2), "");
  const std::string &features = jit::levelFeatures(CpuLevel::avx512);
  const std::string level = jit::levelCpu(CpuLevel::avx512);
  EXPECT_NE(jit::codeFingerprint(CpuLevel::avx512).find(level + features + ";"), std::string::npos);
  EXPECT_EQ(features.find("bf16"), std::string::npos) << "flushes subnormal numbers";
}

TEST(Kernel, FatalErrorsOfLlvmAreInternalErrors) {
  // Nothing of an x86 selects this; LLVM ends the process there if it is left to itself.
  const char *const ir = "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                         "define void @gang(ptr %l, ptr %c, ptr %g) {\n"
                         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                         "  store i32 %t, ptr %g\n  ret void\n}\n";
  for (int round = 0; round < 3; ++round) {
    auto object = lower::withoutFatalErrors<jit::ObjectCode>(
        "jit", [&] { return jit::compile(parseGang(ir), "k", jit::hostTarget()); });
    ASSERT_FALSE(bool(object));
    llvm::Error error = object.takeError();
    EXPECT_TRUE(error.isA<lower::InternalError>());
    const std::string text = llvm::toString(std::move(error));
    EXPECT_TRUE(text.starts_with("internal error in stage jit: LLVM gave up: Cannot select"))
        << text;
  }
  build(saxpyIr(), jit::hostTarget()); // and goes on
  const auto memory = lower::runUntilFatalError([] { llvm::report_bad_alloc_error("no memory"); });
  EXPECT_EQ(memory.value_or("nothing"), "no memory");
}

} // namespace
} // namespace ptxrun::test
