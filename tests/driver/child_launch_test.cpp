// Kernels that launch kernels and graphs: PTX as nvcc -rdc=true writes it.
#include "tests/driver/fat_binary_writer.h"
#include "tests/driver/graph_fixture.h"

namespace ptxrun::tests {

namespace {

/// append(p, d): as in graph_fixture.h.
/// family(p, n): appends n; then, if n > 1, launches family(p, n - 1) and after it append(p, 9).
/// ordered(p): launches append(p, 3) into the tail stream, append(p, 1) and append(p, 2), and
/// appends 0 last of its own. filled(p, q): fills 8 bytes at p with 7, copies 4 of them to q.
/// many(p, n): launches n kernels with a block of 16 KiB of arguments each, as far as it goes; p[0]
/// is how many went, p[1] the error then. again(p, exec): counts *p up; launches the running graph
/// anew while *p < 5, and `exec` once.
constexpr const char *kChildren = R"(.version 8.3
.target sm_80
.address_size 64
.extern .func (.param .b64 func_retval0) __cudaCDP2GetParameterBufferV2
(
  .param .b64 p0,
  .param .align 4 .b8 p1[12],
  .param .align 4 .b8 p2[12],
  .param .b32 p3
)
;
.extern .func (.param .b32 func_retval0) __cudaCDP2LaunchDeviceV2
(
  .param .b64 p0,
  .param .b64 p1
)
;
.extern .func (.param .b32 func_retval0) __cudaCDP2MemsetAsync
(.param .b64 p0, .param .b32 p1, .param .b64 p2, .param .b64 p3)
;
.extern .func (.param .b32 func_retval0) __cudaCDP2MemcpyAsync
(.param .b64 p0, .param .b64 p1, .param .b64 p2, .param .b32 p3, .param .b64 p4)
;
.extern .func (.param .b32 func_retval0) cudaGraphLaunch
(.param .b64 p0, .param .b64 p1)
;
.extern .func (.param .b32 func_retval0) __cudaCDP2GetLastError
()
;
.visible .entry append(.param .u64 p, .param .u32 d)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [d];
  ld.global.u32 %r2, [%rd1];
  mad.lo.u32 %r3, %r2, 10, %r1;
  st.global.u32 [%rd1], %r3;
  ret;
}
.func launch(.param .b64 kernel, .param .b64 p, .param .b32 d, .param .b64 stream)
{
  .reg .b64 %rd<6>;
  .reg .b32 %r<3>;
  ld.param.b64 %rd1, [kernel];
  ld.param.b64 %rd2, [p];
  ld.param.b32 %r1, [d];
  ld.param.b64 %rd3, [stream];
  {
  .param .b64 a0;
  st.param.b64 [a0], %rd1;
  .param .align 4 .b8 a1[12];
  st.param.b32 [a1+0], 1;
  st.param.b32 [a1+4], 1;
  st.param.b32 [a1+8], 1;
  .param .align 4 .b8 a2[12];
  st.param.b32 [a2+0], 1;
  st.param.b32 [a2+4], 1;
  st.param.b32 [a2+8], 1;
  .param .b32 a3;
  st.param.b32 [a3], 0;
  .param .b64 r0;
  call.uni (r0), __cudaCDP2GetParameterBufferV2, (a0, a1, a2, a3);
  ld.param.b64 %rd4, [r0];
  }
  st.u64 [%rd4], %rd2;
  st.u32 [%rd4+8], %r1;
  {
  .param .b64 a0;
  st.param.b64 [a0], %rd4;
  .param .b64 a1;
  st.param.b64 [a1], %rd3;
  .param .b32 r0;
  call.uni (r0), __cudaCDP2LaunchDeviceV2, (a0, a1);
  ld.param.b32 %r2, [r0];
  }
  ret;
}
.visible .entry family(.param .u64 p, .param .u32 n)
{
  .reg .pred %p1;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.global.u32 %r2, [%rd1];
  mad.lo.u32 %r3, %r2, 10, %r1;
  st.global.u32 [%rd1], %r3;
  setp.le.u32 %p1, %r1, 1;
  @%p1 bra $done;
  sub.u32 %r4, %r1, 1;
  mov.u64 %rd2, family;
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd1;
    .param .b32 c; st.param.b32 [c], %r4; .param .b64 d; st.param.b64 [d], 0;
    call.uni launch, (a, b, c, d); }
  mov.u64 %rd3, append;
  { .param .b64 a; st.param.b64 [a], %rd3; .param .b64 b; st.param.b64 [b], %rd1;
    .param .b32 c; st.param.b32 [c], 9; .param .b64 d; st.param.b64 [d], 0;
    call.uni launch, (a, b, c, d); }
$done:
  ret;
}
.visible .entry ordered(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u64 %rd2, append;
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd1;
    .param .b32 c; st.param.b32 [c], 3; .param .b64 d; st.param.b64 [d], 3;
    call.uni launch, (a, b, c, d); }
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd1;
    .param .b32 c; st.param.b32 [c], 1; .param .b64 d; st.param.b64 [d], 0;
    call.uni launch, (a, b, c, d); }
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd1;
    .param .b32 c; st.param.b32 [c], 2; .param .b64 d; st.param.b64 [d], 4;
    call.uni launch, (a, b, c, d); }
  ld.global.u32 %r1, [%rd1];
  mul.lo.u32 %r2, %r1, 10;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry filled(.param .u64 p, .param .u64 q)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [q];
  { .param .b64 a; st.param.b64 [a], %rd1; .param .b32 b; st.param.b32 [b], 7;
    .param .b64 c; st.param.b64 [c], 8; .param .b64 d; st.param.b64 [d], 0; .param .b32 r;
    call.uni (r), __cudaCDP2MemsetAsync, (a, b, c, d); ld.param.b32 %r1, [r]; }
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd1;
    .param .b64 c; st.param.b64 [c], 4; .param .b32 d; st.param.b32 [d], 3;
    .param .b64 e; st.param.b64 [e], 0; .param .b32 r;
    call.uni (r), __cudaCDP2MemcpyAsync, (a, b, c, d, e); ld.param.b32 %r2, [r]; }
  ret;
}
.visible .entry large(.param .align 8 .b8 p[16384]) { ret; }
.visible .entry many(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
  mov.u64 %rd2, large;
$next:
  {
  .param .b64 a0;
  st.param.b64 [a0], %rd2;
  .param .align 4 .b8 a1[12];
  st.param.b32 [a1+0], 1;
  st.param.b32 [a1+4], 1;
  st.param.b32 [a1+8], 1;
  .param .align 4 .b8 a2[12];
  st.param.b32 [a2+0], 1;
  st.param.b32 [a2+4], 1;
  st.param.b32 [a2+8], 1;
  .param .b32 a3;
  st.param.b32 [a3], 0;
  .param .b64 r0;
  call.uni (r0), __cudaCDP2GetParameterBufferV2, (a0, a1, a2, a3);
  ld.param.b64 %rd3, [r0];
  }
  setp.eq.u64 %p1, %rd3, 0;
  @%p1 bra $full;
  {
  .param .b64 a0;
  st.param.b64 [a0], %rd3;
  .param .b64 a1;
  st.param.b64 [a1], 0;
  .param .b32 r0;
  call.uni (r0), __cudaCDP2LaunchDeviceV2, (a0, a1);
  ld.param.b32 %r3, [r0];
  }
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, %r1;
  @%p2 bra $next;
$full:
  {
  .param .b32 r0;
  call.uni (r0), __cudaCDP2GetLastError, ();
  ld.param.b32 %r4, [r0];
  }
  st.global.u32 [%rd1], %r2;
  st.global.u32 [%rd1+4], %r4;
  ret;
}
.visible .entry again(.param .u64 p, .param .u64 exec)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u64 %rd2, [exec];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  setp.ge.u32 %p1, %r1, 5;
  @%p1 bra $done;
  mov.u64 %rd3, %current_graph_exec;
  { .param .b64 a; st.param.b64 [a], %rd3; .param .b64 b; st.param.b64 [b], 72057594037927936;
    .param .b32 r; call.uni (r), cudaGraphLaunch, (a, b); ld.param.b32 %r2, [r]; }
  setp.ne.u32 %p2, %r1, 1;
  @%p2 bra $done;
  { .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], 144115188075855872;
    .param .b32 r; call.uni (r), cudaGraphLaunch, (a, b); ld.param.b32 %r3, [r]; }
