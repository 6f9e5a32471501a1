#include "onnx/weights_call.h"

#include "executor/plan/plan_constants.h"
#include "imperative/kernel_call.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"

namespace mxnet {
namespace onnx {
namespace {

/* Weights that the kernel asks for. */
class AskedWeights final : public PlanWeights {
 public:
  explicit AskedWeights(CallStates* states) : states_(states) {}
  ~AskedWeights() {
    for (const Weight& w : weights_)
      if (w.held) ReleaseStored(w.array->chunk());
  }
  /* Where its contents will be. */
  void Add(const NDArray& array, const void* at) { weights_.push_back({&array, at, false}); }
  bool empty() const { return weights_.empty(); }

  void Need(const void* weights) override {
    Weight* const w = Find(weights);
    if (!w || w->held) return;
    w->held = HoldStored(w->array->chunk());
    if (w->held) states_->AddReadBytes(w->array->type().Bytes());
  }
  void Done(const void* weights) override {
    Weight* const w = Find(weights);
    if (!w || !w->held) return;
    w->held = false;
    ReleaseStored(w->array->chunk());
  }
  uint64_t Identity(const void* weights) override {
    const Weight* const w = Find(weights);
    if (!w) return 0;
    SetHasForms(*w->array);
    return ContentsNumber(*w->array);
  }

 private:
  struct Weight {
    const NDArray* array;
    const void* at;
    bool held;
  };
  Weight* Find(const void* at) {
    for (Weight& w : weights_)
      if (w.at == at) return &w;
    return nullptr;
  }
  CallStates* const states_;
  std::vector<Weight> weights_;
};

bool IsAsked(const Attrs& attrs, size_t input, const NDArray& a) {
  return a.delayed() && StoredIn(a) != 0 && CoversChunk(a) && AsksFor(attrs, static_cast<int>(input), a.dtype());
}

}  // namespace

bool CallWithWeights(const AttrsPtr& attrs, const std::vector<NDArray>& operands, std::vector<NDArray>* results, CallStates* states) {
  const Op& op = *attrs->op;
  if (op.RunsBy(*attrs) != RunBy::kKernel || op.uses_random || !op.trait<AsksForWeights>()) return false;
  AskedWeights weights(states);
  TensorTypes in, out(results->size());
  std::vector<TBlob> from, to;
  std::vector<uint64_t> versions;
  for (size_t i = 0; i < operands.size(); ++i) {
    const NDArray& a = operands[i];
    if (a.ctx() != Context::CPU() || a.is_sparse()) return false;
    in.emplace_back(a.shape(), a.dtype());
    versions.push_back(a.version());
    if (IsAsked(*attrs, i, a)) {
      from.push_back(PendingBlob(a));
      from.back().dptr = a.chunk()->handle.dptr;
      weights.Add(a, from.back().dptr);
    } else {
      from.push_back(TBlob());
    }
  }
  if (weights.empty() || !InferCall(*attrs, InferSwitches::OfThread(true), &in, &out)) return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (from[i].dptr) continue;
    operands[i].WaitToRead();
    from[i] = operands[i].blob();
  }
  for (size_t i = 0; i < out.size(); ++i) {
    (*results)[i] = NDArray(out[i].shape, Context::CPU(), out[i].dtype);
    to.push_back((*results)[i].data());
  }
  CallKernelWithWeights(*op.KernelFor(DeviceType::kCPU), *attrs, from, versions, to, &weights, states->Next(&op));
  return true;
}

}  // namespace onnx
}  // namespace mxnet
