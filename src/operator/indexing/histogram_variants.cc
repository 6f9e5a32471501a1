// Which bins of one width values belong to.
#include <algorithm>

#include "operator/indexing/histogram_kernels.h"

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
void Find(const EvenBins& b, const T* values, int64_t n, int32_t* to) {
  const double low = b.low, high = b.high, width = b.high - b.low, count = static_cast<double>(b.bins);
  const double* const edges = b.edges;
  const int32_t bins = b.bins;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(values[i]);
    const bool inside = (v >= low) & (v <= high);
    const double x = inside ? v : low;
    const int32_t found = static_cast<int32_t>((x - low) / width * count), near = std::min(found, bins - 1);
    const int32_t below = x < edges[near] ? 1 : 0, above = x >= edges[near + 1] ? 1 : 0;
    const int32_t bin = near - below + (above & ~below);
    to[i] = inside ? bin : bins;
  }
}

}  // namespace

void FindEvenBins(const EvenBins& b, const double* values, int64_t n, int32_t* to) { Find(b, values, n, to); }
void FindEvenBinsOfFloats(const EvenBins& b, const float* values, int64_t n, int32_t* to) { Find(b, values, n, to); }

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