$done:
  ret;
}
)";

/// asks(p): stores what answer() of another object gives.
constexpr const char *kAsks = R"(.version 8.3
.target sm_80
.address_size 64
.extern .func (.param .b32 r) answer;
.visible .entry asks(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  { .param .b32 a; call.uni (a), answer; ld.param.b32 %r1, [a]; }
  st.u32 [%rd1], %r1;
  ret;
}
)";
/// told(p): what the device runtime says of the device, and of errors. p[0..1]: the greatest block,
/// and what comes of asking for no attribute; p[2..3]: the stack's limit; p[4]: the runtime's
/// version; then the beginnings of error 0's name and error 1's text.
/// boxes(p, q): fills 2 rows of 3 bytes, 8 apart, at p with 5, copies them to q, 4 apart; then 2
/// slices of 2 rows of 2 bytes, 4 apart, at p + 64 with 6; of those the box at (1, 1, 0) of the
/// size (1, 1, 2) to q + 16, with rows of 2.
constexpr const char *kTells = R"(.version 8.3
.target sm_80
.address_size 64
.extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute
(.param .b64 p0, .param .b32 p1, .param .b32 p2);
.extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 p0, .param .b32 p1);
.extern .func (.param .b32 r) __cudaCDP2RuntimeGetVersion(.param .b64 p0);
.extern .func (.param .b64 r) __cudaCDP2GetErrorName(.param .b32 p0);
.extern .func (.param .b64 r) __cudaCDP2GetErrorString(.param .b32 p0);
.extern .func (.param .b32 r) __cudaCDP2Memcpy2DAsync(.param .b64 p0, .param .b64 p1,
  .param .b64 p2, .param .b64 p3, .param .b64 p4, .param .b64 p5, .param .b32 p6, .param .b64 p7);
