// What every stage made, as numbered files in a directory with a manifest, for reading and for bisecting a miscompile.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ptxrun::observe {

/// One module's dump: files NN-PRODUCT in the order in which stages finish, and `manifest.tsv` with the columns
/// file, stage, subject, milliseconds, bytes. A text equal to the one before it (same subject, same extension) is not
/// written again: the manifest says "(unchanged)". Lines appear as stages finish, so a crash leaves what came before it.
/// Thread-safe.
class StageDump {
 public:
  /// Makes the directory. A directory that this process already dumps another module to gets a subdirectory 2, 3, ...
  /// Null if nothing can be written there; `error` says why.
  static std::unique_ptr<StageDump> create(const std::string &directory, std::string &error);

  /// `product` is what the stage made and names the file ("lane.ll"); `subject` is the kernel variant, empty for stages of
  /// the whole module.
  void write(std::string_view stage, std::string_view product, std::string_view subject, double milliseconds,
             std::string_view text);
  const std::string &directory() const { return directory_; }

 private:
  explicit StageDump(std::string directory) : directory_(std::move(directory)) {}
  void appendToManifest(std::string_view line);

  std::mutex mutex_;
  std::string directory_;
  unsigned count_ = 0;
  std::unordered_map<std::string, std::string> lastText_;  ///< by subject and extension
};

}  // namespace ptxrun::observe
