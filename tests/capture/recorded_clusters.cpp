// Clusters, the asynchronous proxy, dependent launches: kernels of recorded_90.ptx.
#include "tests/capture/recorded_program.h"

using namespace recorded;

namespace {

constexpr unsigned kNumbers = 2048;

/// recorded_90.ptx, beside the module that was given.
CUfunction kernel90(const char *name) {
  static CUmodule loaded = nullptr;
  if (!loaded)
    CHECK(cuModuleLoad(&loaded, (modulePath.substr(0, modulePath.rfind('.')) + "_90.ptx").c_str()));
  CUfunction found;
  CHECK(cuModuleGetFunction(&found, loaded, name));
  return found;
}

template <class... Arguments>
void launch90(const char *name, unsigned grid, unsigned block,
              std::vector<CUlaunchAttribute> attributes, Arguments... arguments) {
  void *pointers[] = {&arguments...};
  CUlaunchConfig config{};
  config.gridDimX = grid;
  config.blockDimX = block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  CHECK(cuLaunchKernelEx(&config, kernel90(name), pointers, nullptr));
}

CUdeviceptr words() {
  std::vector<unsigned> values(kNumbers);
  for (unsigned i = 0; i < kNumbers; ++i)
    values[i] = i * i + 7;
  return device(kNumbers, values);
}

CUlaunchAttribute clusterOf(unsigned blocks) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = blocks;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  return attribute;
}

void clusters() {
  const auto x = words(), out = device<unsigned>(4096);
  launch90("cluster_sums", 16, 64, {}, out, x);
  for (const unsigned blocks : {1u, 2u, 8u})
    launch90("cluster_slots", 16, 64, {clusterOf(blocks)}, out);
  launch90("cluster_sums", 8, 64, {}, x, out);
  print<unsigned>("clusters", x, 4);
}

void bulkCopies() {
  const auto x = words(), out = device<unsigned>(kNumbers);
  for (int k = 0; k < 3; ++k) {
    launch90("bulk_copies", 8, 256, {}, out, x);
    launch90("bulk_copies", 8, 256, {}, x, out);
  }
  print<unsigned>("bulk copies", x, 4);
}

void dependent() {
  const auto x = words();
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  for (int k = 0; k < 5; ++k)
    launch90("waits_for_the_one_before", 16, 128, {early}, x);
  print<unsigned>("dependent", x, 4);
}

} // namespace

Scenarios recorded::clusterScenarios() {
  return {{"clusters", clusters}, {"bulk_copies", bulkCopies}, {"dependent", dependent}};
}
