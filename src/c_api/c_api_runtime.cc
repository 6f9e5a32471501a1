/* What the library was built with, and how its processors compute, through C. */
#include <vector>

#include "base/build_info.h"
#include "base/float_mode.h"
#include "c_api/c_api_error.h"
#include "mxnet/c_api.h"
#include "mxnet/error.h"

int MXLibInfoFeatures(const struct LibFeature** libFeature, size_t* size) {
  API_BEGIN(libFeature, size);
  // Made once: the caller keeps the pointer.
  static const auto& features = *new std::vector<LibFeature>([] {
    size_t count = 0;
    const mxnet::BuildFeature* table = mxnet::BuildFeatures(&count);
    std::vector<LibFeature> copy;
    for (size_t i = 0; i < count; ++i) copy.push_back({table[i].name, table[i].enabled});
    return copy;
  }());
  *libFeature = features.data();
  *size = features.size();
  API_END();
}

int MXLibInfoCompiledWithCXX11ABI(int* result) {
  API_BEGIN(result);
  *result = _GLIBCXX_USE_CXX11_ABI;
  API_END();
}

int MXSetFlushDenorms(bool value, bool* prev_state) {
  API_BEGIN();
  const bool previous = mxnet::SetFlushDenorms(value);
  if (prev_state) *prev_state = previous;
  API_END();
}
