// What files hold: programs, objects, fat binaries, cubins, and all of these broken.
#include "loader/image/contents.h"

#include <gtest/gtest.h>

#include "loader/image/nvidia_libraries.h"
#include "tests/driver/elf_writer.h"
#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/kernels.h"

namespace ptxrun::tests {

namespace {

using image::Contents;
using image::FileKind;
using image::Runtime;

constexpr uint16_t kPtx = 1, kCubin = 2, kLtoIr = 8, kMachineCuda = 190;
constexpr unsigned char kEntryFunction = 0x10;

/// A cubin of sm_90 with these kernels, a function that none of the host's calls, and one of its
/// own.
std::vector<char> cubin(const std::vector<std::string> &kernels) {
  ElfWriter elf(ET_EXEC, kMachineCuda);
  elf.flags(0x06005a04, 8);
  for (const std::string &kernel : kernels)
    elf.symbol(kernel, STT_FUNC, STB_GLOBAL, elf.add(".text." + kernel, SHT_PROGBITS, {1, 2}),
               kEntryFunction);
  elf.symbol("helper", STT_FUNC, STB_GLOBAL, elf.add(".text.helper", SHT_PROGBITS, {3}));
  elf.symbol("$own", STT_FUNC, STB_LOCAL, 1);
  return elf.bytes();
}

std::string textOf(const std::vector<char> &bytes) { return {bytes.begin(), bytes.end()}; }

std::vector<char> fatBinary() {
  FatBinary fat;
  fat.add(kPtx, 70, std::string(kSmall) + '\0', kZstd)
      .add(kCubin, 90, textOf(cubin({"store", "extra"})), kLz4);
  return fat.bytes();
}

/// An executable of the host with a fat binary, if there are bytes of one.
ElfWriter program(const std::vector<char> &fat = fatBinary(), uint16_t type = ET_EXEC) {
  ElfWriter elf(type, EM_X86_64);
  elf.add(".text", SHT_PROGBITS, {0});
  if (!fat.empty())
    elf.add(".nv_fatbin", SHT_PROGBITS, fat);
  return elf;
}

const std::vector<char> kDriverName = {'l', 'i', 'b', 'c', 'u', 'd', 'a',
                                       '.', 's', 'o', '.', '1', 0};

Contents contentsOf(const std::vector<char> &bytes, unsigned architecture = 90) {
  Contents contents;
  const device::Outcome outcome =
      image::readContents(std::as_bytes(std::span(bytes)), {architecture}, contents);
  EXPECT_TRUE(outcome.isOk()) << outcome.message;
  return contents;
}

std::string refusalOf(const std::vector<char> &bytes) {
  Contents contents;
  const device::Outcome outcome =
      image::readContents(std::as_bytes(std::span(bytes)), {90}, contents);
  EXPECT_FALSE(outcome.isOk());
  return outcome.message;
}

} // namespace

// cuFile reads files on the CPU, and CUPTI watches: neither computes.
TEST(NvidiaLibraries, AreToldByTheirNames) {
  using enum image::NvidiaLibrary;
  EXPECT_EQ(image::nvidiaLibrary("libcublasLt.so.13"), machineCode);
  EXPECT_EQ(image::nvidiaLibrary("libcufft.so.12"), machineCode);
  EXPECT_EQ(image::nvidiaLibrary("libcufile.so.0"), onHost);
  EXPECT_EQ(image::nvidiaLibrary("libcupti.so.13"), onHost);
  EXPECT_EQ(image::nvidiaLibrary("libnvrtc.so.13"), compiler);
  EXPECT_EQ(image::nvidiaLibrary("libcurl.so.4"), none);
}

TEST(Contents, OfAProgramAreItsEntriesAndTheTextThatIsTaken) {
  const Contents contents = contentsOf(program().bytes());
  EXPECT_EQ(contents.kind, FileKind::executable);
  ASSERT_EQ(contents.fatBinaries.size(), 1u);
  ASSERT_EQ(contents.fatBinaries[0].entries.size(), 2u);
  const auto &ptx = contents.fatBinaries[0].entries[0], &code = contents.fatBinaries[0].entries[1];
  EXPECT_TRUE(ptx.entry.isZstd && ptx.bytes == strlen(kSmall) + 1 && ptx.problem.empty());
  EXPECT_TRUE(code.entry.isLz4 && code.problem.empty()) << code.problem;
  EXPECT_EQ(code.kernels, (std::vector<std::string>{"store", "extra"}));
  ASSERT_EQ(contents.ptx.size(), 1u);
  EXPECT_EQ(contents.ptx[0], kSmall);
  EXPECT_EQ(contents.machineCodeOnly, std::vector<std::string>{"extra"});
  EXPECT_EQ(image::whatToAdd(contents, {90}), "");
  EXPECT_EQ(image::optionToAdd(contents, {90}), "-gencode=arch=compute_90,code=compute_90");
}

TEST(Contents, TellHowTheProgramReachesTheDriver) {
  EXPECT_EQ(contentsOf(program().bytes()).runtime, Runtime::none);
  const auto withRuntime = [&] {
    return program().symbol("cudaLaunchKernel", STT_FUNC, STB_LOCAL, 1);
  };
  for (const char *newer : {"cudaGetDeviceProperties_v2", "cudaLibraryLoadData"}) // 12, 13
    EXPECT_EQ(contentsOf(withRuntime().symbol(newer, STT_FUNC, STB_LOCAL, 1).bytes()).runtime,
              Runtime::linkedIn);
  EXPECT_EQ(contentsOf(withRuntime().bytes()).runtime, Runtime::tooOld);
  EXPECT_EQ(contentsOf(program().needs("libcuda.so.1").bytes()).runtime, Runtime::driver);
  const Contents shared = contentsOf(program()
                                         .needs("libc.so.6")
                                         .needs("libcudart.so.13")
                                         .needs("libcublas.so.13")
                                         .needs("libcurl.so.4")
                                         .bytes());
  EXPECT_EQ(shared.runtime, Runtime::shared);
  EXPECT_EQ(shared.runtimeLibrary, "libcudart.so.13");
  EXPECT_EQ(shared.nvidiaLibraries, std::vector<std::string>{"libcublas.so.13"});
  ElfWriter stripped = program(), opens = program({});
  stripped.add(".rodata", SHT_PROGBITS, kDriverName);
  opens.add(".rodata", SHT_PROGBITS, kDriverName);
  EXPECT_EQ(contentsOf(stripped.bytes()).runtime, Runtime::stripped);
  EXPECT_EQ(contentsOf(opens.bytes()).runtime, Runtime::driver);
  const Contents object =
      contentsOf(program(fatBinary(), ET_REL)
                     .symbol("__cudaRegisterFatBinary", STT_NOTYPE, STB_GLOBAL, 0)
                     .bytes());
  EXPECT_EQ(object.kind, FileKind::object);
  EXPECT_EQ(object.runtime, Runtime::notLinked);
  EXPECT_EQ(contentsOf(program(fatBinary(), ET_DYN).bytes()).kind, FileKind::sharedObject);
}

TEST(Contents, WithoutPtxSayWhatToAdd) {
  const Contents code = contentsOf(program(FatBinary()
                                               .add(kCubin, 80, textOf(cubin({"a"})))
                                               .add(kCubin, 90, textOf(cubin({"a"})))
                                               .add(kCubin, 100, textOf(cubin({"a"})))
                                               .bytes())
                                       .bytes());
  EXPECT_TRUE(code.ptx.empty());
  EXPECT_EQ(code.machineCodeOnly, std::vector<std::string>{"a"});
  EXPECT_EQ(image::whatToAdd(code, {90}),
            "it holds only machine code for sm_80, sm_90, sm_100, which runs on GPUs alone: "
            "compile with nvcc "
            "-gencode=arch=compute_90,code=compute_90 as well, which adds PTX");
  EXPECT_NE(image::whatToAdd(code, {75}).find("arch=compute_80,"), std::string::npos);
  const Contents ir = contentsOf(FatBinary().add(kLtoIr, 86, "bits").bytes());
  EXPECT_EQ(ir.kind, FileKind::fatBinary);
  EXPECT_NE(image::whatToAdd(ir, {90}).find("only LTO-IR for sm_86"), std::string::npos);
  EXPECT_NE(image::whatToAdd(ir, {90}).find("-gencode=arch=compute_86,code=compute_86"),
            std::string::npos);
  const Contents specific = contentsOf(FatBinary().add(kPtx, 100, kSmall, kPlain, kFlagA).bytes());
  EXPECT_NE(image::whatToAdd(specific, {90}).find("PTXRUN_SM"), std::string::npos);
  EXPECT_EQ(image::whatToAdd(contentsOf(program({}).bytes()), {90}),
            "it holds no code for a device");
}

TEST(Contents, OfACubinAreItsKernels) {
  const Contents contents = contentsOf(cubin({"first", "second"}));
  EXPECT_EQ(contents.kind, FileKind::cubin);
  EXPECT_EQ(contents.machineCodeOnly, (std::vector<std::string>{"first", "second"}));
  EXPECT_NE(image::whatToAdd(contents, {100}).find("for sm_90, "), std::string::npos);
}

TEST(Contents, OfLinkedObjectsAreOneTextWhereTheyReferToOneAnother) {
  const std::string head = ".version 8.0\n.target sm_70\n.address_size 64\n";
  const std::string caller =
      head + ".extern .func f();\n.visible .entry k()\n{\ncall f;\nret;\n}\n";
  const std::string callee = head + ".visible .func f()\n{\nret;\n}\n";
  std::vector<char> objects = FatBinary().add(kPtx, 70, caller).bytes();
  const std::vector<char> second = FatBinary().add(kPtx, 70, callee).bytes();
  objects.resize((objects.size() + 7) / 8 * 8 + 16); // padding
  objects.insert(objects.end(), second.begin(), second.end());
  ElfWriter elf = program(FatBinary().add(kCubin, 70, textOf(cubin({"k"}))).bytes());
  elf.add("__nv_relfatbin", SHT_PROGBITS, objects);
  const Contents contents = contentsOf(elf.bytes());
  ASSERT_EQ(contents.fatBinaries.size(), 3u);
  EXPECT_TRUE(!contents.fatBinaries[0].isOfObject && contents.fatBinaries[2].isOfObject);
  ASSERT_EQ(contents.ptx.size(), 1u);
  EXPECT_NE(contents.ptx[0].find(".visible .func f()"), std::string::npos) << contents.ptx[0];
  EXPECT_TRUE(contents.machineCodeOnly.empty());
}

TEST(Contents, OfBrokenFilesAreNamed) {
  std::vector<char> whole = program().bytes(),
                    half(whole.begin(), whole.begin() + long(whole.size() / 2));
  EXPECT_NE(refusalOf(half).find("was it cut short?"), std::string::npos) << refusalOf(half);
  std::vector<char> narrow = whole;
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_NE(refusalOf(narrow).find("64 bits"), std::string::npos);
  EXPECT_NE(refusalOf({'\x89', 'P', 'N', 'G'}).find("neither PTX text nor"), std::string::npos);
  EXPECT_NE(refusalOf({'!', '<', 'a', 'r', 'c', 'h', '>', '\n'}).find("archive"),
            std::string::npos);
  // A text that cannot be unpacked.
  std::vector<char> compressed = FatBinary().add(kPtx, 70, kSmall, kZstd).bytes();
  compressed[16 + 64] ^= 1;
  EXPECT_NE(image::whatToAdd(contentsOf(compressed), {90})
                .find("its PTX cannot be read (broken fat binary"),
            std::string::npos);
  // A fat binary inside that claims more than its section has.
  std::vector<char> fat = fatBinary();
  put<uint64_t>(fat, 8, 1 << 20);
  const Contents contents = contentsOf(program(fat).bytes());
  ASSERT_EQ(contents.fatBinaries.size(), 1u);
  EXPECT_NE(contents.fatBinaries[0].problem.find("longer than the data"), std::string::npos);
}

TEST(Contents, SurviveEveryTruncationAndFlip) {
  ElfWriter elf = program().needs("libcudart.so.13").symbol("cudaMalloc", STT_FUNC, STB_GLOBAL, 1);
  for (const std::vector<char> &whole : {elf.bytes(), fatBinary(), cubin({"one", "two"})}) {
    const auto read = [](const std::vector<char> &bytes) {
      // Of its own size, so that a sanitizer sees what is read behind it.
      const std::vector<char> exact(bytes.begin(), bytes.end());
      Contents contents;
      const auto outcome = image::readContents(std::as_bytes(std::span(exact)), {90}, contents);
      EXPECT_TRUE(outcome.isOk() || !outcome.message.empty());
      image::whatToAdd(contents, {90});
    };
    for (size_t size = 0; size < whole.size(); ++size)
      read({whole.begin(), whole.begin() + static_cast<long>(size)});
    for (size_t at = 0; at < whole.size(); ++at)
      for (const unsigned char mask : {0x01, 0x80, 0xff}) {
        std::vector<char> flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ mask);
        read(flipped);
      }
  }
}

} // namespace ptxrun::tests
