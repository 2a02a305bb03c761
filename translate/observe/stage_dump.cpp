#include "translate/observe/stage_dump.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

namespace ptxrun::observe {

namespace fs = std::filesystem;

namespace {

constexpr const char *kManifest = "manifest.tsv";

/// DIR for the process's first module, DIR/2, DIR/3, ... for the next.
fs::path nextDirectory(const std::string &directory) {
  static std::mutex mutex;
  static std::map<fs::path, unsigned> modules;
  std::lock_guard lock(mutex);
  const fs::path path = fs::absolute(directory).lexically_normal();
  const unsigned number = ++modules[path];
  return number == 1 ? path : path / std::to_string(number);
}

}  // namespace

std::unique_ptr<StageDump> StageDump::create(const std::string &directory, std::string &error) {
  const fs::path path = nextDirectory(directory);
  std::error_code code;
  fs::create_directories(path, code);
  std::ofstream manifest(path / kManifest, std::ios::trunc);
  manifest << "file\tstage\tsubject\tmilliseconds\tbytes\n";
  manifest.flush();
  if (!manifest) {
    error = "cannot write to the dump directory '" + path.string() + "'" + (code ? ": " + code.message() : "");
    return nullptr;
  }
  return std::unique_ptr<StageDump>(new StageDump(path.string()));
}

void StageDump::write(std::string_view stage, std::string_view product, std::string_view subject, double milliseconds,
                      std::string_view text) {
  std::lock_guard lock(mutex_);
  const std::string_view extension = product.substr(product.rfind('.') + 1);
  std::string &last = lastText_[std::string(subject) + "." + std::string(extension)];
  char number[16];
  std::snprintf(number, sizeof number, "%02u-", count_++);
  std::string file = number + std::string(product);
  if (!last.empty() && last == text)
    file = "(unchanged)";
  else
    std::ofstream(fs::path(directory_) / file, std::ios::binary) << text;
  last = text;
  char time[32];
  std::snprintf(time, sizeof time, "%.3f", milliseconds);
  appendToManifest(file + "\t" + std::string(stage) + "\t" + std::string(subject) + "\t" + time + "\t" +
                   std::to_string(text.size()) + "\n");
}

void StageDump::appendToManifest(std::string_view line) {
  std::ofstream(fs::path(directory_) / kManifest, std::ios::app) << line;
}

}  // namespace ptxrun::observe
