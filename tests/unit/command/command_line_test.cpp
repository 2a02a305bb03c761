// The command as a user calls it: exit codes and messages.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/driver/elf_writer.h"
#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/kernels.h"

namespace ptxrun::command {
namespace {

struct Outcome {
  int exitCode;
  std::string text; ///< standard output and error together
};

/// `line` by the shell, of which the command is the last.
Outcome shell(const std::string &line) {
  std::FILE *pipe = popen(line.c_str(), "r");
  Outcome outcome{-1, ""};
  std::array<char, 4096> block;
  for (size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
    outcome.text.append(block.data(), got);
  int status = pclose(pipe);
  outcome.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}
Outcome call(const std::string &arguments) {
  return shell(std::string(PTXRUN_COMMAND) + " " + arguments + " 2>&1");
}

const std::string kSamples = PTXRUN_SAMPLES;

bool has(const Outcome &outcome, const std::string &text) {
  return outcome.text.find(text) != std::string::npos;
}

class Scratch : public testing::Test {
 protected:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("command_test_" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string &name, const std::string &text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
};
class Mistakes : public Scratch {};
class RunCommand : public Scratch {};
class VerifyCommand : public Scratch {};

TEST(CommandLine, HelpIsThereAndMistakesExitWithTwo) {
  Outcome help = call("--help");
  EXPECT_EQ(help.exitCode, 0);
  for (const char *word :
       {"run", "inspect", "verify", "isa", "version", "help", "Exit codes", "PTXRUN_CPU"})
    EXPECT_TRUE(has(help, word)) << word;
  EXPECT_EQ(call("run --help").exitCode, 0);
  Outcome typo = call("inspekt");
  EXPECT_EQ(typo.exitCode, 2);
  EXPECT_TRUE(has(typo, "there is no command 'inspekt'; did you mean 'inspect'?")) << typo.text;
  typo = call("capture inf x.rec");
  EXPECT_EQ(typo.exitCode, 2);
  EXPECT_TRUE(has(typo, "there is no command 'capture inf'; did you mean 'capture info'?"))
      << typo.text;
  EXPECT_EQ(call("").exitCode, 2);
  EXPECT_EQ(call("walk").exitCode, 2);
  EXPECT_EQ(call("run").exitCode, 2);
  EXPECT_EQ(call("run --lanes 7 " + kSamples + "/saxpy.ptx").exitCode, 2);
  Outcome tiers = call("run --tiers fast " + kSamples + "/saxpy.ptx");
  EXPECT_EQ(tiers.exitCode, 2);
  EXPECT_TRUE(has(tiers, "--tiers takes optimised, baseline or tiered, not 'fast'"));
  EXPECT_EQ(call("verify").exitCode, 2);
  EXPECT_EQ(call("version").exitCode, 0);
}

TEST(CommandLine, WrongOptionsAreNamedWithTheNearestRightOne) {
  const std::string saxpy = " " + kSamples + "/saxpy.ptx";
  for (const auto &[line, message] : std::initializer_list<std::pair<std::string, std::string>>{
           {"run" + saxpy + " --grdi 4", "run has no option '--grdi'; did you mean '--grid'?"},
           {"run" + saxpy + " --blok=256", "run has no option '--blok'; did you mean '--block'?"},
           {"isa --jsno", "isa has no option '--jsno'; did you mean '--json'?"},
           {"exec --sumary ./x", "exec has no option '--sumary'; did you mean '--summary'?"},
           {"run" + saxpy + " --frobnicate", "run has no option '--frobnicate'\nptxrun run --help"},
           {"version now", "version does not take 'now'; ptxrun version --help"}}) {
    const Outcome outcome = call(line);
    EXPECT_EQ(outcome.exitCode, 2) << line;
    EXPECT_TRUE(has(outcome, message)) << line << "\n" << outcome.text;
  }
}

TEST_F(Mistakes, FilesThatAreNotThereAreNamedWithTheNearestOne) {
  const std::string ptx = file("scale.ptx", "text"), input = file("input.npy", "");
  const std::string folder = folder_.string();
  for (const auto &[line, message] : std::initializer_list<std::pair<std::string, std::string>>{
           {"run " + folder + "/scael.ptx", "did you mean " + ptx + "?"},
           {"inspect " + folder + "/scale.pxt", "did you mean " + ptx + "?"},
           {"verify " + folder + "/scale.pt", "did you mean " + ptx + "?"},
           {"exec " + folder + "/scale.px", "did you mean " + ptx + "?"},
           {"run " + kSamples + "/saxpy.ptx --grid 1 --block 32 --arg 1 --arg 2 --arg " + folder +
                "/inptu.npy --arg 'f32[1]:zero'",
            "did you mean " + input + "?"},
           {"run /no/such/folder/scale.ptx", "there is no folder /no/such/folder"},
           {"run " + kSamples +
                "/saxpy.ptx --grid 1 --block 32 --arg 1 --arg 2 --arg "
                "'f32[1]:iotta' --arg 'f32[1]:zero'",
            "'iotta' is no generator; did you mean 'iota'?"},
           {"run " + ptx, "is no PTX: there is neither .version nor .entry in it"}}) {
    const Outcome outcome = call(line);
    EXPECT_EQ(outcome.exitCode, 2) << line;
    EXPECT_TRUE(has(outcome, message)) << line << "\n" << outcome.text;
  }
}

TEST_F(RunCommand, TakesArgumentsFromTheCommandLine) {
  Outcome outcome = call("run " + kSamples +
                         "/saxpy.ptx --kernel saxpy --grid 1 --block 32 --arg 5 --arg 2.0 --arg "
                         "f32[5]:iota --arg print:f32[5]:fill:1");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  EXPECT_TRUE(has(outcome, "[1, 3, 5, 7, 9]")) << outcome.text;
}

TEST_F(RunCommand, WritesOutputsBack) {
  std::string y = (folder_ / "y.npy").string();
  std::string rest = " --block 32 --arg 4 --arg 2.0 --arg f32[4]:iota --arg ";
  Outcome first = call("run " + kSamples + "/saxpy.ptx" + rest + "out:" + y + "=f32[4]:fill:1");
  EXPECT_EQ(first.exitCode, 0) << first.text;
  Outcome second = call("run " + kSamples + "/saxpy.ptx" + rest + "inout:" + y);
  EXPECT_EQ(second.exitCode, 0) << second.text;
  Outcome third = call("run " + kSamples + "/saxpy.ptx" + rest + "print:" + y);
  EXPECT_TRUE(has(third, "[1, 7, 13, 19]")) << third.text;
}

TEST_F(RunCommand, BuffersWithNamesAreSharedByArguments) {
  Outcome outcome = call(
      "run " + kSamples +
      "/saxpy.ptx --block 32 --buffer v=print:f32[8]:iota --arg 4 --arg 1.0 --arg v+16 --arg v");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  EXPECT_TRUE(has(outcome, "[4, 6, 8, 10, 4, 5, 6, 7]")) << outcome.text;
}

TEST_F(RunCommand, SaysWhatToDo) {
  Outcome unknown = call("run " + kSamples + "/saxpy.ptx --kernel saxpi");
  EXPECT_EQ(unknown.exitCode, 2);
  EXPECT_TRUE(has(unknown, "did you mean 'saxpy'?")) << unknown.text;
  Outcome which = call("run " + kSamples + "/scan.ptx");
  EXPECT_EQ(which.exitCode, 2);
  EXPECT_TRUE(has(which, "scanTotals(")) << which.text;
  Outcome few = call("run " + kSamples + "/saxpy.ptx --arg 3");
  EXPECT_EQ(few.exitCode, 2);
  EXPECT_TRUE(has(few, "takes 4 arguments, 1 are given")) << few.text;
  EXPECT_EQ(call("run nothing.ptx").exitCode, 2);
  Outcome stage = call("run " + kSamples + "/saxpy.ptx --stop-after widen");
  EXPECT_EQ(stage.exitCode, 2);
}

TEST_F(RunCommand, RefusesWhatTheDriverRefuses) {
  const std::string empty =
      file("empty.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                        "ret;\n}\n.visible .entry few() .maxntid 64 { ret; }\n"
                        ".visible .entry exact() .reqntid 8, 4 { ret; }\n");
  const auto run = [&](const std::string &options) { return call("run " + empty + options); };
  // The CUDA C++ Programming Guide's table of technical specifications.
  EXPECT_EQ(run(" -k k -g 1,65535,1 -b 1024").exitCode, 0);
  EXPECT_EQ(run(" -k k -b 16,1,64").exitCode, 0);
  EXPECT_EQ(run(" -k k -g 16 --cluster 16").exitCode, 0);
  EXPECT_EQ(run(" -k k -s 232448").exitCode, 0);
  EXPECT_EQ(run(" -k exact -b 8,4").exitCode, 0);
  const std::pair<const char *, const char *> refused[] = {
      {" -k k -g 2147483648", "2147483647 in x"},
      {" -k k -g 4294967296", "2147483647 blocks in x"},
      {" -k k -g 1,65536", "65535 in y and z"},
      {" -k k -g 1,1,65536", "65535 in y and z"},
      {" -k k -b 1025", "at most 1024 together"},
      {" -k k -b 1,1,65", "64 in z"},
      {" -k k -b 512,4", "at most 1024 together"},
      {" -k k -b 0", "at least 1"},
      {" -k few -b 65", ".maxntid 64 x 1 x 1"},
      {" -k exact -b 4,8", ".reqntid 8 x 4 x 1"},
      {" -k k -g 17 --cluster 17", "1 to 16 blocks"},
      {" -k k -g 3 --cluster 2", "a multiple of the cluster"},
      {" -k k --cluster 99999999999999999999", "--cluster"},
      {" -k k -s 232449", "a block has at most 232448"},
  };
  for (const auto &[options, message] : refused) {
    const Outcome outcome = run(options);
    EXPECT_TRUE(outcome.exitCode == 1 || outcome.exitCode == 2) << options << ": " << outcome.text;
    EXPECT_TRUE(has(outcome, message)) << options << ": " << outcome.text;
  }
  const Outcome described =
      call("run " +
           file("l.toml", "module = 'empty.ptx'\n[[launch]]\nkernel = 'k'\nblock = [1, 1, 65]\n"));
  EXPECT_EQ(described.exitCode, 1);
  EXPECT_TRUE(has(described, "64 in z")) << described.text;
}

TEST_F(RunCommand, StopsAfterTheStagesOfModulesWithoutKernels) {
  const std::string library = file("library.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"
                                                  ".visible .func f() { ret; }\n");
  for (const char *stage : {"parse", "check"}) {
    const Outcome outcome = call("run " + library + " --stop-after " + stage);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
    EXPECT_TRUE(has(outcome, std::string("stopped after ") + stage)) << outcome.text;
  }
  EXPECT_EQ(call("run " + library + " --stop-after lower").exitCode, 2);
  // What cannot be compiled can be checked.
  const std::string unsupported =
      file("external.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func g();\n"
                           ".visible .entry k() { call g; ret; }\n");
  EXPECT_EQ(call("run " + unsupported + " --stop-after check").exitCode, 0);
  EXPECT_NE(call("run " + unsupported + " --stop-after jit").exitCode, 0);
}

TEST_F(RunCommand, DescriptionsCheckTheirResults) {
  EXPECT_EQ(call("run " + kSamples + "/saxpy.toml").exitCode, 0);
  std::string wrong =
      file("wrong.toml", "module = '" + kSamples +
                             "/saxpy.ptx'\n[buffers]\nx = 'f32[8]:iota'\ny = 'f32[8]'\n"
                             "[[launch]]\nblock = 8\narguments = [8, 2.0, 'x', "
                             "'y']\n[[expect]]\nbuffer = 'y'\nvalue = '2 * x[i] + (i == 3)'\n");
  Outcome outcome = call("run " + wrong);
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_TRUE(has(outcome, "y: 1 of 8 values differ\n    [3] is 6, expected 7")) << outcome.text;
}

TEST_F(VerifyCommand, EndsWithWhatHasNoEnd) {
  const Outcome zeros = call("verify /dev/zero");
  EXPECT_EQ(zeros.exitCode, 2);
  EXPECT_TRUE(has(zeros, "not text")) << zeros.text;
  const std::string pipe = (folder_ / "pipe").string();
  const Outcome lines = shell("mkfifo " + pipe + " && { yes '// nothing' > " + pipe + " & } ; " +
                              std::string(PTXRUN_COMMAND) + " verify " + pipe + " 2>&1");
  EXPECT_EQ(lines.exitCode, 2);
  EXPECT_TRUE(has(lines, "is there an end to it?")) << lines.text;
  EXPECT_EQ(call("verify " + folder_.string()).exitCode, 2);
  EXPECT_EQ(call("run " + pipe + ".toml").exitCode, 2);
}

// Where no instruction loads bytes under a mask, rows are read by code that has no line of its own.
// One worker: a block that lies all beyond the end reads its rows whole, and where LLVM divides
// such a load, each part has the line of its use.
TEST_F(RunCommand, FaultsOfRowsUnderAMaskHaveTheirLine) {
  const std::string kernel = file("rows.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 in, .param .u64 out) {
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %d<5>;
  .reg .b16 %h;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 256, %r1;
  and.b32 %r3, %r1, 3;
  setp.eq.u32 %p, %r3, 1;
  @%p bra END;
  cvt.u64.u32 %d3, %r1;
  add.u64 %d4, %d1, %d3;
  ld.global.u8 %h, [%d4+5];
  add.u64 %d4, %d2, %d3;
  st.global.u8 [%d4], %h;
END:
  ret;
})");
  for (const char *level : {"sse4", "avx2", "avx512"})
    for (const char *tiers : {"baseline", "optimised"}) {
      const Outcome outcome =
          shell(std::string("OMP_NUM_THREADS=1 PTXRUN_GUARD=exact PTXRUN_CPU=") + level + " " +
                PTXRUN_COMMAND + " run " + kernel +
                " --grid 64 --block 256 --arg u8[5000] --arg u8[65536] --tiers " + tiers + " 2>&1");
      EXPECT_EQ(outcome.exitCode, 1) << outcome.text;
      EXPECT_TRUE(has(outcome, "illegal address: read at") && has(outcome, "rows.ptx:19"))
          << level << ", " << tiers << ": " << outcome.text;
    }
}

TEST_F(RunCommand, TimesEachStage) {
  Outcome outcome = call("run " + kSamples + "/saxpy.toml --time --no-cache");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  for (const char *stage :
       {"stages: parse ", ", check ", ", lower ", ", simt ", ", jit ", ", load "})
    EXPECT_TRUE(has(outcome, stage)) << outcome.text;
  Outcome stopped = call("run " + kSamples + "/saxpy.toml --time --no-cache --stop-after simt");
  EXPECT_TRUE(has(stopped, ", simt ") && !has(stopped, ", jit ")) << stopped.text;
}

TEST_F(RunCommand, EndlessKernelsEndAtTheTimeout) {
  std::string endless = file("endless.ptx", ".version 8.0\n.target sm_80\n.address_size "
                                            "64\n.visible .entry endless()\n{\nL: bra L;\n}\n");
  Outcome outcome = call("run " + endless + " --timeout 0.3");
  EXPECT_EQ(outcome.exitCode, 3) << outcome.text;
  Outcome interrupted = call("run " + endless + " & sleep 0.5; kill -INT $!; wait $!");
  EXPECT_EQ(interrupted.exitCode, 130) << interrupted.text;
}

// libomp names a shared file after the process; one of a killed process with the same number may
// be there, without its text.
TEST_F(RunCommand, HalfRegistrationsOfKilledProcessesDoNoHarm) {
  for (const char *content : {":", "head -c 1024 /dev/zero"}) {
    const std::string file = "/dev/shm/__KMP_REGISTERED_LIB_$$_$(id -u)";
    Outcome outcome = shell(std::string(content) + " > " + file + "; exec 2>&1 " + PTXRUN_COMMAND +
                            " run " + kSamples + "/saxpy.toml");
    EXPECT_EQ(outcome.exitCode, 0) << content << ": " << outcome.text;
  }
}

TEST_F(RunCommand, StopsAfterAStageAndDumps) {
  Outcome outcome = call("run " + kSamples + "/saxpy.ptx --stop-after lower --dump " +
                         (folder_ / "dump").string());
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "dump" / "manifest.tsv"));
}

