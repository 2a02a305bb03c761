#include "loader/image/image.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "loader/image/elf_file.h"
#include "loader/image/layout.h"
#include "loader/image/link_text.h"
#include "loader/image/readable.h"

namespace ptxrun::image {

using device::Code;
using device::Outcome;

namespace {

std::string describeArchitecture(const Entry &entry) {
  std::string text = std::to_string(entry.architecture);
  if (entry.suffix)
    text += entry.suffix;
  return text;
}

/// The message for an image without PTX that may run here: what is in it, what to add.
Outcome noPtx(const std::vector<Entry> &entries, Target target) {
  std::string found;
  std::string wanted = std::to_string(target.architecture);
  bool hasSpecificPtx = false;
  for (const Entry &entry : entries) {
    if (!found.empty())
      found += ", ";
    const bool isPtx = entry.kind == EntryKind::ptx;
    found += isPtx                            ? "PTX for compute_"
             : entry.kind == EntryKind::cubin ? "machine code for sm_"
                                              : "LTO code for sm_";
    found += describeArchitecture(entry);
    hasSpecificPtx |= isPtx;
  }
  std::string message = "the image holds no PTX that this device (compute capability " +
                        std::to_string(target.architecture / 10) + "." +
                        std::to_string(target.architecture % 10) + ") may run; it holds " +
                        (found.empty() ? "nothing" : found) + ". ";
  if (hasSpecificPtx)
    message += "Set PTXRUN_SM to the architecture of the PTX, or rebuild";
  else
    message += "Rebuild";
  message += " with PTX added: nvcc -gencode arch=compute_" + wanted + ",code=compute_" + wanted;
  return Outcome::failed(Code::noBinaryForGpu, std::move(message));
}

Outcome cubinAlone() {
  return Outcome::failed(
      Code::noBinaryForGpu,
      "the image is a cubin: machine code of a GPU, without PTX. Rebuild with PTX added: nvcc "
      "-gencode arch=compute_75,code=compute_75 (or load the PTX that nvcc -ptx writes)");
}

/// Memory ends before the image does.
Outcome unreadable(const char *what) {
  return Outcome::failed(Code::unsupportedImage,
                         std::string("broken image: there is no memory where ") + what +
                             " should be");
}

Outcome readFatBinary(std::span<const std::byte> bytes, Target target, Image &image,
                      Extent extent = Extent::known) {
  std::vector<Entry> entries;
  if (Outcome outcome = listEntries(bytes, entries, extent); !outcome.isOk())
    return outcome;
  const Entry *entry = chooseEntry(entries, target);
  if (!entry)
    return noPtx(entries, target);
  if (extent == Extent::stated && !isReadable(entry->payload.data(), entry->payload.size()))
    return unreadable("an entry's contents");
  std::string text;
  if (Outcome outcome = unpack(*entry, text); !outcome.isOk())
    return outcome;
  image.ptx.push_back(std::move(text));
  return {};
}

/// The fat binary that starts at an address, as long as its header says.
Outcome readFatBinaryAt(const void *address, Target target, Image &image) {
  const auto *bytes = static_cast<const std::byte *>(address);
  if (!isReadable(bytes, fat_layout::kHeaderBytes))
    return unreadable("a fat binary");
  const std::span header(bytes, fat_layout::kHeaderBytes);
  const uint64_t headerBytes = readAs<uint16_t>(header, fat_layout::kHeaderSizeOffset);
  const uint64_t bodyBytes = readAs<uint64_t>(header, fat_layout::kBodySizeOffset);
  if (bodyBytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(address) - headerBytes)
    return unreadable("the end of a fat binary");
  return readFatBinary({bytes, headerBytes + bodyBytes}, target, image, Extent::stated);
}

Outcome readWrapper(const void *address, Target target, Image &image) {
  const std::span bytes(static_cast<const std::byte *>(address), wrapper_layout::kBytes);
  if (!isReadable(address, bytes.size()))
    return unreadable("the wrapper of a fat binary");
  const auto *data = reinterpret_cast<const void *>(readAs<uint64_t>(bytes, wrapper_layout::kData));
  const auto *objects =
      reinterpret_cast<const void *const *>(readAs<uint64_t>(bytes, wrapper_layout::kSecond));
  if (readAs<uint32_t>(bytes, wrapper_layout::kVersion) != wrapper_layout::kVersionLinked ||
      !objects)
    return readFatBinaryAt(data, target, image);
  // Objects without PTX are left out as long as one has some.
  Outcome first = noPtx({}, target);
  for (bool isFirst = true;; ++objects) {
    if (!isReadable(objects, sizeof *objects))
      return unreadable("the list of linked objects");
    const void *object = nullptr;
    std::memcpy(&object, objects, sizeof object); // a broken list need not be aligned
    if (!object)
      break;
    Outcome outcome = readFatBinaryAt(object, target, image);
    if (!outcome.isOk() && std::exchange(isFirst, false))
      first = std::move(outcome);
  }
  if (image.ptx.size() > 1)
    std::erase_if(image.ptx, isDeviceRuntime);
  return image.ptx.empty() ? first : Outcome{};
}

Outcome readElf(std::span<const std::byte> bytes, Target target, Image &image) {
  if (readAs<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine)) == ElfFile::kMachineCuda)
    return cubinAlone();
  ElfFile file;
  if (Outcome outcome = ElfFile::read(bytes, file); !outcome.isOk())
    return outcome;
  const auto fatBinaries = findFatBinaries(file);
  if (fatBinaries.empty())
    return Outcome::failed(Code::unsupportedImage, "the ELF file holds no fat binary");
  Outcome first;
  for (const EmbeddedFatBinary &fatBinary : fatBinaries) {
    Outcome outcome = readFatBinary(fatBinary.bytes, target, image);
    if (!outcome.isOk() && first.isOk())
      first = std::move(outcome);
  }
  return image.ptx.empty() ? first : Outcome{};
}

