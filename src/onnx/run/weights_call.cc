#include "onnx/run/weights_call.h"

#include "executor/plan/plan_constants.h"
#include "imperative/kernel_call.h"
#include "mxnet/op.h"
#include "ndarray/run.h"
#include "ndarray/stored.h"
#include "operator/record/draws_in_training.h"

namespace mxnet {
namespace onnx {

AskedWeights::~AskedWeights() {
  for (const Weight& w : weights_)
    if (w.held) ReleaseStored(w.array->chunk());
}

bool AskedWeights::Take(const NDArray& array, TBlob* blob) {
  if (!array.delayed() || StoredIn(array) == 0 || !CoversChunk(array) || !array.chunk()->handle.dptr) return false;
  *blob = PendingBlob(array);
  blob->dptr = array.chunk()->handle.dptr;
  weights_.push_back({&array, blob->dptr, false});
  return true;
}

void AskedWeights::Need(const void* weights) {
  Weight* const w = Find(weights);
  if (!w || w->held) return;
  const bool was_there = IsFilled(*w->array);
  w->held = HoldStored(w->array->chunk());
  if (w->held && !was_there) states_->AddReadBytes(w->array->type().Bytes());
}

void AskedWeights::Done(const void* weights) {
  Weight* const w = Find(weights);
  if (!w || !w->held) return;
  w->held = false;
  ReleaseStored(w->array->chunk());
}

uint64_t AskedWeights::Identity(const void* weights) {
  const Weight* const w = Find(weights);
  if (!w) return 0;
  SetHasForms(*w->array);
  return ContentsNumber(*w->array);
}

PlanWeights::ReadPart AskedWeights::Parts(const void* weights) { return PartsOf(weights, false); }

PlanWeights::ReadPart AskedWeights::TransposedParts(const void* weights) { return PartsOf(weights, true); }

PlanWeights::ReadPart AskedWeights::PartsOf(const void* weights, bool transposed) {
  const Weight* const w = Find(weights);
  ReadPart parts = w && !w->held ? PartsOfStored(*w->array, transposed) : ReadPart();
  if (parts) states_->AddReadBytes(w->array->type().Bytes());
  return parts;
}

AskedWeights::Weight* AskedWeights::Find(const void* at) {
  for (Weight& w : weights_)
    if (w.at == at) return &w;
  return nullptr;
}

bool CallWithWeights(const AttrsPtr& attrs, const std::vector<NDArray>& operands, std::vector<NDArray>* results, CallStates* states) {
  const Op& op = *attrs->op;
  if (op.RunsBy(*attrs) != RunBy::kKernel || DrawsInInference(op) || !op.trait<AsksForWeights>()) return false;
  AskedWeights weights(states);
  TensorTypes in, out(results->size());
  std::vector<TBlob> from, to;
  std::vector<uint64_t> versions;
  for (size_t i = 0; i < operands.size(); ++i) {
    const NDArray& a = operands[i];
    if (a.ctx() != Context::CPU() || a.is_sparse()) return false;
    in.emplace_back(a.shape(), a.dtype());
    versions.push_back(a.version());
    from.emplace_back();
    if (AsksFor(*attrs, static_cast<int>(i), a.dtype())) weights.Take(a, &from.back());
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
