#include "operator/shared/kept_bytes.h"

namespace mxnet {

std::atomic<int64_t>& KeptBytes::Count() {
  static std::atomic<int64_t> count{0};
  return count;
}

namespace {
std::atomic<int64_t> g_forms{0};
}

void CountPackedForm() { g_forms.fetch_add(1, std::memory_order_relaxed); }
int64_t PackedForms() { return g_forms.load(std::memory_order_relaxed); }

}  // namespace mxnet
