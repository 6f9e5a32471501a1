#include "operator/vision/boxes/boxes.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "base/threads/omp.h"
#include "operator/indexing/order.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace boxes {
namespace {

constexpr int64_t kBlock = 256;                  // candidates that are compared with all kept ones at once
constexpr int64_t kOverlapsPerThread = 1 << 16;  // that outweigh waking it

template <typename T>
void Order(const T* scores, int dtype, int64_t n, int64_t k, bool ascending, int64_t* positions) {
  if (n == 0 || k == 0) return;
  TBlob line;
  line.dptr = const_cast<T*>(scores);
  line.shape = Shape{n};
  line.dtype = dtype;
  OrderEntries(line, 1, n, 1, k, ascending, nullptr, positions);
}

// Boxes begin to end, all of one class.
template <typename T>
int64_t SuppressAlike(const BoxArrays<T>& sorted, int64_t begin, int64_t end, const NmsRule& rule, int64_t most, int64_t* kept) {
  constexpr bool kWide = std::is_same<T, double>::value;
  most = std::min(most, end - begin);
  BoxArrays<T> best(most, false);
  const BoxList all = sorted.list();
  int64_t count = 0;
  uint8_t covered[kBlock];
  for (int64_t first = begin; first < end && count < most; first += kBlock) {
    const int64_t m = std::min(kBlock, end - first), before = count;
    ParallelFor(m, std::max<int64_t>(1, kOverlapsPerThread / (before + 1)), [&](int64_t b, int64_t e) {
      MXNET_CPU_CALL(MarkCovered)(kWide, best.list(), before, all, first + b, first + e, rule, covered + b);
    });
    for (int64_t i = 0; i < m && count < most; ++i) {
      if (covered[i]) continue;
      uint8_t here = 0;
      MXNET_CPU_CALL(MarkCovered)(kWide, best.list(before), count - before, all, first + i, first + i + 1, rule, &here);
      if (here) continue;
      best.Copy(count, sorted, first + i);
      kept[count++] = first + i;
    }
  }
  return count;
}

}  // namespace

void OrderScores(const float* scores, int64_t n, int64_t k, bool ascending, int64_t* positions) {
  Order(scores, kFloat32, n, k, ascending, positions);
}
void OrderScores(const double* scores, int64_t n, int64_t k, bool ascending, int64_t* positions) {
  Order(scores, kFloat64, n, k, ascending, positions);
}

template <typename T>
int64_t SuppressGreedily(const BoxArrays<T>& sorted, int64_t n, const NmsRule& rule, int64_t most, int64_t* kept) {
  if (!sorted.has_ids()) return SuppressAlike(sorted, 0, n, rule, most, kept);
  // Each class by itself: boxes in the order of classes, and of scores among those of one class.
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return sorted.id(i) < sorted.id(j); });
  BoxArrays<T> grouped(n, false);
  for (int64_t i = 0; i < n; ++i) grouped.Copy(i, sorted, order[i]);
  int64_t count = 0;
  for (int64_t begin = 0, end; begin < n; begin = end) {
    const int32_t id = sorted.id(order[begin]);
    for (end = begin + 1; end < n && sorted.id(order[end]) == id;) ++end;
    const int64_t more = SuppressAlike(grouped, begin, end, rule, end - begin, kept + count);
    for (int64_t i = count; i < count + more; ++i) kept[i] = order[kept[i]];
    count += more;
  }
  std::sort(kept, kept + count);
  return std::min(count, most);
}
template int64_t SuppressGreedily(const BoxArrays<float>&, int64_t, const NmsRule&, int64_t, int64_t*);
template int64_t SuppressGreedily(const BoxArrays<double>&, int64_t, const NmsRule&, int64_t, int64_t*);

void CheckBoxShape(const Attrs& attrs, const char* name, const Shape& shape) {
  const int last = shape.ndim() - 1;
  MXNET_CHECK_KIND(last >= 0 && (shape[last] == 4 || shape[last] < 0), Value)
      << nn::Named(attrs) << name << " has shape " << shape << "; the last dimension holds the 4 numbers of a box";
}

}  // namespace boxes
}  // namespace mxnet
