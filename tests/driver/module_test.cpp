#include <fstream>

#include "tests/driver/driver_fixture.h"
#include "tests/driver/elf_writer.h"
#include "tests/driver/fat_binary_writer.h"

namespace ptxrun::tests {

using Module = DriverTest;

TEST_F(Module, FindsItsFunctionsAndNoOthers) {
  CUmodule module = load(kSmall);
  CUfunction function = nullptr;
  EXPECT_CUDA(cuModuleGetFunction(&function, module, "store"));
  EXPECT_RESULT(cuModuleGetFunction(&function, module, "stor"), CUDA_ERROR_NOT_FOUND);
  unsigned count = 0;
  EXPECT_CUDA(cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 5u);
  CUfunction all[5];
  EXPECT_CUDA(cuModuleEnumerateFunctions(all, 5, module));
  const char *name = nullptr;
  EXPECT_CUDA(cuFuncGetName(&name, all[1]));
  EXPECT_STREQ(name, "store");
}

TEST_F(Module, RefusesBadPtxWithDiagnosticsInTheLog) {
  char log[1024] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_RESULT(cuModuleLoadDataEx(&module,
                                   ".version 8.0\n.target sm_70\n.address_size 64\n"
                                   ".entry k() { no.such.instruction; }\n",
                                   2, options, values),
                CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find(":4:"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), strlen(log));
}

TEST_F(Module, CutsTheLogToTheBuffer) {
  char log[9];
  memset(log, '#', sizeof log);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
  void *values[] = {reinterpret_cast<void *>(size_t{8}), log};
  CUmodule module = nullptr;
  EXPECT_RESULT(cuModuleLoadDataEx(&module, ".version 8.0\n.target nonsense\n", 2, options, values),
                CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(strnlen(log, sizeof log), 7u);
  EXPECT_EQ(log[8], '#');
}

TEST_F(Module, PlacesVariablesWithTheirInitialValues) {
  CUmodule module = load(kVariables);
  CUdeviceptr numbers = 0, zeroed = 0;
  size_t bytes = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&numbers, &bytes, module, "numbers"));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(download<uint32_t>(numbers, 4), (std::vector<uint32_t>{10, 20, 30, 40}));
  ASSERT_CUDA(cuModuleGetGlobal(&zeroed, &bytes, module, "zeroed"));
  EXPECT_EQ(download<uint8_t>(zeroed, 64), std::vector<uint8_t>(64, 0));
  CUdeviceptr pointer = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&pointer, nullptr, module, "pointer"));
  EXPECT_EQ(download<uint64_t>(pointer, 1)[0], numbers + 4);
  EXPECT_RESULT(cuModuleGetGlobal(&pointer, nullptr, module, "missing"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Module, VariablesAreRangesByThemselves) {
  CUmodule module = load(kVariables);
  CUdeviceptr numbers = 0, zeroed = 0, base = 0;
  size_t bytes = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&numbers, nullptr, module, "numbers"));
  ASSERT_CUDA(cuModuleGetGlobal(&zeroed, nullptr, module, "zeroed"));
  for (auto [address, size] : {std::pair{numbers, size_t{16}}, std::pair{zeroed, size_t{64}}}) {
    ASSERT_CUDA(cuMemGetAddressRange(&base, &bytes, address + size - 1));
    EXPECT_EQ(base, address);
    EXPECT_EQ(bytes, size);
    ASSERT_CUDA(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 1));
    EXPECT_EQ(base, address);
    ASSERT_CUDA(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 1));
    EXPECT_EQ(bytes, size);
  }
}

TEST_F(Module, KernelsSeeVariablesAsTheHostSetThem) {
  CUmodule module = load(kVariables);
  CUfunction read = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&read, module, "read"));
  CUdeviceptr out = upload(std::vector<uint32_t>(3));
  ASSERT_CUDA(launch(read, 1, 1, nullptr, out));
  EXPECT_EQ(download<uint32_t>(out, 3), (std::vector<uint32_t>{30, 20, 7}));
  CUdeviceptr scale = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&scale, nullptr, module, "scale"));
  ASSERT_CUDA(cuMemsetD32(scale, 99, 1));
  ASSERT_CUDA(launch(read, 1, 1, nullptr, out));
  EXPECT_EQ(download<uint32_t>(out, 3)[2], 99u);
}

