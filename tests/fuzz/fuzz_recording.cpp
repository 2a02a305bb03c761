// Recordings with any contents behind right checksums: reading one, and replaying it
// (PTXRUN_FUZZ_REPLAY), either works or is a BadRecording.
//
// The input is a row of events: a byte of type, a byte of length n, n bytes of payload; where the
// type has its top bit set, an event that fits what came before, made of the payload's bytes.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "loader/capture/replayer.h"
#ifdef PTXRUN_FUZZ_REPLAY
#include "rt/memory/device_memory.h"
#endif

namespace {

using namespace ptxrun::capture;

constexpr uint64_t kArena = 0x200000000000; // where recorded allocations start
constexpr const char *kText =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 counter;\n"
    ".visible .entry k(.param .u64 p) { .reg .b64 %a; .reg .b32 %r<3>;\n"
    "ld.param.u64 %a, [p]; mov.u32 %r1, %tid.x; st.global.u32 [%a], %r1;\n"
    "atom.global.add.u32 %r2, [counter], 1; ret; }\n"
    ".visible .entry t(.param .u64 p) { .reg .b64 %h<2>; .reg .b32 %x, %t<4>;\n"
    "mov.u32 %x, %tid.x; mov.u64 %h0, 2; mov.u64 %h1, 3;\n"
    "tex.2d.v4.u32.s32 {%t0, %t1, %t2, %t3}, [%h0, {%x, %x}];\n"
    "sust.b.2d.b32.clamp [%h1, {%x, %x}], {%t0}; ret; }\n";

/// Small numbers from the payload.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  uint64_t operator()(uint64_t most) {
    if (bytes_.empty())
      return 0;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return byte % (most + 1);
  }
  uint64_t address() { return kArena + (*this)(3) * 0x200000 + (*this)(255); }

 private:
  std::string_view bytes_;
};

std::string fitting(BlockType type, std::string_view payload, uint64_t number) {
  Choices choose(payload);
  switch (type) {
  case BlockType::module:
    return encode(
        ModuleEvent{choose(2), "ptx", kText, choose(1) ? choose.address() & ~255u : 0, {}});
  case BlockType::allocate:
    return encode(
        AllocateEvent{kArena + choose(3) * 0x200000, 1 + choose(255) * 97, choose(1) == 1});
  case BlockType::unload:
    return encodeNumber(choose(2));
  case BlockType::free:
    return encodeNumber(kArena + choose(3) * 0x200000);
  case BlockType::write: {
    WriteEvent event;
    event.spans = {{choose.address(), choose(200)}, {choose.address(), choose(30)}};
    event.data.assign(event.spans[0].bytes + event.spans[1].bytes, 'x');
    return encode(event);
  }
  case BlockType::copy:
    return encode(CopyEvent{choose.address(), choose(64), choose(255), choose.address(), choose(64),
                            choose(255), choose(40), choose(9), choose(3)});
  case BlockType::fill:
    return encode(
        FillEvent{choose.address(), choose(64), choose(255), choose(4), choose(40), choose(9)});
  case BlockType::launch: {
    LaunchEvent event;
    event.number = number;
    event.module = choose(2);
    event.kernel = std::array{"other", "t", "t"}[std::min<uint64_t>(choose(9), 2)];
    if (choose(1))
      event.kernel = "k";
    event.grid = {uint32_t(choose(5)), uint32_t(choose(2)), 1};
    event.block = {uint32_t(choose(70)), 1, uint32_t(choose(2))};
    const uint64_t pointer = choose.address();
    event.params.assign(reinterpret_cast<const char *>(&pointer), sizeof pointer);
    if (choose(3) == 0)
      event.options["schedule"] = choose(1) ? "serial" : "seed:3";
    return encode(event);
  }
  case BlockType::image: {
    ImageEvent event;
    event.handle = choose(1) ? 1 + choose(3) : choose(255) << 20 | choose(3);
    event.kind = choose(1) ? ptxrun::abi::ImageKind::texture : ptxrun::abi::ImageKind::surface;
    event.isBound = choose(7) != 0;
    ptxrun::rt::Image &image = event.texture.image;
    image.base = reinterpret_cast<char *>(choose.address());
    image.bytes = choose(255) * 4;
    image.level[0].width = uint32_t(choose(40));
    image.level[0].height = uint32_t(choose(9));
    image.level[0].pitch = choose(255);
    image.level[0].slice = choose(255);
    image.layers = uint32_t(choose(3));
    return encode(event);
  }
  case BlockType::drop:
    return encodeNumber(1 + choose(3));
  case BlockType::again:
    return encodeNumber(choose(3));
  case BlockType::result: {
    ResultEvent event;
    event.number = number - 1;
    event.code = choose(3);
    event.changes = {{kArena + choose(3) * 4096, 7}};
    return encode(event);
  }
  default:
    return std::string(payload);
  }
}

void write(const std::string &path, const uint8_t *data, size_t size) {
  BlockWriter writer;
  std::string problem;
  if (!writer.open(path, problem))
    abort();
  uint64_t launches = 0;
  while (size >= 2) {
    const bool fits = data[0] & 0x80;
    const auto type = static_cast<BlockType>(data[0] % 16);
    const size_t bytes = std::min<size_t>(data[1], size - 2);
    const std::string_view payload(reinterpret_cast<const char *>(data + 2), bytes);
    launches += fits && type == BlockType::launch;
    writer.write(type, fits ? fitting(type, payload, launches) : std::string(payload));
    data += 2 + bytes;
    size -= 2 + bytes;
  }
}

void decodeAll(const std::string &path) {
  readIndex(path);
  BlockReader reader(path);
  for (Block block; reader.next(block);) {
    ModuleEvent module;
    AllocateEvent allocate;
    WriteEvent written;
    CopyEvent copy;
    FillEvent fill;
    ImageEvent image;
    switch (block.type) {
    case BlockType::module:
      decode(block.payload, module);
      break;
    case BlockType::allocate:
      decode(block.payload, allocate);
      break;
    case BlockType::again:
      reader.readWrite(decodeNumber(block.payload), block);
      [[fallthrough]];
    case BlockType::write:
      decode(block.payload, written);
      break;
    case BlockType::copy:
      decode(block.payload, copy);
      break;
    case BlockType::fill:
      decode(block.payload, fill);
      break;
    case BlockType::image:
      decode(block.payload, image);
      break;
    default:
      break;
    }
  }
}

#ifdef PTXRUN_FUZZ_REPLAY
/// Replays, and gives back the memory that is a process's for good otherwise.
void replay(const std::string &path) {
  ReplayOptions options;
  options.file = path;
  options.threads = 1;
  options.tiers = ptxrun::device::Tiers::baseline;
  std::vector<uint64_t> placed;
  {
    Replayer replayer(options);
    try {
      replayer.run([](const LaunchReport &) {});
    } catch (const BadRecording &) {
    }
    for (const auto &[base, range] : replayer.memory().ranges)
      placed.push_back(base);
  }
  for (const uint64_t base : placed)
    ptxrun::rt::freeDevice(reinterpret_cast<void *>(base));
}
#endif

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path = "/dev/shm/ptxrun-fuzz-" + std::to_string(getpid()) + ".rec";
  static const bool isRemovedAtExit = std::atexit([] { unlink(path.c_str()); }) == 0;
  (void)isRemovedAtExit;
  write(path, data, size);
  try {
    decodeAll(path);
  } catch (const BadRecording &) {
  }
#ifdef PTXRUN_FUZZ_REPLAY
  replay(path);
#endif
  return 0;
}
