/* What this library was built with. Filled in by CMake (cmake/build_info.cc.in), so that no header
 * depends on a build option. */
#ifndef MXNET_BASE_BUILD_INFO_H_
#define MXNET_BASE_BUILD_INFO_H_

#include <cstddef>

namespace mxnet {

struct BuildFeature {
  const char* name;  // as listed by mx.runtime.Features()
  bool enabled;
};
/* A static table; thread-safe. */
const BuildFeature* BuildFeatures(size_t* count);

}  // namespace mxnet
#endif  // MXNET_BASE_BUILD_INFO_H_
