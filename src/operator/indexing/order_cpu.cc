#include "operator/indexing/order.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/dtype.h"
#include "base/omp.h"

namespace mxnet {
namespace {

template <typename T>
struct Entry {
  T value;
  int64_t at;
};

// A strict order of all values: NaN is above everything and equal to itself.
template <typename T>
bool Below(T a, T b) {
  if constexpr (std::is_floating_point<T>::value) {
    if (b != b) return a == a;
    return a < b;
  } else {
    return a < b;
  }
}

// Half types are compared, and carried, as float.
template <typename T>
using Key = std::conditional_t<sizeof(T) == 2 && !std::is_integral<T>::value, float, T>;

template <typename T>
void OrderLines(const T* data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, T* values, int64_t* positions) {
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / 16 / std::max<int64_t>(size, 1));   // comparing costs more than adding
  ParallelFor(outer * inner, grain, [&](int64_t begin, int64_t end) {
    std::vector<Entry<Key<T>>> line(size);
    for (int64_t l = begin; l < end; ++l) {
      const int64_t o = l / inner, i = l % inner;
      const T* from = data + o * size * inner + i;
      for (int64_t s = 0; s < size; ++s) line[s] = {static_cast<Key<T>>(from[s * inner]), s};
      auto first = [ascending](const Entry<Key<T>>& a, const Entry<Key<T>>& b) {
        const bool ab = Below(a.value, b.value), ba = Below(b.value, a.value);
        if (ab != ba) return ascending ? ab : ba;
        return a.at < b.at;
      };
      // a partial sort scans everything once per entry that it takes; for many entries a full one is faster
      if (k * 8 < size) std::partial_sort(line.begin(), line.begin() + k, line.end(), first);
      else std::sort(line.begin(), line.end(), first);
      const int64_t to = o * k * inner + i;
      for (int64_t s = 0; s < k; ++s) {
        if (values) values[to + s * inner] = from[line[s].at * inner];
        if (positions) positions[to + s * inner] = line[s].at;
      }
    }
  });
}

}  // namespace

void OrderEntries(const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, bool ascending, void* values, int64_t* positions) {
  VisitDType(data.dtype, "sort", [&](auto tag) {
    using T = decltype(tag);
    OrderLines(data.data<T>(), outer, size, inner, k, ascending, static_cast<T*>(values), positions);
  });
}

}  // namespace mxnet
