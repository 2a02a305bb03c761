// A program whose launches are recorded: one scenario by argument, results printed. Only the driver
// API is used.
//   recorded_program MODULE.ptx SCENARIO
#include "tests/capture/recorded_program.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace recorded;

namespace {

constexpr unsigned kCount = 20000;

void streams() {
  CUstream s[3];
  CUevent event;
  CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  const auto x = device(kCount, numbers(kCount)), y = device<float>(kCount),
             z = device<float>(kCount);
  for (CUstream &stream : s)
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (int k = 0; k < 12; ++k) {
    launch("scale", 40, 128, s[k % 3], y, x, static_cast<float>(k), kCount);
    CHECK(cuEventRecord(event, s[k % 3]));
    CHECK(cuStreamWaitEvent(s[(k + 1) % 3], event, 0));
    launch("scale", 40, 128, s[(k + 1) % 3], z, y, 0.5f, kCount);
    CHECK(cuEventRecord(event, s[(k + 1) % 3]));
    CHECK(cuStreamWaitEvent(s[(k + 1) % 3], event, 0));
    for (CUstream stream : s)
      CHECK(cuStreamSynchronize(stream));
  }
  print<float>("streams", z, 4);
}
void floatAtomics() {
  const auto x = device(kCount, numbers(kCount)), sum = device<float>(1);
  for (int k = 0; k < 6; ++k)
    launch("sum_in_any_order", (kCount + 127) / 128, 128, nullptr, sum, x, kCount);
  print<float>("sum", sum, 1);
}
void slots() {
  const auto out = device<unsigned>(8192);
  launch("slots", 32, 256, nullptr, out);
  print<unsigned>("slots", out, 5);
}
void race() {
  const auto x = device<unsigned>(1);
  for (int k = 0; k < 5; ++k)
    launch("race", 64, 64, nullptr, x);
  print<unsigned>("race", x, 1);
}
void locks() {
  const auto lock = device<unsigned>(1), last = device<unsigned>(1);
  launch("locked", 50, 32, nullptr, lock, last);
  print<unsigned>("locked", last, 1);
}
void managed() {
  CUdeviceptr m;
  CHECK(cuMemAllocManaged(&m, kCount * 4, CU_MEM_ATTACH_GLOBAL));
  auto *words = reinterpret_cast<unsigned *>(m);
  for (unsigned k = 0; k < 8; ++k) {
    for (unsigned i = 0; i < kCount; i += 1 + 700 * k)
      words[i] += i * k; // between launches
    launch("add_to", (kCount + 255) / 256, 256, nullptr, m, kCount);
    CHECK(cuCtxSynchronize());
  }
  std::printf("managed %u %u\n", words[7], words[kCount - 1]);
}
void pinned() {
  unsigned *words;
  CHECK(cuMemAllocHost(reinterpret_cast<void **>(&words), 4096));
  auto *own = static_cast<unsigned *>(std::calloc(3000, 4));
  CHECK(cuMemHostRegister(own, 12000, CU_MEMHOSTREGISTER_DEVICEMAP));
  for (unsigned k = 0; k < 4; ++k) {
    words[k] = own[2999 - k] = 1000 * k;
    launch("add_to", 4, 256, nullptr, words, 1024u);
    launch("add_to", 12, 256, nullptr, own, 3000u);
    CHECK(cuCtxSynchronize());
  }
  std::printf("pinned %u %u\n", words[3], own[2999]);
  CHECK(cuMemHostUnregister(own));
  CHECK(cuMemFreeHost(words));
}
void pools() {
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  for (int k = 0; k < 6; ++k) {
    CUdeviceptr x, y;
    CHECK(cuMemAllocAsync(&x, 40000 + 1000 * k, stream));
    CHECK(cuMemAllocAsync(&y, 40000, stream));
    CHECK(cuMemsetD32Async(x, 0x3f800000 + k, 10000, stream));
    launch("scale", 20, 128, stream, y, x, 2.0f, 10000u);
    CHECK(cuMemFreeAsync(x, stream));
    if (k == 5)
      CHECK(cuStreamSynchronize(stream)), print<float>("pools", y, 3);
    CHECK(cuMemFreeAsync(y, stream));
  }
  CHECK(cuStreamSynchronize(stream));
}
void variables() {
  CUdeviceptr table, out = device<float>(256);
  size_t bytes;
  CHECK(cuModuleGetGlobal(&table, &bytes, module, "table"));
  launch("fill_table", 1, 64, nullptr, 3.0f);
  launch("from_table", 4, 64, nullptr, out);
  const float five = 5;
  CHECK(cuMemcpyHtoD(table + 8, &five, 4));
  launch("from_table", 4, 64, nullptr, out);
  print<float>("variables", out, 4);
}
void printing() {
  for (int k = 0; k < 3; ++k)
    launch("say", 3, 1, nullptr, k);
  CHECK(cuCtxSynchronize());
}
void children() { // a program that starts another one, which is recorded to a file of its own
  const auto x = device(kCount, numbers(kCount)), y = device<float>(kCount);
  launch("scale", 40, 128, nullptr, y, x, 2.0f, kCount);
  CHECK(cuCtxSynchronize());
  char program[4096] = {};
  if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0)
    std::exit(3);
  const std::string command = "'" + std::string(program) + "' '" + modulePath + "' in_place";
  if (std::system(command.c_str()) != 0)
    std::exit(3);
  launch("scale", 40, 128, nullptr, x, y, 0.25f, kCount);
  print<float>("children", x, 4);
}
void heap() {
  const auto head = device<unsigned long long>(1), sum = device<unsigned long long>(1);
  for (int k = 0; k < 3; ++k) {
    launch("list", 4, 64, nullptr, head, 200u);
    launch("walk", 1, 1, nullptr, head, sum);
  }
  print<unsigned long long>("heap", sum, 1);
}
void pointers() {
  const auto a = device<float>(512), b = device<float>(512);
  const auto rows = device<CUdeviceptr>(2, {a, b});
  launch("pointers", 4, 128, nullptr, rows, 512u);
  launch("scale", 4, 128, nullptr, a, b, 3.0f, 512u);
  print<float>("pointers", a, 6);
}
void clocks() {
  const auto out = device<unsigned long long>(65);
  launch("timed", 2, 32, nullptr, out);
  CHECK(cuCtxSynchronize());
}
/// The same inputs and zeros are copied over what kernels made of them, as programs that measure
/// do; the fourth time a few bytes of them are others.
void copiesAgain() {
  constexpr unsigned kMany = 1 << 20;
  auto inputs = numbers(kMany);
  const std::vector<float> zeros(kMany);
  const auto x = device<float>(kMany + 1001), y = device<float>(kMany);
  for (int k = 0; k < 5; ++k) {
    inputs[77777] = k < 3 ? 1 : 2;
    CHECK(cuMemcpyHtoD(x + 4004, inputs.data(), kMany * 4));
    CHECK(cuMemcpyHtoD(y, zeros.data(), kMany * 4));
    launch("scale", kMany / 256, 256, nullptr, y, x + 4004, 2.0f + static_cast<float>(k % 2),
           kMany);
    launch("scale", kMany / 256, 256, nullptr, x + 4004, y, 0.5f, kMany);
    CHECK(cuMemcpyDtoD(x, y, kMany * 2)); // and pieces that are known to be others' twins
    CHECK(cuMemsetD8(y, 7, kMany * 3));
    launch("scale", 1, 256, nullptr, y + kMany * 3, y, 1.0f, 256u);
  }
  print<float>("again", x + 4004, 4);
  print<float>("at", x + (77777 + 1001) * 4, 1);
}
void inPlace() {
  std::vector<unsigned> start(1001);
  for (unsigned i = 0; i < 1001; ++i)
    start[i] = i * i;
  const auto x = device(1001, start);
  launch("reversed", 4, 128, nullptr, x, 1001u);
  print<unsigned>("in place", x, 3);
}
void boxes() { // copies of boxes, within the device as well
  std::vector<float> rows = numbers(64 * 16);
  const auto x = device(64 * 16, rows), y = device<float>(64 * 16);
  CUDA_MEMCPY2D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE, box.srcDevice = x, box.srcPitch = 256;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE, box.dstDevice = y, box.dstPitch = 128;
  box.WidthInBytes = 100, box.Height = 9;
  CHECK(cuMemcpy2D(&box));
  CHECK(cuMemsetD2D32(y + 1024, 128, 7, 5, 4));
  launch("scale", 4, 128, nullptr, x, y, 3.0f, 1024u);
  CHECK(cuMemcpyDtoD(y, x + 400, 1600));
  launch("scale", 4, 128, nullptr, x, y, 2.0f, 1024u);
  print<float>("boxes", x, 5);
}
void cooperative() {
  const auto x = device<unsigned>(17), arrived = device<unsigned>(1);
  CUdeviceptr values[] = {x, arrived};
  void *arguments[] = {&values[0], &values[1]};
  CHECK(cuLaunchCooperativeKernel(kernel("grid_sum"), 16, 1, 1, 32, 1, 1, 0, nullptr, arguments));
  print<unsigned>("cooperative", x, 17);
}
void onePlace() { // races within one block, whose outcome is that of some W
  const auto x = device<unsigned>(256), out = device<unsigned>(8);
  for (int k = 0; k < 3; ++k) {
    launch("shifted", 1, 256, nullptr, x, 200u);
    launch("same_places", 1, 200, nullptr, out);
  }
  print<unsigned>("one place", x, 100);
  print<unsigned>("one place", out, 8);
}
void graphs() { // captured from a stream, launched with other arguments too
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  std::vector<float> quarters = numbers(kCount); // whose sum is exact in any order
  for (float &value : quarters)
    value = std::floor(4 * value) / 4;
  const auto x = device(kCount, quarters), y = device<float>(kCount), sum = device<float>(1);
  CUgraph graph;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  launch("scale", 40, 128, stream, y, x, 2.0f, kCount);
  CHECK(cuMemsetD32Async(sum, 0, 1, stream));
  launch("sum_in_any_order", (kCount + 127) / 128, 128, stream, sum, y, kCount);
  CHECK(cuMemcpyDtoDAsync(x, y, kCount * 2, stream));
  CHECK(cuStreamEndCapture(stream, &graph));
  CUgraphExec ready;
  CHECK(cuGraphInstantiate(&ready, graph, 0));
  for (int k = 0; k < 4; ++k) {
    CHECK(cuGraphLaunch(ready, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyHtoD(x, &k, 4));
  }
  print<float>("graph", sum, 1);
}
void hostFunctions() { // the host writes managed memory in the middle of a stream
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr m;
  CHECK(cuMemAllocManaged(&m, 4096, CU_MEM_ATTACH_GLOBAL));
  std::memset(reinterpret_cast<void *>(m), 0, 4096);
  for (int k = 0; k < 5; ++k) {
    launch("add_to", 8, 128, stream, m, 1024u);
    CHECK(cuLaunchHostFunc(
        stream,
        [](void *words) {
          for (unsigned i = 0; i < 1024; i += 3)
            static_cast<unsigned *>(words)[i] ^= 0x55u + i;
        },
        reinterpret_cast<void *>(m)));
  }
  CHECK(cuStreamSynchronize(stream));
  print<unsigned>("host functions", m, 7);
}
void reload() {
  for (int k = 0; k < 3; ++k) {
    variables();
    CHECK(cuModuleUnload(module));
    CHECK(cuModuleLoad(&module, modulePath.c_str()));
  }
}
double nan(uint64_t payload) {
  const uint64_t bits = 0x7ff8000000000000 | payload;
  double number;
  std::memcpy(&number, &bits, sizeof number);
  return payload % 2 ? number : -number;
}
void nans() { // f64 arithmetic on different ones
  constexpr unsigned kNans = 1000;
  std::vector<double> x, y;
  for (unsigned i = 0; i < kNans; ++i) {
    x.push_back(i % 3 ? nan(i + 1) : i);
    y.push_back(i % 7 < 4 ? nan(i + 100000) : std::numeric_limits<double>::infinity());
  }
  const auto a = device(kNans, x), b = device(kNans, y), out = device<double>(4 * kNans),
             sum = device<double>(1);
  launch("nans", 5, 96, nullptr, out, a, b, kNans);
  launch("nan_sum", 8, 128, nullptr, sum, a, kNans);
  launch("nans", 2, 32, nullptr, out, b, sum, 1u);
  std::vector<double> values(4);
  CHECK(cuMemcpyDtoH(values.data(), out, values.size() * 8));
  std::printf("nans %d\n", std::isnan(values[0]) && std::isnan(values[3]));
}
void many() { // launches, for checkpoints and kills
  const auto x = device(kCount, numbers(kCount)), y = device<float>(kCount), sum = device<float>(1);
  for (int k = 0; k < 600; ++k) {
    launch("scale", 20, 128, nullptr, y, x, 1.0f + static_cast<float>(k % 7), kCount);
    if (k % 3 == 0)
      launch("sum_in_any_order", 20, 128, nullptr, sum, y, kCount);
    if (k % 50 == 0)
      CHECK(cuMemcpyHtoD(x, &k, 4));
  }
  print<float>("many", sum, 1);
}
void crash() {
  const auto x = device<unsigned>(64);
  launch("add_to", 1, 64, nullptr, x, 64u);
  launch("bad_address", 4, 64, nullptr, x);
  std::printf("crash %d\n", static_cast<int>(cuCtxSynchronize()));
}

const Scenarios driverScenarios = {{"streams", streams},
                                   {"float_atomics", floatAtomics},
                                   {"slots", slots},
                                   {"race", race},
                                   {"locks", locks},
                                   {"managed", managed},
                                   {"pinned", pinned},
                                   {"pools", pools},
                                   {"variables", variables},
                                   {"printing", printing},
                                   {"children", children},
                                   {"heap", heap},
                                   {"pointers", pointers},
                                   {"clocks", clocks},
                                   {"copies_again", copiesAgain},
                                   {"in_place", inPlace},
                                   {"boxes", boxes},
                                   {"cooperative", cooperative},
                                   {"one_place", onePlace},
                                   {"graphs", graphs},
                                   {"host_functions", hostFunctions},
                                   {"reload", reload},
                                   {"nans", nans},
                                   {"many", many},
                                   {"crash", crash}};

} // namespace

int main(int count, char **arguments) {
  Scenarios scenarios = driverScenarios;
  scenarios.merge(imageScenarios());
  scenarios.merge(clusterScenarios());
  if (count != 3 || !scenarios.contains(arguments[2])) {
    for (const auto &[name, work] : scenarios)
      std::printf("%s\n", name.c_str());
    return 2;
  }
  modulePath = arguments[1];
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoad(&module, modulePath.c_str()));
  scenarios.at(arguments[2])();
}
