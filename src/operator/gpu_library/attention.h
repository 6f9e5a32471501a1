/*
 * Attention on a GPU in one kernel through a library of engines (cuDNN's graph interface):
 * softmax(scale query key^T + mask) value for every head, whose scores are never stored, with
 * dropout of the weights or without, and its gradients. This part chooses and remembers; an
 * AttentionLibrary computes. attention_cuda.cc sets cuDNN; tests set one on host memory.
 */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_ATTENTION_H_
#define MXNET_OPERATOR_GPU_LIBRARY_ATTENTION_H_

#include <memory>
#include <string>
#include <vector>

#include "mxnet/run_context.h"
#include "operator/gpu_library/engine_config.h"

namespace mxnet {

struct Env;
namespace gpu_library {

/* Elements between neighbours in an array of a matrix for each head of each example; the elements
 * of a row lie side by side. */
struct AttentionStrides {
  int64_t example = 0, head = 0, row = 0;
};
/* All that the choice of an engine depends on. Gradients lie as their arrays do, ograd as the
 * output; statistics and sums as (batch, heads, rows), float32. */
struct AttentionProblem {
  bool backward = false;
  bool statistics = false;  // forward: also the logarithm of each row's sum of exponentials, which the backward pass reads
  int dtype = kFloat16;
  int64_t batch = 0, heads = 0, rows = 0, columns = 0, width = 0, value_width = 0;
  AttentionStrides query, key, value, output;
  bool mask = false;
  int mask_dtype = kFloat32;
  float dropout = 0;                    // weights are 0 with this probability, others are scaled
  int64_t mask_dims[4] = {1, 1, 1, 1};  // batch, heads, rows, columns, or 1 each
  int alignment = 16;                   // bytes, of every address; a power of two up to 16
  int device = 0;
  /* Makes it the backward pass of this problem. Its mask has all rows and columns: on a Hopper GPU
   * cuDNN 9.14 gave gradients to columns that a mask with one row for all had taken out. */
  void BecomeBackward();
  void LieSeparately();  // sets strides: arrays (batch, rows or columns, heads, width)
  std::string CacheKey() const;
  std::string Text() const;
};
struct AttentionOperands {
  const void *query = nullptr, *key = nullptr, *value = nullptr, *mask = nullptr;
  float scale = 1;
  const void *seed = nullptr,
             *offset = nullptr;  // of the dropout: an int64 each on the device, on 16 bytes; what both determine is the library's affair
  void *output = nullptr, *statistics = nullptr;  // written forward, read backward
  const void* ograd = nullptr;                    // backward, and what follows
  void *query_grad = nullptr, *key_grad = nullptr, *value_grad = nullptr;
  void *sums = nullptr, *query_sums = nullptr;  // workspace: (batch, heads, rows) and (batch, heads, rows, width) in float32
};

/* A part of the GPU's interface (base/device/device_interface.h). */
struct AttentionLibrary {
  /* In the order of its heuristics (mode 0: decision tree, 1: neural network). Empty: not
   * supported. */
  std::vector<EngineConfig> (*candidates)(const AttentionProblem& problem, int heuristic_mode, const RunContext& run);
  /* Makes the engine ready and fills in `workspace`; false when it does not take the problem after
   * all. */
  bool (*prepare)(const AttentionProblem& problem, EngineConfig* config, const RunContext& run);
  void (*run)(const AttentionProblem& problem, const EngineConfig& config, const AttentionOperands& operands, void* workspace,
              const RunContext& run);
};
void ForgetAttention();  // drops what was chosen so far; for tests
/* What cuDNN names for the problem on a Hopper GPU, which need not be there; without libcuda.so.1
 * nothing. Throws when it refuses the graph. Only in builds with CUDA. */
std::vector<EngineConfig> HopperEngines(const AttentionProblem& problem);

/*
 * The engine for the problem, remembered: the first that takes it. Null, also without a library,
 * where none does or settings permit none: 16-bit types on tensor cores
 * (MXNET_CUDA_ALLOW_TENSOR_CORE), gradients with sums in no fixed order (not with
 * MXNET_ENFORCE_DETERMINISM=1). With `statistics` only where the backward pass has one, too.
 */
std::shared_ptr<const EngineConfig> ChooseAttention(const AttentionProblem& problem, const Env& env, const RunContext& run);

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_ATTENTION_H_
