/* What the library was built with, through C. */
#include <vector>

#include "base/build_info.h"
#include "c_api/c_api_error.h"
#include "mxnet/c_api.h"
#include "mxnet/error.h"

int MXLibInfoFeatures(const struct LibFeature** libFeature, size_t* size) {
  API_BEGIN();
  MXNET_CHECK_KIND(libFeature != nullptr && size != nullptr, Value) << "[features] a result pointer is null; accepted: memory for the result";
  // Made once: the caller keeps the pointer.
  static const std::vector<LibFeature> features = [] {
    size_t count = 0;
    const mxnet::BuildFeature* table = mxnet::BuildFeatures(&count);
    std::vector<LibFeature> copy;
    for (size_t i = 0; i < count; ++i) copy.push_back({table[i].name, table[i].enabled});
    return copy;
  }();
  *libFeature = features.data();
  *size = features.size();
  API_END();
}
