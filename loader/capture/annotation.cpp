// Who recorded what, where, with which settings.
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "loader/capture/recorder.h"
#include "translate/translate.h"

extern "C" char **environ;

namespace ptxrun::capture {

namespace {

std::vector<std::string> commandLine() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');)
    words.push_back(word);
  return words;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown";
}

nlohmann::json ourEnvironment() {
  nlohmann::json ours = nlohmann::json::object();
  for (char **entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != text.npos && (text.starts_with("PTXRUN_") || text.starts_with("CUDA_") ||
                                text.starts_with("OMP_NUM_THREADS=")))
      ours[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  return ours;
}

std::string now() {
  char text[32];
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

} // namespace

void Recorder::writeAnnotation() {
  static constexpr const char *levels[] = {"sse4", "avx2", "avx512"};
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  nlohmann::json all;
  all["tool"] = "ptxrun " PTXRUN_VERSION;
  all["host"] = host;
  all["processor"] = processor();
  all["level"] = levels[static_cast<int>(translate::cpuLevel())];
  all["cores"] = std::thread::hardware_concurrency();
  all["time"] = now();
  all["command"] = commandLine();
  all["environment"] = ourEnvironment();
  all["options"] = {{"kernel", options_.kernel}, {"trigger", options_.trigger}};
  write(BlockType::annotation, all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

} // namespace ptxrun::capture