TEST(Isa, ListsEveryForm) {
  auto json = nlohmann::json::parse(call("isa --json").text, nullptr, false);
  ASSERT_TRUE(json.is_array());
  EXPECT_GT(json.size(), 500u);
  for (const auto &form : json) {
    for (const char *key : {"instruction", "form", "section", "since"})
      EXPECT_TRUE(form[key].is_string()) << form;
    EXPECT_TRUE(form["executed"].is_boolean() && form["tested"].is_boolean()) << form;
  }
  Outcome table = call("isa");
  EXPECT_EQ(table.exitCode, 0);
  for (const char *word : {"family", "parsed", "executed", "tested", "total"})
    EXPECT_TRUE(has(table, word)) << table.text;
  EXPECT_TRUE(has(call("isa popc"), "popc"));
}

TEST(Inspect, ListsKernelsWithLanesAndReasons) {
  Outcome outcome = call("inspect " + kSamples + "/scan.ptx");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  for (const char *word : {"scanBlocks  (", "scanTotals  (", ".u64", "lanes", "shared memory"})
    EXPECT_TRUE(has(outcome, word)) << outcome.text;
  auto json =
      nlohmann::json::parse(call("inspect --json " + kSamples + "/scan.ptx").text, nullptr, false);
  ASSERT_TRUE(json.is_array());
  EXPECT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["parameters"].size(), 4u);
}

