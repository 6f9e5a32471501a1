#include "operator/gpu_library/version.h"

#include <sstream>

#include "mxnet/env.h"

namespace mxnet {
namespace gpu_library {
namespace {

std::string Cuda(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }
std::string Cudnn(int v) { return std::to_string(v / 10000) + "." + std::to_string(v % 10000 / 100) + "." + std::to_string(v % 100); }

}  // namespace

std::string VersionWarnings(const Versions& v, const Env& env) {
  std::ostringstream text;
  if (env.cuda_lib_checking) {
    if (v.cuda_running != v.cuda_built)
      text << "CUDA " << Cuda(v.cuda_running) << " is running, but this library was built with " << Cuda(v.cuda_built)
           << "; MXNET_CUDA_LIB_CHECKING=0 silences this\n";
    // drivers serve every run-time of their major version
    if (v.cuda_driver / 1000 < v.cuda_running / 1000)
      text << "the driver is for CUDA " << Cuda(v.cuda_driver) << ", older than CUDA " << Cuda(v.cuda_running)
           << " that is running; MXNET_CUDA_LIB_CHECKING=0 silences this\n";
  }
  if (env.cudnn_lib_checking) {
    // a newer one of the same major version is compatible
    if (v.cudnn_running / 10000 != v.cudnn_built / 10000 || v.cudnn_running < v.cudnn_built)
      text << "cuDNN " << Cudnn(v.cudnn_running) << " is running, but this library was built with " << Cudnn(v.cudnn_built)
           << "; MXNET_CUDNN_LIB_CHECKING=0 silences this\n";
  }
  return text.str();
}

}  // namespace gpu_library
}  // namespace mxnet
