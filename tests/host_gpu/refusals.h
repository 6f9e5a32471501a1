#ifndef MXNET_TESTS_HOST_GPU_REFUSALS_H_
#define MXNET_TESTS_HOST_GPU_REFUSALS_H_

#include <cstdlib>
#include <string>

namespace host_gpu {

/* Whether HOST_GPU_<library>_REFUSE, a list with commas, has the word: what the library is to refuse, so that callers' other ways run. Read each time. */
inline bool Refuses(const char* library, const char* word) {
  const char* list = std::getenv((std::string("HOST_GPU_") + library + "_REFUSE").c_str());
  return list && ("," + std::string(list) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

}  // namespace host_gpu
#endif  // MXNET_TESTS_HOST_GPU_REFUSALS_H_
