// .version, .target and .address_size (PTX ISA 11.1).
#include <algorithm>
#include <charconv>

#include "translate/check/checker.h"

namespace ptxrun::check {
namespace {

/// Newest minor version of each major one.
struct Release {
  uint32_t major, lastMinor;
};
constexpr Release kReleases[] = {{1, 5}, {2, 3}, {3, 2}, {4, 3}, {5, 1},
                                 {6, 5}, {7, 8}, {8, 8}, {9, 2}};

/// Targets and the PTX version that brought them: without suffix, with `a`, with `f`; 0 where there
/// is none.
struct Architecture {
  uint32_t sm, since, sinceA, sinceF;
};
constexpr Architecture kArchitectures[] = {
    {10, 10, 0, 0},    {11, 10, 0, 0},    {12, 12, 0, 0},    {13, 12, 0, 0},    {20, 20, 0, 0},
    {21, 20, 0, 0},    {30, 30, 0, 0},    {32, 40, 0, 0},    {35, 31, 0, 0},    {37, 41, 0, 0},
    {50, 40, 0, 0},    {52, 41, 0, 0},    {53, 42, 0, 0},    {60, 50, 0, 0},    {61, 50, 0, 0},
    {62, 50, 0, 0},    {70, 60, 0, 0},    {72, 61, 0, 0},    {75, 63, 0, 0},    {80, 70, 0, 0},
    {82, 70, 0, 0},    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 90, 0, 0},    {89, 78, 0, 0},
    {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {110, 90, 90, 90},
    {120, 87, 87, 88}, {121, 88, 88, 88},
};

std::string versionText(uint32_t version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

uint32_t checkVersion(const ast::Header &header, support::Diagnostics &diagnostics) {
  constexpr uint32_t kNewest = 92;
  for (const Release &release : kReleases)
    if (release.major == header.versionMajor && header.versionMinor <= release.lastMinor)
      return header.versionMajor * 10 + header.versionMinor;
  // Compilers write the version they know; what a module uses of it is checked form by form.
  if (header.versionMajor == kNewest / 10 && header.versionMinor > kNewest % 10) {
    diagnostics.warning(header.version,
                        "PTX version " + std::to_string(header.versionMajor) + "." +
                            std::to_string(header.versionMinor) +
                            " is newer than 9.2, the newest one known here; checked as 9.2");
    return kNewest;
  }
  if (header.versionMajor != 0 || header.versionMinor != 0 || header.version.end != 0)
    diagnostics.error(header.version, "there is no PTX version " +
                                          std::to_string(header.versionMajor) + "." +
                                          std::to_string(header.versionMinor) +
                                          "; the newest one known here is 9.2");
  return kNewest;
}

/// Splits "sm_90a" or "compute_90a". False if it is no target architecture.
bool readArchitecture(std::string_view word, isa::Target &target) {
  size_t underscore = word.find('_');
  if (underscore == std::string_view::npos ||
      (word.substr(0, underscore) != "sm" && word.substr(0, underscore) != "compute"))
    return false;
  const char *first = word.data() + underscore + 1, *end = word.data() + word.size();
  auto [at, status] = std::from_chars(first, end, target.sm);
  target.suffix = at < end ? *at : 0;
  return status == std::errc() && (at == end || (at + 1 == end && (*at == 'a' || *at == 'f')));
}

void checkArchitecture(std::string_view word, Span span, const isa::Target &target,
                       support::Diagnostics &diagnostics) {
  const Architecture *found =
      std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                   [&](const Architecture &one) { return one.sm == target.sm; });
  uint32_t since = found == std::end(kArchitectures) ? 0
                   : target.suffix == 'a'            ? found->sinceA
                   : target.suffix == 'f'            ? found->sinceF
                                                     : found->since;
  if (since == 0)
    diagnostics.error(span, "there is no target '" + std::string(word) + "'")
        .notes.push_back("PTX ISA 11.1.2: .target takes sm_20 to sm_121, with suffix a or f where "
                         "the architecture has one");
  else if (target.version < since)
    diagnostics.error(span, "PTX version " + versionText(target.version) +
                                " does not know target '" + std::string(word) +
                                "'; it needs .version " + versionText(since) + " or higher");
}

} // namespace

Header checkHeader(const ast::Module &tree, support::Diagnostics &diagnostics) {
  const ast::Header &written = tree.header;
  Header header;
  header.target.version = checkVersion(written, diagnostics);
  bool hasMode = false;
  for (size_t i = 0; i < written.targets.size(); ++i) {
    std::string_view word = tree.names.text(written.targets[i]);
    Span span = written.targetSpans[i];
    isa::Target architecture = header.target;
    bool isMode = word == "texmode_unified" || word == "texmode_independent";
    if (readArchitecture(word, architecture)) {
      checkArchitecture(word, span, architecture, diagnostics);
      if (i == 0)
        header.target = architecture;
      continue;
    }
    if (i == 0 && (isMode || word == "debug"))
      diagnostics.error(span, "the first target must be an architecture such as sm_90, found '" +
                                  std::string(word) + "'");
    else if (word == "map_f64_to_f32" && header.target.sm >= 13)
      diagnostics.error(span, "map_f64_to_f32 is for targets below sm_13");
    else if (isMode && hasMode)
      diagnostics.error(span, "two texturing modes are given");
    else if (!isMode && word != "debug" && word != "map_f64_to_f32")
      diagnostics.error(span, "there is no target or target option '" + std::string(word) + "'")
          .notes.push_back(
              "PTX ISA 11.1.2: sm_XY, texmode_unified, texmode_independent, debug, map_f64_to_f32");
    hasMode |= isMode;
    header.isTexmodeIndependent |= word == "texmode_independent";
  }
  if (written.hasAddressSize && written.addressSize != 32 && written.addressSize != 64)
    diagnostics.error(written.addressSizeSpan, ".address_size must be 32 or 64")
        .notes.push_back("PTX ISA 11.1.3: .address_size");
  header.addressBits = written.hasAddressSize && written.addressSize == 32 ? 32 : 64;
  return header;
}

} // namespace ptxrun::check
