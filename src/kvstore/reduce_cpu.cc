#include <algorithm>

#include "base/dtype.h"
#include "base/omp.h"
#include "kvstore/reduce.h"
#include "mxnet/env.h"

namespace mxnet {
namespace {

constexpr int64_t kBlock = 2048;  // an accumulator block stays in the first-level cache

template <typename T, typename A>
void SumRange(const std::vector<const T*>& in, T* out, int64_t begin, int64_t end) {
  A sum[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<A>(in[0][at + i]);
    for (size_t k = 1; k < in.size(); ++k) {
      const T* p = in[k] + at;
      for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<A>(sum[i] + static_cast<A>(p[i]));
    }
    for (int64_t i = 0; i < n; ++i) out[at + i] = T(sum[i]);
  }
}

template <typename T>
struct SumType {
  using type = T;
};
template <>
struct SumType<float16> {
  using type = float;
};
template <>
struct SumType<bfloat16> {
  using type = float;
};
template <>
struct SumType<bool> {
  using type = int;
};

/* The reduction's own thread count, beyond its own bound: sums of one process overlap with
 * operators that use all threads. */
int ReductionThreads(int64_t n) { return n > Env::Get().kvstore_bigarray_bound ? Env::Get().kvstore_reduction_nthreads : 1; }

}  // namespace

void SumArrays(const std::vector<TBlob>& in, const TBlob& out) {
  const int64_t n = out.Size();
  VisitDType(out.dtype, "kvstore", [&](auto tag) {
    using T = decltype(tag);
    std::vector<const T*> pointers;
    for (const TBlob& b : in) pointers.push_back(b.data<T>());
    ParallelForThreads(ReductionThreads(n), n,
                       [&](int64_t begin, int64_t end) { SumRange<T, typename SumType<T>::type>(pointers, out.data<T>(), begin, end); });
  });
}

void QuantizeTwoBit(const TBlob& in, const TBlob& residual, const TBlob& out, float threshold) {
  const int64_t n = in.Size();
  ParallelForThreads(ReductionThreads(n), n, [&](int64_t begin, int64_t end) {
    const float* g = in.data<float>();
    float* r = residual.data<float>();
    float* o = out.data<float>();
    for (int64_t i = begin; i < end; ++i) {
      const float sum = r[i] + g[i];
      const float q = sum >= threshold ? threshold : sum <= -threshold ? -threshold : 0.0f;
      r[i] = sum - q;
      o[i] = q;
    }
  });
}

}  // namespace mxnet
