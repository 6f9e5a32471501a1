// One block for each unit: its mean activity, the moving average, and the gradient of the penalty.
#include "rtc/loop.cuh"

namespace kernels {

template <typename X>
struct kl_sparse_back {
  typedef typename mx::Real<X>::Type A;
  struct Args {
    const X *og, *data;
    X *average, *dx;  // dx may be null
    long long outer, inner;
    double keep, target, penalty;
    long long units;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long unit) {
    __shared__ double shared[256];
    const long long n = a.outer * a.inner;
    double sum = 0;
    for (long long i = threadIdx.x; i < n; i += 256)
      sum += mx::Load<double>(a.data, (i / a.inner * a.units + unit) * a.inner + i % a.inner);
    const double mean = mx::BlockSum(sum, shared) / static_cast<double>(n);
    const double average = a.keep * mx::Load<double>(a.average, unit) + (1 - a.keep) * mean;
    __syncthreads();
    if (threadIdx.x == 0) mx::Store(a.average, unit, average);
    if (!a.dx) return;
    const A slope = static_cast<A>(a.penalty * ((1 - a.target) / (1 - average) - a.target / average));
    for (long long i = threadIdx.x; i < n; i += 256) {
      const long long at = (i / a.inner * a.units + unit) * a.inner + i % a.inner;
      mx::Store(a.dx, at, mx::Load<A>(a.og, at) + slope);
    }
  }
};
}  // namespace kernels
