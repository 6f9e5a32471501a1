#include <algorithm>
#include <cmath>

#include "operator/nn/loss/softmax_output.h"

namespace mxnet {
namespace nn {

template <typename T>
void LabelGradient<T>::Slice(const T* label, const T* y, const T* og, T* dx) const {
  auto weighted = [og](T* to, int64_t first, int64_t n) {
    if (og)
      for (int64_t i = 0; i < n; ++i) to[i] *= og[first + i];
  };
  if (inner == 1) {  // a row without a question for each element; then the label's own
    if (use_ignore && *label == ignore) return std::fill(dx, dx + classes, T(0));
    const T c = std::trunc(*label);
    const bool known = c >= T(0) && c < static_cast<T>(classes);
    const int64_t own = known ? static_cast<int64_t>(c) : 0;
    const T there = (y[own] - on) * scale;  // dx may be y
    for (int64_t i = 0; i < classes; ++i) dx[i] = (y[i] - off) * scale;
    if (known) dx[own] = there;
    return weighted(dx, 0, classes);
  }
  for (int64_t c = 0; c < classes; ++c) {
    const int64_t at = c * inner;
    const T self = static_cast<T>(c);
    for (int64_t j = 0; j < inner; ++j) {
      const T g = (y[at + j] - (std::trunc(label[j]) == self ? on : off)) * scale;
      dx[at + j] = use_ignore && label[j] == ignore ? T(0) : g;
    }
    weighted(dx + at, at, inner);
  }
}

template struct LabelGradient<float>;
template struct LabelGradient<double>;

}  // namespace nn
}  // namespace mxnet
