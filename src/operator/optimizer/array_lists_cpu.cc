#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "operator/optimizer/array_lists.h"

namespace mxnet {
namespace {

// Numbers that are not finite have all bits of the exponent.
template <typename T>
bool Finite(const T* p, int64_t n) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  const T infinity = static_cast<T>(std::numeric_limits<float>::infinity());
  Bits exponent, any = 0;
  std::memcpy(&exponent, &infinity, sizeof(T));
  for (int64_t i = 0; i < n; ++i) {
    Bits bits;
    std::memcpy(&bits, p + i, sizeof(T));
    any |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return any == 0;
}

template <typename T, typename V>
void Rates(int64_t n, const T* lrs, const T* weights, const T* grads, const T* wds, V eta, V eps, V rescale, T* to) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const V lr = static_cast<V>(lrs[i]), weight = std::sqrt(static_cast<V>(weights[i])), grad = std::sqrt(static_cast<V>(grads[i]));
    const V rate = lr * eta * weight / (grad * rescale + static_cast<V>(wds[i]) * weight + eps);
    to[i] = static_cast<T>((weight > 0) & (grad > 0) ? rate : lr);
  }
}

}  // namespace

double SumOfSquares(const TBlob& array) {
  constexpr int64_t kBlock = 8192;  // blocks of fixed size, added in order
  constexpr int kSums = 8;
  const int64_t n = array.Size();
  std::vector<double> parts((n + kBlock - 1) / kBlock);
  VisitFloating(array.dtype, "multi_sum_sq", [&](auto tag) {
    const auto* p = array.data<decltype(tag)>();
    ParallelFor(static_cast<int64_t>(parts.size()), 8, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        double sums[kSums] = {};
        int64_t i = b * kBlock;
        const int64_t stop = std::min(n, i + kBlock);
        for (; i + kSums <= stop; i += kSums)
          for (int k = 0; k < kSums; ++k) sums[k] += static_cast<double>(p[i + k]) * static_cast<double>(p[i + k]);
        for (int k = 0; i < stop; ++i, ++k) sums[k] += static_cast<double>(p[i]) * static_cast<double>(p[i]);
        for (double sum : sums) parts[b] += sum;
      }
    });
  });
  double total = 0;
  for (double part : parts) total += part;
  return total;
}

bool AllFinite(const TBlob& array) {
  constexpr int64_t kBlock = 8192;  // one infinity ends the search soon
  std::atomic<bool> finite{true};
  VisitFloating(array.dtype, "all_finite", [&](auto tag) {
    const auto* p = array.data<decltype(tag)>();
    ParallelFor(array.Size(), 0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && finite.load(std::memory_order_relaxed); i += kBlock)
        if (!Finite(p + i, std::min(end - i, kBlock))) finite.store(false, std::memory_order_relaxed);
    });
  });
  return finite;
}

void LarsRates(const TBlob& lrs, const TBlob& weights, const TBlob& grads, const TBlob& wds, float eta, float eps, float rescale,
               const TBlob& out) {
  VisitFloating(out.dtype, "multi_lars", [&](auto tag) {
    using T = decltype(tag);
    using V = std::conditional_t<sizeof(T) == 8, double, float>;
    ParallelFor(out.Size(), 0, [&](int64_t begin, int64_t end) {
      Rates<T, V>(end - begin, lrs.data<T>() + begin, weights.data<T>() + begin, grads.data<T>() + begin, wds.data<T>() + begin, eta, eps,
                  rescale, out.data<T>() + begin);
    });
  });
}

}  // namespace mxnet