.extern .func (.param .b32 r) __cudaCDP2Memset2DAsync(.param .b64 p0, .param .b64 p1,
  .param .b32 p2, .param .b64 p3, .param .b64 p4, .param .b64 p5);
.extern .func (.param .b32 r) __cudaCDP2Memset3DAsync(.param .align 8 .b8 p0[32], .param .b32 p1,
  .param .align 8 .b8 p2[24], .param .b64 p3);
.extern .func (.param .b32 r) __cudaCDP2Memcpy3DAsync(.param .b64 p0, .param .b64 p1);
.visible .entry told(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  { .param .b64 a; .param .b32 b, c, r; st.param.b64 [a], %d1; st.param.b32 [b], 1;
    st.param.b32 [c], 0; call.uni (r), __cudaCDP2DeviceGetAttribute, (a, b, c); }
  { .param .b64 a; .param .b32 b, c, r; st.param.b64 [a], %d1; st.param.b32 [b], 159;
    st.param.b32 [c], 0; call.uni (r), __cudaCDP2DeviceGetAttribute, (a, b, c);
    ld.param.b32 %r1, [r]; st.b32 [%d1+4], %r1; }
  add.u64 %d2, %d1, 8;
  { .param .b64 a; .param .b32 b, r; st.param.b64 [a], %d2; st.param.b32 [b], 0;
    call.uni (r), __cudaCDP2DeviceGetLimit, (a, b); }
  add.u64 %d2, %d1, 16;
  { .param .b64 a; .param .b32 r; st.param.b64 [a], %d2;
    call.uni (r), __cudaCDP2RuntimeGetVersion, (a); }
  { .param .b64 r; .param .b32 a; st.param.b32 [a], 0;
    call.uni (r), __cudaCDP2GetErrorName, (a); ld.param.b64 %d3, [r];
    ld.b8 %r1, [%d3]; st.b32 [%d1+20], %r1; }
  { .param .b64 r; .param .b32 a; st.param.b32 [a], 1;
    call.uni (r), __cudaCDP2GetErrorString, (a); ld.param.b64 %d3, [r];
    ld.b8 %r1, [%d3+1]; st.b32 [%d1+24], %r1; }
  ret;
}
.visible .entry boxes(.param .u64 p, .param .u64 q, .param .u64 box)
{
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [p];
  ld.param.u64 %d2, [q];
  ld.param.u64 %d3, [box];
  { .param .b64 a, b, w, h, s; .param .b32 v, r; st.param.b64 [a], %d1; st.param.b64 [b], 8;
    st.param.b32 [v], 5; st.param.b64 [w], 3; st.param.b64 [h], 2; st.param.b64 [s], 0;
    call.uni (r), __cudaCDP2Memset2DAsync, (a, b, v, w, h, s); }
  { .param .b64 a, b, c, d, w, h, s; .param .b32 k, r; st.param.b64 [a], %d2;
    st.param.b64 [b], 4; st.param.b64 [c], %d1; st.param.b64 [d], 8; st.param.b64 [w], 3;
    st.param.b64 [h], 2; st.param.b32 [k], 3; st.param.b64 [s], 0;
    call.uni (r), __cudaCDP2Memcpy2DAsync, (a, b, c, d, w, h, k, s); }
  add.u64 %d4, %d1, 64;
  { .param .align 8 .b8 a[32]; .param .align 8 .b8 e[24]; .param .b64 s; .param .b32 v, r;
    st.param.b64 [a], %d4; st.param.b64 [a+8], 4; st.param.b64 [a+16], 2; st.param.b64 [a+24], 2;
    st.param.b64 [e], 2; st.param.b64 [e+8], 2; st.param.b64 [e+16], 2; st.param.b32 [v], 6;
    st.param.b64 [s], 0; call.uni (r), __cudaCDP2Memset3DAsync, (a, v, e, s); }
  { .param .b64 a, s; .param .b32 r; st.param.b64 [a], %d3; st.param.b64 [s], 0;
    call.uni (r), __cudaCDP2Memcpy3DAsync, (a, s); }
  ret;
}
)";
constexpr const char *kAnswers = R"(.version 8.3
.target sm_80
.address_size 64
.visible .func (.param .b32 r) answer { st.param.b32 [r], 42; ret; }
)";

