#include <algorithm>

#include "onnx/convert/trees/svm_sums.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

/* In runs of vectors whose sums stay in registers. */
template <bool kApart, typename T>
void Sums(const T* x, const float* vectors, int64_t features, int64_t count, T* sums) {
  constexpr int64_t kRun = 64;
  for (int64_t first = 0; first < count; first += kRun) {
    T own[kRun] = {};
    const int64_t size = std::min(kRun, count - first);
    const float* row = vectors + first;
    const auto add = [&](int64_t n) {
      for (int64_t f = 0; f < features; ++f, row += count)
        for (int64_t v = 0; v < n; ++v) {
          const T other = static_cast<T>(row[v]), apart = x[f] - other;
          own[v] += kApart ? apart * apart : x[f] * other;
        }
    };
    if (size == kRun)
      add(kRun);  // a number that the compiler knows
    else
      add(size);
    std::copy_n(own, size, sums + first);
  }
}

}  // namespace

void SvmSums(bool apart, const float* x, const float* vectors, int64_t features, int64_t count, float* sums) {
  (apart ? Sums<true, float> : Sums<false, float>)(x, vectors, features, count, sums);
}

void SvmSumsDouble(bool apart, const double* x, const float* vectors, int64_t features, int64_t count, double* sums) {
  (apart ? Sums<true, double> : Sums<false, double>)(x, vectors, features, count, sums);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