TEST_F(Module, LoadsFromAFile) {
  const std::string path = testing::TempDir() + "ptxrun_module_test.ptx";
  std::ofstream(path) << kAdd;
  CUmodule module = nullptr;
  EXPECT_CUDA(cuModuleLoad(&module, path.c_str()));
  EXPECT_RESULT(cuModuleLoad(&module, (path + ".missing").c_str()), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(Module, UnloadInvalidatesItsHandles) {
  CUmodule module = load(kSmall);
  CUfunction empty = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&empty, module, "empty"));
  EXPECT_CUDA(cuModuleUnload(module));
  EXPECT_RESULT(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_RESULT(launch(empty, 1, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Module, LoadsOfPtxAreIndependent) {
  CUdeviceptr first = 0, second = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&first, nullptr, load(kVariables), "numbers"));
  ASSERT_CUDA(cuModuleGetGlobal(&second, nullptr, load(kVariables), "numbers"));
  EXPECT_NE(first, second);
}

TEST_F(Module, RefusesWhatIsNoImage) {
  CUmodule module = nullptr;
  EXPECT_RESULT(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_RESULT(cuModuleLoadData(&module, "\x01\x02\x03\x04\x05"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_RESULT(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

using Library = DriverTest;

TEST_F(Library, GivesKernelsThatLaunchLikeFunctions) {
  CUlibrary library = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, kSmall, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel store = nullptr;
  ASSERT_CUDA(cuLibraryGetKernel(&store, library, "store"));
  CUdeviceptr out = upload(std::vector<uint32_t>(1));
  ASSERT_CUDA(launch(reinterpret_cast<CUfunction>(store), 1, 1, nullptr, out, 5u));
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 5u);
  CUfunction function = nullptr;
  ASSERT_CUDA(cuKernelGetFunction(&function, store));
  ASSERT_CUDA(launch(function, 1, 1, nullptr, out, 6u));
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 6u);
  CUlibrary owner = nullptr;
  EXPECT_CUDA(cuKernelGetLibrary(&owner, store));
  EXPECT_EQ(owner, library);
  CUmodule module = nullptr;
  EXPECT_CUDA(cuLibraryGetModule(&module, library));
  EXPECT_CUDA(cuModuleGetFunction(&function, module, "empty"));
  EXPECT_CUDA(cuLibraryUnload(library));
  EXPECT_RESULT(cuKernelGetFunction(&function, store), CUDA_ERROR_INVALID_HANDLE);
}

using Linker = DriverTest;

TEST_F(Linker, GivesAnImageThatLoads) {
  for (int parts = 1; parts <= 2; ++parts) {
    CUlinkState state = nullptr;
    ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &state));
    ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(kSmall),
                              strlen(kSmall) + 1, "small", 0, nullptr, nullptr));
    if (parts == 2)
      ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(kAdd), strlen(kAdd),
                                "add", 0, nullptr, nullptr));
    void *image = nullptr;
    size_t bytes = 0;
    ASSERT_CUDA(cuLinkComplete(state, &image, &bytes));
    EXPECT_GT(bytes, 0u);
    CUmodule module = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, image));
    EXPECT_CUDA(cuLinkDestroy(state));
    CUfunction found = nullptr;
    EXPECT_CUDA(cuModuleGetFunction(&found, module, "store"));
    EXPECT_EQ(cuModuleGetFunction(&found, module, "add") == CUDA_SUCCESS, parts == 2);
  }
}

