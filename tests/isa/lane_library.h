// The functions of the lane library that its tests call natively.
#pragma once
#include <cstdint>

extern "C" {
float ptx_ex2_approx_ftz_f32(float);
float ptx_ex2_approx_f32(float);
float ptx_lg2_approx_ftz_f32(float);
float ptx_lg2_approx_f32(float);
float ptx_sin_approx_f32(float);
float ptx_cos_approx_f32(float);
float ptx_tanh_approx_f32(float);
double ptx_rcp_approx_ftz_f64(double);
double ptx_rsqrt_approx_ftz_f64(double);

#define DECLARE_DIRECTED(mode)                                                                     \
  float ptx_add_##mode##_f32(float, float);                                                        \
  float ptx_mul_##mode##_f32(float, float);                                                        \
  float ptx_fma_##mode##_f32(float, float, float);                                                 \
  float ptx_div_##mode##_f32(float, float);                                                        \
  float ptx_sqrt_##mode##_f32(float);                                                              \
  float ptx_cvt_##mode##_f32_f64(double);                                                          \
  float ptx_cvt_##mode##_f32_s64(int64_t);                                                         \
  float ptx_cvt_##mode##_f32_u64(uint64_t);                                                        \
  double ptx_add_##mode##_f64(double, double);                                                     \
  double ptx_mul_##mode##_f64(double, double);                                                     \
  double ptx_fma_##mode##_f64(double, double, double);                                             \
  double ptx_div_##mode##_f64(double, double);                                                     \
  double ptx_sqrt_##mode##_f64(double);                                                            \
  double ptx_cvt_##mode##_f64_s64(int64_t);                                                        \
  double ptx_cvt_##mode##_f64_u64(uint64_t);
DECLARE_DIRECTED(rz)
DECLARE_DIRECTED(rm)
DECLARE_DIRECTED(rp)
#undef DECLARE_DIRECTED

float ptx_fma_f16(float, float, float);
float ptx_fma_bf16(float, float, float);
uint16_t ptx_cvt_rn_f16(float);
uint16_t ptx_cvt_rn_bf16(float);
#define DECLARE_DIVISION(width, Unsigned, Signed)                                                  \
  Unsigned ptx_div_u##width(Unsigned, Unsigned);                                                   \
  Unsigned ptx_rem_u##width(Unsigned, Unsigned);                                                   \
  Signed ptx_div_s##width(Signed, Signed);                                                         \
  Signed ptx_rem_s##width(Signed, Signed);
DECLARE_DIVISION(16, uint16_t, int16_t)
DECLARE_DIVISION(32, uint32_t, int32_t)
#undef DECLARE_DIVISION
}
