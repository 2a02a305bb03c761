#include "loader/capture/events.h"

#include "loader/device/launch_settings.h"
#include "loader/device/setting_readers.h"

namespace ptxrun::capture {

namespace {

void put(Encoder &out, abi::Dim3 d) {
  out.number(d.x);
  out.number(d.y);
  out.number(d.z);
}
abi::Dim3 dim3(Decoder &in) {
  const uint32_t x = in.number32(), y = in.number32(), z = in.number32();
  return {x, y, z};
}

/// Addresses as distances from the end of the one before: mostly small.
void put(Encoder &out, const std::vector<Span> &spans) {
  out.number(spans.size());
  uint64_t last = 0;
  for (const Span &span : spans) {
    out.number(span.base - last);
    out.number(span.bytes);
    last = span.base + span.bytes;
  }
}
std::vector<Span> spans(Decoder &in) {
  std::vector<Span> all;
  uint64_t last = 0;
  for (uint64_t left = in.number(); left; --left) {
    Span span;
    span.base = last + in.number();
    span.bytes = in.number();
    last = span.base + span.bytes;
    all.push_back(span);
  }
  return all;
}

uint64_t bytesOf(const std::vector<Span> &spans) {
  uint64_t total = 0;
  for (const Span &span : spans)
    if (__builtin_add_overflow(total, span.bytes, &total))
      throw BadRecording("spans are too large");
  return total;
}

void put(Encoder &out, const WriteEvent &event) {
  put(out, event.spans);
  out.raw(event.data.data(), event.data.size());
}
void read(Decoder &in, WriteEvent &event) {
  event.spans = spans(in);
  event.data = in.raw(bytesOf(event.spans));
}

/// Pieces in a row: address of the first as distance from where the last row ended, count, hashes.
void put(Encoder &out, const std::vector<Change> &changes) {
  uint64_t last = 0;
  for (size_t i = 0; i < changes.size();) {
    size_t end = i + 1;
    while (end < changes.size() && changes[end].address == changes[end - 1].address + kPieceBytes)
      ++end;
    out.number(end - i);
    out.number(changes[i].address - last);
    for (; i < end; ++i)
      out.fixed(changes[i].hash);
    last = changes[end - 1].address;
  }
  out.number(0);
}
std::vector<Change> changes(Decoder &in) {
  std::vector<Change> all;
  uint64_t last = 0;
  while (const uint64_t count = in.number()) {
    if (count > in.bytesLeft() / 8)
      throw BadRecording("a block ends too soon");
    last += in.number();
    for (uint64_t i = 0; i < count; ++i)
      all.push_back({last + i * kPieceBytes, in.fixed()});
    last = all.back().address;
  }
  return all;
}

constexpr const char *kScheduleKey = "schedule", *kLanesKey = "lanes", *kScriptKey = "script",
                     *kNanKey = "f64-nan", *kOneNan = "one";

} // namespace

std::string encode(const ModuleEvent &event) {
  Encoder out;
  out.number(event.id);
  out.text(event.name);
  out.number(event.variables);
  out.text(event.text);
  if (event.images.empty())
    return out.bytes();
  out.number(event.images.size());
  for (const uint64_t handle : event.images)
    out.number(handle);
  return out.bytes();
}
void decode(std::string_view bytes, ModuleEvent &event) {
  Decoder in(bytes);
  event.id = in.number();
  event.name = in.text();
  event.variables = in.number();
  event.text = in.text();
  event.images.clear();
  for (uint64_t left = in.isAtEnd() ? 0 : in.number(); left; --left)
    event.images.push_back(in.number());
}

std::string encode(const AllocateEvent &event) {
  Encoder out;
  out.number(event.base);
  out.number(event.bytes);
  out.number(event.isHostVisible);
  return out.bytes();
}
void decode(std::string_view bytes, AllocateEvent &event) {
  Decoder in(bytes);
  event.base = in.number();
  event.bytes = in.number();
  event.isHostVisible = in.number() & 1;
}

std::string encode(const WriteEvent &event) {
  Encoder out;
  put(out, event);
  return out.bytes();
}
void decode(std::string_view bytes, WriteEvent &event) {
  Decoder in(bytes);
  read(in, event);
}

std::string encode(const CopyEvent &e) {
  Encoder out;
  for (const uint64_t value :
       {e.to, e.toPitch, e.toSlice, e.from, e.fromPitch, e.fromSlice, e.width, e.height, e.depth})
    out.number(value);
  return out.bytes();
}
void decode(std::string_view bytes, CopyEvent &e) {
  Decoder in(bytes);
  for (uint64_t *value : {&e.to, &e.toPitch, &e.toSlice, &e.from, &e.fromPitch, &e.fromSlice,
                          &e.width, &e.height, &e.depth})
    *value = in.number();
}

std::string encode(const FillEvent &e) {
  Encoder out;
  for (const uint64_t value : {e.base, e.pitch, e.value, e.elementBytes, e.width, e.height})
    out.number(value);
  return out.bytes();
}
void decode(std::string_view bytes, FillEvent &e) {
  Decoder in(bytes);
  for (uint64_t *value : {&e.base, &e.pitch, &e.value, &e.elementBytes, &e.width, &e.height})
    *value = in.number();
}

std::string encode(const LaunchEvent &event) {
  Encoder out;
  out.number(event.number);
  out.number(event.module);
  out.text(event.kernel);
  put(out, event.grid);
  put(out, event.block);
  put(out, event.cluster);
  out.number(event.sharedBytes);
  out.number(event.stream);
  out.number(event.isCooperative);
  out.text(event.params);
  out.number(event.options.size());
  for (const auto &[name, value] : event.options) {
    out.text(name);
    out.text(value);
  }
  return out.bytes();
}
void decode(std::string_view bytes, LaunchEvent &event) {
  Decoder in(bytes);
  event.number = in.number();
  event.module = in.number();
  event.kernel = in.text();
  event.grid = dim3(in);
  event.block = dim3(in);
  event.cluster = dim3(in);
  event.sharedBytes = in.number();
  event.stream = in.number();
  event.isCooperative = in.number() & 1;
  event.params = in.text();
  event.options.clear();
  for (uint64_t left = in.number(); left; --left) {
    const std::string name = in.text();
    event.options[name] = in.text();
  }
}

std::string encode(const ResultEvent &event) {
  Encoder out;
  out.number(event.number);
  out.number(event.code);
  out.text(event.message);
  out.text(event.printed);
  put(out, event.changes);
  out.number(event.nanoseconds);
  return out.bytes();
}
void decode(std::string_view bytes, ResultEvent &event) {
  Decoder in(bytes);
  event.number = in.number();
  event.code = in.number();
  event.message = in.text();
  event.printed = in.text();
  event.changes = changes(in);
  event.nanoseconds = in.number();
}

std::string encode(const CheckpointEvent &event) {
  Encoder out;
  out.number(event.number);
  put(out, event.heap);
  put(out, event.memory);
  return out.bytes();
}
void decode(std::string_view bytes, CheckpointEvent &event) {
  Decoder in(bytes);
  event.number = in.number();
  event.heap = spans(in);
  read(in, event.memory);
}

std::string encodeNumber(uint64_t number) {
  Encoder out;
  out.number(number);
  return out.bytes();
}
uint64_t decodeNumber(std::string_view bytes) { return Decoder(bytes).number(); }

std::map<std::string, std::string> optionsOf(const device::LaunchOptions &options) {
  std::map<std::string, std::string> all;
  for (const device::LaunchSetting &setting : device::launchSettings())
    if (const std::string text = setting.write(options); !text.empty())
      all[std::string(setting.word)] = text;
  if (options.schedule == rt::Schedule::scripted && options.script) {
    device::ScheduleFile one;
    if (const auto found = options.script->launches.find(options.launchNumber);
        found != options.script->launches.end())
      one.launches[0] = found->second;
    all[kScriptKey] = writeScheduleFile(one);
  }
  if (options.hasPinnedLanes)
    all[kLanesKey] = std::to_string(options.code.lanes);
  if (options.code.hasOneDoubleNan)
    all[kNanKey] = kOneNan;
  return all;
}

void applyLaunch(const LaunchEvent &event, device::LaunchOptions &options) {
  options.grid = event.grid;
  options.block = event.block;
  options.cluster = event.cluster;
  options.dynamicSharedBytes = static_cast<uint32_t>(event.sharedBytes);
  options.isCooperative = event.isCooperative;
  options.params = event.params.data();
  options.code.matrix = {}; // unless the recording says so
  options.code.hasOneDoubleNan = false;
  for (const auto &[name, value] : event.options) {
    bool isGood = true;
    if (name == kScriptKey) {
      auto file = std::make_shared<device::ScheduleFile>();
      isGood = device::parseScheduleFile("script", value, *file).empty();
      device::useScript(std::move(file), options);
      options.launchNumber = 0;
    } else if (name == kScheduleKey) {
      isGood = value == "script" ||
               (!value.starts_with("script:") && device::readSchedule(value, options).empty());
    } else if (name == kLanesKey) {
      options.hasPinnedLanes = true;
      isGood = device::readLanes(value, options.code.lanes) && options.code.lanes != 0;
    } else if (name == kNanKey) {
      options.code.hasOneDoubleNan = true;
      isGood = value == kOneNan;
    } else if (const device::LaunchSetting *setting = device::findSetting(name);
               setting && setting->effect == device::LaunchSetting::results) {
      isGood = setting->read(value, options).empty();
    } else {
      throw BadRecording("a launch has the option '" + name + "', which this ptxrun does not know");
    }
    if (!isGood)
      throw BadRecording("a launch has " + name + " '" + value +
                         "', which this ptxrun does not know");
  }
}

} // namespace ptxrun::capture
