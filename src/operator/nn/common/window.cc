#include "operator/nn/common/window.h"

#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace nn {

void CheckWindow(const Attrs& attrs, const Shape& kernel, const Shape& stride, const Shape& dilate, const Shape& pad) {
  const int nd = kernel.ndim();
  MXNET_CHECK_KIND(nd >= 1 && nd <= 3, Value) << Named(attrs) << "kernel " << kernel << "; windows of 1, 2 or 3 dimensions are accepted";
  auto check = [&](const Shape& s, const char* what, int64_t least) {
    MXNET_CHECK_KIND(s.ndim() <= 0 || s.ndim() == nd, Value)
        << Named(attrs) << what << " " << s << "; kernel " << kernel << " needs " << nd << " numbers";
    for (int i = 0; i < s.ndim(); ++i)
      MXNET_CHECK_KIND(s[i] >= least && s[i] < (int64_t{1} << 31), Value)
          << Named(attrs) << what << " " << s << "; every number must be at least " << least;
  };
  check(kernel, "kernel", 1);
  check(stride, "stride", 1);
  check(dilate, "dilate", 1);
  check(pad, "pad", 0);
}

}  // namespace nn
}  // namespace mxnet
