// Conversions of 16-bit floats, and functions with about one unit in the last place of error,
// results below 2^-126 being 0: the only text that is written for the device's instruction set.
// Tests that run kernels on the host define MX_ON_HOST and bring these functions themselves.
#ifndef MX_ON_HOST
namespace mx {
__device__ __forceinline__ float HalfBitsToFloat(unsigned short b) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b));
  return f;
}
__device__ __forceinline__ unsigned short FloatToHalfBits(float f) {
  unsigned short b;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
  return b;
}
__device__ __forceinline__ float BfloatBitsToFloat(unsigned short b) { return __uint_as_float(static_cast<unsigned>(b) << 16); }
__device__ __forceinline__ unsigned short FloatToBfloatBits(float f) {
  unsigned short b;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
  return b;
}
__device__ __forceinline__ float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ void SinCosOfTurn(float turn, float* sine, float* cosine) {
  ::sincospif(2.0f * turn, sine, cosine);
}  // 0 <= turn < 1: without the reduction of large angles
__device__ __forceinline__ float Reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// a * b rounded by itself: the compiler makes no fused operation of it and a sum. For what floor,
// ceil and comparisons decide on, so that they decide as on the CPU.
__device__ __forceinline__ float Product(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double Product(double a, double b) { return __dmul_rn(a, b); }
}  // namespace mx
#endif  // MX_ON_HOST
