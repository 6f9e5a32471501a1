/* What a library of engines (cuDNN's graph interface) says about one way to compute a graph. */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_ENGINE_CONFIG_H_
#define MXNET_OPERATOR_GPU_LIBRARY_ENGINE_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace mxnet {
namespace gpu_library {

/* What an engine says about its numbers; bits by the values of cudnnBackendNumericalNote_t. */
enum Note : uint32_t {
  kTensorCore = 1u << 0,
  kDownConvert = 1u << 1,
  kReducedPrecision = 1u << 2,
  kFft = 1u << 3,
  kNondeterministic = 1u << 4,
  kWinograd = 1u << 5,
  kWinograd4x4 = 1u << 6,
  kWinograd6x6 = 1u << 7,
  kWinograd13x13 = 1u << 8,
  kStrictNan = 1u << 9
};

struct EngineConfig {
  int64_t engine = 0;
  std::vector<std::pair<int64_t, int64_t>> knobs;  // type, value
  uint32_t notes = 0;
  size_t workspace = 0;        // known after `prepare`
  float milliseconds = -1;     // -1: not measured
  std::shared_ptr<void> plan;  // the library's
};

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_ENGINE_CONFIG_H_
