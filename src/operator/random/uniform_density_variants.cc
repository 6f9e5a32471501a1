// Uniform densities of rows of samples.
#include <cstdint>

#include "base/spread.h"
#include "operator/random/density.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

/* y = density in [a, b], `none` outside, and NaN of NaN. */
template <typename V>
void Row(const V* x, int64_t n, V a, V b, V density, V none, V* y) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const V v = x[i], within = v < a || v > b ? none : density;
    y[i] = v == v ? within : v;
  }
}

/* Rows of at most kCount samples. Returns how many were done; the rest is less than a vector. */
template <typename V>
int64_t ShortRows(int64_t rows, int64_t each, const V* x, const V* a, const V* b, const V* density, const V* none, V* y) {
  using S = Spread<V>;
  const S spread(each);
  int64_t r = 0;
  for (; r + S::kCount <= rows; r += S::kCount) {
    const auto low = S::At(a + r), high = S::At(b + r), within = S::At(density + r), outside = S::At(none + r);
    for (int64_t k = 0; k < each; ++k, x += S::kCount, y += S::kCount) {
      const auto v = S::At(x);
      const auto below = v<spread.Of(low, k), above = v> spread.Of(high, k);
      const auto result = (below | above) ? spread.Of(outside, k) : spread.Of(within, k);
      S::At(y) = v == v ? result : v;
    }
  }
  return r;
}

template <typename V>
void AllRows(int64_t rows, int64_t each, const void* samples, const void* from, const void* to, const void* within, const void* outside,
             void* results) {
  const V *x = static_cast<const V*>(samples), *a = static_cast<const V*>(from), *b = static_cast<const V*>(to);
  const V *density = static_cast<const V*>(within), *none = static_cast<const V*>(outside);
  V* const y = static_cast<V*>(results);
  int64_t r = 0;
  if (each <= Spread<V>::kCount) r = ShortRows(rows, each, x, a, b, density, none, y);
  for (; r < rows; ++r) Row(x + r * each, each, a[r], b[r], density[r], none[r], y + r * each);
}

}  // namespace

void UniformRows(int dtype, int64_t rows, int64_t each, const void* x, const void* a, const void* b, const void* density, const void* none,
                 void* y) {
  (dtype == kFloat64 ? AllRows<double> : AllRows<float>)(rows, each, x, a, b, density, none, y);
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
