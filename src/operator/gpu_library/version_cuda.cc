#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <atomic>
#include <sstream>

#include "base/logging.h"
#include "mxnet/env.h"
#include "operator/gpu_library/version.h"

namespace mxnet {
namespace gpu_library {

void CheckLibraryVersions() {
  static std::atomic<bool> done{false};
  if (done.load(std::memory_order_relaxed) || done.exchange(true)) return;
  Versions v;
  v.cuda_built = CUDART_VERSION;
  v.cudnn_built = CUDNN_VERSION;
  v.cudnn_running = static_cast<int>(cudnnGetVersion());
  if (cudaRuntimeGetVersion(&v.cuda_running) != cudaSuccess || cudaDriverGetVersion(&v.cuda_driver) != cudaSuccess) {
    cudaGetLastError();
    return;  // whoever asked will meet the error itself
  }
  std::istringstream lines(VersionWarnings(v, Env::Get()));
  for (std::string line; std::getline(lines, line);) LogWarning(line);
}

}  // namespace gpu_library
}  // namespace mxnet
