// Passes one by one: PASS/NAME.ll is a LaneModule whose kernel is @k, PASS/NAME.golden what the
// pass leaves behind (functions with bodies). Optional passes but the one in question are left out.
//
//   simt_golden FOLDER [--update] [NAME...]
//
// The first line of a case says how it is run:
//   ; lanes=32 block=256,1,1 cpu=avx512 with=versions joined=2,1,1
#include <llvm/ADT/StringExtras.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "translate/lower/lane_module.h"
#include "translate/simt/gang_module.h"

namespace {

using namespace ptxrun;
namespace fs = std::filesystem;

std::string read(const fs::path &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Options from the first line; what is wrong with it in `problem`.
CodeOptions optionsOf(llvm::StringRef text, llvm::StringRef pass, std::string &problem) {
  CodeOptions options;
  std::string passes = "-all,+" + pass.str();
  llvm::SmallVector<llvm::StringRef> words;
  text.take_until([](char c) { return c == '\n'; }).ltrim("; ").split(words, ' ', -1, false);
  for (llvm::StringRef word : words) {
    const auto [name, value] = word.split('=');
    if (name == "lanes" && !value.getAsInteger(10, options.lanes))
      continue;
    if (name == "block" || name == "joined") {
      BlockShape &shape = name == "block" ? options.block : options.joinedCtas;
      llvm::SmallVector<llvm::StringRef> sizes;
      value.split(sizes, ',');
      for (size_t axis = 0; axis < std::min<size_t>(3, sizes.size()); ++axis)
        sizes[axis].getAsInteger(10, shape[axis]);
      continue;
    }
    if (name == "with") {
      passes += ",+" + value.str();
      continue;
    }
    if (name == "cpu" && (value == "sse4" || value == "avx2" || value == "avx512")) {
      options.level = value == "sse4"   ? CpuLevel::sse4
                      : value == "avx2" ? CpuLevel::avx2
                                        : CpuLevel::avx512;
      continue;
    }
    problem = "the first line: " + word.str();
  }
  const std::string wrong = simt::readPasses(passes, options.passesLeftOut);
  if (problem.empty())
    problem = wrong;
  return options;
}

/// What `pass` leaves behind; or what went wrong.
std::string behind(llvm::StringRef pass, const std::string &text, bool &isGood) {
  isGood = false;
  std::string problem;
  const CodeOptions options = optionsOf(text, pass, problem);
  if (!problem.empty())
    return problem;
  lower::LaneModule lane;
  lane.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic error;
  lane.module = llvm::parseAssemblyString("target datalayout = \"" +
                                              std::string(lower::kLaneDataLayout) + "\"\n" + text,
                                          error, *lane.context);
  if (!lane.module)
    return error.getMessage().str() + " in line " + std::to_string(error.getLineNo() - 1);
  lane.kernel = lane.module->getFunction("k");
  std::string printed;
  auto observe = [&](const simt::PassInfo &info, const llvm::Module &m) {
    if (info.name != std::string_view(pass))
      return;
    llvm::raw_string_ostream out(printed);
    for (const llvm::Function &f : m)
      if (!f.isDeclaration())
        f.print(out);
  };
  llvm::Expected<simt::GangModule> gang = simt::widen(std::move(lane), options, observe);
  if (!gang)
    return llvm::toString(gang.takeError());
  isGood = !printed.empty();
  return isGood ? printed : "the pass did not run";
}

/// The first line in which two texts differ.
std::string difference(const std::string &expected, const std::string &found) {
  std::istringstream a(expected), b(found);
  std::string x, y;
  for (unsigned line = 1;; ++line) {
    const bool isMore = bool(std::getline(a, x)), isAlso = bool(std::getline(b, y));
    if (isMore != isAlso || x != y)
      return "line " + std::to_string(line) + "\n  expected: " + (isMore ? x : "(end)") +
             "\n  found:    " + (isAlso ? y : "(end)");
    if (!isMore)
      return "";
  }
}

} // namespace

int main(int argc, char **argv) {
  const fs::path folder = argc > 1 ? argv[1] : ".";
  bool isUpdate = false;
  std::vector<std::string> wanted;
  for (int n = 2; n < argc; ++n)
    if (argv[n] == std::string_view("--update"))
      isUpdate = true;
    else
      wanted.emplace_back(argv[n]);
  std::vector<fs::path> cases;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ll")
      cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  unsigned failed = 0, ran = 0;
  for (const fs::path &path : cases) {
    const std::string pass = path.parent_path().filename(), name = path.stem();
    if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end())
      continue;
    ++ran;
    fs::path golden = path;
    golden.replace_extension(".golden");
    bool isGood;
    const std::string found = behind(pass, read(path), isGood);
    if (isGood && isUpdate) {
      std::ofstream(golden) << found;
      continue;
    }
    const std::string what = isGood ? difference(read(golden), found) : found;
    if (what.empty())
      continue;
    ++failed;
    llvm::errs() << pass << "/" << name << ": " << what << "\n";
  }
  llvm::errs() << ran - failed << " of " << ran << " cases as they were\n";
  return failed || !ran ? 1 : 0;
}
