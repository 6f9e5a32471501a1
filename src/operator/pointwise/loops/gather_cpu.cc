#include <algorithm>
#include <cstring>

#include "operator/pointwise/loops/gather.h"
#include "operator/shared/element_size.h"

namespace mxnet {
namespace pointwise {
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