class ChildLaunch : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    children_ = load(kChildren);
  }
  CUfunction kernelNamed(const char *name) {
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleGetFunction(&function, children_, name));
    return function;
  }
  CUmodule children_ = nullptr;
};

} // namespace

TEST_F(ChildLaunch, RunsBeforeItsParentIsDone) {
  ASSERT_CUDA(launch(kernelNamed("family"), 1, 1, stream_, digits(), 4u));
  ASSERT_CUDA(append(stream_, 8)); // the stream goes on behind the whole family
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  // A child is done when what it launched is: the nines come from the inside out.
  EXPECT_EQ(read(), 43219998u);
}

TEST_F(ChildLaunch, RunsWhereObjectsAreLinked) {
  FatBinary whole, objects[3];
  whole.add(2, 90, "cubin");
  const void *list[4] = {};
  const char *texts[] = {kAnswers, kChildren, kAsks};
  for (int i = 0; i < 3; ++i)
    list[i] = objects[i].add(1, 80, texts[i]).data();
  const Wrapper wrapper{0x466243B1, 2, whole.data(), list};
  ASSERT_CUDA(cuModuleLoadData(&children_, &wrapper));
  ASSERT_CUDA(launch(kernelNamed("family"), 1, 1, stream_, digits(), 4u));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 4321999u);
  ASSERT_CUDA(launch(kernelNamed("asks"), 1, 1, stream_, digits()));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 42u);
}

TEST_F(ChildLaunch, KeepsTheOrderOfStreamsAndTheTailLast) {
  ASSERT_CUDA(cuMemsetD32(digits(), 5, 1));
  ASSERT_CUDA(launch(kernelNamed("ordered"), 1, 1, stream_, digits()));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 50123u);
}

TEST_F(ChildLaunch, CopiesAndFills) {
  ASSERT_CUDA(launch(kernelNamed("filled"), 1, 1, stream_, digits(4), digits()));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 0x07070707u);
  EXPECT_EQ(read(5), 0x07070707u);
  EXPECT_EQ(read(6), 0u);
}

TEST_F(ChildLaunch, TellsOfTheDeviceAndOfErrors) {
  ASSERT_CUDA(cuModuleLoadData(&children_, kTells));
  ASSERT_CUDA(launch(kernelNamed("told"), 1, 1, stream_, digits()));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 1024u);
  EXPECT_EQ(read(1), 1u); // cudaErrorInvalidValue
  size_t stack = 0;
  ASSERT_CUDA(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(read(2), stack);
  EXPECT_GE(read(4), 12000u);
  EXPECT_EQ(read(5), unsigned{'c'}); // cudaSuccess
  EXPECT_EQ(read(6), unsigned{'n'}); // invalid argument
}

