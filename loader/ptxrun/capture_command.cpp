// ptxrun capture: looking into recordings, and cutting them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "loader/capture/replayer.h"
#include "loader/ptxrun/commands.h"
#include "loader/ptxrun/errors.h"
#include "translate/support/hex.h"

namespace ptxrun::command {

namespace {

using nlohmann::json;
using support::hex;
namespace fs = std::filesystem;

json shapeJson(abi::Dim3 d) { return {d.x, d.y, d.z}; }

json annotationOf(const capture::RecordingIndex &index) {
  json all = json::parse(index.annotation, nullptr, /*allow_exceptions=*/false);
  return all.is_discarded() ? json::object() : all;
}

json spansJson(const std::vector<capture::Span> &spans) {
  json all = json::array();
  for (const capture::Span &span : spans)
    all.push_back({hex(span.base), span.bytes});
  return all;
}

json imageJson(const capture::ImageEvent &e) {
  static constexpr const char *kinds[] = {"", "texture", "sampler", "surface"};
  json out{{"handle", hex(e.handle)}, {"kind", kinds[static_cast<size_t>(e.kind)]}};
  if (!hasImage(e))
    return out;
  const rt::Image &image = e.texture.image;
  json levels = json::array();
  for (uint32_t i = 0; i < image.levels; ++i)
    levels.push_back({image.level[i].width, image.level[i].height, image.level[i].depth});
  out.update({{"address", hex(reinterpret_cast<uint64_t>(image.base))},
              {"bytes", image.bytes},
              {"texelBytes", image.texelBytes()},
              {"layers", image.layers},
              {"levels", levels}});
  return out;
}

/// A block as JSON, memory contents left out.
json blockJson(const capture::Block &block) {
  json out{{"block", capture::nameOf(block.type)}, {"offset", block.offset}};
  switch (block.type) {
  case capture::BlockType::annotation:
    out["annotation"] = json::parse(block.payload, nullptr, false);
    break;
  case capture::BlockType::module: {
    capture::ModuleEvent e;
    decode(block.payload, e);
    out.update({{"id", e.id}, {"name", e.name}, {"variables", hex(e.variables)}, {"ptx", e.text}});
    break;
  }
  case capture::BlockType::allocate: {
    capture::AllocateEvent e;
    decode(block.payload, e);
    out.update({{"address", hex(e.base)}, {"bytes", e.bytes}, {"hostVisible", e.isHostVisible}});
    break;
  }
  case capture::BlockType::free:
    out["address"] = hex(capture::decodeNumber(block.payload));
    break;
  case capture::BlockType::unload:
  case capture::BlockType::end:
    out["id"] = capture::decodeNumber(block.payload);
    break;
  case capture::BlockType::write: {
    capture::WriteEvent e;
    decode(block.payload, e);
    out["spans"] = spansJson(e.spans);
    break;
  }
  case capture::BlockType::again:
    out["write"] = capture::decodeNumber(block.payload);
    break;
  case capture::BlockType::copy: {
    capture::CopyEvent e;
    decode(block.payload, e);
    out.update({{"to", hex(e.to)},
                {"from", hex(e.from)},
                {"width", e.width},
                {"height", e.height},
                {"depth", e.depth}});
    break;
  }
  case capture::BlockType::fill: {
    capture::FillEvent e;
    decode(block.payload, e);
    out.update({{"address", hex(e.base)},
                {"value", e.value},
                {"elementBytes", e.elementBytes},
                {"width", e.width},
                {"height", e.height}});
    break;
  }
  case capture::BlockType::launch: {
    capture::LaunchEvent e;
    decode(block.payload, e);
    std::string params;
    for (const char c : e.params) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<uint8_t>(c));
      params += digits;
    }
    out.update({{"launch", e.number},
                {"module", e.module},
                {"kernel", e.kernel},
                {"grid", shapeJson(e.grid)},
                {"block", shapeJson(e.block)},
                {"cluster", shapeJson(e.cluster)},
                {"shared", e.sharedBytes},
                {"stream", e.stream},
                {"cooperative", e.isCooperative},
                {"parameters", params},
                {"options", e.options}});
    break;
  }
  case capture::BlockType::result: {
    capture::ResultEvent e;
    decode(block.payload, e);
    out.update({{"launch", e.number},
                {"code", e.code},
                {"message", e.message},
                {"printed", e.printed},
                {"milliseconds", static_cast<double>(e.nanoseconds) * 1e-6}});
    json changes = json::array();
    for (const capture::Change &change : e.changes)
      changes.push_back({hex(change.address), hex(change.hash)});
    out["changed"] = changes;
    break;
  }
  case capture::BlockType::image: {
    capture::ImageEvent e;
    decode(block.payload, e);
    out.update(imageJson(e));
    break;
  }
  case capture::BlockType::drop:
    out["handle"] = hex(capture::decodeNumber(block.payload));
    break;
  case capture::BlockType::checkpoint: {
    capture::CheckpointEvent e;
    decode(block.payload, e);
    out.update(
        {{"launch", e.number}, {"spans", spansJson(e.memory.spans)}, {"heap", spansJson(e.heap)}});
    break;
  }
  }
  return out;
}

