#include <algorithm>
#include <cstring>

#include "operator/pointwise/loops/gather.h"
#include "operator/shared/element_size.h"

namespace mxnet {
namespace pointwise {
namespace {

constexpr int64_t kShortRow = 16, kTable = 64;

// Short rows: the innermost dimensions are walked as one, by a table of offsets.
template <typename T>
void GatherShort(const Plan& plan, int k, const void* base, int64_t begin, int64_t n, void* out) {
  int64_t table[kTable] = {0}, period = 1;
  int outer = plan.ndim;
  while (outer > 0 && period * plan.dim[outer - 1] <= kTable) {
    --outer;
    for (int64_t i = period; i < period * plan.dim[outer]; ++i) table[i] = table[i - period] + plan.stride[k][outer];
    period *= plan.dim[outer];
  }
  const bool repeats = period < kShortRow && std::all_of(table, table + period, [](int64_t at) { return at == 0; });
  int64_t index[kMaxDims], offset = 0, row = begin / period, column = begin % period;
  for (int d = outer - 1; d >= 0; --d) {
    index[d] = row % plan.dim[d];
    row /= plan.dim[d];
    offset += index[d] * plan.stride[k][d];
  }
  const T* src = static_cast<const T*>(base);
  T* dst = static_cast<T*>(out);
  for (int64_t m; n > 0; n -= m, dst += m, column = 0) {
    m = std::min(n, period - column);
    const T* from = src + offset;
    if (repeats && n >= kShortRow) {  // so many at once, of which the next row takes the place of those beyond m
      const T v = *from;
      for (int64_t i = 0; i < kShortRow; ++i) dst[i] = v;
    } else {
      for (int64_t i = 0; i < m; ++i) dst[i] = from[table[column + i]];
    }
    for (int d = outer - 1; d >= 0; --d) {
      offset += plan.stride[k][d];
      if (++index[d] < plan.dim[d]) break;
      offset -= plan.stride[k][d] * plan.dim[d];
      index[d] = 0;
    }
  }
}

template <typename T>
void GatherAs(const Plan& plan, int k, const void* base, int64_t begin, int64_t n, void* out) {
  if (plan.dim[plan.ndim - 1] < kShortRow) return GatherShort<T>(plan, k, base, begin, n, out);
  const int64_t inner = plan.dim[plan.ndim - 1], stride = plan.stride[k][plan.ndim - 1];
  int64_t index[kMaxDims], offset = 0, row = begin / inner, column = begin % inner;
  for (int d = plan.ndim - 2; d >= 0; --d) {
    index[d] = row % plan.dim[d];
    row /= plan.dim[d];
    offset += index[d] * plan.stride[k][d];
  }
  const T* src = static_cast<const T*>(base);
  T* dst = static_cast<T*>(out);
  while (n > 0) {
    const int64_t m = std::min(n, inner - column);
    const T* from = src + offset + column * stride;
    if (stride == 0) {
      const T v = *from;
      for (int64_t i = 0; i < m; ++i) dst[i] = v;
    } else {
      for (int64_t i = 0; i < m; ++i) dst[i] = from[i];
    }
    dst += m;
    n -= m;
    column = 0;
    for (int d = plan.ndim - 2; d >= 0; --d) {
      offset += plan.stride[k][d];
      if (++index[d] < plan.dim[d]) break;
      offset -= plan.stride[k][d] * plan.dim[d];
      index[d] = 0;
    }
  }
}

}  // namespace

void Gather(const Plan& plan, int k, const void* base, size_t size, int64_t begin, int64_t n, void* out) {
  VisitElement(size, [&](auto tag) { GatherAs<decltype(tag)>(plan, k, base, begin, n, out); });
}

void FillElements(void* out, int64_t n, const void* value, size_t size) {
  VisitElement(size, [&](auto tag) {
    using T = decltype(tag);
    const T v = *static_cast<const T*>(value);
    T* y = static_cast<T*>(out);
    // memcpy has wider vectors than this file is compiled for
    constexpr int64_t kPiece = 1024 / sizeof(T);
    const int64_t first = std::min(n, kPiece);
    for (int64_t i = 0; i < first; ++i) y[i] = v;
    for (int64_t i = first; i < n; i += kPiece) std::memcpy(y + i, y, static_cast<size_t>(std::min(kPiece, n - i)) * sizeof(T));
  });
}

}  // namespace pointwise
}  // namespace mxnet
