#include <algorithm>
#include <vector>

#include "base/dtype.h"
#include "base/omp.h"
#include "operator/optimizer/sum_of_squares.h"

namespace mxnet {

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

}  // namespace mxnet
