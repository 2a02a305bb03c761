#include "loader/ptxrun/replay_report.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "loader/ptxrun/errors.h"
#include "translate/check/checked_module.h"
#include "translate/support/hex.h"

extern "C" char **environ;

namespace ptxrun::command {

namespace {

using support::hex;
namespace fs = std::filesystem;

std::string lineOf(const std::string &text, uint32_t number) {
  size_t at = 0;
  for (uint32_t line = 1; line < number && at != std::string::npos; ++line) {
    at = text.find('\n', at);
    at = at == std::string::npos ? at : at + 1;
  }
  if (at == std::string::npos)
    return {};
  const size_t first = text.find_first_not_of(" \t", at);
  return first == std::string::npos ? "" : text.substr(first, text.find('\n', first) - first);
}

/// Runs this program again with these arguments, without what the environment forces; its exit
/// status, its output.
int runAgain(const std::vector<std::string> &arguments, std::string &output) {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  std::vector<char *> words{const_cast<char *>("ptxrun")};
  for (const std::string &word : arguments)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char *> environment;
  for (char **entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "PTXRUN_LANES=", 13) != 0 &&
        std::strncmp(*entry, "PTXRUN_SCHEDULE=", 16) != 0)
      environment.push_back(*entry);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[4096];
  for (ssize_t got; !failed && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool covers(const rt::ScheduleAccess &access, uint64_t address) {
  return !access.isShared && address - access.address < access.bytes;
}

} // namespace

std::string describePlace(const device::Module &module, const std::string &text, uint32_t ptxLine) {
  std::string place = module.name() + ":" + std::to_string(ptxLine);
  const check::Module &checked = module.checked();
  for (const check::Function *function : checked.functions)
    for (const check::Instruction &instruction : function->body)
      if (instruction.line == ptxLine && instruction.location != 0) {
        const check::Location &location = checked.locations[instruction.location];
        if (location.file < checked.files.size()) {
          place += " (" + std::string(checked.files[location.file]) + ":" +
                   std::to_string(location.line) + ")";
          return place + ": " + lineOf(text, ptxLine);
        }
      }
  return place + ": " + lineOf(text, ptxLine);
}

std::string describeThread(rt::GangPlace place, abi::Dim3 grid, abi::Dim3 block) {
  const auto coordinates = [](uint64_t linear, abi::Dim3 shape) {
    const uint64_t x = std::max(shape.x, 1u), y = std::max(shape.y, 1u);
    return "(" + std::to_string(linear % x) + "," + std::to_string(linear / x % y) + "," +
           std::to_string(linear / x / y) + ")";
  };
  return "thread " + coordinates(place.thread, block) + " of block " +
         coordinates(place.block, grid);
}

ReferenceMemory::ReferenceMemory(const std::string &file, uint64_t number, std::string &problem) {
  char folder[] = "/tmp/ptxrun-replay-XXXXXX";
  if (!mkdtemp(folder)) {
    problem = "no folder for it can be made";
    return;
  }
  folder_ = folder;
  std::string output;
  if (runAgain({"replay", file, "--from", std::to_string(number), "--to", std::to_string(number),
                "--dump-memory", folder_, "--quiet", "--plain"},
               output) != 0)
    problem = "with the recorded settings it differs as well";
}

ReferenceMemory::~ReferenceMemory() {
  std::error_code ignored;
  if (!folder_.empty())
    fs::remove_all(folder_, ignored);
}

std::optional<ReferenceMemory::Difference>
ReferenceMemory::firstDifference(const capture::MemoryTable &memory, uint64_t from) const {
  for (const auto &[base, range] : memory.ranges) {
    if (base + range.bytes <= from)
      continue;
    std::ifstream file(fs::path(folder_) / (hex(base) + ".bin"), std::ios::binary);
    const std::string expected{std::istreambuf_iterator<char>(file), {}};
    if (expected.size() != range.bytes)
      continue;
    const auto *found = reinterpret_cast<const char *>(base);
    for (uint64_t i = from > base ? from - base : 0; i < range.bytes; ++i)
      if (expected[i] != found[i])
        return Difference{base + i, static_cast<uint8_t>(expected[i]),
                          static_cast<uint8_t>(found[i])};
  }
  return std::nullopt;
}

std::string findLastWrite(const std::string &file, uint64_t number, uint64_t address,
                          const std::vector<std::string> &arguments) {
  std::vector<std::string> all{"replay",       file,
                               "--from",       std::to_string(number),
                               "--to",         std::to_string(number),
                               "--last-write", hex(address),
                               "--quiet",      "--plain"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::string output;
  runAgain(all, output);
  while (output.ends_with('\n'))
    output.pop_back();
  return output;
}

std::string lastWrite(const rt::ScheduleRecord &record, uint64_t address,
                      const device::Module &module, const std::string &text,
                      const capture::LaunchEvent &event) {
  for (auto access = record.accesses.rbegin(); access != record.accesses.rend(); ++access)
    if (access->kind != abi::AccessKind::load && covers(*access, address))
      return "written by " + describeThread(access->at, event.grid, event.block) + " at " +
             describePlace(module, text, access->line);
  return {};
}

void dumpMemory(const capture::MemoryTable &memory, const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  for (const auto &[base, range] : memory.ranges) {
    std::ofstream file(fs::path(folder) / (hex(base) + ".bin"), std::ios::binary);
    file.write(reinterpret_cast<const char *>(base), static_cast<std::streamsize>(range.bytes));
    if (!file)
      throw Failed("cannot write to " + folder);
  }
}

namespace {
std::vector<std::string> ownCommandLine() {
  std::vector<std::string> words;
  std::FILE *file = std::fopen("/proc/self/cmdline", "rb");
  std::string word;
  for (int c; file && (c = std::fgetc(file)) != EOF;) {
    if (c)
      word.push_back(static_cast<char>(c));
    else
      words.push_back(std::exchange(word, {}));
  }
  if (file)
    std::fclose(file);
  return words;
}
} // namespace

void startAgain() {
  constexpr const char *kTurn = "PTXRUN_REPLAY_TURN";
  const char *before = std::getenv(kTurn);
  const int turn = before ? std::atoi(before) : 0;
  if (turn >= 8)
    return;
  setenv(kTurn, std::to_string(turn + 1).c_str(), 1);
  std::vector<char *> words;
  for (const std::string &word : ownCommandLine())
    words.push_back(strdup(word.c_str()));
  words.push_back(nullptr);
  execv("/proc/self/exe", words.data());
}

} // namespace ptxrun::command