std::string dumpJson(const json &value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

json infoJson(const capture::RecordingIndex &index) {
  json out{{"annotation", annotationOf(index)},
           {"complete", index.isComplete},
           {"bytes", index.bytes},
           {"checkpoints", index.checkpoints.size()}};
  json blocks = json::object(), launches = json::array();
  for (const auto &[type, sums] : index.blocks)
    blocks[capture::nameOf(type)] = {{"count", sums.first}, {"bytes", sums.second}};
  for (const auto &launch : index.launches) {
    json one{
        {"launch", launch.number}, {"kernel", launch.kernel}, {"ended", launch.result.has_value()}};
    if (launch.result)
      one.update({{"code", launch.result->code},
                  {"milliseconds", static_cast<double>(launch.result->nanoseconds) * 1e-6},
                  {"bytesChanged", launch.bytesWritten}});
    launches.push_back(one);
  }
  out["blocks"] = blocks;
  out["launches"] = launches;
  return out;
}

void printInfo(const std::string &file, bool isJson) {
  const capture::RecordingIndex index = capture::readIndex(file);
  if (isJson) {
    std::printf("%s\n", dumpJson(infoJson(index), 2).c_str());
    return;
  }
  const json about = annotationOf(index);
  std::printf("%s: %llu bytes%s\n", file.c_str(), static_cast<unsigned long long>(index.bytes),
              index.isComplete ? "" : ", ends before the program did");
  for (const char *key : {"tool", "time", "host", "processor", "level"})
    if (about.contains(key))
      std::printf("  %-10s %s\n", key,
                  about[key].is_string() ? about[key].get<std::string>().c_str()
                                         : dumpJson(about[key], -1).c_str());
  if (about.contains("command"))
    std::printf("  %-10s %s\n", "command", dumpJson(about["command"], -1).c_str());
  if (about.contains("environment"))
    std::printf("  %-10s %s\n", "environment", dumpJson(about["environment"], -1).c_str());
  for (const auto &[type, sums] : index.blocks)
    std::printf("  %-10s %8llu blocks %12llu bytes\n", capture::nameOf(type),
                static_cast<unsigned long long>(sums.first),
                static_cast<unsigned long long>(sums.second));
  for (const auto &launch : index.launches)
    std::printf("  launch %llu: %s, %s\n", static_cast<unsigned long long>(launch.number),
                launch.kernel.c_str(),
                !launch.result        ? "had not ended"
                : launch.result->code ? launch.result->message.c_str()
                                      : (std::to_string(launch.bytesWritten) +
                                         " bytes of memory in pieces that changed")
                                            .c_str());
}

void convert(const std::string &file) {
  capture::BlockReader reader(file);
  for (capture::Block block; reader.next(block);)
    std::printf("%s\n", dumpJson(blockJson(block), -1).c_str());
}

void extract(const std::string &file, const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  capture::BlockReader reader(file);
  const auto write = [&](const std::string &name, const std::string &contents) {
    std::ofstream out(fs::path(folder) / name, std::ios::binary);
    if (!(out << contents))
      throw Failed("cannot write to " + folder);
  };
  for (capture::Block block; reader.next(block);) {
    if (block.type == capture::BlockType::module) {
      capture::ModuleEvent e;
      decode(block.payload, e);
      write("module" + std::to_string(e.id) + ".ptx", e.text);
    } else if (block.type == capture::BlockType::launch) {
      capture::LaunchEvent e;
      decode(block.payload, e);
      write("launch" + std::to_string(e.number) + ".params", e.params);
      write("launch" + std::to_string(e.number) + ".json", dumpJson(blockJson(block), 2));
    }
  }
}

/// A block that speaks of a write block, for a file that has those of `kept`: itself, or the
/// contents where they are not there.
void keepAgain(capture::BlockReader &reader, capture::Block &block,
               std::map<uint64_t, uint64_t> &kept) {
  const uint64_t number = capture::decodeNumber(block.payload);
  const auto [found, isNew] = kept.try_emplace(number, kept.size());
  if (isNew)
    reader.readWrite(number, block);
  else
    block.payload = capture::encodeNumber(found->second);
}

/// Copies a recording: launches after `to` are left out; those before `from` are kept only as far
/// as there is no checkpoint.
void trim(const std::string &file, const std::string &output, uint64_t from, uint64_t to) {
  const capture::RecordingIndex index = capture::readIndex(file);
  uint64_t start = 0;
  for (const auto &checkpoint : index.checkpoints)
    if (checkpoint.number < from)
      start = checkpoint.offset;
  if (from > to || std::ranges::none_of(index.launches, [&](const auto &launch) {
        return launch.number >= from && launch.number <= to;
      }))
    if (!index.launches.empty())
      throw UsageError(file + " has no such launches; there are " +
                       std::to_string(index.launches.front().number) + " to " +
                       std::to_string(index.launches.back().number));
  capture::BlockReader reader(file);
  capture::BlockWriter writer;
  std::string problem;
  if (fs::exists(output) && fs::equivalent(file, output))
    throw UsageError("the new recording needs a name of its own");
  if (!writer.open(output, problem))
    throw Failed(problem);
  uint64_t last = 0, writesRead = 0;
  std::map<uint64_t, uint64_t> kept; // numbers of write blocks: there, and in the new file
  for (capture::Block block; reader.next(block);) {
    using Type = capture::BlockType;
    const bool isBefore = block.offset < start;
    const bool isWork = block.type == Type::write || block.type == Type::again ||
                        block.type == Type::copy || block.type == Type::fill ||
                        block.type == Type::launch || block.type == Type::result;
    writesRead += block.type == Type::write;
    if (isBefore && isWork)
      continue;
    if (block.type == Type::write)
      kept[writesRead - 1] = kept.size();
    if (block.type == Type::again)
      keepAgain(reader, block, kept);
    if (block.type == Type::launch) {
      capture::LaunchEvent e;
      decode(block.payload, e);
      if (e.number > to)
        break;
      last = e.number;
    }
    if (block.type != Type::end && !writer.write(block.type, block.payload))
      throw Failed("cannot write " + output);
  }
  if (!writer.write(capture::BlockType::end, capture::encodeNumber(last + 1)))
    throw Failed("cannot write " + output);
}

struct CaptureArguments {
  std::string file, output;
  bool isJson = false;
  uint64_t from = 0, to = ~uint64_t{0};
};

void guard(const CaptureArguments &given, const std::function<void()> &work) {
  try {
    work();
  } catch (const capture::BadRecording &bad) {
    const std::string what = bad.what();
    throw UsageError(what.starts_with(given.file) ? what : given.file + ": " + what);
  }
}

} // namespace

