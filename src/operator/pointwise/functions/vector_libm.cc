#include "operator/pointwise/functions/vector_libm.h"

#include <dlfcn.h>

#include <string>

namespace mxnet {
namespace pointwise {

void* g_vector_libm[3][kVectorLibmCount] = {};

namespace {
#if defined(__x86_64__)
// Found as the library is loaded: a worker that opened the other one on first use could be caught
// by a fork, and the child would wait for it. Names are those of the vector function ABI of x86:
// level, lanes, one vector as argument.
[[maybe_unused]] const bool found = [] {
  void* const library = dlopen("libmvec.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return false;
  const char* const kinds[3] = {"_ZGVbN2v_", "_ZGVdN4v_", "_ZGVeN8v_"};
  for (int level = 0; level < 3; ++level) {
#define MXNET_ONE(name) g_vector_libm[level][kVector_##name] = dlsym(library, (std::string(kinds[level]) + #name).c_str());
    MXNET_VECTOR_LIBM(MXNET_ONE)
#undef MXNET_ONE
  }
  return true;
}();
#endif
}  // namespace

}  // namespace pointwise
}  // namespace mxnet
