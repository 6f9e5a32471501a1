// Products of integers.
#include "rtc/loop.cuh"

namespace kernels {

// out[batch, row, column] of row-major matrices, m x k and k x n; wraps around
template <typename I, typename X>
struct integer_matmul {
  struct Args {
    const X* a;
    const X* b;
    X* out;
    long long m;
    long long n;
    long long k;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I, long long i) {
    const long long row = i / a.n, column = i % a.n;
    const X *x = a.a + row * a.k, *y = a.b + row / a.m * a.k * a.n + column;
    unsigned long long sum = 0;
    for (long long k = 0; k < a.k; ++k) sum += static_cast<unsigned long long>(x[k]) * static_cast<unsigned long long>(y[k * a.n]);
    a.out[i] = static_cast<X>(sum);
  }
};
}  // namespace kernels