TEST_F(Linker, LogHasAllItsRoomForEachInput) {
  char log[200] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUlinkState state = nullptr;
  ASSERT_CUDA(cuLinkCreate(2, options, values, &state));
  ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(kSmall), strlen(kSmall),
                            nullptr, 0, nullptr, nullptr));
  char library[] = "!<arch>\nanything";
  EXPECT_EQ(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, library, sizeof library, nullptr, 0, nullptr,
                          nullptr),
            CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(std::string(log).find("the library (.a) is damaged"), std::string::npos) << log;
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), strlen(log));
  EXPECT_CUDA(cuLinkDestroy(state));
}

TEST_F(Linker, RefusesWhatIsNoPtxWhenItComes) {
  char log[400] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUlinkState state = nullptr;
  ASSERT_CUDA(cuLinkCreate(2, options, values, &state));
  char wrong[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                 ".visible .entry k() {\n  frobnicate.b32 %r1, %r2;\n  ret;\n}\n";
  EXPECT_RESULT(
      cuLinkAddData(state, CU_JIT_INPUT_PTX, wrong, sizeof wrong, "mine.ptx", 0, nullptr, nullptr),
      CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("mine.ptx:5:"), std::string::npos) << log;
  ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(kSmall), strlen(kSmall),
                            nullptr, 0, nullptr, nullptr));
  EXPECT_STREQ(log, ""); // and the linker goes on without it
  void *image = nullptr;
  EXPECT_CUDA(cuLinkComplete(state, &image, nullptr));
  EXPECT_CUDA(cuLinkDestroy(state));
}

/// Two kernels that declare 100 registers; the second is for 4 blocks of 256 threads at once.
constexpr const char *kManyRegisters = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry many() { .reg .b32 %r<100>; MOVES ret; }
.visible .entry bounded() .maxntid 16, 16, 1 .minnctapersm 4 { .reg .b32 %r<100>; MOVES ret; }
)";

std::string manyRegisters() {
  std::string moves, text = kManyRegisters;
  for (int i = 0; i < 100; ++i)
    moves += "mov.u32 %r" + std::to_string(i) + ", 0; ";
  for (size_t at; (at = text.find("MOVES")) != text.npos;)
    text.replace(at, 5, moves);
  return text;
}

int registersOf(CUmodule module, const char *kernel) {
  CUfunction function = nullptr;
  int count = 0;
  EXPECT_CUDA(cuModuleGetFunction(&function, module, kernel));
  EXPECT_CUDA(cuFuncGetAttribute(&count, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  return count;
}

TEST_F(Module, RegistersKeepToWhatProgramAndKernelAllow) {
  const std::string text = manyRegisters();
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, text.c_str()));
  EXPECT_EQ(registersOf(module, "many"), 100);
  EXPECT_EQ(registersOf(module, "bounded"), 64); // 65536 of a multiprocessor, 4 * 256 threads
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
  void *values[] = {reinterpret_cast<void *>(40)};
  ASSERT_CUDA(cuModuleLoadDataEx(&module, text.c_str(), 1, options, values));
  EXPECT_EQ(registersOf(module, "many"), 40);
  EXPECT_EQ(registersOf(module, "bounded"), 40);
}

TEST_F(Linker, WhatIsLinkedKeepsItsLimitOfRegisters) {
  const std::string text = manyRegisters();
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
  void *values[] = {reinterpret_cast<void *>(48)};
  for (int parts = 1; parts <= 2; ++parts) {
    CUlinkState state = nullptr;
    ASSERT_CUDA(cuLinkCreate(1, options, values, &state));
    ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(text.data()),
                              text.size() + 1, "many", 0, nullptr, nullptr));
    if (parts == 2)
      ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(kAdd), strlen(kAdd),
                                "add", 0, nullptr, nullptr));
    void *image = nullptr;
    size_t bytes = 0;
    ASSERT_CUDA(cuLinkComplete(state, &image, &bytes));
    CUmodule module = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, image));
    EXPECT_CUDA(cuLinkDestroy(state));
    EXPECT_EQ(registersOf(module, "many"), 48);
  }
}