/// All objects of a library that have PTX.
Outcome readArchive(std::span<const std::byte> bytes, Target target, Image &image) {
  std::vector<ArchiveMember> members;
  if (Outcome outcome = listMembers(bytes, members); !outcome.isOk())
    return outcome;
  Outcome first = Outcome::failed(Code::unsupportedImage, "the library (.a) holds no device code");
  for (const ArchiveMember &member : members) {
    if (!isElf(member.bytes))
      continue;
    Outcome outcome = readElf(member.bytes, target, image);
    if (!outcome.isOk() && outcome.code == Code::noBinaryForGpu)
      first = std::move(outcome);
  }
  return image.ptx.empty() ? first : Outcome{};
}

constexpr std::string_view kLtoIrMagic = "\xed\x43\x4e\x7f";

/// PTX text begins with blanks, a comment or a directive; anything else is not worth a parser's
/// diagnostics.
Outcome readText(std::string_view text, Image &image) {
  const size_t start = text.find_first_not_of(" \t\r\n\v\f");
  if (start == std::string_view::npos)
    return Outcome::failed(Code::unsupportedImage, "the image is empty");
  const auto first = static_cast<unsigned char>(text[start]);
  if (text.starts_with(kLtoIrMagic))
    return Outcome::failed(Code::noBinaryForGpu,
                           "the image is LTO-IR, which NVIDIA's nvJitLink compiles: link it by "
                           "that (`ptxrun exec` sees to it), or build without -dlto");
  if (first < ' ' || first >= 0x7f)
    return Outcome::failed(Code::unsupportedImage,
                           "the image is neither PTX text nor a fat binary nor an ELF file");
  for (std::string &part : splitLinked(text))
    image.ptx.push_back(std::move(part));
  image.isText = true;
  return {};
}

} // namespace

Outcome readImage(const void *address, Target target, Image &image) {
  const auto *bytes = static_cast<const std::byte *>(address);
  const auto readTextHere = [&] {
    const std::optional<std::string_view> text = textAt(address);
    return text ? readText(*text, image) : unreadable("the NUL that ends a text");
  };
  if (!isReadable(bytes, 4)) // a text of up to three characters, perhaps
    return readTextHere();
  switch (readAs<uint32_t>({bytes, 4}, 0)) {
  case wrapper_layout::kMagic:
    return readWrapper(address, target, image);
  case fat_layout::kMagic:
    return readFatBinaryAt(address, target, image);
  default:
    break;
  }
  if (isElf({bytes, SELFMAG})) {
    if (!isReadable(bytes, sizeof(Elf64_Ehdr)))
      return unreadable("the header of an ELF file");
    return readAs<uint16_t>({bytes, sizeof(Elf64_Ehdr)}, offsetof(Elf64_Ehdr, e_machine)) ==
                   ElfFile::kMachineCuda
               ? cubinAlone()
               : Outcome::failed(Code::unsupportedImage, "the image is an ELF file of the host");
  }
  return readTextHere();
}

Outcome readImage(std::span<const std::byte> bytes, Target target, Image &image) {
  switch (readAs<uint32_t>(bytes, 0)) {
  case wrapper_layout::kMagic:
    return Outcome::failed(Code::unsupportedImage,
                           "a fat binary wrapper has meaning only inside its process");
  case fat_layout::kMagic:
    return readFatBinary(bytes, target, image);
  default:
    break;
  }
  if (isElf(bytes))
    return readElf(bytes, target, image);
  if (isArchive(bytes))
    return readArchive(bytes, target, image);
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return readText(text.substr(0, text.find('\0')), image);
}

} // namespace ptxrun::image