class InspectProgram : public Scratch {
 protected:
  std::string binary(const std::string &name, const std::vector<char> &bytes) {
    return file(name, {bytes.begin(), bytes.end()});
  }
  /// With the runtime inside, if there are bytes of a fat binary.
  std::string program(const std::string &name, const std::vector<char> &fatBinary) {
    tests::ElfWriter elf(ET_EXEC, EM_X86_64);
    elf.add(".text", SHT_PROGBITS, {0}); // symbols below are in section 1
    if (!fatBinary.empty())
      elf.add(".nv_fatbin", SHT_PROGBITS, fatBinary);
    for (const char *function : {"cudaLaunchKernel", "cudaLibraryLoadData"})
      elf.symbol(function, STT_FUNC, STB_LOCAL, 1);
    return binary(name, elf.bytes());
  }
};

TEST_F(InspectProgram, ListsCodeKernelsAndTheCommandThatRunsIt) {
  const std::string path = program(
      "app", tests::FatBinary().add(1, 75, tests::kSmall, tests::kZstd).add(8, 90, "bits").bytes());
  Outcome outcome = call("inspect " + path);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  for (const std::string &line :
       {path + ": executable", std::string("static: NVIDIA's runtime is inside"),
        std::string("PTX          compute_75, ISA 8.0, "), std::string("LTO-IR       sm_90"),
        std::string("    store  W = "), "to run         ptxrun exec " + path + "\n"})
    EXPECT_TRUE(has(outcome, line)) << line << " in\n" << outcome.text;
  Outcome one = call("inspect --kernel store " + path);
  EXPECT_EQ(one.exitCode, 0);
  EXPECT_TRUE(has(one, "store  (" + path + ":")) << one.text;
  EXPECT_EQ(call("inspect --kernel nothing " + path).exitCode, 2);
  auto json = nlohmann::json::parse(call("inspect --json " + path).text, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["kind"], "executable");
  EXPECT_EQ(json["runtime"], "static");
  EXPECT_EQ(json["runs"], true);
  EXPECT_EQ(json["fatBinaries"][0]["entries"][0]["compression"], "zstd");
  EXPECT_EQ(json["fatBinaries"][0]["entries"][0]["version"], "8.0");
  EXPECT_GE(json["kernels"].size(), 2u);
  EXPECT_TRUE(json["kernels"][0]["lanes"].is_number());
}