/// A library of these objects, as ar writes it: with a table of symbols first.
std::string archiveOf(const std::vector<std::vector<char>> &objects) {
  std::string all = "!<arch>\n";
  const auto add = [&](const char *name, const std::string &bytes) {
    char header[61];
    snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8o%-10zu`\n", name, 0, 0, 0, 0644,
             bytes.size());
    all += header + bytes + (bytes.size() % 2 ? "\n" : "");
  };
  add("/", std::string(5, '\0'));
  for (const std::vector<char> &object : objects)
    add("part.o/", {object.begin(), object.end()});
  return all;
}

TEST_F(Linker, TakesTheObjectsOfALibrary) {
  const auto object = [](const char *text) {
    ElfWriter elf(ET_REL, EM_X86_64);
    elf.add(".nv_fatbin", SHT_PROGBITS, FatBinary().add(1, 80, text).bytes());
    return elf.bytes();
  };
  const std::vector<char> plain = ElfWriter(ET_REL, EM_X86_64).bytes();
  std::string library = archiveOf({object(kSmall), plain, object(kAdd)});
  CUlinkState state = nullptr;
  ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &state));
  ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, library.data(), library.size(), "lib.a", 0,
                            nullptr, nullptr));
  void *image = nullptr;
  size_t bytes = 0;
  ASSERT_CUDA(cuLinkComplete(state, &image, &bytes));
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, image));
  EXPECT_CUDA(cuLinkDestroy(state));
  CUfunction found = nullptr;
  EXPECT_CUDA(cuModuleGetFunction(&found, module, "store"));
  EXPECT_CUDA(cuModuleGetFunction(&found, module, "add"));
  for (size_t length = 0; length < library.size(); length += 7) { // cut anywhere: an error, or less
    ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &state));
    if (length > 0)
      cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, library.data(), length, "lib.a", 0, nullptr,
                    nullptr);
    EXPECT_CUDA(cuLinkDestroy(state));
  }
}

TEST_F(Linker, TakesTheDeviceRuntimeForItsOwn) {
  CUlinkState state = nullptr;
  ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &state));
  char runtime[] = "!<arch>\ncuda_device_runtime.o/ 0 0 0 644 4 `\n\177ELF";
  EXPECT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, runtime, sizeof runtime, "libcudadevrt.a",
                            0, nullptr, nullptr));
  char other[] = "!<arch>\nmine.o/ 0 0 0 644 4 `\n\177ELF";
  EXPECT_RESULT(cuLinkAddData(state, CU_JIT_INPUT_LIBRARY, other, sizeof other, "libmine.a", 0,
                              nullptr, nullptr),
                CUDA_ERROR_INVALID_IMAGE);
  ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(kSmall), strlen(kSmall) + 1,
                            "small", 0, nullptr, nullptr));
  void *image = nullptr;
  size_t bytes = 0;
  EXPECT_CUDA(cuLinkComplete(state, &image, &bytes));
  EXPECT_CUDA(cuLinkDestroy(state));
}

// As nvcc -rdc=true writes a variable that holds a function's address: .b64 where it is declared,
// .u64 where it is defined, with a function that the text declares first.
TEST_F(Linker, TakesTheTypeOfAVariableFromItsDefinition) {
  constexpr const char *kUser = R"(.version 8.0
.target sm_80
.address_size 64
.extern .global .align 8 .b64 chosen;
.visible .entry use(.param .u64 out)
{
  .reg .b64 %d<3>;
  .reg .b32 %r;
  ld.param.u64 %d1, [out];
  ld.global.u64 %d2, [chosen];
  { .param .b32 result; p: .callprototype (.param .b32 _) _ (); call (result), %d2, (), p;
    ld.param.b32 %r, [result]; }
  st.global.u32 [%d1], %r;
  ret;
}
)";
  constexpr const char *kOwner = R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) five ();
