// Static libraries (ar): objects one behind the other, each behind a header of text.
#include <algorithm>
#include <charconv>

#include "loader/image/image.h"

namespace ptxrun::image {

namespace {

// The header of a member.
constexpr size_t kNameBytes = 16, kSizeOffset = 48, kSizeBytes = 10, kHeaderBytes = 60;
constexpr std::string_view kMagic = "!<arch>\n", kEnd = "`\n";

std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

} // namespace

bool isArchive(std::span<const std::byte> bytes) { return textOf(bytes).starts_with(kMagic); }

device::Outcome listMembers(std::span<const std::byte> archive,
                            std::vector<ArchiveMember> &members) {
  std::span<const std::byte> rest = archive.subspan(kMagic.size());
  while (!rest.empty()) {
    const std::string_view header = textOf(rest.first(std::min(rest.size(), kHeaderBytes)));
    uint64_t bytes = 0;
    if (header.size() < kHeaderBytes || !header.ends_with(kEnd))
      return device::Outcome::failed(device::Code::unsupportedImage,
                                     "the library (.a) is damaged: a member has no header");
    std::from_chars(header.data() + kSizeOffset, header.data() + kSizeOffset + kSizeBytes, bytes);
    rest = rest.subspan(kHeaderBytes);
    if (bytes > rest.size())
      return device::Outcome::failed(device::Code::unsupportedImage,
                                     "the library (.a) is damaged: it ends within a member");
    // "/" and "//" are tables of the archive's own.
    const std::string_view name =
        header.substr(0, header.substr(0, kNameBytes).find_last_not_of(' ') + 1);
    if (name != "/" && name != "//" && name != "/SYM64/")
      members.push_back({name.substr(0, name.find('/')), rest.first(bytes)});
    rest = rest.subspan(std::min<size_t>(rest.size(), bytes + bytes % 2));
  }
  return {};
}

} // namespace ptxrun::image