TEST_F(InspectProgram, SaysWhyItCannotRunAndExitsWithOne) {
  Outcome code = call("inspect " + program("code", tests::FatBinary().add(2, 86, "cubin").bytes()));
  EXPECT_EQ(code.exitCode, 1);
  EXPECT_TRUE(has(code, "to run         not possible: it holds only machine code for sm_86"))
      << code.text;
  EXPECT_TRUE(has(code, "-gencode=arch=compute_86,code=compute_86")) << code.text;
  Outcome none = call("inspect " + program("none", {}));
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_TRUE(
      has(none,
          "it holds no code for a device itself; where it or its libraries load some: ptxrun exec"))
      << none.text;
  std::vector<char> whole = tests::FatBinary().add(1, 75, tests::kSmall).bytes();
  whole.resize(whole.size() / 2);
  Outcome half = call("inspect " + binary("half.fatbin", whole));
  EXPECT_EQ(half.exitCode, 1);
  EXPECT_TRUE(has(half, "half.fatbin: broken fat binary: it is longer than the data")) << half.text;
  Outcome picture = call("inspect " + file("picture.png", "\x89PNG\r\n"));
  EXPECT_EQ(picture.exitCode, 1);
  EXPECT_TRUE(has(picture, "neither PTX text nor a fat binary nor an ELF file")) << picture.text;
  Outcome bad = call(
      "inspect " + program("bad", tests::FatBinary().add(1, 75, ".version 8.0\nnonsense").bytes()));
  EXPECT_EQ(bad.exitCode, 1);
  EXPECT_TRUE(has(bad, "PTX that is not accepted:")) << bad.text;
}

