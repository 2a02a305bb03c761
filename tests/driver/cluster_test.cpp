// Clusters, cooperative grids and programmatic dependent launch through the driver API.
#include "tests/driver/driver_fixture.h"

namespace ptxrun::tests {
namespace {

constexpr const char *kClusters = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry size(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_nctarank;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry four(.param .u64 out) .explicitcluster .reqnctapercluster 4, 1, 1
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_nctarank;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry any(.param .u64 out) .explicitcluster { ret; }
.visible .entry next(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  griddepcontrol.wait;
  ld.param.u64 %rd1, [out];
  griddepcontrol.launch_dependents;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r1, [%rd1];
  mad.lo.u32 %r1, %r1, 3, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry stuck(.param .u64 out)
{
  .reg .pred %p;
  .shared .align 8 .b64 never;
  mbarrier.init.shared.b64 [never], 2;
  mbarrier.arrive.shared.b64 _, [never];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p, [never], 0;
  @!%p bra WAIT;
  ret;
}
.visible .entry meet(.param .u64 counter, .param .u32 rounds)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [counter];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, 0;
ROUND:
  bar.sync 0;
  add.u32 %r4, %r4, %r2;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra MET;
  red.release.gpu.global.add.u32 [%rd1], 1;
SPIN:
  ld.acquire.gpu.global.u32 %r5, [%rd1];
  setp.lt.u32 %p2, %r5, %r4;
  @%p2 bra SPIN;
MET:
  bar.sync 0;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra ROUND;
  ret;
}
)";

class Clusters : public DriverTest {
 protected:
  CUresult launchEx(CUfunction function, unsigned grid, unsigned block,
                    std::vector<CUlaunchAttribute> attributes, void **pointers) {
    CUlaunchConfig config = {};
    config.gridDimX = grid;
    config.blockDimX = block;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    return cuLaunchKernelEx(&config, function, pointers, nullptr);
  }
  static CUlaunchAttribute clusterOf(unsigned x) {
    CUlaunchAttribute a = {};
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim.x = x;
    a.value.clusterDim.y = a.value.clusterDim.z = 1;
    return a;
  }
};

TEST_F(Clusters, HaveTheShapeOfTheLaunchAttribute) {
  CUfunction size = function(kClusters, "size");
  CUdeviceptr out = upload(std::vector<uint32_t>(24));
  void *pointers[] = {&out};
  for (unsigned cluster : {1u, 2u, 3u, 8u}) {
    ASSERT_CUDA(launchEx(size, 24, 32, {clusterOf(cluster)}, pointers));
    EXPECT_EQ(download<uint32_t>(out, 24), std::vector<uint32_t>(24, cluster));
  }
  EXPECT_RESULT(launchEx(size, 20, 32, {clusterOf(8)}, pointers), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_RESULT(launchEx(size, 24, 32, {clusterOf(12)}, pointers), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  ASSERT_CUDA(cuFuncSetAttribute(size, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  ASSERT_CUDA(launchEx(size, 24, 32, {clusterOf(12)}, pointers));
  EXPECT_EQ(download<uint32_t>(out, 24), std::vector<uint32_t>(24, 12));
}

TEST_F(Clusters, HaveTheShapeThatTheKernelRequires) {
  CUfunction four = function(kClusters, "four");
  CUdeviceptr out = upload(std::vector<uint32_t>(8));
  void *pointers[] = {&out};
  ASSERT_CUDA(launch(four, 8, 32, nullptr, out));
  EXPECT_EQ(download<uint32_t>(out, 8), std::vector<uint32_t>(8, 4));
  EXPECT_CUDA(launchEx(four, 8, 32, {clusterOf(4)}, pointers));
  EXPECT_RESULT(launchEx(four, 8, 32, {clusterOf(2)}, pointers), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_RESULT(launch(four, 6, 32, nullptr, out), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  int width = 0;
  EXPECT_CUDA(cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, four));
  EXPECT_EQ(width, 4);
  EXPECT_RESULT(cuFuncSetAttribute(four, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2),
                CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(Clusters, HaveToBeNamedWhereTheKernelSaysSo) {
  CUfunction any = function(kClusters, "any");
  CUdeviceptr out = upload(std::vector<uint32_t>(1));
  void *pointers[] = {&out};
  int isRequired = 0;
  EXPECT_CUDA(cuFuncGetAttribute(&isRequired, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, any));
  EXPECT_EQ(isRequired, 1);
  EXPECT_RESULT(launch(any, 4, 32, nullptr, out), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_CUDA(launchEx(any, 4, 32, {clusterOf(2)}, pointers));
}

TEST_F(Clusters, DependentLaunchesSeeWhatTheyWaitFor) {
  CUfunction next = function(kClusters, "next");
  CUdeviceptr out = upload(std::vector<uint32_t>(16));
  void *pointers[] = {&out};
  CUevent event = nullptr;
  ASSERT_CUDA(cuEventCreate(&event, 0));
  CUlaunchAttribute serialization = {}, programmatic = {};
  serialization.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  serialization.value.programmaticStreamSerializationAllowed = 1;
  programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
  programmatic.value.programmaticEvent.event = event;
  for (int i = 0; i < 3; ++i)
    ASSERT_CUDA(launchEx(next, 16, 1, {serialization}, pointers));
  ASSERT_CUDA(launchEx(next, 16, 1, {serialization, programmatic}, pointers));
  EXPECT_CUDA(cuEventSynchronize(event));
  EXPECT_EQ(download<uint32_t>(out, 16),
            std::vector<uint32_t>(16, 40)); // ((1 * 3 + 1) * 3 + 1) ...
  EXPECT_CUDA(cuEventDestroy(event));
}

TEST_F(Clusters, CooperativeGridsMeetAtEverySizeThatIsAccepted) {
  CUfunction meet = function(kClusters, "meet");
  int blocks = 0, multiprocessors = 0;
  ASSERT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meet, 64, 0));
  ASSERT_CUDA(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  const auto most = static_cast<unsigned>(blocks * multiprocessors);
  for (unsigned grid : {1u, 7u, most / 2, most}) {
    CUdeviceptr counter = upload(std::vector<uint32_t>(1));
    uint32_t rounds = 3;
    void *pointers[] = {&counter, &rounds};
    ASSERT_CUDA(cuLaunchCooperativeKernel(meet, grid, 1, 1, 64, 1, 1, 0, nullptr, pointers));
    EXPECT_EQ(download<uint32_t>(counter, 1)[0], 3 * grid);
  }
  CUdeviceptr counter = upload(std::vector<uint32_t>(1));
  uint32_t rounds = 1;
  void *pointers[] = {&counter, &rounds};
  for (unsigned grid : {most + 1, 1u << 20})
    EXPECT_RESULT(cuLaunchCooperativeKernel(meet, grid, 1, 1, 64, 1, 1, 0, nullptr, pointers),
                  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(Clusters, WaitThatNobodyCanEndIsALaunchFailure) {
  CUfunction stuck = function(kClusters, "stuck");
  CUdeviceptr out = upload(std::vector<uint32_t>(1));
  testing::internal::CaptureStderr();
  ASSERT_CUDA(launch(stuck, 1, 1, nullptr, out));
  EXPECT_RESULT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      report.find("`never`, the mbarrier at .shared address 0x400: phase 0 (modulo 8), 1 of 2 "
                  "arrivals"),
      std::string::npos)
      << report;
}

} // namespace
} // namespace ptxrun::tests