.visible .global .align 8 .u64 chosen = five;
.func (.param .b32 r) five () { st.param.b32 [r], 5; ret; }
)";
  for (const bool isOwnerFirst : {false, true}) {
    CUlinkState state = nullptr;
    ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &state));
    for (const char *text : {isOwnerFirst ? kOwner : kUser, isOwnerFirst ? kUser : kOwner})
      ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(text), strlen(text) + 1,
                                "", 0, nullptr, nullptr));
    void *image = nullptr;
    ASSERT_CUDA(cuLinkComplete(state, &image, nullptr));
    CUmodule module = nullptr;
    ASSERT_CUDA(cuModuleLoadData(&module, image));
    EXPECT_CUDA(cuLinkDestroy(state));
    CUfunction use = nullptr;
    ASSERT_CUDA(cuModuleGetFunction(&use, module, "use"));
    const CUdeviceptr out = upload(std::vector<uint32_t>(1));
    ASSERT_CUDA(launch(use, 1, 1, nullptr, out));
    EXPECT_EQ(download<uint32_t>(out, 1)[0], 5u);
  }
}

TEST_F(Linker, ResolvesWhatOneInputDeclaresAndAnotherDefines) {
  constexpr const char *kCaller = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice (.param .b32 x);
.extern .global .align 4 .u32 shift;
.global .align 1 .b8 $str[2] = {65};
.weak .global .align 4 .b32 table[2] = {0, 1};
.weak .func (.param .b32 result) inlined (.param .b32 x) { ret; } // as every text has it
.visible .entry callTwice(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  {
    .param .b32 x;
    .param .b32 result;
    st.param.b32 [x], 20;
    call.uni (result), twice, (x);
    ld.param.b32 %r1, [result];
  }
  ld.global.u32 %r2, [shift];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";
  constexpr const char *kCallee = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .u32 shift = 2;
.global .align 1 .b8 $str[2] = {66};
.weak .global .align 4 .b32 table[2] = {0, 1};
.weak .func (.param .b32 result) inlined (.param .b32 x) { ret; }
.visible .func (.param .b32 result) twice (.param .b32 x)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [x];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
)";
  CUlinkState state = nullptr;
  ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &state));
  for (const char *text : {kCaller, kCallee})
    ASSERT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(text), strlen(text) + 1,
                              "part", 0, nullptr, nullptr));
  void *image = nullptr;
  size_t bytes = 0;
  ASSERT_CUDA(cuLinkComplete(state, &image, &bytes));
  // Programs keep a copy and let the linker go.
  const std::string copy(static_cast<const char *>(image), bytes);
  EXPECT_CUDA(cuLinkDestroy(state));
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, copy.data()));
  CUfunction function = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&function, module, "callTwice"));
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAlloc(&out, 4));
  void *arguments[] = {&out};
  ASSERT_CUDA(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  uint32_t value = 0;
  EXPECT_CUDA(cuMemcpyDtoH(&value, out, 4));
  EXPECT_EQ(value, 42u);
}

/// calls(out): a function that only another object has.
constexpr const char *kUndefined = R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) unused;
.extern .func (.param .b32 r) elsewhere;
.visible .entry store(.param .u64 out) { ret; }
.visible .entry calls(.param .u64 out)
{
  .reg .b32 %r;
  .reg .b64 %p;
  ld.param.u64 %p, [out];
  { .param .b32 a; call.uni (a), elsewhere; ld.param.b32 %r, [a]; }
  st.global.u32 [%p], %r;
  ret;
}
)";

// As ptxas does, where the text is a whole program: one that is declared and never used is none.
TEST_F(Module, RefusesCallsOfFunctionsThatNothingDefines) {
  char log[1024] = "untouched";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT_RESULT(cuModuleLoadDataEx(&module, kUndefined, 2, options, values),
                CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find(":12: error: unresolved extern function 'elsewhere'"),
            std::string::npos)
      << log;
  CUlibrary library = nullptr;
  EXPECT_RESULT(cuLibraryLoadData(&library, kUndefined, nullptr, nullptr, 0, nullptr, nullptr, 0),
                CUDA_ERROR_INVALID_PTX);
}