TEST_F(InspectProgram, StaysShortWithHundredsOfKernels) {
  std::string text = ".version 8.0\n.target sm_70\n.address_size 64\n";
  for (int i = 0; i < 300; ++i)
    text += ".visible .entry k" + std::to_string(i) + "()\n{\nret;\n}\n";
  const std::string path = program("many", tests::FatBinary().add(1, 70, text).bytes());
  Outcome outcome = call("inspect " + path);
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  EXPECT_TRUE(has(outcome, "kernels of its PTX: 300\n")) << outcome.text;
  EXPECT_TRUE(has(outcome, "and 276 more")) << outcome.text;
  EXPECT_LT(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 40);
}

TEST_F(RunCommand, SummarisesWhereAsked) {
  Outcome outcome = call("run --summary " + kSamples + "/saxpy.toml");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.text;
  EXPECT_TRUE(has(outcome, "ptxrun: summary of ")) << outcome.text;
  EXPECT_TRUE(has(outcome, "  saxpy\n")) << outcome.text;
  EXPECT_TRUE(has(outcome, "modules loaded: 1 in ")) << outcome.text;
}

TEST_F(VerifyCommand, JsonHasEachDiagnosticWithItsPlace) {
  const std::string bad =
      file("bad.ptx",
           ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ad.s32 %r1, 1, 2; }\n");
  const Outcome outcome = call("verify --json " + bad);
  EXPECT_EQ(outcome.exitCode, 1);
  const auto json = nlohmann::json::parse(outcome.text, nullptr, false);
  ASSERT_TRUE(json.is_array() && json.size() == 1) << outcome.text;
  EXPECT_EQ(json[0]["file"], bad);
  EXPECT_EQ(json[0]["ok"], false);
  EXPECT_EQ(json[0]["complete"], true);
  const auto &first = json[0]["diagnostics"].at(0);
  EXPECT_EQ(first["line"], 4);
  EXPECT_EQ(first["column"], 21);
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["message"], "'%r1' is not declared");
  const std::string text = first["text"];
  EXPECT_TRUE(
      text.starts_with(bad + ":4:21: error: '%r1' is not declared\n  .entry k() { ad.s32 %r1"))
      << text;
}

