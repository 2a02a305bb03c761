#include "loader/image/contents.h"

#include <elf.h>

#include <algorithm>
#include <set>

#include "loader/image/elf_file.h"
#include "loader/image/layout.h"
#include "loader/image/link_text.h"
#include "loader/image/program.h"

namespace ptxrun::image {

using device::Code;
using device::Outcome;

namespace {

/// What marks a function of a cubin that the host can launch (st_other).
constexpr uint8_t kEntryFunction = 0x10;
constexpr std::string_view kArchiveMagic = "!<arch>\n";

std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

EntryContents lookInto(const Entry &entry) {
  EntryContents found{entry, entry.payload.size(), {}, {}};
  if (entry.kind != EntryKind::ptx && entry.kind != EntryKind::cubin) {
    // LTO-IR says that it is compressed, but is so in a way of its own.
    found.bytes = std::max<uint64_t>(entry.uncompressedBytes, found.bytes);
    return found;
  }
  std::string payload;
  Outcome outcome = unpackBytes(entry, payload);
  if (outcome.isOk()) {
    found.bytes = payload.size();
    if (entry.kind == EntryKind::cubin)
      outcome = listCubinKernels(bytesOf(payload), found.kernels);
  }
  found.problem = outcome.message;
  return found;
}

FatBinaryContents lookInto(const EmbeddedFatBinary &fatBinary) {
  FatBinaryContents found;
  found.isOfObject = fatBinary.isOfObject;
  std::vector<Entry> entries;
  found.problem = listEntries(fatBinary.bytes, entries).message;
  for (const Entry &entry : entries)
    found.entries.push_back(lookInto(entry));
  return found;
}

/// The text that the driver takes from a fat binary; empty where there is none.
std::string chosenText(const FatBinaryContents &fatBinary, Target target) {
  std::vector<Entry> sound;
  for (const EntryContents &one : fatBinary.entries)
    if (one.problem.empty())
      sound.push_back(one.entry);
  const Entry *entry = chooseEntry(sound, target);
  std::string text;
  if (entry)
    unpack(*entry, text);
  return text;
}

/// Each fat binary's text; those of objects that refer to one another are one.
std::vector<std::string> chosenTexts(const std::vector<FatBinaryContents> &fatBinaries,
                                     Target target) {
  std::vector<std::string> texts, ofObjects;
  for (const FatBinaryContents &fatBinary : fatBinaries)
    if (std::string text = chosenText(fatBinary, target); !text.empty())
      (fatBinary.isOfObject ? ofObjects : texts).push_back(std::move(text));
  if (ofObjects.size() > 1)
    std::erase_if(ofObjects, isDeviceRuntime);
  if (auto merged = mergeTexts(ofObjects))
    ofObjects = {std::move(*merged)};
  texts.insert(texts.end(), ofObjects.begin(), ofObjects.end());
  return texts;
}

/// The names behind each `.entry`.
void addEntryNames(std::string_view text, std::set<std::string, std::less<>> &names) {
  constexpr std::string_view kEntry = ".entry", kBlanks = " \t\r\n";
  for (size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at)) {
    at = std::min(text.find_first_not_of(kBlanks, at + kEntry.size()), text.size());
    const size_t end = std::min(text.find_first_of(" \t\r\n(;{", at), text.size());
    names.emplace(text.substr(at, end - at));
    at = end;
  }
}

/// Kernels of cubins that no text has.
std::vector<std::string> kernelsWithoutText(const Contents &contents) {
  std::set<std::string, std::less<>> seen;
  for (const std::string &text : contents.ptx)
    addEntryNames(text, seen);
  std::vector<std::string> found;
  for (const FatBinaryContents &fatBinary : contents.fatBinaries)
    for (const EntryContents &one : fatBinary.entries)
      for (const std::string &kernel : one.kernels)
        if (seen.insert(kernel).second)
          found.push_back(kernel);
  return found;
}

Outcome readElfContents(std::span<const std::byte> bytes, Contents &contents) {
  ElfFile file;
  if (Outcome outcome = ElfFile::read(bytes, file); !outcome.isOk())
    return outcome;
  if (file.machine() == ElfFile::kMachineCuda) {
    contents.kind = FileKind::cubin;
    Entry entry;
    entry.kind = EntryKind::cubin;
    entry.architecture = cubinArchitecture(bytes);
    entry.payload = bytes;
    contents.fatBinaries.push_back({{lookInto(entry)}, false, {}});
    return {};
  }
  contents.kind = file.type() == ET_REL                             ? FileKind::object
                  : file.type() == ET_EXEC || file.hasInterpreter() ? FileKind::executable
                                                                    : FileKind::sharedObject;
  for (const EmbeddedFatBinary &fatBinary : findFatBinaries(file))
    contents.fatBinaries.push_back(lookInto(fatBinary));
  describeProgram(file, bytes, contents);
  return {};
}

Outcome readTextContents(std::span<const std::byte> bytes, Target target, Contents &contents) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (text.starts_with(kArchiveMagic))
    return Outcome::failed(
        Code::unsupportedImage,
        "this is an archive of objects; take them out with `ar x` and inspect those, or "
        "the program that is linked with it");
  Image image;
  Outcome outcome = readImage(bytes, target, image);
  contents.ptx = std::move(image.ptx);
  return outcome;
}

} // namespace

Outcome listCubinKernels(std::span<const std::byte> cubin, std::vector<std::string> &kernels) {
  ElfFile file;
  if (Outcome outcome = ElfFile::read(cubin, file); !outcome.isOk())
    return outcome;
  for (const ElfSymbol &symbol : file.symbols(SHT_SYMTAB)) {
    const bool isFunction = symbol.type == STT_FUNC && symbol.binding != STB_LOCAL;
    if (!isFunction || !(symbol.other & kEntryFunction) || symbol.section >= file.sections().size())
      continue;
    if (file.sections()[symbol.section].name == ".text." + std::string(symbol.name))
      kernels.emplace_back(symbol.name);
  }
  return {};
}

Outcome readContents(std::span<const std::byte> bytes, Target target, Contents &contents) {
  Outcome outcome;
  if (readAs<uint32_t>(bytes, 0) == fat_layout::kMagic) {
    contents.kind = FileKind::fatBinary;
    contents.fatBinaries.push_back(lookInto(EmbeddedFatBinary{bytes, false}));
    if (contents.fatBinaries[0].entries.empty() && !contents.fatBinaries[0].problem.empty())
      return Outcome::failed(Code::unsupportedImage, contents.fatBinaries[0].problem);
  } else if (isElf(bytes)) {
    outcome = readElfContents(bytes, contents);
  } else {
    return readTextContents(bytes, target, contents);
  }
  if (!outcome.isOk())
    return outcome;
  contents.ptx = chosenTexts(contents.fatBinaries, target);
  contents.machineCodeOnly = kernelsWithoutText(contents);
  return {};
}

} // namespace ptxrun::image