void addCapture(CLI::App &app) {
  auto *command = app.add_subcommand("capture", "Look into recordings, take them apart, cut them");
  auto given = std::make_shared<CaptureArguments>();
  command->require_subcommand(1);
  const auto add = [&](const char *name, const char *help, std::function<void()> work) {
    auto *sub = command->add_subcommand(name, help);
    sub->add_option("FILE", given->file, "The recording")->required();
    sub->callback([given, work] { guard(*given, work); });
    return sub;
  };
  auto *info = add("info", "What is inside", [given] { printInfo(given->file, given->isJson); });
  info->add_flag("--json", given->isJson, "As JSON");
  add("convert", "Every block as a line of JSON", [given] { convert(given->file); });
  auto *files = add("extract", "Modules and parameters as files",
                    [given] { extract(given->file, given->output); });
  files->add_option("-o,--output", given->output, "Folder")->required();
  auto *cut = add("trim", "A recording of some of the launches",
                  [given] { trim(given->file, given->output, given->from, given->to); });
  cut->add_option("-o,--output", given->output, "The new recording")->required();
  cut->add_option("--from", given->from, "The first launch wanted; some before it may be kept");
  cut->add_option("--to", given->to, "The last launch kept");
  auto *pack = add("pack", "A recording with everything it needs inside",
                   [given] { trim(given->file, given->output, 0, ~uint64_t{0}); });
  pack->add_option("-o,--output", given->output, "The new recording")->required();
}

} // namespace ptxrun::command