TEST_F(Linker, FindsFunctionsThatModulesAloneLack) {
  constexpr const char *kElsewhere = R"(.version 8.0
.target sm_70
.address_size 64
.visible .func (.param .b32 r) elsewhere { st.param.b32 [r], 9; ret; }
)";
  constexpr const char *kOther = R"(.version 8.0
.target sm_70
.address_size 64
.visible .func (.param .b32 r) another { st.param.b32 [r], 9; ret; }
)";
  const auto link = [&](const char *second, char *log, size_t room, CUdeviceptr out) {
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(room)};
    CUlinkState state = nullptr;
    EXPECT_CUDA(cuLinkCreate(2, options, values, &state));
    for (const char *text : {kUndefined, second})
      EXPECT_CUDA(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(text), strlen(text) + 1,
                                "part", 0, nullptr, nullptr));
    void *image = nullptr;
    size_t bytes = 0;
    CUresult result = cuLinkComplete(state, &image, &bytes);
    CUmodule module = nullptr;
    if (result == CUDA_SUCCESS)
      result = cuModuleLoadData(&module, image);
    CUfunction calls = nullptr;
    if (result == CUDA_SUCCESS)
      result = cuModuleGetFunction(&calls, module, "calls");
    void *arguments[] = {&out};
    if (result == CUDA_SUCCESS)
      result = cuLaunchKernel(calls, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    EXPECT_CUDA(cuLinkDestroy(state));
    return result;
  };
  CUdeviceptr out = 0;
  ASSERT_CUDA(cuMemAlloc(&out, 4));
  char log[1024] = "";
  EXPECT_CUDA(link(kElsewhere, log, sizeof log, out));
  EXPECT_EQ(download<uint32_t>(out, 1)[0], 9u);
  EXPECT_RESULT(link(kOther, log, sizeof log, out), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::string(log).find("'elsewhere'"), std::string::npos) << log;
}

using Function = DriverTest;

TEST_F(Function, TellsItsAttributes) {
  CUfunction reverse = function(kShared, "reverse");
  int value = 0;
  EXPECT_CUDA(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, reverse));
  EXPECT_EQ(value, 256);
  EXPECT_CUDA(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, reverse));
  EXPECT_EQ(value, 128);
  EXPECT_CUDA(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, reverse));
  EXPECT_EQ(value, 70);
  EXPECT_CUDA(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, reverse));
  EXPECT_EQ(value, 90);
}

TEST_F(Function, TellsWhereParametersLie) {
  CUfunction params = function(kParameters, "params");
  const size_t offsets[] = {0, 8, 16, 40}, sizes[] = {8, 1, 24, 8};
  for (size_t i = 0; i < 4; ++i) {
    size_t offset = 0, bytes = 0;
    EXPECT_CUDA(cuFuncGetParamInfo(params, i, &offset, &bytes));
    EXPECT_EQ(offset, offsets[i]);
    EXPECT_EQ(bytes, sizes[i]);
  }
  size_t offset = 0;
  EXPECT_RESULT(cuFuncGetParamInfo(params, 4, &offset, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Function, AllowsDynamicSharedMemoryUpToTheOptIn) {
  CUfunction reverse = function(kShared, "reverse");
  EXPECT_CUDA(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 227 * 1024 - 128));
  EXPECT_RESULT(
      cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024),
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_RESULT(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_NUM_REGS, 3),
                CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Function, OccupancyFollowsThreadsAndSharedMemory) {
  CUfunction empty = function(kSmall, "empty");
  int blocks = 0, minGrid = 0, block = 0;
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 256, 0));
  EXPECT_EQ(blocks, 8); // 2048 threads per multiprocessor at 9.0
  EXPECT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 100 * 1024));
  EXPECT_EQ(blocks, 2); // 228 KiB per multiprocessor, 1 KiB reserved per block
  EXPECT_CUDA(cuOccupancyMaxPotentialBlockSize(&minGrid, &block, empty, nullptr, 0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_GE(minGrid, 2);
}

} // namespace ptxrun::tests
