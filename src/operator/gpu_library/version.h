/* MXNET_CUDA_LIB_CHECKING and MXNET_CUDNN_LIB_CHECKING: is what runs what this library was built
 * for? */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_VERSION_H_
#define MXNET_OPERATOR_GPU_LIBRARY_VERSION_H_

#include <string>

namespace mxnet {

struct Env;
namespace gpu_library {

/* As the libraries count: CUDA major * 1000 + minor * 10, cuDNN major * 10000 + minor * 100 +
 * patch. */
struct Versions {
  int cuda_built = 0, cuda_running = 0, cuda_driver = 0;
  int cudnn_built = 0, cudnn_running = 0;
};
/* What is amiss, a sentence each and one per line; empty: nothing, or not to be looked at. */
std::string VersionWarnings(const Versions& versions, const Env& env);

/* Warns once per process. Only in builds with CUDA (version_cuda.cc). */
void CheckLibraryVersions();

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_VERSION_H_
