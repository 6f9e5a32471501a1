#include "imperative/execute_sparse.h"

#include <deque>

#include "imperative/execute.h"
#include "mxnet/imperative.h"
#include "ndarray/sparse_copy.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/infers_storage.h"

namespace mxnet {
namespace {

void CastStorage(const NDArray& src, const NDArray& dst) {
  Imperative::Run(graph_ops::CastStorageAttrs(dst.storage_type()), {src.Detach()}, {OpReq::kWrite}, {dst.Detach()}, false);
}
[[maybe_unused]] const bool g_casts = SetStorageCast(CastStorage);

/* A call whose arrays are exchanged for others where their storage is not what runs. */
class ConvertedCall {
 public:
  ConvertedCall(const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs, const std::vector<OpReq>* reqs, size_t read)
      : inputs_(inputs), outputs_(outputs), reqs_(reqs), read_(read), in(inputs), out(outputs) {
    for (size_t i = 0; i < outputs.size(); ++i) req.push_back(Requested(i));
  }

  /* `shapes_only`: the copies have no values. Nor have those that the operator reads for their
   * shape alone. */
  void MakeInputsDense(const Attrs& attrs, bool shapes_only) {
    for (size_t i = 0; i < in.size(); ++i) {
      if (!in[i]->is_sparse()) continue;
      const bool values = !shapes_only && !attrs.ReadsOnlyShape(static_cast<int>(i));
      for (size_t k = 0; k < i && in[i] == inputs_[i]; ++k)
        if (inputs_[k]->chunk() == inputs_[i]->chunk() && !(values && attrs.ReadsOnlyShape(static_cast<int>(k)))) in[i] = in[k];
      if (in[i] != inputs_[i]) continue;
      made_.emplace_back(inputs_[i]->shape(), inputs_[i]->ctx(), inputs_[i]->dtype(), true);
      in[i] = &made_.back();
      if (values) CopyFromTo(*inputs_[i], *in[i]);
    }
  }

  void MakeOutputs(const StorageTypes& storages, Context ctx) {
    for (size_t o = 0; o < out.size(); ++o) {
      if (outputs_[o]->is_none() || outputs_[o]->storage_type() == storages[o]) continue;
      made_.push_back(NDArray::Make(TensorType(outputs_[o]->shape(), outputs_[o]->dtype(), storages[o]), ctx, true));
      out[o] = &made_.back();
      if (req[o] != OpReq::kNull) req[o] = OpReq::kWrite;
    }
  }

  /* What was exchanged gets what its array holds now. */
  void Deliver(const std::vector<int>& changed_inputs) {
    for (int i : changed_inputs)
      if (in[static_cast<size_t>(i)] != inputs_[static_cast<size_t>(i)])
        CopyFromTo(*in[static_cast<size_t>(i)], *inputs_[static_cast<size_t>(i)]);
    for (size_t o = 0; o < out.size(); ++o) {
      if (out[o] == outputs_[o] || req[o] == OpReq::kNull) continue;
      if (Requested(o) == OpReq::kAdd)
        Imperative::Run(graph_ops::AddGradients(), {outputs_[o]->Detach(), *out[o]}, {OpReq::kWrite}, {outputs_[o]->Detach()}, false);
      else
        CopyFromTo(*out[o], *outputs_[o]);
    }
  }

 private:
  OpReq Requested(size_t o) const { return reqs_ ? (*reqs_)[o] : o < read_ ? OpReq::kWrite : OpReq::kNull; }

  const std::vector<NDArray*>&inputs_, &outputs_;
  const std::vector<OpReq>* const reqs_;
  const size_t read_;
  std::deque<NDArray> made_;  // deque: growing keeps addresses

 public:
  std::vector<NDArray*> in, out;
  std::vector<OpReq> req;
};

}  // namespace

bool ExecuteSparse(const AttrsPtr& attrs, const std::vector<NDArray*>& inputs, const std::vector<NDArray*>& outputs,
                   const std::vector<OpReq>* reqs, Context ctx, bool is_train, bool shapes_only, size_t read) {
  StorageTypes in, wishes, out;
  for (const NDArray* a : inputs) in.push_back(a->storage_type());
  for (const NDArray* a : outputs) wishes.push_back(a->storage_type());
  out = wishes;
  const StorageWay way = InferStorage(*attrs, in, &out);
  if (way == StorageWay::kDense) {
    bool as_given = !attrs->op->trait<InfersStorage>();
    if (!as_given) {
      as_given = true;
      for (size_t o = 0; o < out.size(); ++o) as_given = as_given && (outputs[o]->is_none() || wishes[o] == out[o]);
    }
    if (as_given) return false;
  }
  ConvertedCall call(inputs, outputs, reqs, read);
  call.MakeOutputs(out, ctx);
  if (way != StorageWay::kFallback) {
    ExecuteKernel(way == StorageWay::kForm ? AttrsOfForm(attrs) : attrs, call.in, call.out, &call.req, ctx, is_train, shapes_only, read);
  } else {
    NoteFallback(*attrs, in, wishes);
    call.MakeInputsDense(*attrs, shapes_only);
    Execute(attrs, call.in, call.out, &call.req, &ctx, is_train, shapes_only, read);
  }
  if (!shapes_only) call.Deliver(way == StorageWay::kFallback ? attrs->op->MutateInputs(*attrs) : std::vector<int>());
  return true;
}

}  // namespace mxnet
