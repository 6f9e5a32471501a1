#include "operator/shared/kept_bytes.h"

namespace mxnet {

std::atomic<int64_t>& KeptBytes::Count() {
  static std::atomic<int64_t> count{0};
  return count;
}

}  // namespace mxnet
