// A subject as a program: its buffers have twins on the host, which are copied to the device before
// its kernels run and back after.
#include <cstdio>
#include <cstring>
#include <map>

#include "loader/capture/recorder.h"
#include "tests/bench/harness.h"

namespace ptxrun::bench {

namespace {

/// Buffers as a program has them: one on the host for each on the device.
std::map<char *, size_t> &buffers() {
  static std::map<char *, size_t> all;
  return all;
}

} // namespace

void copyToDevice(char *to, const std::string &from) {
  capture::Recorder::Turn turn;
  capture::CopyEvent copy;
  copy.to = reinterpret_cast<uint64_t>(to);
  copy.from = reinterpret_cast<uint64_t>(from.data());
  copy.width = from.size();
  if (turn.copies(copy))
    return;
  std::memcpy(to, from.data(), from.size());
  turn.copied(copy);
}

void noteBuffer(void *base, size_t bytes) { buffers()[static_cast<char *>(base)] = bytes; }
void forgetBuffer(void *base) { buffers().erase(static_cast<char *>(base)); }

void runAsProgram(const Subject &subject, int rounds) {
  if (subject.prepare)
    subject.prepare();
  std::vector<std::pair<char *, std::string>> host;
  double bytes = 0;
  for (const auto &[base, size] : buffers()) {
    host.emplace_back(base, std::string(base, size));
    bytes += static_cast<double>(size);
  }
  std::vector<std::string> results;
  for (const auto &[base, contents] : host)
    results.push_back(contents);
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    const double start = wallSecondsNow();
    for (const auto &[base, contents] : host)
      copyToDevice(base, contents);
    subject.ours();
    for (size_t i = 0; i < host.size(); ++i)
      std::memcpy(results[i].data(), host[i].first, results[i].size());
    seconds.push_back(wallSecondsNow() - start);
  }
  // A copy writes each buffer, and the kernels may write each once more.
  std::printf("%.9f %.0f %d\n", medianMs(seconds) / 1e3, 2 * bytes * rounds, rounds);
}

} // namespace ptxrun::bench
