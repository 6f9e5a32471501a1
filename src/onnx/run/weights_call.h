/* An operator on arrays some of which are weights of a model. */
#ifndef MXNET_ONNX_RUN_WEIGHTS_CALL_H_
#define MXNET_ONNX_RUN_WEIGHTS_CALL_H_

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "mxnet/kernel_args.h"
#include "mxnet/ndarray.h"
#include "mxnet/node.h"
#include "operator/shared/transposed_weights.h"

namespace mxnet {
namespace onnx {

/* What the kernels of nodes keep from call to call, for one thread at a time. */
class CallStates {
 public:
  /* The calls that follow are those of this node. */
  void BeginNode(size_t node) { node_ = node, call_ = 0; }
  std::shared_ptr<OpState>* Next(const Op* op) { return &states_[{node_, call_++, op}]; }
  /* Of weights that kernels had to read; from now on it counts anew. */
  void AddReadBytes(size_t bytes) { read_bytes_ += bytes; }
  size_t TakeReadBytes() { return std::exchange(read_bytes_, 0); }

 private:
  size_t node_ = 0, call_ = 0, read_bytes_ = 0;
  std::map<std::tuple<size_t, size_t, const Op*>, std::shared_ptr<OpState>> states_;
};

/* Weights that a kernel asks for. */
class AskedWeights final : public PlanWeights, public TransposedWeights {
 public:
  explicit AskedWeights(CallStates* states) : states_(states) {}
  ~AskedWeights();
  AskedWeights(const AskedWeights&) = delete;
  AskedWeights& operator=(const AskedWeights&) = delete;
  /* Says where the contents of an array will be that lies in the file; false: another. */
  bool Take(const NDArray& array, TBlob* blob);
  bool empty() const { return weights_.empty(); }

  void Need(const void* weights) override;
  void Done(const void* weights) override;
  uint64_t Identity(const void* weights) override;
  ReadPart Parts(const void* weights) override;
  ReadPart TransposedParts(const void* weights) override;

 private:
  struct Weight {
    const NDArray* array;
    const void* at;  // where its contents will be
    bool held;
  };
  Weight* Find(const void* at);
  ReadPart PartsOf(const void* weights, bool transposed);
  CallStates* const states_;
  std::vector<Weight> weights_;
};

/*
 * Runs it as in a plan: it reads weights in the form that a plan's kernel has made of them, where
 * there is one, and the weights themselves stay in the file. False, and nothing is done, for an
 * operator that has no such forms, on weights that do not lie in the file, and on a GPU.
 */
bool CallWithWeights(const AttrsPtr& attrs, const std::vector<NDArray>& operands, std::vector<NDArray>* results, CallStates* states);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_WEIGHTS_CALL_H_
