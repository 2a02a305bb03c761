#include "loader/capture/contents_store.h"

#include <llvm/Support/BLAKE3.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "loader/capture/codec.h"

namespace ptxrun::capture {

namespace {

namespace fs = std::filesystem;

constexpr int kContentsLevel = -3; // zstd's fastest levels are negative

Digest digestOf(std::string_view contents) {
  return llvm::BLAKE3::hash<32>(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(contents.data()), contents.size()));
}

} // namespace

std::string ContentsStore::pathOf(const Digest &digest) const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const uint8_t byte : digest)
    name += {kDigits[byte >> 4], kDigits[byte & 15]};
  return folder_ + "/" + name + ".zst";
}

bool ContentsStore::keep(std::string_view contents, Digest &digest) const {
  digest = digestOf(contents);
  const std::string path = pathOf(digest), temporary = path + "." + std::to_string(getpid());
  std::error_code error;
  if (fs::exists(path, error))
    return true;
  fs::create_directories(folder_, error);
  std::string packed(ZSTD_compressBound(contents.size()), '\0');
  const size_t bytes =
      ZSTD_compress(packed.data(), packed.size(), contents.data(), contents.size(), kContentsLevel);
  if (ZSTD_isError(bytes))
    return false;
  // Under its name only when it is whole: the program may be killed here.
  std::ofstream file(temporary, std::ios::binary);
  file.write(packed.data(), static_cast<std::streamsize>(bytes));
  file.close();
  if (file)
    fs::rename(temporary, path, error);
  if (file && !error)
    return true;
  fs::remove(temporary, error);
  return false;
}

std::string ContentsStore::find(const Digest &digest, uint64_t bytes) const {
  const std::string path = pathOf(digest);
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw BadRecording("contents that were recorded by their digest are missing: " + path +
                       " (PTXRUN_INPUTS names the folder)");
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  std::string contents(bytes, '\0');
  if (ZSTD_decompress(contents.data(), bytes, packed.data(), packed.size()) != bytes ||
      digestOf(contents) != digest)
    throw BadRecording(path + " is not what was recorded");
  return contents;
}

std::string contentsFolderOf(const std::string &recording) {
  const char *folder = std::getenv("PTXRUN_INPUTS");
  return folder && *folder ? folder : recording + ".inputs";
}

} // namespace ptxrun::capture
