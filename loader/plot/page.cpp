// The data goes into the page as JSON; the page's own script (page.js) makes tables and bars of it.
#include "loader/plot/page.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "translate/check/checked_module.h"
#include "translate/check/debug_frame.h"

namespace ptxrun::plot {

namespace {

using Json = nlohmann::json;

constexpr const char *kStyle =
#include "page.css.inc"
    ;
constexpr const char *kScript =
#include "page.js.inc"
    ;

std::vector<std::string> linesOf(std::istream &&text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  return lines;
}

std::string shape(abi::Dim3 d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

/// Where an instruction stands: its line of the PTX, and of the source (0: not known).
struct Place {
  uint32_t line = 0, file = 0, sourceLine = 0;
};

std::vector<Place> placesOf(const check::Module &module) {
  std::vector<Place> places;
  for (const check::Function *function : module.functions)
    for (const check::Instruction &in : function->body) {
      Place &place = places.emplace_back();
      place.line = in.line;
      if (in.location == 0)
        continue;
      place.file = module.locations[in.location].file;
      place.sourceLine = module.locations[in.location].line;
    }
  return places;
}

Json linesOf(const PlottedLaunch &launch, const std::vector<Place> &places,
             std::set<uint32_t> &files) {
  std::map<uint32_t, std::pair<Counts, Place>> byLine;
  for (const auto &[instruction, counts] : launch.counts) {
    if (instruction >= places.size())
      continue;
    const Place &place = places[instruction];
    auto &[sum, where] = byLine[place.line];
    sum += counts;
    where = place;
    if (place.sourceLine)
      files.insert(place.file);
  }
  Json lines = Json::array();
  for (const auto &[line, entry] : byLine) {
    const auto &[c, place] = entry;
    lines.push_back({{"line", line},
                     {"file", place.file},
                     {"sourceLine", place.sourceLine},
                     {"issues", c.issues},
                     {"threads", c.threads},
                     {"requests", c.requests},
                     {"sectors", c.sectors},
                     {"fullSectors", c.fullSectors},
                     {"sharedRequests", c.sharedRequests},
                     {"passes", c.passes},
                     {"freePasses", c.freePasses}});
  }
  return lines;
}

/// JSON that may stand in a script element.
std::string embedded(const Json &data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
    text += c == '<' ? "\\u003c" : std::string(1, c);
  return text;
}

} // namespace

std::string makePage(const std::string &name, const std::string &text, const check::Module &module,
                     const std::vector<PlottedLaunch> &launches) {
  const std::vector<Place> places = placesOf(module);
  std::set<uint32_t> files;
  Json data = {{"module", name}, {"ptx", linesOf(std::istringstream(text))}};
  for (const PlottedLaunch &launch : launches)
    data["launches"].push_back({{"kernel", launch.kernel},
                                {"grid", shape(launch.grid)},
                                {"block", shape(launch.block)},
                                {"warps", launch.warps},
                                {"outcome", launch.outcome},
                                {"lines", linesOf(launch, places, files)}});
  for (const uint32_t file : files) {
    const std::string path(file < module.files.size() ? module.files[file] : "");
    data["files"][std::to_string(file)] = {{"name", path}, {"text", linesOf(std::ifstream(path))}};
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>ptxrun: " +
         name.substr(name.rfind('/') + 1) + "</title>\n<style>\n" + kStyle +
         "</style>\n</head>\n<body>\n<div id=\"page\"></div>\n"
         "<script type=\"application/json\" id=\"data\">" +
         embedded(data) + "</script>\n<script>\n" + kScript + "</script>\n</body>\n</html>\n";
}

} // namespace ptxrun::plot