TEST_F(ChildLaunch, CopiesAndFillsBoxes) {
  ASSERT_CUDA(cuModuleLoadData(&children_, kTells));
  std::vector<uint8_t> zeros(128);
  const CUdeviceptr p = upload(zeros), q = upload(zeros);
  // Source: no array, the box's place, pointer, pitch, width, height; destination; extent; kind.
  const std::vector<uint64_t> box = {0, 1, 1, 0, p + 64, 4, 2, 2, //
                                     0, 0, 0, 0, q + 16, 2, 2, 1, //
                                     1, 1, 2, 3};
  const CUdeviceptr words = upload(box);
  ASSERT_CUDA(launch(kernelNamed("boxes"), 1, 1, stream_, p, q, words));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  std::vector<uint8_t> wantP(128), wantQ(128);
  for (const int at : {0, 1, 2, 8, 9, 10})
    wantP[static_cast<size_t>(at)] = 5;
  for (const int at : {64, 65, 68, 69, 72, 73, 76, 77})
    wantP[static_cast<size_t>(at)] = 6;
  for (const int at : {0, 1, 2, 4, 5, 6})
    wantQ[static_cast<size_t>(at)] = 5;
  wantQ[16] = wantQ[18] = 6;
  EXPECT_EQ(download<uint8_t>(p, 128), wantP);
  EXPECT_EQ(download<uint8_t>(q, 128), wantQ);
}

TEST_F(ChildLaunch, ManyRunOneAfterTheOther) {
  // 16 launches in a row, and from two streams at once.
  CUstream other = nullptr;
  ASSERT_CUDA(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CUfunction family = kernelNamed("family");
  for (int i = 0; i < 16; ++i) {
    ASSERT_CUDA(launch(family, 1, 1, stream_, digits(), 2u));
    ASSERT_CUDA(launch(family, 1, 1, other, digits(1), 3u));
  }
  ASSERT_CUDA(cuCtxSynchronize());
  uint32_t first = 0, second = 0;
  for (int i = 0; i < 16; ++i) {
    first = first * 1000 + 219;
    second = second * 100000 + 32199;
  }
  EXPECT_EQ(read(), first);
  EXPECT_EQ(read(1), second);
}

TEST_F(ChildLaunch, TellsWhenThereAreTooMany) {
  constexpr uint32_t kPendingCountExceeded = 69;
  CUfunction many = kernelNamed("many");
  ASSERT_CUDA(launch(many, 1, 1, stream_, digits(), 2048u));
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_GT(read(), 200u);
  EXPECT_LT(read(), 2048u);
  EXPECT_EQ(read(1), kPendingCountExceeded);
  ASSERT_CUDA(launch(many, 1, 1, stream_, digits(), 200u)); // there is room again
  ASSERT_CUDA(cuStreamSynchronize(stream_));
  EXPECT_EQ(read(), 200u);
  EXPECT_EQ(read(1), 0u);
}

TEST_F(ChildLaunch, LaunchesGraphs) {
  CUgraph other = nullptr;
  ASSERT_CUDA(cuGraphCreate(&other, 0));
  addAppend(other, {}, 7, 1);
  CUgraphExec inner = instantiate(other, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
  uint64_t p = digits(), exec = reinterpret_cast<uint64_t>(inner);
  void *pointers[] = {&p, &exec};
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.func = kernelNamed("again");
  node.gridDimX = node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = pointers;
  CUgraphNode first = nullptr;
  ASSERT_CUDA(cuGraphAddKernelNode(&first, graph_, nullptr, 0, &node));
  addAppend(graph_, {first}, 2, 2);
  CUgraphExec outer = instantiate(graph_, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
  run(outer);
  EXPECT_EQ(read(), 5u);
  EXPECT_EQ(read(1), 7u);
  EXPECT_EQ(read(2), 22222u); // the whole graph, five times
}

TEST_F(ChildLaunch, RefusesGraphsThatWereNotMadeForIt) {
  addAppend(graph_, {}, 1);
  CUgraphExec plain = instantiate(graph_);
  ASSERT_CUDA(launch(kernelNamed("again"), 1, 1, stream_, digits(), plain));
  EXPECT_RESULT(cuStreamSynchronize(stream_), CUDA_ERROR_LAUNCH_FAILED);
}

} // namespace ptxrun::tests
