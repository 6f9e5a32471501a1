/*
 * Convolutions on a GPU through a library of engines (cuDNN's graph interface). This part decides:
 * which of the engines that its heuristics name are permitted, which is used, what is remembered,
 * what is printed. It has no CUDA types; an EngineLibrary computes. convolution_cuda.cc sets cuDNN;
 * tests set one on host memory.
 */
#ifndef MXNET_OPERATOR_GPU_LIBRARY_CONVOLUTION_H_
#define MXNET_OPERATOR_GPU_LIBRARY_CONVOLUTION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/kernel_args.h"
#include "operator/gpu_library/engine_config.h"
#include "operator/gpu_library/epilogue.h"
#include "operator/shared/conv_call.h"

namespace mxnet {

struct Env;
namespace gpu_library {

/* All that the choice of an engine depends on. */
struct ConvProblem {
  nn::ConvPass pass = nn::ConvPass::kForward;
  nn::ConvDims dims;
  int dtype = kFloat32;
  bool channels_last = false;                       // of every tensor
  bool addend = false, bias = false, relu = false;  // kForward: dst = relu(result + addend + bias), in one graph
  int bias_dtype = kFloat32;
  int alignment = 16;  // bytes, of every address; a power of two up to 16
  int device = 0;
  int SpatialDims() const;  // 2 or 3: one dimension has a second one of size 1
  std::string CacheKey() const;
  std::string Text() const;  // "forward convolution, float16, NHWC, data (2, 3, 8, 8), ..."
};
struct ConvOperands {
  void *src = nullptr, *weight = nullptr, *dst = nullptr;
  const void *addend = nullptr, *bias = nullptr;
};

/* A part of the GPU's interface (base/device/device_interface.h). */
struct EngineLibrary {
  /* In the order of its heuristics (mode 0: decision tree, 1: neural network), those of last resort
   * at the end. Empty: the graph is not supported. */
  std::vector<EngineConfig> (*candidates)(const ConvProblem& problem, int heuristic_mode, const RunContext& run);
  /* Makes the engine ready and fills in `workspace`; false when it does not take the problem after
   * all. */
  bool (*prepare)(const ConvProblem& problem, EngineConfig* config, const RunContext& run);
  /* Milliseconds of one run, which writes the result; negative when it fails. */
  float (*time)(const ConvProblem& problem, const EngineConfig& config, const ConvOperands& operands, void* workspace,
                const RunContext& run);
  void (*run)(const ConvProblem& problem, const EngineConfig& config, const ConvOperands& operands, void* workspace, const RunContext& run);
};
void ForgetEngines();  // drops what was chosen so far; for tests
/* Throws when cuDNN refuses the problem's graph; needs no device. Only in builds with CUDA. */
void CheckConvolutionGraph(const ConvProblem& problem);
/* What cuDNN names for the problem on a Hopper GPU, which need not be there; without libcuda.so.1
 * nothing. Only in builds with CUDA. */
std::vector<EngineConfig> HopperEngines(const ConvProblem& problem);

struct ConvSettings {
  int tune = 1;  // 0: the first permitted; 1: the fastest within the limit; 2: the fastest
  int heuristic_mode = 1;
  uint32_t forbidden = 0;     // Notes
  std::vector<int> disabled;  // engines
  size_t limit = 0;           // bytes of workspace
  bool deterministic = false;
  int verbose = 0;
};
/* From the environment; `tune` < 0: MXNET_CUDNN_AUTOTUNE_DEFAULT; `megabytes`: the operator's
 * workspace. */
ConvSettings SettingsFor(const ConvProblem& problem, int tune, uint64_t megabytes, const Env& env);

bool Permitted(const EngineConfig& config, const ConvSettings& settings);
/* "engine 6 knobs 2=4,11=1 notes tc,rp workspace 1024 time 0.123 ms". */
std::string ConfigText(const EngineConfig& config);

/*
 * The engine for the problem, remembered by problem and settings. Null where none takes a graph
 * with something behind the convolution, or the convolution itself with channels last, or in a
 * 16-bit type although settings rule none out: it is to be computed in parts, by planes, or in
 * float32. Throws Error(kGeneric) naming problem and reason where none takes the convolution
 * itself. `operands` is asked where engines are measured, which writes results.
 */
std::shared_ptr<const EngineConfig> ChooseEngine(const ConvProblem& problem, const ConvSettings& settings,
                                                 const std::function<ConvOperands()>& operands,
                                                 const std::function<void*(size_t)>& workspace, const RunContext& run);

/*
 * One pass, and for kForward what follows it. Tensors may lie in either order each; they are
 * brought into that of the result. `epilogue.addend` lies as the result does and may be it.
 * REQUIRES: no tensor is empty.
 */
void Convolve(const KernelArgs& args, const nn::ConvCall& call, int tune, uint64_t megabytes, const Epilogue& epilogue = {});

}  // namespace gpu_library
}  // namespace mxnet
#endif  // MXNET_OPERATOR_GPU_LIBRARY_CONVOLUTION_H_