TEST_F(VerifyCommand, PrintsALinePerFileAndExitsWithOneIfAnyIsRejected) {
  std::string good = kSamples + "/saxpy.ptx",
              bad = file("bad.ptx",
                         ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  "
                         ".reg .b32 %r;\n  add.q32 %r, %r, 1;\n  mov.u32 %s, 1;\n  ret;\n}\n");
  Outcome accepted = call("verify " + good);
  EXPECT_EQ(accepted.exitCode, 0);
  EXPECT_EQ(accepted.text, good + ": ok\n");
  Outcome rejected = call("verify " + bad + " " + good);
  EXPECT_EQ(rejected.exitCode, 1);
  EXPECT_TRUE(has(rejected, bad + ":7:")) << rejected.text;
  EXPECT_TRUE(has(rejected, bad + ":8:")) << "all errors in one pass: " << rejected.text;
  EXPECT_TRUE(has(rejected, good + ": ok\n"));
  auto json = nlohmann::json::parse(call("verify --json " + bad + " " + good).text, nullptr, false);
  ASSERT_TRUE(json.is_array());
  EXPECT_EQ(json[0]["ok"], false);
  EXPECT_EQ(json[0]["diagnostics"][0]["line"], 7);
  EXPECT_EQ(json[0]["diagnostics"][0]["severity"], "error");
  EXPECT_EQ(json[1]["ok"], true);
  EXPECT_EQ(call("verify nothing.ptx").exitCode, 2);
}

} // namespace
} // namespace ptxrun::command
