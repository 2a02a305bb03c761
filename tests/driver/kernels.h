// PTX of the driver tests' kernels, as a compiler would write it.
#pragma once

namespace ptxrun::tests {

inline constexpr const char *kHeader = ".version 8.0\n.target sm_70\n.address_size 64\n";

/// add(out, a, b, n): out[i] = a[i] + b[i] for i < n, one thread per element.
inline constexpr const char *kAdd = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [a];
  ld.param.u64 %rd3, [b];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $done;
  mul.wide.s32 %rd4, %r5, 4;
  add.s64 %rd5, %rd2, %rd4;
  ld.global.f32 %f1, [%rd5];
  add.s64 %rd6, %rd3, %rd4;
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f1, %f2;
  add.s64 %rd7, %rd1, %rd4;
  st.global.f32 [%rd7], %f3;
$done:
  ret;
}
)";

/// churn(p, rounds): replaces *p by churned(*p, rounds); a kernel that takes as long as one wants.
/// empty(): nothing. store(p, v): *p = v. wait(flag, out): spins until *flag != 0, then *out = 1.
inline constexpr const char *kSmall = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry empty() { ret; }
.visible .entry store(.param .u64 p, .param .u32 v)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [v];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry churn(.param .u64 p, .param .u32 rounds)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [rounds];
  ld.global.u32 %r2, [%rd1];
$loop:
  mad.lo.u32 %r2, %r2, 1664525, 1013904223;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $loop;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry wait(.param .u64 flag, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [out];
$spin:
  ld.acquire.sys.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $spin;
  mov.u32 %r2, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
.visible .entry trapping() { trap; }
)";

/// Module variables: an initialised array, one that holds an address, a constant, and a kernel that
/// reads them all: read(out): out[0] = numbers[2], out[1] = *pointer, out[2] = scale.
inline constexpr const char *kVariables = R"(.version 8.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 numbers[4] = {10, 20, 30, 40};
.visible .global .align 8 .u64 pointer = generic(numbers)+4;
.visible .const .align 4 .u32 scale = 7;
.visible .global .align 4 .b8 zeroed[64];
.visible .entry read(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [numbers+8];
  st.global.u32 [%rd1], %r1;
  ld.global.u64 %rd2, [pointer];
  ld.u32 %r2, [%rd2];
  st.global.u32 [%rd1+4], %r2;
  ld.const.u32 %r3, [scale];
  st.global.u32 [%rd1+8], %r3;
  ret;
}
)";

/// reverse(data): the block's threads turn 4-byte elements around through dynamic shared memory (4
/// bytes per thread) and a static array of 128 bytes that is touched but not used.
inline constexpr const char *kShared = R"(.version 8.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry reverse(.param .u64 data)
.maxntid 256, 1, 1
{
  .shared .align 4 .b8 fixed[128];
  .reg .b32 %r<10>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ntid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  shl.b32 %r4, %r1, 2;
  mov.u32 %r5, dynamic;
  add.u32 %r6, %r5, %r4;
  st.shared.u32 [%r6], %r3;
  st.shared.u32 [fixed], %r3;
  bar.sync 0;
  sub.u32 %r7, %r2, %r1;
  sub.u32 %r7, %r7, 1;
  shl.b32 %r7, %r7, 2;
  add.u32 %r8, %r5, %r7;
  ld.shared.u32 %r9, [%r8];
  st.global.u32 [%rd3], %r9;
  ret;
}
)";

/// count(p, rounds): adds 1 to *p `rounds` times by volatile accesses, in a loop that waits for nobody.
inline constexpr const char *kVolatile = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 p, .param .u32 rounds)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [rounds];
$loop:
  ld.volatile.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd1], %r2;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $loop;
  ret;
}
)";

/// What churn computes: a linear congruential generator, which no compiler shortens.
inline unsigned churned(unsigned x, unsigned rounds) {
  while (rounds-- != 0)
    x = x * 1664525u + 1013904223u;
  return x;
}

/// params(out, c, s, d): parameters of many sizes, out of step with natural order: out[0] = c,
/// out[1] = s.b, out[2] = d.
inline constexpr const char *kParameters = R"(.version 8.0
.target sm_70
.address_size 64
.visible .entry params(.param .u64 out, .param .u8 c, .param .align 8 .b8 s[24], .param .f64 d)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  .reg .f64 %d<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u8 %r1, [c];
  cvt.u64.u32 %rd2, %r1;
  st.global.u64 [%rd1], %rd2;
  ld.param.u64 %rd2, [s+8];
  st.global.u64 [%rd1+8], %rd2;
  ld.param.f64 %d1, [d];
  st.global.f64 [%rd1+16], %d1;
  ret;
}
)";

} // namespace ptxrun::tests
