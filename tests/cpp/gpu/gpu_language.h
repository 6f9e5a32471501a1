/*
 * CUDA C on the host: text that stands in front of kernels' texts, so that a C++ compiler takes
 * them and every thread of a block runs in turn, from barrier to barrier. Shared by the emulator of
 * tests and by the GPU made of the host (tests/host_gpu).
 */
#ifndef MXNET_TESTS_CPP_DEVICE_LANGUAGE_H_
#define MXNET_TESTS_CPP_DEVICE_LANGUAGE_H_

namespace mxnet {

// What nvcc's language adds, for one block at a time: __shared__ is a static variable, so all
// threads of the block see it.
inline const char* const kDeviceLanguage = R"TEXT(
#include <math.h>
#include <cmath>
#include <limits>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#define MX_ON_HOST
#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __restrict__
#define __shared__ static
struct EmuDim { unsigned x, y, z; };
static EmuDim threadIdx, blockIdx, blockDim, gridDim;
static uint64_t emu_lane[1024];
static unsigned emu_self;
// A block's threads run on fibres: a barrier hands over to the scheduler, which goes on when all
// have come to it. A fibre whose thread has ended takes the next thread, so that a kernel without
// barriers needs one fibre.
struct EmuFibre { ucontext_t context; void* place[5]; char* stack; bool started; };
static EmuFibre emu_fibre[1024];
static EmuFibre* emu_idle[1024];   // those without a thread
static unsigned emu_idle_count;
static EmuFibre* emu_on[1024];     // by thread; null: has not begun, or has ended
static int emu_waits[1024];        // number of the thread's barrier; 0: has ended
static void* emu_scheduler[5];
// the compiler's own jumps: no system calls, and nothing for sanitizers to object to
__attribute__((noinline)) static void emu_jump(void** place) { __builtin_longjmp(place, 1); }
__attribute__((noinline)) static void emu_pause(EmuFibre* f) {
  if (__builtin_setjmp(f->place) == 0) emu_jump(emu_scheduler);
}
__attribute__((noinline)) static void emu_sync(int barrier) {
  emu_waits[emu_self] = barrier;
  emu_pause(emu_on[emu_self]);
}
__attribute__((noinline)) static void emu_resume(EmuFibre* f) {
  if (__builtin_setjmp(emu_scheduler) != 0) return;
  if (f->started) emu_jump(f->place);
  f->started = true;
  setcontext(&f->context);
}
#define __syncthreads() emu_sync(__COUNTER__ + 1)
static inline void __syncwarp(unsigned = 0) {}
static inline long long clock64() {   // two cycles in a nanosecond
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 2 * (now.tv_sec * 1000000000LL + now.tv_nsec);
}
template <typename V> static inline V emu_exchange(V v, unsigned from) {
  V out;
  memcpy(&emu_lane[emu_self], &v, sizeof(V));
  __syncthreads();
  memcpy(&out, &emu_lane[from], sizeof(V));
  __syncthreads();
  return out;
}
template <typename V> static inline V __shfl_xor_sync(unsigned, V v, int mask) { return emu_exchange(v, (emu_self & ~31u) | ((emu_self ^ static_cast<unsigned>(mask)) & 31u)); }
template <typename V> static inline V __shfl_up_sync(unsigned, V v, unsigned step) { return emu_exchange(v, (emu_self & 31u) >= step ? emu_self - step : emu_self); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64); }
static inline float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
static inline unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
static inline long long __double_as_longlong(double f) { long long u; memcpy(&u, &f, 8); return u; }
static inline float __int_as_float(int u) { float f; memcpy(&f, &u, 4); return f; }
template <typename V> static inline V atomicAdd(V* p, V v) { V old = *p; *p = old + v; return old; }
template <typename V> static inline V atomicMax(V* p, V v) { V old = *p; if (v > old) *p = v; return old; }
template <typename V> static inline V atomicMin(V* p, V v) { V old = *p; if (v < old) *p = v; return old; }
static inline double erfinv(double x) {
  const double a = fabs(x);
  if (!(a < 1.0)) return a == 1.0 ? copysign(INFINITY, x) : NAN;
  const double w0 = -log((1.0 - a) * (1.0 + a)), c = 2.0 / (M_PI * 0.147) - 0.5 * w0;
  double y = sqrt(sqrt(c * c + w0 / 0.147) - c);
  for (int i = 0; i < 5; ++i) {
    const double e = a > 0.5 ? (1.0 - a) - erfc(y) : erf(y) - a, step = e * 0.88622692545275801 * exp(y * y);
    y -= step / (1.0 + y * step);
  }
  return copysign(y, x);
}
static inline float erfinv(float x) { return static_cast<float>(erfinv(static_cast<double>(x))); }
static void (*emu_body)();   // what a thread does
static void emu_fibre_main() {
  for (;;) {
    emu_body();
    emu_waits[emu_self] = 0;
    emu_pause(emu_on[emu_self]);
  }
}
static EmuFibre* emu_new_fibre() {
  if (emu_idle_count == 0)   // all of them, at first
    for (EmuFibre& f : emu_fibre) emu_idle[emu_idle_count++] = &f;
  EmuFibre* f = emu_idle[--emu_idle_count];
  if (f->started) return f;
  if (!f->stack) f->stack = static_cast<char*>(malloc(65536));
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = f->stack;
  f->context.uc_stack.ss_size = 65536;
  f->context.uc_link = 0;
  makecontext(&f->context, emu_fibre_main, 0);
  return f;
}
static EmuDim emu_place(unsigned t) { return {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y}; }
// One block. 4: some threads wait at a barrier that the others do not come to.
static int emu_block(unsigned threads) {
  for (bool backwards = false;; backwards = !backwards) {   // both orders: what lacks a barrier shows
    for (unsigned n = 0; n < threads; ++n) {
      const unsigned t = backwards ? threads - 1 - n : n;
      emu_self = t;
      threadIdx = emu_place(t);
      if (!emu_on[t]) emu_on[t] = emu_new_fibre();
      emu_resume(emu_on[t]);
      if (emu_waits[t] != 0) continue;
      emu_idle[emu_idle_count++] = emu_on[t];
      emu_on[t] = 0;
    }
    bool together = true;
    for (unsigned t = 1; t < threads; ++t) together = together && emu_waits[t] == emu_waits[0];
    if (together && emu_waits[0] == 0) return 0;
    if (together) continue;
    for (unsigned t = 0; t < threads; ++t) {
      if (!emu_on[t]) continue;
      emu_on[t]->started = false;
      emu_idle[emu_idle_count++] = emu_on[t];
      emu_on[t] = 0;
    }
    return 4;
  }
}
static int emu_run(void (*body)(), const unsigned* grid, const unsigned* block) {
  const unsigned threads = block[0] * block[1] * block[2];
  if (threads == 0 || threads > 1024) return 2;
  emu_body = body;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        blockIdx = {x, y, z};
        if (int status = emu_block(threads)) return status;
      }
  return 0;
}
)TEXT";

// Stands where the prelude has the device's instructions.
inline const char* const kDeviceHalf = R"TEXT(namespace mx {
static inline float Exp2(float x) { return exp2f(x); }
static inline void SinCosOfTurn(float turn, float* sine, float* cosine) { *sine = sinf(6.2831853f * turn); *cosine = cosf(6.2831853f * turn); }
static inline float Reciprocal(float x) { return 1.0f / x; }
static inline float Product(float a, float b) { return a * b; }
static inline double Product(double a, double b) { return a * b; }
static inline float HalfBitsToFloat(unsigned short b) { _Float16 h; memcpy(&h, &b, 2); return static_cast<float>(h); }
static inline unsigned short FloatToHalfBits(float f) { const _Float16 h = static_cast<_Float16>(f); unsigned short b; memcpy(&b, &h, 2); return b; }
static inline float BfloatBitsToFloat(unsigned short b) { return __uint_as_float(static_cast<unsigned>(b) << 16); }
static inline unsigned short FloatToBfloatBits(float f) {
  const unsigned u = __float_as_uint(f);
  return f != f ? 0x7fff : static_cast<unsigned short>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
}
)TEXT";

}  // namespace mxnet
#endif  // MXNET_TESTS_CPP_DEVICE_LANGUAGE_H_
