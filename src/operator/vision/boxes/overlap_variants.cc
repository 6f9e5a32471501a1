// The hot loops over boxes. This file is compiled once for each level of instruction sets. Products
// and differences are rounded one by one at each level, so that a comparison with a threshold has
// the same outcome everywhere.
#include <cstdint>

#include "operator/vision/boxes/boxes.h"

#pragma GCC optimize("fp-contract=off")  // for all that follows

namespace mxnet {
namespace MXNET_CPU_VARIANT {
namespace {

template <typename T>
struct Box {
  T x1, y1, x2, y2, area;
};
template <typename T>
struct Arrays {
  const T *x1, *y1, *x2, *y2, *area;
  explicit Arrays(const boxes::BoxList& l)
      : x1(static_cast<const T*>(l.x1)),
        y1(static_cast<const T*>(l.y1)),
        x2(static_cast<const T*>(l.x2)),
        y2(static_cast<const T*>(l.y2)),
        area(static_cast<const T*>(l.area)) {}
  Box<T> At(int64_t i) const { return {x1[i], y1[i], x2[i], y2[i], area[i]}; }
  // The intersection of box i and b.
  T Common(int64_t i, const Box<T>& b, T extent) const {
    const T left = x1[i] > b.x1 ? x1[i] : b.x1, right = x2[i] < b.x2 ? x2[i] : b.x2;
    const T top = y1[i] > b.y1 ? y1[i] : b.y1, bottom = y2[i] < b.y2 ? y2[i] : b.y2;
    const T width = right - left + extent, height = bottom - top + extent;
    return (width > 0 ? width : T(0)) * (height > 0 ? height : T(0));
  }
};

template <typename T>
struct Limits {
  T threshold, extent;
  // Overlaps above the threshold have common + slack > bound * union, which takes no division.
  T bound, slack;
  explicit Limits(const boxes::NmsRule& rule)
      : threshold(static_cast<T>(rule.threshold)),
        extent(static_cast<T>(rule.extent)),
        bound(threshold < 0 ? -std::numeric_limits<T>::infinity() : threshold * (1 - 8 * std::numeric_limits<T>::epsilon())),
        slack(std::numeric_limits<T>::min() * 16) {}
};

template <typename T>
bool Covered(const Arrays<T>& kept, int64_t count, const Box<T>& b, const Limits<T>& limits) {
  constexpr int64_t kBlock = 64;
  const T extent = limits.extent, bound = limits.bound, slack = limits.slack, threshold = limits.threshold;
  for (int64_t from = 0; from < count; from += kBlock) {
    const int64_t to = from + kBlock < count ? from + kBlock : count;
    int near = 0;
#pragma omp simd reduction(| : near)
    for (int64_t i = from; i < to; ++i) {
      const T common = kept.Common(i, b, extent), all = kept.area[i] + b.area - common;
      near |= common + slack > bound * all ? 1 : 0;
    }
    if (!near) continue;
    int over = 0;
#pragma omp simd reduction(| : over)
    for (int64_t i = from; i < to; ++i) {
      const T common = kept.Common(i, b, extent), all = kept.area[i] + b.area - common;
      over |= common / all > threshold ? 1 : 0;
    }
    if (over) return true;
  }
  return false;
}

template <typename T>
void Mark(const boxes::BoxList& kept, int64_t count, const boxes::BoxList& list, int64_t begin, int64_t end, const boxes::NmsRule& rule,
          uint8_t* covered) {
  const Arrays<T> k(kept), l(list);
  const Limits<T> limits(rule);
  for (int64_t i = begin; i < end; ++i) covered[i - begin] = Covered(k, count, l.At(i), limits) ? 1 : 0;
}

template <typename T>
void Row(const boxes::BoxList& list, int64_t n, const boxes::BoxList& other, int64_t at, T* out) {
  const Arrays<T> l(list);
  const Box<T> b = Arrays<T>(other).At(at);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T common = l.Common(i, b, T(0)), all = l.area[i] + b.area - common, over = common / all;
    out[i] = common > 0 || all != all ? over : T(0);
  }
}

}  // namespace

void MarkCovered(bool wide, const boxes::BoxList& kept, int64_t count, const boxes::BoxList& list, int64_t begin, int64_t end,
                 const boxes::NmsRule& rule, uint8_t* covered) {
  wide ? Mark<double>(kept, count, list, begin, end, rule, covered) : Mark<float>(kept, count, list, begin, end, rule, covered);
}

void OverlapRow(bool wide, const boxes::BoxList& list, int64_t n, const boxes::BoxList& other, int64_t at, void* out) {
  wide ? Row<double>(list, n, other, at, static_cast<double*>(out)) : Row<float>(list, n, other, at, static_cast<float*>(out));
}

}  // namespace MXNET_CPU_VARIANT
}  // namespace mxnet
