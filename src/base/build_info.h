/* What this library was built with. Filled in by CMake (cmake/build_info.cc.in), so that no header depends on a build option. */
#ifndef SRC_BASE_BUILD_INFO_H_
#define SRC_BASE_BUILD_INFO_H_

#include <cstddef>

namespace mxnet {

struct BuildFeature {
  const char* name;  // as listed by mx.runtime.Features()
  bool enabled;
};
/* A static table; thread-safe. */
const BuildFeature* BuildFeatures(size_t* count);

}  // namespace mxnet
#endif  // SRC_BASE_BUILD_INFO_H_
